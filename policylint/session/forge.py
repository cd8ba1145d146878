"""Where files can be read on the forge of a repository: GitHub, GitLab, Gitea, Forgejo, Bitbucket.

Told from the address of the remote `origin`, without asking anybody. What is not surely one of them gives no links, and
of an address only host and path are taken: what it holds of a user's credentials goes nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from policylint.errors import UsageError
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.session.open import below_root
from policylint.sources.blob_id import blob_id
from policylint.sources.git import Repository

_REMOTE: Final = Pattern(
    r"(?:(?P<scheme>https|ssh|git\+ssh)://(?:[^/@\s]*@)?|(?:[\w.-]+@)?(?=[^/:\s]+:(?!//)))"
    r"(?P<host>[a-z0-9][a-z0-9.-]*[a-z0-9])(?::(?P<port>\d{1,5})(?=/))?[:/]"
    r"(?P<path>[\w~][\w.~-]*(?:/[\w~][\w.~-]*)+)/?",
    re.ASCII | re.IGNORECASE,
)
_FORMS: Final = {
    "github": ("blob", "#L"),
    "gitlab": ("-/blob", "#L"),
    "gitea": ("src/commit", "#L"),
    "forgejo": ("src/commit", "#L"),
    "codeberg": ("src/commit", "#L"),
    "bitbucket": ("src", "#lines-"),
}
"""The first label of the host → the way to a commit's files, and to a line."""


class Forge(NamedTuple):
    """The address below which the files of a commit can be read, and what comes between a file and a line."""

    base: str
    line: str


class Links(NamedTuple):
    """A forge, and the path there of each file (as shown) that it has as it was read."""

    forge: Forge
    files: dict[str, str]


def forge_of(remote: str, commit: str) -> Forge | None:
    """Return where the files of a commit can be read, None where the address of a remote does not say.

    Args:
        remote: as git has it: `git@github.com:shop/clusters.git`, `https://gitlab.example.com/shop/clusters`.
    """
    parts = _REMOTE.fullmatch(remote.strip())
    if parts is None or ".." in remote or not re.fullmatch("[0-9a-f]{40,64}", commit):
        return None
    host = parts["host"].lower()
    label, _, rest = host.partition(".")
    if label not in _FORMS or rest.startswith(("com.", "org.")):
        return None
    if label == "bitbucket" and host != "bitbucket.org":  # Bitbucket's server has other addresses
        return None
    port = f":{parts['port']}" if parts["port"] and parts["scheme"] == "https" else ""
    way, line = _FORMS[label]
    return Forge(f"https://{host}{port}/{parts['path'].removesuffix('.git')}/{way}/{commit}/", line)


def links(root: str | None, revision: str, files: Iterable[str]) -> Links | None:
    """Return where files can be read on the forge, None where that is not known.

    Args:
        root: the git root, or what was read instead.
        revision: which the files were read of; "" for the work tree, whose files must be as its HEAD has them.
        files: as they are shown.
    """
    if root is None:
        return None
    try:
        repository = Repository(root)
        commit = repository.commit(revision or "HEAD")
        forge = None if commit is None else forge_of(repository.remote("origin"), commit)
        if forge is None or commit is None or repository.top is None:
            return None
        paths = {file: path for file in files if (path := below_root(repository.top, file)) is not None}
        known = {entry.path: entry.oid for entry in repository.entries(commit)}
    except UsageError:
        return None
    same = {file: path for file, path in paths.items() if path in known and (revision or _is(file, known[path]))}
    return Links(forge, same)


def _is(file: str, oid: str) -> bool:
    """Return whether a file of the work tree has the content of a blob."""
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - paths are strings here
            return blob_id(stream.read()) == oid
    except OSError:
        return False
