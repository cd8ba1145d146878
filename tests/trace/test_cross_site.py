"""Requests of other sites: `csrf` of Envoy Gateway, kgateway and agentgateway, in traces and in all ways.

Predicted from Envoy's documentation («CSRF»: POST, PUT, DELETE and PATCH; the host and port of Origin, else of Referer,
against those of the request) and from crates/agentgateway/src/http/csrf.rs.
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.reach import all_ways
from policylint.simulation import Simulation
from policylint.spaces.words import described
from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.trace.test_authorization import KINDS

OWN, EVIL, PARTNER = "http://shop.example", "https://evil.example", "https://a.pay.example"
ENVOY = ("envoy", "csrf: {additionalOrigins: ['https://*.pay.example']}")
KGATEWAY = ("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{suffix: .pay.example}]}")
AGENT = ("agentgateway", "traffic: {csrf: {additionalOrigins: ['https://a.pay.example']}}")


def simulated(settings: tuple[str, str]) -> Simulation:
    controller, api, kind = KINDS[settings[0]]
    return worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more="hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(api, kind, "own", "HTTPRoute/checkout", settings[1], "shop", field="targetRefs"),
    )


def traced(settings: tuple[str, str], method: str, **headers: str) -> Trace:
    asked: dict[str, Any] = {"host": "shop.example", "method": method, "headers": headers}
    return Tracer(simulated(settings)).trace(request(asked))


@pytest.mark.parametrize("settings", [ENVOY, KGATEWAY], ids=lambda settings: settings[0])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, False),
        ({"origin": OWN}, True),
        ({"origin": "https://shop.example"}, True),
        ({"origin": "http://shop.example:8443"}, False),
        ({"origin": EVIL}, False),
        ({"origin": "null"}, False),
        ({"origin": PARTNER}, True),
        ({"origin": "https://pay.example.evil.example"}, False),
        ({"referer": f"{OWN}/cart?a=b"}, True),
        ({"referer": f"{EVIL}/http://shop.example"}, False),
        ({"origin": EVIL, "referer": f"{OWN}/cart"}, False),
    ],
)
def test_what_changes_something_must_come_from_the_site_itself(
    settings: tuple[str, str], method: str, headers: dict[str, str], passes: bool
) -> None:
    trace = traced(settings, method, **headers)
    assert bool(trace.outcome.backends) is passes
    assert trace.outcome.status == (None if passes else 403)


@pytest.mark.parametrize("settings", [ENVOY, KGATEWAY, AGENT], ids=lambda settings: settings[0])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_what_changes_nothing_is_not_asked(settings: tuple[str, str], method: str) -> None:
    assert traced(settings, method, origin=EVIL).outcome.backends


@pytest.mark.parametrize(
    ("settings", "answers"),
    [
        (("envoy", "csrf: {}"), ["denied"]),
        (("envoy", "csrf: {shadowFraction: {numerator: 100}}"), []),
        (("envoy", "csrf: {shadowFraction: {numerator: 5, denominator: 5}}"), []),
        (("envoy", "csrf: {shadowFraction: {numerator: 0}}"), ["denied"]),
        (("envoy", "csrf: {shadowFraction: {numerator: 40}}"), ["depends"]),
        (("envoy", "csrf: {additionalOrigins: ['*']}"), []),
        (("kgateway", "csrf: {percentageEnabled: 100}"), ["denied"]),
        (("kgateway", "csrf: {percentageEnabled: 30}"), ["depends"]),
        (("kgateway", "csrf: {percentageShadowed: 100}"), []),
        (("kgateway", "csrf: {}"), []),
        (("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{exact: evil.example}]}"), []),
        (
            ("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{exact: 'https://evil.example'}]}"),
            ["denied"],
        ),
        (("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{safeRegex: 'evil\\..*'}]}"), []),
        (("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{prefix: EVIL, ignoreCase: true}]}"), []),
        (("kgateway", "csrf: {percentageEnabled: 100, additionalOrigins: [{contains: vil.ex}]}"), []),
        (AGENT, ["denied"]),
        (("agentgateway", "traffic: {csrf: {additionalOrigins: ['https://evil.example']}}"), []),
    ],
)
def test_a_form_of_another_site(settings: tuple[str, str], answers: list[str]) -> None:
    trace = traced(settings, "POST", origin=EVIL)
    assert [judged.decision.answer for judged in trace.judged] == answers


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, True),
        ({"origin": "null"}, True),
        ({"origin": OWN}, True),
        ({"origin": "https://shop.example"}, False),
        ({"origin": PARTNER}, True),
        ({"sec-fetch-site": "same-origin", "origin": EVIL}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site", "origin": OWN}, False),
        ({"sec-fetch-site": "cross-site", "origin": PARTNER}, True),
    ],
)
def test_agentgateway_asks_the_browser_first(headers: dict[str, str], passes: bool) -> None:
    assert bool(traced(AGENT, "POST", **headers).outcome.backends) is passes


@pytest.mark.parametrize("settings", [ENVOY, KGATEWAY], ids=lambda settings: settings[0])
def test_all_ways_are_told_apart_by_the_site(settings: tuple[str, str]) -> None:
    ways = list(all_ways(simulated(settings)))
    refused = [way for way in ways if way.trace.outcome.status == 403]
    words = {described(way.dimensions, box) for way in refused for box in way.boxes}
    assert words == {"DELETE or PATCH or POST or PUT site: others"}
    assert not any(way.trace.outcome.unknown or way.undecided for way in ways)
