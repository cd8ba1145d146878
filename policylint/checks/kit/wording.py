"""The wording of findings: near misses, and what follows the first of several things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_COMPARED = 5_000


def near_misses(name: str, known: Iterable[str], most: int) -> list[str]:
    """Return the known names that are nearly the same, the nearest first, up to `most`."""
    candidates = sorted({other for other in known if abs(len(other) - len(name)) <= max(3, len(name) // 2)})
    if not candidates or len(candidates) > _MOST_COMPARED:
        return []
    from difflib import get_close_matches

    return get_close_matches(name, candidates, n=most, cutoff=0.7)


def near(name: str, known: Iterable[str]) -> str:
    """Return the name that was probably meant, "" when none is near."""
    return next(iter(near_misses(name, known, 1)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean "checkout"?)`, "" when no name is near."""
    guess = near(name, known)
    return f' (did you mean "{guess}"?)' if guess else ""


def and_more(things: Sequence[object]) -> str:
    """Return ` and 2 more` for what follows the first of several things, "" for one."""
    return f" and {len(things) - 1} more" if len(things) > 1 else ""
