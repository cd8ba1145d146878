"""Random worlds with Calico's policies, and a cluster with Calico as its documentation has it: one packet at a time."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from random import Random
from typing import Any

from tests.network.naive import Manifest, Naive, Pod
from tests.network.worlds import APPS, CIDRS, PORTS, TEAMS, manifest, random_world

API = "projectcalico.org/v3"
Text = tuple[str, Any]
"""An expression as it is written, and a function of labels that says the same."""


def random_expression(random: Random, keys: dict[str, tuple[str, ...]], depth: int = 2) -> Text:
    if depth and random.random() < 0.4:
        parts = [random_expression(random, keys, depth - 1) for _ in range(2)]
        sign = random.choice(["&&", "||"])
        quantifier = all if sign == "&&" else any
        return f" {sign} ".join(f"({text})" for text, _ in parts), lambda labels: quantifier(
            f(labels) for _, f in parts
        )
    if depth and random.random() < 0.2:
        text, inner = random_expression(random, keys, depth - 1)
        return f"!({text})", lambda labels: not inner(labels)
    key = random.choice(list(keys))
    value, other = random.choice(keys[key]), random.choice(keys[key])
    return random.choice(
        [
            (f"{key} == '{value}'", lambda labels: labels.get(key) == value),
            (f'{key} != "{value}"', lambda labels: labels.get(key) != value),
            (f"{key} in {{'{value}', '{other}'}}", lambda labels: labels.get(key) in (value, other)),
            (f"{key} not in {{ '{value}','{other}' }}", lambda labels: labels.get(key) not in (value, other)),
            (f"has({key})", lambda labels: key in labels),
            (f"{key} starts with '{value[:1]}'", lambda labels: labels.get(key, "-").startswith(value[:1])),
            (f"{key} contains '{value[-1]}'", lambda labels: value[-1] in labels.get(key, "")),
            ("all()", lambda labels: "team" not in keys or "projectcalico.org/name" in labels),
        ]
    )


class Calico:
    """A cluster with Calico, straight from its documentation: one packet at a time."""

    def __init__(self, naive: Naive, tiers: dict[str, tuple[float, str]], sets: list[Manifest]) -> None:
        self.naive, self.tiers, self.sets = naive, tiers, sets
        self.policies: list[tuple[tuple[float, float, str], Manifest, Any]] = []

    def allowed(self, source: Pod | str, target: Pod | str, protocol: str, port: int) -> bool:
        return self.way("egress", source, source, target, protocol, port) and self.way(
            "ingress", target, source, target, protocol, port
        )

    def way(
        self, direction: str, subject: Pod | str, source: Pod | str, target: Pod | str, protocol: str, port: int
    ) -> bool:
        if isinstance(subject, str):
            return True
        peer = source if direction == "ingress" else target
        for name in sorted(self.tiers, key=lambda each: (self.tiers[each][0], each)):
            applies, passed = False, False
            for _, policy, selected in sorted(
                (each for each in self.policies if each[1].get("tier", "default") == name), key=lambda each: each[0]
            ):
                if direction.capitalize() not in policy["types"] or not selected(subject):
                    continue
                applies = True
                if "core" in policy:
                    if self.naive.network_policies(direction, subject, peer, target, protocol, port) == "Allow":
                        return True
                    continue
                for rule, side in policy[direction]:
                    if rule["action"] == "Log" or not side(source, target, protocol, port):
                        continue
                    if rule["action"] != "Pass":
                        return bool(rule["action"] == "Allow")
                    passed = True
                    break
                if passed:
                    break
            if applies and not passed and self.tiers[name][1] != "Pass":
                return False
        return True

    def labels(self, pod: Pod) -> dict[str, str]:
        spaces = {f"pcns.{key}": value for key, value in self.naive.namespaces[pod.namespace].items()}
        return {**pod.labels, **spaces, "projectcalico.org/namespace": pod.namespace}


OF_PODS = {"app": APPS, "pcns.team": TEAMS, "projectcalico.org/namespace": ("ns0", "ns1")}


def random_side(random: Random, calico: Calico, home: str) -> tuple[Manifest, Any]:
    """One side of a rule, and whom it takes."""
    written: Manifest = {}
    tests = []
    only = [text_and_test for text_and_test in (random_expression(random, OF_PODS), None) if random.random() < 0.5]
    chosen = only[0] if only else None
    spaces = (
        random_expression(random, {"team": TEAMS, "projectcalico.org/name": ("ns0", "ns1")})
        if random.random() < 0.4
        else None
    )
    excluded = random_expression(random, {"app": APPS}) if random.random() < 0.2 else None
    if chosen:
        written["selector"] = chosen[0]
    if spaces:
        written["namespaceSelector"] = spaces[0]
    if excluded:
        written["notSelector"] = excluded[0]

    def by_label(labels: dict[str, str], namespace: str, of_namespace: dict[str, str]) -> bool:
        if spaces and not spaces[1](of_namespace):  # a negation takes what is in no namespace, too
            return False
        if not spaces and home and namespace != home:
            return False
        return not chosen or bool(chosen[1](labels))

    def of_set(each: Manifest) -> tuple[dict[str, str], str, dict[str, str]]:
        namespace = each["metadata"].get("namespace", "")
        own = calico.naive.namespaces.get(namespace, {})
        labels = {**each["metadata"]["labels"], **{f"pcns.{key}": value for key, value in own.items()}}
        if namespace:
            labels["projectcalico.org/namespace"] = namespace
        return labels, namespace, {**own, "projectcalico.org/name": namespace} if namespace else {}

    def selects_end(end: Pod | str) -> bool:
        if isinstance(end, Pod):
            own = {**calico.naive.namespaces[end.namespace], "projectcalico.org/name": end.namespace}
            return by_label(calico.labels(end), end.namespace, own)
        return any(
            by_label(*of_set(each)) and any(ip_address(end) in ip_network(net) for net in each["spec"]["nets"])
            for each in calico.sets
        )

    def is_excluded(end: Pod | str) -> bool:
        assert excluded is not None
        if isinstance(end, Pod):
            return bool(excluded[1](calico.labels(end)))
        return any(
            excluded[1](of_set(each)[0]) and any(ip_address(end) in ip_network(net) for net in each["spec"]["nets"])
            for each in calico.sets
        )

    if chosen or spaces or (excluded and home):
        tests.append(selects_end)
    if excluded:
        tests.append(lambda end: not is_excluded(end))
    if not (chosen or spaces or excluded) and random.random() < 0.4:
        net = random.choice(CIDRS[1:])
        field = random.choice(["nets", "notNets"])
        written[field] = [net]
        # Where the addresses of pods lie is stated, and none of these networks holds any.
        tests.append(lambda end: (not isinstance(end, Pod) and ip_address(end) in ip_network(net)) == (field == "nets"))
    return written, lambda end: all(test(end) for test in tests)


def random_ports(random: Random) -> tuple[Manifest, Manifest, Any]:
    if random.random() < 0.4:
        return {}, {}, lambda target, protocol, port: True  # noqa: ARG005
    wanted = random.choice(["TCP", "UDP"])
    match random.randrange(4):
        case 0:
            return {"protocol": wanted}, {}, lambda target, protocol, port: protocol == wanted  # noqa: ARG005
        case 1:
            low, high = sorted(random.sample(PORTS, 2))
            return (
                {"protocol": wanted},
                {"ports": [f"{low}:{high}"]},
                lambda target, protocol, port: protocol == wanted and low <= port <= high,  # noqa: ARG005
            )
        case 2:
            chosen = random.sample(PORTS, 2)
            return (
                {"protocol": wanted},
                {"notPorts": chosen},
                lambda target, protocol, port: protocol == wanted and port not in chosen,  # noqa: ARG005
            )
        case _:
            return (
                {"protocol": wanted},
                {"ports": ["http"]},
                lambda target, protocol, port: (
                    protocol == wanted and isinstance(target, Pod) and target.named.get("http") == (protocol, port)
                ),
            )


def random_calico(seed: int) -> tuple[list[Manifest], Calico]:
    random = Random(seed)
    manifests, naive = random_world(seed)
    kept = [each for each in manifests if each["kind"] != "ClusterNetworkPolicy"]
    naive.policies = [each for each in naive.policies if each["kind"] == "NetworkPolicy"]
    names = list(naive.namespaces)
    tiers = {"default": (1_000_000.0, "Deny")}
    for name in random.sample(["first", "last", "between"], random.randint(0, 2)):
        order = {"first": 100.0, "between": 5000.0, "last": 2e7}[name]
        action = random.choice(["Deny", "Deny", "Pass"])
        tiers[name] = (order, action)
        kept.append(manifest(API, "Tier", name, spec={"order": order, "defaultAction": action}))
    sets = []
    for number in range(random.randint(0, 2)):
        namespace = random.choice(["", *names])
        kind = "NetworkSet" if namespace else "GlobalNetworkSet"
        spec = {"nets": random.sample(CIDRS[1:], 1)}
        sets.append(manifest(API, kind, f"set{number}", namespace, labels={"app": random.choice(APPS)}, spec=spec))
    calico = Calico(naive, tiers, sets)
    for policy in naive.policies:
        spec, namespace = policy["spec"], policy["metadata"]["namespace"]
        types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]

        def of_core(pod: Pod, spec: Manifest = spec, namespace: str = namespace) -> bool:
            from tests.network.naive import matches

            return pod.namespace == namespace and matches(spec.get("podSelector"), pod.labels)

        calico.policies.append(((1000, 0, ""), {"types": types, "core": True}, of_core))
    for number in range(random.randint(1, 4)):
        home = random.choice(["", *names])
        order = random.choice([None, 10, 500.5, 2000])
        text, predicate = random_expression(random, {"app": APPS})
        spec = {
            "selector": text,
            "tier": random.choice(list(tiers)),
            "types": random.choice([["Ingress"], ["Egress"], ["Ingress", "Egress"]]),
        }
        if order is not None:
            spec["order"] = order
        read: Manifest = {"tier": spec["tier"], "types": spec["types"], "ingress": [], "egress": []}
        for direction in ("ingress", "egress"):
            rules = []
            for _ in range(random.randrange(4)):
                source, from_ = random_side(random, calico, home)
                destination, to = random_side(random, calico, home)
                if random.random() < 0.6:  # its own side
                    if direction == "ingress":
                        destination, to = {}, lambda end: True  # noqa: ARG005
                    else:
                        source, from_ = {}, lambda end: True  # noqa: ARG005
                protocol, ports, at = random_ports(random)
                rule = {"action": random.choice(["Allow", "Allow", "Deny", "Pass", "Log"]), **protocol}
                rule |= {"source": source, "destination": {**destination, **ports}}
                own = destination if direction == "ingress" else source
                if "nets" in own or "notNets" in own:
                    continue
                rules.append(rule)

                def side(
                    sender: Any, receiver: Any, wanted: str, number: int, f: Any = from_, t: Any = to, p: Any = at
                ) -> bool:
                    return bool(f(sender) and t(receiver) and p(receiver, wanted, number))

                read[direction].append((rule, side))
            if rules:
                spec[direction] = rules
        name = f"p{number}"
        kind = "NetworkPolicy" if home else "GlobalNetworkPolicy"
        kept.append(manifest(API, kind, name, home, spec=spec))
        rank = (float("inf") if order is None else order, 1, f"{name}/{home}/{kind}")

        def selected(pod: Pod, home: str = home, predicate: Any = predicate) -> bool:
            return home in ("", pod.namespace) and bool(predicate(calico.labels(pod)))

        calico.policies.append((rank, read, selected))
    return kept + sets, calico
