"""What scripts of a tree make before they build: files that git lacks, and that stand where a script puts them.

A generator copies what it needs beside a kustomization, builds that, and cleans up; or it writes the manifest that an
overlay takes in. Deployers run no scripts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policylint.patterns import Pattern
from policylint.render.by_hand import places, starts
from policylint.render.scripts import Scripts, ScriptText
from policylint.render.tree import directories_above

_BUILDING = (b"kubectl", b"oc ", b"helm", b"kustomize")
_WORD = r"[^\s;&|<>()\"']+"
_COPIES = Pattern(
    rf"(?m)(?<![\w./-])(?:cp|mv|ln|rsync)(?:[ \t]+[^\s;&|]+){{1,12}}?[ \t]+[\"']?({_WORD})[\"']?[ \t]*(?:$|[;&|])"
)
"""The last word of what copies, moves or links: where to."""
_WRITES = Pattern(rf"(?:>>?|\btee(?:[ \t]+-a)?|(?<![\w-])(?:-o|-O|--output\S*))[ \t=]*[\"']?({_WORD})")
_CLONES = Pattern(rf"\bgit[ \t]+clone\b[^\n;&|]{{0,120}}?(?::/|@)\S+[ \t]+[\"']?({_WORD})")
_MOST = 300
"""Commands of one sort of a script that are looked at."""


def made(scripts: Scripts, paths: Collection[str]) -> frozenset[str]:
    """Return those of some paths below the root that a script of the tree makes, or something above them."""
    if not paths:
        return frozenset()
    put = {place for script, text in scripts.naming(*_BUILDING) for place in _put(script, text)}
    above = {path: (path.rstrip("/"), *directories_above(path.rstrip("/"))[1:]) for path in paths}
    return frozenset(path for path in paths if not put.isdisjoint(above[path]))


def _put(script: str, text: ScriptText) -> Iterator[str]:
    """Yield where a script may put files and directories."""
    start = starts(script, text)
    for pattern in (_COPIES, _WRITES, _CLONES):
        for match in text.all(pattern)[:_MOST]:
            yield from places(start, match[1].rstrip("/"))
