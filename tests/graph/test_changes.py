"""`graph --diff`: what came, what went, what is not what it was."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from tests.graph.worlds import FIXTURES


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], check=True)


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy is deleted; the misspelt target of another is put right."""
    place = tmp_path / "shop"
    shutil.copytree(FIXTURES / "envoy-gateway-shop", place)
    monkeypatch.chdir(place)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "before")
    (place / "shop" / "checkout-cors.yaml").unlink()
    for file in (place / "shop").iterdir():
        file.write_text(file.read_text().replace("chekout", "checkout"))
    git("commit", "-qam", "after")
    return place


def test_what_changes_is_marked(change: Path) -> None:
    text = CliRunner().invoke(main, ["graph", "--diff", "HEAD~1..HEAD"]).output
    assert '(["- SecurityPolicy shop/checkout-cors"]):::removed' in text
    assert '["- HTTPRoute shop/chekout (missing)"]:::removed' in text
    assert '["#126; HTTPRoute shop/checkout"]:::changed' in text
    assert '-- "+ lua" -->' in text
    assert "ServicePort" not in text
    outputs = [f"--output={form}={change}/{form}" for form in ("svg", "dot", "html")]
    run = CliRunner().invoke(main, ["graph", "--diff", "HEAD~1..HEAD", *outputs])
    assert run.output == ""
    assert "- cors" in (change / "svg").read_text()
    assert "- cors" in (change / "dot").read_text()
    assert '"change":"removed"' in (change / "html").read_text()


def test_nothing_changes(change: Path) -> None:
    assert change.is_dir()
    run = CliRunner().invoke(main, ["graph", "--diff", "HEAD..HEAD"])
    assert "nothing" in run.output


def test_the_graph_of_a_revision(change: Path) -> None:
    now = CliRunner().invoke(main, ["graph", "SecurityPolicy/infra/edge-jwt"]).output
    then = CliRunner().invoke(main, ["graph", "SecurityPolicy/infra/edge-jwt", "--at", "HEAD~1"]).output
    assert "SecurityPolicy shop/checkout-cors" in then
    assert "SecurityPolicy shop/checkout-cors" not in now
    (change / "shop" / "checkout.yaml").unlink()
    assert "HTTPRoute shop/checkout" in CliRunner().invoke(main, ["graph", "--at", "HEAD", "shop", "infra"]).output
    run = CliRunner().invoke(main, ["graph", "--at", "HEAD", "--diff", "HEAD~1..HEAD"])
    assert run.exit_code == 2
    assert "cannot be used with --diff" in run.output


def test_each_kind_of_change_has_its_colour(change: Path) -> None:
    """In dot, svg and mermaid: green is new, red is gone, amber is not what it was; signs say it without colour."""
    from policylint.report.graph.style import CHANGES

    assert len(set(CHANGES.values())) == 3
    for form in ("dot", "svg", "mermaid"):
        text = CliRunner().invoke(main, ["graph", "--diff", "HEAD~1..HEAD", "-o", form]).output
        for kind in ("added", "removed", "changed"):
            assert CHANGES[kind] in text, (form, kind)
    assert change.is_dir()
