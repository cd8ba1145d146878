"""The command lines of the tools: what an assistant may ask of a directory, and nothing else of a command."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from policylint.errors import UsageError

# ruff: noqa: PTH118


def lint(directory: str, paths: Sequence[str], rules: Sequence[str], *, unknown: bool) -> list[str]:
    """Return the arguments of a lint.

    Raises:
        UsageError: a path leads out of the directory.
    """
    chosen = [word for rule in rules for word in ("--select", _word(rule))]
    return ["lint", "-o", "json", *chosen, *(["--show-unknown"] if unknown else []), *_paths(directory, paths)]


def explain(directory: str, resource: str, rule: str, field: str, paths: Sequence[str]) -> list[str]:
    """Return the arguments of an explanation; raises as `lint`."""
    options = [*_option("--rule", rule), *_option("--field", field)]
    return ["explain", "-o", "json", *options, "--", _word(resource), *_below(directory, paths)]


def trace(
    directory: str, method: str, url: str, headers: Sequence[str], gateway: str, paths: Sequence[str]
) -> list[str]:
    """Return the arguments of a trace; raises as `lint`."""
    given = [word for header in headers for word in ("-H", _word(header))]
    options = [*given, *_option("--gateway", gateway)]
    return ["trace", "-o", "json", *options, "--", _word(method), _word(url), *_below(directory, paths)]


def reach(directory: str, gateways: Sequence[str], to: Sequence[str], without: str, paths: Sequence[str]) -> list[str]:
    """Return the arguments of a list of all ways in; raises as `lint`."""
    options = [word for gateway in gateways for word in ("--gateway", _word(gateway))]
    options += [word for name in to for word in ("--to", _word(name))]
    return ["reach", "-o", "json", *options, *_option("--without", without), *_paths(directory, paths)]


def diff(directory: str, revisions: str, paths: Sequence[str]) -> list[str]:
    """Return the arguments of a diff; raises as `lint`."""
    return ["diff", "-o", "json", "--", _word(revisions), *_below(directory, paths)]


def _option(name: str, value: str) -> list[str]:
    return [name, _word(value)] if value else []


def _word(text: str) -> str:
    """Return a word that no command takes for an option.

    Raises:
        UsageError: it would be one, or there is none.
    """
    if not text or text.startswith("-") or "\0" in text:
        raise UsageError(f"{text!r} is no name, revision or path")
    return text


def _paths(directory: str, paths: Sequence[str]) -> list[str]:
    return ["--", *_below(directory, paths)]


def _below(directory: str, paths: Iterable[str]) -> list[str]:
    """Return paths of a directory as they are; they are as seen from there.

    Raises:
        UsageError: one leads out of it, links followed.
    """
    top = os.path.realpath(directory)
    kept = []
    for path in paths:
        place = os.path.realpath(os.path.join(top, _word(path)))
        if place != top and not place.startswith(os.path.join(top, "")):
            raise UsageError(f"{path!r} is not below {directory}")
        kept.append(path)
    return kept
