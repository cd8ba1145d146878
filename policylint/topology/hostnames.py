"""Hostnames of listeners and routes: matching, intersection, and an index for clashes.

Source: docs/design/request-precedence.md §1.

A pattern is an exact name, `*.suffix` for any number of labels before the suffix, or `""` for every host. A list
without hostnames stands for every host; a result holds `""` for every host and is empty where nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.model import ResourceKey

EVERY = ""
"""The pattern that every host matches."""


def patterns(hostnames: Iterable[object]) -> tuple[str, ...]:
    """The hostnames of an object as patterns: lower case, `*` and nothing at all mean every host."""
    found = tuple(_normal(each) for each in hostnames if isinstance(each, str))
    return found or (EVERY,)


def matches(host: str, pattern: str) -> bool:
    """Whether the host of a request (a port is ignored) falls under a pattern."""
    name, colon, port = host.rpartition(":")
    return covers(_normal(pattern), _normal(name if colon and port.isdigit() else host))


def covers(wide: str, narrow: str) -> bool:
    """Whether every host of `narrow` is one of `wide`; both are patterns in normal form."""
    if not wide or wide == narrow:
        return True
    if not wide.startswith("*."):
        return False
    return narrow.endswith(wide[1:]) and len(narrow) >= len(wide)


def meet(one: str, other: str) -> str | None:
    """What two patterns have in common: the narrower of them, None where they have nothing in common."""
    if covers(one, other):
        return other
    return one if covers(other, one) else None


def narrowed(pattern: str, others: Iterable[str]) -> tuple[str, ...]:
    """What a pattern leaves of other patterns, all in normal form, in their order."""
    return tuple(common for each in others if (common := meet(pattern, each)) is not None)


def specificity(pattern: str) -> tuple[int, int]:
    """Orders patterns from the widest: every host, wildcards by their dots, exact names.

    Source: docs/design/request-precedence.md §2.
    """
    if not pattern:
        return (0, 0)
    return (1, pattern.count(".")) if pattern.startswith("*.") else (2, 0)


class HostnameIndex:
    """Patterns with their owners; says in O(labels) whether a pattern meets any of them, and whose it is."""

    __slots__ = ("_any", "_every", "_exact", "_under", "_wild")

    def __init__(self) -> None:
        self._every: ResourceKey | None = None
        self._any: ResourceKey | None = None
        self._exact: dict[str, ResourceKey] = {}
        self._wild: dict[str, ResourceKey] = {}
        self._under: dict[str, ResourceKey] = {}

    def add(self, pattern: str, owner: ResourceKey) -> None:
        """Keep a pattern; of several owners of the same host the first one counts."""
        self._any = self._any or owner
        if not pattern:
            self._every = self._every or owner
        elif pattern.startswith("*."):
            self._wild.setdefault(pattern[2:], owner)
            self._under.setdefault(pattern[2:], owner)
        else:
            self._exact.setdefault(pattern, owner)
        for suffix in _suffixes(pattern):
            self._under.setdefault(suffix, owner)

    def owner(self, pattern: str) -> ResourceKey | None:
        """Who holds a pattern that has hosts in common with this one; None when nobody does."""
        if not pattern or self._every is not None:
            return self._every or self._any
        wildcard = pattern.startswith("*.")
        name = pattern[2:] if wildcard else pattern
        found = self._under.get(name) if wildcard else self._exact.get(name)
        if found is not None:
            return found
        return next((self._wild[suffix] for suffix in _suffixes(pattern) if suffix in self._wild), None)


def _suffixes(pattern: str) -> Iterator[str]:
    """`a.b.c` → `b.c`, `c`; of a wildcard `*.b.c` → `b.c`, `c`."""
    cut = pattern.find(".")
    while cut >= 0:
        pattern = pattern[cut + 1 :]
        yield pattern
        cut = pattern.find(".")


def _normal(hostname: str) -> str:
    """Lower case but for the names of variables, which have a case: `echo.${SECRET_DOMAIN}`."""
    if hostname == "*":
        return EVERY
    head, *variables = hostname.split("${")
    found = head.lower()
    for each in variables:
        name, brace, rest = each.partition("}")
        found += f"${{{name}{brace}{rest.lower()}"
    return found
