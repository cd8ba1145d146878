"""Asking the same diff again: a small repository, how often a comparison is made, and all that is said of it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from policylint.cli import diff_sides, kept
from policylint.sources.pack import packs
from tests.diff.history import commit, run, steady
from tests.diff.test_remembered import timeless

FORMATS = ("text", "concise", "json-v1", "markdown", "summary", "github", "sarif", "junit", "codeclimate")
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{timeouts: {{request: {seconds}s}}}}]}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three commits of two routes, the last two with the same trees but for a text file."""
    directory = tmp_path / "shop"
    commit(directory, {"apps/a.yaml": ROUTE.format(name="a", seconds=1), "README.md": "one\n"})
    commit(directory, {"apps/a.yaml": ROUTE.format(name="b", seconds=2)})
    commit(directory, {"README.md": "two\n"})
    (directory / "config.yaml").write_text("min-severity: note\n", encoding="utf-8")
    return directory


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The comparisons that were made, by what was compared; whoever edits policylint meanwhile."""
    found: list[str] = []
    monkeypatch.setattr(kept, "_code", lambda: b"the code")
    both = diff_sides.both

    def counted(asked: Any) -> Any:
        found.append(asked.span)
        return both(asked)

    monkeypatch.setattr(diff_sides, "both", counted)
    return found


def every_format(directory: Path, out: Path, *arguments: str, **environment: str) -> dict[str, str]:
    """All that a diff says, in every format at once."""
    out.mkdir(exist_ok=True)
    outputs = [f"--output={form}={out / form}" for form in FORMATS]
    code, text, said = run(directory, "diff", *arguments, *outputs, **environment)
    written = {form: timeless((out / form).read_text(encoding="utf-8")) for form in FORMATS}
    return {"stdout": steady(text), "stderr": said, "code": str(code), **written}


def comparisons(cache: Path) -> list[Path]:
    """The packs of comparisons."""
    stamp = blake2b(kept.STAMP.encode(), digest_size=16).hexdigest()[:16]
    return [Path(path) for _, _, path in packs(str(cache)) if path.endswith(f"-{stamp}.pack")]


Ask = Callable[..., None]


@pytest.fixture
def ask(shop: Path, tmp_path: Path) -> Ask:
    """Ask what the first commit and the second differ in, in one and the same cache."""

    def asking(*arguments: str, directory: Path = shop, span: str = "HEAD~2..HEAD~1", **environment: str) -> None:
        cache = {"POLICYLINT_CACHE_DIR": str(tmp_path / "cache"), **environment}
        code, _, said = run(directory, "diff", *([span] if span else []), *arguments, **cache)
        assert code in (0, 1, 3), said

    return asking
