"""BackendTLSPolicy as Gateway API itself has it (docs/design/request-precedence.md §7; backendtlspolicy_types.go)."""

from __future__ import annotations

import json

import pytest

from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service, simulated, state

CLASS = gateway_class(controller="example.net/conformance")
SHOP = (CLASS, gateway(), route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"), service())
SYSTEM = "wellKnownCACertificates: System"
ACCEPTED = ["Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"]
GOOD = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"


def policy(name: str, validation: str, section: str = "", created: str = "") -> str:
    validation = f"validation: {{hostname: x.test, {validation}}}"
    target = f"Service/checkout#{section}"
    return worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, target, validation, "shop", created)


def authorities(**contents: str) -> tuple[str, str]:
    """ConfigMaps with a ca.crt each, and a reference to all of them."""
    maps = [
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {content}"
        for name, content in contents.items()
    ]
    references = ", ".join(f"{{group: '', kind: ConfigMap, name: {name}}}" for name in contents)
    return "\n---\n".join(maps), f"caCertificateRefs: [{references}]"


def told(simulation: Simulation, name: str) -> dict[str, list[str]]:
    return {
        str(each.ancestor): [f"{one.type}={one.status}/{one.reason}" for one in each.conditions]
        for each in state(simulation, name).ancestors
    }


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        (f"{{ca.crt: {json.dumps(GOOD)}}}", True),
        (f"{{ca.crt: {json.dumps('# ours' + chr(10) + GOOD)}}}", True),
        ("{ca.crt: '${CA}'}", True),  # something else fills it in
        (f"{{tls.crt: {json.dumps(GOOD)}}}", False),
        ("{ca.crt: malformed}", False),
        (f"{{ca.crt: {json.dumps(GOOD.replace('MII=', 'no certificate'))}}}", False),
        (f"{{ca.crt: {json.dumps(GOOD.replace('END', 'AND'))}}}", False),
    ],
)
def test_a_ca_has_to_hold_a_certificate(content: str, valid: bool) -> None:
    maps, references = authorities(ca=content)
    refused = ["Accepted=False/NoValidCACertificate", "ResolvedRefs=False/InvalidCACertificateRef"]
    found = told(simulated(*SHOP, maps, policy("p", references)), "p")
    assert found == {"Gateway infra/edge": ACCEPTED if valid else refused}


def test_one_valid_ca_of_several_is_enough_to_be_accepted() -> None:
    maps, references = authorities(one=f"{{ca.crt: {json.dumps(GOOD)}}}", other="{ca.crt: malformed}")
    found = told(simulated(*SHOP, maps, policy("p", references)), "p")
    assert found == {"Gateway infra/edge": [ACCEPTED[0], "ResolvedRefs=False/InvalidCACertificateRef"]}


@pytest.mark.parametrize(
    ("one", "other", "refused"),
    [
        (("a", "", ""), ("b", "", ""), {"b"}),
        (("a", "", "2026-02-01T00:00:00Z"), ("b", "", "2026-01-01T00:00:00Z"), {"a"}),
        (("a", "http", ""), ("b", "http", ""), {"b"}),
        (("a", "http", ""), ("b", "", ""), set()),
    ],
)
def test_the_older_policy_then_the_first_name_keeps_a_target(
    one: tuple[str, str, str], other: tuple[str, str, str], refused: set[str]
) -> None:
    policies = [policy(name, SYSTEM, section, created) for name, section, created in (one, other)]
    simulation = simulated(*SHOP, *policies)
    for name in ("a", "b"):
        expected = ["Accepted=False/Conflicted", ACCEPTED[1]] if name in refused else ACCEPTED
        assert told(simulation, name) == {"Gateway infra/edge": expected}


@pytest.mark.parametrize(
    "controller",
    ["kgateway.dev/kgateway", "gateway.envoyproxy.io/gatewayclass-controller", "istio.io/gateway-controller"],
)
@pytest.mark.parametrize("target", ["HTTPRoute/checkout", "Gateway/edge", "GRPCRoute/checkout"])
def test_no_implementation_reads_a_backend_policy_on_what_requests_pass_before_the_backend(
    controller: str, target: str
) -> None:
    validation = f"validation: {{hostname: x.test, {SYSTEM}}}"
    misaimed = worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", target, validation, "shop")
    judged = simulated(gateway_class(controller=controller), *SHOP[1:], misaimed)
    assert [target.problem for target in state(judged, "tls").targets] == ["kind-not-allowed"]
    assert (state(judged, "tls").verdict, state(judged, "tls").groups) == ("Invalid", [])


@pytest.mark.parametrize(("group", "verdict"), [("core", "Enforced"), ("''", "Enforced"), ("apps", "Invalid")])
def test_a_ca_of_the_core_group_by_name(group: str, verdict: str) -> None:
    """kubernetes-ingress-controller backendtlspolicy_utils.go; traefik gateway/httproute.go: `core` is taken for it."""
    bundle, _ = authorities(ca=f"{{ca.crt: {json.dumps(GOOD)}}}")
    validation = f"caCertificateRefs: [{{group: {group}, kind: ConfigMap, name: ca}}]"
    assert state(simulated(*SHOP, bundle, policy("tls", validation)), "tls").verdict == verdict
