"""A second client: Neovim shows in a hover what pygls' client is answered, letter for letter."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types

from tests.editor.client import Editor, edit

ROOT = Path(__file__).parents[2]
ASK = Path(__file__).parent / "hover.lua"
POLICY = "shop/checkout-cors.yaml"
pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim")


@pytest.mark.parametrize("words", ["name: checkout-cors", "name: checkout\n", "cors:"])
def test_a_hover_is_the_same_in_two_clients(tmp_path: Path, words: str) -> None:
    shop = Path(shutil.copytree(ROOT / "fixtures" / "envoy-gateway-shop", tmp_path / "shop"))
    answered: list[str] = []
    places: list[types.Position] = []

    async def session(editor: Editor) -> None:
        at = editor.at(POLICY, words, words.find(": ") + 2)
        places.append(at["position"])
        answer = await editor.client.text_document_hover_async(types.HoverParams(**at))
        assert answer is not None and isinstance(answer.contents, types.MarkupContent)
        answered.append(answer.contents.value)

    edit(shop, session, hover=[types.MarkupKind.Markdown, types.MarkupKind.PlainText])
    (place,) = places
    program = Path(sys.executable).with_name("policylint")
    asked = [str(program), str(shop), str(shop / POLICY), str(place.line), str(place.character)]
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {ASK}"]
    environment = {**os.environ, "POLICYLINT_ASKED": "\n".join(asked), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    said = json.loads(done.stdout)
    assert said["contents"]["value"] == answered[0]
    assert "\n".join(said["shown"]) == answered[0]
