"""A second client: Neovim shows in a hover what pygls' client is answered, and completes each kind of reference."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types

from tests.editor.client import Editor, edit
from tests.editor.test_completion import GATEWAY, POLICY, ROUTE, WORLD

ROOT = Path(__file__).parents[2]
ASK, COMPLETE = (Path(__file__).parent / name for name in ("hover.lua", "completion.lua"))
CORS = "shop/checkout-cors.yaml"
PROGRAM = str(Path(sys.executable).with_name("policylint"))
pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim")


PLACES: dict[str, tuple[str, str, str, list[str]]] = {
    "targetRefs": (POLICY, "    name: checkout", "    name: ", ["checkout"]),
    "the kind of a target": (POLICY, "    kind: HTTPRoute", "    kind: G", ["Gateway", "GRPCRoute"]),
    "sectionName": (ROUTE, "      sectionName: web", "      sectionName: s", ["secure"]),
    "parentRefs": (ROUTE, "    - name: edge", "    - name: ", ["edge"]),
    "the namespace of a parent": (ROUTE, "      namespace: infra", "      namespace: ", ["infra"]),
    "backendRefs": (ROUTE, "        - name: app", "        - name: a", ["app"]),
    "a port": (ROUTE, "          port: 8080", "          port: ", ["8080", "9090"]),
    "gatewayClassName": (GATEWAY, "  gatewayClassName: envoy", "  gatewayClassName: ", ["envoy"]),
    "certificateRefs": (GATEWAY, "          - name: cert", "          - name: ", ["cert"]),
    "a setting": (POLICY, "    name: checkout", "    name: checkout\n  jw", ["jwt"]),
    "an enum": (ROUTE, "            type: Exact", "            type: P", ["PathPrefix"]),
    "a field": (ROUTE, "      namespace: infra", "      namespace: infra\n      po", ["port"]),
}
"""What is written there: (the text, a line of it, what is typed instead, what the menu then shows)."""


def _neovim(tmp_path: Path, script: Path, asked: str) -> Any:
    """What a script prints in an editor that nobody configured."""
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}"]
    environment = {**os.environ, "POLICYLINT_ASKED": asked, "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def completed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """What the menu of Neovim shows at each place: label, what it inserts, documentation."""
    root = tmp_path_factory.mktemp("shop")
    (root / "world.yaml").write_text(WORLD)
    new = root / "new.yaml"
    new.write_text(POLICY)
    places = []
    for text, line, typed, _ in PLACES.values():
        before, _, after = text.partition(f"{line}\n")
        lines = f"{before}{typed}".split("\n")
        prefix = typed.rpartition(" ")[2]
        place = {"line": len(lines) - 1, "column": len(lines[-1]), "prefix": prefix}
        places.append({**place, "lines": [*lines, *after.splitlines()]})
    asked = {"program": PROGRAM, "root": str(root), "file": str(new), "places": places}
    return dict(zip(PLACES, _neovim(root, COMPLETE, json.dumps(asked)), strict=True))


@pytest.mark.parametrize("kind", PLACES)
def test_each_kind_of_reference_is_completed(completed: dict[str, list[list[str]]], kind: str) -> None:
    expected = PLACES[kind][3]
    assert sorted(label for label, _, _ in completed[kind]) == sorted(expected)
    inserted = [word.removesuffix(":") for _, word, _ in completed[kind]]
    assert sorted(inserted) == sorted(expected), "the whole word is inserted, not a part"


@pytest.mark.parametrize("words", ["name: checkout-cors", "name: checkout\n", "cors:"])
def test_a_hover_is_the_same_in_two_clients(tmp_path: Path, words: str) -> None:
    shop = Path(shutil.copytree(ROOT / "fixtures" / "envoy-gateway-shop", tmp_path / "shop"))
    answered: list[str] = []
    places: list[types.Position] = []

    async def session(editor: Editor) -> None:
        at = editor.at(CORS, words, words.find(": ") + 2)
        places.append(at["position"])
        answer = await editor.client.text_document_hover_async(types.HoverParams(**at))
        assert answer is not None and isinstance(answer.contents, types.MarkupContent)
        answered.append(answer.contents.value)

    edit(shop, session, hover=[types.MarkupKind.Markdown, types.MarkupKind.PlainText])
    (place,) = places
    asked = [PROGRAM, str(shop), str(shop / CORS), str(place.line), str(place.character)]
    said = _neovim(tmp_path, ASK, "\n".join(asked))
    assert said["contents"]["value"] == answered[0]
    assert "\n".join(said["shown"]) == answered[0]
