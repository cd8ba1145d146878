"""The objects that a Flux Operator ResourceSet holds in full: each is deployed as it stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Trace

_INPUT = re.compile(r"<<\s*inputs\.([\w.-]+)\s*(?:\|\s*quote\s*)?>>")


def expanded(manifest: Manifest, journal: Journal) -> Iterator[Manifest]:
    """The objects of a ResourceSet, once for each of its inputs; nothing for any other object.

    Inputs that come from elsewhere stay as they are written, symbolic.
    """
    if manifest.kind != "ResourceSet" or manifest.group != "fluxcd.controlplane.io":
        return
    spec = mapping(manifest.body.get("spec"))
    if spec.get("resourcesTemplate"):
        journal.gap(f"the template of {manifest} may create it")
    inputs = [mapping(each) for each in sequence(spec.get("inputs"))] or [{}]
    place = manifest.trace.at(("spec", "resources"))
    for values in inputs:
        for index, body in enumerate(sequence(spec.get("resources"))):
            if isinstance(body, dict):
                filled = _filled_in(body, values) if values else body
                found = Manifest(filled, place.child(index))
                if not found.namespace and manifest.namespace and found.kind != "Namespace":
                    source = Trace(manifest.trace.document, manifest.trace.at(("metadata", "namespace")).pointer)
                    found.put(("metadata", "namespace"), manifest.namespace, source)
                yield found


def _filled_in(value: Any, inputs: Any) -> Any:
    if isinstance(value, str):
        return _INPUT.sub(lambda match: text(_input(inputs, match[1]), match[0]), value) if "<<" in value else value
    if isinstance(value, dict):
        return {name: _filled_in(each, inputs) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, inputs) for each in value]
    return value


def _input(inputs: Any, path: str) -> Any:
    for step in path.split("."):
        inputs = mapping(inputs).get(step)
    return inputs if isinstance(inputs, str) or inputs is None else str(inputs)
