"""The objects that a Flux Operator ResourceSet makes: its templates, as text of YAML, for each set of its inputs.

Source: controlplaneio-fluxcd/flux-operator `internal/builder/resourceset.go` (delimiters, functions, missing keys,
duplicates), and its documentation of ResourceSets and ResourceSetInputProviders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from policylint.budget import Budget, size_of
from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.model.selectors import matches
from policylint.patterns import Pattern
from policylint.render.go_template.functions import Function, Open
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import UncertainError, as_yaml
from policylint.render.go_template.running import FUNCTIONS, Engine, of_json
from policylint.render.journal import Journal
from policylint.render.kustomize.metadata import add_metadata
from policylint.render.provenance import Manifest, Provenance, entries

GROUP: Final = "fluxcd.controlplane.io"
PROVIDER: Final = "ResourceSetInputProvider"
_STEPS = 20
"""What it costs to make one object."""
_DELIMITERS: Final = ("<<", ">>")
_RECONCILE: Final = f"{GROUP}/reconcile"
_PLAIN: Final = Pattern(r"[\w .-]*", 0)
_OTHERS: Final = Pattern(r"[^a-z0-9_]+")
_LONGEST_SLUG: Final = 63
_Inputs = dict[str, Any]


def expanded(
    manifest: Manifest, journal: Journal, budget: Budget, others: Iterable[Manifest] = ()
) -> Iterator[Manifest]:
    """Yield the objects of a ResourceSet, for each set of its inputs.

    What hangs on inputs that are not seen stays as it is written, symbolic.

    Args:
        others: those that may be its providers of inputs.

    Raises:
        ExhaustedError: there are more than the budget allows.
    """
    made: dict[tuple[str, ...], Manifest] = {}
    try:
        for each in _made(manifest, _inputs(manifest, others), journal, budget):
            made.setdefault((each.api_version, each.kind, each.namespace, each.name), each)
    except TemplateError as error:
        place = manifest.origin.at("spec")
        journal.note(f"{manifest} makes no objects: {error}", place, code="not-generated")
        journal.gap(f"{manifest} may make it")
        return
    common = mapping(manifest.spec.get("commonMetadata"))
    add_metadata([*made.values()] if common else [], common, manifest.origin.at("spec", "commonMetadata"))
    yield from made.values()


def _inputs(manifest: Manifest, others: Iterable[Manifest]) -> list[_Inputs] | None:
    """Return the sets of inputs; None where it has none, and is no template but what it says."""
    spec = manifest.spec
    if not spec.get("inputs") and not spec.get("inputsFrom"):
        return None
    found = [_with_provider(mapping(each), manifest) for each in sequence(spec.get("inputs"))]
    for reference in map(mapping, sequence(spec.get("inputsFrom"))):
        providers = [each for each in others if _is_named(each, reference, manifest)]
        found += [_exported(provider) for provider in providers] or [Open()]
    is_product = mapping(spec.get("inputStrategy")).get("name") == "Permute" and bool(spec.get("inputsFrom"))
    return [Open()] if is_product else found


def _is_named(provider: Manifest, reference: Any, owner: Manifest) -> bool:
    if provider.kind != PROVIDER or provider.group != GROUP or provider.namespace != owner.namespace:
        return False
    name = text(reference.get("name"))
    if name:
        return provider.name == name
    return matches(mapping(reference.get("selector")), mapping(provider.metadata.get("labels")))


def _exported(provider: Manifest) -> _Inputs:
    """Return what a provider gives: its default values, and of all but a static one what it finds elsewhere."""
    values = _with_provider(mapping(provider.spec.get("defaultValues")), provider)
    return values if provider.spec.get("type") == "Static" else Open(values)


def _with_provider(values: Any, provider: Manifest) -> _Inputs:
    own = {"name": provider.name, "namespace": provider.namespace, "kind": provider.kind}
    made = {"id": "<< inputs.id >>", **values, "provider": {**own, "apiVersion": provider.api_version}}
    return dict(of_json(made))


def _made(manifest: Manifest, inputs: list[_Inputs] | None, journal: Journal, budget: Budget) -> Iterator[Manifest]:
    steps = [*entries(manifest.spec, manifest.origin.child("spec"), "steps")]
    for spec, origin in ((manifest.spec, manifest.origin.child("spec")), *((mapping(a), b) for a, b in steps)):
        templates = [(as_yaml(of_json(body)), body, place) for body, place in entries(spec, origin, "resources")]
        whole = text(spec.get("resourcesTemplate"))
        if whole:
            templates.append((whole, None, origin.child("resourcesTemplate")))
        for template, body, place in templates:
            budget.spend_on_text(len(template))
            for values in ({},) if inputs is None else inputs:
                try:
                    objects = _objects(template, values, place, budget)
                except UncertainError as error:
                    if body is None:
                        message = f"what {manifest} makes is not known: {error}"
                        journal.note(message, place, code="template-patch")
                        journal.gap(f"{manifest}, whose template is not rendered, may make it")
                        continue
                    objects = [Manifest(dict(mapping(body)), place, weight=size_of(body)[0])]
                for each in objects:
                    budget.spend(_STEPS + each.weight)
                    if inputs is None or mapping(each.metadata.get("annotations")).get(_RECONCILE) != "disabled":
                        yield _placed(each, manifest)


def _objects(template: str, inputs: _Inputs, place: Provenance, budget: Budget) -> list[Manifest]:
    """Return the objects that a template makes.

    Raises:
        TemplateError, UncertainError, ExhaustedError: as `go_template.running.filled_in`.
    """
    if _DELIMITERS[0] in template:
        functions = {**_FUNCTIONS, "inputs": Function("", lambda: inputs)}
        engine = Engine(budget, functions, missing="error", delimiters=_DELIMITERS)
        template = engine.text(engine.parsed(template), None)
    reading = read(template.encode("utf-8", "replace"), "")
    budget.spend_on_text(len(template))
    if reading.problems:
        raise UncertainError(reading.problems[0].message)
    bodies = [document.value for document in reading.documents if isinstance(document.value, dict)]
    return [Manifest(body, place, weight=size_of(body)[0]) for body in bodies]


def _placed(made: Manifest, owner: Manifest) -> Manifest:
    if not made.namespace and owner.namespace and made.kind != "Namespace":
        document, pointer = owner.origin.locate(("metadata", "namespace"))
        made.put(("metadata", "namespace"), owner.namespace, Provenance(document, pointer))
    return made


def _slug(written: str) -> str:
    """Return what `slugify` makes of a text, by the rules of gosimple/slug for plain letters."""
    if not written.isascii() or not _PLAIN.fullmatch(written):
        raise UncertainError("slugify of other characters than letters and digits")
    slug = _OTHERS.sub("-", written.strip().lower()).strip("-_")
    if len(slug) > _LONGEST_SLUG:
        raise UncertainError("slugify of a long text")
    return slug


_FUNCTIONS: Final[Mapping[str, Function | None]] = {
    **FUNCTIONS,
    "slugify": Function("s", _slug),
    "toYaml": Function("a", lambda value: f"{as_yaml(value)}\n"),
    "mustToYaml": Function("a", lambda value: f"{as_yaml(value)}\n"),
}
