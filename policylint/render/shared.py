"""Results of rendering that both sides of a diff share: files read late, the output of helm, and equal objects.

Each is known by all that it depends on, so that the other side gets what it would have made itself. None of it may be
changed by those who get it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from policylint.documents import Document, read
from policylint.render.inline import Texts

if TYPE_CHECKING:
    from policylint.budget import Budget
    from policylint.model import Resource, ResourceKey
    from policylint.render.helm.program import HelmError, Rendered


class Outputs:
    """What helm makes of charts, each asked for once."""

    __slots__ = ("_outputs",)

    def __init__(self) -> None:
        self._outputs: dict[bytes, Rendered | HelmError] = {}

    def template(self, files: Mapping[str, bytes], *arguments: Any, budget: Budget | None = None) -> Rendered:
        """Run `helm.program.template` once for equal arguments: its output, or its error, depends on nothing else.

        Raises:
            HelmError, ExhaustedError: as there.
        """
        from policylint.render.helm.program import HelmError, template

        key = _digest(files, arguments)
        if key not in self._outputs:
            try:
                self._outputs[key] = partial(template, budget=budget)(files, *arguments)
            except HelmError as error:
                self._outputs[key] = error
        output = self._outputs[key]
        if isinstance(output, HelmError):
            raise output
        return output


class Shared:
    """The results that all trees of one run share.

    Attributes:
        texts: the inline texts read so far.
        outputs: what helm makes of charts.
    """

    def __init__(self) -> None:
        self.texts = Texts()
        self._late: dict[tuple[str, bytes], list[Document]] = {}
        self.outputs = Outputs()
        self._installed: dict[tuple[str, str, str], tuple[object, Rendered]] = {}
        self._resources: dict[tuple[int, ResourceKey], Resource] = {}
        self._of_documents: dict[tuple[frozenset[tuple[str, str]], bool], dict[Document, list[Resource]]] = {}

    def resources(self, objects: Iterable[Resource]) -> list[Resource]:
        """Return the objects, those of the same body that was handed in before, placed alike, as they were then: what
        was found out about one from itself alone (`Resource.once`) need not be found out again."""
        shared = []
        for resource in objects:
            known = self._resources.setdefault((id(resource.body), resource.key), resource)
            if known is resource:
                known.keep_answers()
            elif (
                known.document is not resource.document
                or known.sources is not resource.sources
                or known.root != resource.root
                or known.version != resource.version
                or known.provisional != resource.provisional
            ):
                known = resource
            shared.append(known)
        return shared

    def of_documents(self, cluster_scoped: frozenset[tuple[str, str]], movable: bool) -> dict[Document, list[Resource]]:
        """Return the objects of documents, as far as `load.objects.resources` made them with these arguments."""
        return self._of_documents.setdefault((cluster_scoped, movable), {})

    def documents(self, data: bytes, shown: str) -> list[Document]:
        """Return the documents of a file that is read because something names it."""
        documents = self._late.get((shown, data))
        if documents is None:
            documents = self._late[shown, data] = read(data, shown).documents
        return documents

    def installed(self, where: tuple[str, str, str], side: object, rendered: Rendered | None) -> Rendered | None:
        """Remember what a chart makes on one side, and return what it made on the other; None where that is not known.

        Args:
            where: the chart's directory, the name of the release, and its namespace.
            rendered: None where it cannot be rendered.
        """
        other, former = self._installed.get(where, (side, None))
        if rendered is not None:
            self._installed.setdefault(where, (side, rendered))
        return None if other is side else former


def _digest(files: Mapping[str, bytes], arguments: Sequence[Any]) -> bytes:
    """Return the digest of exactly what helm is given: every argument as JSON, and every file with its path."""
    from hashlib import blake2b
    from json import dumps

    digest = blake2b(digest_size=32)
    for argument in arguments:
        part = dumps(argument, default=str).encode()
        digest.update(b"%d " % len(part) + part)
    for path, content in sorted(files.items()):
        name = path.encode("utf-8", "surrogateescape")
        digest.update(b"%d %d " % (len(name), len(content)) + name)
        digest.update(content)
    return digest.digest()
