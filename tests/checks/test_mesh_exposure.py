"""GWP305 and GWP306 beyond the examples of their pages: which AuthorizationPolicies count, and what is not known.

Source: istio.io, "Require a valid token" and "Writing Host Match Policies".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, Said, lint, only, rules
from tests.implementations.test_istio import deployment, gateway, policy, select, to

JWT = "jwtRules: [{issuer: x, jwksUri: 'https://x.test/keys'}]"
ROOT = worlds.manifest("v1", "Namespace", "istio-system", "", "")
DRY_RUN = 'annotations: {istio.io/dry-run: "true"}'
LOGIN = policy("RequestAuthentication", "login", f"{select()}, {JWT}")


def authorization(spec: str, name: str = "rules", namespace: str = "foo", more: str = "") -> str:
    return policy("AuthorizationPolicy", name, spec, namespace, more=more)


def test_nothing_asks_for_a_token(tmp_path: Path) -> None:
    said = only(lint(tmp_path, ROOT, deployment(), LOGIN), "GWP305")
    assert (said.severity, said.confidence) == ("warning", "certain")
    assert said.message == "RequestAuthentication foo/login lets requests without a token reach Deployment foo/web"


@pytest.mark.parametrize(
    "spec",
    [
        "rules: [{from: [{source: {requestPrincipals: ['*']}}]}]",
        "rules: [{when: [{key: 'request.auth.claims[group]', values: [admin]}]}]",
        "action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}], to: [{operation: {paths: [/a]}}]}]",
        "action: DENY, rules: [{when: [{key: request.auth.principal, notValues: ['*']}]}]",
        "action: CUSTOM, provider: {name: p}, rules: [{}]",
        "rules: [{from: [{source: {principals: [a]}}]}]",
        "rules: [{from: [{source: {namespaces: [front]}}]}, {from: [{source: {ipBlocks: [10.0.0.0/8]}}]}]",
        "{}",
    ],
    ids=["principal", "claim", "deny", "deny-principal", "custom", "callers", "all-callers", "allow-nothing"],
)
@pytest.mark.parametrize("namespace", ["foo", "istio-system"])
def test_something_tells_requests_apart(tmp_path: Path, spec: str, namespace: str) -> None:
    spec = "" if spec == "{}" else spec
    assert "GWP305" not in rules(lint(tmp_path, ROOT, deployment(), LOGIN, authorization(spec, namespace=namespace)))


@pytest.mark.parametrize(
    "other",
    [
        authorization("rules: [{to: [{operation: {methods: [GET]}}]}]"),
        authorization("rules: [{from: [{source: {principals: [a]}}]}, {to: [{operation: {methods: [GET]}}]}]"),
        authorization("rules: [{from: [{source: {notRequestPrincipals: ['*']}}]}]"),
        authorization("action: DENY, rules: [{from: [{source: {requestPrincipals: [mallory]}}]}]"),
        authorization("action: AUDIT, rules: [{from: [{source: {requestPrincipals: ['*']}}]}]"),
        authorization("rules: [{from: [{source: {requestPrincipals: ['*']}}]}]", more=DRY_RUN),
        authorization(f"{select('other')}, rules: [{{from: [{{source: {{requestPrincipals: ['*']}}}}]}}]"),
        authorization("rules: [{from: [{source: {requestPrincipals: ['*']}}]}]", namespace="bar"),
    ],
    ids=["method", "one-of-two", "without", "deny-one", "audit", "dry-run", "other-workload", "other-namespace"],
)
def test_a_policy_that_asks_for_none(tmp_path: Path, other: str) -> None:
    assert "GWP305" in rules(lint(tmp_path, ROOT, deployment(), LOGIN, other))


def test_the_gateway_of_the_policy(tmp_path: Path) -> None:
    edge = to("Gateway.gateway.networking.k8s.io", "edge")
    login = policy("RequestAuthentication", "login", f"{edge}, {JWT}")
    demand = f"{edge}, rules: [{{from: [{{source: {{requestPrincipals: ['*']}}}}]}}]"
    assert "GWP305" in rules(lint(tmp_path, ROOT, gateway(), login))
    assert "GWP305" not in rules(lint(tmp_path, ROOT, gateway(), login, authorization(demand)))


def test_what_is_handed_on_may_be_checked_there(tmp_path: Path) -> None:
    rule = f"{select()}, jwtRules: [{{issuer: x, jwksUri: 'https://x.test/keys', forwardOriginalToken: true}}]"
    said = only(lint(tmp_path, ROOT, deployment(), policy("RequestAuthentication", "login", rule)), "GWP305")
    assert (said.severity, said.confidence) == ("warning", "assumed")
    assert any("`forwardOriginalToken`" in line for line in said.help)


HOSTS = "action: DENY, rules: [{to: [{operation: {ports: ['80'], hosts: [%s]}}]}]"


def bypassed(tmp_path: Path, *documents: str) -> list[Said]:
    return [said for said in lint(tmp_path, ROOT, deployment(), *documents) if said.rule == "GWP306"]


@pytest.mark.parametrize(
    ("hosts", "label"),
    [
        ("a.example.com", "does not match a.example.com:443"),
        ("b.example.com, 'b.example.com:*', a.example.com", "does not match a.example.com:443"),
        ("a.example.com, 'b.example.com:*'", "does not match a.example.com:443"),
        ("'*.example.com'", "does not match www.example.com:443"),
    ],
)
def test_a_port_in_the_header_bypasses_a_denial(tmp_path: Path, hosts: str, label: str) -> None:
    (said,) = bypassed(tmp_path, authorization(HOSTS % hosts))
    assert (said.severity, said.confidence, said.label) == ("warning", "certain", label)


@pytest.mark.parametrize(
    "spec",
    [
        HOSTS % "a.example.com, 'A.example.com:*'",
        HOSTS % "a.example.com, 'a.example.*'",
        HOSTS % "'*'",
        HOSTS % "'a.example.com:80'",
        "rules: [{to: [{operation: {hosts: [a.example.com]}}]}]",
        "action: AUDIT, rules: [{to: [{operation: {hosts: [a.example.com]}}]}]",
        "action: DENY, rules: [{to: [{operation: {ports: ['80'], notHosts: [a.example.com]}}]}]",
    ],
    ids=["with-port", "prefix", "any", "one-port", "allow", "audit", "deny-others"],
)
def test_hosts_that_no_port_lets_in(tmp_path: Path, spec: str) -> None:
    assert bypassed(tmp_path, authorization(spec)) == []


def test_what_is_left_out_of_an_allow(tmp_path: Path) -> None:
    assert bypassed(tmp_path, authorization("rules: [{to: [{operation: {notHosts: [a.example.com]}}]}]"))


def test_an_allow_that_takes_no_port_keeps_it_out(tmp_path: Path) -> None:
    denial, allow = authorization(HOSTS % "a.example.com"), "rules: [{to: [{operation: {hosts: [%s]}}]}]"
    assert bypassed(tmp_path, denial, authorization(allow % "b.example.com", "allow")) == []
    assert bypassed(tmp_path, denial, authorization(allow % "'a.example.com:*'", "allow"))


def test_a_gateway_that_was_not_seen(tmp_path: Path) -> None:
    denial = policy("AuthorizationPolicy", "hosts", HOSTS % "a.example.com", "istio-ingress")
    (said,) = bypassed(tmp_path, denial)
    assert said.confidence == "assumed"


@pytest.mark.parametrize(
    ("more", "takes", "told"),
    [("", "service", True), ("routingType: Service", "service", False), ("", "all", False)],
)
def test_a_gateway_of_another_controller_sends_past_the_waypoint(
    tmp_path: Path, more: str, takes: str, told: bool
) -> None:
    ambient = "labels: {istio.io/dataplane-mode: ambient, istio.io/use-waypoint: waypoint}"
    mesh = "[{name: mesh, port: 15008, protocol: HBONE}]"
    target = "targetRefs: [{group: '', kind: Service, name: checkout}]"
    callers = "rules: [{from: [{source: {principals: [cluster.local/ns/ops/sa/agent]}}]}]"
    proxy = worlds.manifest(
        "gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "p", "infra", f"spec: {{mergeGateways: false, {more}}}"
    )
    found = lint(
        tmp_path,
        worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway_class("istio-waypoint", "istio.io/mesh-controller"),
        worlds.manifest("v1", "Namespace", "shop", more=ambient),
        GATEWAY,
        worlds.gateway("waypoint", "shop", mesh, of_class="istio-waypoint", labels=f"istio.io/waypoint-for: {takes}"),
        SERVICE.replace("spec: {", "spec: {selector: {app: checkout}, "),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 8080}]}]"),
        worlds.manifest(
            "security.istio.io/v1", "AuthorizationPolicy", "callers", "shop", f"spec: {{{target}, {callers}}}"
        ),
        proxy,
        deployment("checkout", "shop"),
    )
    assert [each.confidence for each in found if each.rule == "GWP308"] == (["assumed"] if told else [])


HOOK = worlds.manifest(
    "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook",
    body="webhooks: [{name: a.example.com, failurePolicy: Fail, clientConfig: {service: {name: web, namespace: foo}}}]",
)  # fmt: skip
HOOKED = worlds.manifest(
    "v1", "Service", "web", "foo", "spec: {selector: {app: web}, ports: [{port: 443, targetPort: 9443}]}"
)


@pytest.mark.parametrize("mode", ["istio.io/dataplane-mode: ambient", "istio-injection: enabled"])
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("mtls: {mode: STRICT}", True),
        ("mtls: {mode: PERMISSIVE}", False),
        (f"{select()}, mtls: {{mode: STRICT}}, portLevelMtls: {{'9443': {{mode: PERMISSIVE}}}}", False),
        (f"{select()}, mtls: {{mode: STRICT}}, portLevelMtls: {{'443': {{mode: PERMISSIVE}}}}", True),
    ],
)
def test_the_api_server_is_in_no_mesh(tmp_path: Path, mode: str, settings: str, told: bool) -> None:
    meshed = worlds.manifest("v1", "Namespace", "foo", more=f"labels: {{{mode}}}")
    found = lint(tmp_path, meshed, deployment(), HOOKED, HOOK, policy("PeerAuthentication", "p", settings))
    assert ("GWP605" in rules(found)) == told


def test_a_port_that_the_sidecar_leaves_alone(tmp_path: Path) -> None:
    injected = worlds.manifest("v1", "Namespace", "foo", more="labels: {istio-injection: enabled}")
    strict = policy("PeerAuthentication", "p", "mtls: {mode: STRICT}")
    left = deployment(annotations="traffic.sidecar.istio.io/excludeInboundPorts: '9443'")
    assert "GWP605" not in rules(lint(tmp_path, injected, left, HOOKED, HOOK, strict))


@pytest.mark.parametrize(
    ("namespace", "pod", "spec", "told"),
    [
        ("istio.io/dataplane-mode: ambient", "", "", True),
        ("istio-injection: enabled", "", "", False),
        ("istio.io/dataplane-mode: ambient", "", "workloadSelector: {labels: {app: web}}", True),
        ("istio.io/dataplane-mode: ambient", "", "workloadSelector: {labels: {app: other}}", False),
        ("istio.io/dataplane-mode: ambient", "istio.io/dataplane-mode: none", "", False),
        ("", "", "", False),
    ],
)
def test_a_sidecar_where_there_are_none(tmp_path: Path, namespace: str, pod: str, spec: str, told: bool) -> None:
    meshed = worlds.manifest("v1", "Namespace", "foo", more=f"labels: {{{namespace}}}")
    sidecar = worlds.manifest("networking.istio.io/v1", "Sidecar", "s", "foo", f"spec: {{{spec}}}")
    assert ("GWP217" in rules(lint(tmp_path, meshed, deployment(labels=pod), sidecar))) == told


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("{app: web, mesh.example.com/workload: web}", False),
        ("{mesh.example.com/workload: web}", False),
        ("{app: other, mesh.example.com/workload: web}", True),
        ("{app: other}", True),
    ],
)
def test_a_label_that_is_written_when_pods_are_made(tmp_path: Path, selector: str, told: bool) -> None:
    version = "networking.k8s.io/v1"
    closed = worlds.manifest(
        version, "NetworkPolicy", "closed", "foo", "spec: {podSelector: {}, policyTypes: [Ingress]}"
    )
    opens = f"spec: {{podSelector: {{matchLabels: {selector}}}, ingress: [{{ports: [{{port: 9443}}]}}]}}"
    opened = worlds.manifest(version, "NetworkPolicy", "opened", "foo", opens)
    assert ("GWP605" in rules(lint(tmp_path, deployment(), HOOKED, HOOK, closed, opened))) == told
