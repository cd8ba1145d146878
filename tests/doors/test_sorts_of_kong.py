"""Of the plugins of one sort one acts, that of the route before that of the Service (Kong/kong#3395; «Plugin
precedence»), and `strip-path` takes the path of a rule off (internal/dataplane/kongstate/route.go)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer, ingress
from tests.worlds import gateway, gateway_class, manifest, route, simulated

KONG = "configuration.konghq.com/v1"
PREFIX = "konghq.com/"
CONTROLLER = "ingress-controllers.konghq.com/kong"
CLASS = manifest("networking.k8s.io/v1", "IngressClass", "kong", body=f"spec: {{controller: {CONTROLLER}}}")
OFFICE, HOME = "203.0.113.7", "198.51.100.7"


def plugin(name: str, sort: str, config: str = "{}", more: str = "") -> str:
    return manifest(KONG, "KongPlugin", name, "shop", f"plugin: {sort}\nconfig: {config}\n{more}")


def naming(plugins: str) -> str:
    named = f"annotations: {{konghq.com/plugins: '{plugins}'}}" if plugins else ""
    return manifest("v1", "Service", "web", "shop", "spec: {ports: [{port: 80}]}", more=named)


def listed(name: str, address: str, more: str = "") -> str:
    return plugin(name, "ip-restriction", f"{{allow: [{address}/32]}}", more)


def world(of_route: str, of_service: str, *plugins: str) -> Simulation:
    own = ingress(of_class="kong", prefix=PREFIX, **({"plugins": of_route} if of_route else {}))
    return simulated(CLASS, own, naming(of_service), *plugins)


def told(simulation: Simulation) -> list[Finding]:
    return [each for each in run(simulation, select={"GWP526"}) if "does not act on" in each.message]


@pytest.mark.parametrize(
    ("of_route", "of_service", "passing"),
    [
        ("", "office", (OFFICE,)),
        ("home", "office", (HOME,)),  # that of the Service is not asked
        ("home", "", (HOME,)),
        ("off", "office", (OFFICE,)),  # which runs for nobody
        ("login", "office", (OFFICE,)),  # of another sort
    ],
)
def test_of_two_lists_that_of_the_route_is_asked(of_route: str, of_service: str, passing: tuple[str, ...]) -> None:
    off = listed("off", HOME, "disabled: true")
    made = world(of_route, of_service, listed("home", HOME), listed("office", OFFICE), off, plugin("login", "key-auth"))
    for client in (OFFICE, HOME):
        assert (answer(made, "http://shop.example.com/", client)[0] == "web") is (client in passing)
    assert bool(told(made)) is (of_route == "home" and bool(of_service))


def test_a_login_of_the_route_that_lets_anonymous_pass_takes_the_place_of_that_of_the_service() -> None:
    weak = plugin("weak", "key-auth", "{anonymous: guest}")
    made = world("weak", "strict", weak, plugin("strict", "key-auth"))
    assert answer(made, "http://shop.example.com/") == ("web", "key-auth?")
    (found,) = told(made)
    assert found.message.startswith("KongPlugin shop/strict, which Service shop/web names, does not act on")
    assert "KongPlugin shop/weak does in its place" in found.label


def test_what_acts_for_some_clients_leaves_that_of_the_service_be() -> None:
    consumer = manifest(
        KONG, "KongConsumer", "one", "shop", "username: one", more="annotations: {konghq.com/plugins: home}"
    )
    made = world("home", "office", listed("home", HOME), listed("office", OFFICE), consumer)
    assert not told(made)
    assert answer(made, "http://shop.example.com/", HOME)[0] != "web"


def test_one_for_everything_gives_way_to_that_of_the_route() -> None:
    body = f"plugin: ip-restriction\nconfig: {{allow: [{OFFICE}/32]}}"
    its_class = "annotations: {kubernetes.io/ingress.class: kong}"
    of_all = manifest(KONG, "KongClusterPlugin", "office", "", body, more=f"labels: {{global: 'true'}}, {its_class}")
    assert answer(world("home", "", listed("home", HOME), of_all), "http://shop.example.com/", HOME)[0] == "web"
    assert answer(world("", "", of_all), "http://shop.example.com/", HOME)[0] != "web"


@pytest.mark.parametrize(("switch", "asks"), [("", False), ("disabled: true", True)])
def test_routes_of_gateway_api(switch: str, asks: bool) -> None:
    own = route(more="rules: [{backendRefs: [{name: web, port: 80}]}]", annotations="konghq.com/plugins: weak")
    weak = plugin("weak", "key-auth", "{anonymous: guest}", switch)
    made = simulated(
        gateway_class(controller="konghq.com/kic-gateway-controller"),
        gateway(),
        own,
        naming("strict"),
        weak,
        plugin("strict", "key-auth"),
    )
    assert bool(told(made)) is not asks
    assert answer(made, "http://shop.example.com/")[1].endswith("?") is not asks


@pytest.mark.parametrize(
    ("path", "asked", "sent"),
    [
        ("/shop Prefix web", "/shop/cart/1", "/cart/1"),
        ("/shop Prefix web", "/shop", "/"),
        ("/shop/ Prefix web", "/shop/cart", "/cart"),
        ("/shop Exact web", "/shop", "/"),
        ("/shop ImplementationSpecific web", "/shop/cart", "/cart"),
    ],
)
def test_the_path_of_a_rule_is_stripped(path: str, asked: str, sent: str) -> None:
    for stated, expected in (({"strip_path": "true"}, sent), ({"strip_path": "false"}, asked), ({}, asked)):
        own = ingress(paths=path, of_class="kong", prefix=PREFIX, **stated)
        trace = Tracer(simulated(CLASS, own, naming("")), nearest=False).trace(
            from_url("GET", f"http://shop.example.com{asked}", ())
        )
        assert trace.forwarded is not None
        assert trace.forwarded.path == expected
