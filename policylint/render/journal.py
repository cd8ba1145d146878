"""Notes on what a renderer could not do or did not see: shown as GWP911 and in the coverage line."""

from __future__ import annotations

import re
from collections.abc import Callable

from policylint.budget import CUT_OFF, Cut
from policylint.model import GATEWAY_GROUP, Location, ResourceKey
from policylint.model.unseen import UnseenSource
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.provenance import Manifest, Provenance

NOT_RENDERED = "GWP911"
WITHOUT_HELM = "without helm it is not known what it makes"
"""Begins why a chart is not rendered where helm is not installed."""
LOST = "chart-lost"
"""The code of a chart that one side of a diff renders and the other one does not: what it made there stands in."""
NEARLY = "target-missed"
"""The code of a patch for an object that is there under another namespace, group, version or kind."""
_Place = tuple[str, str, tuple[str | int, ...]]
"""Message, file and pointer."""
_ONLY_CRDS = Pattern(r"crds?\b|standard-install|experimental-install", re.IGNORECASE)
_ONLY_SECRETS = Pattern(r"\b(?:sops|enc)\b|secret|credential", re.IGNORECASE)
_OF_NO_GROUP = UnseenSource(makes=frozenset())
"""Makes no policies, routes or custom resources."""


class Gap(NamedTuple):
    """Something that may put objects where no manifest shows them.

    Args:
        reason: in words, for resolutions.
        namespace: where; "" for anywhere.
        gateway_api: whether it may make routes and Gateways, or only what operators make.
        key: the one object that it may have made; None for any.
        source: what else is known of it.
    """

    reason: str
    namespace: str = ""
    gateway_api: bool = True
    source: UnseenSource = UnseenSource()
    key: ResourceKey | None = None


class Failure(NamedTuple):
    """A reason for which a kustomization cannot be built, and nothing of it is applied.

    Args:
        note: what and where.
        lacking: the path below the root that the build needs, a directory with a slash at its end: it fails where git
            does not have it; "" where it fails anyway.
    """

    note: Note
    lacking: str = ""


class Journal:
    """The notes, gaps and failures of one environment, each once, in the order found."""

    __slots__ = ("_failures", "_gaps", "_notes")

    def __init__(self) -> None:
        self._notes: dict[_Place, Note] = {}
        self._gaps: dict[Gap, None] = {}
        self._failures: dict[_Place, Failure] = {}

    def note(
        self,
        message: str,
        source: Provenance,
        *,
        code: str,
        fails: bool = False,
        lacking: str | None = None,
        rule: str = NOT_RENDERED,
    ) -> None:
        """Record a finding about the renderer's input.

        Args:
            rule: the rule that reports it.
            fails: whether kustomize certainly refuses to build it.
            lacking: the path below the root that the build needs.
        """
        place = (message, source.document.file, source.pointer)
        if place not in self._notes:
            self._notes[place] = Note(rule, code, message, Location(source.document, source.pointer))
        if fails or lacking:
            self._failures.setdefault(place, Failure(self._notes[place], lacking or ""))

    def fail(self, message: str, source: Provenance, *, code: str) -> None:
        """Record that kustomize certainly refuses to build something, though it is read here."""
        place = (message, source.document.file, source.pointer)
        note = Note(NOT_RENDERED, code, message, Location(source.document, source.pointer))
        self._failures.setdefault(place, Failure(note))

    def settle(self, is_lacking: Callable[[str], bool]) -> None:
        """Take those failures for certain that need a path which is certainly lacking."""
        for place, failure in self._failures.items():
            if failure.lacking and is_lacking(failure.lacking):
                self._failures[place] = failure._replace(lacking="")

    def cut_off(self, cut: Cut) -> None:
        """Record that rendering ended before it was done: there may be anything more."""
        message = f"{cut.what} would exceed the work budget: rendering was cut off here"
        self.note(message, cut.place, code=CUT_OFF)
        self.gap(f"rendering was cut off at {cut.place.document.file}, and anything may come after it")

    def gap(
        self,
        reason: str,
        namespace: str = "",
        *,
        gateway_api: bool = True,
        source: UnseenSource = UnseenSource(),  # noqa: B008 - immutable
    ) -> None:
        """Record something that may put objects into a namespace."""
        self._gaps.setdefault(Gap(reason, namespace, gateway_api, source))

    def leave_out(self, manifest: Manifest, why: str, namespace: str, *, may_be_there: bool = False) -> None:
        """Record an object of this tree that its deployer does not apply.

        Args:
            namespace: of an object that names none.
            may_be_there: whether the cluster may have it all the same.
        """
        if may_be_there:
            key = ResourceKey(manifest.group, manifest.kind, manifest.namespace or namespace, manifest.name)
            self._gaps.setdefault(Gap(f"{why}, but it may exist", key=key))
        if manifest.group == GATEWAY_GROUP or (manifest.group and not manifest.group.endswith("k8s.io")):
            self.note(f"{manifest} is not applied: {why}", manifest.origin.child("metadata"), code="not-applied")

    def remote(self, entry: str, place: Provenance, namespace: str = "") -> None:
        """Record a base that lies elsewhere; it may hold anything, unless its address says that it holds CRDs."""
        self.note(f"{entry} is in another repository, which was not read", place, code="remote-base")
        only_crds = bool(_ONLY_CRDS.search(entry))
        source = _OF_NO_GROUP if only_crds else UnseenSource()
        self.gap(f"{entry} may hold it, and was not seen", namespace, gateway_api=not only_crds, source=source)

    def absent(self, entry: str) -> None:
        """Record a file that is not there: encrypted Secrets are often kept out of the tree, and their files say so;
        were it a route, nothing here could be built."""
        source = _OF_NO_GROUP if _ONLY_SECRETS.search(entry) else UnseenSource()
        self.gap(f"{entry} may hold it, but does not exist", gateway_api=False, source=source)

    def move(self, namespace: str) -> None:
        """Move all gaps into a namespace, as a kustomization moves everything."""
        self._gaps = {gap if gap.key else gap._replace(namespace=namespace): None for gap in self._gaps}

    def forget(self, code: str) -> None:
        """Take back the notes of one code: what they speak of has been done by other means."""
        self._notes = {key: note for key, note in self._notes.items() if note.code != code}

    def add(self, other: Journal, *, gaps: bool = True) -> None:
        """Add what was recorded while something was rendered that is used here, too; `gaps` are left out where it is
        not for the same cluster."""
        self._notes.update({key: note for key, note in other._notes.items() if key not in self._notes})
        if gaps:
            self._gaps.update(other._gaps)
        self._failures.update(other._failures)

    @property
    def size(self) -> int:
        """The number of notes, gaps and failures."""
        return len(self._notes) + len(self._gaps) + len(self._failures)

    @property
    def notes(self) -> list[Note]:
        return list(self._notes.values())

    @property
    def gaps(self) -> list[Gap]:
        return list(self._gaps)

    @property
    def failures(self) -> list[Failure]:
        return list(self._failures.values())
