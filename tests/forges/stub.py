"""Stand-ins on loopback for the APIs of GitLab, Azure DevOps and Bitbucket: comments in memory, in pages."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

ME, TOKEN = "policylint-bot", "not-a-token"
LISTS = {
    "gitlab": "/projects/3/merge_requests/12/notes",
    "azure": "/shop/_apis/git/repositories/b7/pullRequests/12/threads",
    "bitbucket": "/repositories/o/r/pullrequests/12/comments",
}


class Stub:
    """One pull request of a forge.

    Attributes:
        comments: number, body and author of each.
        calls: method and path of each request that changed something.
        refuse: the code with which everything is refused, 0 for nothing.
        echoes: say in the reason of an answer with what one was asked.
        padding: stands before that.
        anonymous: refuse to say for whom the token speaks.
    """

    def __init__(self, forge: str) -> None:
        self.forge = forge
        self.comments: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str]] = []
        self.refuse = 0
        self.anonymous = self.echoes = False
        self.padding = ""
        self.page = 10
        self.url = ""
        self.headers: list[str] = []

    def add(self, body: str, author: str = ME) -> int:
        number = 500 + len(self.comments)
        self.comments.append({"id": number, "body": body, "author": author})
        return number

    def bodies(self) -> list[str]:
        return [each["body"] for each in self.comments]

    def answer(self, method: str, path: str, content: Any) -> tuple[int, Any, str]:
        """Status, content and Link header."""
        place = urlsplit(path)
        if self.refuse:
            return self.refuse, {"message": "no"}, ""
        if place.path in ("/user", "/_apis/connectionData"):
            names = {"username": ME, "uuid": ME, "authenticatedUser": {"id": ME}}
            return (403, {}, "") if self.anonymous else (200, names, "")
        listed = LISTS[self.forge]
        assert place.path.startswith(listed), path
        if method == "GET":
            number = int(parse_qs(place.query).get("page", ["1"])[0])
            shown = self.comments if self.forge == "azure" else self.comments[(number - 1) * self.page :][: self.page]
            more = shown and shown[-1] is not self.comments[-1]
            following = f"{self.url}{listed}?page={number + 1}" if more else ""
            return 200, self._listed(shown, following), f'<{following}>; rel="next"' if following else ""
        self.calls.append((method, place.path.removeprefix(listed)))
        body = self._body(content)
        if method == "POST":
            return 201, {"id": self.add(body)}, ""
        found = re.fullmatch(r"/(\d+)(?:/comments/1)?", place.path.removeprefix(listed))
        assert found is not None
        there = next((each for each in self.comments if each["id"] == int(found[1])), None)
        if there is None:
            return 404, {}, ""
        if there["author"] != ME:
            return 403, {}, ""
        there["body"] = body
        return 200, {"id": there["id"]}, ""

    def _listed(self, shown: list[dict[str, Any]], following: str) -> Any:
        if self.forge == "gitlab":
            notes = [{"id": 1, "body": "merged", "system": True, "author": {"username": ME}}]
            return notes + [{**each, "author": {"username": each["author"]}} for each in shown]
        if self.forge == "azure":
            threads = [{"id": 2, "isDeleted": True, "comments": []}]
            return {"value": threads + [
                {"id": each["id"], "comments": [{"id": 1, "content": each["body"], "author": {"id": each["author"]}}]}
                for each in shown
            ]}  # fmt: skip
        return {
            "values": [
                {"id": each["id"], "content": {"raw": each["body"]}, "user": {"uuid": each["author"]}} for each in shown
            ],
            **({"next": following} if following else {}),
        }

    def _body(self, content: Any) -> str:
        if self.forge == "gitlab":
            return str(content["body"])
        if self.forge == "bitbucket":
            return str(content["content"]["raw"])
        return str(content["comments"][0]["content"] if "comments" in content else content["content"])


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    """Serve it while the context lasts, at one address however often."""

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stub.headers.append(self.headers.get("PRIVATE-TOKEN") or self.headers.get("Authorization") or "")
            status, content, link = stub.answer(self.command, self.path, json.loads(given or b"null"))
            data = json.dumps(content).encode()
            self.send_response(status, f"not with{stub.padding} {stub.headers[-1]}" if stub.echoes else None)
            if link:
                self.send_header("Link", link)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(stub.url.rpartition(":")[2] or 0)), Handler)
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
