"""Destinations of VirtualServices at which requests end: subsets that nobody defines, and subsets without pods."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from tests import worlds
from tests.checks.linting import lint
from tests.workspace.test_alternatives import tree

MESH = "networking.istio.io/v1"

VIRTUAL = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: details, namespace: %s}
spec: {hosts: [details.shop.svc.cluster.local], %s: [{route: [{destination: {host: %s, subset: %s}}]}]}
"""
RULE = """
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: details, namespace: shop}
spec: {host: %s, subsets: [{name: v1, labels: {%s}}]}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: details, namespace: shop}
spec: {selector: {app: details}, ports: [{name: http, port: 9080}]}
"""
PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: details, namespace: shop}
spec:
  selector: {matchLabels: {app: details}}
  template:
    metadata: {labels: {app: details, version: %s}}
    spec: {containers: [{name: details, image: example.com/details}]}
"""


def said(tmp_path: Path, *documents: str) -> list[tuple[str, str, str]]:
    """Severity, confidence and message of each dead end."""
    return [
        (each.severity, each.confidence, each.message) for each in lint(tmp_path, *documents) if each.rule == "GWP415"
    ]


def virtual(host: str = "details", subset: str = "v1", field: str = "http", namespace: str = "shop") -> str:
    return VIRTUAL % (namespace, field, host, subset)


@pytest.mark.parametrize("field", ["http", "tcp", "tls"])
def test_a_subset_that_nobody_defines(tmp_path: Path, field: str) -> None:
    """istio/istio#6335."""
    told = said(tmp_path, virtual(field=field), SERVICE, PODS % "v1")
    ((severity, confidence, message),) = [each for each in told if "has no match in tls[0]" not in each[2]]
    assert (severity, confidence) == ("warning", "assumed")
    assert "subset v1 of Service shop/details, which no DestinationRule defines" in message


@pytest.mark.parametrize(
    ("host", "namespace"),
    [("details", "shop"), ("details.shop.svc.cluster.local", "edge"), ("details.shop", "edge")],
)
def test_a_host_in_every_form(tmp_path: Path, host: str, namespace: str) -> None:
    rule = RULE % ("details.shop.svc.cluster.local", "version: v1")
    documents = (rule, SERVICE, PODS % "v1")
    assert said(tmp_path, virtual(host, "v1", namespace=namespace), *documents) == []
    ((severity, confidence, _),) = said(tmp_path, virtual(host, "v2", namespace=namespace), *documents)
    assert (severity, confidence) == ("error", "certain")


@pytest.mark.parametrize(
    ("labels", "version", "empty"),
    [
        ("version: v1", "v2", True),
        ("version: v1", "v1", False),
        ("version: v1", "'${VERSION}'", False),
        ("topology.kubernetes.io/zone: a", "v1", False),
    ],
)
def test_a_subset_without_pods(tmp_path: Path, labels: str, version: str, empty: bool) -> None:
    """istio/istio#31925."""
    found = said(tmp_path, virtual(), RULE % ("details", labels), SERVICE, PODS % version)
    assert [message.rpartition(", ")[2] for *_, message in found] == (
        ["whose labels no pod of it has"] if empty else []
    )


@pytest.mark.parametrize("documents", [(SERVICE,), ()])
def test_pods_that_were_not_seen_may_have_the_labels(tmp_path: Path, documents: tuple[str, ...]) -> None:
    assert said(tmp_path, virtual(), RULE % ("details", "version: v1"), *documents) == []


@pytest.mark.parametrize(("weight", "told"), [("weight: 0", False), ("weight: 10", True), ("headers: {}", False)])
def test_one_of_several_destinations_without_weight_gets_no_request(tmp_path: Path, weight: str, told: bool) -> None:
    virtual = VIRTUAL % ("shop", "http", "details", "v9")
    split = virtual.replace("subset: v9}}", f"subset: v9}}, {weight}}}, {{destination: {{host: details}}, weight: 90}}")
    split = split.replace("weight: 90}}]}]}", "weight: 90}]}]}")
    assert bool(said(tmp_path, SERVICE, PODS % "v1", RULE % ("details", "version: v1"), split)) is told


@pytest.mark.parametrize(
    ("name", "is_said"),
    [
        ("edge", True),
        ("infra/edge", False),
        ("edge.infra.svc.cluster.local", False),
        ("mesh", False),
        ("other", False),
        ("edge.shop.svc.cluster.local", True),
    ],
)
def test_a_gateway_in_another_namespace(name: str, is_said: bool) -> None:
    """istio/istio#7018; pilot/pkg/model/push_context.go, resolveGatewayName."""
    servers = "servers: [{hosts: ['*'], port: {name: http, number: 80, protocol: HTTP}}]"
    gateway = worlds.manifest(MESH, "Gateway", "edge", "infra", f"spec: {{selector: {{app: a}}, {servers}}}")
    routes = "http: [{route: [{destination: {host: web}}]}]"
    spec = f"spec: {{hosts: [a.example.com], gateways: [{name}], {routes}}}"
    world = worlds.simulated(gateway, worlds.manifest(MESH, "VirtualService", "web", "shop", spec))
    found = list(run(world, select={"GWP415"}))
    assert [each.severity for each in found] == (["error"] if is_said else [])


CLIENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: caller, namespace: client}
spec: {template: {metadata: {labels: {app: caller}}, spec: {containers: [{name: caller, image: example.com/caller}]}}}
"""
OF_CLIENTS = """
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: %s, namespace: client}
spec: {host: details.shop.svc.cluster.local%s}
"""


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([OF_CLIENTS % ("own", "")], True),
        ([OF_CLIENTS % ("own", ", subsets: [{name: v2}]")], True),
        ([OF_CLIENTS % ("own", ", subsets: [{name: v1}]")], False),
        ([OF_CLIENTS % ("own", ""), OF_CLIENTS % ("more", ", subsets: [{name: v1}]")], False),  # they are merged
        ([], False),
    ],
)
def test_a_rule_of_clients_takes_the_place_of_the_services(tmp_path: Path, rules: list[str], told: bool) -> None:
    """istio/istio#30080."""
    theirs = (virtual(), SERVICE, PODS % "v1", RULE % ("details", "version: v1"))
    sends = "VirtualService shop/details sends requests of clients in client"
    message = f"DestinationRule client/own has no subset v1, to which {sends}"
    found = said(tmp_path, *theirs, CLIENT, *rules)
    assert found == ([("error", "certain", message)] if told else [])
    assert said(tmp_path, *theirs, *rules) == []  # nothing there calls it


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ((RULE % ("details", "version: v1")).replace(", namespace: shop", ""), False),
        ((RULE % ("other", "version: v1")).replace(", namespace: shop", ""), True),
        (RULE % ("other", "version: v1"), True),
    ],
)
@pytest.mark.parametrize(
    "scripts", [{}, {"up.sh": "kubectl apply -n a -f m/rule.yaml\nkubectl apply -n b -f m/rule.yaml\n"}]
)
def test_a_rule_that_may_land_anywhere_defines_it_as_likely_as_not(
    tmp_path: Path, rule: str, told: bool, scripts: dict[str, str]
) -> None:
    files = {
        "m/virtual.yaml": virtual(),
        "m/rule.yaml": rule,
        "app/app.yaml": f"{SERVICE}---\n{PODS % 'v1'}",
        **scripts,
    }
    found = [each for each in tree(tmp_path, files).findings() if each.rule == "GWP415"]
    assert bool(found) == told


def test_a_rule_that_may_land_anywhere_takes_the_place_of_none(tmp_path: Path) -> None:
    everything = (RULE % ("'*.local'", "")).replace(", namespace: shop", "").replace("name: v1", "name: other")
    clients = (PODS % "v1").replace("namespace: shop", "namespace: default").replace("details", "client")
    own = f"{virtual(host='details.shop.svc.cluster.local')}---\n{RULE % ('details', 'version: v1')}---\n{SERVICE}"
    files = {"m/off.yaml": everything, "app/app.yaml": f"{own}---\n{PODS % 'v1'}", "clients/app.yaml": clients}
    assert [each.message for each in tree(tmp_path, files).findings() if each.rule == "GWP415"] == []


STEP = virtual().replace("name: details, namespace: shop}", "name: details, namespace: shop, labels: {step: %s}}")
OF_V1, OF_V2 = (RULE.replace("name: v1", f"name: {each}") % ("details", "version: v1") for each in ("v1", "v2"))


@pytest.mark.parametrize(
    ("of_base", "at_top", "is_told"),
    [(OF_V1, "", False), (OF_V2, "", True), ("", "", True), ("", OF_V2, True), (OF_V1, OF_V2, True)],
)
@pytest.mark.parametrize("more", [{}, {"apps/kustomization.yaml": "resources: [a.yaml]\n", "apps/a.yaml": PODS % "v9"}])
def test_a_step_that_alternates_with_others_may_follow_the_one_with_the_rule(
    tmp_path: Path, of_base: str, at_top: str, is_told: bool, more: dict[str, str]
) -> None:
    """GoogleCloudPlatform/anthos-service-mesh-workshop: scripts copy one of several directories over another."""
    files = {
        "shop.yaml": "---".join([SERVICE, PODS % "v1", *filter(None, [at_top])]),
        "canary/10/v.yaml": STEP % "a",
        "canary/50/v.yaml": STEP % "b",
        "canary/base/v.yaml": "---".join([STEP % "c", *filter(None, [of_base])]),
        **{path: text.replace("name: details", "name: another") for path, text in more.items()},
    }
    found = [each for each in tree(tmp_path, files).findings() if "subset v1" in each.message]
    assert bool([each for each in found if "canary/10" in each.location.file]) == is_told


def test_of_one_step_nothing_is_before(tmp_path: Path) -> None:
    found = tree(tmp_path, {"shop.yaml": f"{SERVICE}---{PODS % 'v1'}", "canary/10/v.yaml": STEP % "a"}).findings()
    assert any("subset v1" in each.message for each in found)


ENTRY = """
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: details, namespace: shop}
spec: {hosts: [details.shop.svc.cluster.local], ports: [{number: 9443, name: https, protocol: HTTPS}]}
"""


@pytest.mark.parametrize("field", ["http", "tcp", "tls"])
@pytest.mark.parametrize(
    ("port", "others", "told"),
    [("9080", (), False), ("9443", (), True), ("9443", (ENTRY,), False), ("'${PORT}'", (), False)],
)
def test_a_port_that_the_service_does_not_have(
    tmp_path: Path, field: str, port: str, others: tuple[str, ...], told: bool
) -> None:
    """Of a port that is none there is no cluster; an entry for the same host may have it."""
    there = virtual(field=field).replace("subset: v1", f"port: {{number: {port}}}")
    told_all = (message for _, _, message in said(tmp_path, there, SERVICE, PODS % "v1", *others))
    found = [message for message in told_all if "has no match" not in message]  # which a rule of `tls` needs
    says = "VirtualService shop/details sends requests to port 9443 of Service shop/details, which it does not have"
    assert found == ([says] if told else [])
