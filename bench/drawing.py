"""Objects of any kind that has a schema here, drawn from it: fields that no example has yet.

What is drawn is valid by its schema, its rules included, so that the API server takes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

SCHEMAS = Path(__file__).parents[1] / "schemas" / "crds"
TRIES = 12
DEEP = 6
"""Levels of fields, beyond which only those are drawn that must be there."""
TEXTS = (
    "a",
    "b",
    "x-user",
    "web",
    "api",
    "shop",
    "/a",
    "/admin",
    "a.example.com",
    "*.example.com",
    "10s",
    "10.0.0.0/8",
    "admin",
)
KINDS = ("Gateway", "HTTPRoute", "GRPCRoute", "Service", "ConfigMap", "Secret")
OF_NAMES = {
    "kind": KINDS,
    "mergeType": ("StrategicMerge", "JSONMerge", "Replace"),
    "operator": ("In", "NotIn", "Exists", "DoesNotExist"),
    "sectionName": ("http", "https", "rule-1"),
}
NUMBERS = (0, 1, 2, 80, 443, 8080)
OF_FORMATS = {"date-time": "2026-01-01T00:00:00Z", "ipv4": "10.0.0.1", "cidr": "10.0.0.0/8", "byte": "YQ=="}


@cache
def kinds() -> tuple[tuple[str, str], ...]:
    """Return the group and the kind of everything that has a schema."""
    return tuple((file.parent.name, file.stem) for file in sorted(SCHEMAS.glob("*/*.json")))


def drawn(random: Random, group: str, kind: str, metadata: Mapping[str, Any], target: Any = None) -> Any:
    """Return a valid object of a kind, None where none is found by trying.

    Args:
        target: the reference to what it is attached to, where it has a place for one.
    """
    from policylint.schema.explain import explain
    from policylint.schema.known import read_shipped, shipped_schema

    content = read_shipped((SCHEMAS / group / f"{kind}.json").read_text(encoding="utf-8"))
    version = random.choice(sorted(content["versions"]))
    for known in shipped_schema(group, kind, version):
        spec = known.schema.get("properties", {}).get("spec", {})
        body: dict[str, Any] = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": dict(metadata)}
        body["spec"] = _value(random, spec, "spec", 0)
        if isinstance(body["spec"], dict) and target is not None:
            for name in body["spec"].keys() & {"targetRef", "targetRefs"} or spec.get("properties", {}).keys() & {
                "targetRefs"
            }:
                body["spec"][name] = [target] if name == "targetRefs" else target
        for _ in range(TRIES):
            if known.checker.is_valid(body):
                return body
            for violation in explain(known.schema, body, known.fuel):
                _mend(random, body, violation.pointer, missing=violation.code == "required")
    return None


def _mend(random: Random, body: dict[str, Any], pointer: Sequence[Any], *, missing: bool) -> None:
    """Take out what a schema does not take, or something of it."""
    steps = list(pointer[:-1] if missing else pointer)
    above: Any = None
    value: Any = body
    for step in steps:
        try:
            above, value = value, value[step]
        except (KeyError, IndexError, TypeError):
            return  # gone with another one
    if isinstance(value, dict) and len(value) > 1 and not missing and len(steps) > 0:
        del value[random.choice(sorted(value))]
    elif isinstance(value, list) and len(value) > 1:
        del value[random.randrange(len(value))]
    elif above is not None and len(steps) > 1:
        del above[steps[-1]]


def _value(random: Random, schema: Mapping[str, Any], name: str, depth: int) -> Any:
    if "enum" in schema:
        return random.choice([each for each in schema["enum"] if each != ""] or [""])
    branches = [each for word in ("oneOf", "anyOf") for each in schema.get(word, ())]
    typed = [each for each in branches if "type" in each or "enum" in each]
    if typed and "type" not in schema:
        return _value(random, random.choice(typed), name, depth)
    sort = schema.get("type")
    if sort == "object":
        return _fields(random, schema, branches, depth)
    if sort == "array":
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
        number = max(least, random.randint(min(1, most), max(most, least)) if depth < DEEP else least)
        return [_value(random, schema.get("items", {}), name, depth + 1) for _ in range(number)]
    if sort == "boolean":
        return random.random() < 0.5
    if sort in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 65535)
        return min(max(random.choice(NUMBERS), int(low)), int(high))
    fitting = [each for each in OF_NAMES.get(name, TEXTS) if _has_form(each, schema.get("pattern"))]
    return OF_FORMATS.get(str(schema.get("format"))) or random.choice(fitting or TEXTS)


def _has_form(text: str, pattern: str | None) -> bool:
    try:
        return pattern is None or re.search(pattern, text) is not None
    except re.error:
        return True  # of another dialect


def _fields(random: Random, schema: Mapping[str, Any], branches: list[Any], depth: int) -> dict[str, Any]:
    fields: Mapping[str, Any] = schema.get("properties", {})
    wanted = set(schema.get("required", ()))
    demanding = [each for each in branches if "required" in each]
    wanted |= set(random.choice(demanding)["required"]) if demanding else set()
    if depth < DEEP:
        share = 0.5 if depth < 2 else 0.25
        wanted |= {field for field in fields if random.random() < share}
    more = schema.get("additionalProperties")
    found = {field: _value(random, fields[field], field, depth + 1) for field in fields if field in wanted}
    if not fields and isinstance(more, Mapping):
        found = {text: _value(random, more, "", depth + 1) for text in ("a", "b")[: random.randint(1, 2)]}
    return found
