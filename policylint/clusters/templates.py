"""What stands in a Policy: its templates, the objects that these demand, the policies that it waits for.

Source: governance-policy-propagator api/v1/policy_types.go; config-policy-controller api/v1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.clusters.kinds import POLICY, POLICY_GROUP, SUBJECTS
from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

CONFIGURATION = (POLICY_GROUP, "ConfigurationPolicy")
ENFORCE, INFORM_ONLY = "enforce", "informonly"
MUST_HAVE, MUST_ONLY_HAVE, MUST_NOT_HAVE = "musthave", "mustonlyhave", "mustnothave"
_NOT_RESOLVED = f"{POLICY_GROUP}/disable-templates"
_PATTERN = frozenset("*?[")
_HUB, _HUB_END = "{{hub", "hub}}"
_SPACED = Pattern(r"\{\{-?\s+hub\s")
_LOOKUP = Pattern(
    r"\b(?:(?:fromSecret|fromConfigMap|copySecretData|copyConfigMapData)\s+|lookup\s+\"[^\"]*\"\s+\"[^\"]*\"\s+)"
    r"\"(?P<namespace>[^\"]+)\""
)


class PolicyTemplate(NamedTuple):
    """An entry of `policy-templates`.

    Args:
        body: its `objectDefinition`.
        pointer: where that stands in the Policy.
        kind: its group and kind.
        action: its own remediation action in lower case, "" without one.
    """

    policy: Resource
    body: Mapping[str, Any]
    pointer: Pointer
    kind: tuple[str, str]
    action: str

    @property
    def name(self) -> str:
        """The name of the object in it."""
        return text(mapping(self.body.get("metadata")).get("name"))


class DemandedObject(NamedTuple):
    """An object that a ConfigurationPolicy demands on its clusters, or demands not to be there.

    Args:
        compliance: `musthave`, `mustonlyhave` or `mustnothave`, "" where it says none of them.
        body: the object, or a part of it.
        pointer: where that stands in the Policy.
        places: the namespaces that it is for, as written: its own, or those of the selector; none where they cannot be
            told, None where nobody says.
    """

    template: PolicyTemplate
    compliance: str
    body: Mapping[str, Any]
    pointer: Pointer
    places: tuple[str, ...] | None

    @property
    def name(self) -> str:
        """Its name, "" for any."""
        return text(mapping(self.body.get("metadata")).get("name"))

    @property
    def what(self) -> str:
        """The object: `NetworkPolicy shop/deny-all`."""
        namespace = text(mapping(self.body.get("metadata")).get("namespace"))
        place = f"{namespace}/{self.name}" if namespace else self.name
        return f"{text(self.body.get('kind'), '?')} {place}".rstrip()

    def __str__(self) -> str:
        """Return `musthave NetworkPolicy shop/deny-all`."""
        return f"{self.compliance or '?'} {self.what}"


class PolicyDependency(NamedTuple):
    """A Policy or PolicySet that another one waits for, and where its name is written."""

    key: ResourceKey
    pointer: Pointer


def policy_templates(policy: Resource) -> Iterator[PolicyTemplate]:
    """Yield the templates of a Policy."""
    for number, template in enumerate(map(mapping, sequence(policy.spec.get("policy-templates")))):
        body = mapping(template.get("objectDefinition"))
        group = text(body.get("apiVersion")).rpartition("/")[0]
        action = text(mapping(body.get("spec")).get("remediationAction")).lower()
        pointer = ("spec", "policy-templates", number, "objectDefinition")
        yield PolicyTemplate(policy, body, pointer, (group, text(body.get("kind"))), action)


def demanded_objects(policy: Resource) -> Iterator[DemandedObject]:
    """Yield what the ConfigurationPolicies of a Policy demand."""
    for template in policy_templates(policy):
        spec = mapping(template.body.get("spec"))
        selected = _selected(mapping(spec["namespaceSelector"])) if "namespaceSelector" in spec else None
        for number, entry in enumerate(map(mapping, sequence(spec.get("object-templates")))):
            body = mapping(entry.get("objectDefinition"))
            own = text(mapping(body.get("metadata")).get("namespace"))
            pointer = (*template.pointer, "spec", "object-templates", number, "objectDefinition")
            compliance = text(entry.get("complianceType")).lower()
            yield DemandedObject(template, compliance, body, pointer, (own,) if own else selected)


def _selected(selector: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names and patterns that a selector includes; none where labels or patterns narrow them."""
    out = {name for name in sequence(selector.get("exclude")) if isinstance(name, str)}
    if selector.get("matchLabels") or selector.get("matchExpressions") or any(_PATTERN & set(name) for name in out):
        return ()
    return tuple(name for name in sequence(selector.get("include")) if isinstance(name, str) and name not in out)


def dependencies(policy: Resource) -> Iterator[PolicyDependency]:
    """Yield the Policies and PolicySets that a Policy or one of its templates waits for; others are on the clusters.

    Source: governance-policy-propagator controllers/propagator/replication.go.
    """
    for dependency, pointer in _waits(policy):
        kind = _kind_of(dependency)
        if kind in SUBJECTS:
            yield PolicyDependency(_awaited(dependency, kind, policy), (*pointer, "name"))


def are_alternatives(one: DemandedObject, other: DemandedObject) -> bool:
    """Return whether one of two demands is made only while the other's policy or template is not compliant."""
    return _steps_in(one, other) or _steps_in(other, one)


def _steps_in(demand: DemandedObject, other: DemandedObject) -> bool:
    policy, awaited = demand.template.policy, other.template
    for dependency, pointer in _waits(policy):
        is_for_it = pointer[1] == "dependencies" or pointer[:3] == demand.template.pointer[:3]
        if is_for_it and text(dependency.get("compliance")).lower() == "noncompliant":
            kind = _kind_of(dependency)
            if kind == awaited.kind and dependency.get("name") == awaited.name:
                return True
            if kind == POLICY and _awaited(dependency, kind, policy) == awaited.policy.key:
                return True
    return False


def _waits(policy: Resource) -> Iterator[tuple[Mapping[str, Any], Pointer]]:
    """Yield what a Policy and its templates wait for, and where each is written."""
    holders: list[tuple[Any, Pointer]] = [(policy.spec.get("dependencies"), ("spec", "dependencies"))]
    for number, template in enumerate(map(mapping, sequence(policy.spec.get("policy-templates")))):
        listed = template.get("extraDependencies")
        holders.append((listed, ("spec", "policy-templates", number, "extraDependencies")))
    for listed, pointer in holders:
        for number, dependency in enumerate(map(mapping, sequence(listed))):
            yield dependency, (*pointer, number)


def _kind_of(dependency: Mapping[str, Any]) -> tuple[str, str]:
    return (text(dependency.get("apiVersion")).rpartition("/")[0], text(dependency.get("kind")))


def _awaited(dependency: Mapping[str, Any], kind: tuple[str, str], policy: Resource) -> ResourceKey:
    """Return the Policy or PolicySet that a dependency names."""
    namespace, name = text(dependency.get("namespace")), text(dependency.get("name"))
    if kind == POLICY and name.count(".") == 1:  # as the hub calls its copies
        namespace, _, name = name.partition(".")
    return ResourceKey(*kind, namespace or policy.key.namespace, name)


class HubLookup(NamedTuple):
    """A lookup of a hub template: the namespace that it names, and where the text stands."""

    namespace: str
    pointer: Pointer


def hub_lookups(policy: Resource) -> Iterator[HubLookup]:
    """Yield the lookups of hub templates that name a namespace."""
    for pointer, written in template_texts(policy):
        for action in written.split(_HUB)[1:]:
            for match in _LOOKUP.finditer(action.partition(_HUB_END)[0]):
                yield HubLookup(match["namespace"], pointer)


def template_texts(policy: Resource) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts of a Policy's templates that may hold templates themselves, and where each stands."""
    for template in policy_templates(policy):
        annotations = mapping(mapping(template.body.get("metadata")).get("annotations"))
        if text(annotations.get(_NOT_RESOLVED)).lower() != "true":
            yield from _texts(template.body, template.pointer)


def unbalanced(written: str) -> str:
    """Return which delimiter of a text with templates has no partner, "" if all have one.

    The hub replaces what stands between `{{hub` and `hub}}`; each cluster then what stands between `{{` and `}}`.
    Source: go-template-utils pkg/templates.
    """
    outside, *actions = written.split(_HUB)
    rest = [outside]
    for action in actions:
        _, closed, after = action.partition(_HUB_END)
        if not closed:
            return f"`{_HUB}` without `{_HUB_END}`"
        rest.append(after)
    left = "".join(rest)
    if _HUB_END in left and _SPACED.search(left):
        return f"`{_HUB_END}` without `{_HUB}`"
    position = 0
    while (start := left.find("{{", position)) >= 0:
        end = left.find("}}", start + 2)
        if end < 0:
            return "`{{` without `}}`"
        position = end + 2
    return ""


def _texts(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    pending = [(value, pointer)]
    while pending:
        inner, place = pending.pop()
        if isinstance(inner, str):
            if "{{" in inner or "}}" in inner:
                yield place, inner
        elif isinstance(inner, Mapping):
            pending.extend((entry, (*place, name)) for name, entry in inner.items())
        elif isinstance(inner, list):
            pending.extend((entry, (*place, number)) for number, entry in enumerate(inner))
