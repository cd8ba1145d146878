"""Argo CD ApplicationSets: the Applications that their template, and the patch on it, make of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from policylint.model import mapping, sequence, text
from policylint.render.argo.generators import Parameters, filled_in, parameters
from policylint.render.argo.go_template import UncertainError
from policylint.render.argo.go_template import filled_in as rendered
from policylint.render.journal import Journal
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree

MAX_APPLICATIONS = 5_000
"""Applications of one set: products of generators are cut off there."""


def applications(manifest: Manifest, tree: Tree, journal: Journal) -> Iterator[Manifest]:
    """The Applications of a set, each written where its template is."""
    spec = mapping(manifest.body.get("spec"))
    template = mapping(spec.get("template"))
    place = manifest.trace.at(("spec", "template"))
    above = tree.path_of(manifest.file).split("/")[:-1]
    prefixes = ["/".join(above[:depth]) for depth in range(len(above) + 1)]  # where the repository may begin
    found = 0
    for generator in sequence(spec.get("generators")):
        for given in islice(parameters(mapping(generator), tree, prefixes), MAX_APPLICATIONS):
            found += 1
            body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", **filled_in(template, given)}
            made = Manifest(body, place)
            if text(spec.get("templatePatch")):
                _patch(made, spec["templatePatch"], given, manifest, tree, journal)
            if not made.namespace and manifest.namespace:
                made.put(("metadata", "namespace"), manifest.namespace, manifest.trace.at(("metadata", "namespace")))
            yield made
    if not found:
        place = manifest.trace.at(("spec", "generators"))
        journal.note(f"no Application comes of {manifest} with what is in the tree", place, code="not-generated")
        journal.gap(f"{manifest} may deploy it", gateway_api=True)


def _patch(made: Manifest, patch: str, given: Parameters, owner: Manifest, tree: Tree, journal: Journal) -> None:
    """Merge what a set's `templatePatch` makes of the parameters into an Application, lists replaced as a whole; noted
    where that is not certain: the Application then stands as the template has it, and may deploy other things, too."""
    place = owner.trace.at(("spec", "templatePatch"))
    try:
        values, problem = tree.texts.documents(rendered(patch, given), place)
        if problem:
            raise UncertainError(problem)
    except UncertainError as error:
        journal.note(f"what this patch makes of {owner} is not known: {error}", place, code="template-patch")
        journal.gap(f"{owner}, whose templatePatch is not rendered, may deploy it")
        return
    for value, _ in values:
        if isinstance(value, dict):
            made.body, made.trace = merge(made.body, made.trace, value, place, core=False)
