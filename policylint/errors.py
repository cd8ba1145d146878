"""Errors for users: one line each, which a command line turns into exit code 2, or 3 where it is `AbsentError`."""

from __future__ import annotations


class UsageError(Exception):
    """A request that cannot be met: a missing path, an unknown revision or object. The message is for users."""


class FileError(UsageError):
    """A file that policylint itself goes by (configuration, baseline) cannot be used. The message says where and why,
    and a command's help would not help."""


class AbsentError(Exception):
    """Something that has to be read is not here, and nothing is fetched: no answer would be true. The message is for
    users, and says what to run."""
