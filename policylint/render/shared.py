"""What the two sides of a diff share of rendering: what was read late, filled in, printed by helm, and built.

Each is known by all that it depends on, so that the other side gets what it would have made itself. None of it may be
changed by those who get it; manifests are handed out as copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Document, read
from policylint.render.inline import Texts

if TYPE_CHECKING:
    from policylint.model import Resource, ResourceKey
    from policylint.render.helm.charts import Charts
    from policylint.render.kustomize.build import Kustomizer
    from policylint.render.kustomize.external import External
    from policylint.render.provenance import Manifest, Trace
    from policylint.render.recording import Recorded
    from policylint.render.tree import Tree

    _Results = dict[tuple[int, int, bool], tuple[tuple[Any, Trace], tuple[Any, Trace]]]


class Shared:
    """For all trees that one run renders.

    Attributes:
        texts: the inline texts read so far.
    """

    def __init__(self) -> None:
        self.texts = Texts()
        self._late: dict[tuple[str, bytes], list[Document]] = {}
        self._recorded: Recorded | None = None
        self._completed: dict[tuple[Any, ...], list[tuple[Any, Trace, _Results]]] = {}
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

    def kustomizer(
        self,
        tree: Tree,
        cluster_scoped: frozenset[tuple[str, str]],
        unread: frozenset[tuple[str, str]],
        external: External | None,
        charts: Charts | None,
    ) -> Kustomizer:
        """Builds the kustomizations of a tree: those of the first one are recorded, and those of another one taken from
        there where nothing that they were made of differs. Arguments as of `Kustomizer`."""
        from policylint.render.kustomize.build import Kustomizer
        from policylint.render.recording import Recorded, Recording, Reusing

        circumstances = (tree.shown(""), cluster_scoped, charts is None)
        if self._recorded is None:
            self._recorded = Recorded(circumstances)
            return Recording(self._recorded, tree, cluster_scoped, unread, external, charts)
        if self._recorded.circumstances != circumstances:
            return Kustomizer(tree, cluster_scoped, unread, external, charts)
        return Reusing(self._recorded, tree, cluster_scoped, unread, external, charts)

    def documents(self, data: bytes, shown: str) -> list[Document]:
        """The documents of a file that is read because something names it."""
        found = self._late.get((shown, data))
        if found is None:
            found = self._late[shown, data] = read(data, shown).documents
        return found

    def complete(
        self,
        manifests: list[Manifest],
        common: Any,
        place: Trace,
        variables: Mapping[str, str],
        with_variables: frozenset[str],
    ) -> None:
        """As `flux.complete`, which is done once with the very same body and trace and equal arguments."""
        from policylint.render.flux.deployment import complete

        known = self._results(common, place, variables)
        left = []
        for each in manifests:
            body, trace = each.body, each.trace
            key = (id(body), id(trace), each.file in with_variables)
            found = known.get(key)
            if found is None:
                left.append((each, key, body, trace))
            else:
                each.body, each.trace = found[0]
        complete([each for each, *_ in left], common, place, variables, with_variables)
        for each, key, body, trace in left:
            known[key] = (each.body, each.trace), (body, trace)  # these are kept so that their ids stay their own

    def _results(self, common: Any, place: Trace, variables: Mapping[str, str]) -> _Results:
        """What is known for these arguments; where there is no common metadata its place does not matter."""
        from policylint.render.recording import is_same_value

        where = (place.document.file, place.pointer) if common else ("", ())
        candidates = self._completed.setdefault((frozenset(variables.items()), *where), [])
        for value, trace, results in candidates:
            if not common or is_same_value((value, trace), (common, place)):
                return results
        candidates.append((common, place, {}))
        return candidates[-1][2]

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
