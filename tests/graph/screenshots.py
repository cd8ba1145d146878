"""The pictures of the page in docs/graph.md: `python -m tests.graph.screenshots` takes them again; look at them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from policylint.report.graph import write
from tests.graph.browser import Browser
from tests.graph.worlds import FIXTURES, drawn, opened

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = (
    ("envoy-gateway-shop", "HTTPRoute shop/checkout", "light"),
    ("kuadrant-platform", "RateLimitPolicy platform/fair-use", "light"),
    ("silent-failures", "SecurityPolicy dropped/basket-cors", "dark"),
)
SETTLED = "new Promise(done => setTimeout(() => done(true), 500))"


def take(browser: Browser, place: Path, world: str, asked: str, theme: str) -> None:
    """Open the page of a world, search for an object, choose it, and fit the picture."""
    os.chdir(FIXTURES / world)  # places are shown as seen from the world
    page = place / f"{world}.html"
    page.write_text("".join(write("html", drawn(opened(".")))), encoding="utf-8")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(page)
    browser.wait("document.getElementById('status')?.textContent")
    browser.evaluate("document.getElementById('search').focus()")
    browser.call("Input.insertText", text=asked)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", windowsVirtualKeyCode=13)
    browser.wait("document.querySelector('#panel h2')?.textContent")
    browser.evaluate(SETTLED)
    browser.evaluate("document.getElementById('fit').click()")
    browser.evaluate(SETTLED)
    browser.screenshot(IMAGES / f"graph-{world}.png")
    assert browser.said == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile) / "profile", (1400, 900)) as browser:
        for world, asked, theme in PICTURES:
            take(browser, Path(profile), world, asked, theme)
