"""How findings put near misses: which name was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_COMPARED = 5_000


def near(name: str, known: Iterable[str]) -> str:
    """The one name that was probably meant, "" when none is near."""
    candidates = sorted({each for each in known if abs(len(each) - len(name)) <= max(3, len(name) // 2)})
    if not candidates or len(candidates) > _MOST_COMPARED:
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, candidates, n=1, cutoff=0.7)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean "checkout"?)`, "" when no name is near."""
    guess = near(name, known)
    return f' (did you mean "{guess}"?)' if guess else ""
