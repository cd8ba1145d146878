"""The files that Flux fetches of a source: all but those that patterns leave out, which no Kustomization then applies.

Patterns are those of `.sourceignore` files, of the source's `spec.ignore`, and of Flux itself; the last one that fits
a path decides. Flux matches as go-git does, which is not quite git: a pattern with a slash in it fits the beginning of
a path, so that `!/kubernetes` brings back all that lies below a directory which `/*` left out.

Source: fluxcd/pkg `sourceignore/sourceignore.go`, fluxcd/source-controller `internal/controller/storage.go`, go-git
`plumbing/format/gitignore/pattern.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.namedtuple import NamedTuple
from policylint.render.globs import PLAIN, glob
from policylint.render.tree import Tree, inside

IGNORE_FILE = ".sourceignore"
_DIRECTORIES = frozenset({".git", ".github", ".circleci"})
_NAMES = frozenset(
    {
        ".gitignore", ".gitmodules", ".gitattributes", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml",
        "cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml", ".goreleaser.yml", ".sops.yaml", ".flux.yaml",
    }
)  # fmt: skip
_SUFFIXES = (".jpg", ".jpeg", ".gif", ".png", ".wmv", ".flv", ".tar.gz", ".zip")
_ANY_DEPTH = "**"


class IgnorePattern(NamedTuple):
    """One line of patterns.

    Args:
        domain: the steps to the directory whose paths it is for.
        steps: of the pattern; a single one fits any step of a path.
        includes: whether it brings back what an earlier one left out.
        is_directory: whether it is for directories, and what is in them.
    """

    domain: tuple[str, ...]
    steps: tuple[str, ...]
    includes: bool
    is_directory: bool

    @classmethod
    def of(cls, line: str, domain: tuple[str, ...]) -> IgnorePattern:
        """Return the pattern that a line is."""
        includes = line.startswith("!")
        line = line.removeprefix("!")
        if not line.endswith("\\ "):
            line = line.rstrip(" ")
        is_directory = line.endswith("/")
        return cls(domain, tuple(line.removesuffix("/").split("/")), includes, is_directory)

    def fits(self, path: Sequence[str]) -> bool:
        """Return whether it is for a file, by the steps to it."""
        depth = len(self.domain)
        if len(path) <= depth or tuple(path[:depth]) != self.domain:
            return False
        rest = path[depth:]
        if len(self.steps) == 1:
            of_directories = rest[:-1] if self.is_directory else rest
            return any(_fits(self.steps[0], step) for step in of_directories)
        return self._fits_from_top(rest)

    def _fits_from_top(self, path: Sequence[str]) -> bool:
        matched = skips = False
        rest = list(path)
        for step in self.steps:
            if not step:
                skips = False
            elif step == _ANY_DEPTH:
                skips = True
            elif _ANY_DEPTH in step or not rest:
                return False
            elif skips:
                skips = False
                index = next((index for index, name in enumerate(rest) if _fits(step, name)), None)
                matched = index is not None
                rest = [] if index is None else rest[index + 1 :]
            elif not _fits(step, rest[0]):
                return False
            else:
                matched = True
                del rest[0]
        return matched and not (self.is_directory and not rest)


class Artifact(NamedTuple):
    """What is fetched of a source.

    Args:
        patterns: beside Flux's own, in the order in which they are read.
    """

    patterns: tuple[IgnorePattern, ...]

    def lacks(self, path: str) -> bool:
        """Return whether a file is left out, by its path below the root; Flux's own patterns count least."""
        steps = path.split("/")
        for pattern in reversed(self.patterns):
            if pattern.fits(steps):
                return not pattern.includes
        return (
            not _DIRECTORIES.isdisjoint(steps[:-1])
            or not _NAMES.isdisjoint(steps)
            or any(step.endswith(_SUFFIXES) for step in steps)
        )


def artifact(tree: Tree, prefix: str, ignore: str) -> Artifact:
    """Return what is fetched of a source that begins at a directory and says `spec.ignore`."""
    top = tuple(prefix.split("/")) if prefix else ()
    return Artifact((*_of_files(tree, prefix), *_patterns(ignore, top)))


def _of_files(tree: Tree, prefix: str) -> Iterator[IgnorePattern]:
    """Yield the patterns of the `.sourceignore` files of a directory and of those below it."""
    for directory in tree.holding(IGNORE_FILE, with_yaml=False):
        if prefix and directory != prefix and not directory.startswith(f"{prefix}/"):
            continue
        written = tree.read(inside(directory, IGNORE_FILE))
        if written is not None:
            domain = tuple(directory.split("/")) if directory else ()
            yield from _patterns(written.decode("utf-8", "replace"), domain)


def _patterns(text: str, domain: tuple[str, ...]) -> Iterator[IgnorePattern]:
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield IgnorePattern.of(line, domain)


def _fits(pattern: str, name: str) -> bool:
    if pattern == "*" or pattern == name:
        return True
    return not PLAIN.fullmatch(pattern) and glob(pattern).is_whole(name) is True
