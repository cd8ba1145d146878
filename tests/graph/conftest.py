"""The fixtures are drawn where nothing else is: in our repository each drawing looks through all scripts of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph import worlds


@pytest.fixture(autouse=True, scope="session")
def drawn_apart(apart: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worlds, "APART", apart / "fixtures")
        yield
