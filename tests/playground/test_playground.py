"""The playground: policylint in a browser, in one page that asks no network for anything."""

from __future__ import annotations

import base64
import gzip
import io
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.browser import Browser, installed
from tests.hostile.test_regex import GATEWAY, ROUTE
from tests.scripts import module_of

ROOT = Path(__file__).parents[2]
PLAYGROUND = ROOT / "docs" / "playground"
MODULES = Path(os.environ.get("POLICYLINT_NODE_MODULES", ROOT / "node_modules"))
needs_modules = pytest.mark.skipif(
    not (MODULES / "pyodide").is_dir() or not (MODULES / "re2js").is_dir(),
    reason="no pyodide and re2js: `npm ci` in .ci/npm, or name its node_modules in POLICYLINT_NODE_MODULES",
)
needs_browser = pytest.mark.skipif(installed() is None, reason="no Chromium is installed")
ANSWERED = "document.documentElement?.dataset.answered"
PRINTED = "document.getElementById('printed').textContent"
STATE = "document.getElementById('state').textContent"


def _bomb() -> str:
    """The state of a link that becomes 200 MB of text."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    pieces = [packer.compress(b'{"after": "'), *(packer.compress(b"a" * 2**20) for _ in range(200))]
    data = b"".join([*pieces, packer.compress(b'"}'), packer.flush()])
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


BOMB = "what becomes 200 MB of text"


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return module_of(PLAYGROUND / "build.py")


@pytest.fixture(scope="module")
def page(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("playground") / "playground.html"
    path.write_text(builder.page(MODULES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(page: Path, chromium: Browser) -> Iterator[Browser]:
    with chromium.afresh() as found:
        found.open(page)
        found.wait(ANSWERED, 300)
        yield found


def answered(browser: Browser, script: str) -> str:
    """Return what is printed once the page has answered what a script makes it ask."""
    before = browser.evaluate(ANSWERED)
    browser.evaluate(script)
    browser.wait(f"{ANSWERED} !== {before!r}", 120)
    return str(browser.evaluate(PRINTED))


def drawn(script: str) -> str:
    """Return a script that waits until another gives something."""
    return f"new Promise(done => {{ const ask = () => ({script}) ? done({script}) : setTimeout(ask, 50); ask(); }})"


def chosen(tab: str) -> str:
    return f"document.querySelector('[data-tab={tab}]').click()"


def written(field: str, text: str) -> str:
    return (
        f"document.getElementById({field!r}).value = {text!r};"
        f"document.getElementById({field!r}).dispatchEvent(new Event('input'))"
    )


@needs_browser
@needs_modules
@pytest.mark.slow
def test_the_page_answers_as_the_command_line_does(browser: Browser, page: Path) -> None:
    assert "error[GWP201]: HTTPRoute shop/checkout loses the jwt" in browser.evaluate(PRINTED)
    rows = browser.evaluate("[...document.querySelectorAll('#findings button')].map(row => row.textContent)")
    assert [row.partition(":")[0] for row in rows] == ["error GWP201", "error GWP101"]
    browser.evaluate("document.querySelector('#findings button').click()")
    editor = "const after = document.getElementById('after');"
    assert (
        browser.evaluate(f"{editor} after.value.slice(after.selectionStart, after.selectionEnd)")
        == "      name: checkout"
    )
    assert "ways in" in answered(browser, chosen("reach"))
    browser.evaluate(chosen("explain"))
    assert "jwt" in answered(browser, written("object", "HTTPRoute/shop/cart"))
    assert "nothing listens on port 80" in answered(browser, chosen("trace")), "the example's request"
    assert "Result: reaches shop/cart" in answered(browser, written("request", "GET https://shop.example.com/cart"))
    answered(browser, chosen("graph"))
    browser.wait("document.querySelector('#picture iframe') !== null", 30)
    headline = "document.querySelectorAll('.card').length === 2 && document.querySelector('h1').textContent"
    assert browser.evaluate_in_frame(drawn(headline)).startswith("1 of 2 routes is open")
    asked = [address for address in browser.requests if not address.startswith("blob:")]
    assert asked == [page.as_uri()], "nothing leaves the browser, and nothing comes from elsewhere"
    assert browser.said == []


@needs_browser
@needs_modules
@pytest.mark.slow
def test_lines_with_findings_are_underlined_where_they_stand(browser: Browser) -> None:
    answered(browser, "load('A CORS policy that takes the login away')")
    marks = "[...document.querySelectorAll('#marks span')].map(mark => [mark.className, mark.textContent])"
    assert browser.evaluate(marks) == [["error", "name: checkout"], ["error", "name: chekout"]]
    browser.evaluate("document.querySelector('#findings button').click()")
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    top, line, first = browser.evaluate(
        "(box => [document.querySelector('#marks span').getBoundingClientRect().top - box.getBoundingClientRect().top,"
        " parseFloat(getComputedStyle(box).lineHeight),"
        " 122 - box.scrollTop / parseFloat(getComputedStyle(box).lineHeight)])(document.getElementById('after'))"
    )
    assert abs(top / line - first) < 1.5, "the mark has scrolled with the text"
    browser.evaluate(written("after", "kind: A\n"))
    assert browser.evaluate(marks) == [], "what was written since is not marked by what was found before"


@needs_browser
@needs_modules
@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 900, 1400, 2200])
def test_text_fits_its_place(browser: Browser, width: int) -> None:
    answered(browser, "load('A CORS policy that takes the login away')")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    try:
        for tab in ("findings", "reach", "trace"):
            answered(browser, chosen(tab))
            browser.wait("columns() === asked", 30)
            over = "(box => box.scrollWidth - box.clientWidth)(document.getElementById('printed'))"
            assert browser.wait(f"document.getElementById('state').textContent.startsWith('exit') && {over} <= 0", 20)
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


@needs_browser
@needs_modules
@pytest.mark.slow
def test_examples_of_rules_regular_expressions_and_broken_text(browser: Browser) -> None:
    assert "GWP305" in answered(browser, "location.hash = '#example=GWP305'")
    expressions = {"/a(?=b)": "no expression of RE2", "/a+": "Result: reaches shop/shop"}
    browser.evaluate(chosen("trace"))
    answered(browser, written("request", "GET http://h/aa"))
    for pattern, words in expressions.items():
        matches = f"[{{path: {{type: RegularExpression, value: '{pattern}'}}}}]"
        assert words in answered(browser, written("after", GATEWAY + ROUTE.replace("MATCHES", matches)))
    answered(browser, chosen("findings"))
    assert "GWP910" in answered(browser, written("after", "kind: A\nspec: [\n"))
    assert "went wrong" not in browser.evaluate(STATE)


@needs_browser
@needs_modules
@pytest.mark.slow
def test_a_link_holds_the_state(browser: Browser) -> None:
    browser.evaluate("location.hash = '#example=A%20change%20under%20review'")
    browser.wait("document.querySelector('[data-tab=diff]').ariaSelected === 'true'")
    link = browser.evaluate("link()")
    manifests = browser.evaluate("[document.getElementById('after').value, document.getElementById('before').value]")
    browser.evaluate("location.hash = '#example=GWP101'")
    browser.wait("document.querySelector('[data-tab=findings]').ariaSelected === 'true'")
    printed = answered(browser, f"location.hash = {link!r}")
    assert "loses" in printed or "- jwt" in printed
    restored = browser.evaluate("[document.getElementById('after').value, document.getElementById('before').value]")
    assert restored == manifests


@needs_browser
@needs_modules
@pytest.mark.slow
@pytest.mark.parametrize("fragment", ["state=nonsense", "%", "example=constructor", BOMB])
def test_a_link_of_a_stranger_leads_to_an_example(browser: Browser, fragment: str) -> None:
    fragment = f"state={_bomb()}" if fragment == BOMB else fragment
    first = browser.evaluate("Object.keys(EXAMPLES)[0]")
    answered(browser, "location.hash = '#example=GWP101'")
    answered(browser, f"location.hash = '#{fragment}'")
    assert browser.evaluate("document.getElementById('example').value") == first
    assert browser.evaluate("document.getElementById('after').value.length") < 100_000


@needs_modules
def test_the_page_allows_no_script_but_its_own_and_no_connection(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy
    assert "unsafe-inline" not in policy
    assert len(text) < 15 * 2**20


@needs_modules
def test_the_page_is_the_same_whenever_it_is_built(builder: ModuleType, page: Path) -> None:
    assert builder.page(MODULES) == page.read_text(encoding="utf-8")


@needs_modules
def test_what_the_page_imports_is_compiled_and_nothing_is_there_twice(page: Path) -> None:
    """Compiling took half of the time to the first findings."""
    text = page.read_text(encoding="utf-8")
    for archive, used, unused in (
        ("python_stdlib", "asyncio/__init__", "tarfile"),
        ("libraries", "yaml/__init__", "yaml/cyaml"),
        ("policylint", "policylint/checks/registry", "policylint/cli/lsp"),
    ):
        packed = re.search(rf'data-part="{archive}\.zip">([^<]*)<', text)
        assert packed is not None
        with zipfile.ZipFile(io.BytesIO(gzip.decompress(base64.b64decode(packed[1])))) as content:
            names = content.namelist()
        assert {f"{used}.pyc", f"{unused}.py"} <= set(names)
        assert len({name.removesuffix("c") if name.endswith(".pyc") else name for name in names}) == len(names)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_the_plain_graph_does_what_networkx_does(edges: list[tuple[int, int]]) -> None:
    import networkx

    plain = module_of(PLAYGROUND / "runtime" / "networkx.py")
    graphs = [plain.DiGraph(), networkx.DiGraph()]
    for graph in graphs:
        graph.add_nodes_from(range(8))
        graph.add_edges_from(edges)
    ours, real = graphs
    assert plain.is_directed_acyclic_graph(ours) == networkx.is_directed_acyclic_graph(real)
    while not plain.is_directed_acyclic_graph(ours):
        circle = plain.find_cycle(ours)
        assert [end for _, end in circle] == [*(start for start, _ in circle[1:]), circle[0][0]]
        assert all(real.has_edge(*edge) for edge in circle)
        for graph in graphs:
            graph.remove_edge(*circle[0])
    assert list(map(sorted, plain.topological_generations(ours))) == [
        sorted(generation) for generation in networkx.topological_generations(real)
    ]
    for node in range(8):
        assert ours.in_degree(node) == real.in_degree(node)
        assert sorted(ours.successors(node)) == sorted(real.successors(node))


def test_every_rule_has_an_example_in_the_page(builder: ModuleType) -> None:
    rules = {path.name[:6] for path in (ROOT / "rules").glob("GWP*.md")}
    assert rules - set(builder.examples()) == set()


def test_the_plain_collections_do_what_the_compiled_ones_do() -> None:
    import rpds

    plain = module_of(PLAYGROUND / "runtime" / "rpds.py")

    def done(library: Any) -> list[object]:
        numbers = library.HashTrieMap({"a": 1}).insert("b", 2)
        letters = library.HashTrieSet(["x"]).insert("y")
        listed = library.List([1, 2]).push_front(0)
        return [
            dict(numbers.items()),
            dict(numbers.remove("a").items()),
            dict(numbers.discard("none").update({"c": 3}).items()),
            dict(library.HashTrieMap.convert({"k": "v"}).items()),
            sorted(letters.update(["z"])),
            list(listed),
            list(listed.rest),
            listed.first,
            list(library.List(1, 2)),
            len(numbers),
        ]

    assert done(plain) == done(rpds)


def test_files_of_the_editor_keep_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bridge = module_of(PLAYGROUND / "runtime" / "bridge.py")
    monkeypatch.setattr(bridge, "HOME", tmp_path)
    monkeypatch.setattr(bridge, "FINDINGS", tmp_path / "findings.json")
    bridge.write("manifests", "# file: a/one.yaml\na: 1\n# file: ../../two.yaml\nb: 2\n")
    assert (tmp_path / "manifests" / "a" / "one.yaml").read_text() == "\na: 1\n"
    assert (tmp_path / "manifests" / "two.yaml").read_text() == "\n\n\nb: 2\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifests"], "nothing is written outside"
    bridge.write("manifests", "a: 1\n")
    assert [path.name for path in (tmp_path / "manifests").iterdir()] == ["manifests.yaml"]
    monkeypatch.chdir(tmp_path)
    printed = bridge.ran(["--version"])
    assert printed["code"] == 0
    assert printed["out"].startswith("policylint ")
    assert sys.stdout is not None
