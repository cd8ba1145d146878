"""Whether two values say the same, however they are written: `60s` and `1m`, `1Gi` and `1024Mi`, networks in halves,
blanks at ends, names of headers in capitals, alternatives in another order, and expressions in fields that hold them:
in other quotes, with other blanks, terms in another order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from policylint.model.quantities import milliseconds, number_of_bytes
from policylint.spaces.addresses import cidr, joined

_SUFFIXES = ("k", "M", "G", "i")
"""How quantities end that other ones may equal: `1Gi` is `1024Mi`."""
_EXPRESSIONS = frozenset({"booleanExpr", "cel", "celExpression", "expression", "matchExpressions", "predicate"})
"""Fields whose texts are expressions of CEL, or of names that `&&` and `||` connect."""
_NAMING = re.compile(r"header(_?name)?s?$|header_?modifier$|^headersto", re.IGNORECASE)
"""Fields that name headers, in whatever letters (RFC 9110, section 5.1): `header`, `allowHeaders`, `headersToBackend`,
`responseHeaderModifier`."""
_AMONG = frozenset({"add", "append", "overwrite", "remove", "request", "response", "set"})
"""Fields below these that do as well: what is done to headers, and of what."""
_SETS = frozenset(
    {
        *("audiences", "hosts", "methods", "namespaces", "paths", "policyTypes", "ports", "principals"),
        *("requestPrincipals", "serviceAccounts", "trustDomains", "values"),
        *("notHosts", "notMethods", "notNamespaces", "notPaths", "notPorts", "notPrincipals", "notRequestPrincipals"),
        *("notServiceAccounts", "notTrustDomains", "notValues"),
    }
)
"""Fields whose texts are alternatives wherever they stand, so that their order says nothing."""
_NAMES = re.compile(r"[\w!#$%&'*+.^`|~-]+( *, *[\w!#$%&'*+.^`|~-]+)*")


def same_value(left: Any, right: Any, field: str = "") -> bool:
    """Return whether two values are equal as JSON has it, `1` is not `true`, or say the same.

    Args:
        field: the name of the field that holds them.
    """
    return encoded(left) == encoded(right) or encoded(meaning(left, field)) == encoded(meaning(right, field))


def encoded(value: object) -> str:
    """Return a value as a text that equal values alone share, whatever the order of their fields."""
    return json.dumps(value, sort_keys=True, default=str)


def meaning(value: Any, field: str = "") -> Any:
    """Return a value as one of all that say the same.

    Args:
        field: the name of the field that holds it.
    """
    names = _NAMING.search(field) is not None
    if isinstance(value, dict):
        return _fields(value, field if names else "")
    if isinstance(value, list):
        if field in _SETS and all(isinstance(each, str) for each in value):
            return _addresses(value) or sorted({str(meaning(each, field)) for each in value})
        return _addresses(value) or [meaning(each, field) for each in value]
    if not isinstance(value, str):
        return value
    if names and _NAMES.fullmatch(value):
        return value.lower()
    if field in _EXPRESSIONS:
        return _expression(value)
    if field == "rego":
        return _rego(value)
    length = milliseconds(value)
    if length is not None:
        return f"{length}ms"
    if value[-1:] in _SUFFIXES and (size := number_of_bytes(value)) is not None:
        return size
    if networks := _addresses([each.strip() for each in value.split(",")]):
        return ",".join(networks)
    return "\n".join(line.rstrip() for line in value.rstrip().split("\n"))


def _fields(value: dict[Any, Any], headers: str) -> dict[Any, Any]:
    """Return the fields of an object; where it is about headers, its keys may name them, and so does `name`.

    Args:
        headers: the field that names headers and holds the object, "" for another one.
    """
    said = {}
    for key, inner in value.items():
        name = str(key)
        if headers:
            name = headers if name in _AMONG else "header" if name == "name" else "" if "-" in name else name
        said[str(key).lower() if headers else key] = meaning(inner, name)
    return said if len(said) == len(value) else {name: meaning(inner) for name, inner in value.items()}


def _expression(value: str) -> Any:
    """Return what an expression says, a text that is none as it is."""
    from policylint.cel.implication import canonical

    said = canonical(value)
    return value.strip() if said is None else said


def without_comments(lines: Iterable[str], marks: tuple[str, ...] = ("#", "//")) -> list[str]:
    """Return the lines of a text that say something: neither empty ones, nor comments."""
    return [line for line in lines if line.strip() and not line.lstrip().startswith(marks)]


def _rego(value: str) -> str:
    """Return a module of Rego without its comments, indents and empty lines, as it is where a string may hold a `#` or
    run over lines. https://www.openpolicyagent.org/docs/policy-language «Comments», «Strings»"""
    lines = value.splitlines()
    if "`" in value or any('"' in line.partition("#")[0] and "#" in line for line in lines):
        return value.rstrip()
    spoken = without_comments(lines, ("#",))
    bare = (" ".join(line.partition("#")[0].split()) if '"' not in line else line.strip() for line in spoken)
    return "\n".join(bare)


def _addresses(listed: list[Any]) -> list[str]:
    """Return the ranges of addresses that a list of networks holds, nothing where it is no such list."""
    if not all(isinstance(each, str) and "/" in each for each in listed):
        return []
    ranges = [cidr(each) for each in listed]
    return [] if None in ranges else [str(each) for each in joined(filter(None, ranges))]


__all__ = ["encoded", "meaning", "same_value", "without_comments"]
