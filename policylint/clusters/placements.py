"""What a Placement or PlacementRule selects: clusters for certain, clusters perhaps, and the selector in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.clusters.fleet import DEFAULT, GLOBAL, ClusterFleet, decisions
from policylint.clusters.kinds import CLUSTER_SET, DECISION, PLACEMENT, SET_BINDING
from policylint.clusters.selectors import wrong_expression, wrong_selector
from policylint.model import Resource, ResourceKey, World, integer, is_symbolic, mapping, sequence, text
from policylint.model.words import series
from policylint.namedtuple import NamedTuple
from policylint.network.selecting import Chosen

_GLOBAL_NAMESPACE = "open-cluster-management-global-set"
_PLACEMENT_LABEL = "cluster.open-cluster-management.io/placement"


TAINTED = "a taint that it does not tolerate"


class PlacementSelection(NamedTuple):
    """The clusters that a placement selects.

    Args:
        chosen: those among the known clusters.
        more: whether clusters that nothing names may be among them.
        reason: why there are none (`no-clusterset-bound`, `no-match`, `placement-missing`, `placement-refused` …), or
            why it is not known which (`any-1-of-2`, `cel-selector`, `clusters-unknown` …); "" where it is.
        words: what is asked of a cluster.
        detail: the reason in a sentence, where it needs one.
    """

    chosen: Chosen = Chosen()
    more: bool = False
    reason: str = ""
    words: str = ""
    detail: str = ""

    @property
    def empty(self) -> bool:
        """Whether no cluster is selected, for certain."""
        return not self.chosen.maybe and not self.more


def select(fleet: ClusterFleet, placement: Resource) -> PlacementSelection:
    """Return what a Placement or PlacementRule selects."""
    words = in_words(placement)
    if placement.key[:2] != PLACEMENT:
        decided = decisions(placement)
        if decided is None:
            return PlacementSelection(Chosen(0, fleet.all), True, "placementrule-without-decisions", words)
        return _decided(fleet, decided, words)
    known = list(_decisions_of(fleet.world, placement.key))
    if known:
        return _decided(fleet, [name for names in known for name in names], words)
    return _computed(fleet, placement, words)


def _decided(fleet: ClusterFleet, names: list[str], words: str) -> PlacementSelection:
    bits = fleet.bits(names)
    return PlacementSelection(Chosen(bits, bits), reason="" if bits else "no-match", words=words)


def _decisions_of(world: World, key: ResourceKey) -> Iterator[list[str]]:
    for decision in world.in_namespace(*DECISION, key.namespace):
        if decision.labels.get(_PLACEMENT_LABEL) == key.name:
            names = decisions(decision)
            if names is not None:
                yield names


def _computed(fleet: ClusterFleet, placement: Resource, words: str) -> PlacementSelection:
    spec = placement.spec
    wrong = misconfigured(placement)
    if wrong:
        return PlacementSelection(reason="misconfigured", words=words, detail=wrong)
    sets, unseen = bound_sets(fleet.world, placement)
    if not sets and not unseen:
        detail = f"no ManagedClusterSetBinding in namespace {placement.key.namespace}"
        if sequence(spec.get("clusterSets")):
            detail += " for a set in clusterSets"
        return PlacementSelection(reason="no-clusterset-bound", words=words, detail=detail)
    if wrong := _wrong_set(fleet, sets):
        return PlacementSelection(reason="misconfigured", words=words, detail=wrong)
    candidates = Chosen(0, fleet.all if unseen else 0)
    for name in sets:
        candidates |= fleet.members(name)
    matched, doubt = _predicates(fleet, spec)
    matched &= candidates
    staying = fleet.tolerated(map(mapping, sequence(spec.get("tolerations"))))
    chosen = matched & Chosen(staying.sure & ~fleet.unsure, staying.maybe)
    reason = unseen or ("clusters-unknown" if fleet.may_be_larger else "")
    if not reason and chosen.sure != chosen.maybe:
        reason = doubt or ("labels-unknown" if matched.sure != matched.maybe else "may-leave")
    more = fleet.may_be_larger
    most = integer(spec.get("numberOfClusters"))
    if most is not None:
        number = chosen.maybe.bit_count()
        if most <= 0:
            chosen, more, reason = Chosen(), False, ""
        elif more or most < number:
            reason = reason if more else f"any-{most}-of-{number}"
            chosen = Chosen(0, chosen.maybe)
    if not chosen.maybe and not more:
        detail = f"what meets {words} has {TAINTED}" if matched.maybe and most != 0 else ""
        return PlacementSelection(reason="no-match", words=words, detail=detail)
    return PlacementSelection(chosen, more, reason, words)


def bound_sets(world: World, placement: Resource) -> tuple[list[str], str]:
    """Return the ManagedClusterSets whose clusters are candidates, and why there may be others ("" if not).

    A binding counts if its name is that of its set. Source: OCM api cluster/v1beta1/types_placement.go;
    webhook/v1beta2/managedclustersetbinding_validating.go.
    """
    namespace = placement.key.namespace
    wanted = sequence(placement.spec.get("clusterSets"))
    names = {GLOBAL} if namespace == _GLOBAL_NAMESPACE else set()
    unseen = ""
    for binding in world.in_namespace(*SET_BINDING, namespace):
        name = text(binding.spec.get("clusterSet"))
        key = ResourceKey(*CLUSTER_SET, "", name)
        if name != binding.key.name:
            continue
        if name in (GLOBAL, DEFAULT) or not world.of_kind(*CLUSTER_SET) or not world.resolve(key).missing:
            names.add(name)
        elif name in wanted and not world.is_misspelt(key):
            unseen = "cluster-sets-unknown"  # whoever binds it and asks for it has it: it was made by hand
    elsewhere = not names and world.partial and not world.of_kind(*SET_BINDING)
    if elsewhere or placement.key.unplaced or world.unseen.reason(ResourceKey(*SET_BINDING, namespace, "")):
        unseen = "set-bindings-unknown"
    elif any(map(is_symbolic, wanted)):
        unseen = "cluster-sets-unknown"
    return sorted(name for name in names if not wanted or name in wanted), unseen


def _wrong_set(fleet: ClusterFleet, names: list[str]) -> str:
    """Return what is wrong with one of the sets, for which the scheduler decides nothing; "" if nothing is.

    Source: OCM pkg/placement/controllers/scheduling, getAvailableClusters.
    """
    for name in names:
        selector = fleet.set_selector(name)
        if selector is not None and (wrong := wrong_selector(selector)):
            return f"the labelSelector of ManagedClusterSet {name} {wrong}"
    return ""


def _predicates(fleet: ClusterFleet, spec: Mapping[str, Any]) -> tuple[Chosen, str]:
    """Return what the predicates select, one of which is enough, and what makes that uncertain."""
    predicates = [mapping(mapping(item).get("requiredClusterSelector")) for item in sequence(spec.get("predicates"))]
    if not predicates:
        return Chosen(fleet.all, fleet.all), ""
    united, doubt = Chosen(), ""
    for required in predicates:
        labelled = fleet.labelled(mapping(required.get("labelSelector")))
        claiming = fleet.claiming(mapping(required.get("claimSelector")))
        if claiming.sure != claiming.maybe:
            doubt = doubt or "claims-unknown"
        chosen = labelled & claiming
        if expressions := _expressions(required):
            meeting = fleet.meeting(expressions)
            doubt = doubt if meeting.sure == meeting.maybe else "cel-selector"
            chosen &= meeting
        united |= chosen
    return united, doubt


def misconfigured(placement: Resource) -> str:
    """Return what makes the whole Placement Misconfigured, so that it selects nothing; "" if nothing does.

    Source: OCM pkg/placement/plugins, predicate and tainttoleration.
    """
    for required in map(_required, sequence(placement.spec.get("predicates"))):
        for name in ("labelSelector", "claimSelector"):
            if wrong := wrong_selector(mapping(required.get(name))):
                return f"{name} {wrong}"
        for expression in _expressions(required):
            if wrong := wrong_expression(expression):
                return f"the expression {expression!r} {wrong}"
    for toleration in map(mapping, sequence(placement.spec.get("tolerations"))):
        exists = toleration.get("operator") == "Exists"
        if not exists and not toleration.get("key"):
            return "a toleration has neither a key nor the operator Exists"
        if exists and toleration.get("value"):
            return "a toleration has the operator Exists and a value"
    for entry in map(mapping, sequence(mapping(placement.spec.get("prioritizerPolicy")).get("configurations"))):
        scored = mapping(entry.get("scoreCoordinate"))
        if entry.get("weight") == 0 or any(map(is_symbolic, scored.values())):
            continue
        if scored.get("type", "BuiltIn") == "AddOn":
            if "addOn" not in scored:
                return "a prioritizer of the type AddOn has no addOn"
        elif scored.get("builtIn") not in _PRIORITIZERS:
            return f"there is no built-in prioritizer {scored.get('builtIn', '')!r}"
    return ""


_PRIORITIZERS = ("Balance", "Steady", "ResourceAllocatableCPU", "ResourceAllocatableMemory")


def _expressions(required: Mapping[str, Any]) -> list[Any]:
    return sequence(mapping(required.get("celSelector")).get("celExpressions"))


def _required(predicate: object) -> Mapping[str, Any]:
    return mapping(mapping(predicate).get("requiredClusterSelector"))


def in_words(placement: Resource) -> str:
    """Return what a placement asks of clusters: `env=prod in sets prod and test, 2 of them`."""
    spec = placement.spec
    asked = [_selector(mapping(spec.get("clusterSelector")))] if "clusterSelector" in spec else []
    for required in map(_required, sequence(spec.get("predicates"))):
        parts = [_selector(mapping(required.get(name))) for name in ("labelSelector", "claimSelector")]
        if _expressions(required):
            parts.append("a CEL expression")
        asked.append(" and ".join(filter(None, parts)) or "any cluster")
    words = " or ".join(filter(None, asked)) or "any cluster"
    sets = [name for name in sequence(spec.get("clusterSets")) if isinstance(name, str)]
    if sets:
        words += f" in {'set' if len(sets) == 1 else 'sets'} {series(sets)}"
    elif placement.key[:2] == PLACEMENT:
        words += f" in the sets bound to {'?' if placement.key.unplaced else placement.key.namespace}"
    most = spec.get("numberOfClusters")
    return f"{words}, {most} of them" if isinstance(most, int) else words


def _selector(selector: Mapping[str, Any]) -> str:
    parts = [f"{key}={value}" for key, value in mapping(selector.get("matchLabels")).items()]
    for expression in map(mapping, sequence(selector.get("matchExpressions"))):
        values = ", ".join(map(str, sequence(expression.get("values"))))
        parts.append(f"{expression.get('key')} {expression.get('operator')}" + (f" ({values})" if values else ""))
    return " and ".join(parts)
