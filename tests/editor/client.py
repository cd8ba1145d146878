"""An editor: pygls' own client, with a server of ours in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient


class Editor:
    """A client with a folder open: what it was told, and the texts that it shows."""

    def __init__(self, root: Path, client: LanguageClient) -> None:
        self.root = root
        self.client = client
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.watched: list[Any] = []
        self.capabilities: types.ServerCapabilities
        self._told = asyncio.Event()
        self._versions: dict[str, int] = {}

    def uri(self, file: str) -> str:
        return (self.root / file).as_uri()

    def document(self, file: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(file))

    def at(self, file: str, words: str, offset: int = 0, text: str | None = None) -> dict[str, Any]:
        """The arguments of a question about the place where words first stand in a file."""
        text = (self.root / file).read_text() if text is None else text
        before = text[: text.index(words) + offset]
        line = before.count("\n")
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        return {"text_document": self.document(file), "position": types.Position(line, column)}

    def open(self, file: str, text: str | None = None) -> None:
        text = (self.root / file).read_text() if text is None else text
        self._versions[file] = 1
        item = types.TextDocumentItem(self.uri(file), "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, file: str, text: str) -> None:
        self._versions[file] += 1
        document = types.VersionedTextDocumentIdentifier(version=self._versions[file], uri=self.uri(file))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def take(self, parameters: types.PublishDiagnosticsParams) -> None:
        self.diagnostics[parameters.uri] = list(parameters.diagnostics)
        self._told.set()

    async def until(self, holds: Callable[[], bool], seconds: float = 20) -> None:
        """Wait for diagnostics that make something hold."""
        async with asyncio.timeout(seconds):
            while not holds():
                self._told.clear()
                await self._told.wait()

    def rules(self, file: str) -> list[str]:
        return sorted(str(diagnostic.code) for diagnostic in self.diagnostics.get(self.uri(file), []))


def edit(
    root: Path, session: Callable[[Editor], Awaitable[None]], encodings: list[Any] | None = None, *, hover: Any = ()
) -> None:
    """Run a session with a folder of an editor, and shut the server down as editors do."""

    async def run() -> None:
        client = LanguageClient("an-editor", "1")
        editor = Editor(root, client)
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda parameters: editor.take(parameters))
        client.feature(types.WINDOW_SHOW_MESSAGE)(lambda parameters: editor.messages.append(parameters.message))
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda parameters: editor.watched.append(parameters))
        await client.start_io(sys.executable, "-m", "policylint", "lsp", cwd=str(Path(__file__).parents[2]))
        capabilities = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
            ),
            text_document=types.TextDocumentClientCapabilities(
                hover=types.HoverClientCapabilities(content_format=hover)
            ),
            general=types.GeneralClientCapabilities(position_encodings=encodings),
        )
        answer = await client.initialize_async(
            types.InitializeParams(
                capabilities, root_uri=root.as_uri(), workspace_folders=[types.WorkspaceFolder(root.as_uri(), "here")]
            )
        )
        editor.capabilities = answer.capabilities
        client.initialized(types.InitializedParams())
        try:
            await session(editor)
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

    asyncio.run(run())
