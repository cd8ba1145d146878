"""Boxes: one bit set per dimension, all of one length for a question; and what each entry of a list of them gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import and_

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
        narrowest = min(range(len(rule)), key=lambda number: rule[number].bit_count() / sizes[number])
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
    before = len(known) + 1
    while len(known) < before:
        before = len(known)
        for number in range(len(known[0]) if known else 0):
            by_rest: dict[Box, int] = {}
            for box in known:
                rest = (*box[:number], *box[number + 1 :])
                by_rest[rest] = by_rest.get(rest, 0) | box[number]
            known = [(*rest[:number], bits, *rest[number:]) for rest, bits in by_rest.items()]
    return known


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
