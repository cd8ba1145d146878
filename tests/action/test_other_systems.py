"""What docs/ci.md shows of other systems, run as far as it runs without them: commands, formats, descriptors."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.diff.history import MAKE, ROOT, history

__all__ = ["history"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for sh")


def blocks(title: str) -> list[str]:
    """The fenced blocks of a section."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


class Machine:
    """A clone of a repository whose HEAD loses a JWT, in which programs may be replaced."""

    def __init__(self, place: Path, origin: Path, commit: str, base: str) -> None:
        self.tree = place / "tree"
        MAKE.git(place, "clone", "-q", str(origin), str(self.tree))
        MAKE.git(self.tree, "checkout", "-q", commit)
        MAKE.git(self.tree, "update-ref", "refs/remotes/origin/main", base)
        self.tools = place / "tools"
        self.tools.mkdir()
        self.tool("policylint", f'exec "{sys.executable}" -m policylint "$@"')

    def tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.tools / name).chmod(0o755)

    def run(self, script: str, **given: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        environment |= {"PATH": f"{self.tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "CI": "true"}
        return subprocess.run(
            ["sh", "-c", script],
            cwd=self.tree, env=environment | given, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def machine(history: tuple[Path, list[str]], tmp_path: Path) -> Machine:
    directory, ids = history
    return Machine(tmp_path, directory, ids[1], ids[0])


def sarif(text: str) -> list[dict[str, Any]]:
    """The results, each with what readers of SARIF place it by: a file below the root, a line, a level, a text."""
    (run,) = json.loads(text)["runs"]
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith("/")
        assert place["region"]["startLine"] >= 1
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
    return list(run["results"])


def failures_in(file: Path) -> int:
    return len([case for case in ElementTree.parse(file).iter("testcase") if case.find("failure") is not None])


def test_jenkins(machine: Machine) -> None:
    (pipeline,) = blocks("Jenkins")
    assert pipeline.count("{") == pipeline.count("}")
    (command,) = re.findall(r"^ *sh '(.*)'$", pipeline, re.MULTILINE)
    done = machine.run(command, CHANGE_TARGET="main")
    assert (done.returncode, done.stderr) == (1, "")
    results = sarif((machine.tree / "policylint.sarif").read_text())
    assert [result["ruleId"] for result in results] == ["GWP201", "GWP110"]
    assert failures_in(machine.tree / "policylint.xml") == 1
    assert machine.run(command).returncode == 1, "main is the default"


def test_azure(machine: Machine, tmp_path: Path) -> None:
    (text,) = blocks("Azure DevOps")
    pipeline = yaml.safe_load(text)
    (script,) = (step["script"] for step in pipeline["steps"] if step.get("displayName") == "policylint")
    folders = {"AGENT_TEMPDIRECTORY": tmp_path / "temp", "BUILD_ARTIFACTSTAGINGDIRECTORY": tmp_path / "staging"}
    for folder in folders.values():
        folder.mkdir()
    given = {name: str(folder) for name, folder in folders.items()}
    done = machine.run(f"set -e\n{script}", TF_BUILD="True", SYSTEM_PULLREQUEST_TARGETBRANCH="refs/heads/main", **given)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.findall(r"##vso\[.*", done.stdout) == [f"##vso[task.uploadsummary]{tmp_path}/temp/policylint.md"]
    assert (
        (tmp_path / "temp" / "policylint.md")
        .read_text()
        .startswith("### \u26a0\ufe0f policylint: `shop.example.com /cart/** or /pay/**` loses its login")
    )
    assert failures_in(tmp_path / "temp" / "policylint.xml") == 1
    assert len(sarif((tmp_path / "staging" / "policylint.sarif").read_text())) == 2


def test_reviewdog(machine: Machine) -> None:
    """With a stand-in that keeps what it is given."""
    (command,) = blocks("reviewdog")
    machine.tool("reviewdog", 'echo "$@" > arguments && cat > given')
    assert machine.run(command).returncode == 0
    assert "-f=sarif" in (machine.tree / "arguments").read_text()
    assert len(sarif((machine.tree / "given").read_text())) == 2


def test_megalinter(machine: Machine) -> None:
    descriptor, use = map(yaml.safe_load, blocks("MegaLinter"))
    (place,) = use["PLUGINS"]
    assert re.fullmatch(r"file://.*/mega-linter-plugin-\w+/\w+\.megalinter-descriptor\.yml", place)
    (linter,) = descriptor["linters"]
    arguments = [*linter["cli_lint_extra_args"], *linter["cli_sarif_args"]]
    command = " ".join([linter["linter_name"], *arguments]).replace("{{SARIF_OUTPUT_FILE}}", "out.sarif")
    done = machine.run(command)
    assert done.returncode == 1, done.stderr
    number = re.search(linter["cli_lint_errors_regex"], done.stdout)
    errors = [result for result in sarif((machine.tree / "out.sarif").read_text()) if result["level"] == "error"]
    assert number is not None and int(number[1]) == len(errors)
    assert machine.run(f"{linter['linter_name']} {linter['cli_version_arg_name']}").returncode == 0


def test_argo_cd_and_flux(machine: Machine, tmp_path: Path) -> None:
    """With stand-ins that print what the real ones would have rendered."""
    compared, linted, job = blocks("Argo CD and Flux")
    example = ROOT / "fixtures" / "diff-example"
    for side in ("before", "after"):
        manifests = [path.read_text() for path in sorted((example / side).glob("*.yaml"))]
        (tmp_path / f"{side}.yaml").write_text("---\n".join(manifests))
    machine.tool("argocd", f'case $* in *live*) cat "{tmp_path}/before.yaml" ;; *) cat "{tmp_path}/after.yaml" ;; esac')
    machine.tool("flux", f'cat "{tmp_path}/after.yaml"')
    done = machine.run(compared, GIT_COMMIT="HEAD")
    assert (done.returncode, done.stderr) == (1, "")
    assert "1 of 2 routes changes · more requests reach 1 host · 1 new error" in done.stdout
    done = machine.run(linted)
    assert done.returncode == 1
    assert "error[GWP201]" in done.stdout
    container = yaml.safe_load(job)["spec"]["template"]["spec"]["containers"][0]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    (script,) = container["args"]
    moved = script.replace("/work/tree", str(tmp_path / "clone")).replace("lint clusters/prod", "lint apps/shop")
    machine.run("git branch -f main HEAD")
    moved = moved.replace("https://github.com/example/clusters", f"file://{machine.tree}")
    done = machine.run(moved)
    assert done.returncode == 1 and "GWP201" in done.stdout, done.stderr
    assert shutil.which("git")
