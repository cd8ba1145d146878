"""Sets of requests as people write matches: `GET /shop/** except /shop/login`, `x-canary: 1`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from policylint.spaces.addresses import Range, address_set, cidrs, joined, without
from policylint.spaces.boxes import Box
from policylint.spaces.dimension import Dimension
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate, rank

EVERY_REQUEST = "every request"
_WITH, _WITHOUT = "with claim ", "without claim "
_MOST = 4
_MOST_CONDITIONS = 5


def described(dimensions: Sequence[Dimension], box: Box) -> str:
    """Return a box in words, "every request" where it is all of them."""
    narrowed = [(dimension, bits) for dimension, bits in zip(dimensions, box, strict=True) if bits != dimension.all]
    parts = _claims_together([words(dimension, bits) for dimension, bits in narrowed[:_MOST_CONDITIONS]])
    more = [f"and {len(narrowed) - _MOST_CONDITIONS} more conditions"] if len(narrowed) > _MOST_CONDITIONS else []
    return " ".join(filter(None, (*parts, *more))) or EVERY_REQUEST


def _claims_together(parts: Sequence[str]) -> Iterator[str]:
    """Yield conditions, those on one claim together: `with claim sub other than a or b`, and no more than its value."""
    valued = {part.partition(": ")[0] for part in parts if part.startswith(_WITH) and ": " in part}
    brought = {part for part in parts if part.startswith(_WITH)} - valued
    for part in parts:
        if part in brought:
            lacked = f"{_WITHOUT}{part.removeprefix(_WITH)}: "
            others = [other.removeprefix(lacked) for other in parts if other.startswith(lacked)]
            yield f"{part} other than {_listed(others)}" if others else part
        elif part not in valued and part.partition(": ")[0].replace(_WITHOUT, _WITH) not in brought:
            yield part


def words(dimension: Dimension, bits: int) -> str:
    """Return a set of values in words, "" for all of them."""
    if bits == dimension.all:
        return ""
    if dimension.name == "path":
        return _paths(dimension, bits)
    if dimension.name == "principal":
        return f"from {_principals(dimension, bits)}"
    if dimension.ranges:
        return f"from {networks(dimension, bits)}"
    if dimension.name.startswith("claim "):
        return (_WITH if bits & 0b10 else _WITHOUT) + dimension.name.removeprefix("claim ")
    _, called, name = dimension.name.partition(" ")
    name = f"{name}: " if called else "host: " if dimension.name == "host" else ""
    stated, rest = _stated(dimension, bits)
    if not rest:
        return name + " or ".join(stated)
    others, _ = _stated(dimension, dimension.all & ~bits)
    if others and len(others) <= len(stated) + 1:
        return name + f"not {' or '.join(others)}"
    return name + " or ".join([*stated, "others"])


def _principals(dimension: Dimension, bits: int) -> str:
    """Return a set of identities in words, the widest that are stated; the first atom is of clients without any."""
    mesh = dimension.all & ~1
    stated = [("the mesh", mesh), *((_written(each), found) for each, found in dimension.masks.items())]
    around = [("others than", dimension.all), *stated] if bits & 1 and bits & mesh else stated
    parts, left = [], bits
    for name, found in sorted(around, key=lambda entry: -entry[1].bit_count()):
        if not found & left:
            continue
        rest, exceptions = found & ~bits & ~1, []
        apart = [entry for entry in stated if entry[1] & rest and not entry[1] & bits] if rest else []
        for other, mask in sorted(apart, key=lambda entry: (-(entry[1] & found).bit_count(), entry[1].bit_count())):
            if mask & rest:
                exceptions.append(other)
                rest &= ~mask
        if not rest:
            listed = _listed(sorted(exceptions))
            parts.append(f"{name} {listed}" if name == "others than" else f"{name} except {listed}" if listed else name)
            left &= ~found
    if left & mesh:
        parts.append(f"some such as {dimension.witness(left & mesh)}")
    return _listed([*parts, "outside the mesh"] if left & 1 else parts)


def networks(dimension: Dimension, bits: int) -> str:
    """Return a set of addresses in the fewest networks, with their exceptions: `10.0.0.0/8 except 10.1.0.0/16`."""
    inside = _ranges(dimension, bits)
    if bits & dimension.others:
        around = joined(_stated_networks(dimension, dimension.all & ~bits))
        within = without(around, _ranges(dimension, dimension.all & ~bits))
        outside = f"outside {_listed(list(cidrs(around)), ' and ')}"
        return " or ".join(filter(None, [_listed(list(cidrs(within))), outside]))
    listed = list(cidrs(inside))
    around = joined(_stated_networks(dimension, bits))
    exceptions, outer = list(cidrs(without(around, inside))), list(cidrs(around))
    if exceptions and len(outer) + len(exceptions) < len(listed):
        return f"{_listed(outer)} except {_listed(exceptions)}"
    return _listed(listed)


def _ranges(dimension: Dimension, bits: int) -> list[Range]:
    atoms = (ranges for number, ranges in enumerate(dimension.ranges) if bits >> number & 1)
    return joined(interval for ranges in atoms for interval in ranges)


def _stated_networks(dimension: Dimension, bits: int) -> Iterator[Range]:
    """Yield the stated networks that a set of addresses has a part in, each as it is written."""
    inside = _ranges(dimension, bits)
    starts = [interval.low for interval in inside]
    for predicate, mask in dimension.masks.items():
        if mask & bits:
            for interval in address_set(tuple(predicate.value.split(","))).ranges:
                number = bisect_left(starts, interval.high) - 1
                if number >= 0 and inside[number].high > interval.low:
                    yield interval


def _paths(dimension: Dimension, bits: int) -> str:
    """Return the least prefix that holds all of some paths, with its exceptions, or the paths one by one."""
    parts, rest = _stated(dimension, bits)
    if not rest and len(parts) == 1:
        return parts[0]
    prefixes = [
        (mask, predicate)
        for predicate, mask in dimension.masks.items()
        if predicate.type in (PREFIX, EXPRESSION) and mask
    ]
    around = min(
        (entry for entry in prefixes if not bits & ~entry[0]), key=lambda entry: entry[0].bit_count(), default=None
    )
    whole = dimension.all if around is None else around[0]
    exceptions, more = _stated(dimension, whole & ~bits)
    outer = "/**" if around is None else _written(around[1])
    if not rest and (more or len(parts) <= len(exceptions) + 1):
        return _listed(parts)
    if more:
        return f"{outer} in part"
    return outer + (f" except {_listed(exceptions)}" if exceptions else "")


def _stated(dimension: Dimension, bits: int) -> tuple[list[str], int]:
    """Return the widest predicates that hold within a set, in words, and the atoms that they leave."""
    if bits in dimension.whole:
        return [_written(dimension.whole[bits])], 0
    is_one = not bits & (bits - 1)
    within = (
        (predicate, mask)
        for predicate, mask in dimension.masks.items()
        if (mask == bits if is_one else mask & bits and not mask & ~bits)
    )
    ranked = sorted(within, key=lambda entry: (-entry[1].bit_count(), rank(entry[0])))
    parts = []
    rest = bits
    for predicate, mask in ranked:
        if mask & rest:
            parts.append(_written(predicate))
            rest &= ~mask
    return sorted(parts), rest


def _written(predicate: Predicate) -> str:
    if predicate.is_prefix:
        return f"{predicate.value.rstrip('/')}/**"
    if predicate.is_expression:
        is_search = predicate.value.startswith(".*(?:") and predicate.value.endswith(").*")
        return f"~…{predicate.value[5:-3]}…" if is_search else f"~{predicate.value}"
    match predicate.type:
        case "Present":
            return "any"
        case "Pair" if predicate.value == "*/*":
            return "the mesh"
        case _:
            return predicate.value or '""'


def _listed(parts: Sequence[str], word: str = " or ") -> str:
    shown = parts if len(parts) <= _MOST else [*parts[: _MOST - 1], f"{len(parts) - _MOST + 1} more"]
    return word.join(shown)
