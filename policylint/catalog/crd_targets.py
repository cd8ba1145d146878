"""The kinds that a CRD's schema lets a policy target: from enums and plain validation rules of its references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, product
from typing import Any

from policylint.catalog.crd_shape import TARGET_FIELDS
from policylint.model.policy_kind import TargetKind
from policylint.model.resource import mapping, sequence, text, texts
from policylint.patterns import Pattern

_WORD = r"(?:self\.targetRef\.|\w+\.)?"
_EQUAL = Pattern(_WORD + r"(group|kind)\s*==\s*['\"]([^'\"]*)['\"]")
_IN = Pattern(_WORD + r"(group|kind)\s+in\s+\[([^\]]*)\]")
_QUOTED = Pattern(r"['\"]([^'\"]*)['\"]")
_GUARD = Pattern(
    r"^!?\s*has\(self\.target\w+\)\s*\?\s*(?P<body>.*?)\s*:\s*true$|^!has\(self\.target\w+\)\s*\|\|\s*(?P<rest>.*)$"
)
_ALL = Pattern(r"^self(?:\.target\w+)?\.all\(\s*\w+\s*,\s*(?P<body>.*)\)$")


def target_kinds(spec: Mapping[str, Any]) -> tuple[TargetKind, ...]:
    """Return the target kinds of a spec's schema; empty where the schema does not say.

    Read are enums of the references' `group` and `kind`, and CEL rules made of nothing but comparisons of the two.
    Rules with further conditions bind only some policies of the kind and are left alone.
    """
    properties = mapping(spec.get("properties"))
    groups: set[str] = set()
    kinds: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    sections = False
    for field in TARGET_FIELDS:
        schema = mapping(properties.get(field))
        reference = mapping(schema.get("items", schema))
        parts = mapping(reference.get("properties"))
        sections = sections or "sectionName" in parts
        groups.update(texts(mapping(parts.get("group")).get("enum")))
        kinds.update(texts(mapping(parts.get("kind")).get("enum")))
        for rule in (*_rules(schema), *_rules(reference)):
            _apply(rule, groups, kinds, pairs)
    for rule in _rules(spec):
        if "self.target" in rule:
            _apply(rule, groups, kinds, pairs)
    if pairs:
        return tuple(TargetKind(group, kind, sections) for group, kind in sorted(pairs))
    return tuple(TargetKind(group, kind, sections) for group in sorted(groups or {"*"}) for kind in sorted(kinds))


def _apply(rule: str, groups: set[str], kinds: set[str], pairs: set[tuple[str, str]]) -> None:
    """Add what one rule allows."""
    clauses = list(_clauses(rule))
    if all(group and kind for group, kind in clauses):
        pairs.update(pair for group, kind in clauses for pair in product(group, kind))
    elif not any(kind for _, kind in clauses):
        groups.update(chain.from_iterable(group for group, _ in clauses))
    elif not any(group for group, _ in clauses):
        kinds.update(chain.from_iterable(kind for _, kind in clauses))


def _clauses(rule: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the alternatives of a rule as (groups, kinds); nothing where it says more than that."""
    body = " ".join(rule.split())
    guard = _GUARD.match(body)
    if guard is not None:
        body = guard.group("body") or guard.group("rest") or ""
    all_match = _ALL.match(body)
    if all_match is not None:
        body = all_match.group("body")
    alternatives = []
    for clause in body.split("||"):
        values_by_name: dict[str, list[str]] = {"group": [], "kind": []}
        for name, value in _EQUAL.findall(clause):
            values_by_name[name].append(value)
        for name, values in _IN.findall(clause):
            values_by_name[name].extend(_QUOTED.findall(values))
        remainder = _IN.sub("", _EQUAL.sub("", clause))
        if remainder.strip("()& ") or not (values_by_name["group"] or values_by_name["kind"]):
            return
        alternatives.append((values_by_name["group"], values_by_name["kind"]))
    yield from alternatives


def _rules(schema: Mapping[str, Any]) -> list[str]:
    """Return the CEL rules of a schema."""
    return [text(mapping(validation).get("rule")) for validation in sequence(schema.get("x-kubernetes-validations"))]
