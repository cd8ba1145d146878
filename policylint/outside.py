"""Keep what is read from choosing what is read or run: links out of the repository, programs on PATH, git's settings.

What a path says is the user's word: `policylint lint ../other` reads another tree. Where a path that names something of
the repository really lies is the word of whoever wrote the repository.
"""

# Strings with os.path, and nothing else imported: it is asked at every start, and an idle hook starts git, too.
# ruff: noqa: PTH111, PTH113, PTH114, PTH117, PTH118, PTH120, PTH206

from __future__ import annotations

import os

_SUFFIXES = (".exe", "") if os.name == "nt" else ("",)
_SETTINGS = (
    "core.fsmonitor=false",  # a program that says what has changed
    f"core.hooksPath={os.devnull}",
    "core.attributesFile=",
    "core.pager=",
    "core.sshCommand=false",
    "core.askPass=",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",  # of a partial clone as well: what it lacks stays away
    "submodule.recurse=false",
)
_PASSED_ON = (
    "HOME", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR", "USERPROFILE", "XDG_CONFIG_HOME",
    # Where the repository is, as git tells its hooks; and what the user says of whose repositories are to be trusted.
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_QUARANTINE_PATH", "GIT_WORK_TREE",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM",
)  # fmt: skip
_NUMBERED = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_FIXED = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # an id is that of its content
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def git_root(directory: str = os.curdir) -> str | None:
    """Return the top of the work tree around a directory, links resolved, without starting git; None outside of one."""
    top = os.path.realpath(directory)
    while not os.path.lexists(os.path.join(top, ".git")):
        if (parent := os.path.dirname(top)) == top:
            return None
        top = parent
    return top


def is_below(place: str, top: str) -> bool:
    """Tell whether an absolute path is a directory, or lies below it."""
    return os.path.join(place, "").startswith(os.path.join(top, ""))


def belongs(place: str, top: str) -> bool:
    """Tell whether a path, its links resolved, lies in a tree and is none of git's own files, where secrets may be."""
    return is_below(place, top) and not is_below(place, os.path.join(top, ".git"))


def leads_out(path: str) -> bool:
    """Tell whether a path that names something of the repository around us leads out of it by links."""
    top = git_root()
    if top is None:
        return False
    written = os.path.normpath(os.path.join(os.path.realpath(os.curdir), path))
    return belongs(written, top) and not belongs(os.path.realpath(path), top)


def goes_through_link(path: str) -> bool:
    """Tell whether a symbolic link of the tree around us is on the way of a path, its last step included: what is
    written there would change something else."""
    top = git_root() or _tree(os.curdir)
    if top is None:
        return False
    steps = os.path.join(os.path.realpath(os.curdir), path).split(os.sep)
    ways = (os.sep.join(steps[:depth]) for depth in range(2, len(steps) + 1))
    return any(os.path.islink(way) and is_below(os.path.realpath(os.path.dirname(way)), top) for way in ways)


def find_program(name: str, *directories: str) -> str | None:
    """Return the absolute path of a program on PATH; None where there is none.

    Entries of PATH that are empty or relative mean the working directory, which holds what is read, and so do those
    below the repository around it: a pull request may bring a `git` of its own.

    Args:
        directories: others that are read, whose repositories hold no programs either.
    """
    trees = {tree for place in (os.curdir, *directories) if (tree := _tree(place)) is not None}
    for directory in os.get_exec_path():
        if not os.path.isabs(directory):
            continue
        for suffix in _SUFFIXES:
            place = os.path.join(directory, name + suffix)
            if os.path.isfile(place) and os.access(place, os.X_OK):
                real = os.path.realpath(directory)
                if not any(is_below(real, tree) for tree in trees):
                    return place
    return None


def _tree(directory: str) -> str | None:
    """Return the repository around a directory, else the directory.

    None where it holds the user's home directory: that is a whole machine, or somebody's files in git.
    """
    tree = git_root(directory) or os.path.realpath(directory)
    return None if is_below(os.path.realpath(os.path.expanduser("~")), tree) else tree


def git_command(directory: str = os.curdir) -> list[str] | None:
    """Return the beginning of a git command for a directory; None where git is not installed.

    In a work tree a directory that looks like a bare repository is none: anybody can commit one, configuration and all.
    The work tree is the one that `git_root` finds, whatever the repository's configuration says of another.
    """
    program = find_program("git", directory)
    if program is None:
        return None
    top = git_root(directory)
    bare = () if top is None else ("safe.bareRepository=explicit",)
    words = [program, *(word for setting in (*_SETTINGS, *bare) for word in ("-c", setting)), "-C", directory]
    return words if top is None or "GIT_WORK_TREE" in os.environ else [*words, f"--work-tree={top}"]


def git_environment() -> dict[str, str]:
    """Return the environment in which git runs: few variables of ours, and what keeps it from asking or fetching."""
    ours = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith(_NUMBERED)}
    return ours | _FIXED
