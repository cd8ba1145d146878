"""The engine that merges with provenance: what stands, who owns it, and who lost which setting to whom.

A merge folds the policies of a stack, one after the other, into what stands so far. The policy that comes in is weaker
(`offer`, `join`, `lose`), stronger (`impose`, `clear`, `replace`) or, in a `patch`, either. Strategies are plain
functions over this: those of GEP-713 and of the catalog in policylint/policy/strategies.py, those of one implementation
beside it. Specs are never changed in place: what a fold holds shares its values with the manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Effective, Losses, Lost, holds
from policylint.policy.units import Leaf, Source, Unit, conflicts, leaves, places_of

if TYPE_CHECKING:
    from policylint.policy.patching import Move, Patch, Rules

Merger = Callable[["Stack"], Effective]
"""The strategy of a kind: from a stack to its effective policy."""


class Stack(NamedTuple):
    """The input of a merge.

    Args:
        kind: of the policies.
        attachments: from least to most specific, those of one node by creation order.
        objects: in the 2023 edition the objects on the path at or below a target, least specific first, whose own
            values count; otherwise empty.
    """

    kind: PolicyKind
    attachments: tuple[Attachment, ...]
    objects: tuple[Resource, ...] = ()


class _Loss(NamedTuple):
    """A leaf that lost: for which place of the effective spec, and to whom at that moment."""

    leaf: Leaf
    place: Pointer
    by: tuple[ResourceKey, ...]


class Folding:
    """An effective spec in the making.

    A *place* is a pointer into that spec or, for named units, the identity of a unit (policylint/policy/units.py).

    Attributes:
        spec: what stands. Its values are shared with the manifests and never changed in place.
        standing: by place the leaf that stands there; each item of a joined list has a place of its own.
        fields: the fields that were offered and taken.
        emptied: by place who took away what stood there, and put nothing in its place.
    """

    __slots__ = ("_beaters", "_losses", "emptied", "fields", "spec", "standing")

    def __init__(self) -> None:
        self.spec: Mapping[str, Any] = {}
        self.standing: dict[Pointer, Leaf] = {}
        self.fields: list[Pointer] = []
        self.emptied: dict[Pointer, ResourceKey] = {}
        self._losses: dict[tuple[ResourceKey, Pointer], _Loss] = {}
        self._beaters: dict[ResourceKey, set[ResourceKey]] = {}

    def holders(self, field: Pointer = ()) -> set[ResourceKey]:
        """Return the owners of what stands in a field, or above it."""
        return {leaf.owner for place, leaf in self.standing.items() if conflicts(place, field)}

    def beaters(self, policy: ResourceKey) -> frozenset[ResourceKey]:
        """Return the policies to which a policy has lost something on the way."""
        return frozenset(self._beaters.get(policy, ()))

    def offer(self, source: Source, field: Pointer, value: Any, written: Pointer | None = None) -> None:
        """Take a whole field of a weaker source if nothing stands in its way; otherwise the source loses it.

        Args:
            source: who sets the field.
            field: its place.
            value: what it is set to. A mapping holds as many leaves as there are scalars, lists and empty mappings in
                it, unless `written` is given.
            written: where the source writes the field, if the value is one leaf whatever its shape.
        """
        holders = self.holders(field)
        if holders or holds(self.spec, field):  # an empty mapping that was merged is nobody's, and stands
            self.lose(source, field, value, holders or self.holders(), written)
            return
        self.spec = _with(self.spec, field, value)
        self.standing.update(_leaves(source, field, value, written))
        self.fields.append(field)

    def join(self, source: Source, field: Pointer, value: Any) -> None:
        """Fill a field together with stronger sources: lists grow, mappings too, of two scalars the first stays."""
        from policylint.policy.patching import JOIN, Patch

        if not holds(self.spec, field):
            self.offer(source, field, value)
            return
        if value == {}:
            return
        above, name = field[:-1], str(field[-1])
        inside = {place: leaf for place, leaf in self.standing.items() if place[: len(field)] == field}
        patch = Patch(_leaves(source, field, value), inside, JOIN)
        joined = patch.members({name: value}, {name: _at(self.spec, field)}, above)
        self.spec = _with(self.spec, field, joined[name])
        for place in inside:
            del self.standing[place]
        self._settle(patch, patch.over_moves, self.standing)

    def lose(
        self, source: Source, field: Pointer, value: Any, by: Iterable[ResourceKey], written: Pointer | None = None
    ) -> None:
        """Record that a value has no effect because of others; arguments as of `offer`."""
        for place, leaf in _leaves(source, field, value, written).items():
            self.beat(leaf, place, by)

    def beat(self, leaf: Leaf, place: Pointer, by: Iterable[ResourceKey]) -> None:
        """Record that one leaf has no effect at a place. Nobody loses to itself, as a policy on two levels might."""
        others = tuple(sorted({key for key in by if key != leaf.owner}))
        key = (leaf.owner, leaf.written)
        if others and key not in self._losses:
            self._losses[key] = _Loss(leaf, place, others)
            self._beaters.setdefault(leaf.owner, set()).update(others)

    def clear(self, field: Pointer, by: ResourceKey) -> None:
        """Take away what stands in a field, or above it, and put nothing there."""
        for place in [place for place in self.standing if conflicts(place, field)]:
            self.beat(self.standing.pop(place), place, (by,))
            self.emptied[place] = by
        self.spec = _without(self.spec, field)

    def replace(self, source: Source, proper: Mapping[str, Any], units: Iterable[Unit] | None = None) -> None:
        """Put a spec proper in the place of all that stands; `units` are its leaves, unless they are named."""
        for place, leaf in self.standing.items():
            self.beat(leaf, place, (source.key,))
        self.spec = proper
        self.standing = {unit.id: Leaf(source, unit.pointer) for unit in (leaves(proper) if units is None else units)}

    def patch(self, source: Source, proper: Mapping[str, Any], rules: Rules, *, over: bool) -> None:
        """Patch a spec proper over what stands, or else what stands over the spec proper."""
        from policylint.policy.patching import Patch

        incoming = {unit.id: Leaf(source, unit.pointer) for unit in leaves(proper)}
        if over:
            patch = Patch(self.standing, incoming, rules)
            self.spec = patch.members(self.spec, proper, ())
            self._settle(patch, patch.base_moves, {})
        else:
            patch = Patch(incoming, self.standing, rules)
            self.spec = patch.members(proper, self.spec, ())
            self._settle(patch, patch.over_moves, {})

    def _settle(self, patch: Patch, moves: Iterable[Move], beside: Mapping[Pointer, Leaf]) -> None:
        """Take over what a patch came to, beside the leaves that it was not about.

        What was lost before to items of a list that was joined now was lost to where these items are now.
        """
        from policylint.policy.patching import moved

        for key, loss in self._losses.items():
            for move in moves:
                self._losses[key] = loss = loss._replace(place=moved(loss.place, move))
        for leaf, place, winners in patch.beaten:
            self.beat(leaf, place, winners)
        self.standing = {**beside, **patch.standing}
        self.emptied.update(patch.emptied)

    def lost(self) -> Losses:
        """Return what was set and has no effect, sorted.

        Who has beaten a leaf may have been beaten since: it is lost to whoever stands at its place in the end, or has
        emptied it. A leaf that lost at one place and stands at another is not lost.
        """
        if not self._losses:
            return Losses()
        standing = {(leaf.owner, leaf.pointer) for leaf in self.standing.values()}
        above = {place[:length] for place in self.standing for length in range(len(place) + 1)}
        lost: list[Lost] = []
        for leaf, place, by in self._losses.values():
            holder = self.standing.get(place)
            winner = self.emptied.get(place) if holder is None else holder.owner
            if winner == leaf.owner or (leaf.owner, leaf.pointer) in standing:
                continue
            if winner is not None and winner not in by:
                by = (winner,)
            replaced = place in above or any(place[:length] in self.standing for length in range(len(place)))
            location = leaf.source.policy.location(*leaf.written)
            lost.append(Lost(leaf.pointer, leaf.owner, by, location, replaced))
        lost.sort(key=lambda loss: (loss.policy, [str(step) for step in loss.pointer]))
        return Losses(lost)

    def effective(self, stack: tuple[Attachment, ...]) -> Effective:
        """Return the effective policy of a stack."""
        return Effective(self.spec, self.owners(), self.lost(), stack)

    def owners(self) -> dict[Pointer, ResourceKey]:
        """Return who owns the leaf at every place."""
        return {place: leaf.owner for place, leaf in self.standing.items()}


def _leaves(source: Source, field: Pointer, value: Any, written: Pointer | None = None) -> dict[Pointer, Leaf]:
    """Return the leaves of a value of one source by their places; `written` makes it one leaf."""
    if written is not None:
        return {field: Leaf(source, written)}
    return {place: Leaf(source, place) for place in places_of(value, field)}


def _at(spec: Any, place: Pointer) -> Any:
    for step in place:
        spec = spec[step]
    return spec


def _with(spec: Any, place: Pointer, value: Any) -> Any:
    """Return a spec with a value at a place; only the mappings on the way are new."""
    if not place:
        return value
    members = spec if isinstance(spec, dict) else {}
    return {**members, place[0]: _with(members.get(place[0]), place[1:], value)}


def _without(spec: Any, place: Pointer) -> Any:
    """Return a spec without what stands at a place, or above it."""
    if not place or not isinstance(spec, dict):
        return {}
    name = place[0]
    rest = {inner: value for inner, value in spec.items() if inner != name}
    if len(place) == 1 or not isinstance(spec.get(name), dict):
        return rest
    return {**spec, name: _without(spec[name], place[1:])}
