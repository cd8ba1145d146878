"""What filters, annotations and parametersRef name: found, missing or unknown, and said by name where nobody judges it.

Predicted from the documentation of the controllers: developer.konghq.com (annotations, plugin precedence), Traefik's
Gateway API provider, Cilium's GatewayClass parameters, Application Gateway for Containers (`sectionNames`), the AWS
Gateway API Controller («will not take effect if the resource is not referenced by any route»).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import backend_not_found, gateway_class_not_found, no_effective_target, section_not_found
from policylint.explain.explanation import explain
from policylint.explain.subject import Subject
from policylint.model import ResourceKey
from policylint.report.kit.extensions import headed
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import Requirements, Tracer, request
from policylint.workspace import open_workspace
from tests import worlds

KONG = "konghq.com/kic-gateway-controller"
TRAEFIK = "traefik.io/gateway-controller"
AZURE = "alb.networking.azure.io/alb-controller"
AWS = "application-networking.k8s.aws/gateway-api-controller"
CILIUM = "io.cilium/gateway-controller"
PLAIN = "rules: [{backendRefs: [{name: checkout, port: 8080}]}]"


def world(controller: str, *more: str, route: str = PLAIN, annotations: str = "", service: str = "") -> Simulation:
    """A Gateway of a controller, a route on it and its Service; `annotations` are the route's, `service` its own."""
    return worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route(more=route, annotations=annotations),
        worlds.manifest(
            "v1", "Service", "checkout", "shop",
            "spec: {selector: {app: checkout}, ports: [{name: http, port: 8080}]}",
            more=service and f"annotations: {{{service}}}",
        ),
        *more,
    )  # fmt: skip


def filtering(group: str, kind: str, name: str) -> str:
    reference = f"{{type: ExtensionRef, extensionRef: {{group: {group}, kind: {kind}, name: {name}}}}}"
    return f"rules: [{{filters: [{reference}], backendRefs: [{{name: checkout, port: 8080}}]}}]"


def plugin(name: str, does: str, namespace: str = "shop", more: str = "") -> str:
    return worlds.manifest("configuration.konghq.com/v1", "KongPlugin", name, namespace, f"plugin: {does}\n{more}")


def middleware(name: str, spec: str) -> str:
    return worlds.manifest("traefik.io/v1alpha1", "Middleware", name, "shop", f"spec: {{{spec}}}")


PLUGINS = "konghq.com/plugins: "
KONG_FILTER = filtering("configuration.konghq.com", "KongPlugin", "login")
TRAEFIK_FILTER = filtering("traefik.io", "Middleware", "login")
ENDS = {
    "Kong, a filter that authenticates": (
        world(KONG, plugin("login", "key-auth"), route=KONG_FILTER), "key-auth required"),
    "Kong, an annotation of the route": (
        world(KONG, plugin("login", "jwt"), annotations=f"{PLUGINS}login"), "jwt required"),
    "Kong, an annotation of the Service": (
        world(KONG, plugin("login", "basic-auth"), service=f"{PLUGINS}login"), "basic-auth required"),
    "Kong, of two names in one annotation both count": (
        world(KONG, plugin("a", "rate-limiting"), plugin("b", "oauth2"), annotations=f"{PLUGINS}'a, b'"),
        "oauth2 required"),
    "Kong, a plugin with an anonymous consumer lets everybody pass": (
        world(KONG, plugin("login", "key-auth", more="config: {anonymous: guest}"), annotations=f"{PLUGINS}login"),
        "key-auth optional"),
    "Kong, a plugin that is switched off": (
        world(KONG, plugin("login", "key-auth", more="disabled: true"), annotations=f"{PLUGINS}login"), ""),
    "Kong, a plugin that authenticates nobody": (
        world(KONG, plugin("login", "rate-limiting"), annotations=f"{PLUGINS}login"), ""),
    "Kong, another namespace without a grant": (
        world(KONG, plugin("login", "key-auth", "infra"), annotations=f"{PLUGINS}'infra:login'"), ""),
    "Traefik, basicAuth": (world(TRAEFIK, middleware("login", "basicAuth: {secret: s}"), route=TRAEFIK_FILTER),
        "basicAuth required"),
    "Traefik, forwardAuth": (world(TRAEFIK, middleware("login", "forwardAuth: {address: http://a}"),
        route=TRAEFIK_FILTER), "forwardAuth required"),
    "Traefik, a Middleware that authenticates nobody": (
        world(TRAEFIK, middleware("login", "compress: {}"), route=TRAEFIK_FILTER), ""),
    "a Middleware at Cilium, which does not read it": (
        world(CILIUM, middleware("login", "basicAuth: {secret: s}"), route=TRAEFIK_FILTER), ""),
    "Kong's annotation at Traefik, which does not read it": (
        world(TRAEFIK, plugin("login", "key-auth"), annotations=f"{PLUGINS}login"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_trace_says_what_they_ask(name: str) -> None:
    simulation, asked = ENDS[name]
    tracer = Tracer(simulation)
    trace = tracer.trace(request({"host": "shop.example"}))
    login = Requirements(tracer).of(trace, "authentication")
    assert result(trace, Names(simulation.world.resources), login) == f"reaches shop/checkout, {asked or 'no login'}."


def test_a_cluster_plugin_counts_where_there_is_no_plugin(tmp_path: Path) -> None:
    simulation = worlds.opened(
        tmp_path, worlds.gateway_class("any", KONG), worlds.gateway(),
        worlds.route(more=PLAIN, annotations=f"{PLUGINS}login"), worlds.service(),
        worlds.manifest("configuration.konghq.com/v1", "KongClusterPlugin", "login", body="plugin: key-auth",
                        more="annotations: {kubernetes.io/ingress.class: kong}"),
    )  # fmt: skip
    trace = Tracer(simulation).trace(request({"host": "shop.example"}))
    assert [binding.wanted.kind for binding in trace.extensions] == ["KongClusterPlugin"]
    assert trace.extensions[0].authenticates == {"key-auth": True}


def test_of_two_plugins_of_a_sort_the_routes_runs() -> None:
    simulation = world(
        KONG, plugin("route", "rate-limiting"), plugin("service", "rate-limiting"), plugin("other", "cors"),
        annotations=f"{PLUGINS}route", service=f"{PLUGINS}'service,other'",
    )  # fmt: skip
    met = [binding.wanted.name for binding in Tracer(simulation).trace(request({"host": "a"})).extensions]
    key = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "shop", "checkout")
    named = explain(Subject(simulation, key, whole(key))).extensions
    assert met == ["route", "other"]
    assert {binding.wanted.name: by and by.wanted.name for binding, by in named} == {
        "route": None, "service": "route", "other": None,
    }  # fmt: skip


UPSTREAM = "konghq.com/upstream-policy: gone"
UPSTREAM_POLICY = worlds.manifest("configuration.konghq.com/v1beta1", "KongUpstreamPolicy", "other", "shop", "spec: {}")
FINDINGS = {
    "a filter that names nothing": (
        backend_not_found, world(KONG, plugin("other", "cors"), route=KONG_FILTER),
        ["HTTPRoute shop/checkout has a filter that names missing KongPlugin shop/login"]),
    "an annotation of a Service that names nothing": (
        backend_not_found, world(KONG, UPSTREAM_POLICY, service=UPSTREAM),
        ["annotation konghq.com/upstream-policy of Service shop/checkout names missing KongUpstreamPolicy shop/gone"]),
    "a plugin of another namespace": (
        backend_not_found,
        world(KONG, plugin("login", "cors", "infra"), plugin("other", "cors"), annotations=f"{PLUGINS}login"),
        ["annotation konghq.com/plugins of HTTPRoute shop/checkout names missing KongPlugin shop/login"]),
    "a plugin of another namespace without a grant": (
        backend_not_found, world(KONG, plugin("login", "cors", "infra"), annotations=f"{PLUGINS}'infra:login'"),
        ["annotation konghq.com/plugins of HTTPRoute shop/checkout names missing KongPlugin infra/login"]),
    "a plugin of another namespace with a grant": (
        backend_not_found,
        world(KONG, plugin("login", "cors", "infra"),
              worlds.grant("infra", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}",
                           "{group: configuration.konghq.com, kind: KongPlugin}"),
              annotations=f"{PLUGINS}'infra:login'"),
        []),
    **{
        f"a plugin that a {kind} names and that is not there": (
            backend_not_found,
            world(KONG, plugin("other", "cors"),
                  worlds.manifest("configuration.konghq.com/v1", kind, "alice", "shop",
                                  more=f"annotations: {{{PLUGINS}gone}}")),
            [f"annotation konghq.com/plugins of {kind} shop/alice names missing KongPlugin shop/gone"])
        for kind in ("KongConsumer", "KongConsumerGroup")
    },
    "an annotation that Kong does not read on a route": (
        backend_not_found, world(KONG, annotations=UPSTREAM), []),
    "Traefik's own service": (
        backend_not_found,
        world(TRAEFIK, route="rules: [{backendRefs: [{group: traefik.io, kind: TraefikService, name: api@internal}]}]"),
        []),
    "a TraefikService that is not there": (
        backend_not_found,
        world(TRAEFIK, route="rules: [{backendRefs: [{group: traefik.io, kind: TraefikService, name: gone}]}]"),
        ["HTTPRoute shop/checkout sends requests to TraefikService shop/gone, which is not among these manifests"]),
    "an annotation in a tree without the kind": (
        backend_not_found, world(KONG, service=UPSTREAM),
        [("annotation konghq.com/upstream-policy of Service shop/checkout names KongUpstreamPolicy shop/gone, "
         "which is not among these manifests")]),
}  # fmt: skip


@pytest.mark.parametrize("name", FINDINGS)
def test_what_is_not_there_is_found(name: str) -> None:
    rule, simulation, messages = FINDINGS[name]
    assert [finding.message for finding in rule.check(simulation)] == messages


PARAMETERS = "parametersRef: {group: cilium.io, kind: CiliumGatewayClassConfig, name: NAME, namespace: infra}"
CONFIG = worlds.manifest("cilium.io/v2alpha1", "CiliumGatewayClassConfig", "there", "infra", "spec: {}")


@pytest.mark.parametrize(("name", "found"), [("there", 0), ("gone", 1)])
def test_parameters_of_a_class_are_looked_up(name: str, found: int) -> None:
    of_class = worlds.gateway_class("cilium", CILIUM, PARAMETERS.replace("NAME", name))
    messages = [finding.message for finding in gateway_class_not_found.check(worlds.simulated(of_class, CONFIG))]
    expected = f"GatewayClass cilium takes its parameters from missing CiliumGatewayClassConfig infra/{name}"
    assert messages == [expected] * found


TLS = "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}"
LISTENERS = f"""[{{name: http, port: 80, protocol: HTTP}}, {{name: https, port: 443, {TLS}}},
  {{name: admin, port: 8443, {TLS}}}]"""


def frontend(name: str, sections: str) -> str:
    target = f"{{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionNames: {sections}}}"
    spec = f"spec: {{targetRef: {target}, default: {{verify: {{caCertificateRef: {{name: ca}}}}}}}}"
    return worlds.manifest("alb.networking.azure.io/v1", "FrontendTLSPolicy", name, "infra", spec)


AZURE_SECTIONS = {
    "one section": ("[https]", "Enforced", {"https"}, 0),
    "two sections": ("[https, admin]", "Enforced", {"https", "admin"}, 0),
    "one of two is a typo": ("[https, admn]", "PartiallyEnforced", {"https"}, 1),
    "a typo": ("[htps]", "TargetNotFound", set(), 1),
    "an empty list is the whole Gateway": ("[]", "Enforced", {"http", "https", "admin"}, 0),
}


@pytest.mark.parametrize("name", AZURE_SECTIONS)
def test_azures_list_of_sections(name: str) -> None:
    sections, verdict, reached, findings = AZURE_SECTIONS[name]
    simulation = worlds.simulated(
        worlds.gateway_class("any", AZURE), worlds.gateway(listeners=LISTENERS), worlds.route(more=PLAIN),
        worlds.service(), frontend("tls", sections),
    )  # fmt: skip
    contexts = {path[-1].section for group in simulation.groups for path in group.contexts()}
    assert (worlds.verdicts(simulation)["tls"], contexts) == (verdict, reached)
    assert len(list(section_not_found.check(simulation))) == findings


def target_group(service: str) -> str:
    spec = f"spec: {{targetRef: {{group: '', kind: Service, name: {service}}}, protocol: HTTPS}}"
    return worlds.manifest("application-networking.k8s.aws/v1alpha1", "TargetGroupPolicy", "tls", "shop", spec)


@pytest.mark.parametrize(("service", "verdict", "findings"), [("checkout", "Enforced", 0), ("lonely", "NoEffect", 1)])
def test_a_policy_on_a_service_without_a_route(service: str, verdict: str, findings: int) -> None:
    lonely = worlds.manifest("v1", "Service", "lonely", "shop", "spec: {ports: [{port: 8080}]}")
    simulation = world(AWS, lonely, target_group(service))
    assert worlds.verdicts(simulation)["tls"] == verdict
    assert len(list(no_effective_target.check(simulation))) == findings


@pytest.mark.parametrize(
    ("sort", "heading"),
    [
        ("key-auth", "Named by filter or annotation"),
        ("rate-limiting", "Named by filter or annotation"),
        ("some-plugin", "Named by filter or annotation, not evaluated"),
    ],
)
def test_what_asks_requests_for_something_is_not_called_unread(sort: str, heading: str) -> None:
    simulation = world(KONG, plugin("route", sort), annotations=f"{PLUGINS}route")
    ((found, (binding,)),) = headed(Tracer(simulation).trace(request({"host": "a"})).extensions)
    assert (found, binding.wanted.name) == (heading, "route")


def test_what_is_switched_off_is_called_so() -> None:
    off = plugin("route", "key-auth", more="disabled: true\n")
    simulation = world(KONG, off, annotations=f"{PLUGINS}route")
    ((found, (binding,)),) = headed(Tracer(simulation).trace(request({"host": "a"})).extensions)
    assert (found, binding.wanted.name) == ("Named by filter or annotation, switched off", "route")


@pytest.mark.parametrize(
    ("written", "counted"),
    [
        (plugin("route", "key-auth"), ()),
        (plugin("route", "some-plugin"), ("1 KongPlugin by annotation",)),
        (plugin("route", "some-plugin", more="disabled: true\n"), ()),
    ],
)
def test_what_nobody_judges_is_counted(tmp_path: Path, written: str, counted: tuple[str, ...]) -> None:
    named = worlds.route(more=PLAIN, annotations=f"{PLUGINS}route")
    text = "---\n".join((worlds.gateway_class("any", KONG), worlds.gateway(), worlds.service(), named, written))
    (tmp_path / "world.yaml").write_text(text, encoding="utf-8")
    assert open_workspace([str(tmp_path)]).coverage.unevaluated == counted
