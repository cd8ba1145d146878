"""What is printed into the log of GitHub's runner holds no workflow command but for annotations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from policylint.report.formats import FORMATS
from policylint.report.kit.display import inert
from tests.hostile.test_action import GATEWAY, NAMES, POLICY, heeded


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Policies and files with names that are commands, nothing of which is where it points."""
    directory = tmp_path_factory.mktemp("tree")
    (directory / "gateway.yaml").write_text(GATEWAY)
    for number, name in enumerate(NAMES):
        text = POLICY.replace("NAME", f'"{name}"').replace("name: retries", f'name: "{name} {number}"')
        (directory / f"::error file=x::{number}.yaml").write_text(text)
        (directory / f"##[error]{number}.yaml").write_text(text.replace("shop}", f"team{number}}}"))
    return directory


@pytest.mark.parametrize(
    "command",
    [
        *(f"lint -o {form}" for form in FORMATS["lint"]),
        *("list policies", "list routes -o json", "simulate", "simulate -o json", "graph", "graph -o dot"),
    ],
)
def test_no_format_gives_commands(tree: Path, command: str) -> None:
    form = command.rpartition(" ")[2]
    environment = {**os.environ, "GITHUB_ACTIONS": "true", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-I", "-m", "policylint", *command.split()],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    meant = ("::error ", "::warning ", "::notice::") if form == "github" else ()
    expected = [line for line in heeded(done.stdout) if line.startswith(meant)]
    assert heeded(done.stdout) == expected
    assert heeded(done.stderr) == []
    assert "set-output" in done.stdout or "routes" in command
    assert bool(expected) == (form == "github")
    if form in ("json", "sarif", "codeclimate") and "routes" not in command:
        assert "##[set-output name=exit-code]0" in json.dumps(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n \t::error::x\n", "a\n \t: :error::x\n"),
        ("a ##[group]x", "a #\\u0023[group]x"),
        ("a ##vso[task.setvariable variable=x]y", "a #\\u0023vso[task.setvariable variable=x]y"),
        ("##teamcity[buildStatus text='x']", "#\\u0023teamcity[buildStatus text='x']"),
        ("a\r::error::x", "a\r: :error::x"),
        ('{"a": "##[x]"}', '{"a": "#\\u0023[x]"}'),
        ("fd00::1 a::b\n", "fd00::1 a::b\n"),
    ],
)
def test_what_is_changed(text: str, expected: str) -> None:
    assert inert(text) == expected


@pytest.mark.parametrize("name", ["TF_BUILD", "TEAMCITY_VERSION"])
def test_other_systems_that_take_commands_get_none(tmp_path: Path, name: str) -> None:
    words = "##vso[task.setvariable variable=PATH]x", "##teamcity[buildStatus text='x']"
    policies = [POLICY.replace("NAME", f'"{word}"').replace("name: retries", f'name: "{word}"') for word in words]
    (tmp_path / "all.yaml").write_text("---\n".join([GATEWAY, *policies]))
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_ACTIONS"} | {name: "True"}
    for form in ("text", "json"):
        done = subprocess.run(
            [sys.executable, "-I", "-m", "policylint", "lint", "-o", form],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert "##vso[" not in done.stdout and "##teamcity[" not in done.stdout
        assert "vso[task.setvariable" in done.stdout
        assert form == "text" or words[0] in json.dumps(json.loads(done.stdout))
