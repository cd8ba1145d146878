"""What several clusters share: an object in a file that is deployed to all of them names what each of them has.

A redirect for the Gateways `internal` and `external`, in a directory that two clusters take in, of which one has no
`internal`: what is missing there is in the other cluster, and the object has what it needs in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping, sequence, text

if TYPE_CHECKING:
    from policylint.render.environments import Environment

_LISTS = ("parentRefs", "targetRefs")
"""Fields of a spec that name several things, each of which counts by itself."""


def shared_by(
    own: Sequence[Resource], name: str, known: Iterable[Environment]
) -> Callable[[Sequence[ResourceKey]], str]:
    """Return what tells, of an object and of one that it names and that is missing here, by which other environment
    the object is shared that has it; "" where none is, or the object has nothing else here of what it names.

    Args:
        own: the objects of one environment.
        name: what it is called.
        known: all environments.
    """

    @cache
    def here() -> Mapping[ResourceKey, Resource]:
        return {each.key: each for each in own}

    @cache
    def others() -> Sequence[tuple[str, Mapping[ResourceKey, str]]]:
        return [
            (each.name, {resource.key: resource.document.file for resource in each.objects()})
            for each in known
            if each.name != name
        ]

    def reason(keys: Sequence[ResourceKey]) -> str:
        if len(keys) != 2 or keys[1] in here() or keys[0] not in here():
            return ""
        holder, wanted = here()[keys[0]], keys[1]
        named = [each for field in _LISTS for each in sequence(holder.spec.get(field))]
        if not any(each != wanted and each in here() for each in map(_key(holder), map(mapping, named))):
            return ""
        for other, files in others():
            if wanted in files and files.get(holder.key) == holder.document.file:
                return f"{holder.document.file} is deployed to {other}, too, which has {wanted}"
        return ""

    return reason


def _key(holder: Resource) -> Callable[[Mapping[str, object]], ResourceKey]:
    """Return what tells which object an entry of a list means."""

    def meant(entry: Mapping[str, object]) -> ResourceKey:
        group = text(entry["group"]) if "group" in entry else GATEWAY_GROUP
        namespace = text(entry.get("namespace")) or holder.key.namespace
        return ResourceKey(group, text(entry.get("kind")) or "Gateway", namespace, text(entry.get("name")))

    return meant
