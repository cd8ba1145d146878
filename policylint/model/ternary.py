"""Conditions with three answers: True, False, and None for what is not known."""

from __future__ import annotations

from collections.abc import Iterable


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False where one does not (later ones are not asked), else None where one is unknown."""
    result: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        result = None if answer is None else result
    return result


def some(answers: Iterable[bool | None]) -> bool | None:
    """Return whether any holds: True where one does (later ones are not asked), else None where one is unknown."""
    result: bool | None = False
    for answer in answers:
        if answer:
            return True
        result = None if answer is None else result
    return result


def negated(answer: bool | None) -> bool | None:
    """Return the opposite; what is not known stays so."""
    return None if answer is None else not answer
