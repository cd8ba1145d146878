"""No text of a stranger changes the structure of an output.

Each output is read by a parser of its format, and has the skeleton that it has of harmless texts.
"""

# ruff: noqa: E501 - a command and a format on one line each
from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint import workspace
from policylint.model.keys import is_no_host_yet, is_symbolic
from policylint.report.diff import markdown
from policylint.report.formats import FORMATS
from policylint.spaces.predicates import Predicate
from tests.diff.history import run
from tests.hostile.test_action import heeded
from tests.hostile.world import FORGED, HARMLESS, TEXTS, changed, laid, written
from tests.report.test_output_schemas import opened_once

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
LINKS = re.compile(
    r"(?i)(?<![\w`])(?:@[a-z0-9]|#\d|gh-\d|[0-9a-f]{7,40}\b|(?:https?|ftp|mailto|xmpp):(?!\u200b)|www\.)"
)
OURS = re.compile(r"</?(?:details|summary|sub|code|br|wbr)>|<!-- policylint:v1 key=default -->")
DIFF = "diff --rendered-before before --rendered-after after"
COMMANDS = {
    **{f"lint {form}": f"lint before --min-severity note --show-unknown --verbose -o {form}" for form in FORMATS["lint"] if form != "json-v1"},
    "lint statistics text": "lint before --statistics",
    "lint fixes text": "lint before --diff --unsafe-fixes",
    **{f"diff {form}": f"{DIFF} --show unchanged --show-unknown --links https://example.net/x -o {form}"
       for form in FORMATS["diff"] if form != "json-v1"},
    **{f"explain {kind} {form}": f"explain {kind}/NAME before -o {form}"
       for kind in ("HTTPRoute", "Gateway", "SecurityPolicy") for form in ("text", "json", "yaml", "markdown")},
    **{f"explain without {form}": f"explain Gateway/NAME before --without SecurityPolicy/infra/EDGE -o {form}"
       for form in ("text", "json", "markdown")},
    **{f"trace {form}": f"trace --requests requests.json after -o {form}" for form in ("text", "json")},
    **{f"list {what} {form}": f"list {what} before -o {form}"
       for what in ("policies", "routes", "gateways", "listeners", "backends") for form in ("wide", "json")},
    **{f"graph {form}": f"graph before -o {form}" for form in ("mermaid", "dot", "svg", "html")},
    **{f"simulate {form}": f"simulate before -o {form}" for form in ("text", "json", "yaml")},
    **{f"status {form}": f"simulate before --as status -o {form}" for form in ("json", "yaml")},
    "config yaml": "config show -C before",
    "kinds unknown text": "kinds NAME",
    "rule unknown text": "rule NAME",
    "lint unknown text": "lint NAME",
    "explain unknown text": "explain NAME before",
}  # fmt: skip
EXPLAINED = {"HTTPRoute": "route", "Gateway": "gateway", "SecurityPolicy": "edge"}


def shape(value: Any) -> Any:
    """Return the structure of data: fields as they are called where they are ours, and the types of values.

    Fixes are left out, for a file whose lines some readers break elsewhere has none.
    """
    if isinstance(value, dict):
        ours = ((key if re.fullmatch(r"[$\w/-]+", str(key)) else "?", inner) for key, inner in value.items())
        return sorted((key, str(shape(inner))) for key, inner in ours if key != "fixes")
    if isinstance(value, list):
        return "texts" if value and all(isinstance(inner, str) for inner in value) else list(map(shape, value))
    return type(value).__name__


def of_json(text: str) -> Any:
    assert not UNSEEN.search(text), "what moves a terminal's cursor or cannot be seen is written as an escape"
    return shape(json.loads(text))


def of_sarif(text: str) -> Any:
    schema = Path(__file__).parents[3] / "shared" / "sarif" / "sarif-schema-2.1.0.json"
    if schema.is_file():
        from jsonschema import Draft7Validator

        assert not list(Draft7Validator(json.loads(schema.read_text())).iter_errors(json.loads(text)))
    links = [
        re.findall(r"(?<!\\)(?:\\\\)*\[(?:[^\\\]]|\\.)*\]\(([^)]*)\)", result["message"]["text"])
        for result in json.loads(text)["runs"][0]["results"]
    ]
    assert all(link.isdecimal() for found in links for link in found)
    return of_json(text), list(map(len, links))


def of_xml(text: str) -> Any:
    assert not UNSEEN.search(text)
    return [(element.tag, sorted(element.attrib)) for element in ElementTree.fromstring(text).iter()]


def of_text(text: str) -> Any:
    """A text is read by people and by grep: no line of it begins as the stranger wants."""
    assert not UNSEEN.search(text)
    assert [line for line in text.splitlines() if line.startswith(FORGED)] == []
    return [
        match[0] for line in text.splitlines() if (match := re.match(r"(?:error|warning|note)\[|[-+~] |\d+ ", line))
    ]


def of_github(text: str) -> Any:
    of_text(text)
    commands = heeded(text)
    assert all(re.match(r"::(?:error|warning|notice)(?: file=| title=|::)", line) for line in commands)
    return [
        re.match(r"::\w+(?: file=[^,:]*,line=\d+,title=[^,:]*| title=[^,:]*)?::", line) is not None for line in commands
    ]


def of_yaml(text: str) -> Any:
    assert not UNSEEN.search(text)
    return [shape(document) for document in yaml.safe_load_all(text)]


def of_mermaid(text: str) -> Any:
    label = r'"[^"<>`{}\[\]\\]*"'
    line = re.compile(
        rf"flowchart LR|\s*subgraph e\d+\[{label}\]|\s*end|\s*[np]\d+(?:\[{label}\]|\(\[{label}\]\))(?::::\w+)?"
        rf"|\s*[np]\d+ (?:-->|--x|-\.->|-\.-x|(?:--|==|-\.) {label} (?:-->|--x|==>|\.->|\.-x|\.-)) ?[np]\d+"
        r"|\s*(?:linkStyle [\d,]+|classDef \w+) [\w:#,-]+[\w :#,-]*"
    )
    assert not UNSEEN.search(text)
    assert [each for each in text.splitlines() if not line.fullmatch(each)] == []
    return [re.sub(label, '""', each) for each in text.splitlines()]


def of_dot(text: str) -> Any:
    assert not UNSEEN.search(text)
    bare = [re.sub(r'"(?:[^"\\]|\\.)*"', '""', line) for line in text.splitlines()]
    program = shutil.which("dot")
    if program is not None:
        done = subprocess.run([program, "-Tdot_json"], input=text.encode(), capture_output=True, check=True)
        return bare, shape(json.loads(done.stdout))
    return bare


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []
        self.data = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, sorted(attrs, key=str)))
        self._inside = dict(attrs).get("id") or ""

    def handle_data(self, data: str) -> None:
        self.data += data if self._inside == "data" else ""


def of_html(text: str) -> Any:
    parser = _Elements()
    parser.feed(text)
    found = json.loads(parser.data)
    assert not UNSEEN.search(re.sub(r"(?s)<script id=\"dagre\">.*?</script>", "", text))
    return parser.found, [(node["role"], node["level"], len(node["results"])) for node in found["nodes"]]


def of_markdown(text: str) -> Any:
    """Return the tokens of CommonMark with GitHub's tables; what GitHub reads beyond them is looked for in texts.

    A message may quote in backticks: how many code spans it has is the stranger's, what stands in them is not read.
    """
    markdown_it = pytest.importorskip("markdown_it")
    assert not UNSEEN.search(text)
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return list(_of_tokens(tokens))


def _of_tokens(tokens: list[Any]) -> Iterator[Any]:
    for token in tokens:
        match token.type:
            case "inline":
                children = list(_of_tokens(token.children))
                yield Counter(str(child) for child in children if child not in ("text", ("code_inline", [])))
            case "html_block" | "html_inline":
                if token.type == "html_inline" and token.content in ("<wbr>", "<code>", "</code>"):
                    continue  # where a long name may break, or code of which one does: how many are the stranger's
                rest = OURS.sub("", token.content)
                assert "<" not in rest and not LINKS.search(
                    re.sub(r"&#\d+;", "\u200b", re.sub(r"(?s)<code>.*?</code>", "", token.content))
                )
                yield token.type, OURS.findall(token.content)
            case "link_open":
                assert token.attrs["href"].startswith(
                    ("https://example.net/x/", "https://github.com/example/policylint/")
                )
                yield token.type
            case "text" | "text_special" | "softbreak":
                assert not LINKS.search(token.content), token.content
                yield "text"
            case "fence":
                assert token.info in ("diff", "mermaid")
                yield (
                    token.info,
                    of_mermaid(token.content)
                    if token.info == "mermaid"
                    else [line[:1] for line in token.content.splitlines()],
                )
            case _:
                assert token.type != "image"
                yield token.type, sorted(token.attrs)


READERS: dict[str, Callable[[str], Any]] = {
    "json": of_json, "json-v1": of_json, "codeclimate": of_json, "sarif": of_sarif, "junit": of_xml, "svg": of_xml,
    "github": of_github, "yaml": of_yaml, "mermaid": of_mermaid, "dot": of_dot, "html": of_html, "markdown": of_markdown,
    "summary": of_markdown, "text": of_text, "concise": of_text, "wide": of_text,
}  # fmt: skip


class Worlds:
    """The worlds of all texts, each laid when it is first asked for."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._laid: dict[str, Path] = {}
        self.harmless = cache(self.said)

    def of(self, text: str) -> Path:
        if text not in self._laid:
            place = self._laid[text] = self._place / str(len(self._laid))
            laid(place / "before", written(text))
            laid(place / "after", changed(text))
            asked = {
                "method": "GET",
                "host": f"host {text}",
                "path": f"/p {text}",
                "headers": {f"x {text}": f"v {text}"},
            }
            requests = json.dumps([asked, {"host": "x.example.com", "path": "/"}], ensure_ascii=False)
            (place / "requests.json").write_text(re.sub("[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", requests))
        return self._laid[text]

    def said(self, command: str, text: str) -> tuple[int, str, str]:
        words = command.split(" ")
        for number, word in enumerate(words):
            kind, _, _ = word.partition("/")
            if word.endswith("NAME"):
                words[number] = f"{kind}/{EXPLAINED[kind]} {text}" if kind in EXPLAINED else f"name {text}"
            if word.endswith("EDGE"):
                words[number] = f"SecurityPolicy/infra/edge {text}"
        return run(self.of(text), *(word.replace("\0", "") for word in words))


@pytest.fixture(scope="module", autouse=True)
def a_screen_that_holds_everything() -> Iterator[None]:
    """What is folded depends on how long names are, and is no structure that they forge."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "SCREEN", 10_000)
        yield


@pytest.fixture(scope="module", autouse=True)
def a_world_is_opened_once() -> Iterator[None]:
    """Twenty commands read the same world in the same way, and write it in as many formats."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "open_workspace", opened_once(workspace.open_workspace))
        yield


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    return Worlds(tmp_path_factory.mktemp("worlds"))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_structure_is_ours(worlds: Worlds, command: str, name: str) -> None:
    text = TEXTS[name]
    read = READERS[command.split(" ")[-1]]
    is_open = Predicate("Exact", text).is_open
    harmless = worlds.harmless(COMMANDS[command], HARMLESS[is_symbolic(text), is_no_host_yet(f"web {text}"), is_open])
    code, out, err = worlds.said(COMMANDS[command], text)
    assert code == harmless[0], err
    assert "internal error" not in err
    assert heeded(err) == []
    of_text(err)
    if out or harmless[1]:
        assert read(out) == read(harmless[1])
