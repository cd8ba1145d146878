"""The page of what is verified tells of every campaign of bench/campaigns.toml."""

from __future__ import annotations

from pathlib import Path

from tests.witness.replaying import campaigns

PAGE = Path(__file__).parents[2] / "docs" / "verified.md"


def test_the_page_tells_of_every_campaign() -> None:
    said = PAGE.read_text(encoding="utf-8")
    assert said.endswith(f"\n\n{campaigns()}"), "python -m tests.witness.replaying > docs/verified.md"
