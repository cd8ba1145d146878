"""Lists and numbers of things in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def count(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun: `1 route`, `3 routes`, and `2 policies` where `many` is given."""
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def count_with_unseen(number: int, noun: str, unseen: int) -> str:
    """Return the number of things here, and of those that are elsewhere, if any: `0 gateways and 1 elsewhere`."""
    return count(number, noun) + (f" and {unseen} elsewhere" if unseen else "")


def verb(number: int, singular: str) -> str:
    """Return the verb that goes with a number of things: `loses` for one, `lose` for several."""
    return singular if number == 1 else singular.removesuffix("s")


def series(things: Iterable[object], word: str = "and") -> str:
    """Return all of some things: `a, b and c`."""
    names = [str(thing) for thing in things]
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def listing(things: Iterable[object], *, word: str = "and", most: int = 6) -> str:
    """Return `a, b and c`; of more than `most` things the last entry counts the rest: `a, b and 4 more`."""
    known = things if isinstance(things, (list, tuple)) else list(things)
    if len(known) > most:
        return series([*known[: most - 1], f"{len(known) - most + 1} more"], word)
    return series(known, word)


def quoted(names: Sequence[str], *, most: int = 6) -> str:
    """Return `"a", "b" and "c"`."""
    shown = [f'"{name}"' for name in names[:most]]
    return listing([*shown, *names[most:]], most=most)


def leading(things: Iterable[object], most: int) -> str:
    """Return the first of some things, and how many more there are: `a, b, c`, or `a, b, c and 4 more`."""
    known = things if isinstance(things, (list, tuple)) else list(things)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(map(str, known[:most])) + more


def shortened(words: str, most: int = 60) -> str:
    """Return words of other people, cut off with `…` after a number of characters: an expression may fill a page."""
    return words if len(words) <= most else words[: most - 1] + "…"
