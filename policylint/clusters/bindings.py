"""PlacementBindings and PolicySets as they are written: the subjects they name, and whether those are there."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.kinds import BINDING, CLUSTER, PLACES, POLICY, POLICY_GROUP, SUBJECTS
from policylint.documents import Pointer
from policylint.model import Resolution, Resource, ResourceKey, World, mapping, sequence, text
from policylint.namedtuple import NamedTuple

ROOT_LABEL = f"{POLICY_GROUP}/root-policy"


class NamedReference(NamedTuple):
    """One name in a binding or PolicySet.

    Args:
        key: the identity it has in the namespace of its object.
        pointer: where it is written.
    """

    key: ResourceKey
    pointer: Pointer


class ClusterBinding(NamedTuple):
    """One PlacementBinding.

    Args:
        placement: what it names as the place; None where kind and group do not pair up, so that it is ignored.
        subjects: its Policies and PolicySets, each once.
        enforces: whether it makes the policies enforce.
        restricted: whether it only overrides where another binding places.
    """

    resource: Resource
    placement: NamedReference | None
    subjects: tuple[NamedReference, ...]
    enforces: bool
    restricted: bool

    @property
    def key(self) -> ResourceKey:
        """The identity of the PlacementBinding."""
        return self.resource.key


def bindings(world: World) -> Iterator[ClusterBinding]:
    """Yield the bindings of a world, by namespace and name.

    Source: governance-policy-propagator api/v1/placementbinding_types.go; HasValidPlacementRef in
    controllers/common/common.go.
    """
    for resource in world.of_kind(*BINDING):
        body, namespace = resource.body, resource.key.namespace
        place = mapping(body.get("placementRef"))
        kind = (text(place.get("apiGroup")), text(place.get("kind")))
        placement = None
        if kind in PLACES:
            placement = NamedReference(ResourceKey(*kind, namespace, text(place.get("name"))), ("placementRef", "name"))
        subjects: dict[ResourceKey, NamedReference] = {}
        for number, subject in enumerate(map(mapping, sequence(body.get("subjects")))):
            about = (text(subject.get("apiGroup")), text(subject.get("kind")))
            if about in SUBJECTS:
                key = ResourceKey(*about, namespace, text(subject.get("name")))
                subjects.setdefault(key, NamedReference(key, ("subjects", number, "name")))
        action = text(mapping(body.get("bindingOverrides")).get("remediationAction"))
        yield ClusterBinding(
            resource,
            placement,
            tuple(subjects.values()),
            action.lower() == "enforce",
            body.get("subFilter") == "restricted",
        )


def members(policy_set: Resource) -> Iterator[NamedReference]:
    """Yield the Policies that a PolicySet names, each once."""
    seen: set[str] = set()
    for number, name in enumerate(sequence(policy_set.spec.get("policies"))):
        if isinstance(name, str) and name not in seen:
            seen.add(name)
            key = ResourceKey(*POLICY, policy_set.key.namespace, name)
            yield NamedReference(key, ("spec", "policies", number))


class Exclusion(NamedTuple):
    """A Policy that a PolicySet keeps from some clusters, on the ways through the set alone."""

    policy: ResourceKey
    clusters: tuple[str, ...]
    pointer: Pointer


def exclusions(policy_set: Resource) -> Iterator[Exclusion]:
    """Yield what a PolicySet excludes."""
    for number, entry in enumerate(map(mapping, sequence(policy_set.spec.get("exclusions")))):
        key = ResourceKey(*POLICY, policy_set.key.namespace, text(entry.get("policyName")))
        names = tuple(name for name in sequence(entry.get("clusterNames")) if isinstance(name, str))
        yield Exclusion(key, names, ("spec", "exclusions", number, "policyName"))


def is_replica(world: World, policy: Resource) -> bool:
    """Return whether a Policy is a copy that the hub makes for one cluster: it says so, or lies in its namespace."""
    return ROOT_LABEL in policy.labels or world.get(ResourceKey(*CLUSTER, "", policy.key.namespace)) is not None


def resolve(world: World, key: ResourceKey) -> Resolution:
    """Resolve a name in a binding or set; a tree without any such object there leaves them to another repository."""
    return world.resolve_inner(key)
