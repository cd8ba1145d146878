"""What a run cannot go on from, said to users: one line, which a command line turns into exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """Something was asked for that cannot be: a path that is not there, an unknown revision, an object that nobody
    knows. The message is for users."""


class FileError(UsageError):
    """A file that policylint itself goes by (configuration, baseline) cannot be used. The message says where and why,
    and a command's help would not help."""
