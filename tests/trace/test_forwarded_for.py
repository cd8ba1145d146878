"""Whose address policies see where a request comes through proxies: X-Forwarded-For, trusted hops and networks.

Predicted from the sources: Envoy Gateway internal/xds/translator/listener.go (xffNumTrustedHops,
originalIPDetectionExtensions), Envoy source/common/http/conn_manager_utility.cc (mutateRequestHeaders) and
source/extensions/http/original_ip_detection/xff/xff.cc, and Istio's «Configuring Gateway Network Topology»: `ipBlocks`
are compared with who connects, `remoteIpBlocks` with what the Gateway finds, and beside a pod with what it has written.
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.simulation import Simulation
from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.trace.test_authorization import KINDS

BALANCER, OFFICE, BETWEEN = "10.0.0.1", "203.0.113.9", "10.1.1.1"
PASSED_ON = {"X-Forwarded-For": f"{OFFICE}, {BETWEEN}"}
HERE = "{action: Allow, principal: {clientCIDRs: [203.0.113.0/24]}}"
RULES = {
    "envoy": f"authorization: {{defaultAction: Deny, rules: [{HERE}]}}",
    "kgateway": "acl: {defaultAction: deny, rules: [{cidrs: [203.0.113.0/24], action: allow}]}",
}
DETECTING = {"envoy": "ClientTrafficPolicy", "kgateway": "ListenerPolicy"}


def behind(implementation: str, detection: str) -> Simulation:
    controller, api, kind = KINDS[implementation]
    said = worlds.policy(
        api, DETECTING[implementation], "front", "Gateway/edge", detection, "infra", field="targetRefs"
    )
    return worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more="hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(api, kind, "office", "HTTPRoute/checkout", RULES[implementation], "shop", field="targetRefs"),
        *([said] if detection else []),
    )


def sent(simulation: Simulation, address: str = BALANCER, **headers: str) -> Trace:
    asked: dict[str, Any] = {
        "host": "shop.example",
        "headers": {name.replace("_", "-"): headers[name] for name in headers},
    }
    return Tracer(simulation).trace(request(asked | ({"address": address} if address else {})))


HOPS = "clientIPDetection: {{xForwardedFor: {{numTrustedHops: {}}}}}".format
TRUSTED = "clientIPDetection: {xForwardedFor: {trustedCIDRs: [10.0.0.0/8]}}"
OWN_HEADER = "clientIPDetection: {customHeader: {name: X-Real}}"


@pytest.mark.parametrize(
    ("implementation", "detection", "status", "words"),
    [
        ("envoy", "", 403, f"not believed: the client's address is {BALANCER}"),
        ("envoy", HOPS(0), 403, f"the client's address is {BETWEEN}, the last address"),
        ("envoy", HOPS(1), 403, f"the client's address is {BETWEEN}, the last address"),
        ("envoy", HOPS(2), None, f"the client's address is {OFFICE}, the 2nd address from the end"),
        ("envoy", HOPS(3), 403, f"too few addresses (numTrustedHops: 3): the client's address is {BALANCER}"),
        ("envoy", TRUSTED, None, f"the client's address is {OFFICE}, the last one beyond trustedCIDRs"),
        ("envoy", OWN_HEADER, 403, f"no X-Real with an address, so {BALANCER} counts"),
        ("kgateway", "", 403, f"not believed: the client's address is {BALANCER}"),
        ("kgateway", "default: {httpSettings: {xffNumTrustedHops: 1}}", 403, f"is {BETWEEN}, the last address"),
        ("kgateway", "default: {httpSettings: {xffNumTrustedHops: 2}}", None, f"is {OFFICE}, the 2nd address"),
        ("kgateway", "default: {httpSettings: {useRemoteAddress: false}}", 403, f"is {BETWEEN}, the last address"),
        (
            "kgateway",
            "default: {httpSettings: {useRemoteAddress: false, xffNumTrustedHops: 1}}",
            None,
            f"is {OFFICE}, the 2nd address",
        ),
        (
            "kgateway",
            "default: {httpSettings: {useRemoteAddress: false, xffTrustedCIDRs: [10.0.0.0/8]}}",
            None,
            f"is {OFFICE}, the last one",
        ),
    ],
)
def test_a_policy_sees_the_address_that_the_gateway_finds(
    implementation: str, detection: str, status: int | None, words: str
) -> None:
    trace = sent(behind(implementation, detection), **PASSED_ON)
    assert trace.outcome.status == status
    assert any(words in note for note in trace.notes), trace.notes


def test_who_connects_must_be_trusted() -> None:
    simulation = behind("envoy", TRUSTED)
    assert sent(simulation, "192.0.2.1", **PASSED_ON).outcome.status == 403
    stranger = sent(simulation, "", **PASSED_ON)
    assert [each.decision.answer for each in stranger.judged] == ["depends"]
    assert any("depends on who connects" in note for note in stranger.notes)


def test_hops_need_no_address_of_who_connects() -> None:
    assert sent(behind("envoy", HOPS(2)), "", **PASSED_ON).outcome.status is None


def test_a_header_of_its_own() -> None:
    assert sent(behind("envoy", OWN_HEADER), **{"X-Real": OFFICE}).outcome.status is None


def test_nothing_is_said_where_no_policy_asks() -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("edge", KINDS["envoy"][0]),
        worlds.gateway(of_class="edge"),
        worlds.route(more="hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
    )
    assert not any("address" in note for note in sent(simulation, **PASSED_ON).notes)


def mesh(attribute: str, target: str, counted: str = "1") -> Simulation:
    proxies = f'{{"gatewayTopology": {{"numTrustedProxies": {counted}}}}}'
    infrastructure = f"infrastructure: {{annotations: {{proxy.istio.io/config: '{proxies}'}}}}, "
    return worlds.simulated(
        worlds.gateway_class("istio", "istio.io/gateway-controller"),
        worlds.manifest(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            "edge",
            "infra",
            f"spec: {{gatewayClassName: istio, {infrastructure if counted else ''}"
            "listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]}",
        ),
        worlds.route(more="hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(more="selector: {app: checkout}, ports: [{port: 80}]"),
        worlds.manifest(
            "apps/v1",
            "Deployment",
            "checkout",
            "shop",
            "spec: {selector: {matchLabels: {app: checkout}}, template: {metadata: {labels: {app: checkout, "
            "sidecar.istio.io/inject: 'true'}}, spec: {containers: [{name: a, image: a}]}}}",
        ),
        worlds.manifest(
            "security.istio.io/v1",
            "AuthorizationPolicy",
            "office",
            "infra" if "targetRefs" in target else "shop",
            f"spec: {{{target}, action: ALLOW, rules: [{{from: [{{source: {{{attribute}: [203.0.113.0/24]}}}}]}}]}}",
        ),
    )


GATEWAY = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
PODS = "selector: {matchLabels: {app: checkout}}"


@pytest.mark.parametrize(
    ("attribute", "target", "counted", "address", "status"),
    [
        ("remoteIpBlocks", GATEWAY, "2", BALANCER, None),
        ("remoteIpBlocks", GATEWAY, "1", BALANCER, 403),
        ("remoteIpBlocks", GATEWAY, "", BALANCER, 403),
        ("remoteIpBlocks", GATEWAY, "", OFFICE, None),
        ("ipBlocks", GATEWAY, "2", BALANCER, 403),
        ("ipBlocks", GATEWAY, "2", OFFICE, None),
        ("remoteIpBlocks", PODS, "2", BALANCER, 403),
        ("remoteIpBlocks", PODS, "", OFFICE, None),
    ],
)
def test_a_mesh_tells_who_connects_from_the_client(
    attribute: str, target: str, counted: str, address: str, status: int | None
) -> None:
    assert sent(mesh(attribute, target, counted), address, **PASSED_ON).outcome.status == status


def test_beside_a_pod_only_what_the_gateway_wrote_counts() -> None:
    reason = sent(mesh("remoteIpBlocks", PODS, "2"), **PASSED_ON).outcome.reason
    assert f"of X-Forwarded-For it believes {BALANCER} alone" in reason
