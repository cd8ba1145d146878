"""What one rule of an Istio AuthorizationPolicy covers of another one (docs/design/implementations/istio.md §1).

A rule matches what one of its sources, one of its operations and all of its conditions match; a list of values matches
what one of them does, a `not` list what none does. Taken apart, a rule is a number of permits: fields with their
values, all of which must match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from policylint.model import mapping, sequence, text

Permit = Mapping[str, frozenset[str]]
"""Field, e.g. `from.principals`, → values. What is left out matches everything."""
_MOST = 64
"""A rule that comes to more permits of one value each is compared as it is written."""
_CLIENTS = ("from.", "when.source.", "when.request.auth.", "when.remote.")
_EVERY_ADDRESS = ("0.0.0.0/0", "::/0")


def permits(rule: Mapping[str, Any]) -> list[Permit]:
    """A rule taken apart: a source, an operation, all conditions."""
    sources = [_fields("from", mapping(mapping(each).get("source"))) for each in sequence(rule.get("from"))]
    operations = [_fields("to", mapping(mapping(each).get("operation"))) for each in sequence(rule.get("to"))]
    when: dict[str, frozenset[str]] = {}
    for each in map(mapping, sequence(rule.get("when"))):
        for name in ("values", "notValues"):
            values = frozenset(map(str, sequence(each.get(name))))
            field = f"when.{text(each.get('key'))}" + ("" if name == "values" else ".not")
            if values:
                when[field if field not in when else f"{field} {len(when)}"] = values
    return [{**source, **operation, **when} for source, operation in product(sources or [{}], operations or [{}])]


def _fields(part: str, values: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    return {f"{part}.{name}": frozenset(map(str, each)) for name, each in values.items() if sequence(each)}


def single(permit: Permit) -> list[Permit]:
    """A permit as several of one value each, as another policy may have written them."""
    listed = [(name, values) for name, values in permit.items() if not _is_negative(name)]
    count = 1
    for _, values in listed:
        count *= len(values)
    if count > _MOST:
        return [permit]
    rest = {name: values for name, values in permit.items() if _is_negative(name)}
    names = [name for name, _ in listed]
    return [
        {**rest, **{name: frozenset((value,)) for name, value in zip(names, chosen, strict=True)}}
        for chosen in product(*(sorted(values) for _, values in listed))
    ]


def covers(wide: Permit, narrow: Permit) -> bool:
    """Whether a permit matches all that another one matches, as far as their words tell."""
    for name, values in wide.items():
        theirs = narrow.get(name)
        if theirs is None:
            return False
        if _is_negative(name):
            covered = all(any(_takes(name, mine, each) for mine in theirs) for each in values)
        else:
            covered = all(any(_takes(name, mine, each) for mine in values) for each in theirs)
        if not covered:
            return False
    return True


def names_a_client(permit: Permit) -> bool:
    """Whether it asks who somebody is or where he comes from."""
    return any(name.startswith(_CLIENTS) and not values.intersection(_EVERY_ADDRESS) for name, values in permit.items())


def lost(wide: Permit, narrow: Permit) -> Iterator[str]:
    """What the wider of two permits asks no longer: fields that are gone, or that any value satisfies."""
    for name, values in narrow.items():
        now = wide.get(name)
        if now is None or (now != values and now.intersection(("*", *_EVERY_ADDRESS)) and not _is_negative(name)):
            yield name


def _is_negative(name: str) -> bool:
    return ".not" in name


def _takes(name: str, pattern: str, value: str) -> bool:
    if pattern in ("*", value):
        return True
    if "ocks" in name.rpartition(".")[2] or name.endswith("ip"):
        return _contains(pattern, value)
    if pattern.endswith("*"):
        return value.startswith(pattern[:-1])
    return pattern.startswith("*") and value.endswith(pattern[1:])


def _contains(wide: str, narrow: str) -> bool:
    from ipaddress import ip_network

    try:
        one, other = ip_network(wide, strict=False), ip_network(narrow, strict=False)
    except ValueError:
        return False
    return one.version == other.version and other.subnet_of(one)  # type: ignore[arg-type]
