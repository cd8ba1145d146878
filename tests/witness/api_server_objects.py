"""Objects for the API server: of every kind with a shipped schema, valid and not, drawn from the schemas themselves."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from policylint.schema.known import shipped_schema
from tests.witness.grammar import Draw, Manifest

SCHEMAS = Path(__file__).parents[2] / "schemas" / "crds"
WORDS = (
    *(
        "a",
        "web",
        "main",
        "b-1",
        "A",
        "a.example",
        "*.example",
        "sub.a.example",
        "https://a.example/x",
        "http://a",
        "/",
    ),
    *("/a", "/a/b", "x-a", "1s", "5m", "100ms", "0s", "1h30m", "32Ki", "1Gi", "10", "80", "443", "50%", "10.0.0.0/8"),
    *("10.0.0.1", "2001:db8::/32", "::1", "X", "a/b", "true", "self.x", "cluster.local/ns/a/sa/b", "", "_a", "a b"),
    *("v1", "2026-01-01T00:00:00Z", "sha256:" + "0" * 64, "POST", "GET", "application/json", "200", "5XX"),
)
BY_FIELD: Mapping[str, tuple[Any, ...]] = {
    "group": ("gateway.networking.k8s.io", "gateway.networking.k8s.io", "", "gateway.envoyproxy.io", "apps"),
    "kind": (
        "Gateway",
        "HTTPRoute",
        "HTTPRoute",
        "Service",
        "GRPCRoute",
        "Secret",
        "ConfigMap",
        "ListenerSet",
        "Backend",
    ),
    "name": ("a", "web", "main", "b-1"),
    "namespace": ("a", "default"),
    "port": (80, 443, 8080, 0, 70000),
    "protocol": ("HTTP", "HTTPS", "TLS", "TCP", "UDP"),
}
"""What fields of these names often say, so that some objects keep the rules on them."""
_JUNK: tuple[Any, ...] = ("x", "", 1, -1, 1.5, True, None, [], {}, ["x"], {"x": 1}, 2**40, "y" * 300)
_DEPTH = 7


@cache
def kinds() -> tuple[tuple[str, str, str], ...]:
    """Return group, kind and version of every shipped schema."""
    return tuple(_kinds())


def _kinds() -> Iterator[tuple[str, str, str]]:
    from policylint.schema.known import read_shipped

    for path in sorted(SCHEMAS.glob("*/*.json")):
        versions = read_shipped(path.read_text(encoding="utf-8")).get("versions", {})
        yield from ((path.parent.name, path.stem, version) for version in sorted(versions))


def world(seed: str, number: int) -> list[Manifest]:
    """Return an object of every kind and version."""
    return [_drawn(Draw("api-server", seed, number, *kind), *kind) for kind in kinds()]


def _drawn(draw: Draw, group: str, kind: str, version: str) -> Manifest:
    (known, *_) = shipped_schema(group, kind, version)
    body: Manifest = _value(draw, known.schema, "", 0)
    body |= {"apiVersion": f"{group}/{version}", "kind": kind}
    body["metadata"] = {"name": "one", "namespace": "default"}
    body.pop("status", None)
    for _ in range(draw.one(0, 0, 1, 1, 2)):
        _spoil(draw, body)
    return body


def _value(draw: Draw, schema: Mapping[str, Any], field: str, depth: int) -> Any:
    if "enum" in schema and draw.often(0.97):
        return copy.deepcopy(draw.of(schema["enum"]))
    if "default" in schema and draw.often(0.3):
        return copy.deepcopy(schema["default"])
    types = schema.get("type") or ("object" if "properties" in schema else "string")
    kind = draw.of([each for each in types if each != "null" or draw.often(0.1)]) if isinstance(types, list) else types
    if kind == "object":
        return _fields(draw, schema, depth)
    if kind == "array":
        least = schema.get("minItems", 0)
        count = draw.number(least, min(schema.get("maxItems", 99), least + 2))
        return [_value(draw, schema.get("items", {}), field, depth + 1) for _ in range(count)]
    if kind == "boolean":
        return draw.often(0.5)
    if kind in ("integer", "number"):
        return _number(draw, schema, field)
    return None if kind == "null" else _text(draw, schema, field)


def _fields(draw: Draw, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = set(schema.get("required", ()))
    for name in ("anyOf", "oneOf"):
        alternatives = [each["required"] for each in schema.get(name, ()) if "required" in each]
        required |= set(draw.of(alternatives)) if alternatives and draw.often(0.9) else set()
    wanted = 0.9 if depth == 0 else 3 / (3 + len(properties))
    chosen = [
        name
        for name in properties
        if name not in ("apiVersion", "kind", "metadata", "status")
        and (name in required or (depth < _DEPTH and draw.often(wanted)))
    ]
    made = {name: _value(draw, properties[name], name, depth + 1) for name in chosen}
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        made |= {name: _value(draw, extra, name, depth + 1) for name in draw.some(("a", "b", "x.io/c"), 2, 0)}
    return made


def _number(draw: Draw, schema: Mapping[str, Any], field: str) -> int:
    if field in BY_FIELD and isinstance(BY_FIELD[field][0], int) and draw.often(0.7):
        return int(draw.of(BY_FIELD[field]))
    least, most = schema.get("minimum", 0), schema.get("maximum", 1000)
    return int(draw.one(least, most, least + 1, min(least + 10, most), least - 1 if draw.often(0.1) else least))


def _text(draw: Draw, schema: Mapping[str, Any], field: str) -> str:
    pool = tuple(each for each in BY_FIELD.get(field, ()) if isinstance(each, str))
    pool = pool if pool and draw.often(0.85) else WORDS
    pattern, least, most = schema.get("pattern", ""), schema.get("minLength", 0), schema.get("maxLength", 999)
    fitting = [each for each in pool if least <= len(each) <= most and _matches(pattern, each)]
    return draw.of(fitting) if fitting else draw.of(WORDS)


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _spoil(draw: Draw, body: Manifest) -> None:
    """Change one thing somewhere below the object's own fields."""
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [
        {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}
    ]
    holders = waiting[:]
    while waiting:
        holder = waiting.pop()
        for step in holder if isinstance(holder, dict) else range(len(holder)):
            places.append((holder, step))
            if isinstance(holder[step], dict | list):
                waiting.append(holder[step])
    if not places:
        body["spec"] = copy.deepcopy(draw.of(_JUNK))
        return
    holder, step = draw.of(places)
    what = draw.one("drop", "junk", "junk", "unknown", "twice")
    if what == "drop":
        del holder[step]
    elif what == "junk":
        holder[step] = copy.deepcopy(draw.of(_JUNK))
    elif what == "unknown" and isinstance(holder, dict):
        holder[f"{step}s"] = copy.deepcopy(draw.of(_JUNK))
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[step]))
    (top,) = holders
    for name in [each for each in body if each not in ("apiVersion", "kind", "metadata")]:
        del body[name]
    body.update(top)
