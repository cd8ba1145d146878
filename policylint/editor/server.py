"""The language server: what it offers, and when a tree is read again. Answers come from `state`.

One thread reads and answers, so that messages (a cancelled request, the next key) are taken while it works; a question
waits for the reading of the newest text.
"""

# ruff: noqa: PTH100, PTH118 - paths are strings, as everywhere on the way to the sources

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, BinaryIO, Final, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from policylint import __version__
from policylint.edit.plan import edits
from policylint.editor.completion import Offer
from policylint.editor.positions import EditorPositions
from policylint.editor.references import sections
from policylint.editor.renaming import rename
from policylint.editor.state import Cursor, StaleError, State
from policylint.editor.surroundings import Surroundings, surroundings
from policylint.editor.tree import EditedTree
from policylint.errors import UsageError
from policylint.model import Finding, Location
from policylint.model.home import home
from policylint.report.kit.display import one_line
from policylint.session.settings import RunOptions

_PAUSE: Final = 0.03
"""Seconds without a change after which a tree is read: keys that follow each other sooner are one change."""
_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_ITEM_KINDS: Final = {
    "object": types.CompletionItemKind.Reference,
    "section": types.CompletionItemKind.Field,
    "kind": types.CompletionItemKind.Class,
    "value": types.CompletionItemKind.EnumMember,
    "field": types.CompletionItemKind.Property,
}
_SYMBOLS: Final = {
    "Gateway": types.SymbolKind.Module,
    "GatewayClass": types.SymbolKind.Class,
    "Service": types.SymbolKind.Interface,
}
_WATCHED: Final = ("**/*.{yaml,yml,json}", "**/.policylint.*", "**/*.{tpl,tmpl}", "**/pyproject.toml")
_LONGEST_HOVER: Final = 6000
_LONGEST_HEADER: Final = 65_536
_LONGEST_MESSAGE: Final = 256 * 2**20
"""Bytes: a few files of the largest size that is read."""
_SKIPPED: Final = b"Too-Long: yes\r\n"
_Answer = TypeVar("_Answer")


class EditorServer(LanguageServer):
    """A server for one directory: the first folder that the editor names.

    Args:
        options: the options that every reading has.
    """

    def __init__(self, options: RunOptions) -> None:
        super().__init__(
            "policylint", f"v{__version__}", text_document_sync_kind=types.TextDocumentSyncKind.Incremental
        )
        self._options = options
        self._worker = ThreadPoolExecutor(1, "policylint")
        self._root = ""
        self._tree = EditedTree(options)
        self._changes = 0
        self._on_disk = -1
        self._read = -1
        self._reading: asyncio.Task[None] | None = None
        self._state: State | None = None
        self._positions = EditorPositions("utf-16", lambda _: ())
        self._complaint = ""
        self._published: dict[str, list[types.Diagnostic]] = {}

    # From messages to readings

    def open_folder(self, parameters: types.InitializeParams) -> None:
        """Go to the folder of the editor; paths are shown as seen from there."""
        folders = parameters.workspace_folders or ()
        uri = folders[0].uri if folders else parameters.root_uri
        self._root = os.path.abspath((uri and _path_of(uri)) or os.curdir)
        os.chdir(self._root)

    def watches(self) -> None:
        """Note that the editor tells of every change on disk from now on."""
        self._on_disk = 0

    def changed(self, *, on_disk: bool = True) -> None:
        """Note that something changed, on disk or in a text alone, and read the tree soon."""
        if self._root == os.path.abspath(os.sep):
            self._complain("the root of the file system is not read: open the folder that holds the manifests")
            return
        self._changes += 1
        if on_disk and self._on_disk >= 0:
            self._on_disk += 1
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._read_until_current())

    async def _read_until_current(self) -> None:
        while self._read != self._changes:
            wanted = self._changes
            await asyncio.sleep(_PAUSE if self._state is not None else 0)
            if wanted != self._changes:
                continue
            try:
                state = await self.work(partial(self._read_tree, wanted))
            except StaleError:
                continue
            except UsageError as error:  # of the configuration, mostly: what was known stays
                self._read = wanted
                self._complain(str(error))
                continue
            self._read, self._state, self._complaint = wanted, state, ""
            encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
            lines = lru_cache(maxsize=None)(state.workspace.source_lines)
            self._positions = EditorPositions(str(getattr(encoding, "value", encoding)), lines)
            self._publish(await self.work(self._diagnostics))

    def _read_tree(self, wanted: int) -> State:
        """Read the tree; garbage is left for later, since looking for it takes longer than to read a change."""
        gc.disable()
        try:
            documents = list(self.workspace.text_documents.values())
            texts = {self.file_of(document.uri): _encoded(document.source) for document in documents}
            return self._tree.read(texts, lambda: wanted != self._changes, self._on_disk)
        finally:
            if self._state is None:
                gc.freeze()
            gc.enable()

    async def work(self, compute: Callable[[], _Answer]) -> _Answer:
        """Compute beside the taking of messages."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, compute)

    async def ask(self, question: Callable[[State], _Answer]) -> _Answer | None:
        """Answer from the reading of the newest text; None where there was never one, or a newer one comes first."""
        while self._reading is not None and not self._reading.done():
            await asyncio.shield(self._reading)
        state = self._state
        try:
            return None if state is None else await self.work(partial(question, state))
        except StaleError:
            return None

    def _complain(self, message: str) -> None:
        if message != self._complaint:
            self._complaint = message
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"policylint: {one_line(message)}")
            )

    # Places

    def file_of(self, uri: str) -> str:
        """Return the path, as shown, of a document."""
        place = os.path.realpath(_path_of(uri))
        return os.path.relpath(place, os.path.realpath(self._root)).replace(os.sep, "/")

    def uri_of(self, file: str) -> str:
        """Return the address of a file: as the editor calls it where it is open."""
        place = os.path.normpath(os.path.join(self._root, file))
        real = os.path.realpath(place)
        opened = (uri for uri in self.workspace.text_documents if os.path.realpath(_path_of(uri)) == real)
        return next(opened, None) or from_fs_path(place) or ""

    def place(self, location: Location) -> types.Location:
        """Return a location as the editor wants it."""
        return types.Location(self.uri_of(location.file), self._positions.token(location))

    def cursor(self, state: State, uri: str, position: types.Position) -> Cursor | None:
        """Return what is at a position of a document."""
        file = self.file_of(uri)
        return state.at(file, position.line + 1, self._positions.column(file, position))

    def column(self, lines: Sequence[str], position: types.Position) -> int:
        """Return the column, from 0 and in code points, of a place in a text that may be newer than what was read."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        text = EditorPositions(str(getattr(encoding, "value", encoding)), lambda _: lines)
        return text.column("", position) - 1

    def shown(self, words: str) -> types.MarkupContent:
        """Return a text as it stands, for a client that reads Markdown within a fence: the same letters everywhere."""
        if len(words) > _LONGEST_HOVER:
            words = words[:_LONGEST_HOVER].rpartition("\n")[0] + "\n…"
        document = self.client_capabilities.text_document
        formats = (document and document.hover and document.hover.content_format) or ()
        if types.MarkupKind.Markdown not in formats:
            return types.MarkupContent(types.MarkupKind.PlainText, words)
        return types.MarkupContent(types.MarkupKind.Markdown, "````text\n" + words.replace("````", "''''") + "\n````")

    def outline(self, state: State, uri: str) -> list[types.DocumentSymbol]:
        """Return the objects of a file, with the listeners, rules and ports that have a name."""
        file = self.file_of(uri)
        found = []
        for cursor in state.objects_in(file):
            resource = cursor.held[0].resource
            if resource.name_location.file != file:
                continue
            name = self.place(resource.name_location).range
            parts = [
                types.DocumentSymbol(section, types.SymbolKind.Field, place.range, place.range)
                for section, location in sections(resource)
                if (place := self.place(location)).uri == uri
            ]
            span = types.Range(name.start, max([name.end, *(part.range.end for part in parts)]))
            kind = _symbol_kind(resource.key.kind)
            found.append(types.DocumentSymbol(str(resource.key), kind, span, name, children=parts))
        return found

    # Diagnostics and fixes

    def _diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        assert self._state is not None
        by_file: dict[str, list[types.Diagnostic]] = {}
        for finding in self._state.lint.known:
            by_file.setdefault(self.uri_of(finding.location.file), []).append(self._diagnostic(finding))
        return by_file

    def _diagnostic(self, finding: Finding) -> types.Diagnostic:
        from policylint.checks import name_of

        lines = [finding.message, *([finding.label] if finding.label else []), *finding.notes]
        page = f"{home()}/blob/v{__version__}/rules/{finding.rule}-{name_of(finding.rule)}.md"
        related = [
            types.DiagnosticRelatedInformation(self.place(place.location), one_line(place.message) or "here")
            for place in finding.related
        ]
        return types.Diagnostic(
            self._positions.token(finding.location),
            "\n".join(map(one_line, lines)),
            severity=_SEVERITIES[finding.severity],
            code=finding.rule,
            code_description=types.CodeDescription(page) if home() else None,
            source="policylint",
            related_information=related or None,
        )

    def _publish(self, diagnostics: dict[str, list[types.Diagnostic]]) -> None:
        """Send what differs from what was sent before."""
        for uri in sorted(self._published.keys() | diagnostics.keys()):
            own = diagnostics.get(uri, [])
            if own != self._published.get(uri, []):
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, own))
        self._published = diagnostics

    def actions(self, state: State, uri: str, asked: types.Range) -> list[types.CodeAction]:
        """Return the fixes of the findings in a range; what changes the cluster's doing says that it does."""
        actions = []
        file = self.file_of(uri)
        for finding in state.lint.known:
            if finding.location.file != file or not _meet(self._positions.token(finding.location), asked):
                continue
            for fix in finding.fixes:
                made = edits(fix, partial(_text, state))
                if made:
                    actions.append(
                        types.CodeAction(
                            one_line(fix.title[:1].upper() + fix.title[1:]) + ("" if fix.safe else " (unsafe)"),
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=[self._diagnostic(finding)],
                            is_preferred=fix.safe,
                            edit=self.edit(made),
                        )
                    )
        return actions

    def edit(self, made: Iterable[Any]) -> types.WorkspaceEdit:
        """Return edits as the editor wants them."""
        changes: dict[str, list[types.TextEdit]] = {}
        for change in made:
            changes.setdefault(self.uri_of(change.file), []).append(
                types.TextEdit(self._positions.edited(change), change.text)
            )
        return types.WorkspaceEdit(changes)

    def name_at(self, state: State, uri: str, position: types.Position) -> types.PrepareRenamePlaceholder | None:
        """Return the name at a position that a rename would change: an object's own, or where it is named."""
        cursor = self.cursor(state, uri, position)
        if cursor is None or cursor.pointer[-1:] != ("name",):
            return None
        key = state.meant(cursor)
        own = cursor.held[0].resource
        if cursor.pointer != ("metadata", "name") and key == own.key:
            return None
        return types.PrepareRenamePlaceholder(self._positions.token(own.location(*cursor.pointer)), key.name)

    def renamed(self, state: State, uri: str, position: types.Position, name: str) -> types.WorkspaceEdit:
        """Return the edits that rename the object at a position.

        Raises:
            JsonRpcException: nothing there can be renamed, or not to that.
        """
        cursor = self.cursor(state, uri, position)
        if cursor is None or self.name_at(state, uri, position) is None:
            raise _refusal("there is no name of an object here")
        try:
            made = rename(state, state.meant(cursor), name, state.workspace.files, partial(_text, state))
            return self.edit(made)
        except UsageError as error:
            raise _refusal(str(error)) from None


def _path_of(uri: str) -> str:
    """Return the path that an address means; one that no file can have is left as it is, without its NUL bytes."""
    try:
        path = to_fs_path(uri)
    except ValueError:
        path = None
    return (path or uri).replace("\0", "")


def _text(state: State, file: str) -> str:
    return "\n".join(state.workspace.source_lines(file))


def _encoded(source: str) -> bytes:
    """Return the text of an editor as a file has it.

    Half a pair of surrogates is text there, and none for UTF-8: a question mark is as wide in UTF-16.
    """
    return source.encode(errors="replace")


def _item(offer: Offer, rank: int, place: Surroundings, position: types.Position) -> types.CompletionItem:
    """Return a offer as an editor wants it: it takes the place of what was written of it."""
    written = len(place.prefix) if place.prefix.isascii() else 0
    start = types.Position(position.line, position.character - written)
    is_field = offer.sort == "field"
    return types.CompletionItem(
        offer.word,
        kind=_ITEM_KINDS[offer.sort],
        detail=offer.detail or None,
        documentation=offer.about or None,
        sort_text=f"{rank:04}",
        filter_text=offer.word,
        text_edit=types.TextEdit(types.Range(start, position), f"{offer.word}:" if is_field else offer.word),
    )


def _symbol_kind(kind: str) -> types.SymbolKind:
    if kind.endswith("Route"):
        return types.SymbolKind.Function
    return _SYMBOLS.get(kind, types.SymbolKind.Object)


def _refusal(message: str) -> JsonRpcException:
    return JsonRpcException(one_line(message), int(types.LSPErrorCodes.RequestFailed))


def _meet(one: types.Range, other: types.Range) -> bool:
    return (one.start.line, one.start.character) <= (other.end.line, other.end.character) and (
        other.start.line,
        other.start.character,
    ) <= (one.end.line, one.end.character)


def server(options: RunOptions) -> EditorServer:
    """Return a server that is ready to be started."""
    editor = EditorServer(options)

    @editor.feature(types.INITIALIZE)
    def initialize(parameters: types.InitializeParams) -> None:
        editor.open_folder(parameters)

    @editor.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        editor.changed()
        capabilities = editor.client_capabilities.workspace
        watching = capabilities.did_change_watched_files if capabilities else None
        if watching is not None and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            registration = types.Registration(
                "watch",
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                types.DidChangeWatchedFilesRegistrationOptions(watchers),
            )
            await editor.client_register_capability_async(types.RegistrationParams([registration]))
            editor.watches()

    @editor.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def typed(_: types.DidChangeTextDocumentParams) -> None:
        editor.changed(on_disk=False)

    def note_a_change(_: object) -> None:
        editor.changed()

    for event in (
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_SAVE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    ):
        editor.feature(event)(_in_loop(note_a_change))

    @editor.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(parameters: types.HoverParams) -> types.Hover | None:
        def answer(state: State) -> types.Hover | None:
            cursor = editor.cursor(state, parameters.text_document.uri, parameters.position)
            if cursor is None:
                return None
            return types.Hover(editor.shown(state.hover(cursor)))

        return await editor.ask(answer)

    @editor.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " ", "-"]))
    async def completion(parameters: types.CompletionParams) -> list[types.CompletionItem] | None:
        uri, position = parameters.text_document.uri, parameters.position
        document = editor.workspace.text_documents.get(uri)
        if document is None:
            return []  # what is not open, nobody types in
        lines = _encoded(document.source).decode().splitlines()
        column = editor.column(lines, position)
        place = surroundings(lines, position.line, column)
        if place is None:
            return []
        found = await editor.ask(lambda state: state.complete(place))
        return [_item(offer, number, place, position) for number, offer in enumerate(found or [])]

    @editor.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outline(parameters: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await editor.ask(lambda state: editor.outline(state, parameters.text_document.uri))

    @editor.feature(types.WORKSPACE_SYMBOL)
    async def symbols(parameters: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol] | None:
        def answer(state: State) -> list[types.WorkspaceSymbol]:
            return [
                types.WorkspaceSymbol(
                    editor.place(held.resource.name_location),
                    str(held.resource.key),
                    _symbol_kind(held.resource.key.kind),
                )
                for held in state.symbols(parameters.query)
            ]

        return await editor.ask(answer)

    @editor.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(parameters: types.DefinitionParams) -> list[types.Location] | None:
        def answer(state: State) -> list[types.Location]:
            cursor = editor.cursor(state, parameters.text_document.uri, parameters.position)
            return [] if cursor is None else [editor.place(place) for place in state.definitions(cursor)]

        return await editor.ask(answer)

    @editor.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def all_references(parameters: types.ReferenceParams) -> list[types.Location] | None:
        def answer(state: State) -> list[types.Location]:
            cursor = editor.cursor(state, parameters.text_document.uri, parameters.position)
            if cursor is None:
                return []
            declaration = parameters.context.include_declaration
            return [editor.place(place) for place in state.references(state.meant(cursor), declaration=declaration)]

        return await editor.ask(answer)

    @editor.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(parameters: types.CodeLensParams) -> list[types.CodeLens] | None:
        def answer(state: State) -> list[types.CodeLens]:
            uri = parameters.text_document.uri
            file = editor.file_of(uri)
            return [
                types.CodeLens(editor.place(place).range, data={"uri": uri, "number": number})
                for number, cursor in enumerate(state.objects_in(file))
                if state.has_lens(cursor.key) and (place := cursor.held[0].resource.name_location).file == file
            ]

        return await editor.ask(answer)

    @editor.feature(types.CODE_LENS_RESOLVE)
    async def lens(unresolved: types.CodeLens) -> types.CodeLens:
        about: Any = unresolved.data

        def answer(state: State) -> str:
            objects = state.objects_in(editor.file_of(about["uri"]))
            number = about["number"]
            return state.lens(objects[number].key) if number < len(objects) else ""

        unresolved.command = types.Command(one_line(await editor.ask(answer) or ""), "")
        return unresolved

    @editor.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    async def actions(parameters: types.CodeActionParams) -> Sequence[types.CodeAction] | None:
        return await editor.ask(lambda state: editor.actions(state, parameters.text_document.uri, parameters.range))

    @editor.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(parameters: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return await editor.ask(lambda state: editor.name_at(state, parameters.text_document.uri, parameters.position))

    @editor.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renamed(parameters: types.RenameParams) -> types.WorkspaceEdit | None:
        uri, name = parameters.text_document.uri, parameters.new_name
        return await editor.ask(lambda state: editor.renamed(state, uri, parameters.position, name))

    return editor


def _in_loop(handler: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Return a handler of its own for each event: pygls marks the function that it is given."""

    async def handle(parameters: Any) -> None:
        handler(parameters)

    return handle


class Messages:
    """The input of a server: a message that says to be longer than any is skipped, and the next one is taken.

    pygls reads as many bytes at once as a header says, and ends where that is more than there is memory.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """Return the next line of headers; b"" at the end."""
        line = self._stream.readline(_LONGEST_HEADER)
        name, _, stated = line.partition(b":")
        digits = stated.strip()
        if name.lower() != b"content-length" or not digits.isdigit():
            return line
        is_absurd = len(digits) > len(str(_LONGEST_MESSAGE)) or int(digits) > _LONGEST_MESSAGE
        return _SKIPPED if is_absurd else line

    def read(self, size: int) -> bytes:
        """Return the next bytes, as many as a header said."""
        return self._stream.read(size)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def serve(options: RunOptions) -> None:
    """Serve an editor over standard input and output until it says that it is done."""
    server(options).start_io(stdin=cast("BinaryIO", Messages(sys.stdin.buffer)))
