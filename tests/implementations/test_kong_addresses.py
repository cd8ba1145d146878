"""Kong's plugins that turn addresses away or answer by themselves: at routes of Gateway API as at Ingresses.

Source: developer.konghq.com/plugins/ip-restriction (deny before allow, 403), request-termination (503 by default);
«Plugin precedence»; Kong/kubernetes-ingress-controller internal/dataplane/kongstate/kongstate.go (where they stand).
"""

from __future__ import annotations

import pytest

from policylint.reach import all_ways
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer, ingress
from tests.worlds import gateway, gateway_class, manifest, route, simulated

HOST = "shop.example.com"
URL = f"http://{HOST}/"
INSIDE, OUTSIDE = "10.1.2.3", "192.0.2.7"
PLUGINS = "konghq.com/plugins: own"
FILTER = (
    "filters: [{type: ExtensionRef, extensionRef: {group: configuration.konghq.com, kind: KongPlugin, name: own}}], "
)
PLACES = ("route", "filter", "service", "everywhere", "ingress", "ingress, of the cluster")
OFFICE = "plugin: ip-restriction\nconfig: {allow: [10.0.0.0/8]}"
DENIED = "plugin: ip-restriction\nconfig: {deny: [192.0.2.0/24]}"
CLOSED = "plugin: request-termination\nconfig: {status_code: 410}"


def plugin(body: str, *, name: str = "own", of_all: bool = False, label: str = "") -> str:
    version, kind = "configuration.konghq.com/v1", "KongClusterPlugin" if of_all else "KongPlugin"
    more = f"annotations: {{kubernetes.io/ingress.class: kong}}{label and f', labels: {{{label}}}'}"
    return manifest(version, kind, name, "" if of_all else "shop", body, more=more)


def world(where: str, body: str, *beside: str, annotation: str = PLUGINS) -> list[str]:
    """A host through Kong, of which one place names a plugin."""
    named = f"annotations: {{{annotation}}}"
    service = manifest("v1", "Service", "web", "shop", "spec: {ports: [{port: 80}]}", more=named * (where == "service"))
    of_all = where == "everywhere" or "cluster" in where
    objects = [
        service,
        *beside,
        *([plugin(body, of_all=of_all, label="global: 'true'" * (where == "everywhere"))] * bool(body)),
    ]
    if "ingress" in where:
        written = ingress(of_class="kong", prefix="konghq.com/", plugins="own")
        of_class = manifest(
            "networking.k8s.io/v1",
            "IngressClass",
            "kong",
            "",
            "spec: {controller: ingress-controllers.konghq.com/kong}",
        )
        return [*objects, of_class, written]
    rule = f"{{{FILTER * (where == 'filter')}backendRefs: [{{name: web, port: 80}}]}}"
    at = annotation if where == "route" else ""
    return [
        *objects,
        gateway_class("any", "konghq.com/kic-gateway-controller"),
        gateway(of_class="any"),
        route("web", more=f"hostnames: [{HOST}], rules: [{rule}]", annotations=at),
    ]


def asked(objects: list[str], client: str, *headers: str) -> str:
    return answer(simulated(*objects), URL, client=client, headers=headers)[0]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    ("body", "inside", "outside"),
    [
        (OFFICE, "web", "403"),
        (DENIED, "web", "403"),
        (CLOSED, "410", "410"),
        (f"{OFFICE}\ndisabled: true", "web", "web"),
        (f"{CLOSED}\ndisabled: true", "web", "web"),
        ("plugin: cors", "web", "web"),
    ],
)
def test_a_plugin_answers_alike_wherever_it_is_named(where: str, body: str, inside: str, outside: str) -> None:
    objects = world(where, body)
    assert (asked(objects, INSIDE), asked(objects, OUTSIDE)) == (inside, outside)


@pytest.mark.parametrize("where", PLACES)
def test_clients_are_told_apart_in_reach(where: str) -> None:
    ways = [way for way in all_ways(simulated(*world(where, OFFICE))) if way.entry.hostname == HOST]
    ended = {way.clients or "all": bool(way.trace.outcome.backends) for way in ways if way.entry.scheme == "http"}
    assert ended == {"from 10.0.0.0/8": True, "all others": False} or sorted(ended.values()) == [False, True]


@pytest.mark.parametrize("where", ["route", "service", "ingress"])
def test_the_one_of_the_route_keeps_a_global_one_from_acting(where: str) -> None:
    of_all = plugin(DENIED, name="all", of_all=True, label="global: 'true'")
    objects = world(where, "plugin: ip-restriction\nconfig: {allow: [192.0.2.0/24]}", of_all)
    assert (asked(objects, INSIDE), asked(objects, OUTSIDE)) == ("403", "web")


@pytest.mark.parametrize("where", ["everywhere", "ingress"])
def test_of_two_global_ones_of_a_sort_none_acts(where: str) -> None:
    twice = [plugin(DENIED, name=name, of_all=True, label="global: 'true'") for name in ("all", "again")]
    objects = world(where, "plugin: cors", *twice)
    assert asked(objects, OUTSIDE) == "web"


@pytest.mark.parametrize("where", ["route", "ingress"])
def test_whose_address_counts(where: str) -> None:
    proxy = manifest(
        "apps/v1",
        "Deployment",
        "kong",
        "kong",
        "spec: {template: {spec: {containers: [{name: proxy, image: kong, env: ["
        "{name: KONG_TRUSTED_IPS, value: 192.0.2.0/24}, {name: KONG_REAL_IP_HEADER, value: X-Forwarded-For}]}]}}}",
    )
    objects = world(where, OFFICE, proxy)
    assert asked(objects, OUTSIDE, f"X-Forwarded-For: {INSIDE}") == "web"
    unseen = Tracer(simulated(*world(where, OFFICE)))
    trace = unseen.trace(from_url("GET", URL, (f"X-Forwarded-For: {INSIDE}",), client=OUTSIDE))
    assert [each.decision.answer for each in trace.depends] == ["depends"]


def test_one_for_some_clients_alone_turns_nobody_else_away() -> None:
    consumer = manifest(
        "configuration.konghq.com/v1", "KongConsumer", "staff", "shop", "username: staff",
        more=f"annotations: {{kubernetes.io/ingress.class: kong, {PLUGINS}}}",
    )  # fmt: skip
    assert asked(world("route", OFFICE, consumer), OUTSIDE) == "web"


def test_the_trace_says_who_turns_a_request_away() -> None:
    trace = Tracer(simulated(*world("route", OFFICE))).trace(from_url("GET", URL, (), client=OUTSIDE))
    assert trace.outcome.reason.startswith("denied by KongPlugin shop/own")
