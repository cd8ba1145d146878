"""GWP106 where a policy about requests targets what takes connections alone.

Source: envoyproxy/gateway#4265 and #7171 (authorization of connections since 1.7); kgateway authenticates requests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint
from tests.worlds import gateway, gateway_class, listener_set, manifest, route, service

CLASSES = {"eg": "gateway.envoyproxy.io/gatewayclass-controller", "kgateway": "kgateway.dev/kgateway"}
ALLOWED = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [8.8.8.8/32]}}]}"


def chart(release: str) -> str:
    spec = f"spec: {{url: 'oci://docker.io/envoyproxy/gateway-helm', ref: {{tag: {release}}}, interval: 1h}}"
    return manifest("source.toolkit.fluxcd.io/v1", "OCIRepository", "eg", "envoy-gateway-system", spec)


def said(directory: Path, protocol: str, kind: str, setting: str, *more: str, of_class: str = "eg") -> list[str]:
    tls = ", tls: {certificateRefs: [{name: c}]}" if protocol in ("TLS", "HTTPS") else ""
    listener = f"{{name: a, port: 443, protocol: {protocol}{tls}, allowedRoutes: {{namespaces: {{from: All}}}}}}"
    gateway = manifest(
        "gateway.networking.k8s.io/v1", "Gateway", "gw", "shop",
        f"spec: {{gatewayClassName: {of_class}, listeners: [{listener}]}}",
    )  # fmt: skip
    backend = "rules: [{backendRefs: [{name: db, port: 5432}]}]"
    route = manifest(
        "gateway.networking.k8s.io/v1alpha2",
        "TCPRoute",
        "db",
        "shop",
        f"spec: {{parentRefs: [{{name: gw}}], {backend}}}",
    )
    service = manifest("v1", "Service", "db", "shop", "spec: {selector: {a: b}, ports: [{port: 5432}]}")
    group = {"SecurityPolicy": "gateway.envoyproxy.io/v1alpha1", "TrafficPolicy": "gateway.kgateway.dev/v1alpha1"}[kind]
    reference = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]"
    policy = manifest(group, kind, "p", "shop", f"spec: {{{reference}, {setting}}}")
    found = lint(directory, gateway_class(of_class, CLASSES[of_class]), gateway, route, service, policy, *more)
    return [each.label for each in found if each.rule == "GWP106"]


@pytest.mark.parametrize(
    ("release", "acts"),
    [("v1.1.0", False), ("v1.2.8", False), ("v1.6.7", False), ("v1.7.0", True), ("v1.9.0", True), ("", True)],
)
def test_connections_are_authorized_since_a_release(release: str, acts: bool, tmp_path: Path) -> None:
    found = said(tmp_path, "TLS", "SecurityPolicy", ALLOWED, *([chart(release)] if release else []))
    assert found == ([] if acts else [
        f"`authorization` is for requests (in release {release[1:4]}), and Gateway shop/gw takes connections"
    ])  # fmt: skip


def test_requests_are_authorized_in_every_release(tmp_path: Path) -> None:
    assert not [
        each for each in said(tmp_path, "HTTPS", "SecurityPolicy", ALLOWED, chart("v1.6.7")) if "requests" in each
    ]


def test_logins_of_connections(tmp_path: Path) -> None:
    basic = "basicAuth: {users: {name: users}}"
    assert said(tmp_path, "TCP", "SecurityPolicy", basic) == [
        "`basicAuth` is for requests, and Gateway shop/gw takes connections"
    ]
    keys = manifest("v1", "Secret", "keys", "shop", "stringData: {a: b}")
    key = "apiKeyAuth: {secretRef: {name: keys}}"
    assert said(tmp_path, "TCP", "TrafficPolicy", key, keys, of_class="kgateway") == [
        "`apiKeyAuth` is for requests, and Gateway shop/gw takes connections"
    ]


SETS = "{group: gateway.networking.k8s.io, kind: ListenerSet, name: more}"
SETTINGS = {
    "SecurityPolicy": ALLOWED,
    "BackendTrafficPolicy": "timeout: {http: {requestTimeout: 9s}}",
}


@pytest.mark.parametrize("kind", ["SecurityPolicy", "BackendTrafficPolicy"])
@pytest.mark.parametrize(
    ("release", "parents", "merge", "acts"),
    [
        ("v1.8.1", f"[{SETS}]", "mergeType: StrategicMerge, ", False),
        ("v1.8.3", f"[{SETS}]", "mergeType: JSONMerge, ", False),
        ("v1.9.0", f"[{SETS}]", "mergeType: StrategicMerge, ", True),
        ("v1.8.1", f"[{SETS}]", "", True),  # the listeners of all parents are translated, whoever writes no status
        ("v1.8.1", "[{name: edge, namespace: infra}]", "mergeType: StrategicMerge, ", True),
        ("v1.8.1", f"[{SETS}, {{name: edge, namespace: infra}}]", "mergeType: StrategicMerge, ", True),
    ],
)
def test_what_is_merged_at_routes_of_listener_sets(
    tmp_path: Path, kind: str, release: str, parents: str, merge: str, acts: bool
) -> None:
    """envoyproxy/gateway#9242; internal/gatewayapi/securitypolicy.go @ v1.8.3, processSecurityPolicyForRoute."""
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]"
    found = lint(
        tmp_path,
        gateway_class("any", CLASSES["eg"]),
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("more", "shop", "[{name: b, port: 8081, protocol: HTTP}]"),
        route(parents=parents, more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        service(),
        manifest("gateway.envoyproxy.io/v1alpha1", kind, "p", "shop", f"spec: {{{target}, {merge}{SETTINGS[kind]}}}"),
        chart(release),
    )
    said = [each.label for each in found if each.rule == "GWP106"]
    assert bool(said) is not acts
    assert all("before 1.9 no policy is merged" in each for each in said)
