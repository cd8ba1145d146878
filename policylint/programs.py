"""Find the programs that policylint starts, where nothing that it reads can choose them."""

# Strings with os.path, and nothing else imported: an idle hook starts git, too.
# ruff: noqa: PTH111, PTH113, PTH117, PTH118

from __future__ import annotations

import os
from typing import Final

from policylint.boundary import is_below, repository

_SUFFIXES: Final = (".exe", "") if os.name == "nt" else ("",)


def find_program(name: str, *directories: str) -> str | None:
    """Return the absolute path of a program on PATH; None where there is none.

    Entries of PATH that are empty or relative mean the working directory, which holds what is read, and so do those
    below the repository around it: a pull request may bring a `git` of its own.

    Args:
        directories: others that are read, whose repositories hold no programs either.
    """
    trees = {tree for place in (os.curdir, *directories) if (tree := _tree(place)) is not None}
    for entry in os.get_exec_path():
        if not os.path.isabs(entry):
            continue
        for suffix in _SUFFIXES:
            place = os.path.join(entry, name + suffix)
            if os.path.isfile(place) and os.access(place, os.X_OK):
                real = os.path.realpath(entry)
                if not any(is_below(real, tree) for tree in trees):
                    return place
    return None


def _tree(directory: str) -> str | None:
    """The repository around a directory, else the directory.

    None where it holds the user's home directory: that is a whole machine, or somebody's files in git.
    """
    tree = repository(directory) or os.path.realpath(directory)
    return None if is_below(os.path.realpath(os.path.expanduser("~")), tree) else tree
