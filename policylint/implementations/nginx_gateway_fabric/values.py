"""What NGINX Gateway Fabric refuses in a spec: sizes, durations, rates and buffers that NGINX could not read.

Source: the patterns of the CRDs and nginx/config/policies/<kind>/validator.go;
docs/design/implementations/kgateway-nginx-gloo.md §1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import PolicyKind, is_symbolic, mapping
from policylint.policy.declared import Reading
from policylint.policy.results import Declared
from policylint.policy.units import leaves

SIZE = re.compile(r"\d{1,4}[kmg]?")
DURATION = re.compile(r"[0-9]{1,4}(ms|s|m|h)?")
RATE = re.compile(r"\d+r/[sm]")
VARIABLE = re.compile(r"\$[a-z_]+")

FORMATS: Mapping[str, Mapping[str, tuple[re.Pattern[str], str]]] = {
    "ClientSettingsPolicy": {
        "body.maxSize": (SIZE, "size"),
        "body.bufferSize": (SIZE, "size"),
        "body.timeout": (DURATION, "duration"),
        "keepAlive.time": (DURATION, "duration"),
        "keepAlive.minTimeout": (DURATION, "duration"),
        "keepAlive.timeout.server": (DURATION, "duration"),
        "keepAlive.timeout.header": (DURATION, "duration"),
    },
    "ProxySettingsPolicy": {
        "buffering.bufferSize": (SIZE, "size"),
        "buffering.buffers.size": (SIZE, "size"),
        "buffering.busyBuffersSize": (SIZE, "size"),
        "timeout.connect": (DURATION, "duration"),
        "timeout.read": (DURATION, "duration"),
        "timeout.send": (DURATION, "duration"),
    },
    "UpstreamSettingsPolicy": {
        "zoneSize": (SIZE, "size"),
        "keepAlive.time": (DURATION, "duration"),
        "keepAlive.timeout": (DURATION, "duration"),
        "hashMethodKey": (VARIABLE, "variable"),
    },
}
_RULE_FORMATS = {"zoneSize": (SIZE, "size"), "rate": (RATE, "rate")}
_CHOICES = {"strategy": ("ratio", "parent"), "context": ("extract", "inject", "propagate", "ignore")}
"""What a policy for tracing may say."""


def fault(kind: PolicyKind, declared: tuple[Declared, ...]) -> Reading:
    """The first value that is refused; a Reading without code when there is none."""
    for each in declared:
        for pointer, reason in _faults(kind.kind, each.proper):
            return Reading(code="invalid-value", reason=reason, pointer=(*each.prefix, *pointer))
    return Reading()


def _faults(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    formats = FORMATS.get(kind, {})
    for unit in leaves(spec):
        wanted = formats.get(".".join(map(str, unit.pointer)))
        if wanted is not None:
            yield from _mismatch(unit.pointer, unit.value, *wanted)
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
        for name, wanted in _RULE_FORMATS.items():
            yield from _mismatch((*place, name), rule.get(name), *wanted)
        if rule.get("noDelay") is True and "delay" in rule:
            yield (*place, "delay"), "noDelay excludes a delay"


def _tracing(tracing: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    for name, choices in _CHOICES.items():
        value = tracing.get(name)
        if value is not None and value not in choices and not is_symbolic(value):
            yield ("tracing", name), f"{name} {value!r} is none of {', '.join(choices)}"
    if "ratio" in tracing and tracing.get("strategy") == "parent":
        yield ("tracing", "ratio"), "a ratio needs the strategy ratio"


def _mismatch(pointer: Pointer, value: Any, pattern: re.Pattern[str], what: str) -> Iterator[tuple[Pointer, str]]:
    if value is not None and not is_symbolic(value) and not pattern.fullmatch(str(value)):
        yield pointer, f"{value!r} is no {what} that NGINX reads"


def _buffers(buffering: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """proxy_busy_buffers_size lies between one buffer and all buffers but one."""
    busy, one = _bytes(buffering.get("busyBuffersSize")), _bytes(buffering.get("bufferSize"))
    buffers = mapping(buffering.get("buffers"))
    size, number = _bytes(buffers.get("size")), buffers.get("number")
    pointer = ("buffering", "busyBuffersSize")
    if busy is not None and one is not None and busy <= one:
        yield pointer, "busyBuffersSize must be larger than bufferSize"
    if busy is not None and size is not None and isinstance(number, int) and busy >= size * number - size:
        yield pointer, "busyBuffersSize must be smaller than all buffers but one"


def _bytes(value: object) -> int | None:
    text = str(value).strip().lower()
    if not SIZE.fullmatch(text):
        return None
    unit = {"k": 2**10, "m": 2**20, "g": 2**30}.get(text[-1])
    return int(text) if unit is None else int(text[:-1]) * unit
