"""The wording of findings: near misses, and what follows the first of several things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_MOST_COMPARED = 64
"""The most names that one is compared with letter by letter: those that share the most pairs of letters with it."""
_MOST_COUNTED = 4_000
"""The most names among which pairs of letters are counted for one name, the rarest pair first."""

_MOST_PASSED_OVER = 6
"""The most names that are alike and passed over, since they differ in a whole word."""
_LEAST_OF_WORDS = 0.6
"""How alike two words are (difflib's ratio) of which one is the other misspelt."""
_LEAST_OF_LABELS = 5
"""Letters of a label of a host from which on another one that differs in one of them is taken for a misspelling."""


class Effort:
    """What may be spent on guesses, in pairs of letters compared, over all names that share it: about a second.

    Where more is wrong, no spelling mistake is behind it, and no guess is made.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = 5_000_000) -> None:
        self.left = left


class Spellings:
    """Known names, for the question which of them a wrong one was meant for; not all are looked at for each.

    Args:
        names: each once is enough.
        effort: shared by several of these.
    """

    __slots__ = ("_effort", "_names", "_pairs")

    def __init__(self, names: Iterable[str], effort: Effort | None = None) -> None:
        self._names = sorted(set(names))
        self._effort = effort or Effort()
        self._pairs: dict[str, list[str]] | None = None

    def near(self, name: str, most: int) -> list[str]:
        """Return the names, but for this one, that are nearly the same, the nearest first, up to `most`."""
        allowed = max(3, len(name) // 2)
        candidates = [other for other in self._alike(name) if abs(len(other) - len(name)) <= allowed and other != name]
        self._effort.left -= len(name) * sum(map(len, candidates))
        if not candidates or self._effort.left < 0:
            return []
        from difflib import get_close_matches

        alike = get_close_matches(name, candidates, n=most + _MOST_PASSED_OVER, cutoff=0.7)
        return [other for other in alike if _is_slip(name, other)][:most]

    def _alike(self, name: str) -> list[str]:
        """Return the names that share the most pairs of letters with this one; all where there are few."""
        if len(self._names) <= _MOST_COMPARED:
            return self._names
        if self._pairs is None:
            self._pairs = {}
            for other in self._names:
                for pair in _pairs(other):
                    self._pairs.setdefault(pair, []).append(other)
        shared: Counter[str] = Counter()
        counted = 0
        for holders in sorted((self._pairs.get(pair, []) for pair in _pairs(name)), key=len):
            counted += len(holders)
            if counted > _MOST_COUNTED and shared:
                break
            shared.update(holders[:_MOST_COUNTED])
        return [other for other, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_MOST_COMPARED]]


def _is_slip(name: str, other: str) -> bool:
    """Return whether two names differ in letters, and not in a whole word of them: `api-public` is not `api-private`.

    Digits are no letters: the next version of a name is one that may have been meant.
    """
    words, others = name.split("-"), other.split("-")
    if len(words) != len(others) or len(words) == 1:
        return True
    from difflib import SequenceMatcher

    pairs = [(word.rstrip("0123456789"), twin.rstrip("0123456789")) for word, twin in zip(words, others, strict=True)]
    return all(word == twin or SequenceMatcher(None, word, twin).ratio() >= _LEAST_OF_WORDS for word, twin in pairs)


def _pairs(name: str) -> list[str]:
    """Return the pairs of letters of a name, its beginning and end included, each once."""
    ended = f"^{name}$"
    return sorted({ended[start : start + 2] for start in range(len(ended) - 1)})


def near(name: str, known: Iterable[str] | Spellings) -> str:
    """Return the name that was probably meant, "" when none is near."""
    spellings = known if isinstance(known, Spellings) else Spellings(known)
    return next(iter(spellings.near(name, 1)), "")


def misspelt_hosts(words: Iterable[str], hosts: Iterable[str]) -> set[str]:
    """Return the words that are one of some hosts but for one letter of one label, or two that changed their places.

    Labels that are so alike share what is left of them without one letter, so that each word is compared with few.
    """
    known: dict[tuple[int, tuple[str, ...], str], set[str]] = {}
    for host in hosts:
        for number, rest, label in _labels(host):
            for part in _without_a_letter(label):
                known.setdefault((number, rest, part), set()).add(label)
    return {
        word
        for word in words
        for number, rest, label in _labels(word)
        for part in _without_a_letter(label)
        if any(is_slip(label, other) for other in known.get((number, rest, part), ()))
    }


def _labels(host: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Yield the labels of a host that may be misspelt, each with its place and the other ones."""
    labels = host.lower().split(".")
    for number, label in enumerate(labels):
        if len(label) >= _LEAST_OF_LABELS and (not label.strip("-") or label.replace("-", "").isalpha()):
            yield number, (*labels[:number], *labels[number + 1 :]), label


def _without_a_letter(label: str) -> Iterator[str]:
    yield label
    yield from (label[:place] + label[place + 1 :] for place in range(len(label)))


def is_slip(one: str, other: str) -> bool:
    """Tell whether a word is another one but for one letter, or for two that changed their places."""
    if one == other or not (one + other).strip("-"):
        return False
    start = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), len(other))
    rest, left = one[start:], other[start:]
    swapped = len(rest) > 1 and rest[:2] == left[:2][::-1] and rest[2:] == left[2:]
    return swapped or rest[1:] == left[1:] or rest[1:] == left or rest == left[1:]


def and_more(things: Sequence[object]) -> str:
    """Return ` and 2 more` for what follows the first of several things, "" for one."""
    return f" and {len(things) - 1} more" if len(things) > 1 else ""
