"""List what is below a directory: by `git ls-files` inside a repository, by walking outside one."""

# Paths stay strings with os.path here: thousands are listed, `a/../b` must be shown as given, and pathlib is slower.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from typing import Final

from policylint.outside import git_command, git_environment, git_root, is_below
from policylint.sources.regular_file import in_words
from policylint.sources.selection import MANIFESTS, NEVER_ENTERED
from policylint.sources.source import GIT, SPARSE, SourceProblem

SUBMODULE: Final = "160000"
"""The mode of a submodule."""
GIT_TIMEOUT: Final = 60.0


def git_files(directory: str, shown: str) -> tuple[list[str], list[SourceProblem]] | None:
    """Return tracked and untracked but not ignored files below `directory`, relative to it; None without a repository.

    A directory that git ignores but the user named is walked. Manifests left out by a sparse checkout are a problem.
    """
    try:
        listing = ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
        answer = _git(directory, *_own_ignores(directory), *listing)
        if answer is None and (why := refusal(directory)):
            message = f"{why}; the directory was walked instead, with the files that git ignores"
            return walk(directory, lambda _: shown)[0], [SourceProblem(GIT, message, shown)]
        if answer is None or (not answer and _git(directory, "check-ignore", "-q", ".") is not None):
            return None
    except TimeoutError:
        message = f"git ls-files gave no answer in {GIT_TIMEOUT:.0f} s: the directory was walked instead"
        return walk(directory, lambda _: shown)[0], [SourceProblem(GIT, message, shown)]
    # Unmerged files come several times; nested repositories end in a slash.
    tags = {record[2:]: record[:1] for record in os.fsdecode(answer).split("\0") if record and record[-1] != "/"}
    left_out = sum(
        tag == "S" and name.lower().endswith(MANIFESTS) and not os.path.lexists(os.path.join(directory, name))
        for name, tag in tags.items()
    )
    if not left_out:
        return sorted(tags), []
    files = "1 file is" if left_out == 1 else f"{left_out} files are"
    message = f"{files} left out by the sparse checkout: what is in them was not seen; `git sparse-checkout disable`"
    return sorted(tags), [SourceProblem(SPARSE, message, shown)]


_SCRIPTS: Final = (
    ":(glob)**/Makefile", ":(glob)**/*.mk", ":(glob)**/*.sh", ":(glob)**/*.py", ":(glob)**/*.go", ":(glob)**/*.ts",
    ":(glob)**/justfile", ":(glob)**/.justfile", ":(glob)**/*.just", ":(glob)**/Taskfile*", ":(glob)**/.taskfiles/**",
    ":(glob).github/**", ":(glob)**/.gitlab-ci*", ":(glob)**/Jenkinsfile*", ":(glob)**/Tiltfile*",
    ":(glob)**/skaffold*", ":(glob)**/Dockerfile*", ":(glob)**/*.tf", ":(glob)**/*.toml", ":(glob)**/package.json",
)  # fmt: skip
"""Files that may make others, as pathspecs."""


def refusal(directory: str) -> str:
    """Return why git reads no repository though one is there, and what makes it; "" where it reads it, or none is."""
    import subprocess

    top, command = git_root(directory), git_command(directory)
    if top is None or command is None:
        return ""
    asked = [*command, "rev-parse", "--git-dir"]
    try:
        done = subprocess.run(asked, capture_output=True, timeout=GIT_TIMEOUT, check=False, env=git_environment())
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if b"dubious ownership" not in done.stderr:
        return ""
    return f"git refuses {top}, which is another user's, until `git config --global --add safe.directory {top}`"


def committed(top: str) -> tuple[list[str], set[str]]:
    """Return what git has of a work tree, and which of it is not on disk: submodules, and what a sparse checkout leaves
    out."""
    answer = _git(top, "ls-files", "-z", "-s", "-t") or b""
    records = [record.partition("\t") for record in os.fsdecode(answer).split("\0") if record]
    elsewhere = {path for about, _, path in records if about.startswith("S ") or about[2:8] == SUBMODULE}
    return [path for _, _, path in records], elsewhere


def unexplained(top: str, paths: Collection[str], known: Collection[str], elsewhere: Collection[str]) -> frozenset[str]:
    """Return those of some paths that git neither has nor ignores, and that no script of the work tree names; none
    where git does not say.

    A file of a sort of which git has none, scripts in a repository of YAML alone say, lies outside of what was
    committed here. A directory ends in a slash.

    Args:
        known: all paths that git has.
        elsewhere: those among them that are not read: submodules, links, and what is left out.
    """
    sorts = {_sort(path) for path in known} | {""}
    plain = [
        path
        for path in paths
        if _sort(path) in sorts and not any(f"{path}/".startswith(f"{place}/") for place in elsewhere)
        if not (path.endswith("/") and any(place.startswith(path) for place in elsewhere))
    ]
    if not plain:
        return frozenset()
    asked = [*plain, *(_within(path) for path in plain if path.endswith("/"))]
    try:
        ignored = _git(top, *_own_ignores(top), "check-ignore", "-z", "--stdin", stdin="\0".join(asked), answers=(0, 1))
        patterns = [word for name in sorted(set(map(_name, plain))) for word in ("-e", name)]
        made = _git(top, "grep", "-h", "-o", "-z", "-I", "-F", *patterns, "--", *_SCRIPTS, answers=(0, 1))
    except TimeoutError:
        return frozenset()
    if ignored is None or made is None:
        return frozenset()
    somewhere = {*os.fsdecode(ignored).split("\0"), *os.fsdecode(made).replace("\n", "\0").split("\0")}
    return frozenset(path for path in plain if not {path, _within(path), _name(path)} & somewhere)


def _within(directory: str) -> str:
    """Return a file of a directory: where git ignores it, the directory is not committed either."""
    return f"{directory}kustomization.yaml"


def _name(path: str) -> str:
    """Return what a script calls a file, whose directory it may have entered; a directory by the whole way."""
    return path.rstrip("/") if path.endswith("/") else path.rpartition("/")[2]


def _sort(path: str) -> str:
    """Return the suffix of a file, or its name where it has none, `yaml` for `yml`; "" for a directory."""
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    return "yaml" if suffix == "yml" else suffix


def walk(directory: str, shown: Callable[[str], str]) -> tuple[list[str], list[SourceProblem]]:
    """Return all files below `directory`, relative to it, symbolic links to files included.

    A link to a directory is entered only if it leads to a place inside `directory` that no other way leads to, so
    that nothing is listed twice and no loop is entered.
    """
    files: list[str] = []
    problems: list[SourceProblem] = []
    links: list[str] = []
    seen: set[str] = set()
    top = os.path.realpath(directory)
    for name in _walk_real(directory, "", files, links, problems, shown):
        seen.add(os.path.join(top, name) if name else top)  # no step below the top is a link
    for link in sorted(links):
        target = os.path.realpath(os.path.join(directory, link))
        if target in seen or not is_below(target, top):
            continue
        seen.add(target)
        for name in _walk_real(directory, link, files, [], problems, shown):
            seen.add(os.path.realpath(os.path.join(directory, name)))
    return sorted(files), problems


def _walk_real(
    directory: str,
    start: str,
    found: list[str],
    links: list[str],
    problems: list[SourceProblem],
    shown: Callable[[str], str],
) -> Iterator[str]:
    """Visit `start` and below, adding to the lists; yield the visited directories, relative to `directory`."""
    pending = [start]
    while pending:
        here = pending.pop()
        yield here
        try:
            with os.scandir(os.path.join(directory, here) if here else directory) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            words = in_words(error, shown(here))
            problems.append(SourceProblem(words.code, words.message, words.file))
            continue
        for entry in listed:
            path = f"{here}/{entry.name}" if here else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in NEVER_ENTERED:
                        pending.append(path)
                elif entry.is_symlink() and entry.is_dir():
                    links.append(path)
                else:
                    found.append(path)
            except OSError:  # a loop of links: reported when the file is looked at
                found.append(path)


def _own_ignores(directory: str) -> tuple[str, ...]:
    """Return what keeps git from a file of patterns that the repository's configuration names; the user's is heeded."""
    scope = _git(directory, "config", "--show-scope", "--get", "core.excludesFile") or b""
    return ("-c", "core.excludesFile=") if scope.startswith((b"local", b"worktree")) else ()


def _git(directory: str, *arguments: str, stdin: str = "", answers: Collection[int] = (0,)) -> bytes | None:
    """Return what git prints; None if it fails or is not installed.

    Args:
        answers: the exit codes with which it has not failed.

    Raises:
        TimeoutError: no answer in time.
    """
    import subprocess

    command = git_command(directory)
    if command is None:
        return None
    try:
        done = subprocess.run(
            [*command, *arguments],
            capture_output=True,
            timeout=GIT_TIMEOUT,
            check=False,
            env=git_environment(),
            input=os.fsencode(stdin),
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    except OSError:
        return None
    return done.stdout if done.returncode in answers else None
