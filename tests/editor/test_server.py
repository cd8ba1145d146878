"""Whole sessions of a language client with `policylint lsp`: what an editor shows, asks and gets."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types

from policylint.editor.server import Messages
from policylint.editor.state import StaleError
from policylint.editor.tree import EditedTree
from policylint.session.settings import RunOptions
from tests.editor.client import Editor, edit

ROOT = Path(__file__).parents[2]
CORS = "shop/checkout-cors.yaml"
HEADERS = "shop/headers.yaml"
ROUTE = "shop/checkout.yaml"
GATEWAY = "infra/gateway.yaml"
FLOW = '    - {group: gateway.networking.k8s.io, "x-🦊é": 1, kind: HTTPRoute, name: chekout}'
"""A target behind characters of two units in UTF-16 and of several bytes."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "fixtures" / "envoy-gateway-shop", tmp_path / "shop")
    return tmp_path / "shop"


def test_it_shows_what_lint_finds_in_files_that_nobody_opened(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: editor.rules(CORS) == ["GWP201"] and editor.rules(HEADERS) == ["GWP101"])
        (finding,) = editor.diagnostics[editor.uri(CORS)]
        assert finding.severity == types.DiagnosticSeverity.Error
        assert finding.source == "policylint"
        assert finding.message.startswith("HTTPRoute shop/checkout loses the jwt of its Gateway\n")
        assert finding.range == types.Range(types.Position(10, 12), types.Position(10, 20))
        assert finding.related_information is not None
        (related,) = finding.related_information
        assert related.location.uri == editor.uri("infra/edge-jwt.yaml")
        assert related.location.range.start.line == 11

    edit(shop, session)


def test_unsaved_texts_lie_over_the_files(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: editor.rules(HEADERS) == ["GWP101"])
        text = (shop / HEADERS).read_text()
        editor.open(HEADERS, text)
        editor.change(HEADERS, text.replace("chekout", "checkout"))
        await editor.until(lambda: editor.rules(HEADERS) == [])
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(editor.document(HEADERS)))
        await editor.until(lambda: editor.rules(HEADERS) == ["GWP101"])
        assert (shop / HEADERS).read_text() == text

    edit(shop, session)


def test_a_file_that_changes_outside_of_the_editor(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: editor.rules(HEADERS) == ["GWP101"])
        assert editor.watched
        (shop / HEADERS).write_text((shop / HEADERS).read_text().replace("chekout", "checkout"))
        event = types.FileEvent(editor.uri(HEADERS), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await editor.until(lambda: editor.rules(HEADERS) == [])

    edit(shop, session)


def test_fixes_are_offered_and_unsafe_ones_named_so(shop: Path) -> None:
    (shop / CORS).write_text((shop / CORS).read_text().replace("kind: HTTPRoute", "kind: HttpRoute"))

    async def session(editor: Editor) -> None:
        editor.open(HEADERS)
        await editor.until(lambda: bool(editor.rules(HEADERS)) and bool(editor.rules(CORS)))
        found = {}
        for file in (HEADERS, CORS):
            (finding,) = editor.diagnostics[editor.uri(file)]
            asked = types.CodeActionParams(editor.document(file), finding.range, types.CodeActionContext([finding]))
            found[file] = await editor.client.text_document_code_action_async(asked)
        (fix,) = found[HEADERS] or ()
        assert isinstance(fix, types.CodeAction) and fix.edit is not None and fix.edit.changes is not None
        assert fix.title == "Write `name: checkout` (unsafe)" and not fix.is_preferred
        ((uri, changes),) = fix.edit.changes.items()
        assert uri == editor.uri(HEADERS)
        assert [change.new_text for change in changes] == ["checkout"]
        assert changes[0].range == types.Range(types.Position(12, 12), types.Position(12, 19))
        safe = [action for action in found[CORS] or () if isinstance(action, types.CodeAction)]
        assert [(action.title, action.is_preferred) for action in safe] == [("Write `kind: HTTPRoute`", True)]

    edit(shop, session)


def test_hover_explains_the_object_or_the_setting_under_the_cursor(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        async def said(file: str, words: str, offset: int = 0) -> str:
            answer = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(file, words, offset)))
            if answer is None:
                return ""
            assert isinstance(answer.contents, types.MarkupContent)
            return answer.contents.value

        route = await said(ROUTE, "name: checkout", 8)
        assert "HTTPRoute shop/checkout" in route and "infra/edge-jwt :12" in route
        gateway = await said(ROUTE, "name: edge", 8)
        assert "Gateway infra/edge" in gateway
        setting = await said("infra/edge-jwt.yaml", "jwt:", 1)
        assert "SecurityPolicy infra/edge-jwt" in setting and "jwt" in setting
        missing = await said(HEADERS, "name: chekout", 8)
        assert 'no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)' in missing

    edit(shop, session)


def test_a_hover_has_the_same_letters_in_every_client(shop: Path) -> None:
    """Markdown stands in a fence, without entities and characters of no width."""
    said: list[str] = []

    async def session(editor: Editor) -> None:
        answer = await editor.client.text_document_hover_async(
            types.HoverParams(**editor.at(CORS, "name: checkout-cors", 8))
        )
        assert answer is not None and isinstance(answer.contents, types.MarkupContent)
        said.append(answer.contents.value)

    edit(shop, session)
    edit(shop, session, hover=[types.MarkupKind.Markdown])
    plain, fenced = said
    assert fenced == f"````text\n{plain}\n````"
    assert not re.search("&[#a-z]|[\u200b-\u200f\u2060]", plain)


def test_definition_and_references_follow_every_kind_of_reference(shop: Path) -> None:
    sectioned = "shop/sectioned.yaml"
    (shop / sectioned).write_text(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: sectioned, namespace: shop}\n"
        "spec:\n  parentRefs:\n    - name: edge\n      namespace: infra\n      sectionName: https\n"
    )

    async def session(editor: Editor) -> None:
        async def defined(file: str, words: str, offset: int) -> list[tuple[str, int]]:
            asked = types.DefinitionParams(**editor.at(file, words, offset))
            places = await editor.client.text_document_definition_async(asked)
            assert isinstance(places, list)
            return [(place.uri, place.range.start.line) for place in places if isinstance(place, types.Location)]

        listener = (shop / GATEWAY).read_text().splitlines().index("    - name: https")
        assert await defined(CORS, "name: checkout\n", 8) == [(editor.uri(ROUTE), 8)]
        assert [uri for uri, _ in await defined(ROUTE, "name: edge", 8)] == [editor.uri(GATEWAY)]
        assert await defined(sectioned, "sectionName: https", 15) == [(editor.uri(GATEWAY), listener)]
        assert len(await defined(ROUTE, "name: checkout-canary", 8)) == 1
        assert [uri for uri, _ in await defined(GATEWAY, "gatewayClassName: ", 20)] != []

        asked = types.ReferenceParams(types.ReferenceContext(False), **editor.at(ROUTE, "name: checkout", 8))
        found = await editor.client.text_document_references_async(asked)
        files = {place.uri for place in found or ()}
        assert {editor.uri(CORS), editor.uri("infra/edge-limits.yaml")} <= files

    edit(shop, session)


def test_lenses_say_what_acts(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        async def said(file: str) -> list[str]:
            asked = types.CodeLensParams(editor.document(file))
            lenses = await editor.client.text_document_code_lens_async(asked)
            resolved = [await editor.client.code_lens_resolve_async(lens) for lens in lenses or ()]
            return [lens.command.title for lens in resolved if lens.command]

        assert await said(ROUTE) == [
            "2 policies · 3 requests · authentication: none",
            "2 policies · 2 requests · authentication: none",
            "2 policies · 1 request · authentication: none",
        ], "the route and its Services"
        assert await said(CORS) == ["Enforced · 1 target"]

    edit(shop, session)


def test_rename_changes_the_object_and_all_that_names_it(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: bool(editor.diagnostics))
        place = editor.at(CORS, "name: checkout\n", 8)
        name = await editor.client.text_document_prepare_rename_async(types.PrepareRenameParams(**place))
        assert isinstance(name, types.PrepareRenamePlaceholder) and name.placeholder == "checkout"
        edits = await editor.client.text_document_rename_async(types.RenameParams(new_name="till", **place))
        assert edits is not None and edits.changes is not None
        for uri, changes in edits.changes.items():
            path = Path(uri.removeprefix("file://"))
            lines = path.read_text().split("\n")
            for change in changes:
                line = change.range.start.line
                assert lines[line][change.range.start.character : change.range.end.character] == "checkout"
                lines[line] = lines[line].replace("name: checkout", f"name: {change.new_text}")
            path.write_text("\n".join(lines))
        assert "name: till" in (shop / ROUTE).read_text() and "name: till" in (shop / CORS).read_text()
        assert "name: checkout\n          port" in (shop / ROUTE).read_text(), "the Service keeps its name"
        for refused in ("cart", "No Name"):
            with pytest.raises(Exception, match=r"already|no name"):
                await editor.client.text_document_rename_async(types.RenameParams(new_name=refused, **place))

    edit(shop, session)


@pytest.mark.parametrize("encoding", [None, "utf-32", "utf-8"])
def test_columns_are_those_of_the_editor(encoding: str | None, shop: Path) -> None:
    block = "    - group: gateway.networking.k8s.io\n      kind: HTTPRoute\n      name: chekout"
    text = (shop / HEADERS).read_text().replace(block, FLOW)
    assert FLOW in text
    (shop / HEADERS).write_text(text)
    row = text[: text.index("chekout")].rpartition("\n")[2]
    column = {"utf-8": len(row.encode()), "utf-32": len(row)}.get(encoding or "", len(row.encode("utf-16-le")) // 2)

    async def session(editor: Editor) -> None:
        await editor.until(lambda: "GWP101" in editor.rules(HEADERS))
        (finding,) = [finding for finding in editor.diagnostics[editor.uri(HEADERS)] if finding.code == "GWP101"]
        assert finding.range.start.character == column
        hover = types.HoverParams(editor.document(HEADERS), finding.range.start)
        assert await editor.client.text_document_hover_async(hover) is not None

    edit(shop, session, None if encoding is None else [types.PositionEncodingKind(encoding)])


def test_a_broken_configuration_is_said_and_what_was_known_stays(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: editor.rules(HEADERS) == ["GWP101"])
        (shop / ".policylint.yaml").write_text("fail-onn: error\n")
        event = types.FileEvent(editor.uri(".policylint.yaml"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        async with asyncio.timeout(20):
            while not editor.messages:
                await asyncio.sleep(0.05)
        assert "fail-onn" in editor.messages[0] and ".policylint.yaml:1" in editor.messages[0]
        assert editor.rules(HEADERS) == ["GWP101"]

    edit(shop, session)


def test_a_question_can_be_cancelled_and_the_next_is_answered(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(HEADERS)
        place = editor.at(ROUTE, "name: checkout", 8)
        asked = asyncio.ensure_future(editor.client.text_document_hover_async(types.HoverParams(**place)))
        await asyncio.sleep(0)
        asked.cancel()
        editor.change(HEADERS, (shop / HEADERS).read_text() + "# more\n")
        answer = await editor.client.text_document_hover_async(types.HoverParams(**place))
        assert answer is not None

    edit(shop, session)


def test_text_that_is_no_yaml_yet_is_a_finding_like_any_other(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(HEADERS)
        editor.change(HEADERS, "apiVersion: v1\nkind: [\n")
        await editor.until(lambda: editor.rules(HEADERS) == ["GWP910"])
        editor.change(HEADERS, "\x00\ud7ff{{ a }}")
        await editor.until(lambda: editor.rules(HEADERS) != ["GWP910"] or True)
        place = {"text_document": editor.document(HEADERS), "position": types.Position(999, 999)}
        assert await editor.client.text_document_hover_async(types.HoverParams(**place)) is None

    edit(shop, session)


def test_what_manifests_say_disturbs_no_editor(shop: Path) -> None:
    odd = "chek\u202eout\u200b\x1b[31m"
    (shop / HEADERS).write_text((shop / HEADERS).read_text().replace("chekout", f'"{odd}"').replace("\x1b", "\\e"))

    async def session(editor: Editor) -> None:
        await editor.until(lambda: "GWP101" in editor.rules(HEADERS))
        for finding in editor.diagnostics[editor.uri(HEADERS)]:
            said = [finding.message, *(place.message for place in finding.related_information or ())]
            assert not [text for text in said if {"\u202e", "\u200b", "\x1b"} & set(text)]

    edit(shop, session)


def test_what_takes_long_ends_with_the_next_key(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    changed: list[str] = []
    tree = EditedTree(RunOptions())
    state = tree.read({}, lambda: bool(changed))
    (route,) = (cursor.key for cursor in state.objects_in(ROUTE) if cursor.key.kind == "HTTPRoute")
    changed.append("a key")
    with pytest.raises(StaleError):
        state.lens(route)
    with pytest.raises(StaleError):
        tree.read({}, lambda: bool(changed))
    changed.clear()
    assert state.lens(route).startswith("2 policies")


def test_half_a_pair_of_surrogates_is_text_like_any_other(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        file = "shop/checkout-cors.yaml"
        text = (shop / file).read_text()
        editor.open(file, text + "# \ud800\n")
        await editor.until(lambda: bool(editor.rules(file)))
        hover = await editor.client.text_document_hover_async(
            types.HoverParams(**editor.at(file, "checkout-cors", 3, text))
        )
        assert hover is not None
        editor.change(file, text)
        await editor.client.text_document_hover_async(types.HoverParams(**editor.at(file, "checkout-cors", 3, text)))

    edit(shop, session)


def test_half_a_pair_of_surrogates_is_completed_around(shop: Path) -> None:
    async def session(editor: Editor) -> None:
        file = "shop/checkout-cors.yaml"
        text = "apiVersion: a\ud83d/v1\nkind: \ud83d\nmetadata: {name: \ud83d}\n"
        text += "spec:\n  targetRefs:\n  - kind: HTTPRoute\n    name: \n"
        editor.open(file, text)
        for line, column in ((1, 6), (6, 10)):
            place = types.CompletionParams(types.TextDocumentIdentifier(editor.uri(file)), types.Position(line, column))
            assert await editor.client.text_document_completion_async(place), line

    edit(shop, session)


def test_the_root_of_the_file_system_is_not_read() -> None:
    async def session(editor: Editor) -> None:
        async with asyncio.timeout(20):
            while not editor.messages:
                await asyncio.sleep(0.05)
        assert editor.messages == [
            "policylint: the root of the file system is not read: open the folder that holds the manifests"
        ]

    edit(Path("/"), session)


@pytest.mark.parametrize("length", ["1000000000000", str(2**63), "9" * 5000], ids=["tera", "63 bits", "digits"])
def test_a_message_of_an_absurd_length_is_skipped(length: str) -> None:
    next_message = b"Content-Length: 3\r\n\r\n[1]"
    messages = Messages(io.BytesIO(f"Content-Length: {length}\r\n\r\n{{}}\n".encode() + next_message))
    lines = [messages.readline() for _ in range(5)]
    assert lines[0].startswith(b"Too-Long")
    assert lines[3:] == [b"Content-Length: 3\r\n", b"\r\n"]
    assert messages.read(3) == b"[1]"


@pytest.mark.parametrize("uri", ["file:///%00.yaml", "file://[x/y.yaml", "untitled:one"])
def test_a_document_that_no_file_can_be_harms_no_other(uri: str, shop: Path) -> None:
    async def session(editor: Editor) -> None:
        item = types.TextDocumentItem(uri, "yaml", 1, "kind: HTTPRoute\n")
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        question = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
        assert await editor.client.text_document_hover_async(question) is None
        file = "shop/checkout-cors.yaml"
        hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(file, "checkout-cors", 3)))
        assert hover is not None

    edit(shop, session)


@pytest.mark.parametrize("uri", ["file:///nowhere.yaml", "file:///", "file://[x/y.yaml", "file:///%00.yaml", "one"])
def test_nothing_is_offered_in_a_document_that_is_not_open(uri: str, shop: Path) -> None:
    async def session(editor: Editor) -> None:
        question = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
        assert not await editor.client.text_document_completion_async(question)

    edit(shop, session)


def test_it_ends_with_0_where_an_editor_tells_it_to(tmp_path: Path) -> None:
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    data = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    done = subprocess.run(
        [sys.executable, "-m", "policylint", "lsp"],
        input="".join(f"Content-Length: {len(each)}\r\n\r\n{each}" for each in data),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
