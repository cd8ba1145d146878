"""Calico's policies: its own rules one by one, an oracle for all of them, and what Kubernetes' policies are to it.

Sources: docs.tigera.io/calico, «Network policy», «Global network policy», «Tier», «Selectors»; projectcalico/calico @
87c15906f2: felix/rules/endpoints.go, felix/calc/policy_sorter.go, libcalico-go; docs/design/implementations/calico.md
has what is read there.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.implementations.calico.selectors import NoSelectorError, parse, selects
from policylint.network.ports import PROTOCOLS
from policylint.network.state import Network
from tests.implementations.calico_worlds import API, random_calico
from tests.network.naive import Manifest
from tests.network.test_naive import ends
from tests.network.worlds import PORTS, hops_of, manifest, random_world, world
from tests.nightly import sampled


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


@pytest.mark.parametrize("chunk", sampled(range(10), "calico and kubernetes"))
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


@pytest.mark.parametrize("chunk", sampled(range(20), "calico and its oracle"))
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


def test_an_order_of_none_is_no_number_of_json(tmp_path: Path) -> None:
    spec = {"types": ["Ingress"], "ingress": [{"action": "Allow"}]}
    policies = [
        manifest(API, "GlobalNetworkPolicy", "last", spec=spec),
        manifest(API, "GlobalNetworkPolicy", "first", spec={**spec, "order": 0.5}),
    ]
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all([*PODS, *policies]), encoding="utf-8")
    said = json.loads(
        CliRunner().invoke(main, ["simulate", "-o", "json", str(file)]).stdout, parse_constant=pytest.fail
    )
    orders = {each["policy"]: each.get("priority") for each in said["policies"]}
    assert orders == {"GlobalNetworkPolicy last": None, "GlobalNetworkPolicy first": 0.5}


def to_db(action: str) -> Manifest:
    return {"selector": "app == 'db'", "ingress": [{"action": action}]}


def test_tiers_of_one_order_go_by_name() -> None:
    tiers = [manifest(API, "Tier", name, spec={"order": 5}) for name in ("b", "a")]
    rules = {"b": ("Deny", 1), "a": ("Allow", 2)}
    policies = [
        manifest(
            API, "GlobalNetworkPolicy", name, spec={"tier": name, "order": order, "types": ["Ingress"], **to_db(action)}
        )
        for name, (action, order) in rules.items()
    ]
    assert admitted(read(*tiers, *policies)) == {"web", "far", "agent"}


def test_a_set_in_a_namespace_of_unknown_labels_may_be_meant() -> None:
    nets = manifest(API, "NetworkSet", "partners", "parts", labels={"role": "partner"}, spec={"nets": ["192.0.2.0/24"]})
    rule = {"action": "Allow", "source": {"namespaceSelector": "team == 'a'", "selector": "role == 'partner'"}}
    spec = {"selector": "app == 'db'", "types": ["Ingress"], "ingress": [rule]}
    policy = manifest(API, "NetworkPolicy", "db", "shop", spec=spec)
    answers = []
    for labels in (None, {"team": "a"}, {"team": "b"}):
        space = [] if labels is None else [manifest("v1", "Namespace", "parts", labels=labels)]
        network = hops_of(world([*PODS, nets, policy, *space], partial=True)).network
        peers = network.universe.addresses.at("192.0.2.1")
        answers.append(network.check(network.numbers["Pod shop/db"], "ingress", peers, network.universe.ports.all))
    assert answers == ["unknown", "allowed", "denied"]
