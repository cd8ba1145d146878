"""What a stack of policies comes to: replacement, or a merge with the nearest policy above the route.

Source: docs/design/implementations/envoy-gateway.md §5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import ROUTE_KINDS, PolicyKind, Resource, ResourceKey
from policylint.policy import units
from policylint.policy.merge import Stack
from policylint.policy.results import Attachment, Declared, Effective, Lost
from policylint.records import NamedTuple
from policylint.topology import Topology

APPENDED = {("rateLimit", "global", "rules"), ("rateLimit", "local", "rules")}
"""Rules of both rate limits stand side by side, as the controller names each after its policy."""
L4_ROUTES = ("TCPRoute", "TLSRoute", "UDPRoute")
L4_PROTOCOLS = ("TCP", "TLS", "UDP")


def merge(stack: Stack, topology: Topology) -> Effective:
    """The most specific policy alone, or patched onto its base, or with gaps filled on layer 4 (§4, §5).

    Fields that are null are fields that are not set: the controller merges typed objects, which know no null.

    The base of a policy with mergeType is the nearest one on a listener, ListenerSet or Gateway: a route's policy
    never is the base of a rule's. The base itself is taken as it is, whatever it replaced.
    """
    child = stack.attachments[-1]
    fills = stack.kind.kind == "BackendTrafficPolicy" and _on_layer_4(child, topology)
    told: list[object] = []
    for each in stack.attachments:
        told += (each.policy, each.declared, each.node.key.kind in ROUTE_KINDS)
    spec, owners, lost = child.policy.once(_merged, stack.kind, fills, *told)
    return Effective(spec, owners, lost, stack.attachments)


class _Part(NamedTuple):
    """What of an attachment decides the merge."""

    policy: Resource
    declared: tuple[Declared, ...]
    on_route: bool

    @property
    def key(self) -> ResourceKey:
        return self.policy.key


def _merged(
    _: Resource, kind: PolicyKind, fills: bool, *told: Any
) -> tuple[Mapping[str, Any], Mapping[Pointer, ResourceKey], tuple[Lost, ...]]:
    """Spec, owners and what was lost; `told` holds the fields of every part, one after the other."""
    *above, child = (_Part(*told[number : number + 3]) for number in range(0, len(told), 3))
    draft = _Draft(child)
    granularity = child.declared[0].granularity
    base = next((each for each in reversed(above) if not each.on_route), None) if child.on_route else None
    if base is not None and granularity in ("strategic", "patch"):
        draft.merge_onto(base, kind.merge.lists if granularity == "strategic" else None)
        above = [each for each in above if each is not base]
    for each in reversed(above):
        if fills:
            draft.fill_from(each)
        else:
            draft.drop(each)
    return draft.spec, draft.owners, draft.lost_for_good()


def _on_layer_4(attachment: Attachment, topology: Topology) -> bool:
    """Whether what a policy acts on is a connection: there a field that it leaves out comes from the broader one."""
    if attachment.node.key.kind in ROUTE_KINDS:
        return attachment.node.key.kind in L4_ROUTES
    listener = topology.listener(attachment.node)
    return listener is not None and listener.protocol in L4_PROTOCOLS


class _Draft:
    """An effective spec in the making, with the owner of every leaf; list items that were joined are leaves."""

    def __init__(self, child: _Part) -> None:
        self.child = child
        self.spec: dict[str, Any] = _plain(child)
        self.owners: dict[Pointer, ResourceKey] = {unit.id: child.key for unit in units.leaves(self.spec)}
        self.lost: list[Lost] = []

    def merge_onto(self, base: _Part, lists: Mapping[str, str] | None) -> None:
        """Patch the child onto another policy: RFC 7386, with `lists` a strategic merge by the key of each list."""
        patch = self.spec
        self.owners = {}
        merged = _Merge(self, base, lists)
        self.spec = merged.members(_plain(base), patch, (), ())

    def fill_from(self, other: _Part) -> None:
        """Top-level fields that are not set yet."""
        for name, value in _plain(other).items():
            if name in self.spec:
                by = {owner for pointer, owner in self.owners.items() if pointer[0] == name}
                self.lose(other, value, (name,), by)
            else:
                self.spec[name] = value
                self.own(value, (name,), other.key)

    def drop(self, other: _Part) -> None:
        """A policy that is replaced whole."""
        by = set(self.owners.values()) or {self.child.key}
        for name, value in _plain(other).items():
            self.lose(other, value, (name,), by)

    def own(self, value: Any, pointer: Pointer, owner: ResourceKey) -> None:
        for leaf in _leaves(value, pointer):
            self.owners[leaf] = owner

    def lose(self, other: _Part, value: Any, pointer: Pointer, by: set[ResourceKey]) -> None:
        """Record a value that has no effect; the same policy on two levels loses nothing to itself."""
        if other.key in by:
            return
        prefix = other.declared[0].prefix
        for leaf in _leaves(value, pointer):
            location = other.policy.location(*prefix, *leaf)
            self.lost.append(Lost(leaf, other.key, tuple(sorted(by)), location))

    def lost_for_good(self) -> tuple[Lost, ...]:
        """What was lost, with whether something else stands in its place, sorted."""
        taken = list(self.owners)
        lost = [
            each._replace(replaced=any(units.conflicts(each.pointer, other) for other in taken)) for each in self.lost
        ]
        lost.sort(key=lambda each: (each.policy, [str(step) for step in each.pointer]))
        return tuple(lost)


class _Merge:
    """One patch onto one base, member by member. Pointers into the result and into the base differ below lists."""

    def __init__(self, draft: _Draft, base: _Part, lists: Mapping[str, str] | None) -> None:
        self.draft = draft
        self.base = base
        self.child = draft.child
        self.strategic = lists is not None
        self.keys: dict[Pointer, str] = {tuple(path.split(".")): key for path, key in (lists or {}).items()}

    def members(self, base: Mapping[str, Any], patch: Mapping[str, Any], here: Pointer, origin: Pointer) -> Any:
        result: dict[str, Any] = {}
        for name, value in base.items():
            place, source = (*here, name), (*origin, name)
            if name not in patch:
                result[name] = value
                self.draft.own(value, place, self.base.key)
            elif isinstance(value, dict) and isinstance(patch[name], dict):
                result[name] = self.members(value, patch[name], place, source)
            elif isinstance(value, list) and isinstance(patch[name], list) and self._joins(place):
                result[name] = self._join(value, patch[name], place, source)
            else:
                self.draft.lose(self.base, value, source, {self.child.key})
                result[name] = patch[name]
                self.draft.own(patch[name], place, self.child.key)
        for name, value in patch.items():
            if name not in base:
                result[name] = value
                self.draft.own(value, (*here, name), self.child.key)
        return result

    def _joins(self, place: Pointer) -> bool:
        return self.strategic and (place in self.keys or place in APPENDED)

    def _join(self, base: list[Any], patch: list[Any], here: Pointer, origin: Pointer) -> list[Any]:
        """Item by item where the list has a key, else one after the other."""
        key = self.keys.get(here)
        patched = {} if key is None else {each[key]: each for each in patch if isinstance(each, dict) and key in each}
        joined: list[Any] = []
        for index, each in enumerate(base):
            place = (*here, len(joined))
            over = patched.pop(each.get(key), None) if isinstance(each, dict) else None
            if over is None:
                joined.append(each)
                self.draft.own(each, place, self.base.key)
            else:
                joined.append(self.members(each, over, place, (*origin, index)))
        matched = [each for each in patch if key is None or not isinstance(each, dict) or each.get(key) in patched]
        for each in matched:
            self.draft.own(each, (*here, len(joined)), self.child.key)
            joined.append(each)
        return joined


def _leaves(value: Any, pointer: Pointer) -> list[Pointer]:
    if isinstance(value, dict) and value:
        return [(*pointer, *unit.id) for unit in units.leaves(value)]
    return [pointer]


def _plain(attachment: _Part) -> dict[str, Any]:
    """A spec proper without nulls."""
    plain: dict[str, Any] = _without_nulls(attachment.declared[0].proper)
    return plain


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
