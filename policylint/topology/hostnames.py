"""Hostnames of listeners and routes: matching, intersection, and an index for conflicts.

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
    """Return the hostnames of an object as patterns in lower case; `*`, and an empty list, mean every host."""
    normalized = tuple(_normal(hostname) for hostname in hostnames if isinstance(hostname, str))
    return normalized or (EVERY,)


def matches(host: str, pattern: str) -> bool:
    """Return whether the host of a request falls under a pattern; a port is ignored."""
    return covers(_normal(pattern), without_port(host))


def without_port(host: str) -> str:
    """Return the host of a request in normal form."""
    name, colon, port = host.rpartition(":")
    return _normal(name if colon and port.isdigit() else host)


def covers(wide: str, narrow: str) -> bool:
    """Return whether every host of `narrow` is one of `wide`; both are patterns in normal form."""
    if not wide or wide == narrow:
        return True
    if not wide.startswith("*."):
        return False
    return narrow.endswith(wide[1:]) and len(narrow) >= len(wide)


def widest_written(hostname: str, written: Iterable[str]) -> str:
    """Return the hostname of a route from which one of its hostnames at a listener comes, all in normal form.

    It is the most specific one that covers it, EVERY where the route has none.
    """
    covering = [pattern for pattern in written if covers(pattern, hostname)]
    return max(covering, key=lambda pattern: (not pattern.startswith("*"), len(pattern)), default=hostname)


def narrowed(pattern: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return the intersections of a pattern with others, all in normal form, in the order of the others."""
    if not pattern:
        return tuple(others)
    suffix, length = (pattern[1:] if pattern.startswith("*.") else ""), len(pattern)
    common = []
    for other in others:  # `covers` both ways, spelled out: this is done for every listener and hostname of every route
        if other == pattern or (suffix and len(other) >= length and other.endswith(suffix)):
            common.append(other)
        elif not other or (other.startswith("*.") and length >= len(other) and pattern.endswith(other[1:])):
            common.append(pattern)
    return tuple(common)


def specificity(pattern: str) -> tuple[int, int]:
    """Return a sort key, widest first: every host, wildcards by their dots, exact names.

    Source: docs/design/request-precedence.md §2.
    """
    if not pattern:
        return (0, 0)
    return (1, pattern.count(".")) if pattern.startswith("*.") else (2, 0)


class HostnameIndex:
    """Patterns with their owners; finds in O(labels) the owner of a pattern that shares hosts with another."""

    __slots__ = ("_any", "_every", "_exact", "_under", "_wild")

    def __init__(self) -> None:
        self._every: ResourceKey | None = None
        self._any: ResourceKey | None = None
        self._exact: dict[str, ResourceKey] = {}
        self._wild: dict[str, ResourceKey] = {}
        self._under: dict[str, ResourceKey] = {}

    def add(self, pattern: str, owner: ResourceKey) -> None:
        """Add a pattern; of several owners of the same host the first one counts."""
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
        """Return the owner of a pattern that shares hosts with this one, None if there is none."""
        if not pattern or self._every is not None:
            return self._every or self._any
        wildcard = pattern.startswith("*.")
        name = pattern[2:] if wildcard else pattern
        owner = self._under.get(name) if wildcard else self._exact.get(name)
        if owner is not None:
            return owner
        return next((self._wild[suffix] for suffix in _suffixes(pattern) if suffix in self._wild), None)


def wildcards_above(pattern: str) -> Iterator[str]:
    """Yield the wildcards that cover a pattern, itself not among them: for `a.b.c` `*.b.c` and `*.c`."""
    return (f"*.{suffix}" for suffix in _suffixes(pattern.removeprefix("*.")))


def _suffixes(pattern: str) -> Iterator[str]:
    """Yield the parent domains of a name: `a.b.c` → `b.c`, `c`; of a wildcard `*.b.c` → `b.c`, `c`."""
    cut = pattern.find(".")
    while cut >= 0:
        pattern = pattern[cut + 1 :]
        yield pattern
        cut = pattern.find(".")


def _normal(hostname: str) -> str:
    """Return a hostname in lower case, except the names of variables, which have a case: `echo.${SECRET_DOMAIN}`."""
    if hostname == "*":
        return EVERY
    if "${" not in hostname:
        return hostname.lower()
    head, *variables = hostname.split("${")
    normalized = head.lower()
    for variable in variables:
        name, brace, rest = variable.partition("}")
        normalized += f"${{{name}{brace}{rest.lower()}"
    return normalized
