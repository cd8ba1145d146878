"""How git is started: nothing of the repository that is read starts another program, and nothing is fetched."""

from __future__ import annotations

import os

from policylint.boundary import repository
from policylint.programs import find_program

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
_KEPT = (
    "HOME", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR", "USERPROFILE", "XDG_CONFIG_HOME",
    # Where the repository is, as git tells its hooks; and what the user says of whose repositories are to be trusted.
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_QUARANTINE_PATH", "GIT_WORK_TREE",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM",
)  # fmt: skip
_NUMBERED = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_SAID = {
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


def git_command(directory: str = os.curdir) -> list[str] | None:
    """Return the beginning of a git command for a directory; None where git is not installed.

    In a work tree a directory that looks like a bare repository is none: anybody can commit one, configuration and all.
    """
    program = find_program("git", directory)
    if program is None:
        return None
    bare = () if repository(directory) is None else ("safe.bareRepository=explicit",)
    return [program, *(word for setting in (*_SETTINGS, *bare) for word in ("-c", setting)), "-C", directory]


def git_environment() -> dict[str, str]:
    """Return all that git gets to know of ours."""
    known = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_NUMBERED)}
    return known | _SAID
