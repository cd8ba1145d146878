"""Regions are computed for the commands that ask for them, and for no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHOP = str(Path(__file__).parents[2] / "fixtures" / "envoy-gateway-shop")
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
        (("lint", SHOP), True),  # GWP301 asks what routes beside a login are asked for
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
