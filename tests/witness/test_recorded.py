"""What real programs said of generated worlds, and policylint says: as often the same as known.toml asks, or more.

By day of a third of the worlds, which may by chance have a few more than their part of what differs.
The answers lie in recorded/; nothing is built or started. README.md says how they are renewed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nightly import NIGHTLY
from tests.witness.recording import RECORDED
from tests.witness.replaying import asked_of, known, replayed, row

pytestmark = pytest.mark.slow
RECORDS = sorted(RECORDED.glob("*.jsonl"))
PAGE = (Path(__file__).parents[2] / "docs" / "verified.md").read_text(encoding="utf-8")
DIFFERS = "more answers differ than before; `python -m tests.witness.run NAME --replay` lists them"


SHARE, CHANCE = (1, 0.0) if NIGHTLY else (3, 0.3)
"""One world of so many is asked about; and how many percent more of their answers may differ than of all."""
RENEW = "python -m tests.witness.replaying > docs/verified.md"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_policylint_says_what_the_real_thing_said(record: Path) -> None:
    tally = replayed(record, SHARE)
    assert tally.facts > 1000 / SHARE
    assert tally.share >= known(record.stem)[0] - CHANCE, DIFFERS
    assert asked_of(record) in PAGE, RENEW
    if NIGHTLY:
        (checked,) = _checked(row(record))
        assert checked in _checked(PAGE), RENEW


def test_the_page_says_what_was_checked() -> None:
    assert len(_checked(PAGE)) == len(RECORDS)


def _checked(page: str) -> list[str]:
    """Return the lines on what was asked, without how often policylint says the same today."""
    return [line.rpartition("|")[0].rpartition("|")[0] for line in page.splitlines() if line.endswith(" % |")]
