"""Merging Gloo's options: field by field, first come first served.

Source: docs/design/implementations/kgateway-nginx-gloo.md §3.

A field is a Go field of the options: a top-level field of `spec.options`, or the one field that the members of a oneof
share (options.proto). No list and no map with nothing in it are unset; a false, a 0 and a "" are not, because all
scalars of options are wrapped or members of a oneof (isEmptyValue in pkg/utils/merge.go sees a pointer to a message).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, mapping
from policylint.policy.fold import Fold
from policylint.policy.merge import Stack
from policylint.policy.results import Attachment, Effective

OVERRIDES = "delegation.gateway.solo.io/enable-policy-overrides"
FIRST_ONLY = frozenset({"ListenerOption", "HttpListenerOption"})
"""Kinds of which the first alone applies, whole."""
_ONEOF = {
    "hostRewrite": "hostRewriteType",
    "autoHostRewrite": "hostRewriteType",
    "hostRewriteHeader": "hostRewriteType",
    "hostRewritePathRegex": "hostRewriteType",
    "ratelimit": "rateLimitConfigType",
    "rateLimitConfigs": "rateLimitConfigType",
    "ratelimitEarly": "rateLimitEarlyConfigType",
    "rateLimitEarlyConfigs": "rateLimitEarlyConfigType",
    "ratelimitRegular": "rateLimitRegularConfigType",
    "rateLimitRegularConfigs": "rateLimitRegularConfigType",
    "jwt": "jwtConfig",
    "jwtStaged": "jwtConfig",
    "jwtProvidersStaged": "jwtConfig",
}
"""Of RouteOptions and VirtualHostOptions, the Go fields in which several fields are kept."""
_MAPS = ("envoyMetadata",)
"""Fields that are maps, not messages."""
Owner = Callable[[ResourceKey], Resource | None]


def options(policy: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """The fields that a spec proper sets."""
    for name, value in policy.items():
        if name != "options":
            if not _unset(name, value):
                yield (name,), value
            continue
        yield from ((("options", field), each) for field, each in mapping(value).items() if not _unset(field, each))


def _unset(name: str, value: Any) -> bool:
    return value is None or value == [] or (name in _MAPS and value == {})


class _Fold:
    """Offers Go fields: of one, the first policy has all that it sets and the others have nothing."""

    def __init__(self) -> None:
        self.fold = Fold()
        self._owners: dict[str, ResourceKey] = {}

    def offer(self, attachment: Attachment, field: Pointer, value: Any) -> None:
        owner = self._owners.setdefault(_go_field(field), attachment.key)
        if owner == attachment.key:
            self.fold.offer(attachment, field, value)
        else:
            self.fold.lose(attachment, field, value, {owner})


def _go_field(field: Pointer) -> str:
    name = str(field[-1])
    return _ONEOF.get(name, name)


def merged(stack: Stack, route: Owner) -> Effective:
    """The effective options of a path."""
    fold = _Fold()
    if stack.kind.kind in FIRST_ONLY:
        _first(fold.fold, by_listener(stack.attachments))
    elif stack.kind.kind == "RouteOption":
        _delegated(fold, stack.attachments, route)
    else:
        for each in by_listener(stack.attachments):
            for field, value in options(each.declared[0].proper):
                fold.offer(each, field, value)
    return fold.fold.effective(stack.attachments)


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

    A policy that is there twice counts where it comes first.
    """
    found: list[Attachment] = []
    for each in sorted(attachments, key=lambda each: (each.node.key.kind == "Gateway", not each.node.section)):
        if all(each.key != other.key for other in found):
            found.append(each)
    return found


def _delegated(fold: _Fold, attachments: Iterable[Attachment], route: Owner) -> None:
    """From the last route of a chain up: each parent prevails, but in the fields that it leaves to its children."""
    routes: dict[ResourceKey, list[Attachment]] = {}
    for each in attachments:
        routes.setdefault(each.node.key, []).append(each)
    setting: dict[str, list[tuple[Attachment, Pointer, Any]]] = {}
    for key in reversed(routes):
        own: dict[str, list[tuple[Attachment, Pointer, Any]]] = {}
        for each in of_route(routes[key]):
            for field, value in options(each.declared[0].proper):
                own.setdefault(_go_field(field), []).append((each, field, value))
        allowed = _allowed(route(key))
        for name, added in own.items():
            below = setting.get(name, [])
            setting[name] = [*below, *added] if allowed(name) else [*added, *below]
    for name in sorted(setting):
        for each, field, value in setting[name]:
            fold.offer(each, field, value)


def of_route(attachments: Iterable[Attachment]) -> list[Attachment]:
    """Those that the rule's filters name, in their order, then those that target the route, by age."""
    everything = list(attachments)
    filters = [each for each in everything if each.target.filter is not None]
    filters.sort(key=lambda each: each.target.filter or 0)
    return [*filters, *(each for each in everything if each.target.filter is None)]


def _allowed(route: Resource | None) -> Callable[[str], bool]:
    """Which fields a parent lets its children set anew, by its annotation: `*`, or Go names without regard to case."""
    said = route.annotations.get(OVERRIDES) if route is not None else None
    names = {each.strip().lower() for each in said.split(",")} if isinstance(said, str) else set()
    return lambda field: "*" in names or field.lower() in names
