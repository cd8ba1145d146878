# ruff: noqa: E501 - some objects on one line each
"""What requests a change answers otherwise: made changes, each with its class, its mirror and a witness."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from policylint.compare import compare
from policylint.compare.at_home import requests_at_home
from policylint.compare.pairing import Sides
from policylint.compare.requests import MIRRORED, RequestChange, RequestChanges, difference_in_words, sets_in_words
from policylint.trace import Request, Trace, Tracer, from_url
from policylint.trace.request import arguments
from tests.compare.test_compare import sides
from tests.trace.test_admissions import deployment
from tests.worlds import gateway, gateway_class, labelled, listener_set, manifest, route, service

CLASS = gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
ALL = "allowedRoutes: {namespaces: {from: All}}"
EDGE = gateway("edge", "infra", of_class="eg")
TWO_PORTS = gateway(
    "edge",
    "infra",
    f"[{{name: http, port: 80, protocol: HTTP, {ALL}}}, {{name: alt, port: 8080, protocol: HTTP, {ALL}}}]",
    of_class="eg",
)
APP, NEW = service("app"), service("new")
JWT = "jwt: {providers: [{name: id, issuer: 'https://id', remoteJWKS: {uri: 'https://id/keys'}}]}"
OPTIONAL = JWT.replace("jwt: {", "jwt: {optional: true, ")
BASIC = "basicAuth: {users: {name: users}}"
ALLOW = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
WIDER = ALLOW.replace("[10.0.0.0/8]", "[10.0.0.0/8, 192.168.0.0/16]")


OFFICE = "{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}"
HOME = OFFICE.replace("10.0.0.0/8", "192.168.0.0/16")
HALVES = "{action: Allow, principal: {clientCIDRs: [10.0.0.0/9, 10.128.0.0/9]}}"
GUESTS = "{action: Allow, principal: {clientCIDRs: [10.1.0.0/16]}}"
NOT_GUESTS = GUESTS.replace("Allow", "Deny")
OF_ISSUER = "claims: [{name: iss, values: ['https://id']}]"
ANY_TOKEN = f"{{action: Allow, principal: {{jwt: {{provider: id, {OF_ISSUER}}}}}}}"
OF_TEAM = "{action: Allow, principal: {headers: [{name: x-team, values: [red]}]}}"


def rules(*listed: str) -> str:
    return f"authorization: {{defaultAction: Deny, rules: [{', '.join(listed)}]}}"


def of_group(values: str) -> str:
    claims = f"[{{name: groups, valueType: StringArray, values: [{values}]}}]"
    return f"{{action: Allow, principal: {{jwt: {{provider: id, claims: {claims}}}}}}}"


def rule(path: str, backend: str = "app", more: str = "", match: str = "", kind: str = "PathPrefix") -> str:
    matches = f"matches: [{{path: {{type: {kind}, value: {path}}}{match}}}]"
    return f"{{{more}{matches}, backendRefs: [{{name: {backend}, port: 80}}]}}"


def filtering(*filters: str) -> str:
    return rule("/", more=f"filters: [{', '.join(filters)}], ")


def header(change: str) -> str:
    return f"{{type: RequestHeaderModifier, requestHeaderModifier: {{{change}}}}}"


def web(*rules: str, name: str = "web", hosts: str = "shop.example.com", parents: str = "", created: str = "") -> str:
    parents = parents or "[{name: edge, namespace: infra}]"
    return route(
        name,
        parents=parents,
        more=f"hostnames: ['{hosts}'], rules: [{', '.join(rules or (rule('/'),))}]",
        created=created,
    )


def login(
    setting: str = JWT, name: str = "login", target: str = "kind: HTTPRoute, name: web", namespace: str = "shop"
) -> str:
    body = f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], {setting}}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", name, namespace, body)


MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: new, port: 80}}}"
REWRITE = "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /admin}}}"
ON_EDGE = "kind: Gateway, name: edge"
ADMIN = rule("/admin", more="name: admin, ")
REST = rule("/", more="name: rest, ")
OF_ADMIN = "kind: HTTPRoute, name: web, sectionName: admin"


class Made(NamedTuple):
    """A change as people make it, and what is to be said of it: class and requests of each entry, none for `same`."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    says: tuple[tuple[str, str], ...] = ()


MADE = (
    # opens
    Made("a route", (APP,), (web(rule("/shop")), APP), (("opened", "shop.example.com /shop/**"),)),
    Made("a rule", (web(rule("/a")), APP), (web(rule("/a"), rule("/b")), APP), (("opened", "shop.example.com /b/**"),)),
    Made(
        "a wider prefix",
        (web(rule("/shop/cart")), APP),
        (web(rule("/shop")), APP),
        (("opened", "shop.example.com /shop/** except /shop/cart/**"),),
    ),
    Made(
        "an exact path becomes a prefix",
        (web(rule("/healthz", kind="Exact")), APP),
        (web(rule("/healthz")), APP),
        (("opened", "shop.example.com /healthz/** except /healthz"),),
    ),
    Made("no login", (web(), APP, login()), (web(), APP), (("opened", "shop.example.com, every request"),)),
    Made(
        "a login becomes optional",
        (web(), APP, login()),
        (web(), APP, login(OPTIONAL)),
        (("opened", "shop.example.com, every request"),),
    ),
    Made(
        "a rule before the one with the login",
        (web(ADMIN), APP, login(target=OF_ADMIN)),
        (web(ADMIN, rule("/admin/public")), APP, login(target=OF_ADMIN)),
        (("opened", "shop.example.com /admin/public/**"),),
    ),
    Made(
        "a header that leads past the login",
        (web(ADMIN), APP, login(target=OF_ADMIN)),
        (web(ADMIN, rule("/admin", match=", headers: [{name: x-debug, value: '1'}]")), APP, login(target=OF_ADMIN)),
        (("opened", "shop.example.com /admin/** x-debug: 1"),),
    ),
    Made(
        "a method falls away",
        (web(rule("/", match=", method: GET")), APP),
        (web(), APP),
        (("opened", "shop.example.com not GET"),),
    ),
    Made(
        "CORS of a route takes the login of the Gateway away",
        (web(), APP, login(target=ON_EDGE, namespace="infra")),
        (web(), APP, login(target=ON_EDGE, namespace="infra"), login("cors: {allowOrigins: ['https://a.b']}", "cors")),
        (("opened", "shop.example.com, every request"),),
    ),
    Made(
        "another listener",
        (web(), APP, EDGE),
        (web(), APP, TWO_PORTS),
        (("opened", "shop.example.com, every request"),),
    ),
    Made("a backend comes to be", (web(),), (web(), APP), (("opened", "shop.example.com, every request"),)),
    # closes
    Made("a route goes", (web(rule("/shop")), APP), (APP,), (("closed", "shop.example.com /shop/**"),)),
    Made("its Service goes", (web(), APP), (web(),), (("closed", "shop.example.com, every request"),)),
    Made(
        "another hostname",
        (web(), APP),
        (web(hosts="new.example.com"), APP),
        (("opened", "new.example.com, every request"), ("closed", "shop.example.com, every request")),
    ),
    Made("a login", (web(), APP), (web(), APP, login()), (("closed", "shop.example.com, every request"),)),
    # weakens and strengthens
    Made(
        "one login of two",
        (web(), APP, login(f"{JWT}, {BASIC}")),
        (web(), APP, login()),
        (("less-asked", "shop.example.com, every request"),),
    ),
    Made(
        "a wider CIDR",
        (web(), APP, login(ALLOW)),
        (web(), APP, login(WIDER)),
        (("opened", "shop.example.com from 192.168.0.0/16"),),
    ),
    Made(
        "a narrower CIDR",
        (web(), APP, login(WIDER)),
        (web(), APP, login(ALLOW)),
        (("closed", "shop.example.com from 192.168.0.0/16"),),
    ),
    Made(
        "no allow list",
        (web(), APP, login(f"{JWT}, {ALLOW}")),
        (web(), APP, login()),
        (("opened", "shop.example.com from outside 10.0.0.0/8"),),
    ),
    # who is let in
    Made(
        "an exception is gone",
        (web(), APP, login(rules(NOT_GUESTS, OFFICE))),
        (web(), APP, login(rules(OFFICE))),
        (("opened", "shop.example.com from 10.1.0.0/16"),),
    ),
    Made(
        "a CIDR around the one that was let in",
        (web(), APP, login(rules(GUESTS))),
        (web(), APP, login(rules(OFFICE))),
        (("opened", "shop.example.com from 10.0.0.0/8 except 10.1.0.0/16"),),
    ),
    Made(
        "an exception after the rule that lets in",
        (web(), APP, login(rules(NOT_GUESTS, OFFICE))),
        (web(), APP, login(rules(OFFICE, NOT_GUESTS))),
        (("opened", "shop.example.com from 10.1.0.0/16"),),
    ),
    Made(
        "one more value of a claim",
        (web(), APP, login(f"{JWT}, {rules(of_group('admin'))}")),
        (web(), APP, login(f"{JWT}, {rules(of_group('admin, ops'))}")),
        (
            (
                "opened",
                "shop.example.com without claim groups: admin with claim groups: ops with claim iss: https://id",
            ),
        ),
    ),
    Made(
        "a claim is no longer asked",
        (web(), APP, login(f"{JWT}, {rules(of_group('admin'))}")),
        (web(), APP, login(f"{JWT}, {rules(ANY_TOKEN)}")),
        (("opened", "shop.example.com without claim groups: admin with claim iss: https://id"),),
    ),
    Made(
        "a header instead of an address",
        (web(), APP, login(rules(OFFICE))),
        (web(), APP, login(rules(OF_TEAM))),
        (
            ("opened", "shop.example.com from outside 10.0.0.0/8 x-team: red"),
            ("closed", "shop.example.com from 10.0.0.0/8 x-team: not red"),
        ),
    ),
    Made(
        "other methods",
        (
            web(),
            APP,
            login(rules("{action: Allow, operation: {methods: [GET]}, principal: {clientCIDRs: [0.0.0.0/0]}}")),
        ),
        (
            web(),
            APP,
            login(rules("{action: Allow, operation: {methods: [GET, POST]}, principal: {clientCIDRs: [0.0.0.0/0]}}")),
        ),
        (("opened", "shop.example.com POST"),),
    ),
    Made(
        "the default lets in",
        (web(), APP, login(rules(OFFICE))),
        (web(), APP, login(rules(OFFICE).replace("Deny", "Allow"))),
        (("opened", "shop.example.com from outside 10.0.0.0/8"),),
    ),
    Made(
        "an allow list comes",
        (web(), APP),
        (web(), APP, login(rules(OFFICE))),
        (("closed", "shop.example.com from outside 10.0.0.0/8"),),
    ),
    Made(
        "a rule of its own without the allow list",
        (web(ADMIN, REST), APP, login(rules(OFFICE))),
        (web(ADMIN, REST), APP, login(rules(OFFICE), target=OF_ADMIN)),
        (("opened", "shop.example.com /** except /admin/** from outside 10.0.0.0/8"),),
    ),
    Made("a CIDR in two halves", (web(), APP, login(rules(OFFICE))), (web(), APP, login(rules(HALVES)))),
    Made("two rules instead of one", (web(), APP, login(WIDER)), (web(), APP, login(rules(HOME, OFFICE)))),
    Made(
        "a rule that lets nobody new in", (web(), APP, login(rules(OFFICE))), (web(), APP, login(rules(OFFICE, GUESTS)))
    ),
    Made(
        "another login",
        (web(), APP, login()),
        (web(), APP, login(BASIC)),
        (("changed", "shop.example.com, every request"),),
    ),
    # reroutes
    Made(
        "another backend",
        (web(), APP, NEW),
        (web(rule("/", "new")), APP, NEW),
        (("rerouted", "shop.example.com, every request"),),
    ),
    Made(
        "a part goes elsewhere",
        (web(), APP, NEW),
        (web(rule("/"), rule("/new", "new")), APP, NEW),
        (("rerouted", "shop.example.com /new/**"),),
    ),
    Made(
        "an older route of the same match",
        (web(created="2026-02-01T00:00:00Z"), APP, NEW),
        (
            web(created="2026-02-01T00:00:00Z"),
            web(rule("/", "new"), name="old", created="2026-01-01T00:00:00Z"),
            APP,
            NEW,
        ),
        (("rerouted", "shop.example.com, every request"),),
    ),
    # what filters do
    *(
        Made(name, (web(was), APP, NEW), (web(now), APP, NEW), (("changed", "shop.example.com, every request"),))
        for name, was, now in (
            ("a copy for another Service", rule("/"), filtering(MIRROR)),
            ("a header of clients is kept", filtering(header("remove: [x-user]")), rule("/")),
            ("a header says who", rule("/"), filtering(header("set: [{name: x-user, value: admin}]"))),
            ("another path", rule("/"), filtering(REWRITE)),
            ("more time", rule("/", more="timeouts: {request: 5s}, "), rule("/", more="timeouts: {request: 60s}, ")),
        )
    ),
    Made(
        "a header for one backend",
        (web(rule("/")), APP),
        (web(rule("/").replace("port: 80", f"port: 80, filters: [{header('remove: [x-user]')}]")), APP),
        (("changed", "shop.example.com, every request"),),
    ),
    # refactors
    Made(
        "headers in an order that does not count",
        (web(filtering(header("remove: [a, b]"))), APP),
        (web(filtering(header("remove: [b, a]"))), APP),
    ),
    Made("a rule has a name", (web(rule("/")), APP), (web(rule("/", more="name: all, ")), APP)),
    Made("two routes instead of one", (web(ADMIN, REST), APP), (web(ADMIN), web(REST, name="web-rest"), APP)),
    Made("rules in another order", (web(ADMIN, REST), APP), (web(REST, ADMIN), APP)),
    Made("a default is written out", (web(), APP), (web(rule("/").replace("port: 80", "port: 80, weight: 1")), APP)),
    Made("a rule that never wins goes", (web(rule("/"), rule("/")), APP), (web(rule("/")), APP)),
    Made(
        "a policy for two targets instead of two policies",
        (web(ADMIN, REST), APP, login(target=OF_ADMIN), login(name="rest", target=OF_ADMIN.replace("admin", "rest"))),
        (web(ADMIN, REST), APP, login()),
    ),
    Made("a route has another name", (web(rule("/shop")), APP), (web(rule("/shop"), name="front"), APP)),
    Made("another label", (web(), APP), (web().replace("name: web, ", "name: web, labels: {a: b}, "), APP)),
)


def worlds(tmp_path: Path, made: Made) -> Sides:
    tmp_path.mkdir(exist_ok=True)
    around = [() if any("kind: Gateway\n" in text for text in side) else (EDGE,) for side in (made.before, made.after)]
    return sides(tmp_path, (CLASS, *around[0], *made.before), (CLASS, *around[1], *made.after))


def requests(pair: Sides) -> RequestChanges:
    (found,) = compare([pair])
    assert found.requests is not None
    return found.requests


def said(found: RequestChanges) -> tuple[tuple[str, str], ...]:
    return tuple((change.change, sets_in_words(change)) for change in found.changes)


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_a_made_change(tmp_path: Path, made: Made) -> None:
    found = requests(worlds(tmp_path, made))
    assert said(found) == made.says
    assert found.unknown == ()
    assert found.same == (not made.says)


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_the_example_is_answered_as_it_is_said(tmp_path: Path, made: Made) -> None:
    pair = requests_at_home(worlds(tmp_path, made))
    for change in requests(pair).changes:
        (example,) = _as_on_the_command_line(change.example)
        traces = [Tracer(side).trace(example) for side in (pair.before, pair.after)]
        before, after = map(_asked_or_ended, traces)
        assert before != after
        served = [bool(trace.outcome.backends) for trace in traces]
        if not change.purpose:
            assert served == {"opened": [False, True], "closed": [True, False]}.get(change.change, served)


def _as_on_the_command_line(example: Request) -> list[Request]:
    """The request that `trace` makes of the command which diff shows."""
    words = iter(arguments(example))
    method, url = next(words), next(words)
    options: dict[str, list[str]] = {"-H": [], "--from": [], "--claim": [], "--gateway": []}
    for option in words:
        options[option].append(next(words))
    (gateway,), client = options["--gateway"], "".join(options["--from"])
    return [from_url(method, url, options["-H"], gateway=gateway, client=client, claims=options["--claim"])]


def _asked_or_ended(trace: Trace) -> object:
    specs = sorted(str(met.group.effective.spec) for met in trace.policies)
    return trace.outcome.backends, trace.outcome.status, specs, trace.steps, trace.mirrors


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_going_back_is_the_mirror(tmp_path: Path, made: Made) -> None:
    there = requests(worlds(tmp_path / "there", made))
    back = requests(worlds(tmp_path / "back", made._replace(before=made.after, after=made.before)))
    assert sorted((MIRRORED[change.change], sets) for change, sets in _with_sets(there)) == sorted(
        (change.change, sets) for change, sets in _with_sets(back)
    )
    assert there.same == back.same


def _with_sets(found: RequestChanges) -> list[tuple[RequestChange, str]]:
    return [(change, sets) for change, (_, sets) in zip(found.changes, said(found), strict=True)]


def test_a_world_and_itself(tmp_path: Path) -> None:
    found = requests(worlds(tmp_path, MADE[0]._replace(before=MADE[0].after)))
    assert (found.changes, found.hosts, found.same) == ((), 0, True)


def test_who_did_it(tmp_path: Path) -> None:
    (change,) = requests(worlds(tmp_path, next(made for made in MADE if "CORS" in made.name))).changes
    assert [str(who.policy) for who in change.by] == ["SecurityPolicy shop/cors"]
    assert (change.before, change.after) == ("jwt by infra/login", "none")
    assert change.settings == ("jwt",)


def test_many_hosts_for_one_reason_are_said_once(tmp_path: Path) -> None:
    routes = tuple(web(name=f"web-{number}", hosts=f"a{number}.example.com") for number in range(5))
    on_edge = login(target=ON_EDGE, namespace="infra")
    (change,) = requests(worlds(tmp_path, Made("", (*routes, APP, on_edge), (*routes, APP)))).changes
    assert (change.change, len(change.hosts), len(change.requests)) == ("opened", 5, 1)


def test_a_host_of_its_own_is_taken_from_a_wildcard(tmp_path: Path) -> None:
    wide = web(name="wide", hosts="*.example.com")
    found = requests(worlds(tmp_path, Made("", (wide, APP, NEW), (wide, web(rule("/", "new")), APP, NEW))))
    assert said(found) == (("rerouted", "shop.example.com, every request"),)


def test_untouched_hosts_are_not_looked_at(tmp_path: Path) -> None:
    others = tuple(web(name=f"web-{number}", hosts=f"a{number}.example.com") for number in range(5))
    found = requests(worlds(tmp_path, Made("", (*others, APP), (*others, web(rule("/x")), APP))))
    assert found.hosts == 1


UNSEEN = "[{name: elsewhere, namespace: infra}]"


def test_at_a_gateway_that_was_not_seen_nothing_is_as_before(tmp_path: Path) -> None:
    before, after = web(rule("/"), parents=UNSEEN), web(rule("/", more="name: all, "), parents=UNSEEN)
    found = requests(sides(tmp_path, (before, APP), (after, APP)))
    assert (found.changes, found.same) == ((), False)


@pytest.mark.parametrize(("comes", "change"), [(True, "opened"), (False, "closed")])
def test_a_set_of_listeners_comes_or_goes_for_its_routes(tmp_path: Path, comes: bool, change: str) -> None:
    """The side without it lacks it: that it was not seen there tells nothing of what another repository has."""
    open_edge = gateway("edge", "infra", of_class="eg", more="allowedListeners: {namespaces: {from: All}}")
    entry = "[{name: b, port: 8080, protocol: HTTP, hostname: b.example.com}]"
    world = (open_edge, web(hosts="b.example.com", parents="[{kind: ListenerSet, name: more}]"), APP)
    with_it = (*world, listener_set("more", "shop", entry))
    first, second = (world, with_it) if comes else (with_it, world)
    found = requests(sides(tmp_path, (CLASS, *first), (CLASS, *second)))
    assert said(found) == ((change, "b.example.com, every request"),)
    assert not found.unknown


def test_a_policy_of_a_gateway_that_was_not_seen_may_ask(tmp_path: Path) -> None:
    """What is lost counts as far as was seen, and says what was not."""
    only = web(parents=UNSEEN)
    (change,) = requests(sides(tmp_path, (only, APP, login()), (only, APP))).changes
    assert (change.change, change.severity) == ("opened", "error")
    assert change.ground == "Gateway infra/elsewhere was not seen"
    assert change.after == "none that was seen (Gateway infra/elsewhere was not seen)"


def test_a_rule_of_which_no_sample_shows_requests_is_not_proved_the_same(tmp_path: Path) -> None:
    wide = rule("'/(a|b)[a-z-]{0,90}'", more="name: a, ", kind="RegularExpression")
    world = (web(wide, rule("'/[ab].*'", more="name: b, ", kind="RegularExpression")), APP)
    of_second = login(target="kind: HTTPRoute, name: web, sectionName: b")
    found = requests(worlds(tmp_path, Made("", (*world, of_second), world)))
    assert (found.changes, found.same) == ((), False)
    assert "policylint cannot tell these requests apart" in found.unknown[0][0]


def test_expressions_that_are_not_told_apart_are_said(tmp_path: Path) -> None:
    before = web(rule("'/a.*b'", kind="RegularExpression"))
    after = web(rule("'/a.*b'", kind="RegularExpression"), rule("'/.*c.*b'", kind="RegularExpression"))
    found = requests(worlds(tmp_path, Made("", (before, APP), (after, APP))))
    assert not found.same
    assert found.unknown


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            filtering(header("remove: [x-user]"), MIRROR),
            rule("/"),
            ("remove header x-user, mirror to shop/new", "nothing"),
        ),
        (
            filtering("{type: CORS, cors: {allowOrigins: ['https://a.example.com']}}"),
            filtering("{type: CORS, cors: {allowOrigins: ['*'], allowCredentials: true}}"),
            ("CORS for https://a.example.com", "CORS for * with credentials"),
        ),
    ],
)
def test_what_filters_do_otherwise(tmp_path: Path, before: str, after: str, expected: tuple[str, str]) -> None:
    found = requests(worlds(tmp_path, Made("", (web(before), APP, NEW), (web(after), APP, NEW))))
    (change,) = found.changes
    assert (change.change, change.settings, (change.before, change.after)) == ("changed", ("filters",), expected)
    assert difference_in_words(change) == f"filters: {' -> '.join(expected)}"
    assert not found.same


def test_an_extension_that_is_no_login_is_what_a_filter_does(tmp_path: Path) -> None:
    named = "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: f}}"
    body = "spec: {urlRewrite: {hostname: {type: Header, header: %s}}}"
    old, new = (
        manifest("gateway.envoyproxy.io/v1alpha1", "HTTPRouteFilter", "f", "shop", body % name) for name in "ab"
    )
    world = (web(filtering(named)), APP)
    (added,) = requests(worlds(tmp_path, Made("", (web(), APP, old), (*world, old)))).changes
    assert difference_in_words(added) == "filters: nothing -> HTTPRouteFilter shop/f"
    (edited,) = requests(worlds(tmp_path, Made("", (*world, old), (*world, new)))).changes
    assert difference_in_words(edited) == "filters of HTTPRouteFilter shop/f with other values"
    assert [str(who.policy) for who in edited.by] == ["HTTPRouteFilter shop/f"]


NOT_RENDERED = manifest(
    "helm.toolkit.fluxcd.io/v2",
    "HelmRelease",
    "more",
    "shop",
    "spec: {chart: {spec: {chart: more, sourceRef: {kind: HelmRepository, name: charts}}}}",
)
TRAEFIK_ROUTE = manifest(
    "traefik.io/v1alpha1",
    "IngressRoute",
    "web",
    "shop",
    "spec: {entryPoints: [websecure], routes: [{match: Host(`shop.example.com`), kind: Rule, "
    "middlewares: [{name: strip}], services: [{name: app, port: 80}]}]}",
)
TRAEFIK_INGRESS = manifest(
    "networking.k8s.io/v1",
    "Ingress",
    "web",
    "shop",
    "spec: {ingressClassName: traefik, rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, "
    "backend: {service: {name: app, port: {number: 80}}}}]}}]}",
).replace(
    "name: web,",
    "annotations: {traefik.ingress.kubernetes.io/router.middlewares: shop-strip@kubernetescrd}, name: web,",
)
STRIP = manifest("traefik.io/v1alpha1", "Middleware", "strip", "shop", "spec: {stripPrefix: {prefixes: [/a]}}")
HOST_FILTER = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "HTTPRouteFilter",
    "strip",
    "shop",
    "spec: {urlRewrite: {hostname: {type: Header, header: x}}}",
)
THROUGH = web(
    filtering(
        "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: strip}}",
    )
)


@pytest.mark.parametrize(("around", "gone"), [(TRAEFIK_ROUTE, STRIP), (TRAEFIK_INGRESS, STRIP), (THROUGH, HOST_FILTER)])
def test_what_stood_in_the_tree_is_missing_once_it_is_gone_whatever_charts_may_make(
    tmp_path: Path, around: str, gone: str
) -> None:
    made = Made("a filter goes", (around, APP, NOT_RENDERED, gone), (around, APP, NOT_RENDERED))
    assert said(requests(worlds(tmp_path / "there", made))) == (("closed", "shop.example.com, every request"),)
    back = made._replace(before=made.after, after=made.before)
    assert [change.change for change in requests(worlds(tmp_path / "back", back)).changes] == ["opened"]


KONG_INGRESS = manifest(
    "networking.k8s.io/v1",
    "Ingress",
    "web",
    "shop",
    "spec: {ingressClassName: kong, rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, "
    "backend: {service: {name: app, port: {number: 80}}}}]}}]}",
).replace("name: web,", "annotations: {konghq.com/plugins: strip}, name: web,")
KONG_LOGIN = manifest("configuration.konghq.com/v1", "KongPlugin", "strip", "shop", "plugin: key-auth")


@pytest.mark.parametrize("called", [("namespace: shop", "namespace: other"), ("name: strip", "name: peel")])
@pytest.mark.parametrize(
    ("around", "named", "says"),
    [
        (TRAEFIK_ROUTE, STRIP, "closed"),
        (TRAEFIK_INGRESS, STRIP, "closed"),
        (THROUGH, HOST_FILTER, "closed"),
        (KONG_INGRESS, KONG_LOGIN, "opened"),  # Kong runs its other plugins without it
    ],
)
def test_what_is_called_otherwise_is_as_good_as_gone_for_what_calls_it_as_before(
    tmp_path: Path, around: str, named: str, says: str, called: tuple[str, str]
) -> None:
    after = named.replace(*called)
    made = Made("a filter moves", (around, APP, NOT_RENDERED, named), (around, APP, NOT_RENDERED, after))
    assert says in [change.change for change in requests(worlds(tmp_path, made)).changes]


CUT_OFF = manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", "spec: {podSelector: {}, ingress: []}")
PEERS = {
    ("networking.k8s.io/v1", "NetworkPolicy"): "podSelector: {}, ingress: [{}]",
    ("cilium.io/v2", "CiliumNetworkPolicy"): "endpointSelector: {}, ingress: [{fromEntities: [all]}]",
    ("projectcalico.org/v3", "NetworkPolicy"): "selector: all(), types: [Ingress], ingress: [{action: Allow}]",
}


@pytest.mark.parametrize("namespace", ["'${NAMESPACE}'", "'{{ .Release.Namespace }}'"])
@pytest.mark.parametrize("kind", PEERS, ids=lambda kind: " ".join(kind))
@pytest.mark.parametrize("comes", [True, False], ids=["comes", "goes"])
def test_a_network_policy_of_which_no_namespace_is_known(
    tmp_path: Path, kind: tuple[str, str], namespace: str, *, comes: bool
) -> None:
    """It may be in the namespace of the pods, and let in what another one keeps out."""
    here = CLASS, EDGE, web(), service("app", more="selector: {app: app}"), deployment("app", "shop"), CUT_OFF
    with_it = (*here, manifest(*kind, "more", namespace, f"spec: {{{PEERS[kind]}}}"))
    found = requests(sides(tmp_path, *((here, with_it) if comes else (with_it, here))))
    assert [hosts for why, hosts in found.unknown if "more" in why] == [1]


NGINX_CLASS = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}")
ASKING = manifest(
    "networking.k8s.io/v1", "Ingress", "web", "shop",
    "spec: {ingressClassName: nginx, tls: [{hosts: [shop.example.com], secretName: c}], rules: [{host: shop.example.com, "
    "http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: app, port: {number: 80}}}}]}}]}",
    more="annotations: {nginx.ingress.kubernetes.io/auth-tls-secret: shop/held}",
)  # fmt: skip
UPSTREAM = "upstreams: [{name: app, service: app, port: 80}]"
SERVER = manifest(
    "k8s.nginx.org/v1", "VirtualServer", "web", "shop",
    f"spec: {{host: shop.example.com, policies: [{{name: login}}], {UPSTREAM}, routes: [{{path: /, action: {{pass: app}}}}]}}",
)  # fmt: skip
USERS = manifest("k8s.nginx.org/v1", "Policy", "login", "shop", "spec: {basicAuth: {secret: held}}")
ROUTER = manifest(
    "traefik.io/v1alpha1", "IngressRoute", "web", "shop",
    "spec: {entryPoints: [web], routes: [{match: 'Host(`shop.example.com`)', kind: Rule, middlewares: [{name: m}], "
    "services: [{name: app, port: 80}]}]}",
)  # fmt: skip
MIDDLEWARE = manifest("traefik.io/v1alpha1", "Middleware", "m", "shop", "spec: {basicAuth: {secret: held}}")
PROXY = manifest(
    "projectcontour.io/v1", "HTTPProxy", "web", "shop",
    "spec: {virtualhost: {fqdn: shop.example.com, tls: {secretName: held}}, routes: [{services: [{name: app, port: 80}]}]}",
)  # fmt: skip


def held(body: str) -> str:
    return manifest("v1", "Secret", "held", "shop", body)


@pytest.mark.parametrize(
    ("door", "before", "after", "change"),
    [
        ((NGINX_CLASS, ASKING), "stringData: {ca.crt: a, tls.crt: b, tls.key: c}", "stringData: {tls.crt: b, tls.key: c}", "opened"),
        ((NGINX_CLASS, ASKING), "stringData: {ca.crt: a}", "stringData: {ca.crl: a}", "closed"),
        ((SERVER, USERS), "type: nginx.org/htpasswd\nstringData: {a: b}", "type: Opaque\nstringData: {a: b}", "closed"),
        ((ROUTER, MIDDLEWARE), "stringData: {a: b}", "stringData: {a: b, c: d}", "closed"),
        ((PROXY,), "stringData: {tls.crt: b, tls.key: c}", "stringData: {tls.crt: b}", "closed"),
    ],
)  # fmt: skip
def test_what_a_secret_of_a_door_holds(
    door: tuple[str, ...], before: str, after: str, change: str, tmp_path: Path
) -> None:
    """Whether requests are asked, and served, hangs on it, though no object that has a host changes."""
    found = requests(sides(tmp_path, (APP, *door, held(before)), (APP, *door, held(after))))
    assert change in {each.change for each in found.changes}


@pytest.mark.parametrize("narrowed", ["", "spec: {delegations: [{secretName: wild, targetNamespaces: [other]}]}"])
def test_a_delegation_that_goes_closes_the_host(narrowed: str, tmp_path: Path) -> None:
    """The HTTPProxy does not change, and is invalid without it."""
    spec = "spec: {virtualhost: {fqdn: shop.example.com, tls: {secretName: infra/wild}}, "
    proxy = manifest(
        "projectcontour.io/v1", "HTTPProxy", "web", "shop", f"{spec}routes: [{{services: [{{name: app, port: 80}}]}}]}}"
    )
    wild = manifest("v1", "Secret", "wild", "infra", "stringData: {tls.crt: b, tls.key: c}")

    def delegation(body: str) -> str:
        return manifest("projectcontour.io/v1", "TLSCertificateDelegation", "d", "infra", body)

    for_all = "spec: {delegations: [{secretName: wild, targetNamespaces: ['*']}]}"
    other = [delegation(narrowed)] if narrowed else []
    found = requests(sides(tmp_path, (APP, proxy, wild, delegation(for_all)), (APP, proxy, wild, *other)))
    assert ("closed", "shop.example.com, every request") in said(found)


LISTED = "{action: Allow, principal: {clientCIDRs: [CIDRS]}}"
LISTS = {
    "fewer addresses": ("Deny", "10.0.0.0/8, 198.51.100.0/24", "Deny", "10.0.0.0/8"),
    "closed by default": ("Allow", "10.0.0.0/8", "Deny", "10.0.0.0/8"),
}


@pytest.mark.parametrize("case", LISTS)
@pytest.mark.parametrize(
    "rule_of_mesh",
    [
        "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]",
        "rules: [{to: [{operation: {notPaths: [/admin]}}]}]",
    ],
    ids=["denied", "not let in"],
)
def test_what_a_gateway_turns_away_earlier_is_turned_away_still(tmp_path: Path, case: str, rule_of_mesh: str) -> None:
    """The proxies of the pods are not asked about what a Gateway refuses: their policies stand."""

    def world(default: str, networks: str) -> tuple[str, ...]:
        lists = f"authorization: {{defaultAction: {default}, rules: [{LISTED.replace('CIDRS', networks)}]}}"
        return (
            *(CLASS, EDGE, web(), service("app", more="selector: {app: app}"), deployment("app", "shop")),
            labelled("shop", "{istio-injection: enabled}"),
            manifest("security.istio.io/v1", "AuthorizationPolicy", "own", "shop", f"spec: {{{rule_of_mesh}}}"),
            login(lists),
        )

    before, after = world(*LISTS[case][:2]), world(*LISTS[case][2:])
    for name, pair, said_of_it in (("closes", (before, after), "closed"), ("opens", (after, before), "opened")):
        (tmp_path / name).mkdir()
        assert {change.change for change in requests(sides(tmp_path / name, *pair)).changes} == {said_of_it}
