"""The comment when GitHub has a bad day: a clear line, bounded patience, the right exit code, never two comments."""

from __future__ import annotations

import time
from itertools import count
from types import SimpleNamespace

import pytest

from policylint.forges import asking
from policylint.forges.comments import FORGES
from policylint.forges.posting import PostingError, post
from policylint.forges.pull_request import PullRequest
from tests.action.github import BOT, Fault, GitHub, serving

MARKER = "<!-- policylint:v1 key=default -->"
BODY = f"{MARKER}\n### policylint: 1 route loses a protection\n"
SOON = {"Retry-After": "0"}


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second between two tries takes a twentieth of one; how long the tool says that it waits is the same."""
    hasty = SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=lambda seconds: time.sleep(seconds / 20))
    monkeypatch.setattr(asking, "time", hasty)


def commented(github: GitHub, body: str = BODY) -> tuple[str, list[str]]:
    """Post; what became of it, and what is said while it lasts."""
    said: list[str] = []
    with serving(github):
        place = PullRequest("github", github.url, "o/r", "12")
        try:
            done = post(FORGES["github"](place, "not-a-token", 0.4), body, has_content=True, say=said.append).done
        except PostingError as error:
            done = f"no comment: {error}"
    return done, said


@pytest.mark.parametrize(
    "faults",
    {
        "cut off": [Fault("GET")],
        "late": [Fault("GET", 200, seconds=0.6, body=b"[]")],
        "502": [Fault("GET", 502, SOON), Fault("GET", 503, SOON)],
        "no JSON": [Fault("GET", 200, body=b"<html>")],
        "secondary limit": [Fault("POST", 403, {"Retry-After": "1"})],
        "429": [Fault("POST", 429, {"Retry-After": "1"})],
        "primary limit": [Fault("GET", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"})],
        "lost answer": [Fault("POST", done=True)],
        "late answer": [Fault("POST", 201, seconds=0.6, done=True)],
        "500 after all": [Fault("POST", 500, SOON, done=True), Fault("GET", 500, SOON)],
    }.items(),
    ids=lambda pair: pair[0],
)
def test_what_passes_ends_with_one_comment(faults: tuple[str, list[Fault]]) -> None:
    github = GitHub()
    github.faults = list(faults[1])
    done, said = commented(github)
    assert "asking again in" in said[0] and done in ("created", "unchanged")
    assert github.bodies() == [BODY]
    assert github.faults == []


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_patience_ends(method: str) -> None:
    github = GitHub()
    if method == "PATCH":
        github.add(f"{MARKER}\nold")
    github.faults = [Fault(method, 503, SOON)] * 100
    done, said = commented(github)
    assert done == "no comment: 503 Service Unavailable"
    assert said == ["503 Service Unavailable; asking again in 0 s"] * 3
    assert len(github.faults) == 96


@pytest.mark.parametrize(
    "header", [{"Retry-After": "86400"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}]
)
def test_nobody_waits_for_a_day(header: dict[str, str]) -> None:
    github = GitHub()
    github.faults = [Fault("GET", 403, header)]
    began = time.monotonic()
    assert commented(github)[0].startswith("no comment: 403")
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault("GET", 404), "404 Not Found: no such repository"),
        (Fault("GET", 401), "401 Unauthorized: the token is not valid"),
        (Fault("POST", 403), "403 Forbidden: the token may not comment there"),
        (Fault("POST", 422), "422 "),
        (Fault("GET", 200, body=b'{"message": "no list"}'), "the API answers otherwise than it should"),
        (Fault("GET", 200, body=b'[{"user": 7}]'), "the API answers otherwise than it should"),
        (Fault("GET", 200, body=b"[" * 200_000), "the API answers otherwise than it should"),
        (Fault("GET", 200, body=b"\xff"), "the API answers otherwise than it should"),
    ],
)
def test_a_refusal_is_said_once(fault: Fault, why: str) -> None:
    github = GitHub()
    github.faults = [fault]
    done, said = commented(github)
    assert done.startswith(f"no comment: {why}") and "\n" not in done
    assert (said, github.bodies()) == ([], [])


def test_an_answer_without_end_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_ANSWERED", 1000)
    github = GitHub()
    github.faults = [Fault("GET", 200, body=b" " * 2000 + b"[]")]
    assert commented(github)[0] == "no comment: the API answers otherwise than it should: an answer without end"


def test_an_answer_that_trickles_in_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(step=100)
    clock = SimpleNamespace(time=time.time, monotonic=lambda: next(seconds), sleep=lambda _: None)
    monkeypatch.setattr(asking, "time", clock)
    assert commented(GitHub())[0] == "no comment: the answer takes too long"


def test_a_comment_that_is_deleted_in_between_is_made_again() -> None:
    github = GitHub()
    github.add(f"{MARKER}\nold")
    answer = github.answer

    def deleting(method: str, path: str, body: str) -> object:
        if method == "PATCH":
            github.comments.clear()
        return answer(method, path, body)

    github.answer = deleting  # type: ignore[assignment, method-assign]
    assert commented(github)[0] == "created"
    assert github.bodies() == [BODY]


def test_what_others_write_is_left_alone_and_what_they_edit_is_set_right() -> None:
    github = GitHub(page=2)
    for body, author in ((f"{MARKER}\nforged", "mallory"), ("x", BOT), (f"> {MARKER}\nquoted", BOT), ("y", "somebody")):
        github.add(body, author)
    github.add(f"{MARKER}\nsomebody edited what the bot said")
    assert commented(github)[0] == "updated"
    assert commented(github)[0] == "unchanged"
    assert github.bodies() == [f"{MARKER}\nforged", "x", f"> {MARKER}\nquoted", "y", BODY]


def test_a_redirect_takes_the_token_nowhere_else() -> None:
    """But for another address of the same host, as of a repository that was renamed."""
    github, other = GitHub(), GitHub()
    with serving(other):
        github.faults = [Fault("GET", 302, {"Location": f"{other.url}/repos/o/r/issues/12/comments"})]
        assert commented(github)[0].startswith("no comment: 302 redirects to another host")
        assert other.asked == 0
    github.faults = [Fault("GET", 302, {"Location": "/repos/o/r/issues/12/comments"})]
    assert commented(github)[0] == "created"
