"""All network policies of a world as written; nothing here knows pods or labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from policylint.implementations.generic.generated_policies import generated
from policylint.implementations.generic.unread_policies import settled_by_variable
from policylint.model import Resource, ResourceKey, World
from policylint.network.facts import closing
from policylint.network.kinds import CLUSTER, NETWORK_POLICY, unevaluated
from policylint.network.rules import (
    DIRECTIONS,
    TOGETHER,
    Entity,
    Pods,
    PolicySpec,
    cluster_policy,
    network_policy,
    read_policy,
)

if TYPE_CHECKING:
    from policylint.schema.broken import BrokenObject


def read_policies(
    world: World, refused: Mapping[ResourceKey, BrokenObject], of_dialects: Iterable[PolicySpec]
) -> tuple[PolicySpec, ...]:
    """Return the network policies of a world, by kind, namespace and name; those that are refused are marked.

    What closes all pods, Cilium's mode `always`, stands after them as a policy of the object that sets it.

    Args:
        refused: what the API server refuses for its schema.
        of_dialects: the policies that engines read by rules of their own.
    """
    found: list[PolicySpec] = []
    for kind in (NETWORK_POLICY, *CLUSTER):
        read = network_policy if kind == NETWORK_POLICY else cluster_policy
        for resource in world.of_kind(*kind):
            broken = refused.get(resource.key)
            policy = resource.once(read_policy, read) if broken is None else _refused(resource, broken)
            found.append(settled_by_variable(policy, read))
    for key, policies in groupby(of_dialects, key=lambda policy: policy.key):  # one object may hold several
        broken, (first, *more) = refused.get(key), policies
        found += map(settled_by_variable, [first, *more]) if broken is None else [_refused(first.resource, broken)]
    others = (made for each in unevaluated(world) for made in generated(each, world))
    return (*found, *others, *_closing(world))


def _refused(resource: Resource, broken: BrokenObject) -> PolicySpec:
    return PolicySpec(resource, TOGETHER, 0, None, refused=broken.because)


def _closing(world: World) -> Iterator[PolicySpec]:
    """Yield a policy that closes every pod in both directions, where the plugin enforces policies `always`.

    Source: cilium/cilium pkg/policy/repository.go, computePolicyEnforcementAndRules: the mode comes before the rules.
    Whether a Gateway's identity is an endpoint like others is up to the release.
    """
    stated = closing(world)
    if stated is None:
        return
    resource, is_certain = stated
    pods = Pods(None, {}, {}, "identities" if is_certain else "unread")
    for subject in (pods, Entity("perhaps ingress")):
        yield PolicySpec(resource, "NetworkPolicy", 0, subject, isolates=frozenset(DIRECTIONS))
