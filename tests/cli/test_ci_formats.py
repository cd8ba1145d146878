"""github, junit and codeclimate, statistics: what CI systems want of them, whatever manifests hold."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policylint.cli import main
from policylint.model import Finding, Location, Spot
from policylint.report.findings import Options, write
from policylint.report.formats import FORMATS
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE
from tests.report.sample import sample


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "route.yaml").write_text(ROUTE)
    (tmp_path / "cors.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["lint", *arguments])
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def many(number: int, severity: str = "error") -> list[Finding]:
    return [
        Finding("GWP101", severity, f"finding {n:02}", Location(Spot(f"a{n:02}.yaml", n + 1)))  # type: ignore[arg-type]
        for n in range(number)
    ]


HOSTILE = Finding(
    "GWP910",
    "error",
    "a\r\n::error::b % \x1b[31m ]]> <x> & \"'\x00",
    Location(Spot("x,y:z%\n::set-output name=a::b.yaml", 3)),
    label="::add-mask::secret",
)


def test_auto_is_github_inside_actions(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree.is_dir()
    assert run("-o", "auto").stdout.startswith("error[GWP101]")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert run().stdout.startswith("::error file=cors.yaml,line=8,title=GWP101 target-not-found::")
    assert run("-o", "text").stdout.startswith("error[GWP101]")
    assert run().exit_code == 1


def test_ten_annotations_per_level_worst_first() -> None:
    findings = [*many(3, "note"), *many(12, "warning"), *many(15)]
    lines = write("github", sample(findings=findings, options=Options(min_severity="note"))).splitlines()
    kinds = [line.split(" ")[0].split("::")[1] for line in lines if line.startswith("::")]
    assert kinds == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 4
    assert "::notice::7 more findings: " in "\n".join(lines)


def test_no_file_name_or_message_is_a_command_of_its_own() -> None:
    lines = write("github", sample(findings=[HOSTILE])).splitlines()
    commands = [line for line in lines if line.startswith("::")]
    assert len(commands) == 1
    head, _, message = commands[0].removeprefix("::").partition("::")
    assert head.startswith("error file=x%2Cy%3Az%25%0A%3A%3Aset-output name=a%3A%3Ab.yaml,line=3,title=GWP910")
    assert "%0A::add-mask::secret" in message and "\x1b" not in message
    assert "% " not in message


def test_junit_is_xml_whatever_it_says() -> None:
    root = ElementTree.fromstring(write("junit", sample(findings=[HOSTILE, *many(2, "note"), *many(1)])))
    assert (root.get("tests"), root.get("failures")) == ("4", "2")
    cases = root.findall("./testsuite/testcase")
    assert [len(each.findall("failure")) for each in cases] == [1, 0, 0, 1]
    assert "]]>" in (cases[0].findtext("failure") or "")


def test_junit_names_every_place_below_the_git_root() -> None:
    """CI systems show reports to people who do not stand where the command ran."""
    root = ElementTree.fromstring(write("junit", sample(relative=lambda file: f"root/{file}")))
    said = root.findtext("./testsuite/testcase/failure") or ""
    assert "root/clusters/prod/infra/edge-jwt.yaml:9: this no longer applies" in said
    assert "\nclusters/" not in said


def test_junit_of_a_clean_run_has_a_passed_case() -> None:
    root = ElementTree.fromstring(write("junit", sample(findings=[])))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert root.findall(".//failure") == []


def test_code_climate_is_what_gitlab_wants() -> None:
    issues = json.loads(write("codeclimate", sample()))
    assert {each["severity"] for each in issues} <= {"info", "minor", "major", "critical", "blocker"}
    assert len({each["fingerprint"] for each in issues}) == len(issues)
    assert all(not each["location"]["path"].startswith((".", "/", "<")) for each in issues)
    assert all(isinstance(each["location"]["lines"]["begin"], int) and each["description"] for each in issues)
    assert json.loads(write("codeclimate", sample(findings=[]))) == []


@pytest.mark.usefixtures("tree")
def test_statistics_count_by_rule() -> None:
    result = run("--statistics")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "1  GWP101  error    target-not-found"
    assert "-->" not in result.stdout
    machine = run("--statistics", "-o", "json")
    assert (machine.exit_code, machine.stdout) == (2, "")
    assert "not of -o json" in machine.stderr


def test_one_run_writes_them_all(tree: Path) -> None:
    names = FORMATS["lint"]
    run(*(part for name in names for part in ("--output", f"{name}=out.{name}")))
    assert all((tree / f"out.{name}").stat().st_size for name in names)
