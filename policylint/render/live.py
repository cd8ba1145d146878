"""Directories whose names say that nothing in them is deployed: examples, tests, documentation, archives.

A name alone is weak evidence, so it counts only where nothing else is known: not in a directory that the user names,
not in one that something deploys, and not where the directories beside it are called as environments are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from policylint.patterns import Pattern

_ARCHIVES = frozenset(
    f"{mark}{name}" for mark in ("", ".", "_") for name in ("archive", "archived", "archives", "deprecated", "disabled")
)
"""With or without a dot or underscore before it, what stays out of use even where a tree has nothing else."""
_SAMPLES = frozenset({"invalid", "valid"})
"""Each of their files is held against a schema by itself; `valid` is called so where `invalid` is beside it."""
_FOR_GOOD = _ARCHIVES | _SAMPLES
"""What nobody deploys even where a tree has nothing else."""
TESTS = frozenset(
    {
        "conformance",
        "e2e",
        "fake",
        "fakes",
        "fixtures",
        "mocks",
        "test",
        "test-data",
        "test-fixtures",
        "test-resources",
        "test-utils",
    }
    | {"test_data", "testdata", "testfiles", "tests", "testutil", "testutils", ".chainsaw-test", ".kyverno-test"}
)
"""What they hold is wrong on purpose as often as not: nothing of it is anybody's to mend."""
_DATA = "data"
"""In tests it holds what they read."""
_OF_A_PROGRAM = Pattern(
    r"(?:.*_test\.(?:go|py|rs|exs)|test_.*\.py|conftest\.py|.*\.(?:test|spec)\.[cm]?[jt]sx?|.*Tests?\.(?:java|kt|cs)"
    r"|.*_spec\.rb)"
)
"""What the tests of a program are called."""
_DOCS = frozenset({"docs", "doc"})
EXAMPLES = frozenset({"example", "examples", "sample", "samples"})
NOT_LIVE = _FOR_GOOD | TESTS | _DOCS | EXAMPLES | {"template", "templates", "hack", "scripts"}
ENVIRONMENT_MARKERS = ("clusters", "cluster", "overlays", "overlay", "environments", "envs", "stages")
"""Directories whose subdirectories are named as environments."""
ENVIRONMENTS = frozenset(
    {"dev", "develop", "development", "int", "integration", "qa", "uat", "acceptance", "stage", "staging", "preprod"}
    | {"prod", "production", "live"}
)
PLATFORMS = frozenset(
    {"aws", "eks", "azure", "aks", "gcp", "gke", "oci", "oke", "digitalocean", "hetzner", "ibm", "openshift"}
    | {"local", "kind", "k3d", "k3s", "minikube", "talos", "bare-metal", "baremetal", "on-prem", "onprem"}
)
"""What clusters run on: directories of two of these names, side by side, are of two clusters."""
CALLED = ENVIRONMENTS | PLATFORMS


def is_out_of_use(path: str) -> bool:
    """Tell whether a file is part of tests, documentation or an archive, by the names of its directories."""
    return dead_step(path, names=TESTS | _DOCS | _FOR_GOOD) is not None


def is_archive(directory: str) -> bool:
    """Tell whether a directory is called as what is out of use for good."""
    return directory.rpartition("/")[2] in _FOR_GOOD


def is_written_about(path: str) -> bool:
    """Tell whether a file is part of documentation: it says no more of what is deployed than a test does."""
    return not _DOCS.isdisjoint(path.split("/")[:-1])


def test_of(path: str, named: Collection[str]) -> str:
    """Return the directory of tests that a file lies in, "" where it lies in none, or in one that the user named."""
    above = (name for name in named if name and path.startswith(f"{name}/"))
    step = dead_step(path, max((name.count("/") + 1 for name in above), default=0), names=TESTS)
    return "" if path in named or step is None else "/".join(path.split("/")[: step + 1])


def of_programs(tests: Collection[str], files: Iterable[str]) -> set[str]:
    """Return those of some directories of tests that the tests of a program read: these lie in them, or beside them.

    Args:
        files: all that there are, posix.
    """
    beside = {test.rpartition("/")[0] for test in tests}
    found: set[str] = set()
    for file in files:
        place, _, name = file.rpartition("/")
        if _OF_A_PROGRAM.fullmatch(name) is None:
            continue
        if place in beside:
            found.update(test for test in tests if test.rpartition("/")[0] == place)
        found.update(test for test in tests if f"{place}/".startswith(f"{test}/"))
    return found


def beside_code(files: Iterable[str], listed: Iterable[str], named: Collection[str]) -> dict[str, str]:
    """Return those of some files that lie beside code of a test suite in Go, each with its directory: the code embeds
    and applies them one by one.

    Args:
        listed: all files that there are, posix.
        named: the paths that the user named: what lies right there is meant.
    """
    of_code = {file.rpartition("/")[0] for file in listed if file.endswith(".go")}.difference(named)
    return {file: place for file in files if (place := file.rpartition("/")[0]) in of_code and file not in named}


class Live:
    """Tells which of some files may be deployed, to judge by the names of their directories: all of them where
    otherwise none could be, but for archives, and for tests where examples are beside them.

    Args:
        files: posix, below the root.
        named: the paths that the user named, below the root.
        root: what the root is called.
        manifests: those of the files that hold objects.

    Attributes:
        base: the directory that holds all of the files: below the root where the user gave a part of the repository.
    """

    __slots__ = ("_beside", "_files", "_for_good", "_known", "_named", "_root", "base")

    def __init__(
        self, files: Collection[str], named: Iterable[str], root: str, manifests: Collection[str] | None = None
    ) -> None:
        directories = {file.rpartition("/")[0] for file in files}
        above = [directory.split("/") for directory in directories] or [[""]]
        first, last = min(above), max(above)
        common = next((at for at, step in enumerate(first) if last[at : at + 1] != [step]), len(first))
        self.base = "/".join(first[:common])
        is_archive = not _ARCHIVES.isdisjoint(first[:common])
        names = {*named, *(() if is_archive else (self.base,))}
        self._files = names.intersection(files)
        self._named = sorted(names, key=len, reverse=True)
        self._known: dict[str, str | None] = {}
        self._for_good: frozenset[str] | None = None
        self._root = root
        self._beside: dict[str, set[str]] = {}
        for directory in directories:
            self._take_in(directory)
        counted = files if manifests is None else manifests
        if not any(map(self.holds, counted)):
            self._known.clear()
            self._for_good = _FOR_GOOD if all(map(is_out_of_use, counted)) else _FOR_GOOD | TESTS

    def _take_in(self, directory: str) -> None:
        while directory:
            above, _, step = directory.rpartition("/")
            siblings = self._beside.setdefault(above, set())
            if step in siblings:
                return
            siblings.add(step)
            directory = above

    def holds(self, path: str) -> bool:
        """Tell whether a file may be deployed; a directory ends in a slash."""
        return self.example(path) is None

    def example(self, path: str) -> str | None:
        """Return the directory because of whose name a file is not deployed, None where there is none."""
        if path in self._files:
            return None
        directory = path.rpartition("/")[0]
        if directory not in self._known:
            entered = self._entered(directory, NOT_LIVE)
            is_dead = bool(entered) and (self._for_good is None or entered[-1] in self._for_good)
            self._known[directory] = "/".join(entered) if is_dead else None
        return self._known[directory]

    def out_of_use(self, path: str) -> str:
        """Return the directory of tests, or the archive, that a file lies in; "" where it lies in none, or in one that
        the user named."""
        return "" if path in self._files else "/".join(self._entered(path.rpartition("/")[0], TESTS | _FOR_GOOD))

    def _entered(self, directory: str, names: Collection[str]) -> list[str]:
        """Return the steps up to the first one, of those that the user did not name, that is called as some are."""
        place = f"{directory}/" if directory else ""
        named = next((name for name in self._named if name and place.startswith(f"{name}/")), "")
        steps = named.count("/") + 1 if named else 0
        step = dead_step(place, steps, lambda above: self._beside.get(above, ()), self._root, names)
        return [] if step is None else directory.split("/")[: step + 1]


def dead_step(
    path: str,
    named: int = 0,
    beside: Callable[[str], Collection[str]] = lambda directory: (),  # noqa: ARG005
    root: str = "",
    names: Collection[str] = NOT_LIVE,
) -> int | None:
    """Return the number of the step at which the way to a file enters a directory that is not deployed by its name;
    None where there is no such step.

    Args:
        path: posix, from the top; a directory ends in a slash.
        named: how many of its first steps the user named.
        beside: returns the names of the directories in a directory.
        root: what the directory is called from which the path begins.
        names: what such directories are called.
    """
    steps = path.split("/")[:-1]
    for depth in range(named, len(steps)):
        step, above = steps[depth], steps[depth - 1] if depth else root
        if step.startswith(".") and names is NOT_LIVE:
            return depth
        is_one = step in names or (step == _DATA and above in TESTS)
        if is_one and above not in ENVIRONMENT_MARKERS:
            siblings = beside("/".join(steps[:depth])) if step in ("test", "valid") else ()
            if ENVIRONMENTS.isdisjoint(siblings) and (step != "valid" or "invalid" in siblings):
                return depth
    return None
