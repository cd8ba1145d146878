"""IngressRoutes whose rules have one priority, stated or by their length.

pkg/muxer/http/mux.go of Traefik: nothing orders them.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.test_traefik import SHOP, ends, ingress_route, to
from tests.worlds import service, simulated

NUMBER = "priority: 100"


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        # both take it: neither the narrower rule nor the first one is asked first
        (
            (ingress_route(to(f"{SHOP} && PathPrefix(`/a`)", "web", NUMBER), to(SHOP, "next", NUMBER)),),
            "http://shop.example.com/a",
            "not known",
        ),
        # what one of them alone takes is its own
        (
            (ingress_route(to(f"{SHOP} && PathPrefix(`/a`)", "web", NUMBER), to(SHOP, "next", NUMBER)),),
            "http://shop.example.com/b",
            "next",
        ),
        # by length, and in two objects
        (
            (ingress_route(to(f"{SHOP} && Method(`GET`)"), to(f"{SHOP} && Path(`/abcd`)", "next")),),
            "http://shop.example.com/abcd",
            "not known",
        ),
        (
            (ingress_route(to(SHOP)), ingress_route(to(SHOP, "next"), name="second")),
            "http://shop.example.com/",
            "not known",
        ),
        # the number of one puts it first; equal ends are no question
        (
            (ingress_route(to(f"{SHOP} && PathPrefix(`/a`)", "web", NUMBER), to(SHOP, "next", "priority: 101")),),
            "http://shop.example.com/a",
            "next",
        ),
        (
            (ingress_route(to(SHOP)), ingress_route(to(SHOP), name="second")),
            "http://shop.example.com/",
            "web",
        ),
        # other entry points are other tables
        (
            (
                ingress_route(to(SHOP), more="entryPoints: [web]"),
                ingress_route(to(SHOP, "next"), name="second", more="entryPoints: [websecure], tls: {}"),
            ),
            "http://shop.example.com/",
            "web",
        ),
        # two that read alike in one object are one router, of which the later one is left
        ((ingress_route(to(SHOP, "web", NUMBER), to(SHOP, "next")),), "http://shop.example.com/", "next"),
    ],
)
def test_which_rule_answers(objects: tuple[str, ...], url: str, end: str) -> None:
    assert ends(*objects, url=url)[0] == end


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ((f"{SHOP} && PathPrefix(`/a`)", "web", NUMBER), (SHOP, "next", NUMBER), 1),
        ((f"{SHOP} && PathPrefix(`/a`)", "web"), (f"{SHOP} && PathPrefix(`/b`)", "next"), 0),
        ((f"{SHOP} && PathPrefix(`/a`)", "web", NUMBER), (SHOP, "next", "priority: 99"), 0),
        (("Host(`a.example`)", "web", NUMBER), ("Host(`b.example`)", "next", NUMBER), 0),
        (("PathRegexp(`a.c`)", "web", NUMBER), (f"{SHOP} && PathRegexp(`b.d`)", "next", NUMBER), 0),
    ],
)
def test_lint_tells_what_chance_decides(first: tuple[str, ...], second: tuple[str, ...], told: int) -> None:
    routes = ingress_route(to(*first)), ingress_route(to(*second), name="second")
    found = [each.message for each in run(simulated(service("web"), service("next"), *routes), select={"GWP526"})]
    assert len(found) == told
    assert all("take the same requests, and nothing says which" in message for message in found)
