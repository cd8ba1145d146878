"""Predicates: what is demanded of one property of requests; which values one takes, and how two of them relate.

Three answers where an expression is in it: two regular expressions are compared by what their texts certainly begin
with, and by samples of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.regex import expression
from policylint.spaces.addresses import address_set, number_of, without
from policylint.spaces.samples import literal, literal_start, samples, takes_all_below

PREFIX: Final = "PathPrefix"
EXPRESSION: Final = "RegularExpression"
_RANK: Final = {PREFIX: 0, "Exact": 1, "Present": 2, EXPRESSION: 3}
_VARIABLE: Final = Pattern(
    r"\\?\$\\?\{(?:[^{}\\]|\\[^{}\\])+\\?\}|\\?\{\\?\{.{1,200}?\\?\}\\?\}"
    r"|\\?\[\\?\[(?:\\? ){0,9}\\?\..{0,200}?\\?\]\\?\]|ENC\\?\[.{1,200}"
    r"|(?<![\w?(])<(?=[^>]*[-_ .A-Z])[A-Za-z][\w\\ .-]*>|\\?\$[A-Z][A-Z0-9_]+\b"
    r"|(?<!\w)__[A-Z][A-Z0-9_]*?__(?!\w)|@[A-Z][A-Z0-9_]*@"
    r"|\b(?i:replace|change)\\?[_-]?(?i:me)\b"
)
"""What is filled in before a text reaches the cluster, quoted for expressions or not. Paths, headers and claims have
dollar signs, underscores and braces of their own, so fewer spellings count than in names (`is_symbolic`)."""


class Predicate(NamedTuple):
    """What a match demands of a property: `PathPrefix` and `/shop`, `Exact` and a value, `Present`, `Network`, `Pair`.

    The value of `Network` is a list of CIDRs as `AddressSet.text` writes it. That of `Pair` is two names, `shop/web`,
    in each of which one `*` may stand for any run of characters. `Nothing` takes no value, whatever is written there.
    """

    type: Literal["Exact", "PathPrefix", "RegularExpression", "Present", "Network", "Pair", "Nothing"]
    value: str = ""

    @property
    def is_expression(self) -> bool:
        return self.type == EXPRESSION

    @property
    def is_prefix(self) -> bool:
        return self.type == PREFIX

    @property
    def refusal(self) -> str:
        """Why the expression takes nothing, to follow "is"; "" for one that may, and for all others."""
        return expression(self.value).refusal if self.type == EXPRESSION and not self.is_open else ""

    @property
    def widest(self) -> Predicate:
        """All that it may take where variables stand in it, as if they stood for anything; itself where none does."""
        return _widest(self) or self

    @property
    def is_open(self) -> bool:
        """Whether a variable stands in it, so that of what it may take nothing is known."""
        return _widest(self) is not None

    def takes(self, value: str | None) -> bool | None:
        """Return whether a value satisfies it; None where a variable may stand for it, and for an expression that is
        too large to be matched."""
        if value is None:
            return False
        if (widest := _widest(self)) is not None:
            return False if widest.takes(value) is False else None
        match self.type:
            case "Exact":
                return value == self.value
            case "PathPrefix":
                prefix = self.value.rstrip("/")
                return value == prefix or value.startswith(f"{prefix}/")
            case "RegularExpression":
                compiled = expression(self.value)
                return False if compiled.refusal else compiled.is_whole(value)
            case "Network":
                number = number_of(value)
                return number is not None and address_set(tuple(self.value.split(","))).holds(number)
            case "Pair":
                return all(map(fits, self.value.split("/", 1), value.split("/", 1)))
        return self.type == "Present"

    def within(self, other: Predicate) -> bool | None:
        """Return whether the other one takes every value that this one takes; None where that is not known."""
        if self == other or self.type == "Nothing" or self.refusal:
            return True
        if self.is_open or other.is_open:
            return True if not other.is_open and self.widest.within(other) else None
        if self.type == "Exact":
            return other.takes(self.value)
        match other.type:
            case "Present":
                return True
            case "RegularExpression":
                return self._within_expression(other)
            case "PathPrefix":
                return self._within_prefix(other)
            case "Network" if self.type == "Network":
                own, around = (address_set(tuple(each.value.split(","))) for each in (self, other))
                return None if own.doubtful else not without(own.ranges, around.ranges)
            case "Pair" if self.type == "Pair":
                return all(map(_glob_within, self.value.split("/", 1), other.value.split("/", 1)))
            case "Exact" if self.type == EXPRESSION:
                only = literal(self.value)
                return self._unless_sampled(other) if only is None else only == other.value
        return False

    def overlaps(self, other: Predicate) -> bool | None:
        """Return whether some value satisfies both; None where that is not known."""
        if "Nothing" in (self.type, other.type) or self.refusal or other.refusal:
            return False
        if self == other:
            return True
        if self.is_open or other.is_open:
            return False if self.widest.overlaps(other.widest) is False else None
        for one, another in ((self, other), (other, self)):
            if one.type == "Exact":
                return another.takes(one.value)
            if one.type == "Present":
                return True
        if self.type == other.type == "Network":
            own, others = (address_set(tuple(each.value.split(","))).ranges for each in (self, other))
            return without(own, others) != list(own)
        if self.type == other.type == "Pair":
            return all(map(_globs_overlap, self.value.split("/", 1), other.value.split("/", 1)))
        if self.type == other.type == PREFIX:
            return bool(self.within(other) or other.within(self))
        starts = [literal_start(each.value) if each.is_expression else each.value.rstrip("/") for each in (self, other)]
        if not starts[0].startswith(starts[1]) and not starts[1].startswith(starts[0]):
            return False
        tried = (
            text for each in (self, other) for text in (samples(each.value) if each.is_expression else (each.value,))
        )
        return True if any(self.takes(text) and other.takes(text) for text in tried) else None

    def _within_prefix(self, prefix: Predicate) -> bool | None:
        if prefix.value.rstrip("/") == "":
            return True
        if self.type == PREFIX:
            return prefix.takes(self.value.rstrip("/"))
        if self.type != EXPRESSION:
            return False
        begins = literal_start(self.value).startswith(f"{prefix.value.rstrip('/')}/")
        return True if begins else self._unless_sampled(prefix)

    def _within_expression(self, other: Predicate) -> bool | None:
        if other.refusal:
            return False
        if self.type == PREFIX:
            own = self.value.rstrip("/")
            if takes_all_below(other.value, f"{own}/") and (not own or other.takes(own)):
                return True
            return None if other.takes(f"{own}/other") and (not own or other.takes(own)) else False
        if self.type != EXPRESSION:
            return True if _ends(other.value) == ("", "") else None
        own_ends, outer_ends = _ends(self.value), _ends(other.value)
        if outer_ends is not None:
            starts = literal_start(self.value).startswith(outer_ends[0])
            if starts and (not outer_ends[1] or (own_ends is not None and own_ends[1].endswith(outer_ends[1]))):
                return True
        return self._unless_sampled(other)

    def _unless_sampled(self, other: Predicate) -> bool | None:
        """Return False where a sample shows that not all lies in another predicate, else None."""
        tried = samples(self.value)
        return False if any(self.takes(text) and other.takes(text) is False for text in tried) else None


@lru_cache(maxsize=4_096)
def _widest(predicate: Predicate) -> Predicate | None:
    """Return what a predicate takes at most; None where no variable stands in it."""
    kind, value = predicate
    if kind in ("Network", "Present", "Nothing") or _VARIABLE.search(value) is None:
        return None
    if kind == "Pair":
        names = (_VARIABLE.sub("*", name) for name in value.split("/", 1))
        return Predicate("Pair", "/".join(name if name.count("*") < 2 else "*" for name in names))
    if kind == EXPRESSION:
        if "[" in value or "{$" in value or "{{{" in value:  # it may stand in a class, or for a number of times
            start = literal_start(value[: _VARIABLE.search(value).start()])  # type: ignore[union-attr]
            return matching(f"{re.escape(start)}.*")
        return matching(_VARIABLE.sub(".*", value))
    written = _VARIABLE.split(value.rstrip("/") if kind == PREFIX else value)
    pattern = ".*".join(map(re.escape, written))
    return matching(f"{pattern}(?:/.*)?" if kind == PREFIX and written[-1] else pattern)


def rank(predicate: Predicate) -> tuple[int, str]:
    """Return a sort key, the predicate that says most in few words first."""
    return _RANK.get(predicate.type, len(_RANK)), predicate.value


def below(path: str) -> Predicate:
    """Return the predicate of a path and all that lies below it."""
    return Predicate(PREFIX, path)


def matching(pattern: str) -> Predicate:
    """Return the predicate of texts that a regular expression matches as a whole."""
    return Predicate(EXPRESSION, pattern)


def starting(value: str) -> Predicate:
    """Return the predicate of texts with a beginning."""
    return matching(f"{re.escape(value)}.*")


def ending(value: str) -> Predicate:
    """Return the predicate of texts with an end."""
    return matching(f".*{re.escape(value)}")


def containing(value: str) -> Predicate:
    """Return the predicate of texts with a part."""
    return matching(f".*{re.escape(value)}.*")


def globbed(wanted: str) -> Predicate:
    """Return the predicate of a text that may begin or end in a `*`, alone any value (Istio's string match)."""
    if wanted == "*":
        return Predicate("Present")
    if wanted.endswith("*"):
        return starting(wanted[:-1])
    return ending(wanted[1:]) if wanted.startswith("*") else Predicate("Exact", wanted)


def fits(glob: str, name: str) -> bool:
    """Return whether a name is what a text says in which one `*` may stand for any run of characters."""
    start, star, end = glob.partition("*")
    return name == glob if not star else len(name) >= len(start + end) and name.startswith(start) and name.endswith(end)


def _ends(pattern: str) -> tuple[str, str] | None:
    """Return how the texts of an expression begin and end where there is anything between; None for other ones."""
    start, anything, end = pattern.removeprefix("^").removesuffix("$").partition(".*")
    ends = literal(start), literal(end)
    return None if not anything or ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _glob_within(glob: str, other: str) -> bool:
    (start, star, end), (outer_start, outer_star, outer_end) = glob.partition("*"), other.partition("*")
    if not star or not outer_star:
        return fits(other, glob) if not star else glob == other
    return start.startswith(outer_start) and end.endswith(outer_end)


def _globs_overlap(glob: str, other: str) -> bool:
    (start, star, end), (other_start, other_star, other_end) = glob.partition("*"), other.partition("*")
    if not star or not other_star:
        return fits(other, glob) if not star else fits(glob, other)
    starts = start.startswith(other_start) or other_start.startswith(start)
    return starts and (end.endswith(other_end) or other_end.endswith(end))
