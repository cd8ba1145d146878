"""`policylint init`: the file fits the repository, is valid, and changes nothing by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from policylint.config import Settings, load
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "clusters" / "prod").mkdir(parents=True)
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "values.yaml").write_text("a: 1\n")
    selecting = GATEWAY.replace("protocol: HTTP", "protocol: HTTP, allowedRoutes: {namespaces: {from: Selector}}")
    (tmp_path / "clusters" / "prod" / "all.yaml").write_text("---\n".join((selecting, ROUTE, POLICY)))
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def test_it_names_what_it_found(tree: Path) -> None:
    assert run("init").stdout == ".policylint.yaml written; next: policylint lint\n"
    text = (tree / ".policylint.yaml").read_text()
    assert text.startswith("# Configuration of policylint ")
    assert "# paths: [clusters]\n" in text
    assert "#   - HTTPRoute shop/chekout\n" in text
    assert "#   shop: {team: …}\n" in text


def test_it_changes_nothing_by_itself(tree: Path) -> None:
    before = run("lint", "-o", "concise").stdout.splitlines()[0]
    run("init")
    assert load(".policylint.yaml")._replace(file="", places=None) == Settings()
    assert run("lint", "-o", "concise").stdout.splitlines()[0] == before
    assert run("config", "show").exit_code == 0
    assert tree.is_dir()


def test_what_is_commented_out_is_valid_too(tree: Path) -> None:
    run("init")
    lines = (tree / ".policylint.yaml").read_text().splitlines()
    keys = ("paths", "exclude", "environments", "namespaces", "severity", "ignore", "locked", "assume", "  ")
    active = [line.removeprefix("# ") if line.startswith(tuple(f"# {key}" for key in keys)) else line for line in lines]
    active = [line for line in active if not line.startswith("  name: checkout")]
    (tree / ".policylint.yaml").write_text("\n".join(active))
    assert run("config", "show").exit_code == 0, run("config", "show").stderr


def test_a_configuration_that_is_there_stays(tree: Path) -> None:
    (tree / "pyproject.toml").write_text("[tool.policylint]\nfail-on = 'note'\n")
    result = run("init")
    assert result.exit_code == 2
    assert "a configuration already exists: pyproject.toml (--force replaces it)" in result.stderr
    assert run("init", "--stdout").stdout.startswith("# Configuration of policylint")
    assert not (tree / ".policylint.yaml").exists()
    assert run("init", "--force").exit_code == 0


def test_it_goes_to_the_git_root(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "clusters" / "prod")
    run("init")
    assert (tree / ".policylint.yaml").is_file()


def test_it_says_what_was_not_seen(tree: Path) -> None:
    assert "# Not seen" not in run("init", "--stdout").stdout
    (tree / "release.yaml").write_text(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: shop}\n"
        "spec: {chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}}\n"
    )
    text = run("init", "--stdout").stdout
    assert "# Not seen: 1 HelmRelease" in text
    assert "# snapshot: cluster.yaml\n" in text


def test_it_proposes_what_is_complete(tree: Path) -> None:
    """Uncommented, the lines load, and what an unknown chart makes no longer matters."""
    assert "complete" not in run("init", "--stdout").stdout
    (tree / "release.yaml").write_text(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: shop}\n"
        "spec: {chart: {spec: {chart: shop-web, sourceRef: {kind: HelmRepository, name: x}}}}\n"
    )
    text = run("init", "--stdout").stdout
    head, _, rest = text.partition("# complete:\n")
    lines = rest.split("\n\n")[0].splitlines()
    assert "#   - {chart: shop-web, makes: []}" in lines
    entries = [line.removeprefix("# ") for line in lines if line.startswith("#   - ")]
    (tree / ".policylint.yaml").write_text(head + "complete:\n" + "\n".join(entries) + "\n")
    shown = run("config", "show")
    assert shown.exit_code == 0, shown.stderr
    assert '"chart": "shop-web"' in shown.stdout
