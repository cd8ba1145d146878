"""Lessons: directories that are tried one by one, as their names say, and the numbered steps of a tutorial.

What a lesson holds is a world by itself (`lessons`); of a step it is only known that others come before or after it
(`steps`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from policylint.patterns import Pattern

_CALLED = r"(?i:ch|chapter|day|exercise|lab|lesson|module|part|scenario|step|unit)[-_. ]?\d{1,3}(?!\d)"
_LESSON = Pattern(_CALLED)
"""A directory that is tried by itself, as those beside it with other numbers are."""
_COURSES = frozenset({"chapters", "courses", "lessons"})
"""Directories whose subdirectories are tried by themselves where they are called by numbers alone."""
_TUTORIALS = frozenset({"demo", "demos", "lab", "labs", "tutorial", "tutorials", "workshop", "workshops", "exercises"})
"""Directories whose subdirectories are tried one by one, each on top of what lies outside of them."""
_ON_THE_WAY = Pattern(rf"/(?:{_CALLED}|(?:chapters|courses|lessons|demos?|labs?|tutorials?|workshops?|exercises)/)")
"""What stands on the way to each directory that is tried by itself, and to few others."""
_STEP = Pattern(r"(\d{1,3})[-_. ]\w")
"""A step of a tutorial: `01-install`."""


def lessons(files: Iterable[str]) -> dict[str, set[str]]:
    """Return the files below each of several directories that are tried one by one; the innermost ones count.

    Args:
        files: posix.
    """
    below: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    of_directories: dict[str, tuple[str, str] | None] = {"": None}
    for file in files:
        directory = file.rpartition("/")[0]
        if directory not in of_directories:
            of_directories[directory] = _tried(directory)
        place = of_directories[directory]
        if place is not None:
            below[place[0]][place[1]].add(file)
    return {lesson: own for several in below.values() if len(several) > 1 for lesson, own in several.items()}


def _tried(directory: str) -> tuple[str, str] | None:
    """Return the innermost directory on the way that is tried by itself, after the one that it is in."""
    if _ON_THE_WAY.search(f"/{directory}") is None:
        return None
    steps = ["", *directory.split("/")]
    for at in range(len(steps) - 2, -1, -1):
        is_numbered = steps[at] in _COURSES and steps[at + 1].isdigit()
        if is_numbered or steps[at] in _TUTORIALS or _LESSON.match(steps[at + 1]):
            return "/".join(steps[1 : at + 1]), "/".join(steps[1 : at + 2])
    return None


def steps(files: Iterable[str]) -> dict[str, set[str]]:
    """Return the files of each lesson, and those of the numbered directories side by side at the top which are in none
    (`01-install`, `02-policies`).

    Args:
        files: posix; a directory, with a slash at its end, stands for what it holds.
    """
    files = set(files)
    numbered = {top for file in files if "/" in file and number_of(top := file.partition("/")[0]) is not None}
    found = lessons(files)
    taken = set().union(*found.values())
    for top in numbered if len(numbered) > 1 else ():
        found[top] = {file for file in files if file.startswith(f"{top}/")} - taken
    return found


def number_of(directory: str) -> int | None:
    """Return the number that the name of a directory begins with, None where it has none."""
    written = _STEP.match(directory.rpartition("/")[2])
    return None if written is None else int(written[1])
