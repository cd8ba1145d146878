"""The action's two scripts, end to end: report, comment, gate, with a stand-in for GitHub's API on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.action.github import BOT, GitHub, serving
from tests.diff.history import MAKE, ROOT, history

__all__ = ["history"]
History = tuple[Path, list[str]]
SCRIPTS = ROOT / ".github" / "action"
HEAD = "beef" * 10
MARKER = "<!-- policylint:v1 key=default -->"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the action's scripts are for bash")


class Runner:
    """What a job has: a checkout and the runner's files."""

    def __init__(self, place: Path, directory: Path) -> None:
        self.directory = directory
        self.temp = place / "runner temp"
        self.output = place / "output"
        self.summary = place / "summary"
        tools = self.temp / "policylint" / "bin"
        tools.mkdir(parents=True)
        (tools / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (tools / "python").chmod(0o755)

    def script(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        environment = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
        environment |= {"RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(self.output), "LC_ALL": "C.UTF-8"}
        environment |= {"GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_ACTIONS": "true"}
        environment |= {"GITHUB_REPOSITORY": "o/r", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "7"}
        environment |= {"ACTION_PATH": str(ROOT), "GITHUB_EVENT_NAME": "pull_request", "PL_HEAD_SHA": "feed" * 10}
        command = [str(SCRIPTS / name)]
        return subprocess.run(
            command, cwd=self.directory, env=environment | given, capture_output=True, text=True, check=False
        )

    def report(self, **given: str) -> dict[str, str]:
        done = self.script("run.sh", **given)
        assert done.returncode == 0, done.stderr
        return self.outputs()

    def comment(self, github: GitHub, **given: str) -> str:
        """Run the second script; what it prints."""
        outputs = self.outputs()
        asked = {"PL_COMMENT": "auto", "PL_PR": "12", "PL_FORK": "false", "GH_TOKEN": "not-a-token"}
        asked |= {"PL_DATA": outputs.get("data-file", ""), "PL_LINKS": outputs.get("links", "")}
        with serving(github):
            done = self.script("comment.sh", GITHUB_API_URL=github.url, **asked | given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def post(self, github: GitHub, folder: Path, **given: str) -> tuple[int, str]:
        """The last step of `.github/action/post`, as the second workflow runs it; its exit code and what it prints."""
        step = yaml.safe_load((SCRIPTS / "post" / "action.yml").read_text())["runs"]["steps"][-1]
        asked = {"PL_REPORT": str(folder), "PL_HEAD_SHA": HEAD, "PL_HEAD_REPOSITORY": "m/r", "PL_RUN_ID": "99"}
        asked |= {"PL_COMMENT": "auto", "PL_COMMENT_KEY": "default", "PL_GRAPH": "", "GH_TOKEN": "not-a-token"}
        assert asked.keys() | {"ACTION_PATH"} == step["env"].keys()
        runner = {"GITHUB_REPOSITORY": "o/r", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "7"}
        runner |= {"ACTION_PATH": str(SCRIPTS / "post"), "GITHUB_OUTPUT": str(self.output), "LC_ALL": "C.UTF-8"}
        runner |= {"RUNNER_TEMP": str(self.temp), "PATH": os.environ["PATH"]}
        with serving(github):
            environment = runner | asked | {"GITHUB_API_URL": github.url} | given
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", step["run"]],
                cwd=folder.parent, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
        assert not done.stderr or done.returncode, done.stderr
        said = re.sub(r"::stop-commands::(\w+)\n\n::\1::\n", "", done.stdout)
        return done.returncode, said

    def gate(self) -> int:
        """The exit code of the action's last step."""
        step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][-1]
        assert step["env"] == {"PL_EXIT_CODE": "${{ steps.run.outputs.exit-code }}"}
        environment = {"PATH": os.environ["PATH"], "PL_EXIT_CODE": self.outputs().get("exit-code", "")}
        return subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, check=False).returncode

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())


@pytest.fixture
def runner(history: History, tmp_path: Path) -> Runner:
    """The checkout of a pull request whose merge commit brings a lost JWT (commit 2 of fixtures/history)."""
    directory, ids = history
    place = tmp_path / "checkout"
    MAKE.git(tmp_path, "clone", "-q", str(directory), str(place))
    MAKE.git(place, "checkout", "-q", ids[1])
    return Runner(tmp_path, place)


def test_a_pull_request_is_reported_commented_and_gated(runner: Runner) -> None:
    outputs = runner.report()
    assert (outputs["exit-code"], outputs["new-findings"], outputs["fixed-findings"]) == ("1", "1", "0")
    assert outputs["routes-changed"] == "1"
    sarif = json.loads(Path(outputs["sarif-file"]).read_text())
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["GWP201", "GWP110"]
    summary = runner.summary.read_text()
    assert summary.startswith("### \u26a0\ufe0f policylint: `shop.example.com /cart/** or /pay/**` loses its login")
    assert runner.gate() == 1
    github = GitHub()
    assert "comment created" in runner.comment(github)
    (body,) = github.bodies()
    assert body.startswith(
        f"{MARKER}\n### \u26a0\ufe0f policylint: `shop.example.com /cart/** or /pay/**` loses its login"
    )
    assert f"https://github.com/o/r/blob/{'feed' * 10}/apps/shop/checkout-cors.yaml#L9" in body
    assert runner.outputs()["posted"] == "true"


def test_rows_link_into_the_page_where_the_workflow_publishes_one(runner: Runner, handed_over: Path) -> None:
    page = "https://pages.example.com/o/r/12/graph.html"
    report = Path(runner.report(PL_GRAPH=page)["comment-file"]).read_text()
    assert f"[<code>shop/<wbr>checkout</code>]({page}#select=HTTPRoute+shop%2Fcheckout)" in report
    github = fork()
    assert runner.post(github, handed_over, PL_GRAPH=page) == (0, "policylint: comment created\n")
    assert f"{page}#select=HTTPRoute+shop%2Fcheckout" in github.bodies()[0]


def test_comment_is_edited_in_place_and_left_alone_when_unchanged(runner: Runner) -> None:
    runner.report()
    github = GitHub()
    for _ in range(5):
        github.add("nice change", "somebody")
    github.add(f"{MARKER}\nforged", "mallory")
    mine = github.add(f"{MARKER}\n### policylint: an older report")
    assert "comment updated" in runner.comment(github)
    assert "comment unchanged" in runner.comment(github)
    assert [(method, path) for method, path, _ in github.calls] == [("PATCH", f"/repos/o/r/issues/comments/{mine}")]
    assert github.bodies()[5] == f"{MARKER}\nforged"
    assert len(github.comments) == 7


def test_comment_is_found_on_a_later_page_and_by_key(runner: Runner) -> None:
    runner.report()
    github = GitHub(page=10)
    for number in range(25):
        github.add(f"comment {number}", "somebody")
    github.add(f"{MARKER}\nof another key")
    mine = github.add("<!-- policylint:v1 key=prod -->\r\nold")
    assert "comment updated" in runner.comment(github, PL_COMMENT_KEY="prod")
    assert [path for _, path, _ in github.calls] == [f"/repos/o/r/issues/comments/{mine}"]
    assert github.pages_read == 3


def test_a_read_only_token_is_a_notice_and_no_failure(runner: Runner) -> None:
    runner.report()
    github = GitHub(read_only=True)
    said = runner.comment(github, PL_FORK="true")
    assert said.count("::notice::") == 1
    assert "read-only token" in said
    assert runner.outputs()["posted"] == "false"
    assert runner.summary.read_text()


@pytest.fixture
def handed_over(runner: Runner, tmp_path: Path) -> Path:
    """What the first workflow of a fork uploads and the second one downloads."""
    runner.report(PL_PR="12")
    return Path(shutil.copytree(runner.temp / "policylint-report", tmp_path / "elsewhere" / "report"))


def fork(head: str = HEAD) -> GitHub:
    github = GitHub()
    github.heads[12] = head
    return github


def test_the_second_workflow_of_a_fork_posts_and_edits(runner: Runner, handed_over: Path) -> None:
    """It is handed data, and writes the Markdown itself; what is in the folder beside them is not looked at."""
    assert sorted(each.name for each in handed_over.iterdir()) == ["diff.json", "pr-number"]
    (handed_over / "comment.md").write_text(f"{MARKER}\n### [all is well](https://evil.example)\n")
    github = fork()
    github.add(f"{MARKER}\nforged", "mallory")
    github.add("<!-- policylint:v1 key=other -->\nanother key")
    assert runner.post(github, handed_over) == (0, "policylint: comment created\n")
    assert github.bodies()[2].startswith(
        f"{MARKER}\n### \u26a0\ufe0f policylint: `shop.example.com /cart/** or /pay/**` loses its login"
    )
    assert f"https://github.com/o/r/blob/{HEAD}/apps/shop/checkout-cors.yaml#L9" in github.bodies()[2]
    assert "evil.example" not in github.bodies()[2]
    assert runner.post(github, handed_over) == (0, "policylint: comment unchanged\n")
    document = json.loads((handed_over / "diff.json").read_text())
    document |= {"routes": [], "policies": [], "objects": [], "findings": [], "changes": []}
    (handed_over / "diff.json").write_text(json.dumps(document))
    assert runner.post(github, handed_over) == (0, "policylint: comment updated\n")
    assert [method for method, _, _ in github.calls] == ["POST", "PATCH"]
    assert runner.outputs()["posted"] == "true"


@pytest.mark.parametrize(
    ("file", "text", "code", "said"),
    [
        ("pr-number", "13\n", 0, "404"),  # no such pull request: refused as any other address is
        ("pr-number", "12/../13\n", 2, "no pull request number"),
        ("pr-number", "", 2, "no pull request number"),
        ("pr-number", "1" * 2_000, 2, "no pull request number"),
        ("diff.json", f"{MARKER}\n### Markdown\n", 2, "not as policylint writes it"),
        ("diff.json", '{"version": "json-v1"}', 2, "not as policylint writes it"),
        ("diff.json", " " * 21_000_000, 2, "larger than"),
    ],
)
def test_what_an_untrusted_job_leaves_is_data(
    runner: Runner, handed_over: Path, file: str, text: str, code: int, said: str
) -> None:
    (handed_over / file).write_text(text)
    github = fork()
    found = runner.post(github, handed_over)
    assert (found[0], github.calls) == (code, [])
    assert said in found[1]


@pytest.mark.parametrize("given", [{"PL_HEAD_SHA": "0" * 40}, {"PL_HEAD_SHA": ""}, {"PL_HEAD_REPOSITORY": "mallory/r"}])
def test_another_pull_request_is_not_posted_to(runner: Runner, handed_over: Path, given: dict[str, str]) -> None:
    github = fork()
    code, said = runner.post(github, handed_over, **given)
    assert (code, github.calls) == (2, [])
    assert "does not have the head commit of that run" in said


def test_a_link_in_the_folder_leads_nowhere(runner: Runner, handed_over: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    (handed_over / "diff.json").rename(secret)
    (handed_over / "diff.json").symlink_to(secret)
    github = fork()
    assert runner.post(github, handed_over) == (0, "::notice::policylint: that run left no report\n")
    assert github.calls == []


def test_nothing_to_say_posts_nothing_and_resolves_what_is_there(history: History, runner: Runner) -> None:
    MAKE.git(runner.directory, "checkout", "-q", history[1][3])
    outputs = runner.report()
    assert (outputs["exit-code"], outputs["new-findings"]) == ("0", "0")
    github = GitHub()
    assert "there is nothing to say" in runner.comment(github)
    assert (github.calls, runner.outputs()["posted"]) == ([], "false")
    assert "comment created" in runner.comment(github, PL_COMMENT="always")
    other = GitHub()
    other.add(f"{MARKER}\n### policylint: 1 route loses a protection")
    assert "comment updated" in runner.comment(other)
    assert other.bodies()[0].startswith(f"{MARKER}\n### policylint: no route changes its effective policy")


def test_the_comment_links_to_the_summary_of_its_run(runner: Runner) -> None:
    """A later run that has nothing else to say is no reason to edit it."""
    runner.report()
    github = GitHub()
    assert "comment created" in runner.comment(github)
    assert github.bodies()[0].endswith("<sub>[whole report](https://github.com/o/r/actions/runs/7)</sub>\n")
    assert "comment unchanged" in runner.comment(github, GITHUB_RUN_ID="8")
    assert "whole report" not in runner.summary.read_text()


def test_without_a_parent_the_fix_is_named(runner: Runner, tmp_path: Path) -> None:
    place = tmp_path / "shallow"
    MAKE.git(tmp_path, "clone", "-q", "--depth", "1", f"file://{runner.directory}", str(place))
    runner.directory = place
    done = runner.script("run.sh")
    assert "fetch-depth: 2" in done.stderr
    outputs = runner.outputs()
    assert (outputs["exit-code"], outputs["comment-file"], outputs["sarif-file"]) == ("2", "", "")
    assert "no report" in runner.comment(GitHub())


def test_a_push_is_compared_with_what_was_there(history: History, runner: Runner) -> None:
    ids = history[1]
    assert runner.report(GITHUB_EVENT_NAME="push", PL_BEFORE=ids[0])["new-findings"] == "1"
    runner.output.unlink()
    assert runner.report(GITHUB_EVENT_NAME="push", PL_BEFORE="0" * 40)["new-findings"] == ""


def alerts(report: dict[str, str]) -> set[tuple[str, str, int]]:
    """What code scanning knows an alert by: its rule, the hash of its line, and where it stands."""
    results = json.loads(Path(report["sarif-file"]).read_text(encoding="utf-8"))["runs"][0]["results"]
    return {
        (
            result["ruleId"],
            result["partialFingerprints"]["primaryLocationLineHash"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for result in results
    }


def test_a_push_with_nothing_new_uploads_the_alerts_that_are_there(history: History, runner: Runner) -> None:
    """What a push leaves out counts as mended: the alerts of one that changes nothing are those before it."""
    ids = history[1]
    first = alerts(runner.report(GITHUB_EVENT_NAME="push", PL_BEFORE=ids[0]))
    assert {rule for rule, _, _ in first} >= {"GWP201"}
    MAKE.git(runner.directory, "commit", "-q", "--allow-empty", "-m", "nothing")
    before = MAKE.git(runner.directory, "rev-parse", "HEAD~1").strip()
    runner.output.unlink()
    second = runner.report(GITHUB_EVENT_NAME="push", PL_BEFORE=before)
    assert second["new-findings"] == "0"
    assert alerts(second) == first
    runner.output.unlink()
    assert alerts(runner.report(GITHUB_EVENT_NAME="push", PL_BEFORE="0" * 40)) == first


def test_a_pull_request_uploads_what_is_there_beside_what_is_new(runner: Runner) -> None:
    assert {rule for rule, _, _ in alerts(runner.report())} == {"GWP110", "GWP201"}


def test_inputs_are_never_options_and_never_run(runner: Runner) -> None:
    runner.report(PL_BASE="--help", PL_PATH="--help $(touch pwned)")
    assert not list(runner.directory.rglob("pwned"))
    assert runner.outputs()["exit-code"] == "2"


def test_the_stand_in_is_by_the_bot() -> None:
    assert GitHub().add("x") == 1000
    assert BOT == "github-actions[bot]"
    assert shutil.which("bash")
