"""An oracle: one pair, one port at a time, straight from the text of the APIs, on plain manifests."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

Manifest = dict[str, Any]
PROTOCOLS = ("TCP", "UDP", "SCTP")


def matches(selector: Manifest | None, labels: dict[str, str]) -> bool:
    selector = selector or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    for each in selector.get("matchExpressions") or []:
        key, operator = each["key"], each["operator"]
        holds = {
            "In": labels.get(key) in each.get("values", ()),
            "NotIn": labels.get(key) not in each.get("values", ()),
            "Exists": key in labels,
            "DoesNotExist": key not in labels,
        }
        if not holds[operator]:
            return False
    return True


class Pod:
    def __init__(self, name: str, namespace: str, labels: dict[str, str], named: dict[str, tuple[str, int]]) -> None:
        self.name, self.namespace, self.labels, self.named = name, namespace, labels, named


class Naive:
    """A cluster of pods, namespaces with labels, and policies."""

    def __init__(self, pods: list[Pod], namespaces: dict[str, dict[str, str]], policies: list[Manifest]) -> None:
        self.pods, self.namespaces, self.policies = pods, namespaces, policies

    def space(self, pod: Pod) -> dict[str, str]:
        return {**self.namespaces[pod.namespace], "kubernetes.io/metadata.name": pod.namespace}

    def allowed(self, source: Pod | str, target: Pod | str, protocol: str, port: int) -> bool:
        return self.one_way("egress", source, target, target, protocol, port) and self.one_way(
            "ingress", target, source, target, protocol, port
        )

    def one_way(
        self, direction: str, subject: Pod | str, peer: Pod | str, target: Pod | str, protocol: str, port: int
    ) -> bool:
        if isinstance(subject, str):
            return True
        for tier in ("Admin", "NetworkPolicy", "Baseline"):
            action = (
                self.network_policies(direction, subject, peer, target, protocol, port)
                if tier == "NetworkPolicy"
                else self.cluster(tier, direction, subject, peer, target, protocol, port)
            )
            if action in ("Allow", "Accept"):
                return True
            if action == "Deny":
                return False
        return True

    def cluster(
        self, tier: str, direction: str, subject: Pod, peer: Pod | str, target: Pod | str, protocol: str, port: int
    ) -> str:
        ranked = sorted(
            (policy for policy in self.policies if policy["spec"].get("tier") == tier),
            key=lambda policy: policy["spec"]["priority"],
        )
        for policy in ranked:
            spec = policy["spec"]
            if not self.cluster_pods(spec["subject"], subject):
                continue
            for rule in spec.get(direction) or []:
                peers = rule["from" if direction == "ingress" else "to"]
                named = any("destinationNamedPort" in each for each in rule.get("protocols") or ())
                if named:  # names of ports are for pods; the standard CRD takes networks beside them all the same
                    peers = [each for each in peers if "networks" not in each]
                if any(self.cluster_peer(each, peer) for each in peers) and any(
                    self.cluster_port(each, target, protocol, port) for each in rule.get("protocols") or [{}]
                ):
                    return str(rule["action"])
        return ""

    def cluster_pods(self, selection: Manifest, pod: Pod) -> bool:
        if "namespaces" in selection:
            return matches(selection["namespaces"], self.space(pod))
        pods = selection["pods"]
        return matches(pods.get("namespaceSelector"), self.space(pod)) and matches(pods["podSelector"], pod.labels)

    def cluster_peer(self, each: Manifest, peer: Pod | str) -> bool:
        if "networks" in each:
            if isinstance(peer, str):
                return any(ip_address(peer) in ip_network(cidr) for cidr in each["networks"])
            return "0.0.0.0/0" in each["networks"]
        return isinstance(peer, Pod) and self.cluster_pods(each, peer)

    def cluster_port(self, each: Manifest, target: Pod | str, protocol: str, port: int) -> bool:
        if not each:
            return True
        if "destinationNamedPort" in each:
            return isinstance(target, Pod) and target.named.get(each["destinationNamedPort"]) == (protocol, port)
        ((name, content),) = each.items()
        destination = content["destinationPort"]
        low, high = (
            (destination["number"],) * 2
            if "number" in destination
            else (destination["range"]["start"], destination["range"]["end"])
        )
        return name.upper() == protocol and low <= port <= high

    def network_policies(
        self, direction: str, subject: Pod, peer: Pod | str, target: Pod | str, protocol: str, port: int
    ) -> str:
        isolated = False
        for policy in self.policies:
            spec = policy["spec"]
            if policy["kind"] != "NetworkPolicy" or policy["metadata"]["namespace"] != subject.namespace:
                continue
            types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
            if direction.capitalize() not in types or not matches(spec.get("podSelector"), subject.labels):
                continue
            isolated = True
            for rule in spec.get(direction) or []:
                peers = rule.get("from" if direction == "ingress" else "to")
                if (not peers or any(self.core_peer(each, peer, subject.namespace) for each in peers)) and (
                    not rule.get("ports") or any(self.core_port(each, target, protocol, port) for each in rule["ports"])
                ):
                    return "Allow"
        return "Deny" if isolated else ""

    def core_peer(self, each: Manifest, peer: Pod | str, home: str) -> bool:
        if "ipBlock" in each:
            block = each["ipBlock"]
            return (
                isinstance(peer, str)
                and ip_address(peer) in ip_network(block["cidr"])
                and not any(ip_address(peer) in ip_network(inner) for inner in block.get("except") or ())
            )
        if isinstance(peer, str):
            return False
        spaces = each.get("namespaceSelector")
        inside = peer.namespace == home if spaces is None else matches(spaces, self.space(peer))
        return inside and matches(each.get("podSelector"), peer.labels)

    def core_port(self, each: Manifest, target: Pod | str, protocol: str, port: int) -> bool:
        if (each.get("protocol") or "TCP") != protocol:
            return False
        number = each.get("port")
        if number is None:
            return True
        if isinstance(number, str):
            return isinstance(target, Pod) and target.named.get(number) == (protocol, port)
        return bool(number <= port <= each.get("endPort", number))
