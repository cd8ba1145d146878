"""Cilium as a witness: what its agent's own repository of policies decides on packets, against policylint."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policylint.network.state import Network
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.witness import network, network_worlds
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.network_worlds import BLOCKS, LABELS, NODES, OF_NAMESPACES, OF_PODS, PODS, PORT_NAMES, PORTS, Packet
from tests.witness.programs import Program

SOURCE = Path(__file__).parent / "cilium"
ABOUT = (
    "The repository of policies of Cilium's agent: which packets among pods and addresses of no pod get through"
    " NetworkPolicies, CiliumNetworkPolicies and CiliumClusterwideNetworkPolicies, and which policies it refuses."
)
PACKETS = 150
"""Per world."""
_REFUSED = "all | refused"
_OUTSIDE = tuple(address for address in network_worlds.OUTSIDE if ":" not in address)
_BLOCKS = tuple(block for block in BLOCKS if ":" not in block)
_NAMESPACE = "k8s:io.kubernetes.pod.namespace"
_OF_NAMESPACE = "k8s:io.cilium.k8s.namespace.labels."
_ENTITIES = ("world", "world", "cluster", "all", "host", "kube-apiserver", "none")
_PROTOCOLS = ("TCP", "UDP", "ANY", "SCTP")


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one cluster: few pods, and policies of the three kinds."""
    draw = Draw("cilium", seed, number)
    spaces = [f"space-{index}" for index in range(draw.number(2, 3))]
    objects = [
        manifest("v1", "Namespace", name, labels=network_worlds.drawn_labels(draw, OF_NAMESPACES)) for name in spaces
    ]
    for index in range(draw.number(4, 8)):
        pod = network_worlds.drawn_pod(draw, index, draw.of(spaces))
        own = pod["metadata"]["labels"] = dict(pod["metadata"].get("labels", {}))
        own["pod"] = pod["metadata"]["name"]  # pods that are alike have one identity, and each the named ports of all
        objects.append(pod)
    policies = [_plain(draw, index, draw.of(spaces)) for index in range(draw.one(0, 0, 1, 2))]
    for index in range(draw.number(1, 4)):
        wide = draw.often(0.35)
        kind = "CiliumClusterwideNetworkPolicy" if wide else "CiliumNetworkPolicy"
        specs = [_spec(draw, wide=wide) for _ in range(2 if draw.often(0.1) else 1)]
        body: Manifest = {"spec": specs[0]} if len(specs) == 1 else {"specs": specs}
        policies.append(manifest("cilium.io/v2", kind, f"cilium-{index}", "" if wide else draw.of(spaces), **body))
    draw.random.shuffle(policies)
    return [*objects, *policies]


def _plain(draw: Draw, index: int, namespace: str) -> Manifest:
    """Return a NetworkPolicy, without rules for what its types leave out: the agent lets them act all the same."""
    policy = network_worlds.drawn_policy(draw, index, namespace)
    spec = policy["spec"]
    for direction in ("ingress", "egress"):
        if direction.capitalize() not in spec.get("policyTypes", ("Ingress", "Egress")):
            spec.pop(direction, None)
    return policy


def packets(seed: object, number: int, objects: Sequence[Manifest], count: int) -> list[Packet]:
    """Return packets among the pods of a world, and between them and IPv4 addresses."""
    drawn = network_worlds.packets(f"cilium-{seed}", number, objects, 2 * count)
    return [each for each in drawn if ":" not in each["from"] + each["to"]][:count]


def is_whole(objects: Sequence[Manifest]) -> bool:
    """Return whether pods have addresses and namespaces: a world made smaller may be none."""
    spaces = {each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"}
    pods = [each for each in objects if each["kind"] == "Pod"]
    return all(
        each["metadata"].get("namespace") in spaces and any(map(dict, each.get("status", {}).get("podIPs", ())))
        for each in pods
    )


def every_packet(objects: Sequence[Manifest]) -> list[Packet]:
    """Return packets of TCP and UDP from and to everything, with the usual ports."""
    pods = [str(each["status"]["podIPs"][0]["ip"]) for each in objects if each["kind"] == "Pod"]
    ends = [*pods, *_OUTSIDE]
    return [
        {"from": source, "to": target, "protocol": protocol, "port": port}
        for source, target in itertools.permutations(ends, 2)
        if source in pods or target in pods
        for protocol in ("TCP", "UDP", "SCTP")
        for port in PORTS
    ]


def _spec(draw: Draw, *, wide: bool) -> Manifest:
    spec: Manifest = {"endpointSelector": _selector(draw, wide=wide)}
    for direction in ("ingress", "egress"):
        for field, chance in ((direction, 0.7), (f"{direction}Deny", 0.3)):
            if draw.often(chance):
                spec[field] = [_rule(draw, direction, field, wide=wide) for _ in range(draw.one(0, 1, 1, 2))]
    spec |= draw.maybe(0.1, "enableDefaultDeny", {draw.one("ingress", "egress"): draw.often(0.3)})
    return spec


def _rule(draw: Draw, direction: str, field: str, *, wide: bool) -> Manifest:
    prefix = "from" if direction == "ingress" else "to"
    member = draw.one("Endpoints", "Endpoints", "Endpoints", "Entities", "CIDR", "CIDRSet", "")
    rule: Manifest = {}
    if member == "Endpoints":
        rule = {f"{prefix}{member}": [_selector(draw, wide=wide) for _ in range(draw.one(0, 1, 1, 2))]}
    elif member == "Entities":
        rule = {f"{prefix}{member}": draw.some(_ENTITIES, 2)}
    elif member == "CIDR":
        rule = {f"{prefix}{member}": draw.some((*_BLOCKS, PODS), 2)}
    elif member == "CIDRSet":
        block = draw.of(_BLOCKS)
        excepted = [each for each in network_worlds.EXCEPTED.get(block, ()) if ":" not in each]
        rule = {f"{prefix}{member}": [{"cidr": block} | draw.maybe(0.6, "except", draw.some(excepted, 2, 0))]}
    if draw.often(0.6):
        rule["toPorts"] = [_ports(draw, field) for _ in range(draw.one(1, 1, 2))]
    return rule


def _ports(draw: Draw, field: str) -> Manifest:
    ports = []
    for _ in range(draw.one(1, 1, 2)):
        first, last = sorted(draw.some(PORTS, 2, 2))
        port: Manifest = {"port": draw.of(PORT_NAMES)} if draw.often(0.25) else {"port": str(first)}
        if draw.often(0.2) and port["port"] == str(first):
            port["endPort"] = last
        ports.append(port | draw.maybe(0.7, "protocol", draw.of(_PROTOCOLS)))
    group: Manifest = {"ports": ports}
    tcp = all(each.get("protocol") == "TCP" and "endPort" not in each for each in ports)
    if tcp and not field.endswith("Deny") and draw.often(0.2):
        group["rules"] = {"http": [{"method": "GET", "path": "/"}]}
    return group


def _selector(draw: Draw, *, wide: bool) -> Manifest:
    """Return an EndpointSelector: labels of pods, with or without a source, and of their namespaces."""
    if draw.often(0.15):
        return {}
    asked = {}
    for label in draw.some(OF_PODS, 2, 0):
        asked[draw.one("", "", "k8s:", "any:") + label] = draw.of(LABELS[label])
    if draw.often(0.35 if wide else 0.25):
        asked[_NAMESPACE] = f"space-{draw.number(0, 2)}"
    if draw.often(0.2):
        label = draw.of(OF_NAMESPACES)
        asked[_OF_NAMESPACE + label] = draw.of(LABELS[label])
    selector: Manifest = {"matchLabels": asked} if asked else {}
    if not asked or draw.often(0.25):
        label = draw.of((*OF_PODS, _NAMESPACE, _OF_NAMESPACE + draw.of(OF_NAMESPACES)))
        values = LABELS.get(label.removeprefix(_OF_NAMESPACE), ("space-0", "space-1"))
        operator = draw.one("In", "NotIn", "Exists", "DoesNotExist")
        of_values = draw.maybe(1, "values", draw.some(values, 2)) if operator in ("In", "NotIn") else {}
        selector["matchExpressions"] = [{"key": label, "operator": operator, **of_values}]
    return selector


class Agent(Program):
    """The running program."""

    def ask(self, objects: Sequence[Manifest], asked: Sequence[Packet]) -> Facts:
        """Return one letter a packet, `+` for one that gets through, and the policies that the agent refuses."""
        told = self.answer({"objects": objects, "packets": asked})
        return {network.KEPT: told["packets"], _REFUSED: ", ".join(sorted(told["refused"]))}


def compared(objects: Sequence[Manifest], asked: Sequence[Packet], record: Facts) -> tuple[Facts, Facts]:
    """Return what the agent says, and what policylint says of the same packets and policies."""
    found = _network(objects)
    refused = sorted(
        {
            f"{each.resource.key.kind} {each.resource.key.namespace}/{each.resource.key.name}"
            for each in found.policies
            if each.refused
        }
    )
    real, ours = network.told_of(objects, asked, record, found)
    kinds = [name_of(each) for each in objects if each["kind"].startswith("Cilium")]
    for name in kinds:
        real[f"{name} | refused"] = str(name in record[_REFUSED].split(", "))
        ours[f"{name} | refused"] = str(name in refused)
    return real, ours


def _network(objects: Sequence[Manifest]) -> Network:
    """Read a world as what a cluster with Cilium holds."""
    with TemporaryDirectory() as place:
        file = Path(place) / "cluster.yaml"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
        given = Assumptions(network={"pods": [PODS], "nodes": [NODES], "plugin": "cilium"})
        return open_workspace([str(file)], given=given).simulations[0].hops.network


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    required = re.findall(r"^\t?(?:require )?(github.com/cilium/cilium) (v\S+)", (SOURCE / "go.mod").read_text(), re.M)
    return {"title": "Cilium", "about": ABOUT, "versions": dict(required)}
