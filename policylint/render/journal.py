"""What a renderer could not do, or did not see: collected on the way, shown as GWP911 and in the coverage line."""

from __future__ import annotations

from policylint.model import Location
from policylint.model.world import Note, Unseen
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Trace

NOT_RENDERED = "GWP911"
UNRESOLVED = "GWP912"


class Gap(NamedTuple):
    """Something that may put objects where no manifest shows them.

    Args:
        reason: in words, for resolutions.
        namespace: where; "" for anywhere.
        gateway_api: whether it may make routes and Gateways, or only what operators make.
    """

    reason: str
    namespace: str = ""
    gateway_api: bool = True


class Journal:
    """Notes and gaps of one environment, each once, in the order found."""

    __slots__ = ("_gaps", "_notes")

    def __init__(self) -> None:
        self._notes: dict[tuple[str, str, str, tuple[str | int, ...]], Note] = {}
        self._gaps: dict[Gap, None] = {}

    def note(self, message: str, source: Trace, *, code: str, rule: str = NOT_RENDERED) -> None:
        """Record a finding about the renderer's input."""
        place = (rule, message, source.document.file, source.pointer)
        if place not in self._notes:
            self._notes[place] = Note(rule, code, message, Location(source.document, source.pointer))

    def gap(self, reason: str, namespace: str = "", *, gateway_api: bool = True) -> None:
        self._gaps.setdefault(Gap(reason, namespace, gateway_api))

    def move(self, namespace: str) -> None:
        """A kustomization puts everything into a namespace, what was not seen included."""
        self._gaps = {gap._replace(namespace=namespace): None for gap in self._gaps}

    def forget(self, code: str) -> None:
        """Take back the notes of one code: what they speak of has been done by other means."""
        self._notes = {key: note for key, note in self._notes.items() if note.code != code}

    def add(self, other: Journal) -> None:
        """What happened while something was rendered that is used here, too."""
        self._notes.update({key: note for key, note in other._notes.items() if key not in self._notes})
        for gap in other._gaps:
            self._gaps.setdefault(gap)

    @property
    def notes(self) -> list[Note]:
        return list(self._notes.values())

    def unseen(self) -> Unseen:
        found = Unseen()
        for gap in self._gaps:
            found.add(gap.reason, gap.namespace or None, gateway_api=gap.gateway_api)
        return found

    @property
    def gaps(self) -> list[Gap]:
        return list(self._gaps)
