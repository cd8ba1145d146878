"""GWP502: kinds that controllers read once (schemas/former-kinds.yaml)."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.catalog.former import _table
from tests.worlds import manifest


@pytest.mark.parametrize("kind", _table(), ids=str)
def test_what_is_read_no_more_is_told(tmp_path: Path, kind: tuple[str, str]) -> None:
    """Read from files: other kinds of such groups stay unparsed."""
    group, name = kind
    (tmp_path / "a.yaml").write_text(manifest(f"{group}/v1", name, "old", "shop", "spec: {}"), encoding="utf-8")
    found = policylint.lint(tmp_path).known
    told = [each for each in found if each.rule == "GWP502"]
    assert [each.resources[0].kind for each in told] == [name]
    assert _table()[kind].instead in (told[0].label or "")


@pytest.mark.parametrize("kind", ["gateway.nginx.org/AuthenticationFilter", "traefik.io/IngressRoute"])
def test_kinds_of_the_same_name_are_read(tmp_path: Path, kind: str) -> None:
    group, _, name = kind.partition("/")
    (tmp_path / "a.yaml").write_text(manifest(f"{group}/v1alpha1", name, "own", "shop", "spec: {}"), encoding="utf-8")
    assert not [each for each in policylint.lint(tmp_path).known if each.rule == "GWP502"]
