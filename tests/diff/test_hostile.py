"""Reports of manifests that want to be more than text."""

from __future__ import annotations

import re
from pathlib import Path

from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.diff.history import run

EVIL = "x|`<img src=x>`@octocat <!-- --> ```\n</details> [a](https://evil.example.com)"


def reports(tmp_path: Path) -> tuple[str, str, str]:
    before, after = tmp_path / "before", tmp_path / "after"
    settings = f"jwt: {{providers: [{{name: {EVIL!r}, issuer: {EVIL!r}}}]}}".replace("'", '"')
    target = "kind: HTTPRoute, name: checkout"
    for place, documents in (
        (before, (GATEWAY, route(), SERVICE, policy("SecurityPolicy", "own", target, settings))),
        (after, (GATEWAY, route(), SERVICE)),
    ):
        place.mkdir()
        (place / "all.yaml").write_text("---\n".join(documents), encoding="utf-8")
    arguments = ("diff", "--rendered-before", "before", "--rendered-after", "after", "--fail-on", "never")
    shown = [run(tmp_path, *arguments, "-o", form) for form in ("markdown", "text", "concise")]
    assert [code for code, _, _ in shown] == [0, 0, 0]
    return shown[0][1], shown[1][1], shown[2][1]


def test_nothing_of_a_manifest_is_markup(tmp_path: Path) -> None:
    markdown, text, concise = reports(tmp_path)
    outside = re.sub(r"(`{3,})diff\n.*?\n\1", "", markdown, flags=re.DOTALL)  # fenced
    outside = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", outside)  # code spans
    for bad in ("<img", "@octocat", "](https://evil"):
        assert bad not in outside
    assert outside.count("<!--") == 1
    assert {line.count("|") for line in outside.splitlines() if line.startswith("| ")} <= {5, 6}
    assert "\x1b" not in text + concise
    assert len(max(text.splitlines(), key=len)) <= 100
