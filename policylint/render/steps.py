"""What scripts say of the order in which plain files are applied: which objects never stand together.

The steps of a walkthrough share a cluster and not a moment: `kubectl delete httproute simple`, then `kubectl apply -f
weighted.yaml`. And what a script applies in a comment only is instead of something else: an image for a slow network.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from policylint.model import Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.by_hand import named_files, places, scripts, starts

_COMMANDS = Pattern(r"\b(?:kubectl|KUBECTL|oc)\b[^\n|;&#]{0,200}?\b(apply|create|replace|delete)\b([^\n|;&#]{0,400})")
_COMMENT = Pattern(r"(?m)^[ \t]*(?:#|//)")
_BARE = Pattern(r"(?m)^[ \t]*#+[ \t]*(?:kubectl|oc)\b")
"""A command that a comment takes out, rather than one that explains another."""
_WITH_VALUE = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--timeout", "--grace-period", "-l"})
_MOST = 2_000
"""Commands of a script that are looked at."""
_MOST_PAIRS = 20_000


class _Step(NamedTuple):
    """One command of a script, with the objects that it applies or deletes."""

    deletes: bool
    objects: frozenset[ResourceKey]


def apart(
    resources: Sequence[Resource],
    relative: Mapping[str, str],
    files: Iterable[str],
    read: Callable[[str], bytes | None],
) -> dict[frozenset[ResourceKey], str]:
    """Return the pairs of objects that never stand together by what scripts say, each with the reason.

    A pair is none where another script applies both, and deletes none of the two.

    Args:
        resources: of plain files.
        relative: the paths below the root, by the paths that findings show.
        files: those of the tree, below the root.
    """
    known = _Known(resources, relative)
    found: dict[frozenset[ResourceKey], str] = {}
    together: list[frozenset[ResourceKey]] = []
    aside: dict[ResourceKey, str] = {}
    applied: set[ResourceKey] = set()
    for script, text in scripts(files, read, b"kubectl", b"oc "):
        steps = list(_steps(known, script, text))
        deleted = frozenset[ResourceKey]().union(*(step.objects for step in steps if step.deletes))
        put = frozenset[ResourceKey]().union(*(step.objects for step in steps if not step.deletes))
        applied |= put
        together.append(put - deleted)
        for pair, reason in _in_turn(steps, script):
            found.setdefault(pair, reason)
        aside.update((key, f"{script} applies it in a comment only") for key in _commented(known, script, text))
        if len(found) > _MOST_PAIRS:
            return {}
    found = {pair: reason for pair, reason in found.items() if not any(pair <= each for each in together)}
    for key, reason in aside.items():
        if key not in applied:
            for other in applied:
                found.setdefault(frozenset((key, other)), f"{key}: {reason}")
    return found


class _Known:
    """The objects of plain files, by the words with which commands name them."""

    __slots__ = ("_by_file", "_by_name", "_files")

    def __init__(self, resources: Iterable[Resource], relative: Mapping[str, str]) -> None:
        self._by_file: dict[str, set[ResourceKey]] = defaultdict(set)
        self._by_name: dict[tuple[str, str], set[ResourceKey]] = defaultdict(set)
        for each in resources:
            self._by_file[relative.get(each.document.file, each.document.file)].add(each.key)
            self._by_name[each.key.kind.lower(), each.key.name].add(each.key)
        self._files = sorted(self._by_file)

    def of_path(self, path: str) -> Iterator[ResourceKey]:
        """Yield the objects of a file, or of all files of a directory."""
        yield from self._by_file.get(path, ())
        start = bisect_right(self._files, f"{path}/")
        for file in self._files[start:]:
            if not file.startswith(f"{path}/"):
                return
            yield from self._by_file[file]

    def named(self, kind: str, name: str) -> set[ResourceKey]:
        """Return the objects of a kind and name, as a command writes them: `httproute`, `httproutes`, `Kind.group`."""
        kind = kind.partition(".")[0].lower()
        singular = [kind, kind.removesuffix("s"), kind.removesuffix("es"), f"{kind.removesuffix('ies')}y"]
        return next((keys for each in singular if (keys := self._by_name.get((each, name)))), set())


def _steps(known: _Known, script: str, text: str) -> Iterator[_Step]:
    """Yield the commands of a script that apply or delete objects of plain files, in their order."""
    start = starts(script, text)
    for number, match in enumerate(_COMMANDS.finditer(text)):
        if number > _MOST:
            return
        if _COMMENT.match(text, text.rfind("\n", 0, match.start()) + 1):
            continue
        deletes = match[1] == "delete"
        objects = set(_of_files(known, match[2], text, start))
        if deletes and not objects:
            objects.update(_of_words(known, match[2]))
        if objects:
            yield _Step(deletes, frozenset(objects))


def _of_files(known: _Known, command: str, text: str, start: tuple[str, ...]) -> Iterator[ResourceKey]:
    for path in named_files(command, text):
        for place in places(start, path):
            yield from known.of_path(place)


def _of_words(known: _Known, command: str) -> Iterator[ResourceKey]:
    """Yield the objects that a command names by kind and name: `httproute one two`, `httproute/one`."""
    words, named = iter(command.split()), []
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            named.append(word.strip("\"'`"))
    kinds = "" if not named or "/" in named[0] else named.pop(0)
    for name in named:
        kind, _, inner = name.rpartition("/")
        for each in (kind or kinds).split(","):
            yield from known.named(each, inner)


def _in_turn(steps: Sequence[_Step], script: str) -> Iterator[tuple[frozenset[ResourceKey], str]]:
    """Yield the pairs of which a script deletes one before it first applies the other, and applies it no more."""
    first: dict[ResourceKey, int] = {}
    last: dict[ResourceKey, int] = {}
    deleted: dict[ResourceKey, int] = {}
    for number, step in enumerate(steps):
        for key in step.objects:
            if step.deletes:
                deleted[key] = number
            else:
                first.setdefault(key, number)
                last[key] = number
    for key, at in deleted.items():
        if last.get(key, -1) < at:
            for other, begins in first.items():
                if begins > at and other != key:
                    yield frozenset((key, other)), f"{script} deletes {key} before it applies {other}"


def _commented(known: _Known, script: str, text: str) -> set[ResourceKey]:
    """Return the objects that a script applies in a comment only; none where it applies nothing else."""
    start = starts(script, text)
    dead: set[ResourceKey] = set()
    lives = False
    for match in _COMMANDS.finditer(text):
        if match[1] == "delete":
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        if _BARE.match(text, line):
            dead.update(_of_files(known, match[2], text, start))
        elif not _COMMENT.match(text, line):
            lives = True
    return dead if lives else set()
