"""The repositories that all tests of diff may ask for."""

from __future__ import annotations

from tests.diff.history import history

__all__ = ["history"]
