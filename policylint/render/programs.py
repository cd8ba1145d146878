"""Programs that read a manifest and give it something before they apply it: what they give is not in the file.

A demo driven by a program keeps skeletons beside it: a policy whose target the program writes in, a backend without a
provider. Only programs in the directory of the manifest, or in one of the two above it, are asked, and only those that
name it in a call with more than its name: `applyFile("policy.yaml", overrides)`. One that hands the file to kubectl
applies it as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from policylint.patterns import Pattern
from policylint.render.scripts import Scripts
from policylint.render.tree import directories_above

_PROGRAMS = (".js", ".mjs", ".cjs", ".ts", ".py", ".rb")
_ABOVE = 3
"""The directory of a manifest and those above it in which its programs are."""
_MOST = 40
"""Programs of one directory that are read."""
_LONGEST = 200_000
"""Bytes of a program that are looked through."""
_GIVEN = Pattern(
    r"\b(?!open\b|readFile(?:Sync)?\b)\w+\(\s*[\"'`](?:[\w./-]*/)?([\w.-]+\.ya?ml)[\"'`]\s*,\s*(?:\{|\*\*|[a-zA-Z_])"
)
"""A call that takes the name of a file, and what is no text beside it."""


class Programs:
    """The programs of a tree, by the directories that they are in."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._by_directory: Mapping[str, Sequence[str]] | None = None
        self._given: dict[str, Mapping[str, str]] = {}

    def filling_in(self, path: str) -> str:
        """Return the program that gives something to a manifest; "" where none does."""
        name = path.rpartition("/")[2]
        above = directories_above(path)[-_ABOVE:][::-1]
        return next((found for each in above if (found := self._of(each).get(name, ""))), "")

    def _of(self, directory: str) -> Mapping[str, str]:
        """Return the names of the files that the programs of a directory give something to, each with the program."""
        if self._by_directory is None:
            known = defaultdict[str, list[str]](list)
            for path in self._scripts.files:
                if path.endswith(_PROGRAMS) and "node_modules/" not in path:
                    known[path.rpartition("/")[0]].append(path)
            self._by_directory = known
        if directory not in self._given:
            found: dict[str, str] = {}
            for program in self._by_directory.get(directory, ())[:_MOST]:
                text = (self._scripts.read(program) or b"")[:_LONGEST].decode("utf-8", "replace")
                for name in _GIVEN.findall(text):
                    found.setdefault(name, program)
            self._given[directory] = found
        return self._given[directory]
