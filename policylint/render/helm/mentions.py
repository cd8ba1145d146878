"""What the values of a chart say about policies and other objects that act on what they name, and what they read.

Source: GEP-713 (targetRef, targetRefs); the values of published charts, which name a kind in camel case
(`securityPolicy:`) or carry whole objects (`extraObjects`, `extraDeploy`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from policylint.model import mapping, sequence, text
from policylint.model.keys import is_symbolic
from policylint.model.unseen import Mention
from policylint.patterns import Pattern

_ACTING: Final = Pattern(r"[a-z](?:polic(?:y|ies)|authentications?|grants?)$")
"""How the names of kinds end that act on others, in lower case; `authentication:` alone is a setting of programs."""
_WRITTEN: Final = Pattern(r"^\s*(?:-\s+)?kind:\s*[\"']?([A-Za-z]+)")
OFF: Final[tuple[Any, ...]] = (None, False, "", {}, [])
_SWITCHES: Final = ("enabled", "create")
_MOST: Final = 64
"""Mentions of one chart that are kept; of more it is enough that there are some."""
_NAME: Final = Pattern(r"(?<![\w./:@-])((?:[a-z0-9-]+\.)+[a-z0-9-]+/[A-Za-z0-9][\w.-]*)(?![\w/@:-])(?![\\\"' ]*:)")
"""A name of annotations and labels in a text, which is no key of a mapping that is written there."""


def mentions(values: Any) -> tuple[Mention, ...]:
    """Return what values say, each once."""
    found: dict[Mention, None] = {}
    for mention in _mentions(values):
        found[mention] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def names_read(values: Any) -> frozenset[str]:
    """Return the names of annotations and labels that texts in values hold (`--annotation-filter=NAME in (…)`), and
    those that selectors ask for."""
    found: set[str] = set()
    pending = [values]
    while pending and len(found) < _MOST:
        value = pending.pop()
        if isinstance(value, str):
            if "/" in value:
                found.update(_NAME.findall(value))
        elif isinstance(value, list):
            pending.extend(item for item in value if isinstance(item, (dict, list, str)))
        elif isinstance(value, dict):
            found.update(name for name in mapping(value.get("matchLabels")) if isinstance(name, str))
            pending.extend(value.values())
    return frozenset(found)


def _mentions(values: Any) -> Iterator[Mention]:
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield from _in_text(value)
        elif isinstance(value, list):
            pending.extend(item for item in value if isinstance(item, (dict, list, str)))
        elif isinstance(value, dict):
            api_version, kind = value.get("apiVersion"), value.get("kind")
            if isinstance(api_version, str) and isinstance(kind, str):
                group, targets = api_version.rpartition("/")[0], _targets(mapping(value.get("spec")))
                yield Mention(kind.lower(), group, targets, kind)
                continue
            if "targetRef" in value or "targetRefs" in value:
                yield Mention("", "", _targets(value))
            for name, inner in value.items():
                if inner in OFF or (isinstance(inner, dict) and any(inner.get(each) is False for each in _SWITCHES)):
                    continue
                plain = name.replace("-", "").replace("_", "").lower() if isinstance(name, str) else ""
                if _ACTING.search(plain) and isinstance(inner, (dict, list, bool)):
                    yield Mention(_singular(plain), "", _targets(inner) if isinstance(inner, dict) else None, name)
                elif isinstance(inner, (dict, list, str)):
                    pending.append(inner)


def _in_text(value: str) -> Iterator[Mention]:
    """Yield the kinds of objects in a text that holds manifests."""
    if "kind:" in value and "apiVersion" in value:
        for line in value.splitlines():
            match = _WRITTEN.match(line)
            if match is not None:
                yield Mention(match[1].lower(), written=match[1])


def _targets(spec: Any) -> frozenset[str] | None:
    """Return the names that an object targets; None where it does not say them, or in a template."""
    references = [mapping(spec.get("targetRef")), *map(mapping, sequence(spec.get("targetRefs")))]
    names = [text(reference.get("name")) for reference in references if reference]
    if not names or any(not name or is_symbolic(name) for name in names):
        return None
    return frozenset(names)


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
