"""What settings of the kgateway controller change beyond merging: global selectors, strict validation.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.1, §2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resolution, Resource
from policylint.model.selectors import matches
from policylint.policy.declared import Reading
from policylint.policy.results import Target
from policylint.topology import Topology, whole

_PAIRS = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"))


def everywhere(target: Target, topology: Topology) -> Target:
    """A selector of the global policy namespace, which looks at the objects of all namespaces."""
    if target.selector is None or target.problem not in ("", "no-match") or target.section:
        return target
    kind = target.key.group, target.key.kind
    chosen = tuple(whole(each.key) for each in topology.world.of_kind(*kind) if matches(target.selector, each.labels))
    if not chosen:
        return target
    return target._replace(nodes=chosen, resolution=Resolution("found"), problem="", detail="")


def broken_template(policy: Resource) -> Reading:
    """The first template of a transformation that Envoy would not load: one whose brackets do not close."""
    for pointer, text in _texts(("spec", "transformation"), policy.spec.get("transformation")):
        for opening, closing in _PAIRS:
            if text.count(opening) > text.count(closing):
                return Reading(
                    code="template", reason=f"`{opening}` without `{closing}` in a template", pointer=pointer
                )
    return Reading()


def _texts(pointer: Pointer, value: Any) -> Iterator[tuple[Pointer, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts((*pointer, name), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts((*pointer, index), each)
