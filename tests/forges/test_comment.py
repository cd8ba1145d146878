"""`policylint comment` in jobs of GitLab, Azure Pipelines and Bitbucket, with stand-ins for their APIs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from policylint.cli.comment import MOST_SAID
from policylint.forges import asking
from policylint.report.diff.dialect import DIALECTS
from tests.diff.history import MAKE, ROOT, history, run
from tests.forges.stub import ME, TOKEN, Stub, serving

__all__ = ["history"]
History = tuple[Path, list[str]]
HEAD = "feed" * 10
MARKS = {
    "gitlab": "<!-- policylint:v1 key=default -->",
    "azure": "<!-- policylint:v1 key=default -->",
    "bitbucket": "[policylint:v1 key=default]: #",
}
FORGES = list(MARKS)


class Job:
    """A checkout of a pull request that loses a JWT (commit 2 of fixtures/history), and what its system sets."""

    def __init__(self, history: History, place: Path) -> None:
        directory, self.ids = history
        self.tree = place / "tree"
        MAKE.git(place, "clone", "-q", str(directory), str(self.tree))
        self.at(2)

    def at(self, number: int) -> None:
        """Check out a commit; the target branch is at the one before."""
        MAKE.git(self.tree, "checkout", "-q", self.ids[number - 1])
        MAKE.git(self.tree, "update-ref", "refs/remotes/origin/main", self.ids[number - 2])
        self.base = self.ids[number - 2]

    def environment(self, stub: Stub) -> dict[str, str]:
        return {
            "gitlab": {
                "GITLAB_CI": "true", "CI_API_V4_URL": stub.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12",
                "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base, "CI_COMMIT_SHA": HEAD, "POLICYLINT_TOKEN": TOKEN,
                "CI_PROJECT_URL": "https://gitlab.example.com/o/r", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                "CI_JOB_URL": "https://gitlab.example.com/o/r/-/jobs/7",
            },
            "azure": {
                "TF_BUILD": "True", "BUILD_REPOSITORY_PROVIDER": "TfsGit", "SYSTEM_COLLECTIONURI": f"{stub.url}/",
                "SYSTEM_TEAMPROJECT": "shop", "BUILD_REPOSITORY_ID": "b7", "BUILD_REPOSITORY_NAME": "clusters",
                "SYSTEM_PULLREQUEST_PULLREQUESTID": "12", "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
                "SYSTEM_PULLREQUEST_SOURCECOMMITID": HEAD, "SYSTEM_ACCESSTOKEN": TOKEN, "BUILD_BUILDID": "7",
            },
            "bitbucket": {
                "BITBUCKET_BUILD_NUMBER": "7", "BITBUCKET_REPO_FULL_NAME": "o/r", "BITBUCKET_PR_ID": "12",
                "BITBUCKET_PR_DESTINATION_BRANCH": "main", "BITBUCKET_COMMIT": HEAD[:12], "BITBUCKET_TOKEN": TOKEN,
            },
        }[stub.forge]  # fmt: skip

    def comment(self, stub: Stub, *arguments: str, **given: str) -> tuple[int, str, str]:
        with serving(stub):
            if stub.forge == "bitbucket":
                arguments = ("--api", stub.url, *arguments)
            return run(self.tree, "comment", *arguments, **self.environment(stub) | given)


@pytest.fixture
def job(history: History, tmp_path: Path) -> Job:
    return Job(history, tmp_path)


@pytest.mark.parametrize("forge", FORGES)
def test_a_comment_is_made_kept_and_resolved(job: Job, forge: str) -> None:
    stub = Stub(forge)
    code, out, err = job.comment(stub)
    assert code == 1
    assert err.startswith("policylint: comment created")
    assert "loses the jwt" in out
    (body,) = stub.bodies()
    assert body.startswith(MARKS[forge])
    assert "policylint: `shop.example.com /cart/** or /pay/**` loses its login" in body
    revisions = f"origin/main...{HEAD[:12]}"
    assert f"--at {revisions}" in body
    assert job.comment(stub)[2] == "policylint: comment unchanged\n"
    job.at(4)
    code, _, err = job.comment(stub)
    assert (code, err.partition(":")[2][:16]) == (0, " comment updated")
    assert "no route changes" in stub.bodies()[0]
    assert [method for method, _ in stub.calls] == ["POST", "PATCH" if forge == "azure" else "PUT"]
    assert TOKEN not in out + err


def test_lines_of_files_and_the_job_are_linked_to(job: Job) -> None:
    file = "apps/shop/checkout-cors.yaml"
    for forge, line, run_of in (
        (
            "gitlab",
            f"https://gitlab.example.com/o/r/-/blob/{HEAD}/{file}#L9",
            "https://gitlab.example.com/o/r/-/jobs/7",
        ),
        ("azure", f"/shop/_git/clusters?version=GC{HEAD}&path=/{file}&line=9&lineEnd=9", "_build/results?buildId=7"),
        (
            "bitbucket",
            f"https://bitbucket.org/o/r/src/{HEAD[:12]}/{file}#lines-9",
            "https://bitbucket.org/o/r/pipelines",
        ),
    ):
        stub = Stub(forge)
        job.comment(stub)
        assert line in stub.bodies()[0]
        assert run_of in stub.bodies()[0].rstrip().splitlines()[-1]


@pytest.mark.parametrize("forge", FORGES)
def test_it_is_found_by_author_and_mark_on_any_page(job: Job, forge: str) -> None:
    stub = Stub(forge)
    stub.add(f"{MARKS[forge]}\nforged", "mallory")
    for number in range(24):
        stub.add(f"comment {number}", "somebody")
    stub.add(f"> {MARKS[forge]}\nquoted")
    mine = stub.add(f"{MARKS[forge]}\r\nold")
    job.comment(stub)
    assert [path.split("/")[1] for _, path in stub.calls] == [str(mine)]
    assert stub.bodies()[0] == f"{MARKS[forge]}\nforged"


def test_a_token_that_has_no_name_changes_its_own_comment(job: Job) -> None:
    """Access tokens of a repository of Bitbucket cannot ask who they are; the comment of another author is refused."""
    stub = Stub("bitbucket")
    stub.anonymous = True
    stub.add(f"{MARKS['bitbucket']}\nforged", "mallory")
    mine = stub.add(f"{MARKS['bitbucket']}\nold")
    assert job.comment(stub)[2] == "policylint: comment updated\n"
    assert stub.calls == [("PUT", "/500"), ("PUT", f"/{mine}")]
    assert stub.bodies()[0].endswith("forged")


@pytest.mark.parametrize("forge", FORGES)
def test_nothing_to_say_is_not_said(job: Job, forge: str) -> None:
    job.at(4)
    stub = Stub(forge)
    code, _, err = job.comment(stub)
    assert (code, stub.calls) == (0, [])
    assert "there is nothing to say" in err
    assert "comment created" in job.comment(stub, "--always")[2]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "the token is not valid or has expired"),
        (403, "the token may not comment there"),
        (404, "no such repository or pull request"),
    ],
)
@pytest.mark.parametrize("forge", FORGES)
def test_a_refusal_is_a_sentence_and_the_run_is_incomplete(job: Job, forge: str, status: int, why: str) -> None:
    stub = Stub(forge)
    stub.refuse = status
    code, out, err = job.comment(stub)
    assert code == 3
    assert err.count("\n") == 1 and err.startswith(f"policylint: no comment was posted: {status} ") and why in err
    assert "loses the jwt" in out


@pytest.mark.parametrize("forge", FORGES)
def test_without_a_token_the_exit_code_is_that_of_the_report(job: Job, forge: str) -> None:
    """As in pipelines of forks."""
    stub = Stub(forge)
    none = {"POLICYLINT_TOKEN": "", "SYSTEM_ACCESSTOKEN": "", "BITBUCKET_TOKEN": ""}
    code, _, err = job.comment(stub, **none)
    assert (code, stub.headers) == (1, [])
    assert err.startswith("policylint: no comment was posted: none of POLICYLINT_TOKEN, ")


@pytest.mark.parametrize("forge", FORGES)
def test_a_dry_run_prints_and_asks_nobody(job: Job, forge: str) -> None:
    stub = Stub(forge)
    code, out, err = job.comment(stub, "--dry-run")
    assert (code, stub.headers, err) == (1, [], "")
    assert out.startswith(MARKS[forge])


def test_the_token_is_sent_as_each_forge_wants_it(job: Job) -> None:
    for forge, given, header in (
        ("gitlab", {}, TOKEN),
        ("azure", {}, f"Bearer {TOKEN}"),
        ("azure", {"POLICYLINT_TOKEN": "pat"}, "Basic OnBhdA=="),
        ("bitbucket", {}, f"Bearer {TOKEN}"),
        ("bitbucket", {"POLICYLINT_TOKEN": "a:b"}, "Basic YTpi"),
    ):
        stub = Stub(forge)
        job.comment(stub, **given)
        assert set(stub.headers) == {header}


@pytest.mark.parametrize("forge", FORGES)
@pytest.mark.parametrize("broken", ["glpat-se\ncret", "se\r\nX-Sudo: root", "sécret", "se\u2028cret"])
def test_a_token_that_is_none_is_said_by_its_variable_alone(job: Job, forge: str, broken: str) -> None:
    """A secret that was pasted with a line break: Python would quote the header in its complaint."""
    stub = Stub(forge)
    code, out, err = job.comment(stub, POLICYLINT_TOKEN=broken)
    assert (code, stub.headers) == (2, [])
    assert "POLICYLINT_TOKEN holds characters that no token has" in err
    assert "cret" not in out + err and "Sudo" not in out + err


@pytest.fixture(scope="module")
def stored(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What there is to say of the job, for those who ask how it is said."""
    place = tmp_path_factory.mktemp("stored")
    file = place / "diff.json"
    run(Job(history, place).tree, "diff", "origin/main", f"--output=json-v1={file}")
    return file


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 503])
@pytest.mark.parametrize(
    ("forge", "token"), [("gitlab", TOKEN), ("azure", "pat"), ("bitbucket", TOKEN), ("bitbucket", "somebody:s3cret")]
)
def test_a_token_that_a_forge_says_again_is_not_printed(
    job: Job, stored: Path, forge: str, token: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the header that it was sent in."""
    monkeypatch.setattr(asking.time, "sleep", lambda _: None)
    stub = Stub(forge)
    stub.refuse, stub.echoes = code, True
    for stub.padding in ("", "x" * (MOST_SAID - 60), "x" * 10_000):
        ended, out, err = job.comment(stub, "--from-json", str(stored), POLICYLINT_TOKEN=token)
        assert (ended, "not with" in err) == (3, True)
        assert not [part for part in (token, stub.headers[-1].split()[-1]) if part in out + err]
        assert not re.search(r"\b(Basic|Bearer) \w", err), "the beginning of it"


def test_the_token_goes_nowhere_else(job: Job) -> None:
    assert "must begin with https://" in job.comment(Stub("gitlab"), CI_API_V4_URL="http://gitlab.example.com")[2]
    other, stub = Stub("gitlab"), Stub("gitlab")
    with serving(other):
        stub.answer = lambda *_: (200, {"username": ME}, "")  # type: ignore[method-assign]
        first = stub.answer
        pages = iter([first("", "", ""), (200, [], f'<{other.url}/projects/3>; rel="next"')])
        stub.answer = lambda *_: next(pages)  # type: ignore[method-assign]
        code, _, err = job.comment(stub)
    assert (code, other.headers) == (3, [])
    assert "an address of another host" in err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"CI_MERGE_REQUEST_IID": ""}, "--number is needed where CI_MERGE_REQUEST_IID does not say it"),
        ({"CI_MERGE_REQUEST_IID": "12/../13"}, "the number of a pull request is not"),
        ({"CI_PROJECT_ID": "../7"}, "the name of a repository is not"),
        ({"CI_PROJECT_ID": ""}, "--repository is needed"),
    ],
)
def test_what_cannot_be_an_address_is_refused(job: Job, given: dict[str, str], why: str) -> None:
    stub = Stub("gitlab")
    code, _, err = job.comment(stub, **given)
    assert (code, stub.headers) == (2, [])
    assert why in err


def test_outside_of_a_job_the_forge_is_asked_for(job: Job) -> None:
    code, _, err = run(job.tree, "comment", "HEAD~1..HEAD", GITLAB_CI="", TF_BUILD="")
    assert (code, "say which with --on" in err) == (2, True)


def test_a_change_brings_no_report_of_its_own(job: Job) -> None:
    """Files of any name, in a change whose configuration policylint cannot read."""
    for name in ("report.md", "diff.json", "comment.md"):
        (job.tree / name).write_text(f"{MARKS['gitlab']}\n### policylint: all is well\n")
    (job.tree / ".policylint.yaml").write_text("no: such key\n")
    MAKE.git(job.tree, "add", "-A")
    MAKE.git(job.tree, "commit", "-q", "-m", "forged")
    stub = Stub("gitlab")
    job.comment(stub)
    assert not [body for body in stub.bodies() if "all is well" in body]


@pytest.mark.parametrize("forge", DIALECTS)
def test_a_long_report_keeps_its_tables_whole(tmp_path: Path, forge: str) -> None:
    """Four hundred policies with a typo, each a row or counted."""
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    (tmp_path / "before" / "a.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    (tmp_path / "after" / "a.yaml").write_text("".join(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\n"
        f"metadata: {{name: p{number}, namespace: shop}}\n"
        f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {'x' * 60}{number}}}]}}\n"
        for number in range(400)
    ))  # fmt: skip
    sides = ("--rendered-before", "before", "--rendered-after", "after", "--show-unknown")
    _, out, _ = run(tmp_path, "comment", *sides, "--dry-run", "--on", forge)
    assert len(out) <= DIALECTS[forge].most + 200
    assert out.count("<details>") == out.count("</details>")
    assert "<" not in out or DIALECTS[forge].has_html
    tables = re.findall(r"(?m)^\|.*$", out)
    assert {row.count("|") - row.count("\\|") for row in tables} <= {4}


def test_the_jobs_of_the_page_are_of_this_command(history: History, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "comment.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    gitlab, azure, bitbucket = blocks
    scripts = {
        "gitlab": "\n".join(gitlab["policylint"]["script"]),
        "azure": azure["steps"][1]["script"],
        "bitbucket": "\n".join(bitbucket["pipelines"]["pull-requests"]["**"][0]["step"]["script"]),
    }
    for forge, script in scripts.items():
        (line,) = [line for line in script.splitlines() if " comment clusters" in line]
        assert len(line) > 0, forge
    job, stub = Job(history, tmp_path), Stub("gitlab")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "policylint").write_text(f'#!/bin/sh\nexec "{ROOT}/.venv/bin/python" -m policylint "$@"\n')
    (tools / "policylint").chmod(0o755)
    with serving(stub):
        environment = job.environment(stub) | {"PATH": f"{tools}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", scripts["gitlab"].replace(" clusters", "")],
            cwd=job.tree, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert len(stub.comments) == 1
    assert json.loads((job.tree / "gl-code-quality-report.json").read_text())[0]["check_name"].startswith("GWP201")
    assert "<testsuite" in (job.tree / "policylint.xml").read_text()
