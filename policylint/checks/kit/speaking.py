"""Who speaks of an annotation or a label: filters of programs, expressions of admission policies, selectors."""

from __future__ import annotations

from typing import Any

from policylint.load.charts import APPLICATION, RELEASE
from policylint.model import World
from policylint.model.kinds import WORKLOADS
from policylint.network.kinds import EVALUATED, GENERATING, NOT_EVALUATED

_SPEAKING = (
    RELEASE,
    APPLICATION,
    *WORKLOADS,
    *dict.fromkeys((*GENERATING, *EVALUATED, *NOT_EVALUATED)),
    ("policies.kyverno.io", "MutatingPolicy"),
    ("policies.kyverno.io", "ValidatingPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("monitoring.coreos.com", "PodMonitor"),
    ("monitoring.coreos.com", "ServiceMonitor"),
)
"""Kinds whose objects may read what others bear, or tell a program which of them to read."""
_DEEPEST = 40


def is_spoken_of(world: World, name: str) -> bool:
    """Tell whether something reads a name that objects bear, whoever else does not: a text holds it that is no key of a
    mapping (`--annotation-filter=NAME in (…)`, `request.object.metadata.annotations."NAME"`), or a selector does. So do
    the values of charts that are not rendered."""
    return world.unseen.reads(name) or any(
        _speaks(resource.body, name, 0) for kind in _SPEAKING for resource in world.of_kind(*kind)
    )


def _speaks(value: Any, name: str, depth: int) -> bool:
    if isinstance(value, str):
        return any(not after.lstrip("\\\"' ").startswith(":") for after in value.split(name)[1:])
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        selector = value.get("matchLabels")
        if isinstance(selector, dict) and name in selector:
            return True
        return any(_speaks(inner, name, depth + 1) for inner in value.values())
    return isinstance(value, list) and any(_speaks(inner, name, depth + 1) for inner in value)
