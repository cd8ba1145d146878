"""What every run takes of many worlds and examples: a part of them; all with POLICYLINT_NIGHTLY=1.

What holds of every tree, and of every example that hypothesis draws, is held against some of them in a run that
somebody waits for. Which ones differs from test to test, so that every tree is in some of them. What is known of one
world alone (its findings, its environments) is always looked at.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

_T = TypeVar("_T")
NIGHTLY = os.environ.get("POLICYLINT_NIGHTLY") == "1"
SHARE = 4
"""One of so many is taken by day."""


def sampled(worlds: Sequence[_T], of: str, share: int = SHARE) -> list[_T]:
    """Return some of the worlds: the same in every run of one test."""
    return list(worlds) if NIGHTLY else list(worlds[crc32(of.encode()) % share :: share])


def examples(number: int) -> int:
    """Return how many examples a property is tried on of those that it is tried on at night."""
    return number if NIGHTLY else max(10, number // SHARE)
