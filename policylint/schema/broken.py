"""Objects that break their schemas, and which of them the API server refuses for certain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from policylint.catalog.naming import is_known, is_no_version
from policylint.cel.nodes import Fuel
from policylint.model import Location, Resource, World, is_symbolic, mapping
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.schema.built_in import SHAPED, checkers_of_types, refused
from policylint.schema.checker import KEYS
from policylint.schema.known import Known, ManifestChecker, Schemas, forget_shipped, is_experimental
from policylint.schema.names import BUILT_IN
from policylint.schema.object_meta import AT, checker_of_metadata, refused_metadata

if TYPE_CHECKING:
    from policylint.documents import Pointer
    from policylint.schema import Checker
    from policylint.schema.explain import Violation

_RETIRED = frozenset({"backendTLS", "frontendValidation"})
"""Fields of Gateways that were experimental up to Gateway API v1.4, and have other names since."""
_LASTING = frozenset({"enum", "format", "required", "type", KEYS})
"""Violations of shipped schemas that hold in every release; limits and patterns are loosened from time to time."""
_AIMING = frozenset({"targetRef", "targetRefs", "targetSelectors", "strategy", "mergeType"})
"""Fields by which a policy says where it acts, and how it is merged."""
_ALIKE = 0.7
"""How alike two names are (difflib's ratio) of which one is the other misspelt; `near` of the rules takes the same."""
_LONGEST_NAME = 100
_KUSTOMIZE = "kustomize.config.k8s.io"
_OF_FLUX = frozenset({("kustomize.toolkit.fluxcd.io", "Kustomization"), ("fluxcd.controlplane.io", "FluxInstance")})
"""Kinds that say that Flux writes objects."""
KUBERNETES = Known({}, ManifestChecker({}, Fuel()), Fuel(), release="Kubernetes", lasting=True, exact=True)
"""What is the same for all objects, of whatever kind."""
UNLESS = "refused, unless the cluster has another CRD"
"""What a refusal rests on that a shipped schema alone tells of."""


class BrokenObject(NamedTuple):
    """An object that breaks its schema, with the violations.

    Args:
        refusal: the violation for which the API server refuses it, None if it takes the object as far as is known.
        certain: whether it does so whatever its release; otherwise the cluster may have a CRD that lets it pass.
    """

    resource: Resource
    schema: Known
    violations: list[Violation]
    refusal: Violation | None
    certain: bool = True

    @property
    def because(self) -> str:
        """What the API server says of it, and what that rests on."""
        said = "" if self.refusal is None else message(self.refusal)
        return said if self.certain else f"{UNLESS}: {said}"

    @property
    def sentence(self) -> str:
        """A sentence on what a cluster has in its place."""
        said = "" if self.refusal is None else message(self.refusal)
        is_refused = (
            f"the API server refuses {self.resource.key}" if self.certain else f"{self.resource.key} is {UNLESS}"
        )
        return f"{is_refused} ({said}), so that a cluster has its former state, or none"


def broken_objects(
    world: World,
    cut: list[Note],
    releases: Mapping[str, tuple[int, ...]] | None = None,
    told: Mapping[str, str] | None = None,
) -> tuple[BrokenObject, ...]:
    """Return every object that breaks its schema, where it has several all of them; by kind, sorted.

    Where the rules of the tree's CRDs take more work than is allowed, the rest is not judged and `cut` says so.

    Args:
        releases: the releases in use, by product.
        told: what in the tree says so, by product.
    """
    broken: list[BrokenObject] = []
    schemas = Schemas(world.definitions, world.is_deployed_with, releases, told)
    kinds = world.kinds()
    loses_labels = not _OF_FLUX.isdisjoint(kinds)
    for group, kind in kinds:
        if group == _KUSTOMIZE:
            continue  # no API server sees its files
        is_built_in = (group, kind) in BUILT_IN or (group, kind) in SHAPED
        for resource in world.of_kind(group, kind):
            known = schemas.of(resource)
            fault = None
            if not resource.provisional:
                fault = resource.once(refused_metadata, loses_labels)
                fault = fault or (resource.once(refused) if is_built_in else None)
                if is_no_version(resource.version) and (is_built_in or is_known(group, kind)) and not known:
                    fault = _of_version(resource) or fault
            if fault is not None:
                more = min(_violations(known, resource), key=len) if known else []
                broken.append(BrokenObject(resource, known[0] if known else KUBERNETES, [fault, *more], fault))
            elif known and not any(_is_valid(schema.checker, resource.body) for schema in known):
                by_schema = _violations(known, resource)
                violations = min(by_schema, key=len)
                if violations:
                    broken.append(BrokenObject(resource, known[0], violations, *_refusal(resource, known, by_schema)))
            if known and known[0].origin is not None and schemas.fuel.left < 0 and not cut:
                message = f"the rules of the CRDs for {kind} and what follows take too much work, and are not judged"
                cut.append(Note("GWP911", "limit", message, Location(known[0].origin)))
    schemas.give_back()
    return tuple(broken)


def _of_version(resource: Resource) -> Violation | None:
    """Return what an API server says of an object in a version that no kind has, None where a variable may be one."""
    from policylint.schema.explain import Violation

    if is_symbolic(resource.api_version):
        return None
    says = f"has the apiVersion {resource.api_version}, which no release has"
    return Violation(
        "version", ("apiVersion",), (), says, "a version is written as `v1` or `v1beta1`", resource.version
    )


def broken_within(world: World, written: Iterable[Resource]) -> Iterator[BrokenObject]:
    """Yield those of some objects that break their schemas and are no objects of a world: what others hold."""
    schemas = Schemas(world.definitions, world.is_deployed_with)
    for resource in written:
        known = schemas.of(resource)
        if known and not any(_is_valid(schema.checker, resource.body) for schema in known):
            by_schema = _violations(known, resource)
            if violations := min(by_schema, key=len):
                yield BrokenObject(resource, known[0], violations, *_refusal(resource, known, by_schema))


def _violations(known: tuple[Known, ...], resource: Resource) -> list[list[Violation]]:
    from policylint.schema.explain import explain

    return [explain(schema.schema, resource.body, schema.fuel) for schema in known]


def _refusal(
    resource: Resource, known: tuple[Known, ...], by_schema: list[list[Violation]]
) -> tuple[Violation | None, bool]:
    """Return the first violation for which an object is refused, None where one of the schemas may let it pass, and
    whether that is certain."""
    if resource.provisional:
        return None, True
    if known[0].told:
        refusal = _first(by_schema[0], _is_no_field)
        newest = known[0].newest
        if refusal is None or newest is None or _is_valid(newest.checker, resource.body):
            return refusal, refusal is None
        return refusal, _refusal(resource, (newest,), _violations((newest,), resource))[1]
    each = list(zip(known, by_schema, strict=True))
    certain = [_first(found, partial(_is_refused, schema, version=resource.version)) for schema, found in each]
    if all(certain):
        return certain[0], True
    likely = [
        None
        if any(_is_of_another_release(schema, violation, resource.version) for violation in found)
        else one or _first(found, partial(_is_likely_refused, schema))
        for one, (schema, found) in zip(certain, each, strict=True)
    ]
    return (likely[0], False) if all(likely) else (None, True)


def _is_no_field(violation: Violation) -> bool:
    return violation.code != "unknown-field"


def _first(violations: list[Violation], holds: Callable[[Violation], bool]) -> Violation | None:
    return next(filter(holds, violations), None)


def _is_likely_refused(schema: Known, violation: Violation) -> bool:
    """Tell whether an API server with the release of a shipped schema refuses an object for a violation of its shape.

    Limits and patterns are loosened most often. A word that an enumeration has not may be one of a later release,
    unless it is one of them misspelt.
    """
    if violation.code not in (*_LASTING, "rule") or is_passing(schema, violation.pointer):
        return False
    return violation.code != "enum" or not isinstance(violation.value, str) or _is_alike(violation)


def _is_of_another_release(schema: Known, violation: Violation, version: str) -> bool:
    """Tell whether an object has a field that the release of a shipped schema has not, and another one may."""
    return violation.code == "unknown-field" and _is_open(schema, violation, version)


def _is_refused(schema: Known, violation: Violation, version: str) -> bool:
    """Tell whether an object is refused whatever the release; an unknown field is dropped, and the rest taken.

    Source: Kubernetes, «Field validation» and «Custom Resources: pruning». A CRD of the tree counts whole. The cluster
    may have another release than the one shipped here, in which of Gateway API `_LASTING` and the rules are the same,
    and of others the types, and the case of enums, of what they call no alpha version (docs/design/semantics.md §9).
    What a release of others says about where its policies may act, and how they merge, counts with the rest of the
    rules of that release, by which they are attached and merged here. Whether the targets of a list are distinct is the
    pattern's own question (`structural`): controllers judge such a list, too.
    """
    if violation.code == "unknown-field":
        return False
    if schema.binds or schema.exact or violation.pointer[:1] == AT:
        return True
    if violation.code == "rule" and not _AIMING.isdisjoint(violation.reads):
        return True
    stays = violation.code in _LASTING or (violation.code == "rule" and _AIMING.isdisjoint(violation.pointer))
    others = "alpha" not in version and (violation.code == "type" or (not schema.elsewhere and _is_no_word(violation)))
    return (stays if schema.lasting else others) and not is_passing(schema, violation.pointer)


def _is_no_word(violation: Violation) -> bool:
    """Tell whether a value is in no release of an enumeration: a number among words, or one of them in another case."""
    known = {str(value).lower() for value in violation.wanted}
    if violation.code != "enum" or any(value.isdigit() for value in known):
        return False
    return not isinstance(violation.value, str) or violation.value.lower() in known


def is_lasting(broken: BrokenObject, violation: Violation) -> bool:
    """Tell whether a violation of a shipped schema is one in every release: what all of them forbid, or a misspelt
    field. What the release says that the tree names is one where the newest says so as well, for the same reason."""
    newest = broken.schema.newest
    if broken.schema.told:
        others = [] if newest is None else _violations((newest,), broken.resource)[0]
        return newest is not None and any(
            (other.code, other.pointer) == (violation.code, violation.pointer)
            and is_lasting(broken._replace(schema=newest), other)
            for other in others
        )
    if violation.code == "unknown-field":
        schema = broken.schema
        is_mistaken = not schema.elsewhere and _is_mistaken(schema, violation)
        return schema.exact or (is_mistaken and not is_passing(schema, violation.pointer))
    if violation.code == "rule" and broken.schema.origin is None:  # Gateway API keeps its rules, others may not
        return broken.schema.lasting and not is_passing(broken.schema, violation.pointer)
    return _is_refused(broken.schema, violation, broken.resource.version)


def is_passing(schema: Known, pointer: Pointer) -> bool:
    """Tell whether a shipped schema's location lies in a field that not every release of Gateway API has."""
    if schema.exact or schema.told:
        return False
    return not _RETIRED.isdisjoint(pointer) or is_experimental(schema.schema, pointer)


def is_open(broken: BrokenObject, violation: Violation) -> bool:
    """Tell whether the release in the cluster may well allow what the shipped schema does not.

    A field of an alpha or beta version that neither is misspelt nor stands in the wrong place may be one of another
    release: such versions get and lose fields under one name.
    """
    return _is_open(broken.schema, violation, broken.resource.version)


def _is_open(schema: Known, violation: Violation, version: str) -> bool:
    if schema.binds or schema.exact or schema.told:
        return False
    may_change = schema.elsewhere or "alpha" in version or "beta" in version  # a later release has more fields
    if violation.code == "unknown-field" and may_change and not _is_mistaken(schema, violation):
        return not (schema.elsewhere and _is_of_a_neighbor(schema, violation))
    if violation.code == "enum" and schema.elsewhere and (_is_no_word(violation) or not _is_alike(violation)):
        return True  # and more words, also a word in two cases
    return is_passing(schema, violation.pointer)


def _is_mistaken(schema: Known, violation: Violation) -> bool:
    """Tell whether an unknown field is one that the schema has: misspelt, or indented too little or too much.

    A CRD that is not deployed with the object may be of another release, which has `goTemplate` where this one has
    `goTemplateOptions`, too: a name with more words is no slip.
    """
    if bool(violation.belongs):
        return True
    return _is_alike(violation) and not (schema.elsewhere and _has_other_words(violation))


def _is_of_a_neighbor(schema: Known, violation: Violation) -> bool:
    """Tell whether an unknown field is one of a field beside it, which may not be written: `branch` is of `ref`."""
    node: Any = schema.schema
    for step in violation.pointer[:-1]:
        node = mapping(node)
        node = node.get("items") if isinstance(step, int) else mapping(node.get("properties")).get(step)
    neighbors = mapping(mapping(node).get("properties")).values()
    return any(violation.pointer[-1] in mapping(mapping(each).get("properties")) for each in neighbors)


def _has_other_words(violation: Violation) -> bool:
    """Tell whether an unknown field is called as one that the schema has, with words more or less at either end."""
    written = str(violation.pointer[-1])
    pairs = (sorted((written, name), key=len) for name in violation.wanted)
    return any(
        (longer.startswith(shorter) and longer[len(shorter) :][:1].isupper())
        or longer.endswith(shorter[:1].upper() + shorter[1:])
        for shorter, longer in pairs
    )


def _is_alike(violation: Violation) -> bool:
    """Tell whether an unknown field, or word, is spelled nearly as one that the schema has in this place."""
    from difflib import get_close_matches

    written = violation.value if violation.code == "enum" else violation.pointer[-1]
    return bool(get_close_matches(str(written)[:_LONGEST_NAME], violation.wanted, 1, _ALIKE))


def as_stored(broken: BrokenObject) -> Resource:
    """Return an object without its misspelt and misplaced fields, which the API server drops before they are seen.

    Source: Kubernetes, «Custom Resources: pruning». Unknown fields that resemble none stay: the release in the cluster
    may have them, and of a CRD that merely sketches its kind (`spec: {type: object}`) they are all there is. Where the
    release is known, or named by the tree, it drops all that it has not.
    """
    body: Any = broken.resource.body
    for violation in broken.violations:
        if violation.code == "unknown-field" and (
            broken.schema.exact or broken.schema.told or _is_mistaken(broken.schema, violation)
        ):
            body = _without(body, violation.pointer)
    return broken.resource if body is broken.resource.body else broken.resource.replaced(body=body)


def _without(value: Any, pointer: Pointer) -> Any:
    """Return a value without the field at a pointer; the value itself stays as it is."""
    step, *rest = pointer
    changed = value.copy()
    if rest:
        changed[step] = _without(value[step], tuple(rest))
    else:
        del changed[step]
    return changed


def message(violation: Violation) -> str:
    """Return a violation as the API server words it, the path first."""
    from policylint.schema.explain import place

    path = place(violation.pointer)
    if violation.code == "version":
        return f'no matches for this kind in version "{violation.value}"'
    if violation.code == "required":
        return f"{path}: Required value"
    if violation.code == "enum":
        return f"{path}: Unsupported value: {_quoted(violation.value)}: supported values: " + ", ".join(
            map(_quoted, violation.wanted)
        )
    if violation.code == "rule":
        return f"{path}: Invalid value: {violation.wanted[0]}"
    if violation.code == "name":
        return f"{path}: Invalid value: {_quoted(violation.value)}: {violation.label}"
    return f"{path}: Invalid value: {violation.label}"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


_VALID: dict[int, tuple[Any, Checker]] = {}
"""Valid bodies by identity, with the checker that found them so: the two sides of a diff share nearly all of them."""


def forget_valid() -> None:
    """Give back what is known of bodies, and the schemas that they were judged by."""
    _VALID.clear()
    forget_shipped()
    checker_of_metadata.cache_clear()
    checkers_of_types.cache_clear()


def _is_valid(checker: Checker, body: Any) -> bool:
    known = _VALID.get(id(body))
    if known is not None and known[0] is body and known[1] is checker:
        return True
    valid = checker.is_valid(body)
    if valid:
        _VALID[id(body)] = (body, checker)
    return valid
