"""The repositories that all tests of diff may ask for."""

from __future__ import annotations

from tests.diff.asking import ask, made, shop
from tests.diff.history import history

__all__ = ["ask", "history", "made", "shop"]
