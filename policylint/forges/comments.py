"""What each forge calls the comments of a pull request, by the reference of its REST API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from policylint.forges.asking import PATIENCE, Api, DeniedError, Reply
from policylint.forges.pull_request import PullRequest
from policylint.namedtuple import NamedTuple

MOST_PAGES = 50
PER_PAGE = 100


class Posted(NamedTuple):
    """A comment that is there.

    Args:
        address: of the API, to change it.
        author: as `Comments.author` names them.
    """

    address: str
    body: str
    author: str


class Comments(ABC):
    """The comments of one pull request."""

    method = "PATCH"
    """By which a comment is changed."""
    field = "body"
    """Where the text stands."""

    def __init__(self, place: PullRequest, token: str, patience: float = PATIENCE) -> None:
        self._api = Api(place.api, self.headers(place, token), patience)
        self._place = place

    @abstractmethod
    def headers(self, place: PullRequest, token: str) -> dict[str, str]:
        """Return the headers that say who asks."""

    @abstractmethod
    def author(self) -> str:
        """Return for whom the token speaks, "" where the forge does not say."""

    @property
    @abstractmethod
    def comments(self) -> str:
        """The address of the comments."""

    @abstractmethod
    def posted(self, entry: Any) -> Iterator[Posted]:
        """Yield the comments of an entry of the list."""

    def all(self) -> Iterator[Posted]:
        """Yield every comment, page by page."""
        url = f"{self.comments}{'&' if '?' in self.comments else '?'}{self.page_size}"
        for _ in range(MOST_PAGES):
            answer = self._api.ask("GET", url)
            entries, url = self.page(answer)
            for entry in entries:
                yield from self.posted(entry)
            if not url:
                return

    page_size = f"per_page={PER_PAGE}"

    def page(self, answer: Reply) -> tuple[list[Any], str]:
        """Return the entries of a page and the address of the next one."""
        return answer.content, answer.following

    def create(self, body: str) -> str:
        """Post a comment; return the address at which people read it, "" where the forge does not say."""
        return self.read_at(self._api.ask("POST", self.comments, self.new(body)).content)

    def change(self, posted: Posted, body: str) -> str:
        """Give a comment another text; return the address at which people read it."""
        return self.read_at(self._api.ask(self.method, posted.address, self.text(body)).content)

    def text(self, body: str) -> dict[str, Any]:
        return {self.field: body}

    def new(self, body: str) -> dict[str, Any]:
        return self.text(body)

    def read_at(self, content: Any) -> str:  # noqa: ARG002 - those that are told override it
        return ""

    def is_head(self, commit: str, repository: str) -> bool:
        """Return whether the pull request has this head commit of this repository."""
        raise NotImplementedError


class GitHub(Comments):
    """Comments of issues, as which pull requests have theirs (docs.github.com/rest/issues/comments)."""

    def headers(self, place: PullRequest, token: str) -> dict[str, str]:  # noqa: ARG002
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def author(self) -> str:
        """Return the login; the bot of GitHub Actions cannot ask for it, others can."""
        try:
            return str(self._api.ask("GET", f"{self._place.api}/user").content["login"])
        except (DeniedError, KeyError, TypeError):
            return "github-actions[bot]"

    @property
    def comments(self) -> str:
        return f"{self._place.api}/repos/{self._place.repository}/issues/{self._place.number}/comments"

    def posted(self, entry: Any) -> Iterator[Posted]:
        if not entry.get("minimized"):
            address = f"{self._place.api}/repos/{self._place.repository}/issues/comments/{int(entry['id'])}"
            yield Posted(address, entry.get("body") or "", (entry.get("user") or {}).get("login") or "")

    def read_at(self, content: Any) -> str:
        return str(content.get("html_url") or "")

    def is_head(self, commit: str, repository: str) -> bool:
        url = f"{self._place.api}/repos/{self._place.repository}/pulls/{self._place.number}"
        head = self._api.ask("GET", url).content["head"]
        return bool(commit and head["sha"] == commit and (head["repo"] or {}).get("full_name") == repository)


class GitLab(Comments):
    """Notes of a merge request (docs.gitlab.com/api/notes)."""

    method = "PUT"

    def headers(self, place: PullRequest, token: str) -> dict[str, str]:  # noqa: ARG002
        return {"PRIVATE-TOKEN": token}

    def author(self) -> str:
        return str(self._api.ask("GET", f"{self._place.api}/user").content["username"])

    @property
    def comments(self) -> str:
        return f"{self._place.api}/projects/{self._place.repository}/merge_requests/{self._place.number}/notes"

    def posted(self, entry: Any) -> Iterator[Posted]:
        if not entry.get("system"):
            author = (entry.get("author") or {}).get("username") or ""
            yield Posted(f"{self.comments}/{int(entry['id'])}", entry.get("body") or "", author)

    def read_at(self, content: Any) -> str:
        return f"{self._place.page}#note_{content['id']}" if self._place.page and content.get("id") else ""


class Azure(Comments):
    """Threads of a pull request (learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads).

    The thread has no status: one that is active may keep a pull request from being merged, a closed one is folded.
    """

    field = "content"
    page_size = "api-version=7.1"

    def headers(self, place: PullRequest, token: str) -> dict[str, str]:
        """Return a header for the token of the job, or for a personal one, which goes as a password."""
        if place.is_job_token:
            return {"Authorization": f"Bearer {token}"}
        return {"Authorization": f"Basic {b64encode(f':{token}'.encode()).decode()}"}

    def author(self) -> str:
        collection = self._place.api.rpartition("/")[0]
        content = self._api.ask("GET", f"{collection}/_apis/connectionData").content
        return str(content["authenticatedUser"]["id"])

    @property
    def _threads(self) -> str:
        place = self._place
        return f"{place.api}/_apis/git/repositories/{place.repository}/pullRequests/{place.number}/threads"

    @property
    def comments(self) -> str:
        return f"{self._threads}?api-version=7.1"

    def page(self, answer: Reply) -> tuple[list[Any], str]:
        return answer.content["value"], ""

    def posted(self, entry: Any) -> Iterator[Posted]:
        comments = [] if entry.get("isDeleted") else entry.get("comments") or []
        for comment in comments[:1]:
            if not comment.get("isDeleted"):
                address = f"{self._threads}/{int(entry['id'])}/comments/{int(comment['id'])}?api-version=7.1"
                yield Posted(address, comment.get("content") or "", (comment.get("author") or {}).get("id") or "")

    def new(self, body: str) -> dict[str, Any]:
        return {"comments": [{"parentCommentId": 0, "commentType": "text", **self.text(body)}]}


class Bitbucket(Comments):
    """Comments of a pull request (developer.atlassian.com/cloud/bitbucket/rest)."""

    method = "PUT"
    page_size = f"pagelen={PER_PAGE}"

    def headers(self, place: PullRequest, token: str) -> dict[str, str]:  # noqa: ARG002
        """Return a header for an access token, or for `user:token`."""
        if ":" in token:
            return {"Authorization": f"Basic {b64encode(token.encode()).decode()}"}
        return {"Authorization": f"Bearer {token}"}

    def author(self) -> str:
        """Return the id of the account; access tokens of a repository cannot ask for theirs."""
        try:
            return str(self._api.ask("GET", f"{self._place.api}/user").content["uuid"])
        except (DeniedError, KeyError, TypeError):
            return ""

    @property
    def comments(self) -> str:
        return f"{self._place.api}/repositories/{self._place.repository}/pullrequests/{self._place.number}/comments"

    def page(self, answer: Reply) -> tuple[list[Any], str]:
        return answer.content["values"], answer.content.get("next") or ""

    def posted(self, entry: Any) -> Iterator[Posted]:
        if not entry.get("deleted") and not entry.get("inline"):
            body = (entry.get("content") or {}).get("raw") or ""
            yield Posted(f"{self.comments}/{int(entry['id'])}", body, (entry.get("user") or {}).get("uuid") or "")

    def text(self, body: str) -> dict[str, Any]:
        return {"content": {"raw": body}}

    def read_at(self, content: Any) -> str:
        return str(((content.get("links") or {}).get("html") or {}).get("href") or "")


FORGES: dict[str, type[Comments]] = {"github": GitHub, "gitlab": GitLab, "azure": Azure, "bitbucket": Bitbucket}
