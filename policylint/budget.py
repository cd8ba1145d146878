"""The work that rendering one tree may cost, so that a few lines cannot ask for more than any machine has.

It is counted in steps of about a microsecond, never in time: the same input is cut off at the same place everywhere.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final

from policylint.namedtuple import NamedTuple

STEPS: Final = 4_000_000
"""Steps that rendering any tree may cost, such as 30 MB of texts."""
STEPS_OF_PLACING: Final = 8_000_000
"""Steps that putting what came of it into environments may cost, which are quicker ones: about 60,000 objects more
than are written in the tree. Of 38 real trees one takes 6.6 million: 65 environments that share 600 objects."""
STEPS_FOR_A_DOCUMENT: Final = 300
"""Steps that each document of the tree adds to them."""
MOST_STEPS: Final = 300_000_000
"""Steps that no tree may pass, however large."""
CUT_OFF: Final = "cut-off"
"""The code of the finding that rendering ended before it was done."""
_MOST_COUNTED: Final = 1_500_000
_LETTERS: Final = 8
"""Characters of text that count as one step."""


class ExhaustedError(Exception):
    """The work that was allowed has been done."""


class Cut(NamedTuple):
    """The first thing that was cut off: in words, and where it is written (whatever the caller takes for a place)."""

    what: str
    place: Any


class Budget:
    """The steps that are left. Whoever makes something of something else says how many that takes before doing it.

    Attributes:
        cut: the first thing that was cut off; None while nothing is.
    """

    __slots__ = ("_left", "cut")

    def __init__(self, documents: int = 0, steps: int = STEPS) -> None:
        self._left = min(steps + STEPS_FOR_A_DOCUMENT * documents, MOST_STEPS)
        self.cut: Cut | None = None

    def spend(self, steps: int) -> None:
        """Take steps from those that are left.

        Raises:
            ExhaustedError: there are not so many, now and until more are granted.
        """
        self._left -= steps
        if self._left < 0:
            raise ExhaustedError

    def grant(self, steps: int) -> None:
        """Add steps for something of its own: what was exhausted before is no fault of it."""
        self._left = min(max(self._left, 0) + steps, MOST_STEPS)

    def spend_on_text(self, length: int, times: int = 1) -> None:
        """Take what it costs to write a text of a length a number of times.

        Raises:
            ExhaustedError: as `spend`.
        """
        self.spend((length // _LETTERS + 1) * times)

    def bounded(self, what: str, place: Any) -> Bounded:
        """Return a context whose body is left, and noted as cut off, when the budget is exhausted in it."""
        return Bounded(self, what, place)


class Bounded:
    """The context of `Budget.bounded`; what and where may be set anew as its body gets on."""

    __slots__ = ("_budget", "place", "what")

    def __init__(self, budget: Budget, what: str, place: Any) -> None:
        self._budget = budget
        self.what = what
        self.place = place

    def __enter__(self) -> Bounded:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, ExhaustedError):
            return False
        if self._budget.cut is None:
            self._budget.cut = Cut(self.what, self.place)
        return True


def size_of(value: Any) -> tuple[int, int]:
    """Return how many values there are in one, aliases expanded, itself included, and how deep they nest.

    A text counts by its length. What has more values than any document may stand for is not counted to the end: it is
    said to have more than any budget allows.
    """
    size = height = 0
    pending = [(value, 0)]
    while pending and size < _MOST_COUNTED:
        inner, depth = pending.pop()
        size += 1
        height = max(height, depth)
        if isinstance(inner, dict):
            pending.extend((child, depth + 1) for child in inner.values())
        elif isinstance(inner, list):
            pending.extend((child, depth + 1) for child in inner)
        elif isinstance(inner, str):
            size += len(inner) // _LETTERS
    return size if size < _MOST_COUNTED else MOST_STEPS, height
