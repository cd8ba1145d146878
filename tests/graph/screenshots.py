"""The pictures of the page in docs/graph.md: `python -m tests.graph.screenshots` takes them again; look at them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from policylint.report.graph import write
from tests.graph.browser import Browser
from tests.graph.worlds import FIXTURES, drawn, opened

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = (
    ("envoy-gateway-shop", {"select": "HTTPRoute shop/checkout"}, "light", "graph-envoy-gateway-shop"),
    ("kuadrant-platform", {"select": "RateLimitPolicy platform/fair-use"}, "light", "graph-kuadrant-platform"),
    ("silent-failures", {"select": "SecurityPolicy dropped/basket-cors"}, "dark", "graph-silent-failures"),
    ("envoy-gateway-shop", {"request": "GET https://shop.example.com/cart"}, "light", "graph-request"),
)
SETTLED = "new Promise(done => setTimeout(() => done(true), 500))"


def take(browser: Browser, place: Path, world: str, view: dict[str, str], theme: str, name: str) -> None:
    """Open a view of the page of a world, and fit the picture."""
    os.chdir(FIXTURES / world)  # places are shown as seen from the world
    page = place / f"{name}.html"
    page.write_text("".join(write("html", drawn(opened(".")))), encoding="utf-8")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(page, "#" + urlencode(view))
    browser.wait("document.querySelector('#panel h2')?.textContent")
    browser.evaluate(SETTLED)
    browser.evaluate("document.getElementById('fit').click()")
    browser.evaluate(SETTLED)
    browser.screenshot(IMAGES / f"{name}.png")
    assert browser.said == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile) / "profile", (1400, 900)) as browser:
        for picture in PICTURES:
            take(browser, Path(profile), *picture)
