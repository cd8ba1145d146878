"""The comment when GitHub has a bad day: a clear line, bounded patience, the right exit code, never two comments."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.action.github import BOT, Fault, GitHub, serving
from tests.diff.history import ROOT

MARKER = "<!-- policylint:v1 key=default -->"
BODY = f"{MARKER}\n### policylint: 1 route loses a protection\n"
POSTED = BODY + "\n<sub>[whole report](https://github.com/o/r/actions/runs/7)</sub>\n"
SOON = {"Retry-After": "0"}
BUSY = "no comment was posted"


def commented(place: Path, github: GitHub, body: str = BODY) -> tuple[int, str, str]:
    """Run the script; its exit code, what it prints, and its output `posted`."""
    (place / "comment.md").write_text(body)
    (place / "output").write_text("")
    environment = {
        "GH_TOKEN": "not-a-token", "PL_COMMENT": "auto", "PL_COMMENT_FILE": str(place / "comment.md"), "PL_PR": "12",
        "PL_CONTENT": "true", "GITHUB_OUTPUT": str(place / "output"), "GITHUB_REPOSITORY": "o/r", "PL_TIMEOUT": "0.4",
        "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "7", "PATH": os.environ["PATH"],
    }  # fmt: skip
    with serving(github):
        done = subprocess.run(
            [sys.executable, "-I", str(ROOT / ".github" / "action" / "comment.py")],
            env=environment | {"GITHUB_API_URL": github.url}, capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
    assert done.stderr == ""
    return (
        done.returncode,
        done.stdout,
        dict(line.split("=") for line in (place / "output").read_text().splitlines()).get("posted", ""),
    )


@pytest.mark.parametrize(
    "faults",
    {
        "cut off": [Fault("GET")],
        "late": [Fault("GET", 200, seconds=1.0, body=b"[]")],
        "502": [Fault("GET", 502, SOON), Fault("GET", 503, SOON)],
        "no JSON": [Fault("GET", 200, body=b"<html>")],
        "secondary limit": [Fault("POST", 403, {"Retry-After": "1"})],
        "429": [Fault("POST", 429, {"Retry-After": "1"})],
        "primary limit": [Fault("GET", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"})],
        "lost answer": [Fault("POST", done=True)],
        "late answer": [Fault("POST", 201, seconds=1.0, done=True)],
        "500 after all": [Fault("POST", 500, SOON, done=True), Fault("GET", 500, SOON)],
    }.items(),
    ids=lambda pair: pair[0],
)
def test_what_passes_ends_with_one_comment(tmp_path: Path, faults: tuple[str, list[Fault]]) -> None:
    github = GitHub()
    github.faults = list(faults[1])
    code, said, posted = commented(tmp_path, github)
    assert (code, posted) == (0, "true")
    assert "asking again in" in said and said.splitlines()[-1] in (
        "policylint: comment created",
        "policylint: comment unchanged",
    )
    assert github.bodies() == [POSTED]
    assert github.faults == []


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_patience_ends(tmp_path: Path, method: str) -> None:
    github = GitHub()
    if method == "PATCH":
        github.add(f"{MARKER}\nold")
    github.faults = [Fault(method, 503, SOON)] * 100
    code, said, posted = commented(tmp_path, github)
    assert (code, posted) == (0, "false")
    assert said.count("asking again in 0 s") == 3
    assert f"::warning::policylint: {BUSY} (503 Service Unavailable)" in said
    assert len(github.faults) == 96


@pytest.mark.parametrize(
    "header", [{"Retry-After": "86400"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}]
)
def test_nobody_waits_for_a_day(tmp_path: Path, header: dict[str, str]) -> None:
    github = GitHub()
    github.faults = [Fault("GET", 403, header)]
    began = time.monotonic()
    code, said, posted = commented(tmp_path, github)
    assert (code, posted) == (0, "false") and f"{BUSY} (403" in said
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("GET", 404), "notice"),
        (Fault("GET", 401), "notice"),
        (Fault("POST", 403), "notice"),
        (Fault("POST", 422), "warning"),
        (Fault("GET", 200, body=b'{"message": "no list"}'), "warning"),
        (Fault("GET", 200, body=b'[{"user": 7}]'), "warning"),
    ],
)
def test_a_refusal_is_said_once(tmp_path: Path, fault: Fault, kind: str) -> None:
    github = GitHub()
    github.faults = [fault]
    code, said, posted = commented(tmp_path, github)
    assert (code, posted, github.bodies()) == (0, "false", [])
    assert said.count("::") == 2 and said.startswith(f"::{kind}::policylint: {BUSY}")
    assert "asking again" not in said


def test_a_comment_that_is_deleted_in_between_is_made_again(tmp_path: Path) -> None:
    github = GitHub()
    github.add(f"{MARKER}\nold")
    answer = github.answer

    def deleting(method: str, path: str, body: str) -> object:
        if method == "PATCH":
            github.comments.clear()
        return answer(method, path, body)

    github.answer = deleting  # type: ignore[assignment, method-assign]
    code, said, posted = commented(tmp_path, github)
    assert (code, posted, github.bodies()) == (0, "true", [POSTED])
    assert said.endswith("policylint: comment created\n")


def test_what_others_write_is_left_alone_and_what_they_edit_is_set_right(tmp_path: Path) -> None:
    github = GitHub(page=2)
    for body, author in ((f"{MARKER}\nforged", "mallory"), ("x", BOT), (f"> {MARKER}\nquoted", BOT), ("y", "somebody")):
        github.add(body, author)
    github.add(f"{MARKER}\nsomebody edited what the bot said")
    assert commented(tmp_path, github)[1] == "policylint: comment updated\n"
    assert commented(tmp_path, github)[1] == "policylint: comment unchanged\n"
    assert github.bodies() == [f"{MARKER}\nforged", "x", f"> {MARKER}\nquoted", "y", POSTED]


def test_the_longest_report_fits(tmp_path: Path) -> None:
    github = GitHub()
    body = BODY + "é😀 a line of the report\n" * 20_000
    assert commented(tmp_path, github, body)[2] == "true"
    (posted,) = github.bodies()
    assert 60_000 < len(posted) <= 65_536
    assert "(cut: the whole report is in the [job summary](https://github.com/o/r/actions/runs/7))" in posted
