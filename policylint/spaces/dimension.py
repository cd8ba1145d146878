"""Dimensions: the values of one property of requests, cut into the classes that no predicate divides.

Atoms are told apart by what all predicates say of them, and each has a *witness*: what a predicate says of the witness
it says of every value of the atom. For exact values and prefixes the atoms are complete. Regular expressions are tried
on these atoms and on samples of their own; where that shows no value that one of them may have, it is *undecided*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, combinations, islice, pairwise
from operator import or_
from typing import Final

from policylint.namedtuple import NamedTuple
from policylint.regex import Expression, expression
from policylint.spaces.addresses import END, Range, address_of, address_set, number_of
from policylint.spaces.predicates import PREFIX, Predicate, fits, rank
from policylint.spaces.samples import FOLDED, literal_start, sample, takes_all_below, unfolded

ABSENT: Final = None
"""The witness of requests without the property at all: without the header."""
_MOST_SAMPLES: Final = 2_000
_MOST_TRIED: Final = 400_000
"""Samples that are tried, each on every expression."""
_MOST_COMPARED: Final = 200
"""Expressions of a property that are compared with each other; of more of them all are undecided."""
_MOST_EXPECTED: Final = 500
"""The same, on all properties of a question."""
_FRESH: Final = "other"
_USUAL_ADDRESSES: Final = ("203.0.113.1", "198.51.100.1", "192.0.2.1")
"""TEST-NET-3 and the others (RFC 5737), which are nobody's."""
_Said = tuple[frozenset[Predicate], frozenset[Predicate]]
"""The predicates that hold: those other than expressions, and expressions."""
_NOTHING: Final[_Said] = (frozenset(), frozenset())


class Dimension(NamedTuple):
    """One property of requests.

    Args:
        name: of the property, as people write it: `path`, `header x-canary`.
        witnesses: a value of each atom, the plainest first; ABSENT for requests without one.
        masks: the atoms of each predicate.
        undecided: the regular expressions that may have values which lie in no atom of theirs.
        ranges: of a dimension of addresses, the intervals of each atom.
        whole: by the atoms of a predicate the plainest one that has just these.
    """

    name: str
    witnesses: tuple[str | None, ...]
    masks: Mapping[Predicate, int]
    undecided: tuple[str, ...] = ()
    ranges: tuple[tuple[Range, ...], ...] = ()
    whole: Mapping[int, Predicate] = {}

    @property
    def all(self) -> int:
        """Every atom."""
        return (1 << len(self.witnesses)) - 1

    @property
    def others(self) -> int:
        """The atoms that no predicate takes."""
        return self.all & ~reduce(or_, self.masks.values(), 0)

    def witness(self, bits: int) -> str | None:
        """Return a value of a set of atoms that is not empty: the plainest one."""
        return self.witnesses[(bits & -bits).bit_length() - 1]

    def only(self, keep: Callable[[str], bool]) -> Dimension:
        """Return the dimension without the atoms whose witness is none of some values."""
        kept = [number for number, witness in enumerate(self.witnesses) if keep(witness or "")]

        def among(mask: int) -> int:
            return sum(1 << place for place, number in enumerate(kept) if mask >> number & 1)

        masks = {predicate: among(mask) for predicate, mask in self.masks.items()}
        whole = {among(mask): predicate for mask, predicate in self.whole.items() if among(mask)}
        return self._replace(witnesses=tuple(self.witnesses[number] for number in kept), masks=masks, whole=whole)


def paths(predicates: Iterable[Predicate], *, expressions: int = 0) -> Dimension:
    """Return the paths as predicates cut them: each that they name, and what lies below it but below no deeper one.

    A prefix takes whole elements, and ignores a trailing slash (HTTPPathMatch).

    Args:
        expressions: how many the question has on all of its properties, if more than on this one.
    """
    stated = {each: _without_slash(each.widest) for each in predicates}
    points = {predicate.value for predicate in stated.values() if predicate.type in ("Exact", PREFIX)} - {""}
    prefixes = {"", *(predicate.value for predicate in stated.values() if predicate.is_prefix)}
    element = _unlike(_FRESH, {step for point in points for step in point.split("/")})
    below = {f"{prefix}/": f"{prefix}/{element}" for prefix in sorted(prefixes)}

    def satisfied(path: str) -> Iterator[tuple[str, str]]:
        yield "Exact", path
        yield PREFIX, path
        end = path.find("/")
        while end >= 0:
            yield PREFIX, path[:end]
            end = path.find("/", end + 1)

    return _dimension("path", stated, ["/", *sorted(points)], below, satisfied, expected=expressions)


def values(
    name: str, predicates: Iterable[Predicate], usual: str | None = ABSENT, *, expressions: int = 0
) -> Dimension:
    """Return the values of a property as predicates cut them: each that they name, and any other.

    Args:
        usual: the value of most requests; ABSENT where a request may come without one.
        expressions: as for `paths`.
    """
    stated = {predicate: predicate.widest for predicate in predicates}
    points = {predicate.value for predicate in stated.values() if predicate.type == "Exact"}

    def satisfied(value: str) -> Iterator[tuple[str, str]]:
        yield "Exact", value
        yield "Present", ""

    below = {"": _unlike(_FRESH, points)}
    return _dimension(name, stated, [usual, *sorted(points)], below, satisfied, expected=expressions)


def addresses(name: str, predicates: Iterable[Predicate]) -> Dimension:
    """Return the addresses as predicates cut them: the intervals between all ends, those in the same networks together.

    The first atom holds the addresses of no network.
    """
    stated = sorted(set(predicates))
    ends: dict[int, list[int]] = {0: [], END[6]: []}
    for number, predicate in enumerate(stated):
        for low, high in address_set(tuple(predicate.value.split(","))).ranges:
            ends.setdefault(low, []).append(number + 1)
            ends.setdefault(high, []).append(-number - 1)
    within: set[int] = set()
    atoms: dict[frozenset[int], list[Range]] = {frozenset(): []}
    at = sorted(ends)
    for low, high in pairwise(at):
        for end in sorted(ends[low]):
            within.discard(-end - 1) if end < 0 else within.add(end - 1)
        atoms.setdefault(frozenset(within), []).append(Range(low, high))
    if not atoms[frozenset()]:
        del atoms[frozenset()]
    masks = dict.fromkeys(stated, 0)
    for number, inside in enumerate(atoms):
        for index in inside:
            masks[stated[index]] |= 1 << number
    ranges = tuple(map(tuple, atoms.values()))
    return Dimension(name, tuple(map(_usual_address, ranges)), masks, (), ranges)


def pairs(name: str, predicates: Iterable[Predicate]) -> Dimension:
    """Return pairs of names, `shop/web`, as predicates cut them. The first atom is of what has none (ABSENT).

    Of each name all is tried that predicates tell apart: what is written out, and every beginning with every end.
    """
    of_widest: dict[Predicate, list[Predicate]] = {}
    for predicate in sorted(set(predicates)):
        of_widest.setdefault(predicate.widest, []).append(predicate)
    stated = sorted(of_widest)
    by_first: dict[str, list[Predicate]] = {}
    for predicate in stated:
        by_first.setdefault(predicate.value.partition("/")[0], []).append(predicate)
    wild = [first for first in by_first if "*" in first]
    atoms: dict[frozenset[Predicate] | None, str | None] = {None: ABSENT}
    for left in _names(by_first):
        near = [*by_first.get(left, ()), *(each for first in wild if fits(first, left) for each in by_first[first])]
        for right in _names({predicate.value.partition("/")[2] for predicate in near}):
            said = frozenset(each for each in near if fits(each.value.partition("/")[2], right))
            atoms.setdefault(said, f"{left}/{right}")
    masks = {each: 0 for alike in of_widest.values() for each in alike}
    for number, said_of in enumerate(atoms):
        for predicate in (each for widest in said_of or () for each in of_widest[widest]):
            masks[predicate] |= 1 << number
    return Dimension(name, tuple(atoms.values()), masks)


def most_pairs(predicates: Collection[Predicate]) -> int:
    """Return how many atoms pairs may be cut into at most: names that stand for themselves meet only their own."""
    split = [predicate.widest.value.split("/", 1) for predicate in predicates]
    anywhere = {right for left, right in split if "*" in left}
    return len(split) + _number_of_names({left for left, _ in split}) * _number_of_names(anywhere)


def _number_of_names(globs: Collection[str]) -> int:
    wild = [glob.split("*", 1) for glob in globs if "*" in glob]
    return len(globs) + len({"", *(start for start, _ in wild)}) * len({"", *(end for _, end in wild)})


def _names(globs: Collection[str]) -> Iterator[str]:
    """Yield names of which globs say different things: all that they can say, the plainest first."""
    parts = [glob.split("*", 1) for glob in globs if "*" in glob]
    starts, ends = ({"", *column} for column in zip(("", ""), *parts, strict=True))
    written = sorted(glob for glob in globs if "*" not in glob)
    yield from written
    first = _unused(_FRESH[0], starts)
    last = _unused(_FRESH[-1], {end[::-1] for end in ends})
    longest = max(map(len, written), default=0) * "-"
    fresh = (
        f"{first}{_FRESH[1:-1]}{last}" if not any(_FRESH[1:-1] in name for name in written) else first + longest + last
    )
    for start in sorted(starts):
        yield from (f"{start}{fresh}{end}" for end in sorted(ends))


def _unused(usual: str, starts: Collection[str]) -> str:
    """Return a letter with which no start goes on after another one."""
    after = {start[end] for start in starts for end in range(len(start)) if start[:end] in starts}
    return next((letter for letter in (usual, *"abcdefghijklmnopqrstuvwxyz0123456789") if letter not in after), usual)


def _usual_address(ranges: Sequence[Range]) -> str:
    """Return an address of some intervals as people would choose it: one of documentation, or the first of a host."""
    for usual in _USUAL_ADDRESSES:
        number = number_of(usual)
        if number is not None and any(low <= number < high for low, high in ranges):
            return usual
    low, high = ranges[0]
    return address_of(low + 1 if low + 1 < high else low)


def _dimension(
    name: str,
    stated: Mapping[Predicate, Predicate],
    points: Sequence[str | None],
    below: Mapping[str, str],
    satisfied: Callable[[str], Iterator[tuple[str, str]]],
    *,
    expected: int,
) -> Dimension:
    """Return the dimension of some values and what lies between them.

    Args:
        stated: every predicate with its normal form, which is what counts.
        points: the values that predicates name, the plainest first.
        below: the beginnings below which there are infinitely many other values, each with one of those.
        satisfied: the predicates other than expressions that a value satisfies, in normal form: plain tuples do.
        expected: expressions on all properties of the question.
    """
    if not stated:
        return Dimension(name, (points[0],), {})
    expressions = {normal: expression(normal.value) for normal in stated.values() if normal.is_expression}
    of_normal: dict[tuple[str, str], list[Predicate]] = {}
    for predicate, normal in stated.items():
        of_normal.setdefault(normal, []).append(predicate)

    def said(value: str | None) -> _Said:
        if value is ABSENT:
            return _NOTHING
        plain = (predicate for normal in satisfied(value) for predicate in of_normal.get(normal, ()))
        return frozenset(plain), frozenset(match for match, compiled in expressions.items() if compiled.is_whole(value))

    atoms: dict[_Said, str | None] = {}
    for value in [*points, *below.values(), *_samples(expressions, below, max(expected, len(expressions)))]:
        atoms.setdefault(said(value), value)
    masks = dict.fromkeys(stated, 0)
    for number, (plain, matched) in enumerate(atoms):
        for predicate in (*plain, *(each for normal in matched for each in of_normal[normal])):
            masks[predicate] |= 1 << number
    compared = 0 < len(expressions) <= _MOST_COMPARED and expected <= _MOST_EXPECTED
    outside = {beginning: said(value)[0] for beginning, value in below.items()} if compared else {}
    doubtful = _doubtful(expressions, atoms, outside) if compared else expressions
    undecided = tuple(sorted({match.value for match in doubtful}))
    plain_last = sorted(masks.items(), key=lambda entry: rank(entry[0]), reverse=True)
    whole = {mask: predicate for predicate, mask in plain_last if mask}
    return Dimension(name, tuple(atoms.values()), masks, undecided, whole=whole)


def _samples(expressions: Mapping[Predicate, Expression], below: Mapping[str, str], of: int) -> list[str]:
    """Return texts that expressions may match, below every beginning; fewer where they are some `of` very many."""
    most = min(_MOST_SAMPLES, _MOST_TRIED // max(1, of))
    sampled = (sample(match.value, longer=longer) for longer in (False, True) for match in expressions)
    cases = (sample(match.value).upper() for match in expressions if match.value.startswith(FOLDED))
    texts = list(islice(dict.fromkeys(chain(sampled, cases)), max(1, most // len(below))))
    return [
        text if text.startswith(beginning) else f"{beginning}{text.lstrip('/')}"
        for text in texts
        for beginning in below
    ]


def _doubtful(
    expressions: Mapping[Predicate, Expression], atoms: Iterable[_Said], below: Mapping[str, frozenset[Predicate]]
) -> Iterator[Predicate]:
    """Yield the expressions of which values may lie in no atom.

    Args:
        below: the other predicates that hold below each beginning, unless a deeper one says otherwise.
    """
    seen: dict[frozenset[Predicate], list[frozenset[Predicate]]] = {}
    for plain, matched in atoms:
        seen.setdefault(plain, []).append(matched)
    read = {match: unfolded(match.value) for match, compiled in expressions.items() if not compiled.refusal}
    starts = {match: literal_start(value) for match, value in read.items()}
    texts = {match for match, value in read.items() if takes_all_below(value, starts[match])}
    deepest = {
        match: max((beginning for beginning in below if start.startswith(beginning)), key=len, default=None)
        for match, start in starts.items()
    }
    for beginning, plain in below.items():
        here = [m for m, start in starts.items() if deepest[m] == beginning or beginning.startswith(start)]
        for match in here:
            found = [match in matched for matched in seen[plain]]
            if not any(found) or (all(found) and not takes_all_below(read[match], beginning)):
                yield match
        meeting = [
            (first, second)
            for first, second in combinations(here, 2)
            if starts[first].startswith(starts[second]) or starts[second].startswith(starts[first])
            if not {first, second} <= texts  # of beginnings the deepest one tells all, and each is tried
        ]
        for first, second in meeting:
            told = {(first in matched, second in matched) for matched in seen[plain]}
            possible = {(True, True)}
            if not takes_all_below(read[second], max(beginning, starts[first], key=len)):
                possible.add((True, False))
            if not takes_all_below(read[first], max(beginning, starts[second], key=len)):
                possible.add((False, True))
            if len(meeting) > 1 or not told >= possible:
                yield from (first, second)


def _without_slash(predicate: Predicate) -> Predicate:
    return predicate._replace(value=predicate.value.rstrip("/")) if predicate.is_prefix else predicate


def _unlike(stem: str, taken: set[str]) -> str:
    """Return a value that is none of those taken."""
    return next(name for name in (stem, *(f"{stem}-{number}" for number in range(len(taken) + 1))) if name not in taken)
