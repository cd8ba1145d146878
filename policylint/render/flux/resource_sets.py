"""The objects that a Flux Operator ResourceSet holds in full: each is deployed as it stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policylint.budget import Budget
from policylint.model import mapping, sequence
from policylint.patterns import Pattern
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.texts import map_texts

_STEPS = 20
"""What it costs to make one object."""
_INPUT = Pattern(r"<<\s*inputs\.([\w.-]+)\s*(?:\|\s*quote\s*)?>>")


def expanded(manifest: Manifest, journal: Journal, budget: Budget) -> Iterator[Manifest]:
    """Yield the objects of a ResourceSet, once for each of its inputs; nothing for any other object.

    Inputs that come from elsewhere stay as they are written, symbolic.

    Raises:
        ExhaustedError: there are more than the budget allows.
    """
    if manifest.kind != "ResourceSet" or manifest.group != "fluxcd.controlplane.io":
        return
    if manifest.spec.get("resourcesTemplate"):
        journal.gap(f"the template of {manifest} may create it")
    weight = manifest.weight // (len(sequence(manifest.spec.get("resources"))) or 1)
    for inputs in map(mapping, sequence(manifest.spec.get("inputs")) or [{}]):
        for body, place in entries(manifest.spec, manifest.origin.child("spec"), "resources"):
            if isinstance(body, dict):
                budget.spend(_STEPS + weight)
                resource = Manifest(_filled_in(body, inputs, budget) if inputs else body, place, weight=weight)
                if not resource.namespace and manifest.namespace and resource.kind != "Namespace":
                    document, pointer = manifest.origin.locate(("metadata", "namespace"))
                    resource.put(("metadata", "namespace"), manifest.namespace, Provenance(document, pointer))
                yield resource


def _filled_in(body: dict[str, Any], inputs: Any, budget: Budget) -> Any:
    def replaced(match: re.Match[str]) -> str:
        value = inputs
        for step in match[1].split("."):
            value = mapping(value).get(step)
        written = match[0] if value is None else str(value)
        budget.spend_on_text(len(written))
        return written

    return map_texts(body, lambda value: _INPUT.sub(replaced, value) if "<<" in value else value)
