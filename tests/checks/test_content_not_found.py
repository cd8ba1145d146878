"""What the content of policies names: found, missing or unknown, in one tree and by what a change takes away."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.compare import pair_sides
from policylint.simulation import Simulation
from policylint.workspace import open_workspace

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: any
  listeners: [{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: edge-tls}]}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: checkout, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {selector: {app: checkout}, ports: [{port: 80}]}
"""
ENVOY = "apiVersion: gateway.envoyproxy.io/v1alpha1"
KGATEWAY = "apiVersion: gateway.kgateway.dev/v1alpha1"
TO_ROUTE = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]"
TO_GATEWAY = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
CALLING_AUTH = f"""
{ENVOY}
kind: SecurityPolicy
metadata: {{name: login, namespace: shop}}
spec: {{{TO_ROUTE}, extAuth: {{http: {{backendRefs: [{{name: auth, namespace: identity, port: 80}}]}}}}}}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {{name: shop, namespace: identity}}
spec:
  from: [{{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: shop}}]
  to: [{{group: "", kind: Service}}]
"""
BY_EXTENSION = f"""
{KGATEWAY}
kind: TrafficPolicy
metadata: {{name: login, namespace: shop}}
spec: {{{TO_ROUTE}, extAuth: {{extensionRef: {{name: auth}}}}}}
"""
EXTENSION = f"""
{KGATEWAY}
kind: GatewayExtension
metadata: {{name: auth, namespace: shop}}
spec: {{type: ExtAuth, extAuth: {{grpcService: {{backendRef: {{name: checkout, port: 80}}}}}}}}
"""
CHART = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: auth, namespace: shop}
spec: {chart: {spec: {chart: auth, sourceRef: {kind: HelmRepository, name: auth}}}}
"""


def service(namespace: str, name: str) -> str:
    body = "spec: {selector: {app: a}, ports: [{port: 80}]}"
    return f"\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\n{body}\n"


def secret(name: str, entry: str = "tls.crt") -> str:
    held = f"stringData: {{{entry}: x}}"
    return f"\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: shop}}\n{held}\n"


def tree(directory: Path, *manifests: str) -> Simulation:
    directory.mkdir()
    (directory / "all.yaml").write_text("---".join(manifests), encoding="utf-8")
    return open_workspace([str(directory)]).simulations[0]


def said(simulation: Simulation) -> list[tuple[str, str, str]]:
    found = run(simulation, select={"GWP111", "GWP113"})
    return [(finding.rule, finding.severity, finding.message) for finding in found]


def test_a_service_of_a_namespace_of_which_nothing_is_here_was_not_seen(tmp_path: Path) -> None:
    message = "SecurityPolicy shop/login names Service identity/auth, which is not among these manifests"
    assert said(tree(tmp_path / "tree", GATEWAY, CALLING_AUTH)) == [("GWP113", "note", message)]


@pytest.mark.parametrize("near", [service("identities", "auth"), service("identity", "auht")])
def test_what_was_meant_is_evidence_that_it_is_missing(tmp_path: Path, near: str) -> None:
    message = "SecurityPolicy shop/login is refused: Service identity/auth is missing"
    assert said(tree(tmp_path / "tree", GATEWAY, CALLING_AUTH, near)) == [("GWP111", "error", message)]


def test_what_is_there_draws_nothing(tmp_path: Path) -> None:
    assert said(tree(tmp_path / "tree", GATEWAY, CALLING_AUTH, service("identity", "auth"))) == []


def test_what_a_change_takes_away_is_missing(tmp_path: Path) -> None:
    before = tree(tmp_path / "before", GATEWAY, BY_EXTENSION, EXTENSION)
    (sides,) = pair_sides([before], [tree(tmp_path / "after", GATEWAY, BY_EXTENSION)])
    message = "TrafficPolicy shop/login is refused: GatewayExtension shop/auth is missing"
    assert said(sides.before) == []
    assert said(sides.after) == [("GWP111", "error", message)]


def test_what_moves_into_a_chart_with_the_same_change_is_unknown(tmp_path: Path) -> None:
    before = tree(tmp_path / "before", GATEWAY, BY_EXTENSION, EXTENSION)
    (sides,) = pair_sides([before], [tree(tmp_path / "after", GATEWAY, BY_EXTENSION, CHART)])
    message = "TrafficPolicy shop/login names GatewayExtension shop/auth, which is not among these manifests"
    assert said(sides.after) == [("GWP113", "note", message)]


@pytest.mark.parametrize(
    "field", ["caCertificateRefs: [{name: clients-ca}]", "mode: Request, crl: {refs: [{name: clients-ca}]}"]
)
def test_a_secret_one_edit_away_is_missing_and_clients_need_no_certificate(tmp_path: Path, field: str) -> None:
    policy = f"""
{ENVOY}
kind: ClientTrafficPolicy
metadata: {{name: clients, namespace: shop}}
spec: {{{TO_GATEWAY}, tls: {{clientValidation: {{{field}}}}}}}
"""
    message = "ClientTrafficPolicy shop/clients is refused: Secret shop/clients-ca is missing"
    assert said(tree(tmp_path / "tree", GATEWAY, policy, secret("client-ca"))) == [("GWP111", "error", message)]
    assert said(tree(tmp_path / "alone", GATEWAY, policy)) == []


@pytest.mark.parametrize(
    ("annotations", "is_said"),
    [("", True), ("reflector.v1.k8s.emberstack.com/reflection-allowed: 'true'", False)],
)
def test_a_secret_of_that_name_in_another_namespace_shows_what_was_meant(
    tmp_path: Path, annotations: str, is_said: bool
) -> None:
    """kubernetes/ingress-gce#1393: one secret for services of several namespaces."""
    policy = """
apiVersion: networking.gke.io/v1
kind: GCPBackendPolicy
metadata: {name: iap, namespace: shop}
spec:
  targetRef: {group: "", kind: Service, name: checkout}
  default: {iap: {enabled: true, clientID: x, oauth2ClientSecret: {name: oauth}}}
"""
    there = secret("oauth").replace("namespace: shop", f"namespace: infra, annotations: {{{annotations}}}")
    message = "GCPBackendPolicy shop/iap names missing Secret shop/oauth"
    assert said(tree(tmp_path / "tree", GATEWAY, policy, there)) == (
        [("GWP113", "warning", message)] if is_said else []
    )
    assert said(tree(tmp_path / "none", GATEWAY, policy)) == []


def test_a_name_one_edit_away_is_no_evidence_against_what_somebody_makes_under_that_very_name(tmp_path: Path) -> None:
    policy = f"""
{ENVOY}
kind: SecurityPolicy
metadata: {{name: login, namespace: shop}}
spec: {{{TO_ROUTE}, basicAuth: {{users: {{name: users-a}}}}}}
"""
    maker = """
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: users-a, namespace: shop}
spec: {secretStoreRef: {name: vault}, target: {name: users-a}}
"""
    message = "SecurityPolicy shop/login is refused: Secret shop/users-a is missing"
    users = secret("users-b", ".htpasswd")
    assert said(tree(tmp_path / "tree", GATEWAY, policy, users)) == [("GWP111", "error", message)]
    assert said(tree(tmp_path / "made", GATEWAY, policy, users, maker)) == []


def test_one_missing_certificate_beside_one_that_is_there_is_found(tmp_path: Path) -> None:
    both = GATEWAY.replace("[{name: edge-tls}]", "[{name: edge-tls}, {name: gone}]")
    message = "Gateway shop/edge names missing Secret shop/gone"
    assert said(tree(tmp_path / "tree", both, secret("edge-tls"))) == [("GWP113", "warning", message)]
    assert said(tree(tmp_path / "none", both)) == []


def test_an_issuer_with_a_typo_is_told_once(tmp_path: Path) -> None:
    policy = """
apiVersion: kuadrant.io/v1
kind: TLSPolicy
metadata: {name: tls, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  issuerRef: {kind: ClusterIssuer, name: letsencryp}
"""
    issuer = "\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt}\nspec: {}\n"
    message = "TLSPolicy shop/tls is refused: unable to find issuer (ClusterIssuer letsencryp is missing)"
    assert said(tree(tmp_path / "tree", GATEWAY, policy, issuer)) == [("GWP111", "error", message)]


def test_a_parent_is_missing_in_a_file_and_in_a_directory_where_another_namespace_has_one_of_its_name(
    tmp_path: Path,
) -> None:
    astray = GATEWAY.replace("parentRefs: [{name: edge}]", "parentRefs: [{name: edge, namespace: shops}]")
    directory = tree(tmp_path / "tree", astray)
    file = open_workspace([str(tmp_path / "tree" / "all.yaml")]).simulations[0]
    for simulation in (directory, file):
        (finding,) = run(simulation, select={"GWP401"})
        assert (finding.severity, finding.confidence) == ("warning", "assumed")
        assert finding.message == "HTTPRoute shop/checkout names missing parent Gateway shops/edge"
