"""Which pull request a job of CI is for: what GitHub, GitLab, Azure Pipelines and Bitbucket set in its environment."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from policylint.errors import UsageError
from policylint.namedtuple import NamedTuple

NAMES: Final = ("github", "gitlab", "azure", "bitbucket")
TOKENS: Final = {
    "github": ("POLICYLINT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("POLICYLINT_TOKEN", "GITLAB_TOKEN"),
    "azure": ("POLICYLINT_TOKEN", "SYSTEM_ACCESSTOKEN"),
    "bitbucket": ("POLICYLINT_TOKEN", "BITBUCKET_TOKEN"),
}
"""Forge → the variables that may hold its token, the first before the others. No option does: command lines of
others can be read by everybody on a machine."""
_MOST_EVENT: Final = 20_000_000
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_REVISION: Final = re.compile(r"[A-Za-z0-9_./-]+")


class PullRequest(NamedTuple):
    """One pull request, as a job of CI knows it; "" for what it does not know.

    Args:
        forge: one of NAMES.
        api: the address of the API, without a slash at its end; for Azure DevOps with the project.
        repository: as addresses of the API have it.
        number: of the pull request.
        is_job_token: whether the token is the job's own, not a person's.
        base: the revision that the change is compared with.
        head: the commit of the branch.
        target: the branch that it is to be merged into.
        links: the address below which the files of the head can be read.
        page: the address of the pull request.
        run: the address of the job or its run.
    """

    forge: str
    api: str = ""
    repository: str = ""
    number: str = ""
    is_job_token: bool = False
    base: str = ""
    head: str = ""
    target: str = ""
    links: str = ""
    page: str = ""
    run: str = ""

    @property
    def readers(self) -> str:
        """The revisions as a clone of a reader has them, "" where they are not known."""
        known = self.target and self.head and _REVISION.fullmatch(self.target)
        return f"origin/{self.target}...{self.head[:12]}" if known else ""


def forge_of(environment: Mapping[str, str]) -> str:
    """Return the forge whose job this is, "" where it is none's."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    if environment.get("GITLAB_CI"):
        return "gitlab"
    if environment.get("TF_BUILD"):
        return "github" if environment.get("BUILD_REPOSITORY_PROVIDER") == "GitHub" else "azure"
    return "bitbucket" if environment.get("BITBUCKET_BUILD_NUMBER") else ""


def place_of(forge: str, environment: Mapping[str, str]) -> PullRequest:
    """Return what the environment says of the pull request."""
    read = {"github": _github, "gitlab": _gitlab, "azure": _azure, "bitbucket": _bitbucket}[forge]
    return read({name: value.strip() for name, value in environment.items()})


def token_of(forge: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the token and the name of the variable that holds it, "" twice where none does.

    Raises:
        UsageError: it cannot be sent, and whoever tried would quote it.
    """
    held = ((environment.get(name, "").strip(), name) for name in TOKENS[forge])
    token, variable = next((each for each in held if each[0]), ("", ""))
    if not (token.isascii() and token.isprintable()):
        raise UsageError(f"{variable} holds characters that no token has, such as a line break")
    return token, variable


def checked(place: PullRequest) -> PullRequest:
    """Return a place whose parts can become parts of an address of the API.

    Raises:
        UsageError: one of them is missing or cannot be what it should be.
    """
    variables = {
        "github": ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_REF"),
        "gitlab": ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID"),
        "azure": ("SYSTEM_COLLECTIONURI", "BUILD_REPOSITORY_ID", "SYSTEM_PULLREQUEST_PULLREQUESTID"),
        "bitbucket": ("", "BITBUCKET_REPO_FULL_NAME", "BITBUCKET_PR_ID"),
    }[place.forge]
    missing = {"api": place.api, "repository": place.repository, "number": place.number}
    for (option, value), variable in zip(missing.items(), variables, strict=True):
        if not value:
            job = "" if option == "api" else ": is this job one of a pull request?"
            raise UsageError(f"--{option} is needed where {variable} does not say it{job}")
    if not re.fullmatch(r"[0-9]{1,10}", place.number):
        raise UsageError(f"the number of a pull request is not {place.number[:60]!r}")
    repository = quote(place.repository, safe="%") if place.forge == "gitlab" else place.repository
    parts = re.split("/|%2F", repository)
    is_deep = len(parts) > 1 and place.forge == "azure"
    if is_deep or {".", ".."} & set(parts) or not all(re.fullmatch(r"[\w.-]+", part, re.ASCII) for part in parts):
        raise UsageError(f"the name of a repository is not {place.repository[:60]!r}")
    return place._replace(repository=repository, api=place.api.rstrip("/"))


def _github(given: Mapping[str, str]) -> PullRequest:
    server, repository = given.get("GITHUB_SERVER_URL", ""), given.get("GITHUB_REPOSITORY", "")
    head = _event(given.get("GITHUB_EVENT_PATH", "")).get("head") or {}
    commit = _commit(str(head.get("sha") or ""))
    if given.get("TF_BUILD"):  # Azure Pipelines, for a repository on GitHub
        repository, server = given.get("BUILD_REPOSITORY_NAME", ""), "https://github.com"
        commit = _commit(given.get("SYSTEM_PULLREQUEST_SOURCECOMMITID", ""))
    number = re.fullmatch(r"refs/pull/(\d+)/merge", given.get("GITHUB_REF", ""))
    target = given.get("GITHUB_BASE_REF") or given.get("SYSTEM_PULLREQUEST_TARGETBRANCH", "").removeprefix(
        "refs/heads/"
    )
    run = given.get("GITHUB_RUN_ID", "")
    return PullRequest(
        "github",
        given.get("GITHUB_API_URL") or "https://api.github.com",
        repository,
        number[1] if number else given.get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", ""),
        base="HEAD^1..HEAD" if given.get("GITHUB_BASE_REF") else f"origin/{target}...HEAD" if target else "",
        head=commit,
        target=target,
        links=f"{server}/{repository}/blob/{commit}" if server and repository and commit else "",
        run=f"{server}/{repository}/actions/runs/{run}" if server and repository and run else "",
    )


def _gitlab(given: Mapping[str, str]) -> PullRequest:
    url, commit = given.get("CI_PROJECT_URL", ""), _commit(given.get("CI_COMMIT_SHA", ""))
    number = given.get("CI_MERGE_REQUEST_IID", "")
    base = _commit(given.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""))
    return PullRequest(
        "gitlab",
        given.get("CI_API_V4_URL", ""),
        given.get("CI_PROJECT_ID", ""),
        number,
        base=f"{base}..HEAD" if base else "",
        head=commit,
        target=given.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", ""),
        links=f"{url}/-/blob/{commit}" if url and commit else "",
        page=f"{url}/-/merge_requests/{number}" if url and number else "",
        run=given.get("CI_JOB_URL", ""),
    )


def _azure(given: Mapping[str, str]) -> PullRequest:
    collection, project = given.get("SYSTEM_COLLECTIONURI", "").rstrip("/"), given.get("SYSTEM_TEAMPROJECT", "")
    commit = _commit(given.get("SYSTEM_PULLREQUEST_SOURCECOMMITID", ""))
    target = given.get("SYSTEM_PULLREQUEST_TARGETBRANCH", "").removeprefix("refs/heads/")
    api = f"{collection}/{quote(project, safe='')}" if collection and project else ""
    repository = f"{api}/_git/{quote(given.get('BUILD_REPOSITORY_NAME', ''), safe='')}"
    run = given.get("BUILD_BUILDID", "")
    return PullRequest(
        "azure",
        api,
        given.get("BUILD_REPOSITORY_ID", ""),
        given.get("SYSTEM_PULLREQUEST_PULLREQUESTID", ""),
        is_job_token=token_of("azure", given)[1] == "SYSTEM_ACCESSTOKEN",
        base=f"origin/{target}...HEAD" if target else "",
        head=commit,
        target=target,
        links=f"{repository}?version=GC{commit}&path=" if api and commit else "",
        run=f"{api}/_build/results?buildId={run}" if api and run else "",
    )


def _bitbucket(given: Mapping[str, str]) -> PullRequest:
    repository, commit = given.get("BITBUCKET_REPO_FULL_NAME", ""), _commit(given.get("BITBUCKET_COMMIT", ""))
    target = given.get("BITBUCKET_PR_DESTINATION_BRANCH", "")
    number, build = given.get("BITBUCKET_PR_ID", ""), given.get("BITBUCKET_BUILD_NUMBER", "")
    web = f"https://bitbucket.org/{repository}" if repository else ""
    return PullRequest(
        "bitbucket",
        "https://api.bitbucket.org/2.0",
        repository,
        number,
        base=f"origin/{target}...HEAD" if target else "",
        head=commit,
        target=target,
        links=f"{web}/src/{commit}" if web and commit else "",
        run=f"{web}/pipelines/results/{build}" if web and build else "",
    )


def _commit(text: str) -> str:
    return text if _COMMIT.fullmatch(text) or re.fullmatch(r"[0-9a-f]{12,40}", text) else ""


def _event(file: str) -> Mapping[str, Any]:
    """Return what GitHub says of the pull request, nothing where it cannot be read."""
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - paths are strings here
            said = json.loads(stream.read(_MOST_EVENT))["pull_request"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
