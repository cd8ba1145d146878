"""What scripts say of the order in which plain files are applied: which objects never stand together.

The steps of a walkthrough share a cluster and not a moment: `kubectl delete httproute simple`, then `kubectl apply -f
weighted.yaml`. What a script applies in a comment only is instead of something else: an image for a slow network. And
in a directory that is a lesson of a tutorial, or whose files a script applies by their names, two files that are at
odds are most often tried one after the other. So are two in different directories of examples, or of a tree of which
several exclude each other and are no environments, and two of which each has instructions of its own (`README.md`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations, takewhile

from policylint.model import Resource, ResourceKey
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render import lessons as courses
from policylint.render.by_hand import named_files, places, singular, starts
from policylint.render.live import EXAMPLES
from policylint.render.scripts import Scripts, ScriptText, is_prose

_COMMANDS = Pattern(
    r"(?:k(?<=\bk)ubectl|K(?<=\bK)UBECTL|o(?<=\bo)c)"  # as in by_hand
    r"\b[^\n|;&#]{0,200}?\b(apply|create|replace|delete)\b([^\n|;&#]{0,400})"
)
_COMMENT = Pattern(r"(?m)^[ \t]*(?:#|//)")
_BARE = Pattern(r"(?m)^[ \t]*#+[ \t]*(?:kubectl|oc)\b")
"""A command that a comment takes out, rather than one that explains another."""
_WITH_VALUE = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--timeout", "--grace-period", "-l"})
_MOST = 2_000
"""Commands of a script that are looked at."""
_MOST_PAIRS = 20_000
_FEW = 2
"""Directories that exclude each other, at most, where others are not taken for ones that are tried one by one, but for
what is applied to the namespace that nobody chose."""
_ANYBODYS = frozenset({"", "default"})


class _Command(NamedTuple):
    """One command of a script.

    Args:
        runs: whether it stands in no comment.
        is_taken_out: whether a comment takes it out.
    """

    deletes: bool
    words: str
    runs: bool
    is_taken_out: bool


class _Step(NamedTuple):
    """One command of a script, with the objects that it applies or deletes."""

    deletes: bool
    objects: frozenset[ResourceKey]


class Steps(NamedTuple):
    """What scripts and the names of directories say of objects of plain files.

    Args:
        apart: the pairs of objects that never stand together, each with the reason.
        together: the objects that a script applies without deleting any of them, by script.
        lessons: the directory of a tutorial in which an object lies.
        applied: the objects that a script applies, by script.
        files: the files in which the objects lie.
        one_by_one: the directories of which a script applies a file by its name, each with the script.
        instructed: the directory, below the top, whose own instructions tell people to apply a file, by file.
        setting_up: the script, no text for people, that applies most of the objects, "" where there is none.
    """

    apart: Mapping[frozenset[ResourceKey], str]
    together: Sequence[frozenset[ResourceKey]]
    lessons: Mapping[ResourceKey, str]
    applied: Sequence[frozenset[ResourceKey]]
    files: Mapping[ResourceKey, str]
    one_by_one: Mapping[str, str]
    instructed: Mapping[str, str]
    setting_up: str = ""

    def reason(self, keys: Iterable[ResourceKey], *, are_rivals: bool) -> str:
        """Return why two of some objects never stand together, "" if they may.

        Args:
            are_rivals: whether they are at odds because both are there: in a lesson, and in a directory whose files are
                applied one by one, nothing says that they are but a script that applies both.
        """
        for pair in map(frozenset, combinations(dict.fromkeys(keys), 2)):
            if found := self.apart.get(pair):
                return found
            if are_rivals and (reason := self._of_lesson(pair) or self._one_by_one(pair)):
                return reason
        return ""

    def _of_lesson(self, pair: frozenset[ResourceKey]) -> str:
        """Return why two objects may be two steps of a lesson, "" where they are none, or a script applies both."""
        files = sorted({self.files[key] for key in pair if key in self.lessons})
        lessons = {self.lessons.get(key) for key in pair}
        if len(files) < len(pair) or len(lessons) > 1 or any(pair <= each for each in self.together):
            return ""
        return f"{' and '.join(files)} may be two steps in {lessons.pop()}/: no script applies both"

    def _one_by_one(self, pair: frozenset[ResourceKey]) -> str:
        """Return why nothing says that two objects of one sort are applied both, "" where something does."""
        files = sorted({self.files[key] for key in pair if key in self.files})
        if len(files) < len(pair) or len({"Route" if "Route" in key.kind else key.kind for key in pair}) > 1:
            return ""
        script = next((found for each in files if (found := self.one_by_one.get(each.rpartition("/")[0]))), "")
        if not script or any(pair <= each for each in self.applied):
            return ""
        return f"{script} applies the files one by one, and no script applies both {' and '.join(files)}"

    def in_directories(
        self,
        keys: Iterable[ResourceKey],
        tried: Sequence[str],
        places: Collection[str] = (),
        built: Iterable[Collection[str]] = (),
    ) -> str:
        """Return why nothing says that two objects of two directories stand together, "" where something does, or where
        they are no examples and nothing says that they are tried one by one. One directory in the other may be on top
        of it, and what lies in one that lies beside those that are tried is of that one.

        Args:
            tried: the directories of the tree that exclude each other, as they are called.
            places: the directories in which these lie, each with a slash at its end.
            built: what kustomizations take in together, each a set of files.
        """
        for pair in map(frozenset, combinations(dict.fromkeys(keys), 2)):
            files = sorted({self.files[key] for key in pair if key in self.files})
            if any(pair <= each for each in self.applied) or len(files) < len(pair):
                continue
            homes = [file[: file.rfind("/") + 1] for file in files]
            if any(home.startswith(other) for home, other in permutations(homes, 2)):
                continue
            if any(all(file in each for file in files) for each in built):
                continue
            if all(not EXAMPLES.isdisjoint(file.split("/")[:-1]) for file in files):
                return f"no script applies both examples, {' and '.join(files)}"
            shared = _shared(*homes)
            is_one = any(shared != place and shared.startswith(place) for place in places)
            if not is_one and len(tried) > (1 if all(key.namespace in _ANYBODYS for key in pair) else _FEW):
                others = count(len(tried) - 1, "other directory", "other directories")
                return f"{tried[0]}/ and {others} exclude each other: no script applies both {' and '.join(files)}"
            if reason := self._instructed_apart(files) or self._left_out(pair):
                return reason
        return ""

    def _left_out(self, pair: frozenset[ResourceKey]) -> str:
        """Return which of two files what sets up the tree leaves out, and every other script, as it is shown only, or
        is for later; "" for none."""
        aside = [self.files[key] for key in pair if not any(key in each for each in self.applied)]
        is_one = bool(self.setting_up) and len(aside) == 1
        return f"{self.setting_up} applies most of the tree, and not {aside[0]}" if is_one else ""

    def _instructed_apart(self, files: Sequence[str]) -> str:
        """Return which two directories have instructions of their own for two files, "" where they are not two."""
        homes = [self.instructed.get(each, "") for each in files]
        if not all(homes) or any(f"{home}/".startswith(f"{other}/") for home, other in permutations(homes, 2)):
            return ""
        return f"{homes[0]}/ and {homes[1]}/ have instructions of their own: none applies both {' and '.join(files)}"


def _shared(directory: str, other: str) -> str:
    """Return the innermost directory that holds two, each with a slash at its end; "" for the top."""
    steps = zip(directory.split("/")[:-1], other.split("/")[:-1], strict=False)
    return "".join(f"{step}/" for step, _ in takewhile(lambda pair: pair[0] == pair[1], steps))


def steps(
    resources: Sequence[Resource],
    relative: Mapping[str, str],
    scripts: Scripts,
) -> Steps:
    """Return what scripts say of the order in which they apply objects of plain files.

    A pair is not apart where another script applies both, and deletes none of the two.

    Args:
        resources: of plain files.
        relative: the paths below the root, by the paths that findings show.
        scripts: those of the tree.
    """
    known = _Known(resources, relative)
    paths = {each.key: relative.get(each.document.file, each.document.file) for each in resources}
    tried = courses.steps({*scripts.directories, *paths.values()})
    lesson_of = {path: lesson for lesson, own in tried.items() for path in own}
    lessons = {key: lesson_of[path] for key, path in paths.items() if path in lesson_of}
    found: dict[frozenset[ResourceKey], str] = {}
    together: list[frozenset[ResourceKey]] = []
    aside: dict[ResourceKey, str] = {}
    one_by_one: dict[str, str] = {}
    by_script: list[frozenset[ResourceKey]] = []
    instructed: dict[str, str] = {}
    setting_up = ""
    for script, text in scripts.naming(b"kubectl", b"oc "):
        commands = list(_commands(text))
        start = starts(script, text) if commands else ()
        named = [tuple(places(start, *named_files(each.words, text))) for each in commands]
        steps_of = [_Step(each.deletes, _meant(known, each, at)) for each, at in zip(commands, named, strict=True)]
        for each, at in zip(commands, named, strict=True):
            for path in at if each.runs and not each.deletes else ():
                if known.is_file(path):
                    one_by_one.setdefault(path.rpartition("/")[0], script)
        taken = [step for each, step in zip(commands, steps_of, strict=True) if each.runs]
        deleted = frozenset[ResourceKey]().union(*(step.objects for step in taken if step.deletes))
        put = frozenset[ResourceKey]().union(*(step.objects for step in taken if not step.deletes))
        by_script.append(put)
        if not setting_up and not is_prose(script) and 2 * len(put) > len(paths):
            setting_up = script
        home = script.rpartition("/")[0] if is_prose(script) else ""
        for path in {paths[key] for key in put} if home else ():
            if path.startswith(f"{home}/"):
                instructed[path] = max(home, instructed.get(path, ""), key=len)
        together.append(put - deleted)
        for pair, reason in _in_turn(taken, script):
            found.setdefault(pair, reason)
        if any(not step.deletes for step in taken):
            for each, step in zip(commands, steps_of, strict=True):
                if each.is_taken_out and not each.deletes:
                    aside.update(dict.fromkeys(step.objects, f"{script} applies it in a comment only"))
        if len(found) > _MOST_PAIRS:
            return Steps({}, together, lessons, by_script, paths, one_by_one, instructed)
    found = {pair: reason for pair, reason in found.items() if not any(pair <= each for each in together)}
    applied = frozenset[ResourceKey]().union(*by_script)
    for key, reason in aside.items():
        if key not in applied:
            for other in applied:
                found.setdefault(frozenset((key, other)), f"{key}: {reason}")
    return Steps(
        found, [each for each in together if each], lessons, by_script, paths, one_by_one, instructed, setting_up
    )


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

    def is_file(self, path: str) -> bool:
        """Return whether a path is that of a file with objects."""
        return path in self._by_file

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
        return next((keys for each in singular(kind) if (keys := self._by_name.get((each, name)))), set())


def _commands(script: ScriptText) -> Iterator[_Command]:
    """Yield the commands of a script that apply or delete something, in their order."""
    text = script.text
    for match in script.all(_COMMANDS)[: _MOST + 1]:
        line = text.rfind("\n", 0, match.start()) + 1
        yield _Command(match[1] == "delete", match[2], not _COMMENT.match(text, line), bool(_BARE.match(text, line)))


def _meant(known: _Known, command: _Command, paths: Iterable[str]) -> frozenset[ResourceKey]:
    """Return the objects of plain files that a command applies or deletes.

    Args:
        paths: what those may be that it names.
    """
    objects = frozenset(key for path in paths for key in known.of_path(path))
    return frozenset(_of_words(known, command.words)) if command.deletes and not objects else objects


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
