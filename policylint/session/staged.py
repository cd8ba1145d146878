"""`lint --hook`: judge what a commit will hold (the index), or a push brings, not what lies in the work tree.

pre-commit stashes unstaged edits but leaves untracked files, so the list of files comes from git. A commit in which
nothing relevant is staged ends here, before anything but click is imported (docs/design/conventions.md §4).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.session.open import Listing
    from policylint.session.settings import Setup

SUFFIXES = (".yaml", ".yml", ".json", ".j2", ".tpl", ".tmpl", ".env", ".properties")
NAMES = frozenset({"Kustomization", "pyproject.toml"})
"""Files that can change a verdict: manifests, what they are rendered from, the configuration."""
FROM_REF, TO_REF = "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"


def is_idle() -> bool:
    """Tell whether there is a change and nothing in it matters.

    With nothing staged at all (`pre-commit run --all-files`, CI) everything is judged.
    """
    changed = changed_files()
    return bool(changed) and not any(map(is_relevant, changed))


def changed_files(*more: str) -> list[str]:
    """Return the paths that the commit or push changes; `more` are options of `git diff`."""
    names = git("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", *more, *compared()) or b""
    return [os.fsdecode(name) for name in names.split(b"\0") if name]


def compared() -> list[str]:
    """Return what `git diff` compares: both ends of the push, else HEAD and the index."""
    return [*(pushed_range() or ["--cached"]), "--"]


def is_relevant(path: str) -> bool:
    """Tell whether a file, changed or deleted, can change what is found."""
    return path.lower().endswith(SUFFIXES) or path.rpartition("/")[2] in NAMES


def staged_listing(setup: Setup) -> Listing:
    """Return what lists the index, or the revision that is pushed.

    Raises:
        UsageError: this is no git repository.
    """
    from policylint.sources.git import Repository
    from policylint.sources.revision import at_revision, staged

    pushed, repository = pushed_range(), Repository()
    if pushed:
        return lambda paths: at_revision(repository, pushed[1], paths, setup.exclude)
    return lambda paths: staged(repository, paths, setup.exclude)


def former_listing(setup: Setup, revision: str) -> Listing | None:
    """Return what lists the files before the change; None for the first commit of a repository.

    Raises:
        UsageError: a revision that is not there.
        AbsentError: it was not fetched whole.
    """
    from policylint.sources.git import Repository
    from policylint.sources.revision import at_revision

    repository = Repository()
    if revision == "HEAD" and not repository.knows(revision):
        return None
    return lambda paths: at_revision(repository, revision, paths, setup.exclude)


def pushed_range() -> tuple[str, str] | None:
    """Return what pre-commit says about a push, or `--from-ref … --to-ref …`; None for a commit."""
    start, end = os.environ.get(FROM_REF, ""), os.environ.get(TO_REF, "")
    return (start, end) if start and end else None


def git(*arguments: str) -> bytes | None:
    """Return what git prints, None if it fails; without `subprocess`, whose import takes as long as git does."""
    from policylint.outside import git_command, git_environment

    git_words = git_command()
    if git_words is None:
        return None
    command, environment = [*git_words, *arguments], git_environment()
    if not hasattr(os, "posix_spawn"):
        import subprocess

        process = subprocess.run(command, capture_output=True, check=False, env=environment)
        return process.stdout if process.returncode == 0 else None
    reading, writing = os.pipe()
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in ((nothing, 0), (writing, 1), (nothing, 2))]
        child = os.posix_spawn(command[0], command, environment, file_actions=actions)
        os.close(nothing)
    except OSError:
        os.close(reading)
        return None
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        output = stream.read()
    _, status = os.waitpid(child, 0)
    return output if status == 0 else None
