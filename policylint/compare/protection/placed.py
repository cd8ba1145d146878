"""GWP304 for policies on clusters: enforced on fewer of them, and what they or ManifestWorks bring protects less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.weakenings import common_weaknesses
from policylint.checks.kit.locations import path
from policylint.compare.pairing import Sides
from policylint.compare.peers import lets_in_more
from policylint.compare.placements import NOWHERE, PlacementChange
from policylint.compare.protection.cause import RULE
from policylint.compare.protection.spec import weakenings
from policylint.model import Finding, Location, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.words import count, listing
from policylint.network.kinds import KINDS as NETWORK_POLICIES

_OF_POLICIES = "policy.open-cluster-management.io"
_WORKS = (
    ("work.open-cluster-management.io", "ManifestWork"),
    ("work.open-cluster-management.io", "ManifestWorkReplicaSet"),
)
_PROTECTING = frozenset(
    {"rbac.authorization.k8s.io", "admissionregistration.k8s.io", "kyverno.io", "constraints.gatekeeper.sh"}
)
_PLACEMENT = ("cluster.open-cluster-management.io", "Placement")
_ADDON = ("addon.open-cluster-management.io", "ManagedClusterAddOn")
_MOST = 200
_Template = tuple[tuple[str, str, str, str], str]
"""Group, kind, namespace and name of an object that is brought to clusters, and what is made of it (musthave)."""


def placed_less(sides: Sides, placements: Iterable[PlacementChange]) -> Iterator[Finding]:
    """Yield policies that are enforced on fewer clusters, and what brings clusters less of what protects them."""
    yield from _fewer_clusters(sides, placements)
    yield from _fewer_templates(sides)
    yield from _fewer_reached(sides)


def _fewer_clusters(sides: Sides, placements: Iterable[PlacementChange]) -> Iterator[Finding]:
    for change in placements:
        was, now = (_enforced(state) for state in (change.before, change.after))
        if now >= was:
            continue
        if sides.after.world.get(change.policy) is None:
            continue  # it is gone altogether, which whoever deletes it says
        where = count(len(change.clusters), "cluster") if change.clusters else "some clusters"
        # What is placed there perhaps on both sides is enforced no longer wherever it is.
        perhaps = change.after.startswith("perhaps") and not change.before.startswith("perhaps")
        after = change.after if perhaps else change.after.removeprefix("perhaps ")
        became = "not placed there any more" if after == NOWHERE else f"{after} now"
        yield _finding(
            sides,
            f"{change.policy} {'may no longer be' if perhaps else 'is no longer'} enforced on {where}: it is {became}",
            change.location,
            (change.policy, *change.by),
            severity="note" if perhaps else "warning",
        )


def _enforced(state: str) -> int:
    """Return how sure it is that a policy is enforced in a state: 0, 1 for perhaps, 2."""
    certain = state.removeprefix("perhaps ")
    return 0 if not certain.startswith("enforce") else 2 if certain == state else 1


def _fewer_templates(sides: Sides) -> Iterator[Finding]:
    """Yield the objects that bring clusters something that protects no longer, or with another content."""
    for kind in ((_OF_POLICIES, "Policy"), (_OF_POLICIES, "ConfigurationPolicy"), *_WORKS):
        for old, new in sides.edited(*kind):
            if new.spec == old.spec:
                continue
            before, after = dict(_templates(sides, old)), dict(_templates(sides, new))
            lost = [name for name in before if name not in after]
            both = [name for name in before if name in after and after[name] != before[name]]
            less = [name for name in both if _is_less(sides, name, before[name], after[name], new)]
            other = [
                name for name in both if name not in less and not _is_less(sides, name, after[name], before[name], new)
            ]
            for names, what, severity in (
                (lost, "no longer brings clusters", "warning"),
                (less, "brings clusters a weaker", "warning"),
                (other, "brings clusters another content of", "note"),
            ):
                if names:
                    shown = listing((_words(name) for name in names), most=3)
                    yield _finding(sides, f"{new.key} {what} {shown}", new.name_location, (new.key,), severity)
            yield from _spared(sides, old, new)


def _fewer_reached(sides: Sides) -> Iterator[Finding]:
    """Yield what gets to fewer clusters whichever those are, and what is put right no more once it is in place."""
    for kind, field, says in (
        (_PLACEMENT, "tolerations", "no longer chooses clusters with the taint"),
        (_WORKS[1], "placementRefs", "no longer goes to the clusters of Placement"),
    ):
        for old, new in sides.edited(*kind):
            if gone := [each for each in sequence(old.spec.get(field)) if each not in sequence(new.spec.get(field))]:
                names = listing((text(mapping(each).get("key") or mapping(each).get("name")) for each in gone), most=3)
                location = new.location("spec", field) if field in new.spec else new.name_location
                yield _finding(sides, f"{new.key} {says} {names or 'of any name'}", location, (new.key,))
    for key in sides.pairing.removed:
        gone_addon = sides.before.world.get(key) if key[:2] == _ADDON and "policy" in key.name else None
        if gone_addon is not None:
            says = f"{key} is gone: nothing enforces policies on cluster {key.namespace} any more"
            yield _finding(sides, says, gone_addon.name_location, (key,))
    for kind in ((_OF_POLICIES, "Policy"), (_OF_POLICIES, "ConfigurationPolicy")):
        for old, new in sides.edited(*kind):
            looked = {text(mapping(body.get("metadata")).get("name")): _looks(body) for _, body in _bodies(old)}
            for pointer, body in _bodies(new):
                name = text(mapping(body.get("metadata")).get("name"))
                if not _looks(body) and looked.get(name):
                    location = new.location(*pointer, "spec", "evaluationInterval")
                    yield _finding(
                        sides, f"{new.key} no longer puts right what drifts on clusters", location, (new.key,)
                    )


def _looks(body: Mapping[str, Any]) -> bool:
    """Tell whether a configuration policy looks again at what it found in order."""
    return mapping(mapping(body.get("spec")).get("evaluationInterval")).get("compliant") != "never"


def _is_less(
    sides: Sides, template: _Template, before: Mapping[str, Any], after: Mapping[str, Any], holder: Resource
) -> bool:
    """Tell whether an object that is brought to clusters protects less than a former one, as far as can be told."""
    (group, kind, namespace, name), _ = template
    if (group, kind) in NETWORK_POLICIES:
        key = ResourceKey(group, kind, namespace or "default", name)
        metadata = {"name": name, "namespace": key.namespace}
        worlds = (
            World("", (Resource(key, "v1", {**body, "metadata": metadata}, holder.document, holder.root),))
            for body in (before, after)
        )
        if lets_in_more(*worlds):
            return True
    known = sides.after.catalog.get(group, kind)
    old, new = (mapping(body["spec"]) if "spec" in body else body for body in (before, after))
    words = [*(() if known is None else known.weaker), *common_weaknesses(kind, old, new, known)]
    return next(weakenings(words, old, new), None) is not None


def _spared(sides: Sides, old: Resource, new: Resource) -> Iterator[Finding]:
    """Yield the namespaces that a configuration policy leaves out beyond those that it left out before."""
    before, after = dict(_selectors(old)), dict(_selectors(new))
    for name, (pointer, selector) in after.items():
        former = before.get(name, ((), {}))[1]
        more = [each for each in sequence(selector.get("exclude")) if each not in sequence(former.get("exclude"))]
        fewer = [each for each in sequence(former.get("include")) if each not in sequence(selector.get("include"))]
        if name in before and (more or (fewer and not set(map(str, sequence(selector.get("include")))) & {"*"})):
            spared = listing(map(str, more or fewer), most=3)
            field = (*pointer, "exclude" if more else "include")
            location = new.location(*field) if more or "include" in selector else new.location(*pointer)
            yield _finding(sides, f"{new.key} now leaves out namespaces {spared}: {path(field)}", location, (new.key,))


def _selectors(resource: Resource) -> Iterator[tuple[str, tuple[tuple[Any, ...], Mapping[str, Any]]]]:
    for pointer, body in _bodies(resource):
        selector = mapping(mapping(body.get("spec")).get("namespaceSelector"))
        if selector:
            yield text(mapping(body.get("metadata")).get("name")), ((*pointer, "spec", "namespaceSelector"), selector)


def _bodies(resource: Resource) -> Iterator[tuple[tuple[Any, ...], Mapping[str, Any]]]:
    """Yield a resource that lists objects itself, and those within it that do, with their pointers."""
    if resource.key.kind == "ConfigurationPolicy":
        yield (), resource.body
    for number, entry in enumerate(sequence(resource.spec.get("policy-templates"))[:_MOST]):
        yield ("spec", "policy-templates", number, "objectDefinition"), mapping(mapping(entry).get("objectDefinition"))


def _templates(sides: Sides, resource: Resource) -> Iterator[tuple[_Template, Any]]:
    """Yield what is brought to clusters and protects something there, with what it says."""
    listed: list[tuple[str, Any]] = [
        (text(mapping(entry).get("complianceType")).lower(), mapping(entry).get("objectDefinition"))
        for _, body in _bodies(resource)
        for entry in sequence(mapping(body.get("spec")).get("object-templates"))[:_MOST]
    ]
    work = mapping(resource.spec.get("manifestWorkTemplate")) or resource.spec
    listed += (("", each) for each in sequence(mapping(work.get("workload")).get("manifests"))[:_MOST])
    for made, value in listed:
        body = mapping(value)
        group = text(body.get("apiVersion")).rpartition("/")[0]
        kind, metadata = text(body.get("kind")), mapping(body.get("metadata"))
        is_policy = sides.after.catalog.get(group, kind) is not None
        if is_policy or (group, kind) in NETWORK_POLICIES or group in _PROTECTING:
            name = group, kind, text(metadata.get("namespace")), text(metadata.get("name"))
            yield (name, made), {field: said for field, said in body.items() if field not in ("metadata", "apiVersion")}


def _words(template: _Template) -> str:
    _, kind, namespace, name = template[0]
    return " ".join(filter(None, (kind, f"{namespace}/{name}" if namespace else name)))


def _finding(
    sides: Sides, message: str, location: Location, resources: tuple[Any, ...], severity: Any = "warning"
) -> Finding:
    return Finding(
        RULE,
        severity,
        message,
        location,
        resources=resources,
        label="clusters are less protected",
        environments=(sides.after.world.name,),
    )


__all__ = ["placed_less"]
