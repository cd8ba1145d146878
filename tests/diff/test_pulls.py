"""The twelve pull requests of docs/comments.md: the consequence is the headline, and one screen is enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policylint.report.diff.comment import comment
from policylint.report.diff.stored import read
from tests.diff.pulls import PULLS, TREES, Pull
from tests.diff.rendered import LINES, written
from tests.diff.screenshots import IMAGES, LOOKS, PAGE, comment_of
from tests.diff.test_comment_model import assert_each_fact_once
from tests.graph.browser import Browser, installed
from tests.nightly import sampled

MOST_LINES = 25
MOST_CUT = 1
_CUT = "[...document.querySelectorAll('table')].map((table) => table.scrollWidth - table.clientWidth)"
needs_trees = pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    if installed() is None:
        pytest.skip("no Chromium")
    with request.getfixturevalue("chromium").afresh() as opened:
        yield opened


@needs_trees
@pytest.mark.parametrize("pull", sampled(PULLS, "pulls"), ids=lambda pull: pull.name)
def test_a_reviewer_reads_the_consequence_at_once(pull: Pull, tmp_path: Path, browser: Browser) -> None:
    data = tmp_path / "diff.json"
    markdown = comment_of(pull, tmp_path / "tree", "--output", f"json-v1={data}")
    _, headline, *_ = markdown.splitlines()
    assert pull.headline in headline.replace("&#36;", "$")
    report = read(data.read_bytes())
    assert_each_fact_once(report, comment(report))
    page = written(markdown, tmp_path / "page.html")
    for look, width, _ in LOOKS:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.open(page)
        browser.wait("document.readyState === 'complete' && location.pathname.endsWith('/page.html')")
        if look == "phone":
            cut = browser.evaluate(_CUT)
            assert max(cut, default=0) <= MOST_CUT, cut
        else:
            assert browser.evaluate(LINES) <= MOST_LINES


def test_the_page_shows_each_of_them_light_dark_and_on_a_phone() -> None:
    page = PAGE.read_text(encoding="utf-8")
    pictures = {f"{pull.name}-{look}.webp" for pull in PULLS for look, *_ in LOOKS}
    assert {file.name for file in IMAGES.iterdir()} == pictures
    assert not [name for name in pictures if f"images/comments/{name}" not in page]
