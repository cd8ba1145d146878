"""What nobody reads may ask for anything: code, raw configuration, objects of unknown kinds.

Predicted from what each of them can do: Envoy's Lua, Wasm and ext_proc filters answer requests, EnvoyFilter and
EnvoyPatchPolicy add any filter, snippets of NGINX hold `auth_request`, and so do plugins of Kong and Traefik.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.reach import WayIn
from policylint.reach.entries import entries
from policylint.reach.purposes import asked
from policylint.reach.ways import ways_in
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.simulation import Simulation
from policylint.trace import Asked, Requirements, Tracer, request
from tests import worlds
from tests.compare.test_compare import sides
from tests.compare.test_requests import JWT, login, web
from tests.worlds import manifest

ENVOY_GATEWAY, NGINX = "gateway.envoyproxy.io/gatewayclass-controller", "gateway.nginx.org/nginx-gateway-controller"
KONG, TRAEFIK, OTHER = "konghq.com/kic-gateway-controller", "traefik.io/gateway-controller", "example.net/controller"
ISTIO = "istio.io/gateway-controller"
OF_ROUTE = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]"
OF_GATEWAY = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"


def base(controller: str, *more: str, route: str = "", annotations: str = "") -> tuple[str, ...]:
    plain = web().replace("metadata: {name: web", f"metadata: {{annotations: {{{annotations}}}, name: web")
    return (
        worlds.gateway_class("eg", controller),
        worlds.gateway("edge", "infra", of_class="eg"),
        worlds.service("app"),
        route or plain,
        *more,
    )


def extension(spec: str) -> str:
    return manifest(
        "gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "x", "shop", f"spec: {{{OF_ROUTE}, {spec}}}"
    )


def filtered(group: str, kind: str) -> str:
    named = f"filters: [{{type: ExtensionRef, extensionRef: {{group: {group}, kind: {kind}, name: x}}}}], "
    return web().replace("{matches", f"{{{named}matches")


def plugin(name: str, more: str = "") -> tuple[str, ...]:
    kong = manifest("configuration.konghq.com/v1", "KongPlugin", "x", "shop", f"plugin: {name}\n{more}")
    return base(KONG, kong, annotations="konghq.com/plugins: x")


LUA = extension("lua: [{type: Inline, inline: 'function envoy_on_request(h) h:respond({}) end'}]")
PLAIN_LUA = extension(
    "lua: [{type: Inline, inline: 'function envoy_on_request(h) if h then h:headers():add(1, 2) return end end'}]"
)
LUA_ELSEWHERE = extension("lua: [{type: ValueRef, valueRef: {kind: ConfigMap, name: x, group: ''}}]")


def script(entries: str, name: str = "x", namespace: str = "shop") -> str:
    return manifest("v1", "ConfigMap", name, namespace, f"data: {{{entries}}}")


ANSWERS = "function envoy_on_request(h) h:respond({}) end"
PASSES = "function envoy_on_request(h) if h then return end end"
EXT_PROC = extension("extProc: [{backendRefs: [{name: app, port: 80}]}]")


def patch(value: str) -> str:
    entry = f"{{type: x, name: edge, operation: {{op: add, path: /a, value: {{name: {value}}}}}}}"
    spec = f"spec: {{{OF_GATEWAY}, type: JSONPatch, jsonPatches: [{entry}]}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy", "x", "infra", spec)


def envoy_filter(name: str) -> str:
    added = f"{{operation: INSERT_BEFORE, value: {{name: {name}}}}}"
    spec = f"spec: {{configPatches: [{{applyTo: HTTP_FILTER, match: {{context: GATEWAY}}, patch: {added}}}]}}"
    return manifest("networking.istio.io/v1alpha3", "EnvoyFilter", "x", "infra", spec)


def snippet(value: str) -> str:
    spec = f"spec: {{snippets: [{{context: http.server.location, value: '{value}'}}]}}"
    return manifest("gateway.nginx.org/v1alpha1", "SnippetsFilter", "x", "shop", spec)


LOGIN = manifest(
    "gateway.nginx.org/v1alpha1",
    "AuthenticationFilter",
    "x",
    "shop",
    "spec: {type: Basic, basic: {realm: r, secretRef: {name: s}}}",
)
USERS = manifest("v1", "Secret", "s", "shop", "type: nginx.org/htpasswd\nstringData: {auth: 'a:b'}")
UNKNOWN_KIND = manifest("acme.example/v1", "AccessPolicy", "x", "shop", f"spec: {{{OF_ROUTE}, login: {{}}}}")
SNIPPETS, LOGINS = (filtered("gateway.nginx.org", kind) for kind in ("SnippetsFilter", "AuthenticationFilter"))
JWT_FILTER, OF_ONES_OWN = "envoy.filters.http.jwt_authn", "envoy.filters.http.acme"
WORLDS = {
    "nothing": (base(ENVOY_GATEWAY), "open", ""),
    "Lua that answers": (base(ENVOY_GATEWAY, LUA), "unknown", "lua of shop/x"),
    "Lua that cannot": (base(ENVOY_GATEWAY, PLAIN_LUA), "open", ""),
    "Lua that is elsewhere": (base(ENVOY_GATEWAY, LUA_ELSEWHERE), "unknown", "lua of shop/x"),
    "Lua of a ConfigMap that answers": (
        base(ENVOY_GATEWAY, LUA_ELSEWHERE, script(f"lua: '{ANSWERS}'")), "unknown", "lua of shop/x"),
    "Lua of a ConfigMap that cannot": (base(ENVOY_GATEWAY, LUA_ELSEWHERE, script(f"lua: '{PASSES}'")), "open", ""),
    "the entry lua before any other": (
        base(ENVOY_GATEWAY, LUA_ELSEWHERE, script(f"a: '{ANSWERS}', lua: '{PASSES}'")), "open", ""),
    "without it, whichever comes first": (
        base(ENVOY_GATEWAY, LUA_ELSEWHERE, script(f"a: '{PASSES}', b: '{ANSWERS}'")), "unknown", "lua of shop/x"),
    "without it, all alike": (
        base(ENVOY_GATEWAY, LUA_ELSEWHERE, script(f"a: '{PASSES}', b: '{PASSES}'")), "open", ""),
    "a script with a variable": (
        base(ENVOY_GATEWAY, LUA_ELSEWHERE, script("lua: '${SCRIPT}'")), "unknown", "lua of shop/x"),
    "one script of two was seen": (
        base(ENVOY_GATEWAY, script(f"lua: '{PASSES}'"), extension(
            "lua: [{type: ValueRef, valueRef: {kind: ConfigMap, name: x, group: ''}},"
            " {type: ValueRef, valueRef: {kind: ConfigMap, name: '${OTHER}', group: ''}}]")),
        "unknown", "lua of shop/x"),
    "ext_proc": (base(ENVOY_GATEWAY, EXT_PROC), "unknown", "extProc of shop/x"),
    "Lua, and a login that is certain": (base(ENVOY_GATEWAY, LUA, login(JWT)), "asked", "lua of shop/x"),
    "Lua that is switched off": (base(ENVOY_GATEWAY, extension("lua: []")), "open", ""),
    "a login by a patch": (base(ENVOY_GATEWAY, patch(JWT_FILTER)), "unknown", "EnvoyPatchPolicy infra/x"),
    "a filter of one's own": (base(ENVOY_GATEWAY, patch(OF_ONES_OWN)), "unknown", "EnvoyPatchPolicy infra/x"),
    "compression by a patch": (base(ENVOY_GATEWAY, patch("envoy.filters.http.compressor")), "open", ""),
    "a login by an EnvoyFilter": (base(ISTIO, envoy_filter(JWT_FILTER)), "unknown", "EnvoyFilter infra/x"),
    "compression by an EnvoyFilter": (base(ISTIO, envoy_filter("envoy.filters.http.compressor")), "open", ""),
    "a snippet": (base(NGINX, snippet("auth_request /x;"), route=SNIPPETS), "unknown", "SnippetsFilter shop/x"),
    "a snippet that adds a header": (base(NGINX, snippet("add_header a b;"), route=SNIPPETS), "open", ""),
    "a filter that is a login": (base(NGINX, LOGIN, USERS, route=LOGINS), "asked", ""),
    "a plugin that runs code": (plugin("pre-function"), "unknown", "KongPlugin shop/x"),
    "a plugin of one's own": (plugin("my-login"), "unknown", "KongPlugin shop/x"),
    "a plugin that counts": (plugin("rate-limiting"), "open", ""),
    "a plugin that adds headers": (plugin("cors"), "open", ""),
    "a plugin that is a login": (plugin("key-auth"), "asked", ""),
    "a login that is set up in a Secret": (
        plugin("key-auth", "configFrom: {secretKeyRef: {name: x, key: y}}"),
        "unknown",
        "KongPlugin shop/x",
    ),
    "a filter of an unknown kind": (
        base(
            OTHER,
            manifest("acme.example/v1", "LoginFilter", "x", "shop", "spec: {a: b}"),
            route=filtered("acme.example", "LoginFilter"),
        ),
        "unknown",
        "LoginFilter shop/x",
    ),
    "a filter of a kind that looks like a policy's": (
        base(
            OTHER,
            manifest("acme.example/v1", "AccessPolicy", "x", "shop", "spec: {login: {}}"),
            UNKNOWN_KIND.replace("name: x", "name: z").replace("name: web", "name: other"),
            route=filtered("acme.example", "AccessPolicy"),
        ),
        "unknown",
        "AccessPolicy shop/x",
    ),
    "a policy of an unknown kind": (base(OTHER, UNKNOWN_KIND), "unknown", "AccessPolicy shop/x"),
}  # fmt: skip


def way(simulation: Simulation) -> WayIn:
    """The only way of the route's requests."""
    tracer = Tracer(simulation)
    (only,) = [way for entry in entries(tracer) for way in ways_in(tracer, entry) if way.trace.route is not None]
    return only


@pytest.mark.parametrize("world", WORLDS)
def test_what_may_ask_is_no_way_without_a_login(tmp_path: Path, world: str) -> None:
    manifests, state, who = WORLDS[world]
    simulation = worlds.opened(tmp_path, *manifests)
    given: Asked = asked(Requirements(Tracer(simulation)), way(simulation), "authentication")
    assert given.state == state
    trace = Tracer(simulation).trace(request({"host": "shop.example.com"}))
    assert trace.may_ask == ([who] if who else [])
    if state == "unknown":
        assert given.why == f"{who} may ask for it"
    said = result(trace, Names.of((simulation,)), given)
    assert said.startswith("reaches shop/app")
    assert said.endswith((f", unless {who} turns it away.", f", login unknown: {who} may ask for it.")) == bool(who)


@pytest.mark.parametrize("after", ["", "z"])
def test_a_filter_of_an_unknown_kind_that_goes_or_is_exchanged_is_no_answer_as_before(
    tmp_path: Path, after: str
) -> None:
    named = filtered("acme.example", "AccessPolicy")
    kinds = [manifest("acme.example/v1", "AccessPolicy", name, "shop", "spec: {a: b}") for name in ("x", "z")]
    attached = UNKNOWN_KIND.replace("name: x", "name: z").replace("name: web", "name: other")
    before, later = (
        base(OTHER, *kinds, attached, route=route) for route in (named, named.replace("name: x}", f"name: {after}}}"))
    )
    if not after:
        later = base(OTHER, *kinds, attached)
    (change,) = compare([sides(tmp_path, before, later)])
    assert change.requests is not None and not change.requests.same
    (told,) = change.requests.changes
    assert "AccessPolicy shop/x" in str(told)


@pytest.mark.parametrize(
    ("target", "state"),
    [
        ("kind: Gateway, name: other", "open"),
        ("kind: HTTPRoute, name: other", "open"),
        ("kind: HTTPRoute, name: prod-web", "open"),
        ('kind: HTTPRoute, name: "${ROUTE}"', "unknown"),
    ],
)
def test_a_policy_for_something_else_that_was_not_seen_asks_nothing_here(
    tmp_path: Path, target: str, state: str
) -> None:
    named = target.partition("name: ")[2]
    maker = manifest("acme.example/v1", "Widget", named.strip('"'), "shop", "spec: {}")
    targets = f"targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]"
    policy = manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "x", "shop", f"spec: {{{targets}, {JWT}}}")
    simulation = worlds.opened(tmp_path, *base(ENVOY_GATEWAY, policy, maker))
    (state_of_it,) = (each for each in simulation.policies.values() if each.key.name == "x")
    assert [entry.resolution.unknown for entry in state_of_it.targets] == [True]
    assert asked(Requirements(Tracer(simulation)), way(simulation), "authentication").state == state


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (script("a: b", "other"), "ConfigMap shop/x is missing"),
        (script(f"lua: '{PASSES}'", namespace="infra"), "ConfigMap shop/x is missing"),
        (script("").replace("data: {}", "binaryData: {lua: eA==}"), "ConfigMap shop/x has no entry 'lua'"),
    ],
)
def test_lua_that_cannot_be_read_answers_500(held: str, why: str, tmp_path: Path) -> None:
    simulation = worlds.opened(tmp_path, *base(ENVOY_GATEWAY, LUA_ELSEWHERE, held))
    trace = Tracer(simulation).trace(request({"host": "shop.example.com"}))
    assert trace.outcome.status == 500
    assert why in result(trace, Names.of((simulation,)))


@pytest.mark.parametrize(
    ("before", "after", "unknown"),
    [
        (PASSES, ANSWERS, True),
        (ANSWERS, PASSES, True),
        (ANSWERS, ANSWERS.replace("{}", "{1}"), False),
        (PASSES, PASSES.replace("if h then return end", ""), False),
    ],
)
def test_a_change_of_a_script_is_not_answered_as_before(before: str, after: str, unknown: bool, tmp_path: Path) -> None:
    world = base(ENVOY_GATEWAY, LUA_ELSEWHERE)
    pair = sides(tmp_path, (*world, script(f"lua: '{before}'")), (*world, script(f"lua: '{after}'")))
    (environment,) = compare([pair])
    assert environment.requests is not None
    assert (environment.requests.same, bool(environment.requests.unknown)) == (False, unknown)


CHART = manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "app", "shop", "spec: {chart: {spec: {chart: acme-app}}}")


@pytest.mark.parametrize(
    ("labels", "state"),
    [
        ("app: app", "unknown"),
        ("app.kubernetes.io/name: my-app", "unknown"),
        ("tier: backend", "unknown"),
        ("app: cart", "open as far as seen"),
        ("app.kubernetes.io/name: cart, tier: backend", "open as far as seen"),
        ("k8s-app: cart", "open as far as seen"),
    ],
)
def test_a_policy_for_pods_of_another_name_asks_nothing_here_as_far_as_seen(
    tmp_path: Path, labels: str, state: str
) -> None:
    spec = f"spec: {{selector: {{matchLabels: {{{labels}}}}}, rules: [{{from: [{{source: {{principals: [a]}}}}]}}]}}"
    policy = manifest("security.istio.io/v1", "AuthorizationPolicy", "x", "shop", spec)
    simulation = worlds.opened(tmp_path, *base(ISTIO, policy, CHART))
    given = asked(Requirements(Tracer(simulation)), way(simulation), "authorization")
    assert f"{given.state}{' as far as seen' if given.ground else ''}" == state


def test_what_is_asked_before_one_backend_is_not_asked_before_another(tmp_path: Path) -> None:
    spec = "spec: {selector: {matchLabels: {app: cart}}, rules: [{from: [{source: {principals: [a]}}]}]}"
    policy = manifest("security.istio.io/v1", "AuthorizationPolicy", "x", "shop", spec)
    two = web().replace(
        "rules: [", "rules: [{matches: [{path: {value: /cart}}], backendRefs: [{name: cart, port: 80}]}, "
    )
    simulation = worlds.opened(tmp_path, *base(ISTIO, policy, CHART, worlds.service("cart"), route=two))
    tracer = Tracer(simulation)
    traced = [tracer.trace(request({"host": "shop.example.com", "path": path})) for path in ("/cart", "/")]
    given = [Requirements(tracer).of(each, "authorization").state for each in traced]
    assert given == ["unknown", "open"]
