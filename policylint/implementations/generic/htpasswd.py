"""The users of an htpasswd file, as far as Envoy takes them: lines `user:{SHA}hash`, a digest of 20 bytes in base64."""

from __future__ import annotations

from typing import Final

from policylint.topology.secret_data import hidden

_HASH: Final = "{SHA}"
_LENGTH: Final = len(_HASH) + 28


def read_users(htpasswd: str, *, comments: bool, inline: bool = False) -> tuple[list[tuple[str, str]] | None, str]:
    """Return the users with their hashes, None where they are not known, and why the file is refused, "" where not.

    A word without any colon (`changeme`) stands for what is filled in later, and encrypted lines for anybody.

    Args:
        comments: whether lines that begin with # are left out.
        inline: whether a policy lists them, which nobody fills in later.
    """
    found: list[tuple[str, str]] = []
    lines = [line.strip() for line in htpasswd.split("\n")]
    written = [
        (number, line) for number, line in enumerate(lines, start=1) if line and not (comments and line.startswith("#"))
    ]
    if written and not inline and not any(":" in line for _, line in written):
        return None, ""
    for number, line in written:
        if hidden(line):
            return None, ""
        user, colon, hashed = line.partition(":")
        if not colon:
            return found, f"line {number} is not `user:hash`"
        if not hashed.startswith(_HASH) or len(hashed) != _LENGTH:
            return found, f"the password of {user} is no {_HASH} hash, the only kind that the proxy takes"
        found.append((user, hashed))
    return found, ""
