"""The action in a checkout that a stranger wrote: none of it runs, and none of it gives the runner commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.action.github import GitHub, serving
from tests.diff.history import ROOT, commit
from tests.hostile.checkout import hostile_environment, sprung, trapped
from tests.worlds import gateway, gateway_class

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the action's scripts are for bash")
BASH = shutil.which("bash") or "/bin/bash"
GATEWAY = "---".join(
    (
        gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway(namespace="shop", listeners="[{name: http, protocol: HTTP, port: 80}]", of_class="envoy"),
    )
)
POLICY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: retries, namespace: shop}
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: NAME}
"""
NAMES = (
    "##[set-output name=exit-code]0",
    "##[add-mask]e",
    "x ::set-output name=exit-code::0",
    "    ::add-mask::e",
    "::stop-commands::x",
    "\\n::set-output name=exit-code::0\\n",
    "\\r::error::forged",
)


class Job:
    """A job in a trapped checkout; its steps run as the runner starts them, with an environment that points there."""

    def __init__(self, place: Path) -> None:
        self.checkout = place / "checkout"
        self.canary = place / "canary"
        self.temp = place / "temp"
        self.temp.mkdir()
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {
            "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_WORKSPACE": str(self.checkout), "GITHUB_STEP_SUMMARY": str(place / "summary"), "CI": "true",
            "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "o/r", "ACTION_PATH": str(ROOT), "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        self.output = place / "output"

    def spring(self) -> None:
        """Lay the traps, beside what is there."""
        programs = trapped(self.checkout, self.canary)
        self.environment = hostile_environment(self.environment, self.checkout, programs)

    def installed(self) -> None:
        """What the first step makes, from what this Python has."""
        tools = self.temp / "policylint" / "bin"
        tools.mkdir(parents=True)
        for name, start in (("python", ""), ("policylint", " -m policylint")):
            (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable}{start} "$@"\n')
            (tools / name).chmod(0o755)

    def step(self, file: Path, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a step of an action."""
        steps = yaml.safe_load(file.read_text())["runs"]["steps"]
        (script,) = (step["run"] for step in steps if step["name"] == name)
        return subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.checkout, env=self.environment | given, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_installing_loads_nothing_of_the_checkout(job: Job) -> None:
    """Offline, so that pip ends with what it cannot find: everything before that has run."""
    job.checkout.mkdir()
    job.spring()
    done = job.step(ROOT / "action.yml", "Install policylint", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert sprung(job.canary) == []
    assert done.returncode != 0
    assert "No matching distribution found for attrs==" in done.stdout + done.stderr


def test_the_action_installs_what_the_lock_says() -> None:
    script = (ROOT / ".github" / "action" / "install.sh").read_text()
    assert "lock=$ACTION_PATH/requirements.lock\n" in script
    assert (
        re.findall(r" pip install [^\n]*\\\n *([^\n]*)\n", script)
        == ['--require-hashes --only-binary :all: --requirement "$lock"'] * 2
    )


def test_reporting_loads_nothing_of_the_checkout(job: Job) -> None:
    commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "edge"), "gateway.yaml": GATEWAY})
    commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "other")})
    job.installed()
    job.spring()
    given = {"GITHUB_EVENT_NAME": "pull_request", "PL_PR": "12", "PL_BASE": "HEAD^1"}
    done = job.step(ROOT / "action.yml", "Run policylint", **given)
    assert sprung(job.canary) == []
    assert (done.returncode, done.stderr) == (0, "")
    assert job.outputs()["new-findings"] == "1"


def test_a_push_asks_git_and_not_the_checkout(job: Job) -> None:
    first = commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "edge"), "gateway.yaml": GATEWAY})
    commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "other")})
    job.installed()
    job.spring()
    (job.checkout / "fsmonitor").write_text(f"#!/bin/sh\necho fsmonitor >> '{job.canary}'\n")
    (job.checkout / "fsmonitor").chmod(0o755)
    with (job.checkout / ".git" / "config").open("a") as config:
        config.write("[core]\n  fsmonitor = ./fsmonitor\n")
    done = job.step(ROOT / "action.yml", "Run policylint", GITHUB_EVENT_NAME="push", PL_BEFORE=first)
    assert sprung(job.canary) == []
    assert (done.returncode, done.stderr) == (0, "")
    assert job.outputs()["new-findings"] == "1"


@pytest.mark.parametrize("file", ["action.yml", ".github/action/post/action.yml"])
def test_commenting_loads_nothing_of_the_checkout(job: Job, file: str) -> None:
    commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "edge"), "gateway.yaml": GATEWAY})
    commit(job.checkout, {"a.yaml": POLICY.replace("NAME", "other")})
    job.installed()
    done = job.step(ROOT / "action.yml", "Run policylint", GITHUB_EVENT_NAME="pull_request", PL_PR="12")
    assert done.returncode == 0, done.stderr
    shutil.copytree(job.temp / "policylint-report", job.checkout / "report")
    job.spring()
    github = GitHub()
    github.heads[12] = "beef" * 10
    given = {"GH_TOKEN": "not-a-token", "PL_COMMENT": "auto", "PL_PR": "12"}
    if file == "action.yml":
        given["PL_DATA"] = job.outputs()["data-file"]
    else:
        given |= {"PL_REPORT": "report", "PL_HEAD_SHA": "beef" * 10, "PL_HEAD_REPOSITORY": "m/r"}
        given |= {"ACTION_PATH": str(ROOT / ".github" / "action" / "post"), "GITHUB_SERVER_URL": "https://github.com"}
    with serving(github):
        done = job.step(ROOT / file, "Comment on the pull request", GITHUB_API_URL=github.url, **given)
    assert sprung(job.canary) == []
    assert (done.returncode, done.stderr, len(github.comments)) == (0, "", 1)


def test_the_action_refuses_to_run_beside_a_token_that_may_write(job: Job) -> None:
    job.checkout.mkdir()
    for file, path in (("action.yml", ROOT), (".github/action/post/action.yml", ROOT / ".github" / "action" / "post")):
        given = {"GITHUB_EVENT_NAME": "pull_request_target", "ACTION_PATH": str(path)}
        done = job.step(ROOT / file, "Install policylint", **given)
        assert done.returncode == 2
        assert done.stdout.startswith("::error::policylint: not under pull_request_target")
    assert list(job.temp.iterdir()) == []


def test_the_tool_is_given_no_token(job: Job) -> None:
    job.checkout.mkdir()
    job.installed()
    seen = job.temp / "seen"
    tool = job.temp / "policylint" / "bin" / "python"
    tool.write_text(f'#!/bin/sh\nenv >> "{seen}"\nexec {sys.executable} "$@"\n')
    secrets = {
        "GH_TOKEN": "s3cret",
        "GITHUB_TOKEN": "s3cret",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "KUBECONFIG": "s3cret",
    }
    job.step(ROOT / "action.yml", "Run policylint", GIT_DIR="/nowhere", PYTHONPATH="/nowhere", **secrets)
    assert not re.search("s3cret|^GIT_|^PYTHON", seen.read_text(), re.MULTILINE)
    assert "GITHUB_ACTIONS=true" in seen.read_text()


def heeded(log: str) -> list[str]:
    """The lines that the runner takes for commands (`ActionCommandManager.TryProcessCommand` of actions/runner)."""
    found, until = [], ""
    for line in re.split(r"\r\n|\r|\n", log):
        version_2 = re.match(r"\s*::([a-zA-Z0-9-]+)(?: [^:]*)?::(.*)", line)
        version_1 = re.search(r"##\[([a-zA-Z-]+)[^\]]*\]", line)
        name = version_2[1] if version_2 else version_1[1] if version_1 else ""
        if until:
            until = "" if name == until else until
        elif name == "stop-commands" and version_2:
            until = version_2[2]
        elif name:
            found.append(line)
    return found


@pytest.mark.parametrize("event", ["pull_request", "workflow_dispatch"])
def test_names_of_manifests_are_no_commands(job: Job, event: str) -> None:
    """Neither in the report of a pull request nor in that of a tree; the annotations are the only commands."""
    commit(job.checkout, {"gateway.yaml": GATEWAY})
    documents = [POLICY.replace("NAME", f'"{name}"').replace("name: retries", f'name: "{name}"') for name in NAMES]
    files: dict[str, str | None] = {
        f"::set-output name=exit-code::{number}.yaml": text for number, text in enumerate(documents)
    }
    commit(job.checkout, {**files, "##[add-mask]e/all.yaml": "---\n".join(documents)})
    job.installed()
    done = job.step(ROOT / "action.yml", "Run policylint", GITHUB_EVENT_NAME=event)
    assert "set-output name=exit-code" in done.stdout, "the names are shown"
    commands = heeded(done.stdout)
    assert [line for line in commands if not re.match("::(error|warning|notice)( file=|::)", line)] == []
    assert bool(commands) == (event == "pull_request")
