"""The request box: what its matcher says in a real browser is what `policylint trace` says."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

import policylint.report.graph
from policylint.cli import main
from policylint.regex import expression
from policylint.report.graph import GraphRequest, draw
from policylint.report.graph.details import details
from policylint.report.graph.requests import as_javascript
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.trace import Requirements, Trace, Tracer, from_url
from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, policy
from tests.doors.asking import ingress
from tests.doors.test_istio import gateway as own_gateway
from tests.doors.test_istio import virtual
from tests.graph.browser import Browser, installed
from tests.graph.worlds import apart
from tests.nightly import sampled
from tests.reach.test_agreement import CASES, FIXTURES, TREES

MATCHER = Path(policylint.report.graph.__file__).parent / "assets" / "request.js"
needs_browser = pytest.mark.skipif(installed() is None, reason="no Chromium is installed")
PER_WORLD = 400
DRAWN = ("GET", "POST", "OPTIONS", "PUT")


@pytest.fixture(scope="module")
def browser(chromium: Browser) -> Iterator[Browser]:
    with chromium.afresh() as opened:
        names = ("readRequest", "answersOf", "holds")
        opened.evaluate("".join([MATCHER.read_text(), *(f";globalThis.{name} = {name}" for name in names)]))
        yield opened


def answers(browser: Browser, known: dict[str, Any], texts: Sequence[str]) -> list[Any]:
    """What the page answers; a request that it does not take has an error."""
    script = f"""(() => {{ const known = {json.dumps(known)}; return JSON.stringify({json.dumps(texts)}.map((text) => {{
        const request = readRequest(text); return request.error ? request : answersOf(known, request); }})) }})()"""
    told: list[Any] = json.loads(browser.evaluate(script))
    return told


def drawn_requests(known: dict[str, Any], draw: random.Random, many: int) -> list[str]:
    """Requests near what the matches of a world speak of: hosts, ports, paths, headers, queries."""
    hosts = ["nowhere.test"]
    for pattern, parts in (entry for door in known["doors"] for entry in door["patterns"]):
        plain = "x7".join(parts) if parts else pattern
        hosts += [plain.replace("*", "deep.er"), plain.replace("*", "w")] if plain.strip("*.") else []
    hosts = [host for host in hosts if not set("<>{}$").intersection(host)]
    doors = sorted({(door["scheme"], door["port"] or 80) for door in known["doors"]})
    paths, headers, queries, methods = ["/", "/nothing/here"], [("x-other", "1")], ["z=1"], [*DRAWN]
    for dimension, _, value, *rest in known["predicates"]:
        stated = str(rest[0] if rest else value).removeprefix("(?i)")
        kind, _, name = dimension.partition(" ")
        if kind == "path":
            bare = stated.replace(".*", "zz").rstrip("/")
            paths += [stated, bare or "/", f"{bare}/below", f"{bare}x", f"{bare}/"]
        elif kind == "header":
            headers += [(name.upper(), stated), (name, f"{stated}z")]
        elif kind == "query":
            queries += [
                f"{quote(name)}={quote(stated)}",
                f"{quote(name)}=",
                f"{quote(name)}={quote(stated)}&{quote(name)}=2",
            ]
        elif kind == "method":
            methods.append(stated)
    texts = []
    for _ in range(many):
        scheme, port = draw.choice([*doors, *doors, ("http", 80), ("https", 443), ("https", 8080)])
        path = draw.choice(paths).replace("?", "").replace("#", "").replace(" ", "")
        query = f"?{draw.choice(queries)}" if draw.random() < 0.4 else ""
        lines = [f"{name}: {value}" for name, value in draw.sample(headers, min(len(headers), draw.randrange(3)))]
        url = f"{scheme}://{draw.choice(hosts)}:{port}{path if path.startswith('/') else f'/{path}'}{query}"
        texts.append("\n".join([f"{draw.choice(methods)} {url}", *lines]))
    services = [str(value) for dimension, _, value, *_ in known["predicates"] if dimension == "service"]
    calls = [*(str(value) for dimension, _, value, *_ in known["predicates"] if dimension == "call"), "No"]
    for service in services:
        texts += [
            f"grpc {draw.choice(['http', 'https'])}://{host}/{service}/{call}"
            for host in hosts
            for call in [*calls, "No"]
        ]
    return texts


def traced(tracer: Tracer, text: str) -> Trace:
    first, *headers = text.split("\n")
    method, _, url = first.partition(" ")
    return tracer.trace(from_url(method, url, headers))


def said(tracer: Tracer, trace: Trace, names: Names) -> str:
    """The sentence of `trace` about a request."""
    login = Requirements(tracer).of(trace, "authentication") if trace.outcome.backends else None
    return result(trace, names, login)


def differences(browser: Browser, world: Path, many: int = PER_WORLD) -> tuple[Counter[str], list[str]]:
    """How many answers there were of each sort, and those that are not what `trace` says."""
    workspace = open_workspace([str(apart(world))])
    known = details(draw(workspace.simulations, GraphRequest()))["requests"]
    assert not known["leftOut"]
    texts = drawn_requests(known, random.Random(world.name), many)
    names = Names.of(workspace.simulations)
    tracers = {each.world.name: Tracer(each, nearest=False) for each in workspace.simulations}
    sorts: Counter[str] = Counter()
    wrong = []
    for text, told in zip(texts, answers(browser, known, texts), strict=True):
        assert isinstance(told, list), (text, told)
        for answer in told:
            tracer = tracers[answer["environment"]]
            sort, difference = compared(answer, tracer, traced(tracer, text), names)
            sorts[sort] += 1
            wrong += [f"{text!r}: {difference}"] if difference else []
    return sorts, wrong


def compared(answer: dict[str, Any], tracer: Tracer, trace: Trace, names: Names) -> tuple[str, str]:
    """The sort of an answer, and what `trace` says instead."""
    if answer["undecided"]:
        return "undecided", ""
    way = answer["way"]
    if way is None:
        return "nothing", "" if trace.outcome.refused and trace.rule is None else said(tracer, trace, names)
    if way["certificate"]:
        return "certificate", "" if "demands a client certificate" in trace.outcome.reason else said(
            tracer, trace, names
        )
    redirect = trace.outcome.redirect
    end = said(tracer, trace, names) if redirect is None else f"{redirect.status} redirect to {redirect.scheme}."
    if answer["depends"]:
        rule = "" if trace.rule is None else names.node(trace.rule)
        known = any("delegates" in reason for reason in answer["depends"]) or way["rule"] == rule
        return "depends", "" if known else f"{way['rule']} is {rule}"
    told = (answer["door"]["gateway"] if way["rule"] else "", way["rule"], answer["result"])
    gateway = names.key(trace.gateway) if trace.gateway and trace.rule else ""
    meant = (gateway, "" if trace.rule is None else names.node(trace.rule), end)
    if told == meant or (
        not way["rule"] and trace.rule is None and answer["result"].split(":")[0] == end.split(":")[0]
    ):
        return "rule" if way["rule"] else "no rule", ""
    return "wrong", f"{told} is {meant}"


@needs_browser
@pytest.mark.parametrize("world", [*FIXTURES, *sampled(CASES, "requests in a page", 2)], ids=lambda world: world.name)
def test_on_every_fixture_and_case(browser: Browser, world: Path) -> None:
    sorts, wrong = differences(browser, world)
    assert wrong == []
    assert sorts["undecided"] <= 0.2 * sum(sorts.values()), sorts


RULED = """apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: ruled, namespace: shop}
spec:
  routes:
    - match: Host(`api.example.com`) && !PathPrefix(`/old`) && Header(`X-Team`, `a`)
      kind: Rule
      services: [{name: web, port: 80}]
    - match: Host(`api.example.com`) && PathPrefix(`/v1`)
      kind: Rule
      middlewares: [{name: https}]
      services: [{name: next, port: 80}]
    - match: Host(`api.example.com`) && ClientIP(`10.0.0.0/8`)
      kind: Rule
      services: [{name: web, port: 80}]
---
apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: https, namespace: shop}
spec: {redirectScheme: {scheme: https}}
"""
IN_MESH = virtual("[{match: [{uri: {prefix: /a}}], route: [{destination: {host: web}}]}]")
DOORS = {
    "Ingresses": (ingress(auth_url="http://sso/"), ingress("next", "/api Exact next, /shop/ Prefix next", tls=True)),
    "expressions": (ingress(paths="/api/v[0-9]+ ImplementationSpecific web, /b Prefix next", use_regex="true"),),
    "aliases": (ingress(server_alias="other.example.com", app_root="/shop", from_to_www_redirect="true"),),
    "rules of Traefik": (RULED,),
    "VirtualServices": (own_gateway(), IN_MESH),
    "a Gateway beside an Ingress": (GATEWAY, ingress(), worlds.route("v", more="hostnames: [api.example.com]")),
    "what is published": (ingress(), worlds.service("out", more="type: LoadBalancer")),
}


@needs_browser
@pytest.mark.parametrize("named", DOORS)
def test_on_doors_that_are_no_gateways(browser: Browser, tmp_path: Path, named: str) -> None:
    objects = (worlds.service("web"), worlds.service("next"), *DOORS[named])
    (tmp_path / "world.yaml").write_text("---\n".join(objects), encoding="utf-8")
    sorts, wrong = differences(browser, tmp_path)
    assert wrong == []
    assert sorts["rule"] > 50, sorts


PIECES = (
    "a", "b", "/", "/a", ".", "\\.", "[a-z]", "[^/]", "[0-9]", "\\d", "\\w", "(", ")", "(?:", "|", "*", "+", "?", "{2}",
    "{1,3}", "^", "$", "-", "[ab.]",
)  # fmt: skip


@needs_browser
def test_expressions_mean_in_a_browser_what_they_mean_to_re2(browser: Browser) -> None:
    """Those of which `as_javascript` says so, on texts made of what they speak of."""
    draw = random.Random(7)
    cases: list[tuple[Any, str, bool, str]] = []
    while len(cases) < 20_000:
        pattern = "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 7)))
        translated = as_javascript(pattern)
        for _ in range(0 if translated is None else 4):
            text = "".join(draw.choice(["a", "b", "ab", "/", ".", "0", "-", "A"]) for _ in range(draw.randrange(6)))
            cases.append((translated, text, bool(expression(pattern).is_whole(text)), pattern))
    asked = json.dumps([[translated, text] for translated, text, _, _ in cases])
    meant = 'holds(["path", "RegularExpression", source], {path: text})'
    told = browser.evaluate(f"{asked}.map(([source, text]) => {meant})")
    assert [case for case, answer in zip(cases, told, strict=True) if answer is not case[2]] == []
    assert sum(answer for _, _, answer, _ in cases) > 300


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+", "(a|aa)*b", "(?i)a", "a*b*c*d*", "(a|b)" * 7, "a?" * 7, "[[:alpha:]]", "\\pL", "a^b", "^a|b$",
        "\\Qa\\E", "\\x41", "\\bA", "(?s).", "(?P<n>a)", "é", "(a?){9}", "a" * 301,
    ],
)  # fmt: skip
def test_what_may_differ_or_take_long_is_not_tried_in_a_browser(pattern: str) -> None:
    assert as_javascript(pattern) is None


def test_usual_expressions_are_tried() -> None:
    for pattern in ("/api/.*", "^/v[0-9]+/users/[^/]+$", "(GET|POST)", "/img/[a-zA-Z0-9_-]+\\.(png|jpg)", "(?:/.*)?"):
        assert isinstance(as_javascript(pattern), str), pattern
    assert as_javascript("(") is False


TO = "backendRefs: [{name: checkout, port: 8080}]"
RULES = f"""rules: [
  {{matches: [{{path: {{type: RegularExpression, value: "/(a+)+"}}}}], {TO}}},
  {{matches: [{{path: {{type: RegularExpression, value: "/v[0-9]+"}}}}], {TO},
    filters: [{{type: CORS, cors: {{allowOrigins: ["https://a.example.com"]}}}}]}}]"""


@needs_browser
def test_what_a_browser_cannot_tell_is_said(browser: Browser, tmp_path: Path) -> None:
    world = [GATEWAY, SERVICE, worlds.route("v", more=f"hostnames: [shop.example.com], {RULES}")]
    rule = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
    guarded = [*world, policy("SecurityPolicy", "allow", "kind: HTTPRoute, name: v", rule)]
    url = "http://shop.example.com"
    texts = [f"GET {url}/aaa", f"GET {url}/v1", f"OPTIONS {url}/v1\nOrigin: https://a.example.com\nX: y"]

    def told(documents: Sequence[str]) -> list[Any]:
        (tmp_path / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
        known = details(draw(open_workspace([str(tmp_path)]).simulations, GraphRequest()))["requests"]
        return [answer for (answer,) in answers(browser, known, texts)]

    doubtful, certain, preflight = told(world)
    assert doubtful["undecided"] == "whether it matches /(a+)+ is for RE2 to say, not for a browser"
    assert certain["result"] == "reaches shop/checkout, no login."
    assert certain["depends"] == []
    assert preflight["depends"] == ["a CORS filter, which answers preflights itself"]
    authorized = told(guarded)[1]
    assert authorized["depends"] == []
    assert (
        authorized["result"] == "reaches shop/checkout, no login, if SecurityPolicy shop/allow allows it (clientCIDRs)."
    )


@needs_browser
def test_what_stands_in_a_variable_is_said(browser: Browser, tmp_path: Path) -> None:
    rules = f"""rules: [
  {{matches: [{{path: {{type: PathPrefix, value: "/api/${{VERSION}}"}}}}], filters: [], backendRefs: []}}, {{{TO}}}]"""
    world = [GATEWAY, SERVICE, worlds.route("v", more=f"hostnames: [shop.example.com], {rules}")]
    (tmp_path / "world.yaml").write_text("---\n".join(world), encoding="utf-8")
    known = details(draw(open_workspace([str(tmp_path)]).simulations, GraphRequest()))["requests"]
    url = "http://shop.example.com"
    (within,), (outside,) = answers(browser, known, [f"GET {url}/api/v1", f"GET {url}/apis"])
    assert within["undecided"] == "whether it matches /api/${VERSION} is not known, as nothing fills in the variable"
    assert not outside["undecided"], outside["undecided"]
    assert outside["result"] == "reaches shop/checkout, no login."


BY_REQUEST = """authorization: {defaultAction: Deny, rules: [
  {action: Allow, operation: {methods: [GET]}, principal: {headers: [{name: x-team, values: [red, blue]}]}},
  {action: Deny, operation: {methods: [PUT]}, principal: {headers: [{name: x-team, values: [green]}]}},
  {action: Allow, operation: {methods: [PUT]}, principal: {clientCIDRs: [10.0.0.0/8]}}]}"""


@needs_browser
def test_what_authorization_says_of_requests_is_answered(browser: Browser, tmp_path: Path) -> None:
    """By methods and headers in the browser; of clients nothing is stated, as for `trace` without --from."""
    two = f"{{name: a, matches: [{{path: {{value: /a}}}}, {{path: {{value: /c}}}}], {TO}}}, {{name: b, {TO}}}"
    by_route = policy("SecurityPolicy", "own", "kind: HTTPRoute, name: v", BY_REQUEST)
    by_rule = policy(
        "SecurityPolicy", "a", "kind: HTTPRoute, name: v, sectionName: a", BY_REQUEST.replace("GET", "POST")
    )
    route = worlds.route("v", more=f"hostnames: ['*.example.com'], rules: [{two}]")
    (tmp_path / "world.yaml").write_text("---\n".join([GATEWAY, SERVICE, route, by_route, by_rule]), encoding="utf-8")
    simulations = open_workspace([str(tmp_path)]).simulations
    known = details(draw(simulations, GraphRequest()))["requests"]
    texts = [
        f"{method} http://shop.example.com{path}" + (f"\nX-Team: {team}" if team else "")
        for method in ("GET", "POST", "PUT", "DELETE")
        for path in ("/", "/a", "/c/d", "/b")
        for team in ("", "red", "green", "pink")
    ]
    names, tracer = Names.of(simulations), Tracer(simulations[0], nearest=False)
    sentences = [said(tracer, traced(tracer, text), names) for text in texts]
    assert [answer["result"] for (answer,) in answers(browser, known, texts)] == sentences
    assert len(set(sentences)) >= 4
    assert not any(way["depends"] for way in known["ways"])


def test_a_way_ends_at_its_backends_there_or_not(tmp_path: Path) -> None:
    """A Service that comes from elsewhere is drawn under its name and lies on the way; one without weight does not."""
    backends = "backendRefs: [{name: gone, port: 80}, {name: checkout, port: 8080, weight: 0}]"
    documents = [GATEWAY, SERVICE, worlds.route("v", more=f"rules: [{{{backends}}}]")]
    (tmp_path / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    drawing = draw(open_workspace([str(tmp_path)]).simulations, GraphRequest())
    ways = details(drawing)["requests"]["ways"]
    lit = {drawing.graph.nodes[box].label for way in ways if way["rule"] for box in way["boxes"]}
    assert "Service shop/gone" in lit
    assert not any("checkout" in label for label in lit)


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("world", sampled(TREES, "page"), ids=lambda world: world.name)
def test_on_real_trees(browser: Browser, world: Path) -> None:
    assert differences(browser, world)[1] == []


def test_the_command_takes_a_request_for_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.yaml").write_text("---\n".join([GATEWAY, SERVICE, worlds.route("v")]), encoding="utf-8")

    def run(*words: str) -> str:
        return CliRunner().invoke(main, ["graph", *words]).output

    page = run("-o", "html", "--request", "GET http://shop.example.com/a")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["request"] == "GET http://shop.example.com/a"
    assert data["requests"]["doors"]
    assert "--request is for the page" in run("--request", "GET http://shop.example.com/a")
    assert "--request takes a method and a URL" in run("-o", "html", "--request", "http://shop.example.com/a")
    assert "is none of http, https" in run("-o", "html", "--request", "GET gopher://shop.example.com/a")


def test_many_matches_are_left_out_before_they_cost_anything(tmp_path: Path) -> None:
    """Unless somebody asks for them; and hosts that take the matches of a wildcard count each time."""
    few = "rules: [" + ", ".join(f"{{matches: [{{path: {{value: /p{number}}}}}]}}" for number in range(30)) + "]"
    named = [worlds.route(f"v{number}", more=f"hostnames: [h{number}.example.com]") for number in range(80)]
    documents = [GATEWAY, SERVICE, worlds.route("wide", more=f"hostnames: ['*.example.com'], {few}"), *named]
    (tmp_path / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    drawing = draw(open_workspace([str(tmp_path)]).simulations, GraphRequest())
    assert "more than 2,000 matches" in details(drawing)["requests"]["leftOut"]
    asked = details(drawing._replace(request="GET http://h1.example.com/"))["requests"]
    assert asked["leftOut"] == ""
    assert len(asked["doors"][0]["entries"]) > 80
