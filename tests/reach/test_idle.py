"""Regions are computed for the commands that ask for them, and for no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policylint.reach import ways_to
from policylint.reach.entries import entries_of_routes
from policylint.trace import Tracer
from tests.worlds import gateway, gateway_class, opened, route

SHOP = str(Path(__file__).parents[2] / "fixtures" / "envoy-gateway-shop")
EXCEPTION = Path(__file__).parents[2] / "rules" / "GWP301-route-without-authentication.md"
OPEN = str(Path(__file__).parents[2] / "fixtures" / "network-shop")
CHECKOUT = "HTTPRoute/shop/checkout"
LOADED = """
import sys
from policylint.cli import main
sys.argv = ["policylint", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code in (0, 1), end.code
    print(any(name.startswith("policylint.reach") for name in sys.modules))
"""


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        (("lint", SHOP), False),
        (("lint", OPEN), False),
        (("explain", CHECKOUT, SHOP), True),
        (("trace", "https://shop.example.com/cart", SHOP), False),
        (("list", "routes", SHOP), False),
        (("simulate", SHOP), False),
        (("reach", SHOP), True),
    ],
    ids=lambda argument: argument[0] if isinstance(argument, tuple) else "",
)
def test_only_those_who_ask_pay(command: tuple[str, ...], asks: bool) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(asks), done.stderr


def test_a_lint_asks_where_a_route_may_be_an_exception(tmp_path: Path) -> None:
    """GWP301 asks what requests for the routes beside a login are asked for."""
    world = EXCEPTION.read_text(encoding="utf-8").partition("```yaml bad\n")[2].partition("```")[0]
    (tmp_path / "world.yaml").write_text(world, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LOADED, "lint", tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True", done.stderr


def test_whoever_asks_about_a_route_follows_no_request_of_others(tmp_path: Path) -> None:
    """A hundred routes of one host, each of which is asked about, are a hundred requests and not ten thousand."""
    at_once = 20
    routes = [
        route(
            f"r{number}", more=f"hostnames: [shop.example.com], rules: [{{matches: [{{path: {{value: /{number}}}}}]}}]"
        )
        for number in range(at_once)
    ]
    tracer = Tracer(opened(tmp_path, gateway_class(), gateway(), *routes), nearest=False)
    traced = 0
    trace = tracer.trace

    def counted(*asked: Any) -> Any:
        nonlocal traced
        traced += 1
        return trace(*asked)

    tracer.trace = counted  # type: ignore[method-assign]
    at = entries_of_routes(tracer)
    keys = [state.route.key for state in tracer.topology.routes]
    ways = [way for key in keys for way in ways_to(tracer, at[key], key)]
    assert len(ways) == traced == at_once
