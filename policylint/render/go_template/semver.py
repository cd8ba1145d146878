"""Versions and constraints on them, as Masterminds/semver v3 has them: `>=1.2, <2 || ~3.1`, `^1.x`, `1.2 - 1.4`."""

from __future__ import annotations

from policylint.digits import whole_number
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_VERSION = Pattern(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_PART = r"v?[0-9xX*]+(?:\.[0-9xX*]+)?(?:\.[0-9xX*]+)?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_CONSTRAINT = Pattern(rf"\s*(=|==|!=|>=|=>|<=|=<|>|<|~>|~|\^|)\s*({_PART})\s*")
_RANGE = Pattern(rf"\s*({_PART})\s+-\s+({_PART})\s*")
_LIMITED = Pattern(
    r"v?(?P<major>\d{1,9}|[xX*])(?:\.(?P<minor>\d{1,9}|[xX*]))?(?:\.(?P<patch>\d{1,9}|[xX*]))?(?:-(?P<before>[^+]+))?"
)


class SemverError(Exception):
    """A text is no version, or no constraint."""


class Version(NamedTuple):
    """A version; `before` is its pre-release, "" for none."""

    major: int
    minor: int
    patch: int
    before: str = ""

    @property
    def rank(self) -> tuple[object, ...]:
        """What versions are ordered by."""
        numbers = ((whole_number(part), part) for part in self.before.split(".") if part)
        parts = [(1, 0, part) if number is None else (0, number, "") for number, part in numbers]
        return self.major, self.minor, self.patch, not self.before, parts


def version(text: str) -> Version:
    """Return the version that a text is.

    Raises:
        SemverError: it is none.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        raise SemverError("Invalid Semantic Version")
    return Version(int(match[1]), int(match[2] or 0), int(match[3] or 0), match[4] or "")


def compared(constraint: str, text: str) -> bool:
    """Return whether a version satisfies a constraint.

    Raises:
        SemverError: one of the two is none.
    """
    alternatives = [_limits(alternative) for alternative in constraint.split("||")]
    asked = version(text)
    return any(all(_holds(sign, limit, asked) for sign, limit in limits) for limits in alternatives)


def _limits(alternative: str) -> list[tuple[str, str]]:
    """Return the signs and versions that an alternative of a constraint is made of."""
    found = _RANGE.fullmatch(alternative)
    if found is not None:
        return [(">=", found[1]), ("<=", found[2])]
    limits, at = [], 0
    while at < len(alternative):
        match = _CONSTRAINT.match(alternative, at)
        if match is None:
            raise SemverError(f"improper constraint: {alternative}")
        limits.append((match[1], match[2]))
        at = match.end()
        at += alternative[at : at + 1] == ","
    if not limits:
        raise SemverError("improper constraint: it is empty")
    return limits


def _holds(sign: str, limit: str, asked: Version) -> bool:
    match = _LIMITED.match(limit)
    if match is None:
        raise SemverError(f"improper constraint: {limit}")
    steps: list[int] = []
    for part in (match["major"], match["minor"], match["patch"]):
        if part is None or not part.isdecimal():
            break
        steps.append(int(part))
    major, minor, patch = [*steps, 0, 0, 0][:3]
    start = Version(major, minor, patch, match["before"] or "")
    if asked.before and not start.before and sign != "!=":
        return False
    known = (asked.major, asked.minor, asked.patch)[: len(steps)]
    within = list(known) == steps
    is_dirty = len(steps) < 3
    if sign == "!=":
        return not within if is_dirty else asked.rank != start.rank
    if sign in ("", "=", "=="):
        return within if is_dirty else asked.rank == start.rank
    if sign == ">":
        return list(known) > steps if is_dirty else asked.rank > start.rank
    if sign == "<":
        return asked.rank < start.rank
    if sign in (">=", "=>"):
        return asked.rank >= start.rank
    if sign in ("<=", "=<"):
        return list(known) <= steps if is_dirty else asked.rank <= start.rank
    if sign in ("~", "~>"):
        return not steps or (asked.rank >= start.rank and list(known[:2]) == steps[:2])
    return not steps or (asked.rank >= start.rank and _shares_first(steps, asked))


def _shares_first(steps: list[int], asked: Version) -> bool:
    """Return whether a version has the first step that is not 0 of a limit written with `^`."""
    own = (asked.major, asked.minor, asked.patch)
    first = next((index for index, step in enumerate(steps) if step), len(steps) - 1)
    return list(own[: first + 1]) == steps[: first + 1]
