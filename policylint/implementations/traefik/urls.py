"""Expressions of Traefik about the whole address of a request: where they are found, and what comes of a replacement.

Source: github.com/traefik/traefik v3.7.13 pkg/middlewares/redirect/redirect.go; pkg.go.dev/regexp, Expand.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from policylint.patterns import Pattern
from policylint.policy.authorizing import RequestFacts
from policylint.policy.handling import Redirect
from policylint.regex import expanded, expression
from policylint.spaces.predicates import EXPRESSION, Predicate

_WHOLE = "rewritten address"
"""A property by which requests are not told apart."""
_AUTHORITY = Pattern(
    r"\^?(?P<scheme>https\?|https|http|\(\??:?https\?\)|\(http\|https\)|\.\*|\[a-z\]\+):(?:\\?/){2}(?P<rest>.*)", 16
)
_PORT = Pattern(r"\((?:\?:)?:\\d\+\)\?|\((?:\?:)?:\[0-9\]\+\)\?")
_SPANS = Pattern(r"(?<!\\)\.[*+?{]|\\S|\[\^(?!/)")
"""What of an expression for a host may reach beyond the host."""
_REST = (
    "",
    "(.*)",
    "(.+)",
    ".*",
    ".+",
    "(.*)$",
    "(.+)$",
    ".*$",
    ".+$",
    "/(.*)",
    "/(.*)$",
    "/.*",
    "/.*$",
    "(/.*)",
    "(/.*)$",
)
"""What of an expression takes every path."""


def address_of(message: RequestFacts) -> str:
    """Return the address of a request; a path of which nothing was left has its slash there."""
    return f"{message.scheme}://{message.host}{slashed(message.path)}"


def slashed(path: str) -> str:
    """Return a path with its slash, which one of which nothing was left gets where it is part of an address."""
    return path if path.startswith("/") else f"/{path}"


def decided(pattern: str, message: RequestFacts) -> bool | None:
    """Return whether an expression is found in the address of a request; None where that is not known.

    What it says of the path and of the host are questions about these, where the parts can be told from each other.
    """
    address = address_of(message)
    found = None if message.blank else expression(pattern).is_within(address)
    searched = f".*(?:{pattern}).*"
    parts = _parts(pattern, message.scheme)
    if parts is None:
        message.has(_WHOLE, address, Predicate(EXPRESSION, searched))
        return found
    host, path = parts
    answers = [message.has("host", message.host, Predicate(EXPRESSION, host))] if host else []
    if path and False not in answers:
        answers.append(message.has_path(Predicate(EXPRESSION, path)))
    told = False if False in answers else None if None in answers else True
    if found is not None and told is not found:  # it hangs on the query
        message.has(_WHOLE, address, Predicate(EXPRESSION, searched))
    return found


def _parts(pattern: str, scheme: str) -> tuple[str, str] | None:
    """Return what an expression says of the host and of the path, "" for nothing; None where that is one thing.

    An expression for another scheme says that no host will do.
    """
    found = _AUTHORITY.fullmatch(pattern)
    if found is None:
        if pattern.startswith("/") and "://" not in pattern and "|" not in pattern:
            return "", f".*(?:{pattern.removesuffix('$')}){'' if pattern.endswith('$') else '.*'}"
        return None
    if expression(found["scheme"]).is_whole(scheme) is not True:
        return "[^\\s\\S]", ""
    rest = found["rest"]
    slash = _first_slash(rest)
    host, path = (rest, "") if slash is None else (rest[:slash], rest[slash:])
    if slash is None:
        ending = next((end for end in sorted(_REST, key=len, reverse=True) if end and rest.endswith(end)), None)
        if ending is None:
            return None
        host = rest.removesuffix(ending)
    host = _PORT.sub("", host)
    if _SPANS.search(host) or "|" in path or expression(host).refusal:
        return None
    if slash is None:
        return f"{host}.*", ""
    if path in _REST:
        return host, ""
    return host, path.removesuffix("$") if path.endswith("$") else f"{path}.*"


def _first_slash(written: str) -> int | None:
    """Return where the first slash outside of groups and classes is, None without one."""
    depth, escaped, in_class = 0, False, False
    for place, letter in enumerate(written):
        if escaped:
            escaped = False
            if letter == "/" and not depth and not in_class:
                return place - 1
        elif letter == "\\":
            escaped = True
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "/" and not depth:
            return place
    return None


def replaced(pattern: str, written: str, replacement: str, *, once: bool = False) -> str:
    """Return a text with what an expression finds replaced, as Go's ReplaceAllString does."""
    return expanded(pattern, written, replacement, most=1 if once else 0)


def location(url: str, status: int, message: RequestFacts) -> Redirect:
    """Return the redirect to an address, which may lack a scheme or a host."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return Redirect(500, message.scheme, message.host, None, message.path)
    scheme = parts.scheme or message.scheme
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return Redirect(status, scheme, parts.hostname or message.host, port, path)
