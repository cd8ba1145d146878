"""Hosts that policies tell apart where no listener and no route names them."""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides
from policylint.reach import all_ways, end_in_words, entries, ways_inside
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests import worlds
from tests.trace.test_admissions import INJECTED, deployment, rule, service
from tests.worlds import manifest

WIDE = "{name: web, port: 80, protocol: HTTP}"
BELOW = "{name: org, port: 8080, protocol: HTTP, hostname: '*.example.org'}"
DENIES = "action: DENY, rules: [{}]"


def policy(spec: str, name: str = "hosts") -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", name, "infra", f"spec: {{{target}, {spec}}}")


def of_hosts(*hosts: str, action: str = "ALLOW") -> str:
    named = ", ".join(f"'{host}'" for host in hosts)
    return policy(f"action: {action}, rules: [{{to: [{{operation: {{hosts: [{named}]}}}}]}}]")


def simulated(*more: str, listeners: str = WIDE) -> Simulation:
    spec = "spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: cart, port: 80}]}]}"
    return worlds.simulated(
        worlds.gateway_class("istio", "istio.io/gateway-controller"),
        manifest(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            "edge",
            "infra",
            f"spec: {{gatewayClassName: istio, listeners: [{listeners}]}}",
        ),
        worlds.service("cart", namespace="infra"),
        manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "all", "infra", spec),
        *more,
    )


def ends(simulation: Simulation) -> dict[str, str]:
    """Return where requests end, by the hosts of their entry and what they are in words."""
    return {
        f"{way.entry.hosts} {way.requests}": end_in_words(way.trace).partition(":")[0] for way in all_ways(simulation)
    }


@pytest.mark.parametrize(
    ("policies", "found"),
    [
        (
            (of_hosts("shop.example.com"),),
            {"* host: shop.example.com": "infra/cart", "* host: not shop.example.com": "403"},
        ),
        (
            (of_hosts("shop.example.com", action="DENY"),),
            {"* host: shop.example.com": "403", "* host: not shop.example.com": "infra/cart"},
        ),
        (
            (of_hosts("shop.example.com", "*.example.org"),),
            {"* host: shop.example.com or ~.*\\.example\\.org": "infra/cart", "* host: others": "403"},
        ),
        (
            (of_hosts("shop.*"),),
            {"* host: ~shop\\..*": "infra/cart", "* host: not ~shop\\..*": "403"},
        ),
        # what denies everything leaves nothing to tell apart
        ((of_hosts("shop.example.com"), policy(DENIES, "all")), {"* every request": "403"}),
    ],
)
def test_hosts_are_told_apart_at_a_listener_for_all(policies: tuple[str, ...], found: dict[str, str]) -> None:
    assert ends(simulated(*policies)) == found


def test_hosts_of_other_entries_are_none_of_an_entry() -> None:
    hosts = of_hosts("shop.example.com", "pay.example.org", "*.api.example.org")
    pay = "{name: pay, port: 8080, protocol: HTTP, hostname: pay.example.org}"
    simulation = simulated(hosts, listeners=f"{BELOW}, {pay}")
    assert ends(simulation) == {
        "*.example.org host: ~.*\\.api\\.example\\.org": "infra/cart",
        "*.example.org host: not ~.*\\.api\\.example\\.org": "403",
        "pay.example.org every request": "infra/cart",
    }


def test_parts_of_hosts_below_a_wildcard_are_not_known() -> None:
    assert ends(simulated(of_hosts("api.*"), listeners=BELOW)) == {"*.example.org every request": "not known"}


@pytest.mark.parametrize("host", ["shop.example.com", "x.example.org", "example.org", "other.test"])
def test_each_host_is_answered_as_trace_answers_it(host: str) -> None:
    simulation = simulated(of_hosts("shop.example.com", "*.example.org"))
    tracer = Tracer(simulation)
    (entry,) = entries(tracer)
    assert entry.is_wide
    assert entry.is_for(host)
    known = [way for way in all_ways(simulation) if way.trace.request.host == host]
    answered = tracer.trace(from_url("GET", f"http://{host}/"))
    assert all(way.trace.outcome.backends == answered.outcome.backends for way in known)
    assert bool(answered.outcome.backends) == (host in ("shop.example.com", "x.example.org"))


@pytest.mark.parametrize("action", ["ALLOW", "DENY"])
def test_the_deletion_of_what_denies_everything_opens_hosts(action: str) -> None:
    hosts, all_denied = of_hosts("shop.example.com", action=action), policy(DENIES, "all")
    (change,) = compare(pair_sides([simulated(hosts, all_denied)], [simulated(hosts)]))
    assert change.requests is not None
    assert change.requests.unknown == ()
    opened = {requests.words for each in change.requests.opens for requests in each.requests}
    assert opened == {"host: shop.example.com" if action == "ALLOW" else "host: not shop.example.com"}


def test_hosts_inside_the_mesh_are_not_known_where_too_many_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = rule("p", "rules: [{to: [{operation: {hosts: [shop.example.com, pay.example.com]}}]}]")
    simulation = worlds.simulated(worlds.labelled("shop", INJECTED), service(), deployment("web", "shop"), asked)
    assert {way.trace.outcome.unknown for way in ways_inside(Tracer(simulation, nearest=False))} == {False}
    monkeypatch.setattr("policylint.reach.ways._MOST_PREDICATES", 1)
    found = list(ways_inside(Tracer(simulation, nearest=False)))
    assert all(way.trace.outcome.unknown for way in found if way.taken)
    assert any(way.taken for way in found)
