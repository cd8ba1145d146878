"""How findings put things: near misses, lists, numbers of things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def listing(things: Iterable[object], *, word: str = "and", most: int = 6) -> str:
    """`a, b and c`; what is beyond `most` is counted."""
    names = [str(each) for each in things]
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def plural(number: int, noun: str) -> str:
    """`1 route`, `3 routes`, `2 policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def verb(number: int, singular: str) -> str:
    """The verb that goes with a number of things: `loses` for one, `lose` for several."""
    return singular if number == 1 else singular.removesuffix("s")


def quoted(names: Sequence[str], *, most: int = 6) -> str:
    """`"a", "b" and "c"`."""
    return listing([f'"{each}"' for each in names], most=most)
