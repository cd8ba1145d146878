"""Authorizations of Envoy Gateway beside what HTTP has: where clients are, and connections.

Predicted from internal/gatewayapi/securitypolicy.go, validateAuthorizationGeoIP, and
internal/xds/translator/authorization_tcp.go @ d32f282.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.trace import Tracer, request
from tests import worlds

HTTP = "{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}"
TCP = "{name: tcp, port: 5432, protocol: TCP, allowedRoutes: {namespaces: {from: All}}}"
GROUP = "gateway.envoyproxy.io/v1alpha1"
EDGE = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
NAMED = "infrastructure: {parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy}}"
COUNTRIES = "geoIP: {provider: {type: MaxMind, maxMind: {countryDbSource: {local: {path: /geo/c.mmdb}}}}}"
CITIES = "geoIP: {provider: {type: MaxMind, maxMind: {cityDbSource: {local: {path: /geo/c.mmdb}}}}}"


def edge(more: str = "", listeners: str = HTTP) -> tuple[str, ...]:
    return (
        worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="envoy", more=more, listeners=f"[{listeners}]"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
    )


def of(kind: str, name: str, spec: str, namespace: str = "infra") -> str:
    return worlds.manifest(GROUP, kind, name, namespace, f"spec: {{{spec}}}")


def authorization(*rules: str, target: str = EDGE) -> str:
    return of("SecurityPolicy", "who", f"{target}, authorization: {{defaultAction: Deny, rules: [{', '.join(rules)}]}}")


def found(tmp_path: Path, location: str, detection: str, proxy: str, *, named: bool = True) -> list[tuple[str, str]]:
    rule = f"{{action: Allow, principal: {{clientIPGeoLocations: [{location}]}}}}"
    documents = [*edge(NAMED if named else ""), authorization(rule)]
    documents += (
        [of("ClientTrafficPolicy", "clients", f"{EDGE}, clientIPDetection: {{{detection}}}")] if detection else []
    )
    documents += [of("EnvoyProxy", "proxy", proxy)] if proxy else []
    simulation = worlds.opened(tmp_path, *documents)
    answer = Tracer(simulation).trace(request({"host": "shop.example"})).outcome
    refused = [each for each in run(simulation) if each.rule == "GWP111"]
    assert (answer.status == 500) == bool(refused)
    return [(each.rule, each.message) for each in refused]


@pytest.mark.parametrize(
    ("location", "detection", "proxy", "lacking"),
    [
        ("{country: DE}", "xForwardedFor: {numTrustedHops: 1}", COUNTRIES, ""),
        ("{country: DE}", "customHeader: {name: x-client}", CITIES, ""),
        ("{country: DE}", "xForwardedFor: {trustedCIDRs: [10.0.0.0/8]}", COUNTRIES, "trustedCIDRs"),
        ("{country: DE}", "", COUNTRIES, "clientIPDetection"),
        ("{country: DE}", "xForwardedFor: {numTrustedHops: 1}", "concurrency: 2", "geoIP.provider"),
        ("{region: BY}", "xForwardedFor: {numTrustedHops: 1}", COUNTRIES, "cityDbSource"),
        ("{asn: 64500}", "xForwardedFor: {numTrustedHops: 1}", CITIES, "asnDbSource"),
        ("{anonymous: {isVPN: true}}", "xForwardedFor: {numTrustedHops: 1}", CITIES, "anonymousIpDbSource"),
    ],
)
def test_places_need_an_address_and_a_database(
    tmp_path: Path, location: str, detection: str, proxy: str, lacking: str
) -> None:
    """envoyproxy/gateway#9935."""
    messages = found(tmp_path, location, detection, proxy)
    assert len(messages) == bool(lacking)
    assert all(lacking in message for _, message in messages)


def test_a_proxy_that_was_not_seen_may_have_a_database(tmp_path: Path) -> None:
    assert found(tmp_path, "{country: DE}", "xForwardedFor: {numTrustedHops: 1}", "") == []


def test_a_gateway_without_a_proxy_of_its_own_has_none(tmp_path: Path) -> None:
    ((_, message),) = found(tmp_path, "{country: DE}", "xForwardedFor: {numTrustedHops: 1}", COUNTRIES, named=False)
    assert "geoIP.provider" in message


STREAM = worlds.route(
    "db", parents="[{name: edge, namespace: infra, sectionName: tcp}]", kind="TCPRoute",
    more="rules: [{backendRefs: [{name: checkout, port: 80}]}]",
)  # fmt: skip
ADDRESSES = "clientCIDRs: [10.0.0.0/8]"


@pytest.mark.parametrize(
    ("rule", "said", "from_inside", "from_outside"),
    [
        (f"{{action: Allow, principal: {{{ADDRESSES}}}}}", "", "allowed", "denied"),
        (
            f"{{action: Allow, operation: {{methods: [GET]}}, principal: {{{ADDRESSES}}}}}",
            "allows every connection", "allowed", "denied",
        ),
        (
            f"{{action: Allow, principal: {{{ADDRESSES}, jwt: {{provider: idp, scopes: [admin]}}}}}}",
            "allows every connection", "allowed", "denied",
        ),
        (
            "{action: Allow, principal: {headers: [{name: x-trusted, values: ['yes']}]}}",
            "is left out", "denied", "denied",
        ),
        (f"{{action: Allow, principal: {{{ADDRESSES}}}, cel: 'true'}}", "allows every connection", "allowed", "denied"),
    ],
)  # fmt: skip
def test_connections_are_told_by_addresses_alone(
    tmp_path: Path, rule: str, said: str, from_inside: str, from_outside: str
) -> None:
    """envoyproxy/gateway#9868: a policy for a Gateway is attached to its TCP listeners as it is."""
    jwt = "jwt: {providers: [{name: idp, issuer: 'https://id', remoteJWKS: {uri: 'https://id/keys'}}]}"
    policy = authorization(rule).replace("spec: {", f"spec: {{{jwt}, ")
    simulation = worlds.opened(tmp_path, *edge(listeners=f"{HTTP}, {TCP}"), STREAM, policy)
    labels = [each.label for each in run(simulation) if each.rule == "GWP526" and "connection" in each.message]
    assert [said in label for label in labels] == ([True] if said else [])
    for address, expected in (("10.1.2.3", from_inside), ("192.0.2.3", from_outside)):
        asked = request({"scheme": "tcp", "host": "edge:5432", "address": address})
        assert {each.decision.answer for each in Tracer(simulation).trace(asked).judged} == {expected}


def test_a_policy_for_a_listener_of_http_means_what_it_says(tmp_path: Path) -> None:
    rule = f"{{action: Allow, operation: {{methods: [GET]}}, principal: {{{ADDRESSES}}}}}"
    target = EDGE.replace("name: edge", "name: edge, sectionName: http")
    documents = (*edge(listeners=f"{HTTP}, {TCP}"), STREAM, authorization(rule, target=target))
    assert [each.rule for each in run(worlds.opened(tmp_path, *documents)) if each.rule == "GWP526"] == []
