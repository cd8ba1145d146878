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
"""What a section of a kind is called."""
FIELD = {"listener": "listeners", "port": "ports", "rule": "rules"}


def section_names(resource: Resource) -> list[str]:
    """The names of an object's sections, in the order in which they are written."""
    field = FIELD.get(NOUN.get(resource.key.kind, ""), "")
    names = [text(mapping(each).get("name")) for each in sequence(resource.spec.get(field))]
    return [each for each in names if each]
