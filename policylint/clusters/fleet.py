"""The clusters of a hub: those that the input names, with their labels, claims, taints and sets, as bit sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.clusters import is_nearly_met, is_set_by_controllers
from policylint.clusters.kinds import CLUSTER, CLUSTER_SET, DECISION, PLACEMENT_RULE
from policylint.clusters.selectors import meets
from policylint.model import Resource, ResourceKey, World, integer, is_symbolic, mapping, sequence, text
from policylint.network.selecting import Chosen, Labels, bits_of, numbers_of

SET_LABEL = "cluster.open-cluster-management.io/clusterset"
GLOBAL, DEFAULT = "global", "default"
_PASSING = frozenset(f"cluster.open-cluster-management.io/{name}" for name in ("unreachable", "unavailable"))
_FOR_NEW = "NoSelectIfNew"
_KEEPING_OUT = ("NoSelect", _FOR_NEW)


class ClusterFleet:
    """The clusters that the input names, numbered by name.

    A cluster that only a decision names may have any label, claim and set.

    Attributes:
        names: of the clusters, sorted.
        numbers: name → number.
        seen: whether any ManagedCluster is in the input; without one, others may be anywhere.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        manifests = {resource.key.name: resource for resource in world.of_kind(*CLUSTER)}
        decided = {
            name
            for kind in (DECISION, PLACEMENT_RULE)
            for resource in world.of_kind(*kind)
            for name in decisions(resource) or ()
        }
        self.names = tuple(sorted({*manifests, *decided}))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.all = (1 << len(self.names)) - 1
        self.seen = bool(manifests)
        self._manifests = [manifests.get(name) for name in self.names]
        self._stated = [manifest.labels for manifest in self._manifests if manifest is not None]
        labels = [({}, True) if manifest is None else (manifest.labels, False) for manifest in self._manifests]
        self._labels = Labels(labels, is_set_by_controllers)
        self._open_labels = Labels((known, True) for known, _ in labels)
        self._claims = Labels(map(_claims, self._manifests))
        self.unsure = bits_of(
            number
            for number, manifest in enumerate(self._manifests)
            if manifest is not None and manifest.metadata.get("deletionTimestamp")
        )
        """Clusters that are being deleted, which may be gone."""
        self._tainted = [
            (number, taints) for number, manifest in enumerate(self._manifests) if (taints := list(_taints(manifest)))
        ]

    @property
    def may_be_larger(self) -> bool:
        """Whether there may be clusters that nothing in the input names."""
        if CLUSTER in self.world.unseen.complete:
            return False
        return not self.seen or bool(self.world.unseen.reason(ResourceKey(*CLUSTER, "", "")))

    def bits(self, names: Iterable[str]) -> int:
        """Return the set of the clusters of some names; names of no known cluster are left out."""
        return bits_of({self.numbers[name] for name in names if name in self.numbers})

    def named(self, bits: int) -> list[str]:
        """Return the names of a set of clusters, sorted."""
        return [self.names[number] for number in numbers_of(bits)]

    def labelled(self, selector: Mapping[str, Any]) -> Chosen:
        """Return the clusters whose labels a LabelSelector selects; labels of controllers are open where not shown, and
        so is what none of a tree has, nor nearly: it is set by hand (`oc label managedcluster`)."""
        chosen = self._labels.select(selector)
        if chosen.maybe or not self.world.partial or CLUSTER in self.world.unseen.complete:
            return chosen
        return chosen if is_nearly_met(selector, self._stated) else Chosen(0, self._open_labels.select(selector).maybe)

    def claiming(self, selector: Mapping[str, Any]) -> Chosen:
        """Return the clusters whose claims a ClusterClaimSelector selects; without a status they are not known."""
        return self._claims.select(selector)

    def meeting(self, expressions: list[Any]) -> Chosen:
        """Return the clusters for which expressions of CEL hold; what none of a tree meets may be set by hand."""
        answers = [meets(manifest, expressions) for manifest in self._manifests]
        sure = bits_of(number for number, answer in enumerate(answers) if answer)
        maybe = sure | bits_of(number for number, answer in enumerate(answers) if answer is None)
        is_open = not maybe and self.world.partial and CLUSTER not in self.world.unseen.complete
        return Chosen(0, self.all) if is_open else Chosen(sure, maybe)

    def set_selector(self, name: str) -> Mapping[str, Any] | None:
        """Return the LabelSelector by which a ManagedClusterSet takes clusters; None where it takes none by labels."""
        cluster_set = self.world.get(ResourceKey(*CLUSTER_SET, "", name))
        chosen = mapping(cluster_set.spec.get("clusterSelector")) if cluster_set is not None else {}
        return mapping(chosen.get("labelSelector")) if chosen.get("selectorType") == "LabelSelector" else None

    def members(self, name: str) -> Chosen:
        """Return the clusters of a ManagedClusterSet.

        Source: OCM api cluster/v1beta2/types_managedclusterset.go; webhook/v1/managedcluster_mutating.go: a cluster
        without the label joins `default`. Where no cluster says its set, who puts clusters in sets is not in the input
        (`clusteradm clusterset set`).
        """
        if name == GLOBAL:
            return Chosen(self.all, self.all)
        cluster_set = self.world.get(ResourceKey(*CLUSTER_SET, "", name))
        if (selector := self.set_selector(name)) is not None:
            return self.labelled(selector)
        members = self._labels.select({"matchLabels": {SET_LABEL: name}})
        if name != DEFAULT and cluster_set is not None and not any(SET_LABEL in stated for stated in self._stated):
            return Chosen(0, self.all)
        if name == DEFAULT:
            members |= self._labels.select({"matchExpressions": [{"key": SET_LABEL, "operator": "DoesNotExist"}]})
        return members if cluster_set is not None or name == DEFAULT else Chosen(0, members.maybe)

    def tolerated(self, tolerations: Iterable[Mapping[str, Any]]) -> Chosen:
        """Return the clusters that no taint keeps out; `unreachable` and `unavailable` come and go and do not count.

        A toleration with `tolerationSeconds` holds for a while, and `NoSelectIfNew` lets clusters stay that were
        selected before: both are possible.

        Source: OCM pkg/placement/plugins/tainttoleration; api cluster/v1/types.go.
        """
        known = list(tolerations)
        out = perhaps = 0
        for number, taints in self._tainted:
            lasting = [toleration for toleration in known if toleration.get("tolerationSeconds") is None]
            held = [taint for taint in taints if not any(_tolerates(toleration, taint) for toleration in known)]
            if any(taint["effect"] != _FOR_NEW for taint in held):
                out |= 1 << number
            elif held or not all(any(_tolerates(toleration, taint) for toleration in lasting) for taint in taints):
                perhaps |= 1 << number
        return Chosen(self.all & ~out & ~perhaps, self.all & ~out)


def left_while(placement: Resource) -> list[tuple[str, int]]:
    """Return while what a Placement takes itself from clusters that it selects otherwise: `unavailable`, `unreachable`,
    each with the seconds for which it tolerates that, 0 for not at all.

    Source: OCM pkg/registration/hub/taint/controller.go: the taints come and go with the condition Available.
    """
    tolerations = list(map(mapping, sequence(placement.spec.get("tolerations"))))
    found = []
    for key in sorted(_PASSING):
        taint = {"key": key, "effect": "NoSelect"}
        held = [each.get("tolerationSeconds") for each in tolerations if _tolerates(each, taint)]
        if None not in held:
            found.append((key.rpartition("/")[2], max((integer(each) or 0 for each in held), default=0)))
    return found


def decisions(resource: Resource) -> list[str] | None:
    """Return the clusters that the status of a PlacementDecision or PlacementRule names, None without such a status."""
    status = resource.body.get("status")
    if not isinstance(status, dict) or not isinstance(status.get("decisions"), list):
        return None
    names = (text(mapping(decision).get("clusterName")) for decision in status["decisions"])
    return [name for name in names if name and not is_symbolic(name)]


def _claims(manifest: Resource | None) -> tuple[Mapping[str, Any], bool]:
    claims = mapping(manifest.body.get("status")).get("clusterClaims") if manifest is not None else None
    if not isinstance(claims, list):
        return {}, True
    pairs = (mapping(claim) for claim in claims)
    return {text(claim.get("name")): claim.get("value") for claim in pairs}, False


def _taints(manifest: Resource | None) -> Iterator[Mapping[str, Any]]:
    """Yield the taints that keep a cluster out of Placements that do not tolerate them."""
    taints = sequence(manifest.spec.get("taints")) if manifest is not None else []
    for taint in map(mapping, taints):
        if taint.get("effect") in _KEEPING_OUT and text(taint.get("key")) not in _PASSING:
            yield taint


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    key = text(toleration.get("key"))
    if (key and key != taint.get("key")) or toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    return toleration.get("operator") == "Exists" or text(toleration.get("value")) == text(taint.get("value"))
