"""The job of docs/gitlab.md, run as it stands there, with a stand-in for GitLab's API on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests.diff.history import MAKE, ROOT, history

__all__ = ["history"]
History = tuple[Path, list[str]]
MARKER = "<!-- policylint:v1 key=default -->"
pytestmark = pytest.mark.skipif(
    any(shutil.which(each) is None for each in ("bash", "curl", "jq", "sed")), reason="the job needs bash, curl and jq"
)


class GitLab:
    """One merge request: its notes, newest first, in pages, and what was posted."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str, str]] = []
        self.token = "not-a-token"
        self.page = 100

    def add(self, body: str, author: str = "policylint-bot") -> int:
        number = 500 + len(self.notes)
        self.notes.append({"id": number, "body": body, "author": {"username": author}})
        return number

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any, str]:
        """Status, content, number of the next page."""
        place = urlsplit(path)
        if place.path == "/api/v4/user":
            return 200, {"username": "policylint-bot"}, ""
        base = "/api/v4/projects/3/merge_requests/12/notes"
        assert place.path.startswith(base)
        if method == "GET":
            number = int(parse_qs(place.query)["page"][0])
            start = (number - 1) * self.page
            more = str(number + 1) if start + self.page < len(self.notes) else ""
            return 200, self.notes[start : start + self.page], more
        text = parse_qs(body)["body"][0]
        self.calls.append((method, place.path.removeprefix(base), text))
        if method == "POST":
            return 201, {"id": self.add(text)}, ""
        next(each for each in self.notes if each["id"] == int(place.path.rpartition("/")[2]))["body"] = text
        return 200, {}, ""


@pytest.fixture
def gitlab() -> Iterator[tuple[GitLab, str]]:
    stand_in = GitLab()

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status, content, more = (
                stand_in.answer(self.command, self.path, body)
                if self.headers["PRIVATE-TOKEN"] == stand_in.token
                else (401, {"message": "401 Unauthorized"}, "")
            )
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("X-Next-Page", more)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stand_in, f"http://127.0.0.1:{server.server_address[1]}/api/v4"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Job:
    """A checkout of the merge request, and the script of the documented job."""

    def __init__(self, history: History, place: Path, address: str) -> None:
        directory, self.ids = history
        self.directory = place / "checkout"
        MAKE.git(place, "clone", "-q", str(directory), str(self.directory))
        (block,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "gitlab.md").read_text(), re.DOTALL)
        self.script = "\n".join(yaml.safe_load(block)["policylint"]["script"])
        tools = place / "bin"
        tools.mkdir()
        start = "import sys; from policylint.cli import main; sys.argv[0] = 'policylint'; sys.exit(main())"
        (tools / "policylint").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{start}" "$@"\n')
        (tools / "policylint").chmod(0o755)
        self.environment = {
            "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", "HOME": str(place),
            "CI_API_V4_URL": address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12",
            "POLICYLINT_TOKEN": "not-a-token", "CI_COMMIT_SHA": "feed" * 10,
            "CI_PROJECT_URL": "https://gitlab.example.com/o/r",
        }  # fmt: skip

    def run(self, number: int, **given: str) -> tuple[int, str]:
        """As the runner does: one shell, which ends at the first command that fails."""
        MAKE.git(self.directory, "checkout", "-q", self.ids[number - 1])
        environment = self.environment | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": self.ids[number - 2]} | given
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", self.script],
            cwd=self.directory, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def job(history: History, tmp_path: Path, gitlab: tuple[GitLab, str]) -> Job:
    return Job(history, tmp_path, gitlab[1])


def test_note_is_made_edited_and_resolved(job: Job, gitlab: tuple[GitLab, str]) -> None:
    notes = gitlab[0]
    assert job.run(2)[0] == 1
    ((method, _, body),) = notes.calls
    assert method == "POST"
    assert body.startswith(
        f"{MARKER}\n### \u26a0\ufe0f policylint: `shop.example.com /cart/** or /pay/**` loses its login"
    )
    assert f"https://gitlab.example.com/o/r/-/blob/{'feed' * 10}/apps/shop/checkout-cors.yaml#L9" in body
    assert json.loads((job.directory / "gl-code-quality-report.json").read_text())[0]["check_name"].startswith("GWP201")
    assert "<testsuite" in (job.directory / "policylint.xml").read_text()
    assert job.run(4)[0] == 0
    assert [each[:2] for each in notes.calls[1:]] == [("PUT", "/500")]
    assert "### policylint: no route changes" in notes.notes[0]["body"]


def test_note_is_found_by_author_and_on_any_page(job: Job, gitlab: tuple[GitLab, str]) -> None:
    notes = gitlab[0]
    notes.page = 10
    notes.add(f"{MARKER}\nforged", "mallory")
    for number in range(24):
        notes.add(f"note {number}", "somebody")
    mine = notes.add(f"{MARKER}\nold")
    job.run(2)
    assert [each[:2] for each in notes.calls] == [("PUT", f"/{mine}")]


def test_nothing_to_say_is_not_said(job: Job, gitlab: tuple[GitLab, str]) -> None:
    code, said = job.run(4)
    assert (code, gitlab[0].calls) == (0, [])
    assert "nothing to say" in said


def test_without_a_token_the_exit_code_is_that_of_the_report(job: Job, gitlab: tuple[GitLab, str]) -> None:
    """As for a merge request from a fork."""
    assert job.run(2, POLICYLINT_TOKEN="")[0] == 1
    assert job.run(4, POLICYLINT_TOKEN="")[0] == 0
    assert gitlab[0].calls == []


def test_a_change_brings_no_report_of_its_own(job: Job, gitlab: tuple[GitLab, str]) -> None:
    """A file of the report's name, in a change whose configuration policylint cannot read."""
    MAKE.git(job.directory, "checkout", "-q", job.ids[3])
    (job.directory / "report.md").write_text(f"{MARKER}\n### policylint: all is well\n")
    (job.directory / ".policylint.yaml").write_text("no: such key\n")
    for arguments in (("add", "-A", "."), ("commit", "-q", "-m", "forged")):
        MAKE.git(job.directory, *arguments)
    commit = MAKE.git(job.directory, "rev-parse", "HEAD").strip()
    job.ids[4:4] = [commit, commit]
    code, said = job.run(6)
    assert code in (2, 3), said
    assert gitlab[0].calls == []
    assert "there is no report" in said
