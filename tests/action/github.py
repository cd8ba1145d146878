"""A stand-in for GitHub's API on loopback: comments in memory, in pages, and a record of what was posted."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"


class Fault(NamedTuple):
    """What goes wrong with one request.

    Args:
        method: of the next request that it meets.
        status: of the answer; 0 for none, the connection ends.
        headers: of the answer.
        seconds: to wait before.
        done: whether what was asked for is done all the same.
        body: of the answer.
    """

    method: str
    status: int = 0
    headers: Mapping[str, str] = {}
    seconds: float = 0.0
    done: bool = False
    body: bytes = b"{}"


class GitHub:
    """One pull request.

    Attributes:
        comments: as the API gives them.
        calls: method and path of every request that changes something, with its body.
        read_only: refuse those, as for a fork.
        heads: the head commits of pull requests by number; all come from repository `m/r`.
        faults: what goes wrong, in this order.
        asked: how many requests there were.
    """

    def __init__(self, *, read_only: bool = False, page: int = 100) -> None:
        self.comments: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str, str]] = []
        self.read_only = read_only
        self.page = page
        self.pages_read = 0
        self.heads: dict[int, str] = {}
        self.faults: list[Fault] = []
        self.asked = 0
        self.url = ""

    def add(self, body: str, author: str = BOT) -> int:
        number = 1000 + len(self.comments)
        self.comments.append({"id": number, "body": body, "user": {"login": author}})
        return number

    def bodies(self) -> list[str]:
        return [each["body"] for each in self.comments]

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any, str]:
        """Status, content and Link header."""
        place = urlsplit(path)
        pull = re.fullmatch(r"/repos/o/r/pulls/(\d+)", place.path)
        if pull is not None and method == "GET":
            head = self.heads.get(int(pull[1]))
            return (404, {"message": "Not Found"}, "") if head is None else (200, _head(head), "")
        if place.path == "/user":
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "GET":
            number = int(parse_qs(place.query).get("page", ["1"])[0])
            start = (number - 1) * self.page
            self.pages_read += 1
            more = start + self.page < len(self.comments)
            link = f'<{self.url}{place.path}?page={number + 1}>; rel="next", <x>; rel="last"' if more else ""
            return 200, self.comments[start : start + self.page], link
        self.calls.append((method, place.path, body))
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        text = json.loads(body)["body"]
        if len(text) > 65_536:
            return 422, {"message": "body is too long"}, ""
        if method == "POST":
            return 201, {"id": self.add(text)}, ""
        found = re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", place.path)
        assert found is not None
        there = next((each for each in self.comments if each["id"] == int(found[1])), None)
        if there is None:
            return 404, {"message": "Not Found"}, ""
        there["body"] = text
        return 200, {}, ""


def _head(commit: str) -> dict[str, Any]:
    return {"head": {"sha": commit, "repo": {"full_name": "m/r"}}}


@contextmanager
def serving(github: GitHub) -> Iterator[GitHub]:
    """Serve it while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            assert self.headers["Authorization"] == "Bearer not-a-token"
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            github.asked += 1
            if github.faults and github.faults[0].method == self.command and self.path != "/user":
                return self._fail(github.faults.pop(0), body)
            status, content, link = github.answer(self.command, self.path, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            if link:
                self.send_header("Link", link)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return None

        def _fail(self, fault: Fault, body: str) -> None:
            if fault.done:
                github.answer(self.command, self.path, body)
            time.sleep(fault.seconds)
            self.close_connection = True
            if not fault.status:
                return
            with suppress(OSError):
                self.send_response(fault.status)
                for name, value in fault.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(fault.body)))
                self.end_headers()
                self.wfile.write(fault.body)

        do_GET = do_POST = do_PATCH = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
