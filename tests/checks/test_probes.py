"""GWP311: which probes a proxy beside the pods turns away (linkerd.io, «Authorization Policy»)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds
from tests.worlds import simulated

SERVER = "spec: {podSelector: {matchLabels: {app: web}}, port: http, proxyProtocol: PROTOCOL}"


def pods(kind: str, probe: str, inject: str = "enabled") -> str:
    annotations = f"annotations: {{linkerd.io/inject: {inject}}}"
    container = f"{{name: web, ports: [{{name: http, containerPort: 8080}}], {probe}}}"
    template = f"template: {{metadata: {{labels: {{app: web}}, {annotations}}}, spec: {{containers: [{container}]}}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, {template}}}"
    return worlds.manifest("apps/v1", kind, "web", "shop", body)


def server(protocol: str = "HTTP/1") -> str:
    return worlds.manifest("policy.linkerd.io/v1beta3", "Server", "web", "shop", SERVER.replace("PROTOCOL", protocol))


def let_in(path: str, api: str = "policy.linkerd.io/v1beta3", networks: str = "[{cidr: 0.0.0.0/0}]") -> tuple[str, ...]:
    """A route of the Server, and an authorization of it for some networks."""
    parent = "parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}]"
    rule = f"rules: [{{matches: [{{path: {{type: Exact, value: {path}}}}}]}}]"
    group = "policy.linkerd.io"
    return (
        worlds.manifest(api, "HTTPRoute", "own", "shop", f"spec: {{{parent}, {rule}}}"),
        worlds.manifest(f"{group}/v1alpha1", "NetworkAuthentication", "net", "shop", f"spec: {{networks: {networks}}}"),
        worlds.manifest(
            f"{group}/v1alpha1",
            "AuthorizationPolicy",
            "own",
            "shop",
            f"spec: {{targetRef: {{group: {api.partition('/')[0]}, kind: HTTPRoute, name: own}}, "
            f"requiredAuthenticationRefs: [{{group: {group}, kind: NetworkAuthentication, name: net}}]}}",
        ),
    )


READY = "readinessProbe: {httpGet: {path: /ready, port: http}}"
LIVE = "livenessProbe: {httpGet: {path: /live, port: 8080}}"
OF_GATEWAY_API = "gateway.networking.k8s.io/v1"


@pytest.mark.parametrize(
    ("world", "turned_away"),
    [
        ((pods("Deployment", READY), server()), 0),
        ((pods("Deployment", READY), server(), *let_in("/other")), 1),
        ((pods("Deployment", READY.replace("/ready", "ready")), server()), 1),  # no path to the policy controller
        ((pods("Deployment", "readinessProbe: {httpGet: {port: http}}"), server()), 0),
        ((pods("Deployment", READY), server(), *let_in("/ready")), 0),
        ((pods("StatefulSet", LIVE), server(), *let_in("/ready")), 1),
        ((pods("DaemonSet", f"{LIVE}, {READY}"), server(), *let_in("/ready")), 1),
        ((pods("Deployment", READY), server(), *let_in("/other", OF_GATEWAY_API)), 1),
        ((pods("Deployment", READY), server(), *let_in("/ready", networks="[{cidr: 10.0.0.0/8}]")), 0),
        ((pods("Deployment", "readinessProbe: {tcpSocket: {port: http}}"), server(), *let_in("/other")), 0),
        ((pods("Deployment", READY.replace("http}", "9999}")), server(), *let_in("/other")), 0),
        ((pods("Deployment", READY, inject="disabled"), server(), *let_in("/other")), 0),
    ],
)
def test_probes_are_requests_once_a_server_has_routes(world: tuple[str, ...], turned_away: int) -> None:
    assert len(list(run(simulated(*world), select={"GWP311"}))) == turned_away


GRPC = "livenessProbe: {grpc: {port: 8080}}"


def namespace(default: str) -> str:
    stated = f"annotations: {{config.linkerd.io/default-inbound-policy: {default}}}"
    return worlds.manifest("v1", "Namespace", "shop", more=stated)


@pytest.mark.parametrize(
    ("probe", "default", "turned_away"),
    [
        (READY, "deny", 0),  # the policy controller lets the paths of probes in
        (READY, "all-authenticated", 0),
        (READY.replace("/ready", '"/ready?full=1"'), "deny", 0),  # without the query (linkerd/linkerd2#10877)
        (READY.replace("/ready", "ready"), "deny", 1),
        (READY.replace("/ready", "ready"), "cluster-authenticated", 1),
        (READY.replace("/ready", "ready"), "all-unauthenticated", 0),
        (GRPC, "deny", 1),  # it reads no other probes
        (GRPC, "all-authenticated", 1),
        (GRPC, "audit", 0),
        ("startupProbe: {grpc: {port: 8080, service: web}}", "deny", 1),
        ("readinessProbe: {tcpSocket: {port: 8080}}", "deny", 0),
    ],
)
def test_probes_without_a_server_meet_the_default_policy(probe: str, default: str, turned_away: int) -> None:
    world = (namespace(default), pods("Deployment", probe))
    assert len(list(run(simulated(*world), select={"GWP311"}))) == turned_away


@pytest.mark.parametrize(
    ("protocol", "access", "turned_away"),
    [("gRPC", "deny", 1), ("gRPC", "all-unauthenticated", 0), ("HTTP/2", "deny", 1)],
)
def test_a_server_lets_no_call_in_by_default(protocol: str, access: str, turned_away: int) -> None:
    closed = server(protocol).replace("proxyProtocol", f"accessPolicy: {access}, proxyProtocol")
    assert len(list(run(simulated(pods("Deployment", GRPC), closed), select={"GWP311"}))) == turned_away


AS_THEY_ARE = 'sidecar.istio.io/rewriteAppHTTPProbers: "false"'


def in_istio(probe: str, annotations: str = AS_THEY_ARE, field: str = "containers") -> str:
    """Return a workload with a sidecar."""
    said = f"annotations: {{{annotations}}}"
    own = f"{{name: web, ports: [{{name: http, containerPort: 8080}}], {probe}}}"
    also = "" if field == "containers" else "containers: [{name: app}], "
    labels = "labels: {app: web, sidecar.istio.io/inject: 'true'}"
    template = f"{{metadata: {{{labels}, {said}}}, spec: {{{also}{field}: [{own}]}}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, template: {template}}}"
    return worlds.manifest("apps/v1", "Deployment", "web", "shop", body)


def mutual(mode: str, more: str = "") -> str:
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, mtls: {{mode: {mode}}}{more}}}"
    return worlds.manifest("security.istio.io/v1", "PeerAuthentication", "web", "shop", body)


def allowing(rule: str) -> str:
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, rules: [{rule}]}}"
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "web", "shop", body)


SHOWN = f'{AS_THEY_ARE}, traffic.sidecar.istio.io/excludeInboundPorts: "8080"'
OVER_TLS = "livenessProbe: {httpGet: {path: /live, port: 8080, scheme: HTTPS}}"


@pytest.mark.parametrize(
    ("world", "turned_away"),
    [
        ((in_istio(READY), mutual("STRICT")), 1),
        ((in_istio(f"{READY}, {LIVE}"), mutual("STRICT")), 2),
        ((in_istio(GRPC), mutual("STRICT")), 1),
        ((in_istio(OVER_TLS), mutual("STRICT")), 1),
        ((in_istio(f"restartPolicy: Always, {READY}", field="initContainers"), mutual("STRICT")), 1),
        ((in_istio("readinessProbe: {tcpSocket: {port: http}}"), mutual("STRICT")), 0),  # Envoy takes the connection
        ((in_istio("readinessProbe: {exec: {command: [ok]}}"), mutual("STRICT")), 0),
        ((in_istio(READY), mutual("PERMISSIVE")), 0),
        ((in_istio(READY), mutual("STRICT", ", portLevelMtls: {8080: {mode: PERMISSIVE}}")), 0),
        ((in_istio(READY), mutual("PERMISSIVE", ", portLevelMtls: {8080: {mode: STRICT}}")), 1),
        ((in_istio(READY, SHOWN), mutual("STRICT")), 0),
        ((in_istio(READY, 'sidecar.istio.io/rewriteAppHTTPProbers: "true"'), mutual("STRICT")), 0),
        ((in_istio(READY, "team: web"), mutual("STRICT")), 0),  # the injector rewrites them by default
        ((in_istio(READY), allowing("{to: [{operation: {paths: [/api/*]}}]}")), 1),
        ((in_istio(READY), allowing("{to: [{operation: {paths: [/ready]}}]}")), 0),
        ((in_istio(READY), allowing("{from: [{source: {principals: ['*']}}]}")), 1),
    ],
)
def test_probes_that_istio_does_not_rewrite(world: tuple[str, ...], turned_away: int) -> None:
    found = list(run(simulated(*world), select={"GWP311"}))
    assert len(found) == turned_away
    assert all("rewriteAppHTTPProbers" in each.help[0] for each in found)
