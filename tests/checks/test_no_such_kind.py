"""GWP506: kinds and versions that do not exist, and what becomes of objects that are written so."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.naming import is_no_version, meant
from policylint.checks import run
from policylint.checks.no_such_kind import RULE
from policylint.compare import compare, removed_protections
from tests.checks.linting import GATEWAY, SERVICE, route
from tests.compare.test_weakening import sides
from tests.worlds import manifest, opened, simulated

EG, GWAPI = "gateway.envoyproxy.io", "gateway.networking.k8s.io"
ON_ROUTE = f"targetRefs: [{{group: {GWAPI}, kind: HTTPRoute, name: checkout}}]"
KEYS = "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [x-key]}]}"
LOGIN = f"spec:\n  {ON_ROUTE}\n  {KEYS}"


@pytest.mark.parametrize(
    ("group", "kind", "expected"),
    [
        (EG, "SecuriyPolicy", (EG, "SecurityPolicy", False)),
        (EG, "SecurityyPolicy", (EG, "SecurityPolicy", False)),
        (EG, "SecuirtyPolicy", (EG, "SecurityPolicy", False)),
        (EG, "Securitypolicy", (EG, "SecurityPolicy", True)),
        (EG, "SecurityPolicies", (EG, "SecurityPolicy", True)),
        (GWAPI, "HttpRoute", (GWAPI, "HTTPRoute", True)),
        (GWAPI, "HTTPRoutes", (GWAPI, "HTTPRoute", True)),
        ("networking.k8s.io", "NetworkPolcy", ("networking.k8s.io", "NetworkPolicy", True)),
        ("apps", "Deploymnt", ("apps", "Deployment", True)),
        ("networking.istio.io", "AuthorizationPolicy", ("security.istio.io", "AuthorizationPolicy", False)),
        ("networking.k8s.io", "HTTPRoute", (GWAPI, "HTTPRoute", True)),
        ("gateway.envoy.io", "SecurityPolicy", (EG, "SecurityPolicy", False)),
        ("security.istio.com", "PeerAuthentication", ("security.istio.io", "PeerAuthentication", False)),
        ("cilium.io", "CiliumNetworkPolcy", ("cilium.io", "CiliumNetworkPolicy", False)),
        ("cilium.io", "CiliumNetworkPolicies", ("cilium.io", "CiliumNetworkPolicy", True)),
        ("cillium.io", "CiliumNetworkPolicy", ("cilium.io", "CiliumNetworkPolicy", False)),
        ("projectcalico.org", "GlobalNetworkPolcy", ("projectcalico.org", "GlobalNetworkPolicy", False)),
        ("projectcontour.io", "HttpProxy", ("projectcontour.io", "HTTPProxy", True)),
        ("k8s.nginx.org", "VirtualServr", ("k8s.nginx.org", "VirtualServer", False)),
    ],
)
def test_what_a_kind_was_meant_to_be(group: str, kind: str, expected: tuple[str, str, bool]) -> None:
    assert meant(group, kind) == expected


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        (EG, "SecurityPolicy"),
        (EG, "TrafficPolicy"),
        ("gateway.networking.x-k8s.io", "XBackendTrafficPolicy"),
        (GWAPI, "XListenerSet"),
        (GWAPI, "UPCRoute"),
        ("traefik.io", "IngressRouteTCP"),
        ("traefik.containo.us", "IngressRoute"),
        ("monitoring.coreos.com", "PodMonitor"),
        ("gateway.example.com", "SecurityPolicy"),
        ("config.gateway.envoyproxy.io", "EnvoyProxy"),  # a label more: a group of its own, as it was until 0.5
        ("config.policy.networking.k8s.io", "AdminNetworkPolicy"),
        ("", "Services"),
        ("policy.linkerd.io", "HTTPRoute"),
        ("cilium.io", "CiliumNode"),
        ("crd.projectcalico.org", "BGPPeer"),
        ("projectcontour.io", "TLSCertificateDelegation"),
        ("route.openshift.io", "Route"),
        ("operator.openshift.io", "Network"),
    ],
)
def test_what_is_known_or_resembles_nothing_is_left_alone(group: str, kind: str) -> None:
    assert meant(group, kind) is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [("v1", False), ("v1alpha1", False), ("v2beta3", False), ("v1apha1", True), ("1", True), ("V1", True), ("", True)],
)
def test_how_versions_are_written(version: str, *, expected: bool) -> None:
    assert is_no_version(version) == expected


def found(*texts: str) -> list[tuple[str, str, str]]:
    return [
        (each.severity, each.confidence, each.message)
        for each in run(simulated(*texts))
        if each.rule in ("GWP501", "GWP506")
    ]


WORLD = (GATEWAY, route(), SERVICE)


def test_a_policy_whose_kind_is_misspelt() -> None:
    policy = manifest(f"{EG}/v1alpha1", "SecuriyPolicy", "login", "shop", LOGIN)
    assert found(*WORLD, policy) == [
        (
            *("warning", "assumed"),
            f"SecuriyPolicy shop/login is of a kind that {EG} does not have: no API server takes it",
        )
    ]


def test_a_kind_that_a_crd_of_the_tree_defines_is_one(tmp_path: Path) -> None:
    names = "names: {kind: SecuriyPolicy, plural: securiypolicies}, scope: Namespaced"
    version = "versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"
    crd = manifest(
        *("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"securiypolicies.{EG}", ""),
        f"spec: {{group: {EG}, {names}, {version}}}",
        more="labels: {gateway.networking.k8s.io/policy: Direct}",
    )
    policy = manifest(f"{EG}/v1alpha1", "SecuriyPolicy", "login", "shop", LOGIN)
    assert [each.rule for each in run(opened(tmp_path, *WORLD, policy, crd)) if each.rule == RULE] == []


@pytest.mark.parametrize(
    ("version", "kind", "body"),
    [
        (f"{EG}/v1apha1", "SecurityPolicy", LOGIN),
        (f"{GWAPI}/v", "ReferenceGrant", "spec: {from: [], to: []}"),
        ("networking.k8s.io/1", "NetworkPolicy", "spec: {podSelector: {}}"),
        ("apps/v1.0", "Deployment", "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}"),
        ("V1", "Service", "spec: {ports: [{port: 80}]}"),
    ],
)
def test_a_version_that_is_written_as_none_is_refused(version: str, kind: str, body: str) -> None:
    says = f"{kind} shop/login has the apiVersion {version}, which no release has"
    assert found(*WORLD, manifest(version, kind, "login", "shop", body)) == [("error", "certain", says)]


def test_a_version_that_no_known_release_serves_is_not_known() -> None:
    says = f"SecurityPolicy shop/login is of version v1beta9, which no known release of {EG} serves"
    policy = manifest(f"{EG}/v1beta9", "SecurityPolicy", "login", "shop", LOGIN)
    assert found(*WORLD, policy) == [("note", "unknown", says)]


def test_a_variable_may_be_any_version() -> None:
    assert found(*WORLD, manifest(f'"{EG}/${{VERSION}}"', "SecurityPolicy", "login", "shop", LOGIN)) == []


@pytest.mark.parametrize(
    ("written", "instead"),
    [("v1alpha1", "v1apha1"), ("SecurityPolicy", "SecuriyPolicy"), (EG, "gateway.envoy.io")],
)
def test_a_slip_takes_the_login_away(tmp_path: Path, written: str, instead: str) -> None:
    policy = manifest(f"{EG}/v1alpha1", "SecurityPolicy", "login", "shop", LOGIN)
    pair = sides(tmp_path, (*WORLD, policy), (*WORLD, policy.replace(written, instead, 1)))
    lost = removed_protections([pair], compare([pair]), {"GWP302"})
    assert [(each.severity, str(each.resources[0])) for each in lost] == [("error", "HTTPRoute shop/checkout")]
