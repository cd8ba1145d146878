"""`lint --hook`: judge what a commit will hold (the index), or a push brings, not what lies in the work tree.

pre-commit stashes unstaged edits but leaves untracked files, so the list of files comes from git. A commit in which
nothing relevant is staged ends here, before anything but click is imported (docs/design/conventions.md §4).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from policylint.session.settings import Setup
    from policylint.sources import Source

SUFFIXES = (".yaml", ".yml", ".json", ".j2", ".tpl", ".tmpl", ".env", ".properties")
NAMES = frozenset({"Kustomization", "pyproject.toml"})
"""What can change a verdict: manifests, what they are rendered from, the configuration."""


def is_idle(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a change and nothing in it matters.

    With nothing staged at all (`pre-commit run --all-files`, CI) everything is judged.
    """
    pushed = pushed_range(environment)
    compared = [*pushed, "--"] if pushed else ["--cached", "--"]
    names = git("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", *compared)
    changed = [name for name in (names or b"").split(b"\0") if name]
    return bool(changed) and not any(is_relevant(os.fsdecode(name)) for name in changed)


def is_relevant(path: str) -> bool:
    """Whether a file, changed or deleted, can change what is found."""
    return path.lower().endswith(SUFFIXES) or path.rpartition("/")[2] in NAMES


def staged_source(setup: Setup) -> Source:
    """Return the index, or the revision that is pushed, as a source of the paths of a run.

    Raises:
        UsageError: this is no git repository.
    """
    from policylint.sources.git import Repository
    from policylint.sources.revision import at_revision, staged

    pushed = pushed_range(os.environ)
    if pushed:
        return at_revision(Repository(), pushed[1], _paths(setup), setup.exclude)
    return staged(Repository(), _paths(setup), setup.exclude)


def former_source(setup: Setup, revision: str) -> Source | None:
    """Return what was there before the change; None for the first commit of a repository."""
    from policylint.sources.git import Repository, RevisionError
    from policylint.sources.revision import at_revision

    try:
        return at_revision(Repository(), revision, _paths(setup), setup.exclude)
    except RevisionError:
        return None


def _paths(setup: Setup) -> list[str] | None:
    return [*setup.options.paths] or [*setup.settings.paths] or None


def pushed_range(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """What pre-commit says about a push, or `--from-ref … --to-ref …`."""
    begin, end = environment.get("PRE_COMMIT_FROM_REF", ""), environment.get("PRE_COMMIT_TO_REF", "")
    return (begin, end) if begin and end else None


def git(*arguments: str) -> bytes | None:
    """What git prints, None if it fails; without `subprocess`, whose import takes as long as git does."""
    from policylint.git_command import git_command, git_environment

    beginning = git_command()
    if beginning is None:
        return None
    command, environment = [*beginning, *arguments], git_environment()
    if not hasattr(os, "posix_spawn"):
        import subprocess

        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        return done.stdout if done.returncode == 0 else None
    reading, writing = os.pipe()
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, here, there) for here, there in ((nothing, 0), (writing, 1), (nothing, 2))]
        child = os.posix_spawn(command[0], command, environment, file_actions=actions)
        os.close(nothing)
    except OSError:
        os.close(reading)
        return None
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    return answer if status == 0 else None
