"""Keep one comment per key on a pull request: found by author and marker, edited in place, left alone when unchanged.

In a `workflow_run` (docs/github-action.md, «Forks») the report is a folder that an untrusted job left: its pull request
is posted to only if that has the head commit of the run.

Standard library only. The body comes from the author of the pull request and was escaped when it was made; here it is
data. Ends with 0 whatever GitHub answers, but for misuse of this script.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

MOST_CHARACTERS = 65_000
"""GitHub refuses bodies of more than 65,536."""
MOST_BYTES = 1_000_000
"""Of a file that an untrusted job left."""
MOST_PAGES = 50
PER_PAGE = 100
MARKER = re.compile(r"<!-- policylint:v1 key=[\w./]+ -->")


class RefusedError(Exception):
    """GitHub does not let this token do that."""


def request(method: str, url: str, body: dict[str, str] | None = None) -> tuple[Any, str]:
    """Ask GitHub; the answer, and the address of the next page.

    Raises:
        RefusedError: the token may not.
        OSError: anything else that went wrong.
    """
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
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.loads(answer.read() or b"null"), next_page(answer.headers.get("Link", ""))
    except urllib.error.HTTPError as error:
        if error.code in (401, 403, 404):
            raise RefusedError(f"{error.code} {error.reason}") from error
        raise


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
    except (RefusedError, OSError, KeyError, TypeError):
        return "github-actions[bot]"


def find(comments: str, marker: str, author: str) -> dict[str, Any] | None:
    """The comment that begins with the marker and is by this author: a marker alone can be forged."""
    url = f"{comments}?per_page={PER_PAGE}"
    for _ in range(MOST_PAGES):
        page, url = request("GET", url)
        for each in page:
            body, user = each.get("body") or "", (each.get("user") or {}).get("login")
            if user == author and body.partition("\n")[0].rstrip("\r") == marker and not each.get("minimized"):
                return dict(each)
        if not url:
            break
    return None


def fitting(body: str, run: str) -> str:
    """The body as GitHub takes it: the report keeps its own budget, so that a cut is the exception."""
    if len(body) <= MOST_CHARACTERS:
        return body
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
    """A comment without its last lines' time, which differs from run to run."""
    return re.sub(r"\d+\.\d s\b", "", body.replace("\r\n", "\n")).strip()


class Report(NamedTuple):
    """What is to be posted, and where."""

    body: str
    number: str
    has_content: bool


def given() -> Report:
    """The report of this job, else that of the folder another one left."""
    folder = os.environ.get("PL_REPORT", "")
    if folder:
        body, number, content = (left(Path(folder) / name) for name in ("comment.md", "pr-number", "has-content"))
        return Report(body, number.strip(), content.strip() == "true")
    file = Path(os.environ.get("PL_COMMENT_FILE") or os.devnull)
    body = file.read_text(encoding="utf-8") if file.is_file() else ""
    return Report(body, os.environ.get("PL_PR", ""), os.environ.get("PL_CONTENT") == "true")


def left(file: Path) -> str:
    """A small file of an untrusted folder, "" if it is anything else."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return ""
    return file.read_text(encoding="utf-8", errors="replace")


def is_head(api: str, number: str, commit: str) -> bool:
    """Whether a pull request has this head commit: the number comes from a job that anybody can write."""
    found = request("GET", f"{api}/repos/{os.environ['GITHUB_REPOSITORY']}/pulls/{number}")[0]
    return bool(found["head"]["sha"] == commit)


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
        head = os.environ.get("PL_HEAD_SHA", "")
        try:
            if os.environ.get("PL_REPORT") and not is_head(api, report.number, head):
                print(f"::error::policylint: pull request {report.number} does not have the head commit of that run")
                return 2
            done = post(api, report.number, fitting(report.body, link), marker, report.has_content)
        except RefusedError as error:
            fork = os.environ.get("PL_FORK") == "true"
            why = (
                "pull requests from forks have a read-only token" if fork else "does the job have pull-requests: write?"
            )
            print(f"::notice::policylint: no comment was posted ({error}; {why}). The report is in the job summary.")
        except (OSError, KeyError, TypeError, ValueError) as error:
            print(f"::warning::policylint: no comment was posted ({error}). The report is in the job summary.")
    posted = "true" if done in ("created", "updated", "unchanged") else "false"
    print(f"policylint: comment {done}")
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as output:  # noqa: PTH123
        output.write(f"posted={posted}\nresult={done}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
