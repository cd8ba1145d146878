"""What building a kustomization asks of the tree: these questions and no others, so that all can be recorded."""

from __future__ import annotations

from typing import Any, Protocol

from policylint.documents import Document
from policylint.render.inline import Texts
from policylint.render.provenance import Trace


class Asked(Protocol):
    """A tree, as far as its kustomizations look at it."""

    texts: Texts

    def documents(self, path: str) -> list[Document] | None: ...

    def values(self, path: str) -> list[tuple[Any, Trace]]: ...

    def read(self, path: str) -> bytes | None: ...

    def is_directory(self, path: str) -> bool: ...

    def kustomization_file(self, directory: str) -> str | None: ...

    def kustomization(self, directory: str) -> tuple[dict[str, Any], Trace] | None: ...

    def shown(self, path: str) -> str: ...
