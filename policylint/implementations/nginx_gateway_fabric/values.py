"""Values that NGINX Gateway Fabric refuses: sizes, durations, rates and buffers that NGINX could not read.

Source: the patterns of the CRDs and nginx/config/policies/<kind>/validator.go;
docs/design/implementations/kgateway-nginx-gloo.md §1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import PolicyKind, holds_variable, mapping
from policylint.patterns import Pattern
from policylint.policy.declared import Reading
from policylint.policy.results import Declared
from policylint.policy.units import leaves

_SIZE = Pattern(r"\d{1,4}[kmg]?")
_PATTERNS = {
    "size": _SIZE,
    "duration": re.compile(r"[0-9]{1,4}(ms|s|m|h)?"),
    "rate": re.compile(r"\d+r/[sm]"),
    "variable": re.compile(r"\$[a-z_]+"),
}
_FORMATS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ClientSettingsPolicy": {
        "size": ("body.maxSize", "body.bufferSize"),
        "duration": (
            *("body.timeout", "keepAlive.time", "keepAlive.minTimeout"),
            *("keepAlive.timeout.server", "keepAlive.timeout.header"),
        ),
    },
    "ProxySettingsPolicy": {
        "size": ("buffering.bufferSize", "buffering.buffers.size", "buffering.busyBuffersSize"),
        "duration": ("timeout.connect", "timeout.read", "timeout.send"),
    },
    "UpstreamSettingsPolicy": {
        "size": ("zoneSize",),
        "duration": ("keepAlive.time", "keepAlive.timeout"),
        "variable": ("hashMethodKey",),
    },
}
"""Per kind the fields of each format."""
_CHOICES = {"strategy": ("ratio", "parent"), "context": ("extract", "inject", "propagate", "ignore")}
"""The values that fields of `tracing` may have."""


def fault(kind: PolicyKind, declared: tuple[Declared, ...]) -> Reading:
    """Return the first value that is refused; a Reading without code when there is none."""
    for spec in declared:
        for pointer, reason in _faults(kind.kind, spec.proper):
            return Reading(code="invalid-value", reason=reason, pointer=(*spec.prefix, *pointer))
    return Reading()


def _faults(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    formats = {field: value_format for value_format, fields in _FORMATS.get(kind, {}).items() for field in fields}
    for unit in leaves(spec):
        value_format = formats.get(".".join(map(str, unit.pointer)))
        if value_format is not None:
            yield from _mismatch(unit.pointer, unit.value, value_format)
    if kind == "ProxySettingsPolicy":
        yield from _buffers(mapping(spec.get("buffering")))
    if kind == "RateLimitPolicy":
        yield from _rate_limits(mapping(mapping(spec.get("rateLimit")).get("local")).get("rules"))
    if kind == "ObservabilityPolicy":
        yield from _tracing(mapping(spec.get("tracing")))
    if kind == "UpstreamSettingsPolicy":
        method = spec.get("loadBalancingMethod")
        if method in ("hash", "hash consistent") and "hashMethodKey" not in spec:
            yield ("loadBalancingMethod",), f"{method} needs a hashMethodKey"
    if kind == "ClientSettingsPolicy":
        timeout = mapping(mapping(spec.get("keepAlive")).get("timeout"))
        if "header" in timeout and "server" not in timeout:
            yield ("keepAlive", "timeout"), "a header timeout needs a server timeout"


def _rate_limits(rules: object) -> Iterator[tuple[Pointer, str]]:
    for index, rule in enumerate(map(mapping, rules if isinstance(rules, list) else ())):
        place = ("rateLimit", "local", "rules", index)
        for name, value_format in (("zoneSize", "size"), ("rate", "rate")):
            yield from _mismatch((*place, name), rule.get(name), value_format)
        if rule.get("noDelay") is True and "delay" in rule:
            yield (*place, "delay"), "noDelay excludes a delay"


def _tracing(tracing: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    for name, choices in _CHOICES.items():
        value = tracing.get(name)
        if value is not None and value not in choices and not holds_variable(value):
            yield ("tracing", name), f"{name} {value!r} is none of {', '.join(choices)}"
    if "ratio" in tracing and tracing.get("strategy") == "parent":
        yield ("tracing", "ratio"), "a ratio needs the strategy ratio"


def _mismatch(pointer: Pointer, value: Any, value_format: str) -> Iterator[tuple[Pointer, str]]:
    if value is not None and not holds_variable(value) and not _PATTERNS[value_format].fullmatch(str(value)):
        yield pointer, f"{value!r} is no {value_format} that NGINX reads"


def _buffers(buffering: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Check that proxy_busy_buffers_size lies between one buffer and all buffers but one."""
    busy, single = _bytes(buffering.get("busyBuffersSize")), _bytes(buffering.get("bufferSize"))
    buffers = mapping(buffering.get("buffers"))
    size, number = _bytes(buffers.get("size")), buffers.get("number")
    pointer = ("buffering", "busyBuffersSize")
    if busy is not None and single is not None and busy <= single:
        yield pointer, "busyBuffersSize must be larger than bufferSize"
    if busy is not None and size is not None and isinstance(number, int) and busy >= size * number - size:
        yield pointer, "busyBuffersSize must be smaller than all buffers but one"


def _bytes(value: object) -> int | None:
    text = str(value).strip().lower()
    if not _SIZE.fullmatch(text):
        return None
    unit = {"k": 2**10, "m": 2**20, "g": 2**30}.get(text[-1])
    return int(text) if unit is None else int(text[:-1]) * unit
