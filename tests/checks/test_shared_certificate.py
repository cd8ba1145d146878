"""GWP419: clients of HTTP/2 reuse a connection for every name in its certificate (istio/istio#52853, contour#5240)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import gateway, gateway_class, listener_set, manifest, simulated

ISTIO, KGATEWAY, ENVOY = (
    "istio.io/gateway-controller",
    "kgateway.dev/kgateway",
    "gateway.envoyproxy.io/gatewayclass-controller",
)


TLS = "tls: {certificateRefs: [{name: c}]}"
OVER_ONE = ", options: {kgateway.dev/alpn-protocols: http/1.1}"


def told(*manifests: str) -> list[Finding]:
    return list(run(simulated(*manifests), select={"GWP419"}))


def own(name: str, host: str, credential: str = "c", selector: str = "{istio: ingress}", mode: str = "SIMPLE") -> str:
    server = f"{{port: {{number: 443, name: h, protocol: HTTPS}}, hosts: ['{host}'], "
    server += f"tls: {{mode: {mode}, credentialName: {credential}}}}}"
    spec = f"spec: {{selector: {selector}, servers: [{server}]}}"
    return manifest("networking.istio.io/v1", "Gateway", name, "shop", spec)


@pytest.mark.parametrize(
    ("second", "is_told"),
    [
        (own("b", "b.example.com"), True),
        (own("b", "*.example.com"), True),
        (own("b", "shop/b.example.com", mode="MUTUAL"), True),
        (own("b", "a.example.com"), False),
        (own("b", "b.example.com", "d"), False),
        (own("b", "b.example.com", selector="{istio: other}"), False),
        (own("b", "${HOST}"), False),
    ],
)
def test_gateways_of_istio(second: str, is_told: bool) -> None:
    found = told(own("a", "a.example.com"), second)
    assert [each.severity for each in found] == ["warning"] * is_told


def test_gateways_of_istio_with_a_credential_each_beside_them() -> None:
    pods = manifest(
        "apps/v1",
        "Deployment",
        "ingress",
        "shop",
        "spec: {selector: {matchLabels: {istio: ingress}}, template: {metadata: {labels: {istio: ingress}}, spec: {}}}",
    )
    first, second = own("a", "a.example.com"), own("b", "b.example.com").replace("namespace: shop", "namespace: other")
    here, there = (
        manifest("v1", "Secret", "c", namespace, "type: kubernetes.io/tls") for namespace in ("shop", "other")
    )
    assert told(first, second, pods, here)
    assert not told(first, second, pods, here, there), (
        "the second has proxies in its own namespace, which nothing shows"
    )
    assert told(first, own("b", "b.example.com"), pods, here, there)


def listeners(first: str, second: str, secret: str = "c", options: str = "") -> str:
    entries = [
        f"{{name: {name}, port: 443, protocol: HTTPS, hostname: '{host}', "
        f"tls: {{certificateRefs: [{{name: {each}}}]{options}}}}}"
        for name, host, each in (("one", first, "c"), ("two", second, secret))
    ]
    return gateway(listeners=f"[{', '.join(entries)}]")


@pytest.mark.parametrize(
    ("controller", "entries", "is_told"),
    [
        (ISTIO, listeners("a.example.com", "b.example.com"), True),
        (ISTIO, listeners("example.com", "*.example.com"), True),
        (KGATEWAY, listeners("a.example.com", "b.example.com"), True),
        (KGATEWAY, listeners("a.example.com", "b.example.com", "d"), False),
        (KGATEWAY, listeners("a.example.com", "b.example.com", options=OVER_ONE), False),
        (ENVOY, listeners("a.example.com", "b.example.com"), False),
    ],
)  # fmt: skip
def test_listeners(controller: str, entries: str, is_told: bool) -> None:
    assert bool(told(gateway_class("any", controller), entries)) == is_told


def test_contour_answers_421() -> None:
    proxies = [
        manifest(
            "projectcontour.io/v1",
            "HTTPProxy",
            name,
            "shop",
            f"spec: {{virtualhost: {{fqdn: {name}.example.com, tls: {{secretName: wild}}}}, routes: []}}",
        )
        for name in "ab"
    ]
    [found] = told(*proxies)
    assert (found.severity, "gets 421" in found.message) == ("note", True)


def test_listeners_of_a_listener_set_are_served_beside_those_of_its_gateway() -> None:
    def entry(name: str) -> str:
        return f"[{{name: {name}, port: 443, protocol: HTTPS, hostname: {name}.example.com, {TLS}}}]"

    infra = gateway(listeners=entry("a"), more="allowedListeners: {namespaces: {from: Same}}")
    more = listener_set("more", "infra", entry("b"))
    (found,) = told(gateway_class("any", ISTIO), infra, more)
    assert [each.name for each in found.resources] == ["more", "edge"]
    assert not told(gateway_class("any", ISTIO), infra.replace("from: Same", "from: None"), more)
