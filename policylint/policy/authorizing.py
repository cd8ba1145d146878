"""Whether policies let one request in: allowed, denied, or depending on what no manifest says.

One vocabulary of what is known of a request, and one list of decisions, for Gateways and the proxies of meshes alike.
What an implementation makes of a request stands in its own modules (`Implementation.decisions`, `admit`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import Node, Resource, sequence, text
from policylint.model.ternary import some
from policylint.namedtuple import NamedTuple

Answer = Literal["allowed", "denied", "depends"]
_COMPARED = re.compile(r"""\s*request\.(method|host|path|url_path)\s*(==|!=)\s*(["'])([^"'\\]*)\3\s*""")
_STARTS = re.compile(r"""\s*request\.(path|url_path|host)\.startsWith\(\s*(["'])([^"'\\]*)\2\s*\)\s*""")
_HEADER = re.compile(r"""\s*request\.headers\[\s*(["'])([\w-]+)\1\s*\]\s*(==|!=)\s*(["'])([^"'\\]*)\4\s*""")
_EVERYWHERE = ("0.0.0.0/0", "::/0")


def _nobody(_: Sequence[Resource]) -> tuple[Resource | None, bool]:
    return None, False


class RequestFacts(NamedTuple):
    """What is known of a request where it is asked about. Its address, and the claims of its token, never are.

    Args:
        headers: by name in lower case.
        port: that the proxy or the container listens on, None where it is not known.
        dialled: the port of the Service that the client asks for, None where it is not known.
        stream: whether it is no HTTP request.
        client: the workload or the Gateway that sends it; None for what is outside, or not in the tree.
        namespace: of the client; "" for what is outside of the mesh, None where it is not known.
        taker: which of some routes takes the request, and whether that is certain.
    """

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    port: int | None = None
    stream: bool = False
    client: Resource | None = None
    namespace: str | None = None
    taker: Callable[[Sequence[Resource]], tuple[Resource | None, bool]] = _nobody
    dialled: int | None = None

    @property
    def bare_path(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    def is_from(self, networks: Iterable[str]) -> bool | None:
        """Return whether the client's address is in one of some networks: certain only of those that hold all."""
        return some(True if network in _EVERYWHERE else None for network in networks)

    def has_header(self, name: object, values: Any) -> bool:
        """Return whether the request has a header with one of some values."""
        return self.headers.get(text(name).lower()) in [str(value) for value in sequence(values)]


class Checkpoint(NamedTuple):
    """A place where a request may be turned away.

    Args:
        path: a Gateway, a waypoint and the Service behind it, or a workload.
        resource: what stands at its end: the workload, or the Gateway or waypoint.
    """

    path: tuple[Node, ...]
    resource: Resource


class Decision(NamedTuple):
    """The answer of one policy, or of one place.

    Args:
        pointer: of what decides: below `by`, or below the effective spec where that is None.
        why: on what it depends, or why it is denied: `no ALLOW policy lets it in`.
        status: with which a request is denied.
        by: the policy that decides, or on which it depends, where one object does; None for a default.
        resets: whether the connection is cut, and no status answered.
    """

    answer: Answer
    pointer: Pointer = ()
    why: str = ""
    status: int = 403
    by: Resource | None = None
    resets: bool = False


class PlacedDecision(NamedTuple):
    """What the proxy at one place answers."""

    at: Checkpoint
    decision: Decision


class AuthorizationRule(NamedTuple):
    """One rule of a list in which the first match counts.

    Args:
        matches: None where that is not known.
        allows: what it says of requests that it matches.
        on: on what that depends where it is not known, else why it says so.
        by: the policy that holds it, where one object does.
    """

    matches: bool | None
    allows: bool
    pointer: Pointer
    on: str = ""
    by: Resource | None = None


def first_match(rules: Iterable[AuthorizationRule], default: AuthorizationRule) -> Decision:
    """Return the decision of rules in order; where none matches, of the default."""
    open_rules: list[AuthorizationRule] = []
    last = default
    for rule in rules:
        if rule.matches:
            last = rule
            break
        if rule.matches is None:
            open_rules.append(rule)
    doubt = next((rule for rule in open_rules if rule.allows != last.allows), None)
    if doubt is not None:
        return Decision("depends", doubt.pointer, doubt.on, by=doubt.by)
    why = "" if last.allows else last.on
    return Decision("allowed" if last.allows else "denied", last.pointer, why, by=last.by)


def otherwise(pointer: Pointer, on: str = "", by: Resource | None = None, *, allows: bool) -> AuthorizationRule:
    """Return the last rule of a list, which matches every request."""
    return AuthorizationRule(True, allows, pointer, on, by)


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
    return {"method": message.method, "host": message.host, "path": message.path, "url_path": message.bare_path}[name]
