"""A Gateway that stands in another repository: its listeners are told apart as far as the routes that name it show."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.reach import doors, entries, ways_in
from policylint.report.reach import Question, find
from policylint.trace import Request, Tracer
from tests.compare.repositories import diff
from tests.reach.test_agreement import disagreements
from tests.worlds import GATEWAY_API, gateway, gateway_class, route, service, simulated

HOST = "shop.example.com"
BACKEND = "{name: one, port: 80}"
REDIRECT = "filters: [{{type: RequestRedirect, requestRedirect: {{{0}}}}}]"
TO_HTTPS = REDIRECT.format("scheme: https, statusCode: 301")


def at(section: str = "", port: int | None = None) -> str:
    fields = [f"sectionName: {section}"] if section else []
    fields += [f"port: {port}"] if port else []
    return f"[{{{', '.join(['name: edge', 'namespace: infra', *fields])}}}]"


def rules(rule: str) -> str:
    return f"hostnames: [{HOST}], rules: [{{{rule}}}]"


def serving(parents: str, name: str = "shop", backend: str = "shop") -> str:
    """Return a route that serves the host at some listener."""
    return route(name, parents=parents, more=rules(f"backendRefs: [{{name: {backend}, port: 80}}]"))


def redirecting(parents: str, rule: str = TO_HTTPS) -> str:
    """Return a route that comes first by its name."""
    return route("a-redirect", parents=parents, more=rules(rule))


def end(*manifests: str, scheme: str, port: int | None = None) -> str:
    """Return where a request ends."""
    trace = Tracer(simulated(*manifests)).trace(Request(scheme=scheme, host=HOST, port=port))
    outcome = trace.outcome
    if outcome.unknown:
        return outcome.reason
    return "redirect" if outcome.redirect is not None else ", ".join(share.key.name for share in outcome.shares)


@pytest.mark.parametrize("parents", [at(), at("https"), at("websecure")])
def test_what_goes_on_to_https_does_not_stand_where_it_leads(parents: str) -> None:
    world = redirecting(at("web")), serving(parents), service("shop")
    assert (end(*world, scheme="http"), end(*world, scheme="https")) == ("redirect", "shop")
    assert {(scheme, port) for _, scheme, port in doors(Tracer(simulated(*world)))} == {("http", None), ("https", None)}


@pytest.mark.parametrize(
    ("parents", "rule"),
    [
        (at(), TO_HTTPS),  # at all listeners, so it says nothing of any
        (at("web"), REDIRECT.format("scheme: https, hostname: www.example.com")),  # may well stand at HTTPS
        (at("web"), REDIRECT.format("path: {type: ReplaceFullPath, replaceFullPath: /new}")),
    ],
)
def test_other_redirects_show_no_listener(parents: str, rule: str) -> None:
    world = redirecting(parents, rule), serving(at("web")), service("shop")
    assert {(scheme, port) for _, scheme, port in doors(Tracer(simulated(*world)))} == {("http", None)}
    assert end(*world, scheme="https") == "redirect"


def test_of_two_listeners_nothing_tells_which_one_takes_a_request() -> None:
    world = serving(at("one"), "one", "one"), serving(at("two"), "two", "two"), service("one"), service("two")
    assert "was not seen: one listener leads to HTTPRoute shop/one" in end(*world, scheme="https")


def test_what_is_not_known_of_one_request_is_not_known_of_all_like_it() -> None:
    world = serving(at("one"), "one", "one"), serving(at("two"), "two", "two"), service("one"), service("two")
    (way,) = ways_in(Tracer(simulated(*world)), next(entries(Tracer(simulated(*world)))))
    assert way.trace.outcome.unknown


@pytest.mark.parametrize(
    "rival",
    [
        "headers: [{name: x-team, value: a}]",
        "method: GET",
        "queryParams: [{name: page, value: '1'}]",
        "path: {type: RegularExpression, value: '/a+'}",
        "path: {type: PathPrefix, value: /a/b}, headers: [{name: x-team, value: a}]",
    ],
)
@pytest.mark.parametrize("first", ["path: {type: PathPrefix, value: /a}", "path: {type: Exact, value: /a/b}"])
def test_where_another_listener_takes_a_part_of_a_rule_the_rest_is_certain(rival: str, first: str) -> None:
    """Whether another rule would take a request hangs on the request, as what policies ask does."""
    world = simulated(
        route("one", parents=at("one"), more=rules(f"matches: [{{{first}}}], backendRefs: [{{name: one, port: 80}}]")),
        route("two", parents=at("two"), more=rules(f"matches: [{{{rival}}}], backendRefs: [{{name: two, port: 80}}]")),
        *(service("one"), service("two")),
    )
    tried, wrong = disagreements(world, 200, mixed=True)
    assert (tried > 0, wrong) == (True, [])


def test_calls_of_one_listener_are_told_apart_as_requests_are() -> None:
    calls = "rules: [{{matches: [{{{0}}}], backendRefs: [{{name: {1}, port: 80}}]}}]"
    world = simulated(
        *(
            route(name, parents=at(name), kind="GRPCRoute", more=f"hostnames: [{HOST}], {calls.format(match, name)}")
            for name, match in (
                ("one", "method: {service: pkg.Cart}"),
                ("two", "headers: [{name: x-team, value: a}]"),
            )
        ),
        *(service("one"), service("two")),
    )
    entry = next(entries(Tracer(world)))
    ends = {way.trace.outcome.unknown for way in ways_in(Tracer(world), entry) if way.trace.request.grpc}
    assert ends == {True, False}
    assert disagreements(world, 200, mixed=True)[1] == []


def hosts(kind: str) -> str:
    return "" if kind in ("TCPRoute", "UDPRoute") else f"hostnames: [{HOST}], "


@pytest.mark.parametrize(
    ("routes", "ways"),
    [
        ((serving(at("one"), "one", "one"), serving(at("two"), "two", "two")), 1),
        *(
            ((route("one", parents=at(), kind=kind, more=f"{hosts(kind)}rules: [{{backendRefs: [{BACKEND}]}}]"),), 1)
            for kind in ("TCPRoute", "UDPRoute", "TLSRoute")
        ),
        ((serving(at("two"), "two", "two"),), 0),
    ],
    ids=["two listeners", "TCPRoute", "UDPRoute", "TLSRoute", "another backend"],
)
def test_what_may_lead_to_a_backend_is_a_way_to_it(routes: tuple[str, ...], ways: int) -> None:
    world = simulated(*routes, service("one"), service("two"))
    for meant in ("Service", "HTTPRoute") if len(routes) > 1 else ("Service",):
        group = "" if meant == "Service" else GATEWAY_API
        rows = find([world], Question(objects={ResourceKey(group, meant, "shop", "one")})).rows
        assert len(rows) == ways
        assert all(row.way.trace.outcome.unknown for row in rows)


def streaming(kind: str, backend: str, port: int | None) -> str:
    return route(
        "one", parents=at(port=port), kind=kind, more=f"{hosts(kind)}rules: [{{backendRefs: [{{{backend}}}]}}]"
    )


@pytest.mark.parametrize("port", [None, 5432])
@pytest.mark.parametrize("kind", ["TCPRoute", "UDPRoute", "TLSRoute"])
def test_connections_that_are_led_elsewhere_are_not_as_before(tmp_path: Path, kind: str, port: int | None) -> None:
    before, after = (streaming(kind, f"name: {name}, port: 80", port) for name in ("one", "two"))
    files = {"route.yaml": before, "services.yaml": "---".join((service("one"), service("two")))}
    assert "! not known for 1 host: Gateway infra/edge was not seen" in diff(tmp_path, files, {"route.yaml": after})


@pytest.mark.parametrize(
    ("change", "is_told"),
    [
        ({"one.yaml": serving(at("one"), "one", "two")}, True),
        ({"services.yaml": "---".join((service("one", more="selector: {app: x}"), service("two")))}, True),
        ({"other.yaml": serving(at("one"), "other", "two").replace(HOST, "www.example.com")}, False),
    ],
    ids=["a route", "a backend", "another host"],
)
def test_what_one_of_two_listeners_leads_to_is_not_as_before(
    tmp_path: Path, change: dict[str, str], is_told: bool
) -> None:
    files = {"one.yaml": serving(at("one"), "one", "one"), "two.yaml": serving(at("two"), "two", "two")}
    files["services.yaml"] = "---".join((service("one"), service("two")))
    files["other.yaml"] = serving(at("one"), "other", "one").replace(HOST, "www.example.com")
    said = diff(tmp_path, files, change)
    assert ("not known for 1 host: Gateway infra/edge was not seen: one listener" in said) == is_told, said


def test_one_route_at_all_listeners_is_certain_of_what_comes_first() -> None:
    world = serving(at(), "one", "one"), serving(at("two"), "two", "two"), service("one"), service("two")
    assert end(*world, scheme="https") == "one"


def test_requests_come_in_at_ports_that_routes_name() -> None:
    world = simulated(serving(at(port=443)), service("shop"))
    entry = list(entries(Tracer(world)))[-1]
    assert (entry.scheme, entry.port, entry.host) == ("https", 443, HOST)
    assert end(serving(at(port=443)), service("shop"), scheme="https", port=443) == "shop"


@pytest.mark.parametrize("parents", [at(), at("https"), at("https", 443), at(port=443)])
def test_what_changes_behind_a_redirect_is_told(tmp_path: Path, parents: str) -> None:
    files = {
        "redirect.yaml": redirecting(at("http", 80) if "port" in parents else at("http")),
        "shop.yaml": serving(parents),
        "service.yaml": "---".join((service("shop"), service("admin"))),
    }
    said = diff(tmp_path, files, {"shop.yaml": serving(parents, backend="admin")})
    assert "~ other backend: shop.example.com" in said
    assert "as before" not in said


def test_a_gateway_that_comes_into_sight_has_its_own_ports(tmp_path: Path) -> None:
    listeners = (
        "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},"
        " {name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]},"
        " allowedRoutes: {namespaces: {from: All}}}]"
    )
    files = {
        "redirect.yaml": redirecting(at("http")),
        "shop.yaml": serving(at("https")),
        "service.yaml": service("shop"),
    }
    said = diff(tmp_path, files, {"gateway.yaml": "---".join((gateway_class(), gateway(listeners=listeners)))})
    assert "closed" not in said


def test_a_backend_that_goes_and_may_be_made_elsewhere_is_not_known(tmp_path: Path) -> None:
    namespace = "'${NAMESPACE}'"
    shop = route("shop", namespace, more=rules("backendRefs: [{name: shop, port: 80}]"))
    files = {"shop.yaml": shop, "service.yaml": service("shop", namespace)}
    said = diff(tmp_path, files, {"service.yaml": "# gone\n"})
    assert "not known for 1 host: the change removes Service ${NAMESPACE}/shop" in said
    assert "as before" not in said
