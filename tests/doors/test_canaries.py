"""Canaries of ingress-nginx: which request goes to which of the two.

What is expected was written down from its documentation and rootfs/etc/nginx/lua/balancer.lua first.
"""

from __future__ import annotations

import pytest

from tests.doors.asking import answer, ingress
from tests.worlds import service, simulated

HEADER = {"canary_by_header": "X-Canary"}
UNDERSCORED = {"canary_by_header": "x_canary"}
"""balancer.lua asks `$http_x_canary`, which holds X-Canary."""
COOKIE = {"canary_by_cookie": "users"}
VALUE = {**HEADER, "canary_by_header_value": "blue"}
PATTERN = {**HEADER, "canary_by_header_pattern": "blu|gre"}
WEIGHT = {"canary_weight": "20"}
SHARED, MAIN, CANARY = "next 20%, web 80%", "web", "next"
CASES: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "a weight": (WEIGHT, (), SHARED),
    "a weight of everything": ({"canary_weight": "100"}, (), CANARY),
    "a weight of another total": ({"canary_weight": "20", "canary_weight_total": "200"}, (), "next 10%, web 90%"),
    "always by header": (HEADER, ("X-Canary: always",), CANARY),
    "never by header": (HEADER, ("X-Canary: never",), MAIN),
    "another value of the header": (HEADER, ("X-Canary: blue",), MAIN),
    "always by header, with a weight": (HEADER | WEIGHT, ("X-Canary: always",), CANARY),
    "never by header, with a weight": (HEADER | WEIGHT, ("X-Canary: never",), MAIN),
    "another value of the header, with a weight": (HEADER | WEIGHT, ("X-Canary: blue",), SHARED),
    "a name with an underscore is asked with a hyphen": (UNDERSCORED, ("x-canary: always",), CANARY),
    "a header with an underscore is left out": (UNDERSCORED, ("x_canary: always",), MAIN),
    "a value": (VALUE, ("X-Canary: blue",), CANARY),
    "always is no value": (VALUE | WEIGHT, ("X-Canary: always",), SHARED),
    "never is no value": (VALUE | WEIGHT, ("X-Canary: never",), SHARED),
    "a pattern is searched for": (PATTERN, ("X-Canary: the blue one",), CANARY),
    "a pattern that is not found": (PATTERN | WEIGHT, ("X-Canary: red",), SHARED),
    "a value makes the pattern void": (PATTERN | VALUE | WEIGHT, ("X-Canary: green",), SHARED),
    "always by cookie": (COOKIE | WEIGHT, ("Cookie: users=always",), CANARY),
    "never by cookie": (COOKIE | WEIGHT, ("Cookie: users=never",), MAIN),
    "another cookie": (COOKIE | WEIGHT, ("Cookie: users=yes",), SHARED),
    "the header comes before the cookie": (HEADER | COOKIE, ("X-Canary: never", "Cookie: users=always"), MAIN),
    "the cookie comes after another header": (HEADER | COOKIE, ("X-Canary: blue", "Cookie: users=always"), CANARY),
    "the cookie comes before the weight": (HEADER | COOKIE | WEIGHT, ("Cookie: users=never",), MAIN),
}


@pytest.mark.parametrize("case", CASES)
def test_canaries(case: str) -> None:
    annotations, headers, end = CASES[case]
    canary = ingress("canary", "/ Prefix next", canary="true", **annotations)
    simulation = simulated(service("web"), service("next"), ingress(), canary)
    assert answer(simulation, "http://shop.example.com/", headers=headers)[0] == end


def test_a_canary_has_the_filters_of_its_main_ingress() -> None:
    canary = ingress("canary", "/ Prefix next", canary="true", canary_by_header="X-Canary")
    main = ingress(permanent_redirect="https://new.example.com/")
    simulation = simulated(service("web"), service("next"), main, canary)
    moved = answer(simulation, "http://shop.example.com/", headers=("X-Canary: always",))
    assert moved == ("301 https://new.example.com/", "")
