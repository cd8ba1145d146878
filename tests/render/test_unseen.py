"""What operators make: schemas/operators.yaml, and what is unknown, found or missing because of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policylint.catalog.operators import products
from policylint.model import ResourceKey
from policylint.model.keys import GATEWAY_GROUP
from policylint.model.shipped import shipped
from policylint.model.unseen import Unseen, UnseenSource
from policylint.render.helm.mentions import mentions
from tests.checks.linting import GATEWAY, Said, lint, policy, route, rules
from tests.worlds import gateway_class, manifest

SERVICE = manifest("v1", "Service", "checkouts", "shop", "spec: {ports: [{port: 8080}]}")


def said_of_backend(tmp_path: Path, *manifests: str, backend: str = "checkout") -> str:
    """`error certain` and the like, what GWP406 says of a route's backend in namespace shop; "" for nothing."""
    described = route().replace("name: checkout, port", f"name: {backend}, port")
    found = [said for said in lint(tmp_path, GATEWAY, described, *manifests) if said.rule == "GWP406"]
    return " ".join(sorted({f"{said.severity} {said.confidence}" for said in found}))


def resource(group: str, kind: str, name: str = "pg", namespace: str = "shop", spec: str = "") -> str:
    return manifest(f"{group}/v1", kind, name, namespace, f"spec: {{{spec}}}")


OTHER = manifest("v1", "Service", "quite-another", "shop", "spec: {ports: [{port: 8080}]}")


@pytest.mark.parametrize(
    ("made", "backend", "expected"),
    [
        (resource("monitoring.coreos.com", "ServiceMonitor"), "checkout", "error certain"),
        (resource("cert-manager.io", "Certificate", spec="secretName: checkout"), "checkout", "error certain"),
        (resource("kyverno.io", "Policy"), "checkout", "error certain"),
        (resource("example.com", "Database"), "checkout", "note unknown"),
        (resource("postgresql.cnpg.io", "Cluster"), "pg-rw", "note unknown"),
        (resource("postgresql.cnpg.io", "Cluster"), "checkout", "error certain"),
    ],
    ids=["monitor", "certificate", "kyverno", "anything", "postgres", "postgres-other"],
)
def test_an_operator_makes_what_it_makes(tmp_path: Path, made: str, backend: str, expected: str) -> None:
    assert said_of_backend(tmp_path, OTHER, made, backend=backend) == expected


@pytest.mark.parametrize(
    ("of_class", "backend", "expected"),
    [
        ("istio", "other-istio", "note unknown"),
        ("nginx", "other-nginx", "note unknown"),
        ("cilium", "cilium-gateway-other", "note unknown"),
        ("kgateway", "other", "note unknown"),
        ("gloo-gateway", "gloo-proxy-other", "note unknown"),
        ("istio", "other", "error certain"),
        ("istio", "other-nginx", "error certain"),
        ("istio", "some-istio", "error certain"),
    ],
)
def test_a_controller_makes_the_service_of_a_gateway(
    tmp_path: Path, of_class: str, backend: str, expected: str
) -> None:
    other = manifest(
        "gateway.networking.k8s.io/v1", "Gateway", "other", "shop",
        f"spec: {{gatewayClassName: {of_class}, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}",
    )  # fmt: skip
    assert said_of_backend(tmp_path, OTHER, other, backend=backend) == expected


@pytest.mark.parametrize("backend", ["cilium-ingress-other", "cilium-ingress-some"])
def test_a_controller_makes_the_service_of_an_ingress(tmp_path: Path, backend: str) -> None:
    other = manifest(
        "networking.k8s.io/v1", "Ingress", "other", "shop",
        "spec: {ingressClassName: cilium, defaultBackend: {service: {name: quite-another, port: {number: 8080}}}}",
    )  # fmt: skip
    made = backend == "cilium-ingress-other"
    assert said_of_backend(tmp_path, OTHER, other, backend=backend) == ("note unknown" if made else "error certain")


@pytest.mark.parametrize(("targets", "made"), [("web", True), ("other", False)])
def test_flagger_makes_what_routes_of_traefik_name(tmp_path: Path, targets: str, made: bool) -> None:
    """docs.flagger.app, tutorials/traefik-progressive-delivery: the TraefikService is called as the Service is."""
    there = manifest("traefik.io/v1alpha1", "TraefikService", "there", "shop", "spec: {weighted: {services: []}}")
    spec = f"spec: {{provider: traefik, targetRef: {{kind: Deployment, name: {targets}}}, service: {{port: 80}}}}"
    canary = manifest("flagger.app/v1beta1", "Canary", "release", "shop", spec)
    asks = manifest(
        "traefik.io/v1alpha1", "IngressRoute", "web", "shop",
        "spec: {routes: [{kind: Rule, match: 'Host(`web.example`)', services: [{name: web, kind: TraefikService}]}]}",
    )  # fmt: skip
    said = [each for each in lint(tmp_path, there, canary, asks) if "TraefikService shop/web" in each.message]
    assert [each.confidence for each in said if each.confidence == "certain"] == ([] if made else ["certain"])


def test_one_letter_from_a_service_is_a_misspelling(tmp_path: Path) -> None:
    made = resource("example.com", "Database")
    assert said_of_backend(tmp_path, SERVICE, made) == "error certain"
    assert said_of_backend(tmp_path, SERVICE.replace("checkouts", "checkout-1"), made, backend="checkout-2") == (
        "note unknown"
    )


def test_one_letter_from_a_service_is_none_where_an_operator_serves_under_that_very_name(tmp_path: Path) -> None:
    """KServe's InferenceService `chat-gpu` is served by Service `chat-gpu-predictor`, whatever else is nearby."""
    near = SERVICE.replace("checkouts", "chat-cpu-predictor")
    made = resource("serving.example.com", "InferenceService", "chat-gpu")
    assert said_of_backend(tmp_path, near, made, backend="chat-gpu-predictor") == "note unknown"
    other = resource("serving.example.com", "InferenceService", "translate")
    assert said_of_backend(tmp_path, near, other, backend="chat-gpu-predictor") == "error certain"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"referenceGrant": {"create": True, "fromNamespaces": ["shop"]}}, True),
        ({"network": {"referenceGrants": [{"from": "shop"}]}}, True),
        ({"referenceGrant": {"create": False}}, False),
        ({"referenceGrant": {"enabled": False}}, False),
        ({"replicas": 2}, False),
    ],
    ids=["one", "several", "not created", "switched off", "says nothing of it"],
)
def test_a_chart_whose_values_speak_of_a_grant_may_make_it(values: dict[str, object], expected: bool) -> None:
    """Whether or not they speak of routes, too."""
    unseen = Unseen()
    unseen.add("its chart", "access", gateway_api=False, source=UnseenSource("chart", mentions(values)))
    assert bool(unseen.reason(ResourceKey(GATEWAY_GROUP, "ReferenceGrant", "access", ""))) is expected


def lint_policy(tmp_path: Path, *manifests: str) -> list[Said]:
    login = policy("SecurityPolicy", "login", "kind: HTTPRoute, name: llm", "basicAuth: {users: {name: users}}")
    controller = gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
    return lint(tmp_path, controller, GATEWAY, route(), SERVICE.replace("checkouts", "checkout"), login, *manifests)


def test_an_ai_gateway_route_makes_an_http_route_of_its_name(tmp_path: Path) -> None:
    made = manifest("aigateway.envoyproxy.io/v1alpha1", "AIGatewayRoute", "llm", "shop", "spec: {}")
    assert "GWP101" in rules(lint_policy(tmp_path))
    assert "GWP101" not in rules(lint_policy(tmp_path, made))
    assert "GWP101" in rules(lint_policy(tmp_path, made.replace("name: llm", "name: other")))
    assert "GWP101" in rules(lint_policy(tmp_path, made.replace("namespace: shop", "namespace: infra")))


def test_names_come_from_templates() -> None:
    (secret,) = products("external-secrets.io", "ExternalSecret") or ()
    assert secret.kind == ("", "Secret")
    assert secret.name({"metadata": {"name": "a"}, "spec": {"target": {"name": "b"}}}) == "b"
    assert secret.name({"metadata": {"name": "a"}}) == "a"
    (certificate,) = products("cert-manager.io", "Certificate") or ()
    assert certificate.name({"metadata": {"name": "a"}}) == ""
    assert [product.ending for product in products("postgresql.cnpg.io", "Cluster") or ()][:2] == ["-rw", "-ro"]
    assert products("cert-manager.io", "Issuer") == ()
    assert products("example.com", "Database") is None


def test_the_table_is_sorted_and_all_of_it_is_read() -> None:
    table = yaml.safe_load(shipped("schemas", "operators.yaml").read_text(encoding="utf-8"))
    assert list(table) == sorted(table)
    for group, kinds in table.items():
        for kind, made in kinds.items():
            assert len(products(group, kind) or ()) == sum(map(len, made.values())), f"{kind}.{group}"
