"""Requests to the API of a forge: bounded in time and size, and never to another host than the one that was named.

What a forge answers late or refuses for now may be asked again, from the beginning: an answer that was lost must not
make two comments.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from policylint.errors import UsageError

MOST_ANSWERED = 50_000_000
"""Bytes of one answer."""
TRIES = 4
MOST_WAITED = 120.0
"""Seconds between all tries together: who asks for more patience does not get it."""
PATIENCE = 20.0
"""Seconds for one answer."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
Done = TypeVar("Done")


class DeniedError(Exception):
    """The forge does not let this token do that, or has no such thing; `code` is that of HTTP."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(f"{code} {why}".strip())
        self.code = code


class BusyError(Exception):
    """The forge may do later what it does not do now.

    Args:
        seconds: how long it wants to be left alone, None if it does not say.
    """

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class Reply:
    """What a forge said: the JSON, and the address of the next page, "" where there is none."""

    def __init__(self, content: Any, following: str) -> None:
        self.content = content
        self.following = following


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows to other addresses of the same host alone: a redirect takes the token along."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if _origin(newurl) != _origin(req.full_url):
            raise DeniedError(code, f"redirects to another host: {urlsplit(newurl).hostname}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Api:
    """The API of a forge at an address.

    Args:
        address: without a slash at its end.
        headers: that say who asks.
    """

    def __init__(self, address: str, headers: Mapping[str, str], patience: float = PATIENCE) -> None:
        parts = urlsplit(address)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise UsageError(f"the address of the API must begin with https://, for a token is sent there: {address!r}")
        self.address = address
        self._headers = {"Content-Type": "application/json", "User-Agent": "policylint", **headers}
        self._patience = patience
        self._opener = urllib.request.build_opener(_SameHost())

    def ask(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> Reply:
        """Ask for an address of the API.

        Raises:
            DeniedError: the token may not, or there is no such thing.
            BusyError: an answer may come later.
            OSError: anything else that went wrong.
        """
        if _origin(url) != _origin(self.address):
            raise DeniedError(0, f"an address of another host: {urlsplit(url).hostname}")
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(url, data=data, headers=self._headers, method=method)
        try:
            with self._opener.open(asked, timeout=self._patience) as answer:
                content = json.loads(self._whole(answer) or b"null")
                return Reply(content, _next_page(answer.headers.get("Link") or ""))
        except urllib.error.HTTPError as error:
            said = f"{error.code} {error.reason}"
            if error.code in (408, 429) or error.code >= 500 or _is_limit(error.code, error.headers):
                raise BusyError(said, _seconds(error.headers)) from error
            if error.code in (404, 410) and method in ("PATCH", "PUT"):
                raise BusyError(said, 0) from error  # it was there a moment ago: somebody deleted it
            raise DeniedError(error.code, str(error.reason)) from error
        except (
            urllib.error.URLError,
            TimeoutError,
            ConnectionError,
            http.client.HTTPException,
            json.JSONDecodeError,
        ) as error:
            raise BusyError(str(getattr(error, "reason", "") or error) or type(error).__name__) from error

    def _whole(self, answer: Any) -> bytes:
        """Return the content of an answer, which must not trickle in for ever."""
        pieces, size, ends = [], 0, time.monotonic() + 2 * self._patience
        while piece := answer.read1(1 << 16):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_ANSWERED:
                raise OSError("an answer without end")
            if time.monotonic() > ends:
                raise TimeoutError("the answer takes too long")
        return b"".join(pieces)


def patiently(act: Callable[[], Done], say: Callable[[str], None]) -> Done:
    """Do something, from its beginning again where the forge is busy.

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
            say(f"{error}; asking again in {pause:.0f} s")
            time.sleep(pause)
            left -= pause
    raise AssertionError("the last try returns or raises")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _is_limit(code: int, headers: Any) -> bool:
    """Return whether a refusal is but a rate limit (GitHub REST, "Rate limits": 403 or 429)."""
    return code == 403 and (headers.get("Retry-After") is not None or headers.get("X-RateLimit-Remaining") == "0")


def _seconds(headers: Any) -> float | None:
    """Return how long the forge wants to be left alone."""
    after, reset = headers.get("Retry-After") or "", headers.get("X-RateLimit-Reset") or ""
    if after.isdecimal():
        return float(after)
    return max(0.0, float(reset) - time.time()) if reset.isdecimal() else None


def _next_page(link: str) -> str:
    """Return the address with rel="next" of a Link header."""
    for part in link.split(","):
        address, _, about = part.partition(";")
        if 'rel="next"' in about:
            return address.strip().strip("<>")
    return ""
