"""GWP325 for texts that proxies run and that say less: a snippet without its `deny all;`, a filter that is gone.

Such texts are not evaluated. What is compared is their statements: a directive, or a word such as the name of a filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.compare.pairing import Sides
from policylint.model import Finding, PolicyKind, Resource, mapping, value_at
from policylint.model.words import listing
from policylint.patterns import Pattern
from policylint.simulation import Simulation

RULE = "GWP325"
_LONGEST = 60
_SNIPPETS = {("networking.k8s.io", "Ingress"): ("metadata", "annotations"), ("", "ConfigMap"): ("data",)}
_ENDS = Pattern(r"[;\n]")
_GUARDS = Pattern(
    r"rate_?limit|\blimit_(req|conn|rate)|rbac|jwt|ext_?auth|basic_?auth|\bauth|csrf|\bdeny\b|\bsatisfy\b"
    r"|_verify\b|secrule|modsecurity|coraza|\bwaf\b|return\s+4\d\d|respond\S*\s*\(?.{0,40}4(01|03|29)|forbid",
    2,  # re.IGNORECASE
)
_OPENS = Pattern(r"detectiononly|\b(off|optional|none)\b|allow\s+all|satisfy\s+any|0\.0\.0\.0/0", 2)


def statements_lost(sides: Sides) -> Iterator[Finding]:
    """Yield the texts that acted and hold a statement no longer that kept requests out, by its words."""
    before, after, pairing = sides
    for group, name in before.world.kinds():
        kind = before.catalog.get(group, name)
        if kind is None or not (kind.settings.raw or kind.settings.code):
            continue
        for old in before.world.of_kind(group, name):
            new = after.world.get(pairing.key(old.key))
            idle = new is not None and _acts(before, old) and not _acts(after, new) and _is_left(sides, old)
            if new is not None and new.body is old.body and not idle:
                continue
            said, says = _statements(kind, old), set() if new is None or idle else _statements(kind, new)
            lost = sorted(_lost(said, says))
            if lost and _acts(before, old) and not _is_elsewhere(sides, kind, lost, old):
                yield _finding(sides, old, new, lost, idle=idle)
    yield from _snippets_lost(sides)


def _snippets_lost(sides: Sides) -> Iterator[Finding]:
    """Yield the Ingresses, and settings for all of them, whose snippets lost such a statement."""
    for (group, name), place in _SNIPPETS.items():
        for old, new in sides.edited(group, name):
            said, says = (_split(_snippets(value_at(each.body, place))) for each in (old, new))
            lost = sorted(_lost(said, says))
            if lost:
                yield _finding(sides, old, new, lost)


def _snippets(named: Any) -> list[str]:
    return [text for name, text in mapping(named).items() if "snippet" in name and isinstance(text, str)]


def _lost(said: set[str], says: set[str]) -> Iterator[str]:
    """Yield the statements that kept requests out and are not said any more, nor said otherwise."""
    for text in said - says:
        replaced = any(_directive(text) == _directive(other) for other in _tame(says - said))
        if _GUARDS.search(text) and not replaced:
            yield text


def _tame(texts: set[str]) -> Iterator[str]:
    """Yield the statements that do not switch anything off."""
    return (text for text in texts if not _OPENS.search(text))


def _directive(text: str) -> str:
    return text.split(None, 1)[0].lower()


def _statements(kind: PolicyKind, resource: Resource) -> set[str]:
    """Return the statements in the texts of an object, with single spaces."""
    body = resource.spec if "spec" in resource.body else resource.body
    fields = (*kind.settings.raw, *kind.settings.code)
    texts: list[str] = []
    for field in fields:
        value: Any = body
        for step in field.split(".") if field not in ("*", "plugin=*") else ():
            value = value.get(step) if isinstance(value, dict) else None
        texts += _texts(value)
    return _split(texts)


def _split(texts: Iterable[str]) -> set[str]:
    parts = (" ".join(part.split()) for text in texts for part in _ENDS.split(text))
    return {part for part in parts if part and not part.startswith(("#", "--", "//"))}


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts that a value holds, but those that say where something acts."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            stack += (inner for name, inner in each.items() if name not in ("targetRefs", "targetRef", "selector"))
        elif isinstance(each, list):
            stack += each


def _acts(side: Simulation, resource: Resource) -> bool:
    state = side.policies.get(resource.key)
    return (state is not None and bool(state.groups)) or any(each.wanted == resource.key for each in side.bindings)


def _is_left(sides: Sides, old: Resource) -> bool:
    """Tell whether something that a text acted on is still there."""
    state = sides.before.policies.get(old.key)
    nodes = [node for group in state.groups for path in group.contexts() for node in path] if state is not None else []
    return any(sides.after.world.get(sides.pairing.key(node.key)) is not None for node in nodes)


def _is_elsewhere(sides: Sides, kind: PolicyKind, lost: list[str], old: Resource) -> bool:
    """Tell whether another object of the kind, new or changed, holds what is lost."""
    others = (
        _statements(kind, each)
        for each in sides.after.world.of_kind(kind.group, kind.kind)
        if each.key != sides.pairing.key(old.key)
        and ((was := sides.before.world.get(sides.pairing.was(each.key))) is None or was.body is not each.body)
    )
    return any(set(lost) <= statements for statements in others)


def _finding(sides: Sides, old: Resource, new: Resource | None, lost: list[str], *, idle: bool = False) -> Finding:
    shown = listing((f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}`" for text in lost), most=3)
    if new is None:
        said = f"{old.key} is gone, and with it {shown}"
    elif idle:
        said = f"{new.key} no longer acts where it did, and with it {shown}"
    else:
        said = f"{new.key} no longer says {shown}"
    return Finding(
        RULE,
        "warning",
        said,
        (old if new is None else new).name_location,
        resources=(old.key if new is None else new.key,),
        label="not evaluated; to judge by the words, it rejected requests",
        environments=(sides.after.world.name,),
    )


__all__ = ["statements_lost"]
