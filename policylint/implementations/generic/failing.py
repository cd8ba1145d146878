"""What settings answer that cannot do their work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policylint.documents import Pointer
from policylint.policy.authorizing import Decision
from policylint.policy.results import FailingSetting


def failures(failing: Mapping[Pointer, FailingSetting]) -> Iterator[Decision]:
    """Yield the answers of settings that cannot do their work."""
    for place, failure in failing.items():
        decision = Decision("denied" if failure.certain else "depends", place, failure.why, failure.status)
        yield decision._replace(direct=failure.status < 400, is_fault=True)
