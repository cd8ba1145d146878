"""Calico's policies: its own rules one by one, an oracle for all of them, and what Kubernetes' policies are to it.

Sources: docs.tigera.io/calico, «Network policy», «Global network policy», «Tier», «Selectors»; projectcalico/calico @
87c15906f2: felix/rules/endpoints.go, felix/calc/policy_sorter.go, libcalico-go; docs/design/implementations/calico.md
has what is read there.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from random import Random
from typing import Any

import pytest

from policylint.implementations.calico.selectors import NoSelectorError, parse, selects
from policylint.network.ports import PROTOCOLS
from policylint.network.state import Network
from tests.network.naive import Manifest, Naive, Pod
from tests.network.test_naive import ends
from tests.network.worlds import APPS, CIDRS, PORTS, TEAMS, hops_of, manifest, random_world, world

API = "projectcalico.org/v3"


def conversion(policy: Manifest) -> Manifest:
    """A NetworkPolicy of Kubernetes as Calico itself has it (libcalico-go/lib/backend/k8s/conversion/conversion.go)."""
    spec, metadata = policy["spec"], policy["metadata"]
    types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    converted: Manifest = {"order": 1000, "selector": expression(spec.get("podSelector")), "types": types}
    for direction, field, side in (("ingress", "from", "source"), ("egress", "to", "destination")):
        rules = []
        for rule in spec.get(direction) or []:
            for peer in rule.get(field) or [None]:
                for port in rule.get("ports") or [None]:
                    rules.append(converted_rule(peer, port, side))
        converted[direction] = rules
    name = f"knp.default.{metadata['name']}"
    return manifest(API, "NetworkPolicy", name, metadata["namespace"], spec=converted)


def converted_rule(peer: Manifest | None, port: Manifest | None, side: str) -> Manifest:
    rule: Manifest = {"action": "Allow", "source": {}, "destination": {}}
    if peer is not None and "ipBlock" in peer:
        block = peer["ipBlock"]
        rule[side] |= {"nets": [block["cidr"]], "notNets": block.get("except") or []}
    elif peer is not None:
        rule[side]["selector"] = expression(peer.get("podSelector"))
        if peer.get("namespaceSelector") is not None:
            rule[side]["namespaceSelector"] = expression(peer["namespaceSelector"], everybody="all()")
    if port is not None:
        rule["protocol"] = port.get("protocol") or "TCP"
        if "port" in port:
            wanted = f"{port['port']}:{port['endPort']}" if "endPort" in port else port["port"]
            rule["destination"]["ports"] = [wanted]
    return rule


def expression(selector: Manifest | None, everybody: str = "projectcalico.org/orchestrator == 'k8s'") -> str:
    selector = selector or {}
    parts = [f"{key} == '{value}'" for key, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or []:
        listed = ", ".join(f"'{value}'" for value in each.get("values") or ())
        parts.append(
            {
                "In": f"{each['key']} in {{{listed}}}",
                "NotIn": f"{each['key']} not in {{{listed}}}",
                "Exists": f"has({each['key']})",
                "DoesNotExist": f"! has({each['key']})",
            }[each["operator"]]
        )
    return " && ".join(parts) or everybody


@pytest.mark.parametrize("chunk", range(10))
def test_a_policy_of_kubernetes_and_what_calico_makes_of_it_give_one_answer(chunk: int) -> None:
    for seed in range(chunk * 40, (chunk + 1) * 40):
        manifests, naive = random_world(seed)
        converted = [conversion(each) if each["kind"] == "NetworkPolicy" else each for each in manifests]
        first, second = hops_of(world(manifests)).network, hops_of(world(converted)).network
        assert [policy.refused for policy in second.policies if policy.refused] == []
        known = [(end, first.numbers[f"Pod {end.namespace}/{end.name}"]) for end in naive.pods]
        for protocol in PROTOCOLS:
            for port in PORTS:
                at = [network.universe.ports.at(protocol, port) for network in (first, second)]
                for sender, number in known:
                    other = second.numbers[f"Pod {sender.namespace}/{sender.name}"]
                    outside = [network.universe.addresses.at("8.1.1.1") for network in (first, second)]
                    for receiver, target in [*known, (None, 0)]:
                        if receiver is sender:
                            continue
                        place = (seed, sender.name, receiver and receiver.name, protocol, port)
                        if receiver is None:
                            answers = [
                                network.check(end, "egress", bits, ports)
                                for network, end, bits, ports in zip(
                                    (first, second), (number, other), outside, at, strict=True
                                )
                            ]
                        else:
                            there = second.numbers[f"Pod {receiver.namespace}/{receiver.name}"]
                            answers = [
                                first.ask(number, target, at[0]).verdict,
                                second.ask(other, there, at[1]).verdict,
                            ]
                        assert answers[0] == answers[1], (place, answers)


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


@pytest.mark.parametrize("chunk", range(20))
def test_the_walk_agrees_with_an_oracle(chunk: int) -> None:
    decided = 0
    for seed in range(chunk * 40, (chunk + 1) * 40):
        manifests, calico = random_calico(seed)
        of_world = world(manifests)
        of_world.network = {"pods": ["10.42.0.0/16"], "nodes": ["192.168.1.0/24"]}
        network = hops_of(of_world).network
        assert [policy.refused for policy in network.policies if policy.refused] == []
        known = ends(network, calico.naive)
        for source, sender in known:
            for target, receiver in known:
                if source == target or (isinstance(sender, str) and isinstance(receiver, str)):
                    continue
                for protocol in ("TCP", "UDP"):
                    for port in Random(seed).sample((1, *PORTS), 3):
                        answer = network.ask(source, target, network.universe.ports.at(protocol, port))
                        want = "allowed" if calico.allowed(sender, receiver, protocol, port) else "denied"
                        place = (seed, str(sender), str(receiver), protocol, port)
                        assert answer.verdict == want, place
                        stops = [walk[-1].action for walk in (answer.egress, answer.ingress)]
                        assert (stops == ["Allow", "Allow"]) == (want == "allowed"), place
                        decided += want == "denied"
    assert decided


def pod(name: str, namespace: str, account: str, *, host: bool = False) -> Manifest:
    containers = [{"name": "main", "ports": [{"name": "http", "containerPort": 8080}]}]
    spec = {"serviceAccountName": account, "hostNetwork": host, "containers": containers}
    return manifest("v1", "Pod", name, namespace, labels={"app": name}, spec=spec)


PODS = [
    pod("web", "shop", "front"),
    pod("db", "shop", "back"),
    pod("far", "away", "front"),
    pod("agent", "away", "x", host=True),
]
ACCOUNTS = [
    manifest("v1", "ServiceAccount", "front", "shop", labels={"team": "a"}),
    manifest("v1", "ServiceAccount", "front", "away", labels={"team": "b"}),
    manifest("v1", "ServiceAccount", "back", "shop"),
]
SERVICES = [
    manifest("v1", "Service", "db", "shop", spec={
        "selector": {"app": "db"}, "ports": [{"port": 80, "targetPort": "http"}]
    }),
    manifest("v1", "Service", "outside", "shop", spec={"ports": [{"port": 80}]}),
    {**manifest("discovery.k8s.io/v1", "EndpointSlice", "o", "shop", labels={"kubernetes.io/service-name": "outside"}),
     "endpoints": [{"addresses": ["192.0.2.7"]}], "ports": [{"port": 80}]},
]  # fmt: skip
ALLOWING = [
    ({"selector": "app == 'web'"}, "web"),
    ({"namespaceSelector": "projectcalico.org/name == 'away'"}, "far"),
    ({"namespaceSelector": "all()", "selector": "app in {'web', 'far'}"}, "web far"),
    ({"namespaceSelector": "global()"}, ""),
    ({"serviceAccounts": {"names": ["front"]}}, "web"),
    ({"namespaceSelector": "all()", "serviceAccounts": {"selector": "has(team)"}}, "web far"),
    ({"namespaceSelector": "all()", "serviceAccounts": {"selector": "team == 'b'", "names": ["front"]}}, "far"),
    ({"selector": "pcsa.team == 'a'"}, "web"),
    ({"selector": "projectcalico.org/serviceaccount == 'front' && projectcalico.org/orchestrator == 'k8s'"}, "web"),
    ({"selector": "app ends with 'eb'"}, "web"),
    ({"notSelector": "app == 'web'"}, ""),
    ({"namespaceSelector": "all()", "notSelector": "app == 'web'"}, "far"),
    ({"services": {"name": "web", "namespace": "shop"}}, "?web ?far ?agent"),
    ({"nets": ["0.0.0.0/0"]}, "web far agent"),
    ({"nets": ["10.42.0.0/16"]}, "web far ?agent"),
    ({"nets": ["192.0.2.1"]}, ""),
    ({"notNets": ["10.42.0.0/16"]}, "?agent"),
    ({}, "web far agent"),
]


@pytest.mark.parametrize(("source", "allowed"), ALLOWING)
def test_who_gets_in(source: Manifest, allowed: str) -> None:
    """To db, by a policy of its namespace; `?` where it is not known. Pods on their node's network are no endpoints."""
    spec = {"selector": "app == 'db'", "types": ["Ingress"], "ingress": [{"action": "Allow", "source": source}]}
    network = read(manifest(API, "NetworkPolicy", "db", "shop", spec=spec))
    assert admitted(network) == set(allowed.split()), source


def read(*policies: Manifest) -> Network:
    of_world = world([*PODS, *ACCOUNTS, *SERVICES, *policies])
    of_world.network = {"pods": ["10.42.0.0/16"], "nodes": ["192.168.1.0/24"]}
    network = hops_of(of_world).network
    assert [policy.refused for policy in network.policies if policy.refused] == []
    return network


def admitted(network: Network, target: str = "shop/db", port: int = 8080) -> set[str]:
    at = network.universe.ports.at("TCP", port)
    known = {name: network.numbers[f"Pod {name}"] for name in ("shop/web", "shop/db", "away/far", "away/agent")}
    answers = {name: network.ask(number, known[target], at).verdict for name, number in known.items() if name != target}
    marks = {"allowed": "", "unknown": "?"}
    return {f"{marks[answer]}{name.partition('/')[2]}" for name, answer in answers.items() if answer in marks}


def test_a_global_policy_means_everybody_else_by_not_selector() -> None:
    rule = {"action": "Deny", "source": {"notSelector": "app == 'web'"}}
    spec = {"selector": "app == 'db'", "types": ["Ingress"], "ingress": [rule, {"action": "Allow"}]}
    network = read(manifest(API, "GlobalNetworkPolicy", "db", spec=spec))
    assert admitted(network) == {"web"}
    outside = network.universe.addresses.all
    assert network.check(network.numbers["Pod shop/db"], "ingress", outside, network.universe.ports.all) == "denied"


def test_what_a_service_stands_for() -> None:
    def sent(name: str, port: int, address: str = "") -> str:
        rule = {"action": "Allow", "destination": {"services": {"name": name, "namespace": "shop"}}}
        spec = {"selector": "app == 'web'", "types": ["Egress"], "egress": [rule]}
        network = read(manifest(API, "NetworkPolicy", "web", "shop", spec=spec))
        web, db = network.numbers["Pod shop/web"], 1 << network.numbers["Pod shop/db"]
        peers = network.universe.addresses.at(address) if address else db
        return network.check(web, "egress", peers, network.universe.ports.at("TCP", port))

    assert [sent("db", 8080), sent("db", 80), sent("db", 8080, "192.0.2.7")] == ["allowed", "denied", "denied"]
    assert [sent("outside", 80, "192.0.2.7"), sent("outside", 80, "192.0.2.8")] == ["allowed", "denied"]


def test_a_host_that_is_declared_leaves_pods_on_its_network_open() -> None:
    deny = manifest(API, "GlobalNetworkPolicy", "hosts", spec={"selector": "has(host)", "types": ["Ingress"]})
    host = manifest(API, "HostEndpoint", "node-1", labels={"host": "1"}, spec={"node": "node-1"})
    assert "agent" not in admitted(read(deny, host), "away/agent")
    assert admitted(read(deny, host), "away/agent") == {"?web", "?db", "?far"}
    assert admitted(read(deny), "away/agent") == {"web", "db", "far"}
    assert admitted(read(deny, host), "shop/db") == {"web", "far", "agent"}


REFUSED = [
    ({"selector": "app = 'web'"}, "selector", "is no selector"),
    ({"selector": "has(app"}, "selector", "ends too early"),
    ({"selector": "app == web"}, "selector", "a text in quotes is wanted"),
    ({"selector": "app == 'web'\n"}, "selector", "is no selector"),
    ({"selector": "app like 'web'"}, "selector", "is no operator"),
    ({"selector": "(" * 200 + "has(a)" + ")" * 200}, "selector", "brackets"),
    ({"types": ["Inbound"]}, "types", "neither Ingress nor Egress"),
    ({"order": "first"}, "order", "is no number"),
    ({"ingress": [{"action": "Reject"}]}, "ingress", "none of Allow, Deny, Pass, Log"),
    ({"ingress": [{"action": "Allow", "destination": {"ports": [80]}}]}, "ingress", "ports need `protocol: TCP`"),
    ({"ingress": [{"action": "Allow", "protocol": "ICMP", "destination": {"ports": ["h"]}}]}, "ingress", "ports need"),
    ({"ingress": [{"action": "Allow", "protocol": "GRE"}]}, "ingress", "none of TCP"),
    ({"ingress": [{"action": "Allow", "source": {"nets": ["10.0.0.0/99"]}}]}, "ingress", "is no CIDR"),
    ({"ingress": [{"action": "Deny", "protocol": "TCP", "destination": {"ports": ["9:8"]}}]}, "ingress", "not between"),
    ({"ingress": [{"action": "Allow", "source": {"selector": "a =="}}]}, "ingress", "ends too early"),
    ({"tier": "nowhere"}, "tier", "no Tier nowhere"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "field", "because"), REFUSED)
def test_what_calico_refuses(spec: Manifest, field: str, because: str) -> None:
    policies = hops_of(world([*PODS, manifest(API, "NetworkPolicy", "p", "shop", spec=spec)])).network.policies
    assert [because in policy.refused and policy.pointer[1] == field for policy in policies] == [True]


@pytest.mark.parametrize(
    ("written", "labels", "want"),
    [
        ("", {}, True),
        ("!all()", {}, False),
        ("a != 'b'", {}, True),
        ("a not in {}", {"a": "b"}, True),
        ("a in {}", {"a": "b"}, False),
        ('has(a) && !has(b) || c == "d"', {"a": "x"}, True),
        ("has(a) && (!has(b) || c == 'd')", {"a": "x", "b": ""}, False),
        ("a notin{'b'}", {"a": "b"}, False),
        ("a startswith 'x'", {"a": "xy"}, True),
        ("!!(a contains 'y')", {"a": "xyz"}, True),
        ("has(kubernetes.io/os-x_1)", {"kubernetes.io/os-x_1": ""}, True),
    ],
)
def test_what_a_selector_selects(written: str, labels: dict[str, str], want: bool) -> None:
    assert selects(parse(written), labels.get) is want


def test_what_is_no_selector_says_where() -> None:
    with pytest.raises(NoSelectorError, match="'& b' is not expected"):
        parse("has(a) & b")


def test_a_selector_of_too_many_alternatives_is_left_open() -> None:
    long = " && ".join(f"(has(a{number}) || has(b{number}))" for number in range(8))
    network = read(manifest(API, "NetworkPolicy", "p", "shop", spec={"selector": long, "types": ["Ingress"]}))
    assert admitted(network) == {"?web", "?far", "?agent"}


def test_orders_and_tiers_around_policies_of_kubernetes() -> None:
    """What a NetworkPolicy does not allow goes on to greater orders; what nothing allows ends with the tier."""
    core = manifest("networking.k8s.io/v1", "NetworkPolicy", "db", "shop", spec={
        "podSelector": {"matchLabels": {"app": "db"}},
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "web"}}}]}],
    })  # fmt: skip

    def late(action: str, order: float | None, **more: Any) -> Manifest:
        rule = {"action": action, "source": {"namespaceSelector": "projectcalico.org/name in {'away', 'shop'}"}}
        spec = {"selector": "app == 'db'", "types": ["Ingress"], "ingress": [rule], **more}
        return manifest(API, "GlobalNetworkPolicy", "late", spec=spec if order is None else {**spec, "order": order})

    assert admitted(read(core)) == {"web"}
    assert admitted(read(core, late("Allow", None))) == {"web", "far"}
    assert admitted(read(core, late("Deny", 2000))) == {"web"}
    assert admitted(read(core, late("Deny", 999))) == set()
    assert admitted(read(core, late("Pass", 999))) == {"web", "far"}
    before = manifest(API, "Tier", "before", spec={"order": 5})
    assert admitted(read(core, before, late("Allow", 1, tier="before"))) == {"web", "far"}
    assert admitted(read(core, before, late("Pass", 1, tier="before"))) == {"web"}
    passing = manifest(API, "Tier", "before", spec={"order": 5, "defaultAction": "Pass"})
    assert admitted(read(core, passing, late("Deny", 1, tier="before"))) == set()
