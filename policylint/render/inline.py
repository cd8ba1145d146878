"""YAML inside a YAML string: inline patches, values in ConfigMaps. Read once, located in the file that holds them."""

from __future__ import annotations

from typing import Any

from policylint.documents import Document, Pointer, Position, read
from policylint.render.provenance import Trace


class FileText:
    """A file that is used as one text, such as the values that a ConfigMap is generated from (the Written protocol)."""

    __slots__ = ("file",)

    def __init__(self, file: str) -> None:
        self.file = file

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - the Written protocol
        return Position(1, 1)


class Inline:
    """A document written as a text at some place of another one (the Written protocol).

    Lines are right for block scalars, the only style that people use for more than one line; the column is right where
    the block is indented by two from its key, as all formatters do it.
    """

    __slots__ = ("inner", "outer", "text")

    def __init__(self, outer: Trace, inner: Document, text: str) -> None:
        self.outer = outer
        self.inner = inner
        self.text = text

    @property
    def file(self) -> str:
        return self.outer.document.file

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        document, place = self.outer.document, self.outer.pointer
        start = document.position(place)
        inner = self.inner.position(pointer, key=key)
        if isinstance(document, FileText):
            return inner
        if "\n" not in self.text:
            return Position(start.line, start.column)
        indent = document.position(place, key=True).column + 1
        return Position(start.line + inner.line, indent + inner.column)


class Texts:
    """The documents of inline texts; a text that is used a hundred times is read once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[Document], str]] = {}

    def documents(self, text: str, source: Trace) -> tuple[list[tuple[Any, Trace]], str]:
        """The documents of a text written at `source`, each with its trace, and what is wrong with the text, if
        anything."""
        known = self._known.get(text)
        if known is None:
            reading = read(text.encode("utf-8", "replace"), "")
            problem = next((each.message for each in reading.problems if each.code != "duplicate-key"), "")
            known = self._known[text] = (reading.documents, problem)
        documents, problem = known
        return [(each.value, Trace(Inline(source, each, text))) for each in documents], problem
