"""The pictures of the page in docs/graph.md: `python -m tests.graph.screenshots` takes them again; look at them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from policylint.report.graph import Drawing, write
from tests.graph.browser import Browser
from tests.graph.worlds import FIXTURES, drawn, opened, team_routes

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = (
    ("ROUTES", {}, "light", "graph-routes"),
    ("ROUTES", {}, "dark", "graph-phone"),
    (
        "envoy-gateway-shop",
        {"select": "HTTPRoute shop/checkout"},
        "light",
        "graph-envoy-gateway-shop",
    ),
    (
        "kuadrant-platform",
        {"select": "RateLimitPolicy platform/fair-use"},
        "light",
        "graph-kuadrant-platform",
    ),
    (
        "silent-failures",
        {"select": "SecurityPolicy dropped/basket-cors"},
        "dark",
        "graph-silent-failures",
    ),
    (
        "envoy-gateway-shop",
        {"request": "GET https://shop.example.com/cart"},
        "light",
        "graph-request",
    ),
)
SETTLED = "new Promise(done => setTimeout(() => done(true), 500))"


SIZES = {"graph-phone": (400, 800)}
_ROUTES = 60


def drawing_of(world: str, place: Path) -> Drawing:
    """Draw a fixture, as places are shown that are seen from it; or the teams of the tests."""
    if world == "ROUTES":
        return drawn(team_routes(place, _ROUTES))._replace(stand="clusters, main at 7fc0405 of 2026-11-23")
    os.chdir(FIXTURES / world)
    return drawn(opened("."))


def take(browser: Browser, place: Path, world: str, view: dict[str, str], theme: str, name: str) -> None:
    """Open a view of the page of a world, and fit the picture."""
    page = place / f"{name}.html"
    page.write_text("".join(write("html", drawing_of(world, place))), encoding="utf-8")
    width, height = SIZES.get(name, (1400, 900))
    device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.call("Emulation.setDeviceMetricsOverride", **device)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(page, "#" + urlencode(view and {**view, "view": "picture"}))
    browser.wait("document.getElementById('status')?.textContent")
    browser.evaluate(SETTLED)
    browser.evaluate("document.getElementById('fit').click()")
    browser.evaluate(SETTLED)
    browser.screenshot(IMAGES / f"{name}.png")
    assert browser.said == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile) / "profile", (1400, 900)) as browser:
        for picture in PICTURES:
            take(browser, Path(profile), *picture)
