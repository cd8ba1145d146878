"""Files that a change moves: those that are gone on one side, each with the new one that it became."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

_MOST = 200
"""Files whose lines are compared, at most."""
_ALIKE = 0.5
"""The part of the lines that two files share of which one is the other moved, as git has it (`-M`, 50 %)."""


def renames(before: Mapping[str, str], after: Mapping[str, str], read: Callable[[int, str], bytes]) -> dict[str, str]:
    """Return by path before the path after of the files that were moved.

    Whose content is the same moved, to the path that ends alike; with it moved what lay in its directory, though it
    changed; and a file of one name, half of whose lines are the same.

    Args:
        before, after: path → the id of the content.
        read: returns the content of a file of a side (0 or 1).
    """
    gone, new = ({path: one[path] for path in sorted(one.keys() - other.keys())} for one, other in _ways(before, after))
    by_content: dict[str, list[str]] = defaultdict(list)
    for path, content in new.items():
        by_content[content].append(path)
    found: dict[str, str] = {}
    directories: dict[str, set[str]] = defaultdict(set)
    for path, content in gone.items():
        if candidates := by_content[content]:
            found[path] = max(candidates, key=lambda each: _ending(path, each))
            candidates.remove(found[path])
            same = _ending(path, found[path])
            directories[_without(path, same)].add(_without(found[path], same))
    free = new.keys() - found.values()
    for path in sorted(gone.keys() - found.keys()):
        above = (path[:place] for place, letter in enumerate(path) if letter == "/")
        old = next((each for each in above if len(directories.get(each, ())) == 1), "")
        target = f"{next(iter(directories[old]))}{path[len(old) :]}".lstrip("/") if old else ""
        if target in free:
            found[path] = target
            free.discard(target)
    names = Counter(path.rpartition("/")[2] for side in (gone.keys() - found.keys(), free) for path in side)
    by_name = {path.rpartition("/")[2]: path for path in sorted(free)}
    for path in sorted(gone.keys() - found.keys())[:_MOST]:
        name = path.rpartition("/")[2]
        if names[name] == 2 and name in by_name and _are_alike(read(0, path), read(1, by_name[name])):
            found[path] = by_name[name]
    return found


def _ways(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[tuple[Mapping[str, str], Mapping[str, str]], ...]:
    return (before, after), (after, before)


def _ending(one: str, other: str) -> int:
    """Return how many steps two paths share at their ends."""
    steps = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next((number for number, (a, b) in enumerate(steps) if a != b), min(one.count("/"), other.count("/")) + 1)


def _without(path: str, steps: int) -> str:
    """Return a path without its last steps."""
    return "/".join(path.split("/")[: len(path.split("/")) - steps])


def _are_alike(one: bytes, other: bytes) -> bool:
    a, b = Counter(one.splitlines()), Counter(other.splitlines())
    return (a & b).total() >= _ALIKE * max(a.total(), b.total(), 1)
