"""What a report is about: what lies below some paths, what is deployed from there, and what acts on it or comes of it.

The whole repository is simulated; a scope picks what concerns the paths that the user named
(docs/design/decisions/0016-a-path-is-what-is-reported.md).
"""

# ruff: noqa: PTH118 - paths as seen from here, thousands of them

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.render.provenance import Provenance

if TYPE_CHECKING:
    from policylint.model import Finding, Resource, ResourceKey, World


class ReportScope:
    """Some files and directories of a repository.

    Args:
        root: the git root, links resolved.
        paths: posix, below the root.
    """

    __slots__ = ("_here", "_known", "_root", "paths")

    def __init__(self, root: str, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._root = os.path.join(root, "")
        self._here = os.path.realpath(os.curdir)
        self._known: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Tell whether a file or directory, by its path below the root, is one of the paths or lies below one."""
        return any(path == named or path.startswith(f"{named}/") for named in self.paths)

    def shows(self, file: str) -> bool:
        """Tell the same of a file by its path as shown; of a directory also where it holds one of the paths: what is
        wrong with it may be wrong with them."""
        known = self._known.get(file)
        if known is None:
            path = self.below_root(file)
            above = f"{path}/" if path else ""
            known = self._known[file] = self.holds(path) or any(named.startswith(above) for named in self.paths)
        return known

    def below_root(self, file: str) -> str:
        """Return the path below the root of a file by its path as shown."""
        place = os.path.join(os.path.normpath(os.path.join(self._here, file)), "")
        return place.removeprefix(self._root).rstrip(os.sep).replace(os.sep, "/")

    def has_part(self, entries: Mapping[str, Collection[str]], files: Iterable[str]) -> bool:
        """Tell whether anything of an environment lies below the paths or is deployed from there.

        Args:
            entries: where its deployments begin, with what each deploys.
            files: those, as shown, in which its objects are written.
        """
        return bool(_reached(self, entries)) or any(map(self.shows, files))

    def of(self, world: World) -> WorldScope:
        """Return what concerns the paths in one environment."""
        return WorldScope(self, world)


class TouchedScope(ReportScope):
    """A scope and what a change touches: of the environments that have no part in either, nothing can be reported.

    Args:
        changed: the files of the change, by their paths as shown, on either side.
    """

    __slots__ = ("_above", "_changed")

    def __init__(self, scope: ReportScope, changed: Iterable[str]) -> None:
        super().__init__(scope._root.rstrip(os.sep), scope.paths)
        self._changed = frozenset(changed)
        paths = {self.below_root(file) for file in self._changed}
        self._above = paths | {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}

    def has_part(self, entries: Mapping[str, Collection[str]], files: Iterable[str]) -> bool:
        if super().has_part(entries, files := set(files)) or not files.isdisjoint(self._changed):
            return True
        return any(entry in self._above or not self._above.isdisjoint(entries[entry]) for entry in entries)


class WorldScope:
    """What concerns a scope in one environment: what lies there, and what is deployed from there."""

    __slots__ = ("_reached", "_scope", "_world")

    def __init__(self, scope: ReportScope, world: World) -> None:
        self._scope = scope
        self._world = world
        self._reached = _reached(scope, world.entries)

    def has_part(self) -> bool:
        """Tell whether anything of the environment lies below the paths or is deployed from there."""
        return self._scope.has_part(self._world.entries, self._world.files)

    def holds_file(self, file: str) -> bool:
        """Tell whether a file, as shown, lies there or is deployed from there."""
        return self._scope.shows(file) or (bool(self._reached) and self._scope.below_root(file) in self._reached)

    def holds_object(self, key: ResourceKey) -> bool:
        """Tell whether an object is written there, as a whole or in part, or is deployed from there."""
        resource = self._world.resources.get(key)
        return resource is not None and any(map(self.holds_file, _files_of(resource)))

    def concerns(self, finding: Finding) -> bool:
        """Tell whether a finding is about something there, or about what something there does elsewhere."""
        locations = (finding.location, *(related.location for related in finding.related))
        return any(self.holds_file(location.file) for location in locations) or any(
            map(self.holds_object, finding.resources)
        )


def concerning(findings: Iterable[Finding], scopes: Mapping[str, Sequence[WorldScope]]) -> list[Finding]:
    """Return the findings that concern a scope.

    Args:
        scopes: by the name of the environment, on either side of a diff.
    """
    return [
        finding
        for finding in findings
        if any(scope.concerns(finding) for name in finding.environments or scopes for scope in scopes.get(name, ()))
    ]


def _reached(scope: ReportScope, entries: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the files and directories that are deployed from entries in a scope, and from entries among those."""
    reached: set[str] = set()
    pending = [entry for entry in entries if scope.holds(entry)]
    while pending:
        fresh = set(entries[pending.pop()]) - reached
        reached |= fresh
        pending += [path for path in fresh if path in entries]
    return frozenset(reached)


def _files_of(resource: Resource) -> Iterable[str]:
    """Return the files, as shown, in which an object or a part of it is written."""
    files = {resource.document.file: None}
    pending = [resource.sources] if isinstance(resource.sources, Provenance) else []
    while pending:
        origin = pending.pop()
        files[origin.document.file] = None
        pending += origin.children.values()
    return files


__all__ = ["ReportScope", "TouchedScope", "WorldScope", "concerning"]
