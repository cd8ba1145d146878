"""Suppressions of the configuration, for files that one may not edit (stackrox/kube-linter#487)."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.config.settings import Settings
from policylint.model import Location, ResourceKey
from policylint.model.suppression import Suppression


def suppressions(settings: Settings) -> list[Suppression]:
    """Return the entries of `ignore` that name a resource or a path."""
    return [
        Suppression(
            "configuration",
            entry.rules,
            entry.reason.strip(),
            Location(settings.places, ("ignore", entry.number)),
            entry.expires,
            resource=entry.resource,
            path=entry.path,
        )
        for entry in settings.suppressions
        if settings.places is not None
    ]


def is_meant(pattern: str, keys: Iterable[ResourceKey]) -> bool:
    """Return whether `Kind[.group]/[namespace/]name`, with wildcards, is one of the objects."""
    from fnmatch import fnmatchcase

    kind, _, rest = pattern.partition("/")
    kind, dot, group = kind.partition(".")
    namespace, slash, name = rest.rpartition("/")
    return any(
        fnmatchcase(key.kind, kind)
        and (not dot or fnmatchcase(key.group, group))
        and (not slash or fnmatchcase(key.namespace, namespace))
        and fnmatchcase(key.name, name)
        for key in keys
    )
