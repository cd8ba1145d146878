"""The baseline: written sorted and without line numbers, used by `lint` where it is there, stale entries reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from tests.cli.test_lint import GATEWAY, POLICY, REDIRECTING


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "route.yaml").write_text(REDIRECTING)
    (tmp_path / "cors.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def test_accepted_findings_are_not_reported_wherever_they_move(tree: Path) -> None:
    assert run("lint").exit_code == 1
    assert run("baseline").stdout == "1 finding accepted in .policylint-baseline.json\n"
    lines = (tree / ".policylint-baseline.json").read_text().splitlines()
    assert (lines[0], len(lines), lines[-1]) == ('{"version": "baseline-v1", "findings": [', 3, "]}")
    (tree / "cors.yaml").write_text(f"# moved\n\n{POLICY}")
    result = run("lint")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 in the baseline" in result.stdout
    assert json.loads(run("lint", "--baseline", "-o", "json").stdout)["summary"]["baseline"] == 1
    assert run("lint", "--no-baseline").exit_code == 1


def test_it_is_used_where_it_lies_and_by_nobody_who_names_a_judge(tree: Path) -> None:
    run("baseline")
    (tree / "apps").mkdir()
    assert run("lint", "--no-config").exit_code == 1
    (tree / "mine.yml").write_text("fail-on: error\n")
    assert run("lint", "--config", "mine.yml").exit_code == 1
    assert run("lint", "--config", "mine.yml", "--baseline").exit_code == 0
    assert run("lint", "-C", "apps", "..").exit_code == 0, "it lies at the git root"


def test_a_part_of_the_repository_has_no_stale_entries(tree: Path) -> None:
    run("baseline")
    assert "stale" not in run("lint", "gateway.yaml").stderr
    (tree / "cors.yaml").unlink()
    assert "1 stale entry" in run("lint").stderr


def test_a_link_out_of_the_repository_is_no_baseline(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "known.json"
    run("baseline")
    (tree / ".policylint-baseline.json").rename(outside)
    (tree / ".policylint-baseline.json").symlink_to(outside)
    result = run("lint")
    assert (result.exit_code, "cannot be the baseline" in result.stderr) == (2, True)


def test_new_findings_and_stale_entries_are_reported(tree: Path) -> None:
    run("baseline")
    (tree / "cors.yaml").write_text(POLICY.replace("chekout", "chekour"))
    result = run("lint", "--baseline", "-o", "concise")
    assert result.exit_code == 1
    assert "chekour" in result.stdout
    assert result.stderr.splitlines()[0] == (
        "policylint: 1 stale entry in .policylint-baseline.json; `policylint baseline` drops it"
    )
    assert "stale: GWP101 " in result.stderr
    assert "stale" not in run("lint", "--baseline", "--select", "GWP4").stderr


def test_the_same_findings_give_the_same_bytes(tree: Path) -> None:
    (tree / "more.yaml").write_text("---\n".join(POLICY.replace("name: cors", f"name: c{n}") for n in range(5)))
    run("baseline")
    first = (tree / ".policylint-baseline.json").read_bytes()
    (tree / "more.yaml").rename(tree / "a.yaml")
    run("baseline")
    assert (tree / ".policylint-baseline.json").read_bytes() == first
    found = json.loads(first)["findings"]
    assert found == sorted(found, key=lambda each: (each["rule"], each["resources"], each["message"]))


def test_the_configuration_may_name_it(tree: Path) -> None:
    (tree / "ci").mkdir()
    (tree / ".policylint.yaml").write_text("baseline: ci/known.json\n")
    assert run("lint").exit_code == 2, "it is wanted and not there"
    assert run("baseline").stdout == "1 finding accepted in ci/known.json\n"
    assert run("lint").exit_code == 0
    assert run("lint", "--no-baseline").exit_code == 1


def test_suppressed_findings_are_not_accepted(tree: Path) -> None:
    (tree / "cors.yaml").write_text(POLICY.replace("chekout", "chekout # policylint: ignore[GWP101] reason"))
    assert run("baseline").stdout == "0 findings accepted in .policylint-baseline.json\n"
    assert run("lint", "--baseline").exit_code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read baseline '.policylint-baseline.json': no such file or directory; `policylint baseline`"),
        ("{", ".policylint-baseline.json: not JSON"),
        ("[" * 100_000, ".policylint-baseline.json: nested too deep"),
        ("[]", ".policylint-baseline.json: not a baseline that this version can read"),
        ('{"version": "baseline-v1", "findings": [{"rule": "x"}]}', "an entry lacks its fingerprint"),
    ],
)
def test_a_baseline_that_cannot_be_used(tree: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tree / ".policylint-baseline.json").write_text(content)
    result = run("lint", "--baseline")
    assert result.exit_code == 2
    assert message in result.stderr
