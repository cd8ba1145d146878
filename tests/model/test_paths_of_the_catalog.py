"""What the catalog says of fields is said of fields that there are, and of the defaults that they have.

A path that no shipped schema of its kind knows is a promise that nobody keeps (`httpRules`, where the field is
`rules`), and a field that is left out counts as what the API server fills in, not as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.catalog.naming import groups_with_schemas, shipped_schemas
from policylint.model import PolicyKind, mapping
from policylint.model.weakness import Weakness
from policylint.schema.known import _shipped

OTHERWISE: Mapping[str, str] = {
    r"^AgentgatewayPolicy:preRouting\.": "where its implementation keeps `traffic` of the earlier phase",
    r"^ListenerPolicy:(httpSettings|proxyProtocol)\.": "below `default` and `perPort`, as it is handed on",
    r"^TrafficPolicy:jwtAuth\.providers\.": "those of the GatewayExtension that it names",
    r"^IAMAuthPolicy:policy\.": "below a document in a text",
    r"^KongConsumer:(credentials|consumerGroups)\.": "right below the object",
    r"^(RouteOption|VirtualHostOption):options\.wasm$": "of releases whose CRDs are not shipped",
    r"^BackendTrafficPolicy:rateLimit\.\*\.": "local and global alike",
    r"^AuthPolicy:(defaults\.|overrides\.)?rules\.\*\.": "all sorts of rules alike",
    r"^GCPAuthzPolicy:rules\.\*\.(from|to)\.\w+\.\*\.\*\.": "paths, hosts and headers alike",
    r"^DestinationRule:\*\*\.credentialNames": "of Gateways: the entry is for both",
}
"""Paths that no schema has, by kind and path, with why."""
UNSTATED: Mapping[str, str] = {
    r"^EnvoyFilter:configPatches": "neither order holds for operations of other sorts",
    r"^AuthorizationPolicy:rules\.\*\.when": "a condition without a key is refused",
    r"^PeerAuthentication:mtls": "what is unset is inherited, and connections tell",
    r"^TrafficPolicy:acl\.defaultAction": "the API asks for it",
    r"^TargetGroupConfiguration:protocol": "the listener's is taken, which the object does not show",
    r"^GCPAuthzPolicy:enforcementLevel": "not documented",
}
"""Orders of enumerations that do not say where a field stands that is left out, with why."""


def leads(schema: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Tell whether a schema has a field at a path, or takes any field on the way."""
    if not path or (not schema.get("properties") and "items" not in schema and not _is_closed(schema)):
        return True
    step, rest = path[0], path[1:]
    fields, entries = mapping(schema.get("properties")), (schema.get("items"), schema.get("additionalProperties"))
    listed = [each for each in entries if isinstance(each, dict) and each]
    if step == "**":
        return leads(schema, rest) or any(leads(each, path) for each in (*fields.values(), *listed))
    if step == "*":
        return any(leads(each, rest) for each in listed)
    return leads(fields[step], rest) if step in fields else any(leads(each, rest) for each in listed if not fields)


def _is_closed(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema without fields is one of a plain value, or of a map."""
    return "additionalProperties" in schema or str(schema.get("type")) not in ("object", "None")


def at(schema: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema at a path, empty where there is none."""
    for step in path:
        inner = schema.get("items") or schema.get("additionalProperties") if step == "*" else None
        schema = mapping(inner if step == "*" else mapping(schema.get("properties")).get(step))
    return schema


@cache
def kinds() -> list[tuple[PolicyKind, tuple[Mapping[str, Any], ...]]]:
    """Return the kinds with the schemas of their settings, in all versions and wrappers."""
    return list(_kinds())


def _kinds() -> Iterator[tuple[PolicyKind, tuple[Mapping[str, Any], ...]]]:
    catalog = load_catalog()
    for group in sorted(groups_with_schemas()):
        for file in sorted(shipped_schemas(group)):
            kind = catalog.get(group, file)
            if kind is None:
                continue
            versions = [each for each in _shipped(group, file)["versions"].values() if not isinstance(each, str)]
            fields = [mapping(each.get("properties")) for each in versions]
            specs = [mapping(each.get("spec")) or {"properties": each} for each in fields]
            within = [at(spec, (wrapper,)) for spec in specs for wrapper in kind.merge.wrappers]
            yield kind, (*specs, *filter(None, within))


def _beside(weak: Weakness, field: str) -> str:
    """Return the path of a field that `where` names."""
    steps = weak.path.split(".")
    near = steps[: len(steps) - steps[::-1].index("*")] if "*" in steps else []
    return field[1:] if field.startswith("/") else ".".join((*near, field))


def stated(kind: PolicyKind) -> Iterator[str]:
    """Yield the paths that the entry of a kind states."""
    for weak in kind.weaker:
        yield weak.path
        yield from (each.partition("=")[0] for each in (*weak.unless, weak.instead) if each)
        yield from (_beside(weak, field) for field in weak.where)
        yield from (f"{weak.path}.*.{field}" for field in weak.entries)
        if weak.rate is not None:
            yield from (f"{weak.path}.{each}" for each in (weak.rate.number, weak.rate.each) if each not in ("", "."))
    purposes = kind.settings
    listed = (purposes.authentication, purposes.authorization, purposes.protection, purposes.optional)
    for path in (*kind.idle, *(path for paths in (*listed, purposes.code, purposes.raw) for path in paths)):
        yield path.partition("=")[0]
    yield from (field.path for field in kind.refers)
    yield from (path for each in kind.refuses for path in each.paths)
    yield from (each.path for each in (*kind.misleads, *kind.consumes))
    yield from (*kind.merge.units, *kind.merge.maps, *kind.merge.lists, *kind.required, *kind.conflict_fields)


def reason(table: Mapping[str, str], place: str) -> str:
    return next((why for pattern, why in table.items() if re.search(pattern, place)), "")


def nowhere() -> Iterator[str]:
    for kind, schemas in kinds():
        for path in dict.fromkeys(stated(kind)):
            if path not in ("", "*") and not any(leads(each, path.split(".")) for each in schemas):
                yield f"{kind.kind}:{path}"


def test_every_path_of_an_entry_is_one_of_its_schema() -> None:
    assert [each for each in nowhere() if not reason(OTHERWISE, each)] == []


def test_the_paths_are_many() -> None:
    assert sum(len(set(stated(kind))) for kind, _ in kinds()) > 700


@pytest.mark.parametrize("pattern", OTHERWISE)
def test_no_reason_is_given_for_nothing(pattern: str) -> None:
    assert any(re.search(pattern, each) for each in nowhere())


def defaulted() -> Iterator[tuple[str, Weakness, Any]]:
    """Yield the weaknesses of fields that have a default, with it; None where the schema states none."""
    for kind, schemas in kinds():
        for weak in kind.weaker:
            found = [field for each in schemas if (field := at(each, weak.path.split(".")))]
            if found:
                yield f"{kind.kind}:{weak.path}", weak, found[-1].get("default")


def test_orders_begin_with_what_the_api_server_fills_in() -> None:
    """`unset` is as strong as the default; a limit's is the default itself."""
    wrong, many = [], 0
    for place, weak, default in defaulted():
        ranked = [default in step for step in weak.order]
        if default is not None and (True in ranked or weak.grows or weak.shrinks):
            many += 1
            told = [weak.unset in step for step in weak.order] == ranked if ranked else weak.unset == default
            wrong += [] if told else [f"{place}: {default}"]
    assert not wrong
    assert many > 10


def test_orders_of_words_say_what_holds_without_them() -> None:
    left = [
        place
        for place, weak, _ in defaulted()
        if weak.order and weak.unset is None and not weak.instead and not reason(UNSTATED, place)
    ]
    assert not left


def test_conditions_hold_where_the_default_does() -> None:
    """A `where` that holds for the default holds for a field that is left out."""
    wrong, many = [], 0
    for kind, schemas in kinds():
        for weak in kind.weaker:
            for field, expected in weak.where.items():
                values = expected if isinstance(expected, list) else [expected]
                for schema in schemas:
                    default = at(schema, _beside(weak, field).split(".")).get("default")
                    many += default is not None
                    if default is not None and (default in values) != (None in values):
                        wrong.append(f"{kind.kind}: {weak.path} where {field} is {values}, by default {default}")
    assert not wrong
    assert many > 10


def test_numbers_of_limits_have_their_defaults() -> None:
    for kind, schemas in kinds():
        for weak in kind.weaker:
            if weak.rate is not None and weak.rate.number != ".":
                for schema in schemas:
                    default = at(schema, (*weak.path.split("."), *weak.rate.number.split("."))).get("default")
                    assert default in (None, weak.unset), f"{kind.kind}: {weak.path}"
