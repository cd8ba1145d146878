"""Quantities and durations as Kubernetes writes them: `64Ki`, `1m30s`."""

from __future__ import annotations

from policylint.patterns import Pattern

_QUANTITY = Pattern(r"([0-9]{1,18})(k|M|G|Ki|Mi|Gi)?")
_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_DURATION = Pattern(r"([0-9]{1,5}(h|ms|m|s)){1,4}")
_PART = Pattern(r"([0-9]+)(h|ms|m|s)")
_RATE = Pattern(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)(?:r?/([a-zA-Z]+))?")
_SECONDS: dict[str, int] = {
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86_400,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
_MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


def number_of_bytes(value: object) -> int | None:
    """Return a quantity in bytes; None where it is none, or needs more than the usual units."""
    quantity = _QUANTITY.fullmatch(str(value)) if value is not None and not isinstance(value, bool) else None
    return int(quantity[1]) * _UNITS.get(quantity[2] or "", 1) if quantity else None


def milliseconds(value: object) -> int | None:
    """Return a Duration of Gateway API (GEP-2257) in milliseconds; None where it is none."""
    if not isinstance(value, str) or not _DURATION.fullmatch(value):
        return None
    return sum(int(number) * _MILLISECONDS[unit] for number, unit in _PART.findall(value))


def per_second(count: object, each: object) -> float | None:
    """Return how much a limit lets pass in a second: so many in a duration or a unit (`Minute`), or text: `10r/s`."""
    written = _RATE.fullmatch(str(count))
    if written is None or isinstance(count, bool):
        return None
    unit = written[2] or each
    seconds = _SECONDS.get(unit.lower().removesuffix("s") or "s") if isinstance(unit, str) else unit
    length = milliseconds(unit)
    if length is not None:
        seconds = length / 1000
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        return None
    return float(written[1]) / seconds
