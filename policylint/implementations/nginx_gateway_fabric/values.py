"""Buffers that NGINX Gateway Fabric refuses: sizes of which NGINX needs another order.

Source: nginx/config/policies/<kind>/validator.go; docs/design/implementations/kgateway-nginx-gloo.md §1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, mapping
from policylint.patterns import Pattern
from policylint.policy.declared import Reading

_SIZE = Pattern(r"\d{1,4}[kmg]?")


def fault(policy: Resource) -> Reading:
    """Return the first size that is refused; a Reading without code when there is none."""
    for pointer, reason in _buffers(mapping(policy.spec.get("buffering"))):
        return Reading(code="invalid-value", reason=reason, pointer=pointer)
    return Reading()


def _buffers(buffering: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Check that proxy_busy_buffers_size lies between one buffer and all buffers but one."""
    busy, single = _bytes(buffering.get("busyBuffersSize")), _bytes(buffering.get("bufferSize"))
    buffers = mapping(buffering.get("buffers"))
    size, number = _bytes(buffers.get("size")), buffers.get("number")
    pointer = ("spec", "buffering", "busyBuffersSize")
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
