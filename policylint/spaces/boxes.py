"""Boxes: one bit set per dimension, all of one length for a question; and what each entry of a list of them gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import and_, ne

Box = tuple[int, ...]
_MOST_PIECES = 200


def is_empty(box: Box) -> bool:
    """Return whether nothing lies in a box: one of its dimensions has no atom."""
    return 0 in box


def intersect(left: Box, right: Box) -> Box:
    """Return what lies in both boxes."""
    return tuple(map(and_, left, right))


def subtract(box: Box, other: Box) -> Iterator[Box]:
    """Yield what lies in a box but not in another one: disjoint boxes, at most one for each dimension."""
    common = intersect(box, other)
    if is_empty(common):
        yield box
        return
    for number, (own, shared) in enumerate(zip(box, common, strict=True)):
        if own != shared:
            yield (*common[:number], own & ~shared, *box[number + 1 :])


def regions(rules: Sequence[Box], universe: Box, most: int) -> tuple[list[list[Box]], list[Box]] | None:
    """Return what each rule of a list gets where the first that matches wins, and what is left for none of them.

    Args:
        rules: the boxes of the rules, the first one first.
        universe: the box of all requests.
        most: steps that may be taken: the comparison of two boxes, or a dimension of a box that is left over.

    Returns:
        Per rule its disjoint boxes, none for a rule that never wins, and the boxes that are left; None where that takes
        more steps.
    """
    left: list[Box] = [] if is_empty(universe) else [universe]
    sizes = [max(1, whole.bit_count()) for whole in universe]
    gained: list[list[Box]] = []
    for rule in rules:
        most -= len(left) + 1
        if most < 0:
            return None
        cut = compress(range(len(rule)), map(ne, rule, universe))  # of hundreds of dimensions a rule speaks of a few
        narrowest = min(cut, key=lambda number: rule[number].bit_count() / sizes[number], default=0)
        bits = rule[narrowest]
        own = []
        for place in [place for place, box in enumerate(left) if box[narrowest] & bits][::-1]:
            box = left[place]
            common = intersect(box, rule)
            if not is_empty(common):
                own.append(common)
                rest = list(subtract(box, common))
                left[place : place + 1] = rest
                most -= len(rest) * len(box)
                if most < 0:
                    return None
        gained.append(own[::-1])
    return gained, left


def merged(boxes: Iterable[Box]) -> list[Box]:
    """Return fewer boxes that hold the same: two that differ in one dimension only become one."""
    known = list(dict.fromkeys(boxes))
    if len(known) == 1:
        return known
    totals = [sum(map(hash, enumerate(box))) for box in known]
    before = len(known) + 1
    while len(known) < before:
        before = len(known)
        for number in range(len(known[0]) if known else 0):
            known, totals = _merged_along(number, known, totals)
    return known


def _merged_along(number: int, boxes: list[Box], totals: list[int]) -> tuple[list[Box], list[int]]:
    """Return boxes of which no two differ in one dimension only.

    What tells apart boxes in the other dimensions is found without a copy of each: by the sum of hashes of all of them.

    Args:
        totals: of each box, the sum of the hashes of its numbered bits.
    """
    by_rest: dict[int, int] = {}
    found: list[Box] = []
    sums: list[int] = []
    for box, total in zip(boxes, totals, strict=True):
        rest = total - hash((number, box[number]))
        place = by_rest.setdefault(rest, len(found))
        while place < len(found) and not _alike_but(number, box, found[place]):
            rest += 1
            place = by_rest.setdefault(rest, len(found))
        if place == len(found):
            found.append(box)
            sums.append(total)
        else:
            bits = found[place][number] | box[number]
            sums[place] += hash((number, bits)) - hash((number, found[place][number]))
            found[place] = (*box[:number], bits, *box[number + 1 :])
    return found, sums


def _alike_but(number: int, one: Box, other: Box) -> bool:
    return one[:number] == other[:number] and one[number + 1 :] == other[number + 1 :]


def meetings(some: Sequence[Box], others: Sequence[Box]) -> Iterator[Box]:
    """Yield what each of some boxes has in common with each of others, where that is anything.

    For that a box is one number, with a bit to spare behind each of its dimensions: what is in a dimension carries into
    that bit when the largest value is added.
    """
    boxes = (*some, *others)
    widths = [max(1, *(bits.bit_length() for bits in column)) for column in zip(*boxes, strict=True)]
    largest, spare = _packed([(1 << width) - 1 for width in widths], widths), _packed([1 << w for w in widths], widths)
    packed = [(box, _packed(box, widths)) for box in others]
    for left in some:
        own = _packed(left, widths)
        for right, other in packed:
            if ((own & other) + largest) & spare == spare:
                yield intersect(left, right)


def _packed(box: Iterable[int], widths: Sequence[int]) -> int:
    number = 0
    for bits, width in zip(box, widths, strict=True):
        number = number << width + 1 | bits
    return number


def widened(boxes: Sequence[Box], universe: Box) -> list[Box]:
    """Return boxes that together hold the same, each as wide as the others let it be, none within another one.

    They overlap, and take fewer words: `GET of viewers` in place of `GET of viewers who are no admins`.
    """
    wide: list[Box] = []
    for box in boxes:
        for number, everything in enumerate(universe):
            added = (*box[:number], everything & ~box[number], *box[number + 1 :])
            if not is_empty(added) and _is_within(added, boxes):
                box = (*box[:number], everything, *box[number + 1 :])
        wide.append(box)
    apart = list(dict.fromkeys(wide))
    return [box for box in apart if not any(other != box and intersect(box, other) == box for other in apart)]


def _is_within(box: Box, others: Iterable[Box]) -> bool:
    """Return whether a box certainly lies within some others together; false where that takes too many pieces."""
    left = [box]
    for other in others:
        left = [part for piece in left for part in subtract(piece, other)]
        if len(left) > _MOST_PIECES:
            return False
    return not left
