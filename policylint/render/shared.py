"""What the two sides of a diff share of rendering: files read late, the output of helm, and equal objects.

Each is known by all that it depends on, so that the other side gets what it would have made itself. None of it may be
changed by those who get it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Document, read
from policylint.render.inline import Texts

if TYPE_CHECKING:
    from policylint.model import Resource, ResourceKey


class Shared:
    """For all trees that one run renders.

    Attributes:
        texts: the inline texts read so far.
    """

    def __init__(self) -> None:
        self.texts = Texts()
        self._late: dict[tuple[str, bytes], list[Document]] = {}
        self._outputs: dict[bytes, str] = {}
        self._resources: dict[tuple[int, ResourceKey], Resource] = {}
        self._of_documents: dict[tuple[frozenset[tuple[str, str]], bool], dict[Document, list[Resource]]] = {}

    def resources(self, objects: Iterable[Resource]) -> list[Resource]:
        """The objects, those that were handed in before as they were then: of the same body, which is read and placed
        alike. What was found out about one from itself alone (`Resource.once`) need not be found out again.
        """
        found = []
        for each in objects:
            known = self._resources.setdefault((id(each.body), each.key), each)
            if known is each:
                if known.answers is None:
                    known.answers = {}
            elif (
                known.document is not each.document
                or known.sources is not each.sources
                or known.root != each.root
                or known.version != each.version
            ):
                known = each
            found.append(known)
        return found

    def of_documents(self, cluster_scoped: frozenset[tuple[str, str]], movable: bool) -> dict[Document, list[Resource]]:
        """What the documents hold as far as that was read (`render.objects.resources`) with these arguments."""
        return self._of_documents.setdefault((cluster_scoped, movable), {})

    def documents(self, data: bytes, shown: str) -> list[Document]:
        """The documents of a file that is read because something names it."""
        found = self._late.get((shown, data))
        if found is None:
            found = self._late[shown, data] = read(data, shown).documents
        return found

    def template(
        self,
        files: Mapping[str, bytes],
        chart: str,
        release: str,
        namespace: str,
        values: Sequence[Any],
        settings: Iterable[tuple[str, str]] = (),
    ) -> str:
        """As `helm.template`, which is run once for equal arguments: its output depends on nothing else.

        Raises:
            HelmError: as there; then it is run again.
        """
        from policylint.render.helm.program import template

        settings = list(settings)
        key = _digest(files, (chart, release, namespace, *values, settings))
        if key not in self._outputs:
            self._outputs[key] = template(files, chart, release, namespace, values, settings)
        return self._outputs[key]


def _digest(files: Mapping[str, bytes], said: Sequence[Any]) -> bytes:
    """Of exactly what helm is given: every file with its path, and every argument as it is written for it."""
    from hashlib import blake2b
    from json import dumps

    digest = blake2b(digest_size=32)
    for part in [dumps(each, default=str).encode() for each in said]:
        digest.update(b"%d " % len(part) + part)
    for path, content in sorted(files.items()):
        name = path.encode("utf-8", "surrogateescape")
        digest.update(b"%d %d " % (len(name), len(content)) + name)
        digest.update(content)
    return digest.digest()
