"""Texts from manifests inside Markdown: a comment may be posted with a write token; it may hold anything."""

from __future__ import annotations

import re
from typing import Final

from policylint.patterns import Pattern
from policylint.report.kit.display import printable
from policylint.report.kit.secrets import masked

_NOTHING = "&#8203;"  # a space of no width: GitHub links mentions and issues in finished text, where entities are gone
_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
"""A dollar sign would begin a formula."""
_MARKUP: Final = str.maketrans({char: f"\\{char}" for char in "`|[]*_~\\"} | _HTML)
_IN_HTML: Final = str.maketrans(_HTML)
_LINK: Final = Pattern(r"(?i)@|(?<!&)#|\b(?:https?|ftp|mailto|xmpp):|\bwww(?=\.)|\bgh(?=-\d)|[0-9a-f]{6}(?=[0-9a-f])")
"""What GitHub makes a link of: mentions, issues, addresses, commits."""


def escape(text: str) -> str:
    """Return one line of Markdown that shows the text and does nothing: no markup, mention, link or table cell."""
    return _marked(_flat(text))


def html(text: str) -> str:
    """Return the text for the inside of an HTML element, where Markdown is not read."""
    return _inert(_flat(text).translate(_IN_HTML))


def _flat(text: str) -> str:
    return printable(" ".join(masked(text).split()))


def _marked(text: str) -> str:
    return _inert(text.translate(_MARKUP))


def _inert(text: str) -> str:
    return _LINK.sub(lambda match: match[0] + _NOTHING, text)


def code(text: str, *, table: bool = True) -> str:
    r"""Return the text as a code span whose fence is longer than any run of backticks inside.

    In a table even a pipe in a code span must be `\|`; a backslash before it would undo that and becomes a look-alike.
    """
    flat = _flat(text) or " "
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    if table:
        flat = re.sub(r"\\+(?=\|)", lambda match: "\uff3c" * len(match[0]), flat).replace("|", "\\|")
    return f"{fence}{pad}{flat}{pad}{fence}"


def spoken(text: str, *, table: bool = True) -> str:
    """Return a message as Markdown: what it quotes in backticks stays code, all else is escaped."""
    parts = re.split(r"(`[^`]+`)", _flat(text))
    return "".join(code(part[1:-1], table=table) if re.fullmatch(r"`[^`]+`", part) else _marked(part) for part in parts)
