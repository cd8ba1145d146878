# ruff: noqa: E501 - worlds on one line each
"""What VirtualServers of NGINX Ingress Controller answer, world by world (docs/design/doors.md, NGINX Ingress Controller).

Source: nginx/kubernetes-ingress, internal/configs and internal/k8s; the witness `nginx-virtual-servers` asks NGINX.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.doors import with_doors
from policylint.doors.dead_ends import dead_ends
from policylint.doors.nginx import contended
from policylint.reach import all_ways, end_in_words
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer, ingress
from tests.doors.test_elsewhere import World
from tests.worlds import manifest, opened, service, simulated

API = "k8s.nginx.org/v1"
HOST, TLS = "http://shop.example.com", "https://shop.example.com"
UPSTREAMS = "upstreams: [{name: web, service: web, port: 80}, {name: next, service: next, port: 80}]"
SECURE = "tls: {secret: cert}, "
TO_WEB, TO_NEXT = "action: {pass: web}", "action: {pass: next}"
WEB, NEXT = service("web"), service("next")


def server(routes: str, more: str = "", name: str = "shop", host: str = "shop.example.com") -> str:
    return manifest(
        API, "VirtualServer", name, "shop", f"spec: {{host: '{host}', {more}{UPSTREAMS}, routes: [{routes}]}}"
    )


def below(subroutes: str, name: str = "more", host: str = "shop.example.com", namespace: str = "shop") -> str:
    spec = f"spec: {{host: {host}, {UPSTREAMS}, subroutes: [{subroutes}]}}"
    return manifest(API, "VirtualServerRoute", name, namespace, spec, more="labels: {of: shop}")


def policy(name: str, spec: str, namespace: str = "shop") -> str:
    return manifest(API, "Policy", name, namespace, f"spec: {{{spec}}}")


def secret(name: str, kind: str) -> str:
    return manifest("v1", "Secret", name, "shop", f"type: {kind}\nstringData: {{a: b}}")


def named(*names: str) -> str:
    return f"policies: [{', '.join(f'{{name: {name}}}' for name in names)}]"


LOGIN = policy("login", "basicAuth: {secret: users}")
TOKEN = policy("token", "jwt: {realm: shop, jwksURI: 'https://idp.example.com/keys'}")
OFFICE = policy("office", "accessControl: {allow: [10.0.0.0/8]}")
GUESTS = policy("guests", "accessControl: {deny: [203.0.113.0/24]}")
SHOWN = policy("shown", "ingressMTLS: {clientCertSecret: ca}")
KEYS = policy("keys", "apiKey: {suppliedIn: {header: [X-Key]}, clientSecret: keys}")
ASKING = policy("asking", "externalAuth: {authURI: /check, authServiceName: auth}")
CROSS = policy("cross", "cors: {allowOrigin: ['https://a.example.com']}")
SINGLE = policy(
    "single",
    "oidc: {clientID: shop, clientSecret: oidc, authEndpoint: 'https://idp.example.com/a', tokenEndpoint: 'https://idp.example.com/t', jwksURI: 'https://idp.example.com/k'}",
)
SLOW = policy("slow", "rateLimit: {rate: 1r/s, key: '${binary_remote_addr}', zoneSize: 1M}")
PLAIN = f"{{path: /, {TO_WEB}}}"

PATHS = (
    World(
        "a host without a certificate is served on port 80 alone",
        (server(PLAIN),),
        {f"{HOST}/": ("web", ""), f"{TLS}/": ("404", "")},
    ),
    World(
        "one with a certificate on both", (server(PLAIN, SECURE),), {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "")}
    ),
    World("another host is not served", (server(PLAIN),), {"http://else.example.com/": ("404", "")}),
    World("a wildcard is", (server(PLAIN, host="*.example.com"),), {"http://else.example.com/": ("web", "")}),
    World(
        "a path that no route has",
        (server(f"{{path: /a, {TO_WEB}}}"),),
        {f"{HOST}/b": ("404", ""), f"{HOST}/ab": ("web", "")},
    ),
    World(
        "exact paths come first, then expressions, then the longest prefix",
        (server(f"{PLAIN}, {{path: '=/a', {TO_NEXT}}}, {{path: /a, {TO_WEB}}}, {{path: '~ [.]png$', {TO_NEXT}}}"),),
        {
            f"{HOST}/a": ("next", ""),
            f"{HOST}/a/b": ("web", ""),
            f"{HOST}/a/b.png": ("next", ""),
            f"{HOST}/a/b.PNG": ("web", ""),
        },
    ),
    World(
        "expressions may ignore case, and the first one that is written counts",
        (server(f"{PLAIN}, {{path: '~* [.]png$', {TO_NEXT}}}, {{path: '~ ^/a', {TO_WEB}}}"),),
        {f"{HOST}/a/b.PNG": ("next", ""), f"{HOST}/a/b": ("web", "")},
    ),
    World(
        "a prefix with ^~ comes before expressions",
        (server(f"{{path: '^~ /a', {TO_WEB}}}, {{path: '~ [.]png$', {TO_NEXT}}}"),),
        {f"{HOST}/a/b.png": ("web", ""), f"{HOST}/b.png": ("next", "")},
    ),
    World(
        "of expressions that lead on in the server come first",
        (
            server(
                f"{{path: '~ ^/a', {TO_WEB}}}, {{path: '~ ^/', matches: [{{conditions: [{{header: X-A, value: b}}], {TO_WEB}}}], {TO_NEXT}}}"
            ),
        ),
        {f"{HOST}/a": ("next", "")},
    ),
    World(
        "a prefix that ends with a slash is redirected to, before any expression",
        (server(f"{{path: /a/, {TO_WEB}}}, {{path: '~ .*', {TO_NEXT}}}"),),
        {f"{HOST}/a": (f"301 {HOST}/a/", ""), f"{HOST}/ab": ("next", "")},
    ),
    World(
        "but not one with splits",
        (server(f"{{path: /a/, splits: [{{weight: 50, {TO_WEB}}}, {{weight: 50, {TO_NEXT}}}]}}"),),
        {f"{HOST}/a": ("404", ""), f"{HOST}/a/": ("next 50%, web 50%", "")},
    ),
    World(
        "a redirect",
        (server("{path: /, action: {redirect: {url: 'https://new.example.com/a', code: 302}}}"),),
        {f"{HOST}/": ("302 https://new.example.com/a", "")},
    ),
    World(
        "a redirect without a code",
        (server("{path: /, action: {redirect: {url: 'https://new.example.com${request_uri}'}}}"),),
        {f"{HOST}/b": ("301 https://new.example.com/b", "")},
    ),
    World(
        "an answer of its own",
        (server("{path: /, action: {return: {code: 418, body: tea}}}"),),
        {f"{HOST}/": ("418", "")},
    ),
    World("and one without a code", (server("{path: /, action: {return: {body: fine}}}"),), {f"{HOST}/": ("200", "")}),
    World(
        "a Service of another namespace",
        (
            server(PLAIN).replace("service: web", "service: else/far"),
            manifest("v1", "Service", "far", "else", "spec: {ports: [{port: 80}]}"),
        ),
        {f"{HOST}/": ("far", "")},
    ),
    World(
        "plain requests are redirected",
        (server(PLAIN, "tls: {secret: cert, redirect: {enable: true}}, "),),
        {f"{HOST}/x": (f"301 {TLS}/x", ""), f"{TLS}/x": ("web", "")},
    ),
    World(
        "with the code that is stated, whatever the path",
        (server(f"{{path: /a, {TO_WEB}}}", "tls: {secret: cert, redirect: {enable: true, code: 307}}, "),),
        {f"{HOST}/x": (f"307 {TLS}/x", "")},
    ),
    World(
        "by a header of what is in front",
        (server(PLAIN, "tls: {secret: cert, redirect: {enable: true, basedOn: x-forwarded-proto}}, "),),
        {f"{HOST}/x": ("web", ""), f"{TLS}/x X-Forwarded-Proto: http": (f"301 {TLS}/x", "")},
    ),
    World(
        "listeners with ports of their own",
        (
            server(PLAIN, f"{SECURE}listener: {{http: plain}}, "),
            manifest(
                API,
                "GlobalConfiguration",
                "nginx",
                "infra",
                "spec: {listeners: [{name: plain, port: 8080, protocol: HTTP}]}",
            ),
        ),
        {"http://shop.example.com:8080/": ("web", ""), f"{TLS}/": ("404", "")},
    ),
)
MATCHES = "matches: [{conditions: [%s], action: {pass: next}}], action: {pass: web}"
CONDITIONS = tuple(
    World(f"a condition: {condition}", (server(f"{{path: /, {MATCHES % condition}}}", SECURE),), expected)
    for condition, expected in {
        "{header: X-Beta, value: 'yes'}": {
            f"{HOST}/ X-Beta: YES": ("next", ""),
            f"{HOST}/ X-Beta: no": ("web", ""),
            f"{HOST}/": ("web", ""),
        },
        "{header: X-Beta, value: '!yes'}": {f"{HOST}/ X-Beta: yes": ("web", ""), f"{HOST}/ X-Beta: no": ("next", "")},
        "{header: X-Beta, value: '~^y'}": {f"{HOST}/ X-Beta: yes": ("next", ""), f"{HOST}/ X-Beta: Yes": ("web", "")},
        "{header: X-Beta, value: '~*^y'}": {f"{HOST}/ X-Beta: Yes": ("next", "")},
        "{argument: v, value: '2'}": {f"{HOST}/?v=2": ("next", ""), f"{HOST}/?v=3": ("web", "")},
        "{cookie: beta, value: 'on'}": {
            f"{HOST}/ Cookie: a=b; beta=ON": ("next", ""),
            f"{HOST}/ Cookie: beta=off": ("web", ""),
        },
        "{variable: $request_method, value: POST}": {f"{HOST}/": ("web", "")},
        "{variable: $scheme, value: https}": {f"{HOST}/": ("web", ""), f"{TLS}/": ("next", "")},
        "{header: X-Beta, value: 'yes'}, {argument: v, value: '2'}": {
            f"{HOST}/ X-Beta: yes": ("web", ""),
            f"{HOST}/?v=2 X-Beta: yes": ("next", ""),
        },
    }.items()
)
ASKED = tuple(
    World(f"{name} at the server, and at a route", (*manifests, SLOW, server(f"{PLAIN}, {{path: /a, {TO_NEXT}, {named('slow')}}}", f"{SECURE}{named(name)}, "), server(f"{PLAIN}, {{path: /a, {TO_NEXT}, {named(name)}}}", SECURE, "two", "two.example.com")), {
        f"{TLS}/": ("web", setting), f"{TLS}/a": ("next", setting), "https://two.example.com/": ("web", ""), "https://two.example.com/a": ("next", setting),
    })
    for name, manifests, setting in (
        ("login", (LOGIN,), "basicAuth"),
        ("token", (TOKEN,), "jwt"),
        ("keys", (KEYS,), "login"),
        ("asking", (ASKING, service("auth")), "externalAuth"),
        ("single", (SINGLE,), "oidc"),
    )
)  # fmt: skip
POLICIES = (
    *ASKED,
    World("a route's own login takes the place of the server's of its sort, and of no other", (LOGIN, OFFICE, policy("mine", "basicAuth: {secret: mine}"), server(f"{{path: /, {TO_WEB}, {named('mine')}}}", f"{named('login', 'office')}, ")), {f"{HOST}/ from 10.1.1.1": ("web", "basicAuth"), f"{HOST}/ from 203.0.113.9": ("403", "")}),
    World("lists of a route take the place of the server's", (OFFICE, GUESTS, server(f"{PLAIN}, {{path: /a, {TO_NEXT}, {named('guests')}}}", f"{named('office')}, ")), {f"{HOST}/ from 192.0.2.1": ("403", ""), f"{HOST}/a from 192.0.2.1": ("next", ""), f"{HOST}/a from 203.0.113.9": ("403", "")}),
    World("of lists of both sorts in one place the one that lets in counts", (OFFICE, GUESTS, server(PLAIN, f"{named('guests', 'office')}, ")), {f"{HOST}/ from 192.0.2.1": ("403", ""), f"{HOST}/ from 10.1.1.1": ("web", "")}),
    World("keys take the place of an authorizer, as both are one directive", (ASKING, KEYS, service("auth"), server(f"{{path: /, {TO_WEB}, {named('keys')}}}", f"{named('asking')}, ")), {f"{HOST}/": ("web", "login")}),
    World("certificates are shown where there is TLS", (SHOWN, server(PLAIN, f"{SECURE}{named('shown')}, ")), {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "clientCertificate")}),
    World("or need not be", (policy("shown", "ingressMTLS: {clientCertSecret: ca, verifyClient: optional}"), server(PLAIN, f"{SECURE}{named('shown')}, ")), {f"{TLS}/": ("web", "clientCertificate?".replace("client", "optionalClient"))}),
    World("they close a route that asks for them", (SHOWN, server(f"{PLAIN}, {{path: /a, {TO_WEB}, {named('shown')}}}", SECURE)), {f"{TLS}/": ("web", ""), f"{TLS}/a": ("500", "")}),
    World("and a server without TLS", (SHOWN, server(PLAIN, f"{named('shown')}, ")), {f"{HOST}/": ("500", "")}),
    World("a missing policy closes the route that names it", (LOGIN, server(f"{PLAIN}, {{path: /a, {TO_WEB}, {named('none')}}}")), {f"{HOST}/": ("web", ""), f"{HOST}/a": ("500", "")}),
    World("or all of the server, after the redirect to https", (LOGIN, server(PLAIN, f"tls: {{secret: cert, redirect: {{enable: true}}}}, {named('none')}, ")), {f"{HOST}/": (f"301 {TLS}/", ""), f"{TLS}/": ("500", "")}),
    World("also what no route takes", (LOGIN, server(f"{{path: /a/, {TO_WEB}}}", f"{named('none')}, ")), {f"{HOST}/b": ("500", ""), f"{HOST}/a": ("500", "")}),
    World("whatever the route asks itself", (LOGIN, server(f"{{path: /, {TO_WEB}, {named('login')}}}", f"{named('none')}, ")), {f"{HOST}/": ("500", "")}),
    World("a policy of two sections closes it", (policy("two", "basicAuth: {secret: users}, accessControl: {allow: [10.0.0.0/8]}"), server(PLAIN, f"{named('two')}, ")), {f"{HOST}/": ("500", "")}),
    World("but of two logins the second one is left aside, whatever it names", (LOGIN, secret("users", "nginx.org/htpasswd"), policy("wrong", "basicAuth: {secret: wrong}"), secret("wrong", "Opaque"), server(PLAIN, f"{named('login', 'wrong')}, ")), {f"{HOST}/": ("web", "basicAuth")}),
    World("and one whose Secret is of another type", (LOGIN, secret("users", "Opaque"), server(PLAIN, f"{named('login')}, ")), {f"{HOST}/": ("500", "")}),
    World("a Secret that is not here may be made by anybody", (LOGIN, secret("other", "Opaque"), server(PLAIN, f"{named('login')}, ")), {f"{HOST}/": ("web", "basicAuth")}),
    World("but not one whose Secret is of its own", (LOGIN, secret("users", "nginx.org/htpasswd"), server(PLAIN, f"{named('login')}, ")), {f"{HOST}/": ("web", "basicAuth")}),
    World("a policy of another namespace", (policy("login", "basicAuth: {secret: users}", "infra"), server(PLAIN, "policies: [{name: login, namespace: infra}], ")), {f"{HOST}/": ("web", "basicAuth")}),
    World("preflights are answered before anybody is asked for anything", (LOGIN, CROSS, server(PLAIN, f"{named('login', 'cross')}, ")), {f"{HOST}/": ("web", "basicAuth"), f"OPTIONS {HOST}/": ("204", "")}),
    World("each where its own conditions hold", (CROSS, server("{path: /, matches: [{conditions: [{header: X-A, value: b}], action: {return: {code: 418, body: x}}}], action: {pass: web}}", f"{named('cross')}, ")), {f"OPTIONS {HOST}/": ("204", ""), f"OPTIONS {HOST}/ X-A: b": ("418", "")}),
    World("but not where the path was rewritten before", (CROSS, server("{path: '~ ^/a', action: {proxy: {upstream: web, rewritePath: /b}}}, {path: /c, action: {proxy: {upstream: web, rewritePath: /b}}}", f"{named('cross')}, ")), {f"OPTIONS {HOST}/a": ("web", ""), f"OPTIONS {HOST}/c": ("204", "")}),
    World("but where nothing is sent on", (CROSS, server("{path: /, action: {return: {code: 403, body: no}}}", f"{named('cross')}, ")), {f"OPTIONS {HOST}/": ("403", "")}),
)  # fmt: skip
BELOW = (
    World("subroutes have the policies of the route that names them", (LOGIN, server(f"{{path: /a, route: more, {named('login')}}}"), below(f"{{path: /a/b, {TO_WEB}}}")), {f"{HOST}/a/b": ("web", "basicAuth"), f"{HOST}/a": ("404", "")}),
    World("unless they have some of their own", (LOGIN, TOKEN, server(f"{{path: /a, route: more, {named('login')}}}"), below(f"{{path: /a, {TO_WEB}, {named('token')}}}")), {f"{HOST}/a": ("web", "jwt")}),
    World("those of the server stay", (LOGIN, TOKEN, server("{path: /a, route: more}", f"{named('login')}, "), below(f"{{path: /a, {TO_WEB}, {named('token')}}}")), {f"{HOST}/a": ("web", "basicAuth jwt")}),
    World("in another namespace, with its own Services", (server("{path: /a, route: else/more}"), below(f"{{path: /a, {TO_WEB}}}", namespace="else"), service("web", "else")), {f"{HOST}/a": ("web", "")}),
    World("by labels", (server("{path: /a, routeSelector: {matchLabels: {of: shop}}}"), below(f"{{path: /a/b, {TO_WEB}}}")), {f"{HOST}/a/b": ("web", "")}),
    World("one that is missing", (server(f"{PLAIN}, {{path: /a, route: more}}"), below(f"{{path: /b, {TO_WEB}}}", "other")), {f"{HOST}/a": ("web", "")}),
    World("of another host", (server("{path: /a, route: more}"), below(f"{{path: /a, {TO_WEB}}}", host="else.example.com")), {f"{HOST}/a": ("404", "")}),
    World("of another path", (server("{path: /a, route: more}"), below(f"{{path: /b, {TO_WEB}}}")), {f"{HOST}/b": ("404", "")}),
    World("of an exact path", (server("{path: '= /a', route: more}"), below(f"{{path: =/a, {TO_WEB}}}")), {f"{HOST}/a": ("web", "")}),
    World("of an exact path and another one", (server("{path: =/a, route: more}"), below(f"{{path: =/a, {TO_WEB}}}, {{path: =/b, {TO_WEB}}}")), {f"{HOST}/a": ("404", "")}),
    World("of expressions", (server("{path: '~ ^/a', route: more}"), below(f"{{path: '~ ^/a', {TO_WEB}}}")), {f"{HOST}/a": ("web", "")}),
)  # fmt: skip


def annotated(*names: str, tls: bool = False) -> str:
    return ingress(of_class="nginx-inc", prefix="nginx.org/", tls=tls, policies=",".join(names), ssl_redirect="false")


AT_INGRESSES = (
    World("lists at an Ingress", (OFFICE, annotated("office")), {f"{HOST}/ from 10.1.1.1": ("web", ""), f"{HOST}/ from 192.0.2.1": ("403", "")}),
    World("of another namespace", (policy("office", "accessControl: {allow: [10.0.0.0/8]}", "infra"), annotated("infra/office")), {f"{HOST}/ from 192.0.2.1": ("403", "")}),
    World("an authorizer", (ASKING, service("auth"), annotated("asking", "office"), OFFICE), {f"{HOST}/ from 10.1.1.1": ("web", "externalAuth")}),
    World("certificates", (SHOWN, annotated("shown", tls=True)), {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "clientCertificate")}),
    World("what it does not take closes it", (LOGIN, annotated("login")), {f"{HOST}/": ("500", "")}),
    World("and what is missing", (LOGIN, annotated("none")), {f"{HOST}/": ("500", "")}),
)  # fmt: skip
INVALID = {
    "no upstream": (
        "{path: /, action: {pass: nowhere}}",
        "",
        "names upstream nowhere, which `upstreams` does not have",
    ),
    "two paths that are the same": (
        f"{{path: '=/a', {TO_WEB}}}, {{path: '= /a', {TO_WEB}}}",
        "",
        "two routes have the path = /a",
    ),
    "nothing to do": ("{path: /}", "", "a route has nothing to send requests to"),
    "two things to do": (f"{{path: /, {TO_WEB}, route: more}}", "", "a route has `action` and `route`"),
    "an action of two sorts": (
        "{path: /, action: {pass: web, return: {body: x}}}",
        "",
        "an action has `pass` and `return`",
    ),
    "weights": (
        f"{{path: /, splits: [{{weight: 50, {TO_WEB}}}, {{weight: 40, {TO_NEXT}}}]}}",
        "",
        "must add up to 100",
    ),
    "a path": (f"{{path: a, {TO_WEB}}}", "", "does not begin with /, ~, = or ^~"),
    "no conditions": (f"{{path: /, matches: [{{{TO_WEB}}}], {TO_NEXT}}}", "", "a match has no conditions"),
    "a policy twice": (PLAIN, f"{named('login', 'login')}, ", "names policy shop/login twice"),
    "paths of two sorts": ("{path: /a, route: more}, {path: '~ ^/b', route: more}", "", "by paths of two sorts"),
}


@pytest.mark.parametrize("world", [*PATHS, *CONDITIONS, *POLICIES, *BELOW, *AT_INGRESSES], ids=lambda world: world.name)
def test_virtual_servers(world: World) -> None:
    simulation = simulated(WEB, NEXT, *world.manifests)
    found = {}
    for asked in world.expected:
        method, _, rest = asked.partition(" ") if asked.startswith("OPTIONS ") else ("GET", "", asked)
        url, _, more = rest.partition(" ")
        client = more.removeprefix("from ") if more.startswith("from ") else ""
        found[asked] = answer(simulation, url, client, [more] if more and not client else [], method=method)
    assert found == world.expected


@pytest.mark.parametrize("name", INVALID)
def test_what_is_invalid_is_not_served(name: str) -> None:
    routes, more, why = INVALID[name]
    simulation = simulated(WEB, NEXT, LOGIN, server(routes, more), below(f"{{path: /a, {TO_WEB}}}"))
    assert answer(simulation, f"{HOST}/a") == ("404", "")
    assert [why in each.does for each in dead_ends(simulation.world)] == [True]


def test_what_is_left_out_is_told_at_the_route() -> None:
    simulation = simulated(WEB, NEXT, server("{path: /a, route: more}"), below(f"{{path: /b, {TO_WEB}}}"))
    (found,) = dead_ends(simulation.world)
    assert (found.pointer, found.does) == (
        ("spec", "routes", 0, "route"),
        "names VirtualServerRoute shop/more, which is invalid there: its subroute /b does not begin with /a",
    )


@pytest.mark.parametrize(
    "manifests",
    [
        (server(f"{{path: /a, {TO_WEB}}}, {{path: '^~ /a', {TO_NEXT}}}"),),
        (server(f"{{path: /a, {TO_WEB}}}, {{path: '^~ /a', route: more}}"), below(f"{{path: '^~ /a', {TO_WEB}}}")),
    ],
)
def test_locations_that_nginx_takes_for_one_are_told(manifests: tuple[str, ...]) -> None:
    (found,) = dead_ends(simulated(WEB, NEXT, *manifests).world)
    assert found.does == "has a location which NGINX has already: ^~/a is one with the other prefix /a"
    assert found.then.startswith("NGINX refuses the configuration as a whole")


def test_a_path_that_nginx_looks_for_again_and_again_is_told() -> None:
    rewriting = "action: {proxy: {upstream: web, rewritePath: /b}}"
    matched = f"matches: [{{conditions: [{{header: X-A, value: b}}], {TO_NEXT}}}], {rewriting}"
    simulation = simulated(
        WEB, NEXT, LOGIN, server(f"{{path: =/a, {named('login')}, {matched}}}, {{path: =/b, {rewriting}}}")
    )
    (found,) = dead_ends(simulation.world)
    assert found.pointer == ("spec", "routes", 0, "action", "proxy", "rewritePath")
    assert (answer(simulation, f"{HOST}/a"), answer(simulation, f"{HOST}/b")) == (("500", ""), ("web", ""))


@pytest.mark.parametrize(("path", "served"), [("=/a", "500"), ("^~/a", "500"), ("/a", "web"), ("~ ^/a", "web")])
def test_so_is_one_of_splits(path: str, served: str) -> None:
    """Splits are locations within the server, as matches are: so the real NGINX answers."""
    each = "{weight: 50, action: {proxy: {upstream: web, rewritePath: /b}}}"
    simulation = simulated(WEB, NEXT, server(f"{{path: '{path}', splits: [{each}, {each}]}}, {PLAIN}"))
    places = [("spec", "routes", 0, "splits", number, "action", "proxy", "rewritePath") for number in range(2)]
    assert [found.pointer for found in dead_ends(simulation.world)] == (places if served == "500" else [])
    assert answer(simulation, f"{HOST}/a")[0] == served


@pytest.mark.parametrize("path", ["=/a", "^~/a"])
@pytest.mark.parametrize(("weights", "served"), [((50, 50), 0.5), ((90, 10), 0.1), ((0, 100), 1.0)])
def test_of_splits_of_which_one_goes_round_the_rest_is_served(
    path: str, weights: tuple[int, int], served: float
) -> None:
    """Which split takes a request is drawn: for a part of them NGINX answers 500, for the others the upstream."""
    looping, plainly = weights
    splits = (
        f"splits: [{{weight: {looping}, action: {{proxy: {{upstream: web, rewritePath: /b}}}}}}, "
        f"{{weight: {plainly}, {TO_WEB}}}]"
    )
    simulation = simulated(WEB, NEXT, server(f"{{path: '{path}', {splits}}}, {PLAIN}"))
    trace = Tracer(with_doors(simulation)).trace(from_url("GET", f"{HOST}/a"))
    outcome = trace.outcome
    assert ([*outcome.backends.values()], outcome.failing, trace.judged) == ([served], 1 - served, ())
    assert [each.problem for each in outcome.shares if each.problem] == ["its path is rewritten and looked for again"]
    ways = [way for way in all_ways(with_doors(simulation)) if way.trace.request.path == "/a"]
    assert {end_in_words(way.trace) for way in ways} == {end_in_words(trace)}


@pytest.mark.parametrize(
    ("path", "answers"),
    [
        ("~ /b", {"/b": "web", "/a/b": "500", "/b/b": "web", "/a": "next"}),
        ("~ ^/b", {"/b": "web", "/a/b": "next"}),
        ("~* ^/Q", {"/Q": "web", "/q": "500"}),
    ],
)
def test_an_expression_is_rewritten_where_the_path_begins_with_it(path: str, answers: dict[str, str]) -> None:
    """NGINX was asked with such a configuration: what the location takes besides is looked for until it ends in 500."""
    rewriting = "action: {proxy: {upstream: web, rewritePath: /c}}"
    matched = f"matches: [{{conditions: [{{header: X-A, value: b}}], {rewriting}}}], {TO_NEXT}"
    simulation = simulated(WEB, NEXT, server(f"{{path: '{path}', {matched}}}, {{path: /, {TO_NEXT}}}"))
    asked = {each: answer(simulation, f"{HOST}{each}", headers=["X-A: b"])[0] for each in answers}
    assert asked == answers
    assert {answer(simulation, f"{HOST}{each}")[0] for each in answers} == {"next"}


@pytest.mark.parametrize("kind", ["Opaque", "nginx.org/ca", "kubernetes.io/tls"])
def test_a_certificate_of_another_type_turns_tls_away(kind: str) -> None:
    simulation = simulated(WEB, NEXT, secret("cert", kind), server(PLAIN, SECURE))
    is_none = kind != "kubernetes.io/tls"
    assert answer(simulation, f"{TLS}/")[0] == ("404" if is_none else "web")
    assert answer(simulation, f"{HOST}/")[0] == "web"
    found = [each.pointer for each in dead_ends(simulation.world)]
    assert found == [("spec", "tls", "secret")] * is_none


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("basicAuth: {secret: held}", "Opaque"),
        ("apiKey: {suppliedIn: {header: [X-Key]}, clientSecret: held}", "Opaque"),
        ("egressMTLS: {trustedCertSecret: held}", "kubernetes.io/tls"),
        ("egressMTLS: {tlsSecret: held}", "nginx.org/ca"),
        ("jwt: {realm: a, secret: held}", "nginx.org/htpasswd"),
    ],
)
def test_secrets_that_policies_name_are_read_and_told(tmp_path: Path, spec: str, kind: str) -> None:
    """Through the files of a tree, of which Secrets are read where something names them."""
    simulation = opened(
        tmp_path, WEB, NEXT, policy("asks", spec), secret("held", kind), server(PLAIN, f"{named('asks')}, ")
    )
    assert answer(with_doors(simulation), f"{HOST}/")[0] == "500"
    (found,) = dead_ends(simulation.world)
    assert (found.holder.key.kind, found.does[:37]) == ("Policy", "closes VirtualServer shop/shop: Secre")


OLDER, NEWER = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
OF_NIC = manifest(
    "networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: nginx.org/ingress-controller}"
)


def aged(text: str, created: str) -> str:
    return text.replace("metadata: {", f"metadata: {{creationTimestamp: '{created}', ", 1)


@pytest.mark.parametrize(
    ("second", "at_second"),
    [
        (aged(ingress("two", "/next Prefix next"), NEWER), "web"),
        (ingress("two", "/next Prefix next"), "web"),
        (aged(ingress("two", "/next Prefix next", host="else.example.com"), NEWER), "web"),
        (aged(server(f"{{path: /next, {TO_NEXT}}}"), NEWER), "web"),
        (aged(server(f"{{path: /next, {TO_NEXT}}}"), "2023-01-01T00:00:00Z"), "404"),
    ],
)
def test_an_ingress_has_its_host_alone(second: str, at_second: str) -> None:
    """NGINX Ingress Controller merges no Ingresses but masters and minions: the oldest has the host."""
    first = aged(ingress("one", "/ Prefix web"), OLDER)
    simulation = simulated(WEB, NEXT, OF_NIC, first, second)
    assert answer(simulation, f"{HOST}/next", gateway="IngressClass/nginx")[0] == at_second


def test_which_of_two_ingresses_has_it_is_doubted_where_neither_says_its_age() -> None:
    simulation = simulated(WEB, NEXT, OF_NIC, ingress("one", "/ Prefix web"), ingress("two", "/next Prefix next"))
    trace = Tracer(simulation).trace(from_url("GET", f"{HOST}/next"))
    assert any("asks for host shop.example.com, too" in note for note in trace.notes)


def test_minions_have_what_their_master_has() -> None:
    role = "nginx.org/mergeable-ingress-type"
    master = aged(ingress("one", "", prefix="nginx.org/", mergeable_ingress_type="master"), NEWER)
    master = master.replace("ingressClassName: nginx", "ingressClassName: nginx, rules: [{host: shop.example.com}]")
    minion = ingress("two", "/next Prefix next", prefix="nginx.org/", mergeable_ingress_type="minion")
    assert role in master
    assert role in minion
    alone = simulated(WEB, NEXT, OF_NIC, master, minion)
    assert answer(alone, f"{HOST}/next")[0] == "next"
    lost = simulated(WEB, NEXT, OF_NIC, master, minion, aged(ingress("three", "/ Prefix web"), OLDER))
    assert answer(lost, f"{HOST}/next")[0] == "web"


def test_one_of_two_with_a_host_has_it() -> None:
    """Which one is the older, no manifest says."""
    simulation = simulated(WEB, NEXT, server(PLAIN), server(f"{{path: /, {TO_NEXT}}}", name="other"))
    trace = Tracer(simulation).trace(from_url("GET", f"{HOST}/"))
    doubt = "VirtualServer shop/other may not be attached: VirtualServer shop/shop asks for host shop.example.com, too"
    assert doubt in trace.notes


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (server(f"{{path: /, {TO_NEXT}}}", name="other"), True),
        (server(f"{{path: /, {TO_NEXT}}}", "listener: {http: inner}, ", "other"), True),
        (server(f"{{path: /, {TO_NEXT}}}", "ingressClassName: nginx, ", "other"), True),
        (server(f"{{path: /, {TO_NEXT}}}, {PLAIN}", name="other"), False),
        (server(f"{{path: bare, {TO_NEXT}}}", name="other"), False),
        (server(f"{{path: /, {TO_NEXT}}}", name="other", host="else.example.com"), False),
    ],
)
def test_a_contested_host_is_told_and_doubted_alike(other: str, told: bool) -> None:
    """What is rejected asks for no host; the list of findings and the trace have it from one place."""
    simulation = simulated(WEB, NEXT, server(PLAIN), other)
    trace = Tracer(simulation).trace(from_url("GET", f"{HOST}/"))
    assert any("asks for host" in found.does for found in contended(simulation.world)) is told
    assert any("asks for host" in note for note in trace.notes) is told


def test_the_guards_of_an_ingress_act_whoever_is_known_to_serve_it() -> None:
    """A controller of Ingresses need not be one of Gateways for its guards to be its own."""
    of_class = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}")
    listed = ingress(whitelist_source_range="10.0.0.0/8")
    assert answer(simulated(WEB, of_class, listed), f"{HOST}/", "203.0.113.9") == ("403", "")
    assert answer(simulated(WEB, of_class, ingress(auth_type="basic")), f"{HOST}/") == ("503", "")
