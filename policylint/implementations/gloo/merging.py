"""Merging Gloo's options: field by field, first come first served.

Source: docs/design/implementations/kgateway-nginx-gloo.md §3.

A field is a Go field of the options: a top-level field of `spec.options`, or the one field that the members of a oneof
share (options.proto). No list and no map with nothing in it are unset; a false, a 0 and a "" are not, because all
scalars of options are wrapped or members of a oneof (isEmptyValue in pkg/utils/merge.go sees a pointer to a message).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, mapping
from policylint.policy.folding import Folding, Stack
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
"""Fields of RouteOptions and VirtualHostOptions that share one Go field, and its name."""
_MAPS = ("envoyMetadata",)
"""Fields that are maps, not messages."""
_Routes = Callable[[ResourceKey], Resource | None]
_Setting = tuple[Attachment, Pointer, Any]
"""A policy, a field that it sets, and the value."""


def options(policy: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """Yield the fields that a spec proper sets, with their values."""
    for name, value in policy.items():
        inside = mapping(value) if name == "options" else {name: value}
        prefix = ("options",) if name == "options" else ()
        yield from (((*prefix, field), inner) for field, inner in inside.items() if not _unset(field, inner))


def _unset(name: str, value: Any) -> bool:
    return value is None or value == [] or (name in _MAPS and value == {})


def _go_field(field: Pointer) -> str:
    name = str(field[-1])
    return _ONEOF.get(name, name)


def merged(stack: Stack, route: _Routes) -> Effective:
    """Return the effective options of a path; `route` finds a route by its key."""
    ranked = _by_listener(stack.attachments)
    if stack.kind.kind == "RouteOption":
        folding = _first_come(_delegated(stack.attachments, route))
    elif stack.kind.kind in FIRST_ONLY:
        folding = Folding()
        for attachment, field, value in _settings(ranked):
            if attachment.key == ranked[0].key:
                folding.offer(attachment, field, value)
            else:
                folding.lose(attachment, field, value, {ranked[0].key})
    else:
        folding = _first_come(_settings(ranked))
    return folding.effective(stack.attachments)


def _settings(attachments: Iterable[Attachment]) -> Iterator[_Setting]:
    for attachment in attachments:
        for field, value in options(attachment.declared[0].proper):
            yield attachment, field, value


def _first_come(settings: Iterable[_Setting]) -> Folding:
    """Give each Go field to the first policy that sets it, with all that it sets there."""
    folding = Folding()
    owners: dict[str, ResourceKey] = {}
    for attachment, field, value in settings:
        owner = owners.setdefault(_go_field(field), attachment.key)
        if owner == attachment.key:
            folding.offer(attachment, field, value)
        else:
            folding.lose(attachment, field, value, {owner})
    return folding


def _node_rank(attachment: Attachment) -> tuple[bool, bool]:
    return attachment.target.key.kind == "Gateway", not attachment.target.section


def _by_listener(attachments: Iterable[Attachment]) -> list[Attachment]:
    """Rank ListenerSet with section, ListenerSet, Gateway with section, Gateway; within each by age.

    A policy that is there twice counts where it comes first.
    """
    ranked: dict[ResourceKey, Attachment] = {}
    for attachment in sorted(attachments, key=_node_rank):
        ranked.setdefault(attachment.key, attachment)
    return list(ranked.values())


def _delegated(attachments: Iterable[Attachment], route: _Routes) -> Iterator[_Setting]:
    """Yield settings from the last route of a chain up: parents prevail but in the fields they leave to children."""
    routes: dict[ResourceKey, list[Attachment]] = {}
    for attachment in attachments:
        routes.setdefault(attachment.node.key, []).append(attachment)
    ranked: dict[str, list[_Setting]] = {}
    for key in reversed(routes):
        own: dict[str, list[_Setting]] = {}
        for setting in _settings(_of_route(routes[key])):
            own.setdefault(_go_field(setting[1]), []).append(setting)
        allowed = _allowed(route(key))
        for name, added in own.items():
            below = ranked.get(name, [])
            ranked[name] = [*below, *added] if allowed(name) else [*added, *below]
    for name in sorted(ranked):
        yield from ranked[name]


def _of_route(attachments: Iterable[Attachment]) -> list[Attachment]:
    """Return the policies that the rule's filters name, in their order, then those that target the route, by age."""
    last = sys.maxsize
    return sorted(
        attachments, key=lambda attachment: last if attachment.target.filter is None else attachment.target.filter
    )


def _allowed(route: Resource | None) -> Callable[[str], bool]:
    """Return a test for fields that a parent lets its children set anew: `*`, or Go names in any case."""
    allowed = route.annotations.get(OVERRIDES) if route is not None else None
    names = {name.strip().lower() for name in allowed.split(",")} if isinstance(allowed, str) else set()
    return lambda field: "*" in names or field.lower() in names


_STAGES = ("beforeExtAuth", "afterExtAuth")
_STAGED = ("jwtStaged", "jwtProvidersStaged")


def on_routes(path: str, route_options: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the options of a route take the place of a virtual host's setting, or switch it off there.

    Envoy takes the configuration of the route before that of the virtual host, filter by filter; tokens are verified by
    two filters, before and after the external authoriser, of which `jwt` is the later (options.proto).
    """
    field = path.rpartition(".")[2]
    taken = {name: value for policy in route_options for name, value in mapping(policy.get("options")).items()}
    if field not in ("jwt", "jwtStaged"):
        return field in taken
    stages = {stage for name in _STAGED for stage in mapping(taken.get(name))}
    if "jwt" in taken:
        stages.add(_STAGES[1])
    return stages.issuperset(_STAGES[1:] if field == "jwt" else _STAGES)
