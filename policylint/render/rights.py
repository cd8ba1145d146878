"""What the controllers of a tree may make, by the roles that they are given.

A project's own operator makes grants for the objects that it serves: samples of these bring none. Roles of people, who
may do anything, say nothing of what is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import read
from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.model.unseen import Custom
from policylint.patterns import Pattern
from policylint.render.scripts import Scripts

_OF_ROLES = Pattern(r"(?:.*/)?[^/]*(?:role|rbac)[^/]*\.ya?ml")
_OF_PEOPLE = Pattern(r".*(?:admin|edit|view|user|developer).*")
_AGGREGATED = "rbac.authorization.k8s.io/aggregate-to-"
_MAKES = {"referencegrants": (GATEWAY_GROUP, "ReferenceGrant")}
"""Resources that are made beside others, for which nothing else in a tree speaks."""
FOR_OTHERS = ("system:openshift:scc:", "system:image-puller")
"""How roles are called whose rights others look at, and pods do not use: which constraints hold for them, which images
their nodes may pull."""
_MOST = 300
"""Files of roles that are looked into."""


def may_make(scripts: Scripts) -> Iterator[Custom]:
    """Yield what makes objects of a kind because a role of the tree lets it."""
    for path in [path for path in scripts.files if _OF_ROLES.fullmatch(path)][:_MOST]:
        data = scripts.read(path) or b""
        if not any(resource.encode() in data for resource in _MAKES):
            continue
        for document in read(data, path).documents:
            role = mapping(document.value)
            if role.get("kind") in ("ClusterRole", "Role") and not _is_of_people(role):
                for kind in sorted({kind for rule in sequence(role.get("rules")) for kind in _made(rule)}):
                    yield Custom("", "", "", frozenset({kind}), f"what {path} lets make a {kind[1]}")


def _made(rule: Any) -> Iterator[tuple[str, str]]:
    """Yield the kinds that a rule names and lets make."""
    named = mapping(rule)
    if GATEWAY_GROUP in sequence(named.get("apiGroups")) and "create" in sequence(named.get("verbs")):
        yield from (_MAKES[each] for each in map(text, sequence(named.get("resources"))) if each in _MAKES)


def _is_of_people(role: Any) -> bool:
    metadata = mapping(role.get("metadata"))
    labels = mapping(metadata.get("labels"))
    return bool(_OF_PEOPLE.fullmatch(text(metadata.get("name")))) or any(
        text(label).startswith(_AGGREGATED) for label in labels
    )
