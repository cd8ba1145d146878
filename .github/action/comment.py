"""Keep one comment per key on a pull request: found by author and marker, edited in place, left alone when unchanged.

In a `workflow_run` (docs/github-action.md, «Forks») the number of the pull request comes from a folder that an
untrusted job left: it is posted to only if it has the head commit of the run, and comes from its repository.

Standard library only. What GitHub answers late or refuses for now is asked again, a few times, always from the search
for the comment that is there: an answer that was lost must not make two. Ends with 0 whatever GitHub answers, but for
misuse of this script.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MOST_CHARACTERS = 65_000
"""GitHub refuses bodies of more than 65,536."""
MOST_BYTES = 1_000
"""Of a file that an untrusted job left."""
MOST_ANSWERED = 50_000_000
"""Bytes of one answer."""
TRIES = 4
MOST_WAITED = 120.0
"""Seconds between all tries together: who asks for more patience does not get it."""
MOST_PAGES = 50
PER_PAGE = 100
MARKER = re.compile(r"<!-- policylint:v1 key=[\w./]+ -->")


class RefusedError(Exception):
    """GitHub does not let this token do that, or has no such thing."""


class BusyError(Exception):
    """GitHub may do later what it does not do now; `seconds` is how long it wants to be left alone, None if unsaid."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class GoneError(BusyError):
    """What was there a moment ago is not: somebody deleted it."""


def request(method: str, url: str, body: dict[str, str] | None = None) -> tuple[Any, str]:
    """Ask GitHub; the answer, and the address of the next page.

    Raises:
        RefusedError: the token may not, or there is no such thing.
        BusyError: an answer may come later.
        OSError: anything else that went wrong.
    """
    patience = float(os.environ.get("PL_TIMEOUT") or 20)
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['GH_TOKEN']}",
        "Content-Type": "application/json",
        "User-Agent": "policylint-action",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=patience) as answer:
            return json.loads(whole(answer, patience) or b"null"), next_page(answer.headers.get("Link", ""))
    except urllib.error.HTTPError as error:
        said = f"{error.code} {error.reason}"
        if error.code in (408, 429) or error.code >= 500 or is_limit(error.code, error.headers):
            raise BusyError(said, seconds(error.headers)) from error
        if error.code in (404, 410) and method == "PATCH":
            raise GoneError(said, 0) from error
        if error.code in (401, 403, 404, 410):
            raise RefusedError(said) from error
        raise
    except (
        urllib.error.URLError,
        TimeoutError,
        ConnectionError,
        http.client.HTTPException,
        json.JSONDecodeError,
    ) as error:
        raise BusyError(str(getattr(error, "reason", "") or error) or type(error).__name__) from error


def whole(answer: Any, patience: float) -> bytes:
    """The content of an answer, which must not trickle in for ever.

    Raises:
        TimeoutError: it takes longer.
        OSError: it is longer than any answer should be.
    """
    pieces, size, ends = [], 0, time.monotonic() + 2 * patience
    while piece := answer.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_ANSWERED:
            raise OSError("an answer without end")
        if time.monotonic() > ends:
            raise TimeoutError("the answer takes too long")
    return b"".join(pieces)


def is_limit(code: int, headers: Any) -> bool:
    """Whether a refusal is but a rate limit (GitHub REST, "Rate limits": primary and secondary ones are 403 or 429)."""
    return code == 403 and (headers.get("Retry-After") is not None or headers.get("X-RateLimit-Remaining") == "0")


def seconds(headers: Any) -> float | None:
    """How long GitHub wants to be left alone."""
    after, reset = headers.get("Retry-After") or "", headers.get("X-RateLimit-Reset") or ""
    if after.isdecimal():
        return float(after)
    return max(0.0, float(reset) - time.time()) if reset.isdecimal() else None


def patiently(act: Callable[[], str]) -> str:
    """Do something, from its beginning again where GitHub is busy; what came of it.

    Raises:
        BusyError: it stays busy, or asks for more patience than there is.
    """
    left = MOST_WAITED
    for number in range(TRIES):
        try:
            return act()
        except BusyError as error:
            pause = float(2**number) if error.seconds is None else error.seconds
            if number == TRIES - 1 or pause > left:
                raise
            print(f"policylint: {error}; asking again in {pause:.0f} s")
            time.sleep(pause)
            left -= pause
    raise AssertionError("the last try returns or raises")


def request_all(comments: str) -> Iterator[dict[str, Any]]:
    """Every comment, page by page."""
    url = f"{comments}?per_page={PER_PAGE}"
    for _ in range(MOST_PAGES):
        page, url = request("GET", url)
        yield from page
        if not url:
            return


def next_page(link: str) -> str:
    """The address with rel="next" of a Link header."""
    for part in link.split(","):
        address, _, about = part.partition(";")
        if 'rel="next"' in about:
            return address.strip().strip("<>")
    return ""


def own_name(api: str) -> str:
    """Who this token speaks for: the bot of GitHub Actions cannot ask, others can."""
    try:
        return str(request("GET", f"{api}/user")[0]["login"])
    except (RefusedError, KeyError, TypeError):
        return "github-actions[bot]"


def find(comments: str, marker: str, author: str) -> dict[str, Any] | None:
    """The comment that begins with the marker and is by this author: a marker alone can be forged."""
    for each in request_all(comments):
        body, user = each.get("body") or "", (each.get("user") or {}).get("login")
        if user == author and body.partition("\n")[0].rstrip("\r") == marker and not each.get("minimized"):
            return dict(each)
    return None


def fitting(body: str, run: str) -> str:
    """The body as GitHub takes it, with a link to the job summary, which holds the whole report.

    The report keeps its own budget, so that a cut is the exception.
    """
    tail = f"\n<sub>[whole report]({run})</sub>\n" if run else ""
    if len(body) + len(tail) <= MOST_CHARACTERS:
        return body + tail
    where = f"[job summary]({run})" if run else "job summary"
    tail = f"\n\n(cut: the whole report is in the {where})\n"
    kept = body[: MOST_CHARACTERS - len(tail) - 200]
    kept = kept[: kept.rfind("\n")]
    for opened, closed in (("```", "\n```"), ("<details>", "\n</details>")):
        number = kept.count(opened)
        if (opened == "```" and number % 2) or (opened != "```" and number > kept.count("</details>")):
            kept += closed
    return kept + tail


def post(api: str, number: str, body: str, marker: str, has_content: bool) -> str:
    """Create, edit or leave the comment: what was done."""
    repository = os.environ["GITHUB_REPOSITORY"]
    comments = f"{api}/repos/{repository}/issues/{number}/comments"
    there = find(comments, marker, own_name(api))
    if there is None:
        if not has_content and os.environ.get("PL_COMMENT") != "always":
            return "nothing"
        request("POST", comments, {"body": body})
        return "created"
    if steady(str(there.get("body") or "")) == steady(body):
        return "unchanged"
    request("PATCH", f"{api}/repos/{repository}/issues/comments/{there['id']}", {"body": body})
    return "updated"


def steady(body: str) -> str:
    """A comment without its last lines' time and run, which differ from run to run."""
    return re.sub(r"\d+\.\d s\b|/actions/runs/\d+", "", body.replace("\r\n", "\n")).strip()


class Report(NamedTuple):
    """What is to be posted, and where."""

    body: str
    number: str
    has_content: bool


def given() -> Report:
    """The report, and the number of the pull request: from this job's event, or as another job left it."""
    folder = os.environ.get("PL_REPORT", "")
    file = Path(os.environ.get("PL_COMMENT_FILE") or os.devnull)
    body = file.read_text(encoding="utf-8") if file.is_file() else ""
    number = left(Path(folder) / "pr-number").strip() if folder else os.environ.get("PL_PR", "")
    return Report(body, number, os.environ.get("PL_CONTENT") == "true")


def left(file: Path) -> str:
    """A small file of an untrusted folder, "" if it is anything else."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return ""
    return file.read_text(encoding="utf-8", errors="replace")


def is_head(api: str, number: str, commit: str, repository: str) -> bool:
    """Whether a pull request has this head commit of this repository: its number comes from a job anybody can write."""
    head = request("GET", f"{api}/repos/{os.environ['GITHUB_REPOSITORY']}/pulls/{number}")[0]["head"]
    return bool(commit and head["sha"] == commit and (head["repo"] or {}).get("full_name") == repository)


def main() -> int:
    report = given()
    if not re.fullmatch(r"[0-9]{1,10}", report.number):
        print("::error::policylint: no pull request number")
        return 2
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    marker = report.body.partition("\n")[0]
    done = "nothing"
    if not MARKER.fullmatch(marker):
        print("::notice::policylint: there is no report to comment with")
    else:
        server, run = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_RUN_ID", "")
        run = os.environ.get("PL_RUN_ID") or run
        link = f"{server}/{os.environ['GITHUB_REPOSITORY']}/actions/runs/{run}" if server and run else ""
        head, repository = os.environ.get("PL_HEAD_SHA", ""), os.environ.get("PL_HEAD_REPOSITORY", "")

        def act() -> str:
            if os.environ.get("PL_REPORT") and not is_head(api, report.number, head, repository):
                return "refused"
            return post(api, report.number, fitting(report.body, link), marker, report.has_content)

        try:
            done = patiently(act)
        except RefusedError as error:
            fork = os.environ.get("PL_FORK") == "true"
            why = (
                "pull requests from forks have a read-only token" if fork else "does the job have pull-requests: write?"
            )
            print(f"::notice::policylint: no comment was posted ({error}; {why}). The report is in the job summary.")
        except (BusyError, OSError, AttributeError, KeyError, TypeError, ValueError) as error:
            said = " ".join(str(error).split())[:200]
            print(f"::warning::policylint: no comment was posted ({said}). The report is in the job summary.")
    if done == "refused":
        print(f"::error::policylint: pull request {report.number} does not have the head commit of that run")
        return 2
    posted = "true" if done in ("created", "updated", "unchanged") else "false"
    print(f"policylint: comment {done}")
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as output:  # noqa: PTH123
        output.write(f"posted={posted}\nresult={done}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
