"""Whether policies let one request in: allowed, denied, or depending on what no manifest says.

What is known of a request is its method, host, path and headers. Whoever sends it (address, token, certificate) is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import sequence, text
from policylint.namedtuple import NamedTuple

Answer = Literal["allowed", "denied", "depends"]
_COMPARED = re.compile(r"""\s*request\.(method|host|path|url_path)\s*(==|!=)\s*(["'])([^"'\\]*)\3\s*""")
_STARTS = re.compile(r"""\s*request\.(path|url_path|host)\.startsWith\(\s*(["'])([^"'\\]*)\2\s*\)\s*""")
_HEADER = re.compile(r"""\s*request\.headers\[\s*(["'])([\w-]+)\1\s*\]\s*(==|!=)\s*(["'])([^"'\\]*)\4\s*""")


class RequestFacts(NamedTuple):
    """What is known of a request; header names are in lower case."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]


class Decision(NamedTuple):
    """The answer of one policy.

    Args:
        pointer: of what decides, below the effective spec.
        why: for an answer that depends, on what.
        status: with which a request is denied.
    """

    answer: Answer
    pointer: Pointer = ()
    why: str = ""
    status: int = 403


class AuthorizationRule(NamedTuple):
    """One rule of a list in which the first match counts: whether it matches (None: not known), and what it says."""

    matches: bool | None
    allows: bool
    pointer: Pointer
    on: str = ""


def first_match(rules: Iterable[AuthorizationRule], allows: bool, pointer: Pointer) -> Decision:
    """Return the decision of rules in order; `allows` and `pointer` are those of the default."""
    open_rules: list[AuthorizationRule] = []
    last = AuthorizationRule(True, allows, pointer)
    for rule in rules:
        if rule.matches:
            last = rule
            break
        if rule.matches is None:
            open_rules.append(rule)
    others = [rule for rule in open_rules if rule.allows != last.allows]
    if others:
        return Decision("depends", others[0].pointer, others[0].on)
    return Decision("allowed" if last.allows else "denied", last.pointer)


def holds(expression: object, message: RequestFacts) -> bool | None:
    """Return whether a CEL expression holds for a request: a constant, or one comparison with what is known of it."""
    if not isinstance(expression, str):
        return expression if isinstance(expression, bool) else None
    if expression.strip() in ("true", "false"):
        return expression.strip() == "true"
    if match := _COMPARED.fullmatch(expression):
        field, operator, _, value = match.groups()
        return (_field(message, field) == value) == (operator == "==")
    if match := _STARTS.fullmatch(expression):
        field, _, value = match.groups()
        return _field(message, field).startswith(value)
    if match := _HEADER.fullmatch(expression):
        _, name, operator, _, value = match.groups()
        own = message.headers.get(name.lower())
        return None if own is None else (own == value) == (operator == "==")
    return None


def _field(message: RequestFacts, name: str) -> str:
    bare = message.path.partition("?")[0]
    return {"method": message.method, "host": message.host, "path": message.path, "url_path": bare}[name]


def has_header(message: RequestFacts, name: object, values: Any) -> bool:
    """Return whether a request has a header with one of some values."""
    return message.headers.get(text(name).lower(), None) in [str(value) for value in sequence(values)]
