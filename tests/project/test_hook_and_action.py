"""The pre-commit hook and the composite action, as their users meet them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MANIFESTS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, protocol: HTTP, port: 80}
"""
DANGLING = """\
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: retries, namespace: shop}
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: egde}
  retry: {numRetries: 2}
"""


def run_action(tmp_path: Path, text: str, **inputs: str) -> tuple[dict[str, str], str, str]:
    """Run the action's script over one manifest; return its outputs, the job summary and the log."""
    runner, repository = tmp_path / "runner temp", tmp_path / "repository"
    (runner / "policylint" / "bin").mkdir(parents=True)
    tool = runner / "policylint" / "bin" / "python"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    tool.chmod(0o755)
    (repository / "manifests").mkdir(parents=True)
    (repository / "manifests" / "all.yaml").write_text(text)
    output, summary = tmp_path / "output", tmp_path / "summary"
    given = {"PL_PATH": ".", "PL_CONFIG": "", "PL_FAIL_ON": "error", "PL_SARIF": "true"} | inputs
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | given
    environment |= {"RUNNER_TEMP": str(runner), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
    environment |= {"GITHUB_ACTIONS": "true", "ACTION_PATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    script = ROOT / ".github" / "action" / "run.sh"
    done = subprocess.run([script], cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    return outputs, summary.read_text() if summary.is_file() else "", done.stdout + done.stderr


def test_action_reports_a_finding_everywhere_and_passes_its_code_on(tmp_path: Path) -> None:
    outputs, summary, log = run_action(tmp_path, MANIFESTS + DANGLING, PL_PATH=" manifests\n")
    assert outputs["exit-code"] == "1"
    assert "GWP101" in log
    assert "GWP101" in summary
    sarif = json.loads(Path(outputs["sarif-file"]).read_text())
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]].count("GWP101") == 1


def test_action_of_a_clean_repository_ends_with_zero_and_writes_sarif(tmp_path: Path) -> None:
    outputs, _, _ = run_action(tmp_path, MANIFESTS)
    assert outputs["exit-code"] == "0"
    assert json.loads(Path(outputs["sarif-file"]).read_text())["runs"][0]["results"] == []


def test_action_without_sarif_and_with_never(tmp_path: Path) -> None:
    outputs, _, _ = run_action(tmp_path, MANIFESTS + DANGLING, PL_SARIF="false", PL_FAIL_ON="never")
    assert (outputs["exit-code"], outputs["sarif-file"], outputs["comment-file"]) == ("0", "", "")


def test_input_that_is_no_option_stays_a_path(tmp_path: Path) -> None:
    _, _, log = run_action(tmp_path, MANIFESTS, PL_PATH="--help $(touch pwned)")
    assert "Usage:" not in log
    assert not list(tmp_path.rglob("pwned"))


def load(name: str) -> Any:
    """Return one of the project's YAML files."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_no_input_reaches_a_shell_but_through_the_environment() -> None:
    steps = load("action.yml")["runs"]["steps"]
    assert not [step["name"] for step in steps if "${{" in step.get("run", "")]


def test_gate_is_the_last_step() -> None:
    assert load("action.yml")["runs"]["steps"][-1]["name"] == "Gate"


def test_workflows_and_actions_pin_actions_by_commit() -> None:
    jobs = [
        job
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for job in yaml.safe_load(path.read_text())["jobs"].values()
    ]
    actions = [load(name)["runs"] for name in ("action.yml", ".github/action/post/action.yml")]
    uses = [step["uses"] for steps in (*jobs, *actions) for step in steps["steps"] if "uses" in step]
    assert uses
    assert all(len(use.partition("@")[2]) == 40 for use in uses)


def test_hook_runs_once_over_everything_also_when_files_are_only_deleted() -> None:
    hook = next(each for each in load(".pre-commit-hooks.yaml") if each["id"] == "policylint")
    assert (hook["id"], hook["entry"]) == ("policylint", "python -I -m policylint lint --hook")
    assert (hook["pass_filenames"], hook["always_run"], hook["require_serial"]) == (False, True, True)
    assert not hook.keys() & {"files", "types", "types_or"}


def test_files_are_valid_for_pre_commit() -> None:
    pre_commit = Path(sysconfig.get_path("scripts")) / "pre-commit"
    if not pre_commit.is_file():
        pytest.skip("pre-commit is not installed")
    done = subprocess.run([pre_commit, "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], check=False)
    assert done.returncode == 0
