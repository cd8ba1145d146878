"""Recognise text that becomes YAML only after a template engine has run: Helm and Go templates, jinja, terraform, ERB,
FreeMarker, Mako, PHP, fields of Python's `format`, `%NAME%` and `@NAME@` that sed and configure scripts fill in, and
lines that envsubst fills in.

For chunks that could not be read only: `{{ }}` inside quoted strings, block scalars and comments is common in good
YAML (HelmRelease values, dashboards, ExternalSecrets).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from policylint.documents.problem import ENVSUBST
from policylint.patterns import Pattern

_STATEMENT: Final = r"%[ \t]*(?:if|elif|else|for|while|try|except|end[a-z]+)\b"
"""A line of Mako, which YAML takes for a directive."""
_TAG: Final = r"<%|<\?(?:php|=)|</?[#@]\w"
"""What opens a tag of ERB, PHP, FreeMarker."""
_FIELD: Final = r"\{[A-Za-z_]\w*(?:\.\w+|\[[\w.-]+\])+(?:![rsa])?\}|\{[A-Za-z_]\w*\}(?=[\w/.@-])|@[A-Z][A-Z0-9_]+@"
"""An attribute or item that Python fills in: `{images[web]}`; a name that somebody does, and what goes on after it:
`{username}/web`; what a configure script does."""
_FIELD_ALONE: Final = r"^[ \t]*(?:- )?\{[A-Za-z_]\w*\}[ \t]*\r?$"
"""A line that such a field is; within one it may as well be a mapping of one key."""
_NAME_ALONE: Final = r"^[ \t]*(?:- )?(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|__\w+__)[ \t]*\r?$"
"""A line that is a name for which sed puts whole lines: `CURRENT_NAMESPACE`."""
_MARK: Final = Pattern(
    rf"\{{\{{|\{{%|%\{{|{_TAG}|^[ \t]*{_STATEMENT}|%[A-Z][A-Z0-9_]+%|^[ \t]*(?:- )?\$\{{?\w+\}}?[ \t]*\r?$"
    rf"|{_FIELD}|{_FIELD_ALONE}|{_NAME_ALONE}",
    re.MULTILINE,
)
_CONTROL_LINE: Final = Pattern(rf"^(?:\{{\{{|\{{%|\{{#|%\{{|{_TAG}|{_STATEMENT})", re.MULTILINE)
_WHOLE_LINE: Final = Pattern(
    rf"^[ \t]*(?:- )?(?:\{{\{{.*\}}\}}|\{{%.*%\}}|\{{#.*#\}}|%\{{.*\}}|(?:{_TAG}).*>|\$\{{?\w+\}}?)[ \t]*\r?$"
    rf"|^[ \t]*{_STATEMENT}.*$|{_FIELD_ALONE}|{_NAME_ALONE}",
    re.MULTILINE,
)
# Character classes rather than `.*?`, which would take quadratic time over marks that are never closed.
_INLINE: Final = Pattern(
    r"\{\{[^{}]*\}\}|\{%[^%]*%\}|\{#[^#]*#\}|%\{[^{}]*\}|<%[^%]*%>|<\?(?:php|=)[^?]*\?>|</?[#@]\w[^<>]*>|%[A-Z][A-Z0-9_]+%"
    rf"|{_FIELD}"
)
_OTHERS: Final = Pattern(rf"{_TAG}|^[ \t]*{_STATEMENT}|{_FIELD}|{_FIELD_ALONE}", re.MULTILINE)
_NAMES_ALONE: Final = Pattern(_NAME_ALONE, re.MULTILINE)


def form_of(text: str, line: int, is_yaml: Callable[[str], bool]) -> str | None:
    """Return which template `text` is, given that reading it as YAML failed on its 0-based `line`; None if it is none.

    It is one if a mark stands at column 0 or on the offending line, or if the text becomes YAML without its marks and
    the text between them.
    """
    if _MARK.search(text) is None:
        return None
    lines = text.splitlines()
    offending = lines[line] if 0 <= line < len(lines) else ""
    if _CONTROL_LINE.search(text) or _MARK.search(offending) or is_yaml(_without_marks(text)):
        return _engine(text)
    return None


def _without_marks(text: str) -> str:
    return _INLINE.sub("x", _WHOLE_LINE.sub("", text))


def _engine(text: str) -> str:
    if "{%" in text or "{#" in text:
        return "jinja"
    if "{{" in text:
        return "helm-template"
    if "%{" in text:
        return "terraform-template"
    if "<%" in text:
        return "erb-template"
    if _OTHERS.search(text):
        return "other-template"
    if _NAMES_ALONE.search(text):
        return "sed-template"
    return ENVSUBST if _MARK.search(text.replace("%", "")) else "sed-template"
