"""The policies of one hub, ready for questions: on which clusters each is placed, with which action, and by what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from policylint.clusters.bindings import ClusterBinding, bindings, exclusions, is_replica, members, resolve
from policylint.clusters.fleet import ClusterFleet
from policylint.clusters.kinds import BINDING, POLICY, POLICY_SET
from policylint.clusters.placements import PlacementSelection, select
from policylint.model import Resource, ResourceKey, World, is_symbolic, text
from policylint.namedtuple import NamedTuple
from policylint.network.selecting import Chosen

NOWHERE = frozenset({"", "no-clusterset-bound", "no-match", "misconfigured", "placement-missing", "placement-refused"})
"""Reasons of selections that are known."""
PER_TEMPLATE = "per-template"


class ClusterCoverage(NamedTuple):
    """What the bindings of one subject, or of a policy's subjects together, cover.

    Args:
        bound: whether a binding that is not restricted names it.
        placed, enforced: the clusters on which they place it, and on which they make it enforce.
        more, more_enforced: whether clusters that nothing names may be among these.
        reasons: of their selections, in order.
        words: what the placements ask for.
        via: the bindings, sets and placements on the way.
    """

    bound: bool = False
    placed: Chosen = Chosen()
    enforced: Chosen = Chosen()
    more: bool = False
    more_enforced: bool = False
    reasons: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    via: tuple[ResourceKey, ...] = ()

    def __or__(self, other: ClusterCoverage) -> ClusterCoverage:
        return ClusterCoverage(
            self.bound or other.bound,
            self.placed | other.placed,
            self.enforced | other.enforced,
            self.more or other.more,
            self.more_enforced or other.more_enforced,
            tuple(dict.fromkeys((*self.reasons, *other.reasons))),
            tuple(dict.fromkeys((*self.words, *other.words))),
            tuple(dict.fromkeys((*self.via, *other.via))),
        )

    def without(self, clusters: int) -> ClusterCoverage:
        """Return the same without some clusters, which a PolicySet excludes."""
        if not clusters:
            return self
        return self._replace(placed=self.placed.within(~clusters), enforced=self.enforced.within(~clusters))


class PolicyPlacement(NamedTuple):
    """Where a policy is placed with one action.

    Args:
        clusters: the set of those for certain.
        possible: the set of the others that may be.
        more: whether clusters that nothing names may be among them.
        action: `enforce`, `inform`, `per-template`; "" where there is none or a variable holds it.
        reason: why it is placed nowhere, or why that is not known; "" where it is.
        words: what the placements ask of clusters.
        via: the bindings, sets and placements on the way.
    """

    policy: ResourceKey
    clusters: int
    possible: int
    more: bool
    action: str
    reason: str
    words: str
    via: tuple[ResourceKey, ...]

    @property
    def nowhere(self) -> bool:
        """Whether no cluster gets the policy, for certain."""
        return not self.clusters and not self.possible and not self.more

    @property
    def known(self) -> bool:
        """Whether the clusters are known, or some of them."""
        return bool(self.clusters) or self.nowhere


class Hub:
    """The policies for clusters of one world.

    Attributes:
        fleet: the clusters that the input names.
        bindings: all PlacementBindings, by namespace and name.
    """

    def __init__(self, world: World, refused: Collection[ResourceKey] = ()) -> None:
        self.world = world
        self._refused = refused
        self.fleet = ClusterFleet(world)
        self.bindings = tuple(bindings(world))
        self._by_subject: dict[ResourceKey, list[ClusterBinding]] = defaultdict(list)
        for binding in self.bindings:
            for subject in binding.subjects if binding.placement and binding.key not in refused else ():
                self._by_subject[subject.key].append(binding)
        self._sets_of: dict[ResourceKey, list[Resource]] = defaultdict(list)
        self._vague = {  # namespaces in which a name holds a variable, and so may mean any policy
            binding.key.namespace
            for binding in self.bindings
            if any(is_symbolic(subject.key.name) for subject in binding.subjects)
        }
        self._excluded: dict[tuple[ResourceKey, ResourceKey], int] = defaultdict(int)
        for policy_set in (each for each in world.of_kind(*POLICY_SET) if each.key not in refused):
            for member in members(policy_set):
                self._sets_of[member.key].append(policy_set)
                if is_symbolic(member.key.name):
                    self._vague.add(policy_set.key.namespace)
            for exclusion in exclusions(policy_set):
                self._excluded[policy_set.key, exclusion.policy] |= self.fleet.bits(exclusion.clusters)
        self._selections: dict[ResourceKey, PlacementSelection] = {}
        self._coverages: dict[ResourceKey, ClusterCoverage] = {}

    @cached_property
    def policies(self) -> dict[ResourceKey, tuple[PolicyPlacement, ...]]:
        """Where each Policy is placed, one entry per action; replicas, which the hub makes itself, are left out."""
        return {
            policy.key: tuple(self._place(policy))
            for policy in self.world.of_kind(*POLICY)
            if not is_replica(self.world, policy)
        }

    def bindings_of(self, subject: ResourceKey) -> list[ClusterBinding]:
        """Return the valid bindings that name a Policy or PolicySet."""
        return self._by_subject.get(subject, [])

    def sets_of(self, policy: ResourceKey) -> list[Resource]:
        """Return the PolicySets that name a Policy."""
        return self._sets_of.get(policy, [])

    def selection(self, placement: ResourceKey) -> PlacementSelection:
        """Return what a Placement or PlacementRule selects; one that is not there selects nothing."""
        known = self._selections.get(placement)
        if known is None:
            resolution = resolve(self.world, placement)
            if placement in self._refused:
                known = PlacementSelection(reason="placement-refused")
            elif resolution.resource is not None:
                known = select(self.fleet, resolution.resource)
            elif resolution.missing:
                known = PlacementSelection(reason="placement-missing")
            else:
                known = PlacementSelection(
                    Chosen(0, self.fleet.all), True, "placement-unknown", detail=resolution.reason
                )
            self._selections[placement] = known
        return known

    def coverage(self, subject: ResourceKey) -> ClusterCoverage:
        """Return what the bindings of a Policy or PolicySet cover, exclusions left aside."""
        known = self._coverages.get(subject)
        if known is None:
            known = self._coverages[subject] = self._united(self.bindings_of(subject))
        return known

    def on_way(self, policy: ResourceKey, policy_set: ResourceKey) -> ClusterCoverage:
        """Return what the bindings of a PolicySet cover for one of its policies."""
        return self.coverage(policy_set).without(self._excluded.get((policy_set, policy), 0))

    def _united(self, named_by: Iterable[ClusterBinding]) -> ClusterCoverage:
        placed = enforced = Chosen()
        bound = more = more_enforced = False
        reasons: dict[str, None] = {}
        words: dict[str, None] = {}
        via: dict[ResourceKey, None] = {}
        for binding in named_by:
            assert binding.placement is not None
            selection = self.selection(binding.placement.key)
            via.update({binding.key: None, binding.placement.key: None})
            if not binding.restricted:
                bound = True
                placed |= selection.chosen
                more = more or selection.more
                reasons[selection.reason] = words[selection.words] = None
            if binding.enforces:
                enforced |= selection.chosen
                more_enforced = more_enforced or selection.more
        return ClusterCoverage(bound, placed, enforced, more, more_enforced, tuple(reasons), tuple(words), tuple(via))

    def of_policy(self, policy: ResourceKey) -> ClusterCoverage:
        """Return what bindings cover for a policy, directly and through its sets."""
        united = self.coverage(policy)
        for policy_set in self.sets_of(policy):
            way = self.on_way(policy, policy_set.key)
            if way.via:
                united |= way._replace(via=(policy_set.key, *way.via))
        return united

    def _place(self, policy: Resource) -> Iterator[PolicyPlacement]:
        key, spec = policy.key, policy.spec
        cover = self.of_policy(key)
        words = " or ".join(filter(None, cover.words))
        if stopped := "refused" if key in self._refused else "disabled" if spec.get("disabled") is True else "":
            yield PolicyPlacement(key, 0, 0, False, "", stopped, words, cover.via)
            return
        unseen = self.unseen_bindings(key)
        placed, more = cover.placed, cover.more
        if unseen and not cover.bound:
            placed, more = Chosen(0, self.fleet.all), True
        elif is_symbolic(spec.get("disabled")):
            placed = Chosen(0, placed.maybe)
        if not placed.maybe and not more:
            yield PolicyPlacement(key, 0, 0, False, "", self._why_nowhere(key, cover), words, cover.via)
            return
        doubt = next((each for each in cover.reasons if each not in NOWHERE), "")
        reason = "bindings-unknown" if unseen and not cover.bound else doubt
        written = text(spec.get("remediationAction"))
        action = "" if is_symbolic(written) else written.lower() or PER_TEMPLATE
        enforced = cover.enforced if action != "enforce" else Chosen()
        for name, chosen, may_be_more in (
            (action, Chosen(placed.sure & ~enforced.maybe, placed.maybe & ~enforced.sure), more),
            ("enforce", placed & enforced, more and cover.more_enforced and action != "enforce"),
        ):
            if chosen.maybe or may_be_more:
                unsure = chosen.maybe & ~chosen.sure
                doubt = reason if unsure or may_be_more else ""
                yield PolicyPlacement(key, chosen.sure, unsure, may_be_more, name, doubt, words, cover.via)

    def _why_nowhere(self, policy: ResourceKey, cover: ClusterCoverage) -> str:
        if not cover.bound:
            return "not-bound"
        ways = [self.coverage(policy), *(self.coverage(policy_set.key) for policy_set in self.sets_of(policy))]
        if any(way.placed.maybe for way in ways):
            return "excluded"
        return next((reason for reason in cover.reasons if reason != "placement-missing"), "placement-missing")

    def unseen_bindings(self, policy: ResourceKey) -> str:
        """Return why PlacementBindings that nobody saw may name a policy, "" when they cannot.

        A tree that has none in the policy's namespace is a library of policies, which somebody else binds.
        """
        namespace = policy.namespace
        if policy.unplaced or is_symbolic(namespace):
            return "its namespace is decided elsewhere"
        if namespace in self._vague:
            return "a binding or set names a policy by a variable"
        if self.world.partial and not self.world.in_namespace(*BINDING, namespace):
            return f"no PlacementBinding of namespace {namespace} is in the tree, so they come from elsewhere"
        return self.world.unseen.reason(ResourceKey(*BINDING, namespace, ""))
