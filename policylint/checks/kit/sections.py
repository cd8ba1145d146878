"""Named sections of an object, as sectionName may name them: listeners, rules, ports."""

from __future__ import annotations

from policylint.model import ROUTE_KINDS, Resource, mapping, sequence, text

NOUN = {
    "Gateway": "listener",
    "ListenerSet": "listener",
    "XListenerSet": "listener",
    "Service": "port",
    "ServiceImport": "port",
    **dict.fromkeys(ROUTE_KINDS, "rule"),
}
"""Kind → what its sections are called."""
FIELD = {"listener": "listeners", "port": "ports", "rule": "rules"}
"""Noun → the field of `spec` that holds such sections."""


def section_names(resource: Resource) -> list[str]:
    """Return the names of an object's sections, in the order in which they are written."""
    field = FIELD.get(NOUN.get(resource.key.kind, ""), "")
    names = [text(mapping(section).get("name")) for section in sequence(resource.spec.get(field))]
    return [name for name in names if name]
