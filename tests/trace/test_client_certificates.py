"""Who demands certificates of clients: `trace`, `explain` and `diff` say the same, of Gateways and of policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from policylint.explain.explanation import explain
from policylint.explain.subject import Subject
from policylint.model import ResourceKey
from policylint.topology import whole
from policylint.trace import Requirements, Tracer, request
from tests import worlds
from tests.compare.test_compare import sides

PEM = '"-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\\n"'
CA = worlds.manifest("v1", "ConfigMap", "ca", "infra", f"data: {{ca.crt: {PEM}}}")
CERT = f"""
apiVersion: v1
kind: Secret
metadata: {{name: cert, namespace: infra}}
stringData: {{tls.crt: {PEM}, tls.key: {PEM}}}
"""
LISTENERS = "[{name: https, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}, TLS}]"
LISTENERS = LISTENERS.replace("TLS", "tls: {certificateRefs: [{name: cert}]}")
REFERENCE = 'caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]'
RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
ENVOY, KGATEWAY = "gateway.envoyproxy.io/gatewayclass-controller", "kgateway.dev/kgateway"


def frontend(validation: str, controller: str = ENVOY) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", controller),
        worlds.gateway(listeners=LISTENERS, more=f"tls: {{frontend: {validation}}}" if validation else ""),
        worlds.route(more=RULES),
        worlds.service(),
        CA,
        CERT,
    )


def client_traffic(mode: str = "", target: str = "Gateway/edge") -> tuple[str, ...]:
    spec = f"tls: {{clientValidation: {{{REFERENCE}{mode}}}}}"
    api = "gateway.envoyproxy.io/v1alpha1"
    return (*frontend(""), worlds.policy(api, "ClientTrafficPolicy", "tls", target, spec, "infra"))


def listener_policy(mode: str, target: str = "Gateway/edge#https") -> tuple[str, ...]:
    spec = f"default: {{clientCertificateValidation: {{{REFERENCE}, mode: {mode}}}}}"
    own = worlds.policy("gateway.kgateway.dev/v1alpha1", "ListenerPolicy", "tls", target, spec, "infra")
    return (*frontend("", KGATEWAY), own)


DEFAULT = f"{{default: {{validation: {{{REFERENCE}}}}}}}"
OPEN = f"{{default: {{validation: {{{REFERENCE}, mode: AllowInsecureFallback}}}}}}"
PORT = f"{{default: {{validation: {{{REFERENCE}}}}}, perPort: [{{port: PORT, tls: {{}}}}]}}"
WORLDS = {
    "a Gateway": (frontend(DEFAULT), "Gateway infra/edge"),
    "a Gateway that lets others in": (frontend(OPEN), ""),
    "another port": (frontend(PORT.replace("PORT", "8443")), "Gateway infra/edge"),
    "its own port": (frontend(PORT.replace("PORT", "443")), ""),
    "nobody": (frontend(""), ""),
    "a ClientTrafficPolicy": (client_traffic(), "ClientTrafficPolicy infra/tls"),
    "of a listener": (client_traffic(target="Gateway/edge#https"), "ClientTrafficPolicy infra/tls"),
    "an optional one": (client_traffic(", optional: true"), ""),
    "one that asks": (client_traffic(", mode: Request"), ""),
    "a ListenerPolicy": (listener_policy("Require"), "ListenerPolicy infra/tls"),
    "a ListenerPolicy that asks": (listener_policy("Optional"), ""),
    "a ListenerPolicy of the whole Gateway": (listener_policy("Require", "Gateway/edge"), ""),
}


@pytest.mark.parametrize("name", WORLDS)
def test_everybody_says_who_demands_it(name: str, tmp_path: Path) -> None:
    """Gateway API, GatewayFrontendTLS; api/v1alpha1/tls_types.go; gateway_listener_translator.go of kgateway 2.4."""
    world, holder = WORLDS[name]
    simulation = worlds.simulated(*world)
    asked = {"host": "shop.test", "scheme": "https", "path": "/"}
    outcome = Tracer(simulation).trace(request(asked)).outcome
    assert (outcome.refused, "demands a client certificate" in outcome.reason) == (bool(holder), bool(holder))
    assert Tracer(simulation).trace(request({**asked, "clientCertificate": "any"})).outcome.backends
    for key in (
        ResourceKey(worlds.GATEWAY_API, "Gateway", "infra", "edge"),
        ResourceKey(worlds.GATEWAY_API, "HTTPRoute", "shop", "checkout"),
    ):
        facts = [fact.words for fact in explain(Subject(simulation, key, whole(key))).facts if fact.name == "clients"]
        assert [holder in words for words in facts] == ([True] if holder else [])
    pair = sides(tmp_path, world, frontend("", KGATEWAY if "ListenerPolicy" in name else ENVOY))
    found = removed_protections([pair], compare([pair]))
    told = [finding.severity for finding in found if "client certificate" in finding.message]
    assert not holder or told == ["error"]


def test_a_policy_takes_over_from_the_gateway(tmp_path: Path) -> None:
    pair = sides(tmp_path, frontend(DEFAULT), client_traffic())
    assert removed_protections([pair], compare([pair]), {"GWP304"}) == []


def listener_set(validation: str) -> tuple[str, ...]:
    more = "allowedListeners: {namespaces: {from: Same}}" + (f", tls: {{frontend: {validation}}}" if validation else "")
    return (
        worlds.gateway_class("any", ENVOY),
        worlds.gateway(listeners="[{name: plain, port: 80, protocol: HTTP}]", more=more),
        worlds.listener_set("extra", "infra", LISTENERS.replace("name: https", "name: more")),
        worlds.route(parents="[{kind: ListenerSet, name: extra, namespace: infra}]", more=RULES),
        worlds.service(),
        CA,
        CERT,
    )


@pytest.mark.parametrize(("validation", "demanded"), [(DEFAULT, True), (OPEN, False), ("", False)])
def test_the_listeners_of_listener_sets_are_the_gateways(validation: str, demanded: bool, tmp_path: Path) -> None:
    """GEP-1713: they are served as the Gateway's own, its frontend validation of their port included."""
    world = listener_set(validation)
    simulation = worlds.simulated(*world)
    asked = request({"host": "shop.test", "scheme": "https", "path": "/"})
    assert Tracer(simulation).trace(asked).outcome.refused is demanded
    words = "must show a certificate at listener more, by Gateway infra/edge"
    for kind, name in (("Gateway", "edge"), ("ListenerSet", "extra"), ("HTTPRoute", "checkout")):
        key = ResourceKey(worlds.GATEWAY_API, kind, "shop" if kind == "HTTPRoute" else "infra", name)
        facts = [fact.words for fact in explain(Subject(simulation, key, whole(key))).facts if fact.name == "clients"]
        assert [words in fact for fact in facts] == ([True] if demanded else []), kind
    pair = sides(tmp_path, world, listener_set(""))
    found = removed_protections([pair], compare([pair]))
    told = [finding.severity for finding in found if "client certificate" in finding.message]
    assert told == (["error"] if demanded else ["warning"] if validation else [])


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("a Gateway", "asked"),
        ("a Gateway that lets others in", "optional"),
        ("its own port", "open"),
        ("nobody", "open"),
        ("a ClientTrafficPolicy", "asked"),
        ("an optional one", "optional"),
        ("one that asks", "optional"),
        ("a ListenerPolicy", "asked"),
        ("a ListenerPolicy that asks", "optional"),
        ("a ListenerPolicy of the whole Gateway", "open"),
    ],
)
def test_a_certificate_that_clients_may_show_is_optional(name: str, state: str) -> None:
    tracer = Tracer(worlds.simulated(*WORLDS[name][0]))
    asked = {"host": "shop.test", "scheme": "https", "path": "/", "clientCertificate": "any"}
    given = Requirements(tracer).of(tracer.trace(request(asked)), "authentication")
    assert (given.state, [each.setting for each in given.demands]) == (
        state,
        ["client certificate"] if state != "open" else [],
    )
