"""Merging Gloo's options: field by field, first come first served (kgateway-nginx-gloo.md §3).

A field is a top-level field of `spec.options`. Zero values (false, 0, "", an empty list) count as unset, as in Go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, mapping
from policylint.policy.fold import Fold
from policylint.policy.merge import Stack
from policylint.policy.state import Attachment, Effective

OVERRIDES = "delegation.gateway.solo.io/enable-policy-overrides"
FIRST_ONLY = frozenset({"ListenerOption", "HttpListenerOption"})
"""Kinds of which the first alone applies, whole."""
Owner = Callable[[ResourceKey], Resource | None]


def options(policy: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """The fields that a spec proper sets."""
    for name, value in policy.items():
        if name != "options":
            if not _unset(value):
                yield (name,), value
            continue
        yield from ((("options", field), each) for field, each in mapping(value).items() if not _unset(each))


def _unset(value: Any) -> bool:
    return value is None or (not isinstance(value, dict) and value in (False, 0, "", []))


def merged(stack: Stack, route: Owner) -> Effective:
    """The effective options of a path."""
    fold = Fold()
    if stack.kind.kind in FIRST_ONLY:
        _first(fold, by_listener(stack.attachments))
    elif stack.kind.kind == "RouteOption":
        _delegated(fold, stack.attachments, route)
    else:
        for each in by_listener(stack.attachments):
            for field, value in options(each.declared[0].proper):
                fold.offer(each, field, value)
    return fold.effective(stack.attachments)


def _first(fold: Fold, ranked: Sequence[Attachment]) -> None:
    winner = ranked[0]
    for each in ranked:
        for field, value in options(each.declared[0].proper):
            if each.key == winner.key:
                fold.offer(each, field, value)
            else:
                fold.lose(each, field, value, {winner.key})


def by_listener(attachments: Iterable[Attachment]) -> list[Attachment]:
    """ListenerSet with section, ListenerSet, Gateway with section, Gateway; inside each by age.

    Quirk of the controller: in one policy a reference with a section that follows one without counts as one without.
    """
    everything = list(attachments)

    def place(each: Attachment) -> tuple[bool, bool]:
        flattened = any(
            other.key == each.key
            and other.node.key == each.node.key
            and not other.node.section
            and _index(other) < _index(each)
            for other in everything
        )
        return each.node.key.kind == "Gateway", not each.node.section or flattened

    found: list[Attachment] = []
    for each in sorted(everything, key=place):
        if all(each.key != other.key for other in found):
            found.append(each)
    return found


def _index(attachment: Attachment) -> int:
    last = attachment.target.pointer[-1]
    return last if isinstance(last, int) else 0


def _delegated(fold: Fold, attachments: Iterable[Attachment], route: Owner) -> None:
    """From the last route of a chain up: each parent prevails, but in the fields that it leaves to its children."""
    routes: dict[ResourceKey, list[Attachment]] = {}
    for each in attachments:
        routes.setdefault(each.node.key, []).append(each)
    setting: dict[Pointer, list[tuple[Attachment, Any]]] = {}
    for key in reversed(routes):
        own: dict[Pointer, list[tuple[Attachment, Any]]] = {}
        for each in of_route(routes[key]):
            for field, value in options(each.declared[0].proper):
                own.setdefault(field, []).append((each, value))
        allowed = _allowed(route(key))
        for field, added in own.items():
            below = setting.get(field, [])
            setting[field] = [*below, *added] if allowed(str(field[-1])) else [*added, *below]
    for field in sorted(setting, key=str):
        for each, value in setting[field]:
            fold.offer(each, field, value)


def of_route(attachments: Iterable[Attachment]) -> list[Attachment]:
    """Those that the rule's filters name, in their order, then those that target the route, by age."""
    everything = list(attachments)
    filters = [each for each in everything if each.target.filter is not None]
    filters.sort(key=lambda each: each.target.filter or 0)
    return [*filters, *(each for each in everything if each.target.filter is None)]


def _allowed(route: Resource | None) -> Callable[[str], bool]:
    """Which fields a parent lets its children set anew, by its annotation: `*`, or names without regard to case."""
    said = route.annotations.get(OVERRIDES) if route is not None else None
    names = {each.strip().lower() for each in said.split(",")} if isinstance(said, str) else set()
    return lambda field: "*" in names or field.lower() in names
