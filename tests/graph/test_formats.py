"""mermaid, dot and svg: limits, escaping, the same bytes for the same input."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.report.graph import write
from policylint.report.graph.mermaid import escape
from tests.conftest import Golden
from tests.graph.worlds import FIXTURES, apart, drawn, hostile, large, opened

STATIC = ("mermaid", "dot", "svg")


@pytest.mark.parametrize("form", STATIC)
@pytest.mark.parametrize("world", ["envoy-gateway-shop", "kuadrant-platform"])
def test_as_the_user_sees_it(form: str, world: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apart(FIXTURES / world))
    golden(f"{world}.{form}", "".join(write(form, drawn(opened(".")))))


def test_mermaid_stays_within_the_limits_of_its_renderer(tmp_path: Path) -> None:
    text = "".join(write("mermaid", drawn(large(tmp_path))))
    assert len(text) <= 50_000
    assert len(re.findall(r" (?:--|-\.).*-[>x] ", text)) <= 500
    assert "left out: " in text


def test_mermaid_labels_hold_nothing_but_text() -> None:
    assert escape('a"b`<c>#[x]') == "a#34;b#96;#60;c#62;#35;#91;x#93;"
    assert escape("one\ntwo\x1b") == "one two#65533;"


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    drawing = drawn(hostile(tmp_path))
    mermaid = "".join(write("mermaid", drawing))
    assert "<" not in mermaid
    assert "`" not in mermaid
    assert "%%{" not in mermaid
    svg = "".join(write("svg", drawing))
    tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "title", "style", "g", "path", "rect", "text"}
    assert "onerror" not in {name for each in ElementTree.fromstring(svg).iter() for name in each.attrib}


def test_dot_is_taken_by_graphviz(tmp_path: Path) -> None:
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("Graphviz is not installed")
    worlds = [drawn(opened(each)) for each in FIXTURES.iterdir() if any(each.rglob("*.yaml"))]
    for drawing in (drawn(hostile(tmp_path)), *worlds):
        text = "".join(write("dot", drawing))
        assert subprocess.run([dot, "-Tplain"], input=text.encode(), capture_output=True, check=True).stdout


def test_dot_strings_end_where_they_should(tmp_path: Path) -> None:
    for line in "".join(write("dot", drawn(hostile(tmp_path)))).splitlines():
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert '"' not in bare
        assert "<" not in bare


def test_boxes_of_a_picture_do_not_overlap(tmp_path: Path) -> None:
    for drawing in (drawn(opened(FIXTURES / "kuadrant-platform")), drawn(large(tmp_path, 60, 2))):
        root = ElementTree.fromstring("".join(write("svg", drawing)))
        boxes = [
            tuple(float(each.attrib[name]) for name in ("x", "y", "width", "height"))
            for each in root.iter("{http://www.w3.org/2000/svg}rect")
        ]
        for number, (x, y, width, height) in enumerate(boxes):
            for left, top, wide, high in boxes[:number]:
                assert x >= left + wide or left >= x + width or y >= top + high or top >= y + height


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apart(FIXTURES / "envoy-gateway-shop"))
    run = CliRunner().invoke(main, ["graph", "HTTPRoute/shop/cart", ".", "--output", f"svg={tmp_path}/cart.svg"])
    assert run.output == ""
    assert "shop/cart" in (tmp_path / "cart.svg").read_text()
    run = CliRunner().invoke(main, ["graph", "."])
    assert run.output.startswith("flowchart LR\n")
    run = CliRunner().invoke(main, ["graph", "HTTPRoute/shop/chart", "."])
    assert "did you mean HTTPRoute/shop/cart" in run.output
    assert "png" in str(CliRunner().invoke(main, ["graph", "--output", "png=x"]).output)


def test_a_line_of_the_input_moved_moves_nothing(tmp_path: Path) -> None:
    source = (FIXTURES / "kuadrant-platform" / "teams.yaml").read_text().split("\n---\n")
    gateway = (FIXTURES / "kuadrant-platform" / "gateway.yaml").read_text()
    texts = set()
    for number, order in enumerate((source, source[::-1])):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "world.yaml").write_text("\n---\n".join([*order, gateway]))
        texts.add("".join(write("mermaid", drawn(opened(place)))))
    assert len(texts) == 1
