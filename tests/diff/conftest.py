"""The repository of fixtures/history for all tests of diff."""

from __future__ import annotations

from tests.diff.history import history

__all__ = ["history"]
