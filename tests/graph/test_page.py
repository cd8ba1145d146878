"""The html page: one file that asks for nothing, and what it does in a real browser (Chromium; skipped without one)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from policylint.report.graph import Drawing, write
from policylint.report.graph.details import details
from policylint.report.graph.html import embedded
from tests.graph.browser import Browser, installed
from tests.graph.worlds import FIXTURES, HOSTILE, drawn, hostile, large, opened
from tests.hostile.world import FORGED, TEXTS, laid, written

needs_browser = pytest.mark.skipif(installed() is None, reason="no Chromium is installed")
INJECTED = """
document.body.append(Object.assign(document.createElement("script"), {textContent: "window.pwned = 1"}));
document.body.insertAdjacentHTML("beforeend", "<img src=https://evil.example/i.png onerror='window.pwned = 1'>" +
  "<a id=link href='javascript:window.pwned=1'>x</a><style>body{outline:1px solid}</style><i style='color:red'>x</i>");
document.getElementById("link").click();
new Promise(done => setTimeout(done, 200, true))
"""
"""What a hole in the page would let a stranger do; its policy is to stop it nevertheless."""
TEXT = "document.getElementById('selftest')?.textContent"


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    with chromium.afresh() as found:
        yield found


def page(drawing: Drawing, directory: Path) -> Path:
    place = directory / "graph.html"
    place.write_text("".join(write("html", drawing)), encoding="utf-8")
    return place


def driven(browser: Browser, place: Path, label: str) -> dict[str, Any]:
    """What the page says of itself after search, click, drag, zoom and filter."""
    browser.open(place, f"#selftest={quote(label)}")
    told: dict[str, Any] = json.loads(browser.wait(TEXT))
    assert told["problems"] == []
    assert browser.said == []
    assert [each for each in browser.requests if not each.startswith(("file://", "blob:"))] == []
    return told


def test_the_page_needs_nothing_else() -> None:
    text = "".join(write("html", drawn(opened(FIXTURES / "flux-shop"))))
    assert not re.findall(r"""(?:src|href)\s*=|url\(|@import|fetch\(|XMLHttpRequest|sourceMappingURL""", text)
    assert "Permission is hereby granted, free of charge" in text
    assert text.count("</script>") == 7
    assert "/*DATA*/" not in text


def test_data_cannot_leave_its_element() -> None:
    assert embedded(["</script><!--\u2028&"]) == '["\\u003c/script\\u003e\\u003c!--\\u2028\\u0026"]'


def test_every_setting_has_its_policy_and_place() -> None:
    data = details(drawn(opened(FIXTURES / "envoy-gateway-shop")))
    route = next(each for each in data["nodes"] if each["label"] == "HTTPRoute shop/checkout")
    rows = [row for number in route["results"] for row in data["results"][number]["rows"]]
    told = {(row["field"], row["state"], row["policy"], row["place"].rpartition("/")[2]) for row in rows}
    assert told == {
        ("rateLimit", "applies", "BackendTrafficPolicy infra/edge-limits", "edge-limits.yaml:11"),
        ("cors", "applies", "SecurityPolicy shop/checkout-cors", "checkout-cors.yaml:12"),
        ("jwt", "dropped", "SecurityPolicy infra/edge-jwt", "edge-jwt.yaml:12"),
    }
    assert [data["findings"][number]["rule"] for number in route["findings"]] == ["GWP201"]


def test_the_page_allows_its_own_scripts_by_hash_and_nothing_else(tmp_path: Path) -> None:
    """Hashes of what stands in the elements as a browser reads them, whatever the data are."""
    for drawing in (drawn(opened(FIXTURES / "flux-shop")), drawn(hostile(tmp_path))):
        text = "".join(write("html", drawing))
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}

        def hashes(element: str, page: str = text) -> list[str]:
            found = re.findall(rf"<{element}(?: id=\"\w+\")?>(.*?)</{element}>", page, re.DOTALL)
            return [f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in found]

        assert rules == {
            "default-src": ["'none'"], "style-src": hashes("style"), "script-src": hashes("script"),
            "worker-src": ["blob:"], "base-uri": ["'none'"], "form-action": ["'none'"],
        }  # fmt: skip
        assert not re.search(r"(?i)<[^<>]*\s(?:on\w+|style)\s*=", re.sub(r"(?s)<script.*?</script>", "", text))


@needs_browser
def test_search_click_filter(browser: Browser, tmp_path: Path) -> None:
    told = driven(browser, page(drawn(opened(FIXTURES / "kuadrant-platform")), tmp_path), "HTTPRoute team-a/site")
    assert told["found"][0] == "HTTPRoute team-a/site"
    assert told["searched"] == told["clicked"] == "HTTPRoute team-a/site"
    assert "from RateLimitPolicy team-a/site at HTTPRoute team-a/site" in told["panel"]
    assert "teams.yaml:" in told["panel"]
    assert "overridden by RateLimitPolicy team-a/site" in told["panel"] or "dropped by" in told["panel"]
    assert told["panned"]
    assert told["zoomed"]
    assert told["drawn"]
    assert "HTTPRoute team-a/site" in told["filtered"]
    assert "HTTPRoute team-b/orders" not in told["filtered"]
    assert told["after"] == told["boxes"]


@needs_browser
def test_a_real_click_shows_the_effective_policy(browser: Browser, tmp_path: Path) -> None:
    """By the mouse, not by the page's own hand: the box in the middle of the view after a search."""
    browser.open(page(drawn(opened(FIXTURES / "envoy-gateway-shop")), tmp_path), "#view=picture")
    browser.wait("document.getElementById('status')?.textContent")
    browser.evaluate("document.getElementById('search').focus()")
    browser.call("Input.insertText", text="edge-jwt")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", windowsVirtualKeyCode=13)
    title = "document.querySelector('#panel h2')?.textContent || ''"
    assert browser.wait(title) == "SecurityPolicy infra/edge-jwt"
    browser.wait("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    area = browser.evaluate(
        "(({left, top, width, height}) => [left, top, width, height])"
        "(document.getElementById('canvas').getBoundingClientRect())"
    )
    left, top, width, height = area
    browser.click(left + width - 4, top + 4)
    assert browser.evaluate(title) == ""
    x = browser.evaluate("document.getElementById('canvas').clientWidth") / 2 + left
    browser.click(x, top + height / 2)
    assert browser.wait(title) == "SecurityPolicy infra/edge-jwt"
    assert "PartiallyEnforced" in browser.evaluate("document.getElementById('panel').innerText")
    assert browser.said == []


@needs_browser
def test_the_keyboard_will_do(browser: Browser, tmp_path: Path) -> None:
    """`/` searches, Enter chooses, Escape lets go, + - 0 zoom, arrows move the picture, Tab reaches every control."""
    browser.open(page(drawn(opened(FIXTURES / "kuadrant-platform")), tmp_path), "#view=picture")
    browser.wait("document.getElementById('status')?.textContent")

    def press(key: str, code: int = 0) -> None:
        typed = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            more = typed if kind == "keyDown" else {}
            browser.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def picture() -> Any:
        return browser.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
            "() => done(document.getElementById('canvas').toDataURL()))))"
        )

    focus, title = "document.activeElement.id", "document.querySelector('#panel h2')?.textContent || ''"
    press("/")
    assert browser.evaluate(focus) == "search"
    assert browser.evaluate("document.getElementById('search').value") == ""
    browser.call("Input.insertText", text="team-b/orders")
    press("Enter", 13)
    assert browser.wait(title).endswith("team-b/orders")
    browser.evaluate("document.getElementById('canvas').focus()")
    assert browser.evaluate(focus) == "canvas"
    seen = [picture()]
    for key, code in (("+", 187), ("ArrowRight", 39), ("ArrowDown", 40), ("-", 189), ("0", 48)):
        press(key, code)
        seen.append(picture())
        assert seen[-1] != seen[-2], key
    press("Escape", 27)
    assert browser.evaluate(title) == ""
    reached = set()
    browser.evaluate("document.getElementById('filtering').click()")
    browser.evaluate("document.getElementById('search').focus()")
    for _ in range(24):
        press("Tab", 9)
        reached.add(browser.evaluate(focus))
    assert {
        "namespace",
        "kind",
        "policy",
        "problems",
        "fold",
        "fit",
        "theme",
        "canvas",
        "outline",
        "request",
        "table",
    } <= reached
    assert browser.said == []


@needs_browser
def test_hostile_names_stay_text_in_the_page(browser: Browser, tmp_path: Path) -> None:
    drawing = drawn(hostile(tmp_path))
    label = next(each.label for each in drawing.graph.nodes if each.level == "route")
    told = driven(browser, page(drawing, tmp_path), label)
    assert "<img src=x onerror=" in told["panel"]
    assert HOSTILE.split("'")[0] in told["clicked"]
    assert browser.evaluate("typeof window.pwned") == "undefined"
    assert browser.evaluate("document.querySelectorAll('img, iframe, #panel script').length") == 0
    browser.evaluate(INJECTED)
    assert browser.evaluate("typeof window.pwned") == "undefined"
    assert browser.evaluate("getComputedStyle(document.body).outlineStyle") == "none"
    assert [each for each in browser.requests if not each.startswith(("file://", "blob:"))] == []
    assert sum("Content Security Policy" in each for each in browser.said) >= 4


@needs_browser
@pytest.mark.parametrize("name", TEXTS)
def test_the_page_works_whatever_its_world_says(browser: Browser, tmp_path: Path, name: str) -> None:
    laid(tmp_path / "world", written(TEXTS[name]))
    drawing = drawn(opened(tmp_path / "world"))
    label = next(each.label for each in drawing.graph.nodes if each.level == "route")
    told = driven(browser, page(drawing, tmp_path), label)
    assert told["clicked"] == label
    assert browser.evaluate(f"typeof window.{FORGED}") == "undefined"
    assert browser.evaluate("document.querySelectorAll('img, iframe, a, #panel script, #panel svg').length") == 0


@needs_browser
def test_five_thousand_boxes(browser: Browser, tmp_path: Path) -> None:
    drawing = drawn(large(tmp_path))
    assert len(drawing.graph.nodes) > 4_900
    place = page(drawing, tmp_path)
    told = driven(browser, place, "HTTPRoute team-7/app-7")
    assert told["boxes"] < 300  # look-alikes are folded
    assert told["clicked"] == "HTTPRoute team-7/app-7"
    assert "edge-7" in told["panel"]
    browser.evaluate("document.getElementById('fold').click()")
    began = browser.evaluate("performance.now()")
    assert browser.evaluate("document.getElementById('busy').hidden") is False
    assert browser.evaluate("performance.now()") - began < 1_000  # it answers while the worker lays out
    browser.wait("document.getElementById('busy').hidden", 120)
    assert int(browser.evaluate("document.getElementById('status').textContent").split()[0].replace(",", "")) > 3_000
    browser.evaluate("document.getElementById('canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: -50}))")
    frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    began = browser.evaluate("performance.now()")
    browser.evaluate(frames)
    assert browser.evaluate("performance.now()") - began < 1_500
    assert browser.said == []


def test_the_wheel_holds_the_page() -> None:
    """The assets lie in the package, beside the module that reads them."""
    import policylint.report.graph

    names = {each.name for each in (Path(policylint.report.graph.__file__).parent / "assets").iterdir()}
    assert names == {
        "dagre.LICENSE.txt",
        "dagre.min.js",
        "layout.js",
        "overview.js",
        "page.css",
        "page.html",
        "page.js",
        "request.js",
        "tables.js",
    }


@needs_browser
def test_one_environment_at_a_time(browser: Browser, tmp_path: Path) -> None:
    drawing = drawn(opened(FIXTURES / "kustomize-two-clusters"))
    assert len(drawing.graph.environments) == 2
    browser.open(page(drawing, tmp_path), "#view=picture")
    browser.wait("document.getElementById('status')?.textContent")
    count = "parseInt(document.getElementById('status').textContent)"
    choose = "(name => {const box = document.getElementById('environment'); box.value = name; %s})"
    changed = "box.dispatchEvent(new Event('change'))"
    first = browser.evaluate(count)
    browser.evaluate(choose % changed + "('')")
    both = browser.evaluate(count)
    browser.evaluate(choose % changed + f"({json.dumps(drawing.graph.environments[1])})")
    assert first + browser.evaluate(count) == both
    assert browser.said == []
