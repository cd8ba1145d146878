"""Which rule takes a request at NGINX Gateway Fabric, as its NGINX does (tests/witness, nginx-requests)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.checks.path_without_fallback import check as path_without_fallback
from policylint.implementations.nginx_gateway_fabric.locations import apart, read
from policylint.matches import Match, match_of
from policylint.reach import all_ways
from policylint.simulation import Simulation
from policylint.trace import Outcome, Tracer
from policylint.trace.request import from_url
from tests.worlds import gateway, gateway_class, manifest, opened, route, service

NGINX = gateway_class("any", "gateway.nginx.org/nginx-gateway-controller")
OTHERS = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
LISTENER = "name: web, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}"
CANARY = "headers: [{name: x-canary, value: 'yes'}]"
SERVICES = [service(name) for name in ("old", "new", "other")]


def rule(match: str, backend: str) -> str:
    return f"{{matches: [{{{match}}}], backendRefs: [{{name: {backend}, port: 80}}]}}"


def prefix(path: str, more: str = "") -> str:
    return f"path: {{type: PathPrefix, value: {path}}}{more and f', {more}'}"


def expression(path: str, more: str = "") -> str:
    return f"path: {{type: RegularExpression, value: '{path}'}}{more and f', {more}'}"


def exact(path: str, more: str = "") -> str:
    return f"path: {{type: Exact, value: {path}}}{more and f', {more}'}"


def of_rules(directory: Path, *rules: str, of_class: str = NGINX) -> Simulation:
    return opened(directory, of_class, gateway(), route(more=f"rules: [{', '.join(rules)}]"), *SERVICES)


def end(simulation: Simulation, path: str, host: str = "shop.example", headers: Mapping[str, str] | None = None) -> str:
    """Return the name of who gets a request, or the status of its answer."""
    asked = from_url("GET", f"http://{host}{path}")._replace(headers=tuple((headers or {}).items()))
    outcome: Outcome = Tracer(simulation).trace(asked).outcome
    return str(outcome.status or " ".join(key.name for key in outcome.backends))


def test_what_no_match_of_a_path_wants_does_not_go_on_to_a_shorter_one(tmp_path: Path) -> None:
    rules = rule(prefix("/api", CANARY), "new"), rule(prefix("/"), "old")
    of_nginx = of_rules(tmp_path, *rules)
    assert end(of_nginx, "/api/v1", headers={"x-canary": "yes"}) == "new"
    assert end(of_nginx, "/api/v1") == "404"
    assert end(of_nginx, "/cart") == "old"


def test_elsewhere_it_does(tmp_path: Path) -> None:
    rules = rule(prefix("/api", CANARY), "new"), rule(prefix("/"), "old")
    assert end(of_rules(tmp_path, *rules, of_class=OTHERS), "/api/v1") == "old"


def test_matches_of_one_path_share_a_location_across_routes(tmp_path: Path) -> None:
    canary = route("canary", more=f"rules: [{rule(prefix('/api', CANARY), 'new')}]")
    stable = route("stable", more=f"rules: [{rule(prefix('/api'), 'old')}]")
    both = opened(tmp_path, NGINX, gateway(), canary, stable, *SERVICES)
    assert end(both, "/api/v1", headers={"x-canary": "yes"}) == "new"
    assert end(both, "/api/v1") == "old"


@pytest.mark.parametrize(
    ("written", "path", "taken"),
    [
        ("/api", "/apis/v1", True),  # an expression is not bound at its end
        ("/api$", "/apis", False),
        (r"/api\.*", "/api/v1", True),  # the dot is one of the text
        ("/v[0-9]", "/api/v1", False),  # but at its beginning
        ("/(cart|pay)", "/cart/a", True),
        ("/cart|/pay", "/shop/pay", True),  # `^` binds the first alternative alone
    ],
)
def test_expressions_take_the_beginning_of_paths(tmp_path: Path, written: str, path: str, taken: bool) -> None:
    simulation = of_rules(tmp_path, rule(expression(written), "new"))
    assert end(simulation, path) == ("new" if taken else "404")


def test_expressions_of_headers_and_parameters_are_looked_for_anywhere(tmp_path: Path) -> None:
    header = "headers: [{name: x-canary, type: RegularExpression, value: 'y[e]s'}]"
    query = "queryParams: [{name: v, type: RegularExpression, value: '^1$'}]"
    simulation = of_rules(
        tmp_path, rule(prefix("/", header), "new"), rule(prefix("/", query), "other"), rule(prefix("/"), "old")
    )
    assert end(simulation, "/", headers={"x-canary": "oh-yes-no"}) == "new"
    assert end(simulation, "/?v=1") == "other"
    assert end(simulation, "/?v=12") == "old"


def test_a_prefix_itself_comes_before_expressions_and_what_is_below_it_after_them(tmp_path: Path) -> None:
    simulation = of_rules(tmp_path, rule(prefix("/api"), "old"), rule(expression("/ap.*"), "new"))
    assert [end(simulation, path) for path in ("/api", "/api/v1")] == ["old", "new"]


def test_a_prefix_with_a_slash_leaves_the_path_without_it(tmp_path: Path) -> None:
    simulation = of_rules(tmp_path, rule(prefix("/api/"), "new"), rule(expression("/ap.*"), "other"))
    assert end(simulation, "/apis") == "other"


def test_who_asks_without_the_slash_is_sent_to_the_path_with_it(tmp_path: Path) -> None:
    """ngx_http_core_find_static_location (auto_redirect): before all expressions, and before shorter prefixes."""
    rules = rule(prefix("/api/"), "new"), rule(expression("/ap.*"), "other"), rule(prefix("/"), "old")
    redirect = Tracer(of_rules(tmp_path, *rules)).trace(from_url("GET", "http://shop.example/api?a=1")).outcome.redirect
    assert redirect is not None
    assert (redirect.status, redirect.path) == (301, "/api/?a=1")


def test_a_location_that_asks_for_more_adds_no_slash(tmp_path: Path) -> None:
    assert end(of_rules(tmp_path, rule(prefix("/api/", CANARY), "new"), rule(prefix("/"), "old")), "/api") == "old"


def test_of_two_logins_in_a_rule_nothing_is_made_though_they_are_one(tmp_path: Path) -> None:
    named = "{type: ExtensionRef, extensionRef: {group: gateway.nginx.org, kind: AuthenticationFilter, name: me}}"
    twice = f"{{filters: [{named}, {named}], backendRefs: [{{name: old, port: 80}}]}}"
    rules = f"rules: [{twice}, {rule(prefix('/cart'), 'new')}]"
    basic = "type: Basic, basic: {realm: me, secretRef: {name: me}}"
    login = manifest("gateway.nginx.org/v1alpha1", "AuthenticationFilter", "me", "shop", f"spec: {{{basic}}}")
    secret = manifest("v1", "Secret", "me", "shop", "type: nginx.org/htpasswd, stringData: {auth: 'me:x'}")
    assert end(opened(tmp_path, NGINX, gateway(), route(more=rules), login, secret, *SERVICES), "/") == "500"


def test_routes_for_the_narrowest_host_alone_take_a_request(tmp_path: Path) -> None:
    wide = route("wide", more=f"rules: [{rule(prefix('/'), 'old')}]")
    narrow = route("narrow", more=f"hostnames: [shop.example], rules: [{rule(exact('/new'), 'new')}]")
    simulation = opened(tmp_path, NGINX, gateway(), wide, narrow, *SERVICES)
    assert [end(simulation, path) for path in ("/new", "/cart")] == ["new", "404"]
    assert end(simulation, "/cart", host="else.example") == "old"


def test_servers_of_a_port_are_those_of_all_its_listeners_with_tls_too(tmp_path: Path) -> None:
    secured = "protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: cert}]}"
    listeners = ", ".join(
        f"{{name: {name}, {secured}, allowedRoutes: {{namespaces: {{from: All}}}}{host}}}"
        for name, host in (("any", ""), ("wild", ", hostname: '*.example'"))
    )
    at_any = "[{name: edge, namespace: infra, sectionName: any}]"
    narrow = route("narrow", parents=at_any, more=f"hostnames: [shop.example], rules: [{rule(prefix('/'), 'new')}]")
    at_wild = "[{name: edge, namespace: infra, sectionName: wild}]"
    wide = route("wide", parents=at_wild, more=f"rules: [{rule(prefix('/'), 'old')}]")
    simulation = opened(tmp_path, NGINX, gateway(listeners=f"[{listeners}]"), narrow, wide, *SERVICES)
    asked = from_url("GET", "https://shop.example/")
    assert [key.name for key in Tracer(simulation).trace(asked).outcome.backends] == ["new"]


def test_reach_knows_what_ends_with_404(tmp_path: Path) -> None:
    simulation = of_rules(tmp_path, rule(prefix("/api", CANARY), "new"), rule(prefix("/"), "old"))
    told = {way.requests: way.trace.outcome.status for way in all_ways(simulation) if not way.trace.outcome.backends}
    assert told == {"/api/** x-canary: not yes": 404}


@pytest.mark.parametrize(
    ("narrow", "told"),
    [
        (prefix("/api", CANARY), True),
        (exact("/api", "queryParams: [{name: v, value: '1'}]"), True),
        (prefix("/api", "method: POST"), True),
        (expression("/ap.*", CANARY), True),
        (prefix("/api", "method: GET"), False),  # what is looked at, it takes
        (prefix("/api"), False),
        (CANARY, False),  # it has the path of the wider rule
    ],
)
def test_gwp418_tells_what_a_wider_rule_waits_for(narrow: str, told: bool, tmp_path: Path) -> None:
    found = list(path_without_fallback(of_rules(tmp_path, rule(narrow, "new"), rule(prefix("/"), "old"))))
    assert [each.rule for each in found] == ["GWP418"] * told


def test_gwp418_is_about_rules_of_other_routes_too_and_about_nobody_who_waits_for_nothing(tmp_path: Path) -> None:
    canary = route("canary", more=f"rules: [{rule(prefix('/api', CANARY), 'new')}]")
    stable = route("stable", more=f"rules: [{rule(prefix('/'), 'old')}]")
    both = opened(tmp_path, NGINX, gateway(), canary, stable, *SERVICES)
    (finding,) = path_without_fallback(both)
    assert [key.name for key in finding.resources] == ["canary", "stable"]
    assert list(path_without_fallback(opened(tmp_path, NGINX, gateway(), canary, *SERVICES))) == []


def test_gwp418_is_nothing_of_proxies_that_go_on(tmp_path: Path) -> None:
    rules = rule(prefix("/api", CANARY), "new"), rule(prefix("/"), "old")
    assert list(path_without_fallback(of_rules(tmp_path, *rules, of_class=OTHERS))) == []


PATHS = st.sampled_from(["/", "/a", "/a/", "/a/b", "/ab", "/a/b/", "/b"])
EXPRESSIONS = st.sampled_from(["/a", "/a.*", "/.*b", "/a/b$", "/(a|b)/", "/[ab]"])


@st.composite
def written_matches(draw: st.DrawFn) -> Match:
    kind = draw(st.sampled_from(["Exact", "PathPrefix", "RegularExpression"]))
    value = draw(EXPRESSIONS if kind == "RegularExpression" else PATHS)
    entry: dict[str, object] = {"path": {"type": kind, "value": value}}
    if draw(st.booleans()):
        entry["headers"] = [{"name": "x", "value": draw(st.sampled_from("12"))}]
    return read(match_of(entry))


class Asked:
    """A request as matches see it."""

    def __init__(self, path: str, header: str) -> None:
        self.told = {"path": path, "header x": header}

    def value(self, name: str) -> str | None:
        return self.told[name]


def is_asking(value: str, found: list[Match]) -> bool:
    """Return whether a script chooses in the location of a prefix, by more than the path or among several rules."""
    here = [each for each in found if each.value["path"] == {"type": "PathPrefix", "value": value}]
    return len(here) > 1 or any(len(each.conditions) > 1 for each in here)


def location_of(path: str, found: list[Match]) -> tuple[str, str] | None:
    """Return the path and its type in whose location NGINX looks, by its own algorithm: exact ones, the longest prefix
    for later, expressions in the order of the file, then the prefix."""
    named = {(str(each.value["path"]["type"]), str(each.value["path"]["value"])) for each in found}
    exacts = {value: (kind, value) for kind, value in named if kind == "PathPrefix" and not value.endswith("/")}
    exacts |= {value: (kind, value) for kind, value in named if kind == "Exact"}
    if path in exacts:
        return exacts[path]
    if ("PathPrefix", f"{path}/") in named and not is_asking(f"{path}/", found):
        return "PathPrefix", f"{path}/"
    below = {f"{value.rstrip('/')}/": (kind, value) for kind, value in sorted(named) if kind == "PathPrefix"}
    for value in sorted(
        (value for kind, value in named if kind == "RegularExpression"), key=lambda each: (-len(each), each)
    ):
        if re.search(f"^{value}", path):
            return "RegularExpression", value
    longest = max((each for each in below if path.startswith(each)), key=len, default=None)
    return None if longest is None else below[longest]


@settings(max_examples=300)
@given(st.lists(written_matches(), min_size=1, max_size=6), PATHS, st.sampled_from("123"))
def test_the_first_match_is_one_of_the_location_that_nginx_chooses(found: list[Match], path: str, header: str) -> None:
    asked = Asked(path, header)
    fitting = [(match.weights, number) for number, match in apart(found) if not list(match.misses(asked))]
    location = location_of(path, found)
    here = [
        number
        for number, each in enumerate(found)
        if (each.value["path"]["type"], each.value["path"]["value"]) == location
        and all(wanted["value"] == header for wanted in each.value.get("headers", ()))
    ]
    if not here:
        assert fitting == []
    else:
        best = max(weights for weights, _ in fitting)
        assert {number for weights, number in fitting if weights == best} <= set(here)


@pytest.mark.parametrize(
    ("path", "asked", "ends"),
    [
        ("/service/(?!private).*", "/service/public", "unknown"),  # NGINX has the expressions of Perl, RE2 has not
        ("/service/(?!private).*", "/other", "old"),
        ("/service/(?!private).*", "/serv", "old"),
        ("/a(?=/b)|/c", "/other", "unknown"),
        ("/service/.*", "/service/public", "new"),
    ],
)
def test_an_expression_of_perl_may_match_behind_its_beginning(tmp_path: Path, path: str, asked: str, ends: str) -> None:
    simulation = of_rules(tmp_path, rule(expression(path), "new"), rule(prefix("/"), "old"))
    outcome = Tracer(simulation).trace(from_url("GET", f"http://shop.example{asked}")).outcome
    assert ("unknown" if outcome.unknown else end(simulation, asked)) == ends
