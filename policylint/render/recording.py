"""Kustomizations of a second tree, built again only where something that the first one's were made of differs.

While a kustomization is built in the first tree, every question that it asks of the tree is recorded with the answer.
In the other tree the same questions are asked, in the same order, and what was built is taken over when every answer is
the same: the very same documents (both sides share those of equal contents), the same bytes, the same yes or no. Which
question comes next depends on the answers so far and on nothing else, so a build there would have asked just these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from policylint.model import Spot
from policylint.render.inline import FileText, Inline, Texts
from policylint.render.kustomize.build import MAX_DEPTH, MAX_RUNS, NOT_BUILT_IN, Built, Kustomizer
from policylint.render.provenance import Manifest, Trace

if TYPE_CHECKING:
    from policylint.documents import Document
    from policylint.model.resource import Written
    from policylint.render.helm.charts import Charts
    from policylint.render.journal import Journal
    from policylint.render.kustomize.external import External
    from policylint.render.tree import Tree

_Kustomization = tuple[dict[str, Any], Trace]
_Kinds = frozenset[tuple[str, str]]


class Record:
    """One thing that was built, and all that it was made of.

    Attributes:
        questions: (which, about what) → the answer, in the order in which they were asked. `base` stands for another
            kustomization built on the way, whose record is the answer.
        amended: the kustomization that was given instead of the directory's own one.
        usable: whether all that it was made of is recorded.
        uncovered: whether the user's own kustomize would do better.
        depth: how many kustomizations were around it.
        height, runs: how many are inside each other in it, and how many it has itself, those of its bases apart.
        met: the paths of these, and of those of its bases.
    """

    __slots__ = ("amended", "built", "depth", "height", "met", "questions", "runs", "uncovered", "usable")

    def __init__(self, depth: int, amended: _Kustomization | None = None) -> None:
        self.questions: dict[tuple[str, Any], Any] = {}
        self.amended = amended
        self.built: Built
        self.usable = True
        self.uncovered = False
        self.depth = depth
        self.height = 0
        self.runs = 0
        self.met: set[str] = set()

    def take_in(self, directory: str, base: Record | None, above: tuple[str, ...]) -> None:
        """Another kustomization is part of this one. One that was known already has not looked at what is around it
        here: where that could matter, or where it is not recorded, this one cannot be used again either."""
        if base is None or not base.usable or not base.met.isdisjoint(above):
            self.usable = False
            return
        self.questions["base", directory] = base
        self.uncovered |= base.uncovered
        self.height = max(self.height, len(above) + base.height - self.depth)
        self.met |= base.met


class Recorded:
    """All that was built in the first tree.

    Args:
        circumstances: what must be the same for all of it.

    Attributes:
        bases: unfinished, by directory.
        roots: finished, by directory: as it is there, and amended in various ways.
    """

    def __init__(self, circumstances: object) -> None:
        self.circumstances = circumstances
        self.bases: dict[str, Record] = {}
        self.roots: dict[str, list[Record]] = {}


class Recording(Kustomizer):
    """Builds the kustomizations of the first tree. Arguments as of `Kustomizer`."""

    def __init__(
        self,
        recorded: Recorded,
        tree: Tree,
        cluster_scoped: _Kinds,
        unread: _Kinds,
        external: External | None,
        charts: Charts | None,
    ) -> None:
        self._open: list[Record] = []
        self._recorded = recorded
        super().__init__(_Witness(tree, self._open), cluster_scoped, unread, external, charts)
        self._unread = _WatchedKinds(unread, self._open)

    def build(self, directory: str, kustomization: _Kustomization | None = None) -> Built:
        record = Record(0, _amended(self, directory, kustomization))
        self._open.append(record)
        built = super().build(directory, kustomization)
        self._open.pop()
        if record.usable:
            manifests = [each.copy() for each in built.manifests]  # whoever asked may change theirs
            record.built = Built(manifests, built.journal, built.reached)
            known = self._recorded.roots.setdefault(directory, [])
            if not any(_same_kustomization(each.amended, record.amended) for each in known):
                known.append(record)
        return built

    def _base(self, directory: str, above: tuple[str, ...]) -> Built:
        if directory in self._built:
            built = self._built[directory]
        else:
            record = Record(len(above))
            self._open.append(record)
            built = super()._base(directory, above)
            self._open.pop()
            if record.usable and directory in self._built:
                record.built = built
                self._recorded.bases[directory] = record
        self._open[-1].take_in(directory, self._recorded.bases.get(directory), above)
        return built

    def _run(
        self, directory: str, body: dict[str, Any], trace: Trace, manifests: list[Manifest], above: tuple[str, ...]
    ) -> Built:
        record = self._open[-1]
        if body.get("configurations") or (self._charts is not None and body.get("helmCharts")):
            record.usable = False  # remembered apart; and what a chart holds is not among the questions
        if any(body.get(each) for each in NOT_BUILT_IN):
            record.uncovered = True
            record.usable &= self._external is None
        return super()._run(directory, body, trace, manifests, above)

    def _is_hostile(self, entry: str, path: str, place: Trace, above: tuple[str, ...], journal: Journal) -> bool:
        record = self._open[-1]
        record.runs += 1
        record.height = max(record.height, len(above) - record.depth)
        record.met.add(path)
        hostile = super()._is_hostile(entry, path, place, above, journal)
        if hostile:
            record.usable = False
        return hostile


class Reusing(Kustomizer):
    """Builds the kustomizations of another tree, those apart for which nothing differs. Arguments as of
    `Kustomizer`."""

    def __init__(
        self,
        recorded: Recorded,
        tree: Tree,
        cluster_scoped: _Kinds,
        unread: _Kinds,
        external: External | None,
        charts: Charts | None,
    ) -> None:
        super().__init__(tree, cluster_scoped, unread, external, charts)
        self._recorded = recorded
        self._same: dict[int, bool] = {}
        self._ask: dict[str, Callable[[Any], Any]] = {
            "documents": tree.documents,
            "read": tree.read,
            "is_directory": tree.is_directory,
            "kustomization_file": tree.kustomization_file,
            "kustomization": lambda directory: _document(tree.kustomization(directory)),
            "unread": unread.__contains__,
        }

    def build(self, directory: str, kustomization: _Kustomization | None = None) -> Built:
        known = self._recorded.roots.get(directory)
        if known is not None:
            amended = _amended(self, directory, kustomization)
            for record in known:
                if _same_kustomization(record.amended, amended):
                    if self._take_over(record, ()):
                        built = record.built
                        return Built([each.copy() for each in built.manifests], built.journal, built.reached)
                    break
        return super().build(directory, kustomization)

    def _base(self, directory: str, above: tuple[str, ...]) -> Built:
        if directory not in self._built:
            record = self._recorded.bases.get(directory)
            if record is not None and self._take_over(record, above):
                self._built[directory] = record.built
        return super()._base(directory, above)

    def _take_over(self, record: Record, above: tuple[str, ...]) -> bool:
        """Whether a build here would make just what was recorded, bounds on kustomizations inside each other included.
        Then its bases, and what counts towards the bounds, are as if it had been built here."""
        if (
            (record.uncovered and self._external is not None)
            or len(above) + record.height >= MAX_DEPTH
            or not record.met.isdisjoint(above)
        ):
            return False
        bases: dict[str, Record] = {}
        self._new_bases(record, bases)
        runs = self._runs + record.runs + sum(each.runs for each in bases.values())
        if runs > MAX_RUNS or not self._is_same(record):
            return False
        self._runs = runs
        for directory, each in bases.items():
            self._built[directory] = each.built
        return True

    def _new_bases(self, record: Record, found: dict[str, Record]) -> None:
        """The bases of what was recorded that are not built here yet, those of bases included."""
        for (question, about), answer in record.questions.items():
            if question == "base" and about not in self._built and about not in found:
                found[about] = answer
                self._new_bases(answer, found)

    def _is_same(self, record: Record) -> bool:
        """Whether every question has the same answer here."""
        known = self._same.get(id(record))
        if known is None:
            known = self._same[id(record)] = all(
                self._is_same(answer) if question == "base" else self._ask[question](about) == answer
                for (question, about), answer in record.questions.items()
            )
        return known


class _Witness:
    """A tree that records what is asked of it; see `Asked`."""

    def __init__(self, tree: Tree, records: list[Record]) -> None:
        self._tree = tree
        self._open = records
        self.texts: Texts = tree.texts

    def documents(self, path: str) -> list[Document] | None:
        found = self._tree.documents(path)
        if self._open:
            self._open[-1].questions["documents", path] = found
        return found

    def values(self, path: str) -> list[tuple[Any, Trace]]:
        return [(each.value, Trace(each)) for each in self.documents(path) or ()]

    def read(self, path: str) -> bytes | None:
        found = self._tree.read(path)
        if self._open:
            self._open[-1].questions["read", path] = found
        return found

    def is_directory(self, path: str) -> bool:
        found = self._tree.is_directory(path)
        if self._open:
            self._open[-1].questions["is_directory", path] = found
        return found

    def kustomization_file(self, directory: str) -> str | None:
        found = self._tree.kustomization_file(directory)
        if self._open:
            self._open[-1].questions["kustomization_file", directory] = found
        return found

    def kustomization(self, directory: str) -> _Kustomization | None:
        found = self._tree.kustomization(directory)
        if self._open:
            self._open[-1].questions["kustomization", directory] = _document(found)
        return found

    def shown(self, path: str) -> str:
        return self._tree.shown(path)  # depends on where the tree lies alone


class _WatchedKinds:
    """Kinds that record which of them somebody looked for."""

    def __init__(self, kinds: _Kinds, records: list[Record]) -> None:
        self._kinds = kinds
        self._open = records

    def __contains__(self, kind: object) -> bool:
        found = kind in self._kinds
        self._open[-1].questions["unread", kind] = found
        return found


def _document(kustomization: _Kustomization | None) -> Written | None:
    return None if kustomization is None else kustomization[1].document


def _amended(kustomizer: Kustomizer, directory: str, kustomization: _Kustomization | None) -> _Kustomization | None:
    """The kustomization to build, unless it is the directory's own one, as `build` has it."""
    own = kustomizer.tree.kustomization(directory)
    return None if kustomization is None or (own is not None and own[0] is kustomization[0]) else kustomization


def _same_kustomization(one: _Kustomization | None, other: _Kustomization | None) -> bool:
    return one is other if one is None or other is None else is_same_value(one, other)


def is_same_value(one: tuple[Any, Trace], other: tuple[Any, Trace]) -> bool:
    """Whether two values with their traces are the same: equal, and written at the same places of the same
    documents."""
    return _exactly(one[0], other[0]) and _same_trace(one[1], other[1])


def _exactly(one: Any, other: Any) -> bool:
    """Whether two values are equal to the last type and order: to Python, 1 is True and 1.0, too."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(_exactly(each, other[name]) for name, each in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(_exactly(*each) for each in zip(one, other, strict=True))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


def _same_trace(one: Trace, other: Trace) -> bool:
    """Whether two traces lead to the same places of the same documents."""
    if one is other:
        return True
    return (
        one.pointer == other.pointer
        and _same_document(one.document, other.document)
        and one.children.keys() == other.children.keys()
        and all(_same_trace(each, other.children[step]) for step, each in one.children.items())
    )


def _same_document(one: Written, other: Written) -> bool:
    if one is other:
        return True
    if isinstance(one, Spot) and isinstance(other, Spot):
        return one == other
    if isinstance(one, FileText) and isinstance(other, FileText):
        return one.file == other.file
    if isinstance(one, Inline) and isinstance(other, Inline):
        return one.inner is other.inner and one.text == other.text and _same_trace(one.outer, other.outer)
    return False
