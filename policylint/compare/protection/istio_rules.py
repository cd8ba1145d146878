"""Rules of Istio AuthorizationPolicies, and whether one covers another (docs/design/implementations/istio.md §1).

A rule matches what one of its sources, one of its operations and all of its conditions match; a list of values matches
what one of them does, a `not` list what none does. Taken apart, a rule is a number of permits: fields with their
values, all of which must match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from policylint.model import mapping, sequence, text

Permit = Mapping[str, frozenset[str]]
"""Field, e.g. `from.principals`, → values; a field that is left out matches everything."""
_MOST = 64
"""Most permits of one value each that a rule is taken apart into; beyond, it is compared as it is written."""
_CLIENTS = ("from.", "when.source.", "when.request.auth.", "when.remote.")
_EVERY_ADDRESS = ("0.0.0.0/0", "::/0")


def permits(rule: Mapping[str, Any]) -> list[Permit]:
    """Take a rule apart into permits: a source, an operation and all conditions each."""
    sources = [_fields("from", mapping(mapping(source).get("source"))) for source in sequence(rule.get("from"))]
    operations = [_fields("to", mapping(mapping(operation).get("operation"))) for operation in sequence(rule.get("to"))]
    when: dict[str, frozenset[str]] = {}
    for condition in map(mapping, sequence(rule.get("when"))):
        for name in ("values", "notValues"):
            values = frozenset(map(str, sequence(condition.get(name))))
            field = f"when.{text(condition.get('key'))}" + ("" if name == "values" else ".not")
            if values:
                when[field if field not in when else f"{field} {len(when)}"] = values
    return [{**source, **operation, **when} for source, operation in product(sources or [{}], operations or [{}])]


def _fields(part: str, values: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the lists of a source or an operation as fields of a permit."""
    return {f"{part}.{name}": frozenset(map(str, listed)) for name, listed in values.items() if sequence(listed)}


def single(permit: Permit) -> list[Permit]:
    """Take a permit apart into permits of one value each, as another policy may have written them."""
    listed = {name: sorted(values) for name, values in permit.items() if not _is_negative(name)}
    if prod(map(len, listed.values())) > _MOST:
        return [permit]
    rest = {name: values for name, values in permit.items() if _is_negative(name)}
    return [
        {**rest, **{name: frozenset((value,)) for name, value in zip(listed, combination, strict=True)}}
        for combination in product(*listed.values())
    ]


def covers(wide: Permit, narrow: Permit) -> bool:
    """Return whether a permit matches all that another one matches, as far as their words tell."""
    for name, values in wide.items():
        narrow_values = narrow.get(name)
        if narrow_values is None:
            return False
        patterns, taken = (narrow_values, values) if _is_negative(name) else (values, narrow_values)
        if not all(any(_takes(name, pattern, value) for pattern in patterns) for value in taken):
            return False
    return True


def names_a_client(permit: Permit) -> bool:
    """Return whether a permit demands an identity or an origin of the client."""
    return any(name.startswith(_CLIENTS) and not values.intersection(_EVERY_ADDRESS) for name, values in permit.items())


def lost(wide: Permit, narrow: Permit) -> Iterator[str]:
    """Yield the demands of a permit that a wider one does not make: fields that are gone or satisfied by any value."""
    for name, values in narrow.items():
        now = wide.get(name)
        if now is None or (now != values and now.intersection(("*", *_EVERY_ADDRESS)) and not _is_negative(name)):
            yield name


def _is_negative(name: str) -> bool:
    """Return whether a field is a `not` list."""
    return ".not" in name


def _takes(name: str, pattern: str, value: str) -> bool:
    """Return whether a pattern of a field matches all that another value of it does."""
    if pattern in ("*", value):
        return True
    if "ocks" in name.rpartition(".")[2] or name.endswith("ip"):
        return _contains(pattern, value)
    if pattern.endswith("*"):
        return value.startswith(pattern[:-1])
    return pattern.startswith("*") and value.endswith(pattern[1:])


def _contains(wide: str, narrow: str) -> bool:
    """Return whether a CIDR contains another one; False where one is no CIDR."""
    from ipaddress import ip_network

    try:
        wide_network, narrow_network = ip_network(wide, strict=False), ip_network(narrow, strict=False)
    except ValueError:
        return False
    return wide_network.version == narrow_network.version and narrow_network.subnet_of(wide_network)  # type: ignore[arg-type]
