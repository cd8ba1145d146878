"""Conditions with three answers: True, False, and None for what is not known."""

from __future__ import annotations

from collections.abc import Iterable


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False where one does not, else None where one is not known."""
    listed = list(answers)
    return False if False in listed else None if None in listed else True


def some(answers: Iterable[bool | None]) -> bool | None:
    """Return whether any holds: True where one does, else None where one is not known."""
    listed = list(answers)
    return True if True in listed else None if None in listed else False


def negated(answer: bool | None) -> bool | None:
    """Return the opposite; what is not known stays so."""
    return None if answer is None else not answer
