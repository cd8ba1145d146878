"""What policies that were not seen, or whose targets were not, may do to an object: whoever says "none" asks here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, Final

from policylint.model import PolicyKind, Resource, ResourceKey, is_symbolic, mapping, text, texts
from policylint.namedtuple import NamedTuple
from policylint.network.universe import is_unplaced
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology.workloads import is_workload
from policylint.trace.hosts import may_be

_NAMING: Final = ("app.kubernetes.io/name", "app", "k8s-app", "name", "service")
"""Labels that say what pods are called."""


class MayAct(NamedTuple):
    """What may act on an object without having been seen to.

    Args:
        who: the policy whose target may be it, or the source that speaks of it or of such policies; "" for none.
        why: what is not known of the policy's target; "" for a source.
        ground: which sources might in principle, though nothing suggests that they do; "" where none can.
        of_others: a policy of pods that were not seen, and that are called otherwise.
    """

    who: str = ""
    why: str = ""
    ground: str = ""
    of_others: str = ""


class UnseenPolicies:
    """What of some kinds of policies may act in an environment without having been seen to.

    Args:
        acts: whether a kind is one of those that are asked about.
    """

    def __init__(self, simulation: Simulation, acts: Callable[[PolicyKind], bool]) -> None:
        self._simulation = simulation
        self._acts = acts
        self._concerned: dict[tuple[str, str], bool] = {}

    def on(self, met: Collection[ResourceKey]) -> MayAct:
        """Return what may act on an object.

        Args:
            met: the object, and what its requests meet: a route, its Gateway, its backends.
        """
        namespaces = {key.namespace for key in met}
        of_others = ""
        for policy, target in self._doubtful:
            if (policy.key.namespace in namespaces or is_unplaced(policy.key.namespace)) and self._may_be(target, met):
                if self._is_of_others(target, met):
                    of_others = of_others or f"the pods of {policy.key} not seen"
                    continue
                return MayAct(str(policy.key), target.resolution.reason)
        acting = self._simulation.world.unseen.acting(self._concerns, met, self._able)
        return MayAct(acting.named, "", acting.ground, of_others)

    @cached_property
    def _doubtful(self) -> list[tuple[PolicyState, Target]]:
        """The policies with targets that were not seen."""
        return [
            (policy, target)
            for policy in self._simulation.policies.values()
            for target in policy.targets
            if target.resolution.unknown and not target.nodes and self._acts(policy.kind)
        ]

    def _concerns(self, group: str, kind: str) -> bool:
        """Tell whether a kind is meant; its name may be in lower case, its group missing."""
        if (group, kind) not in self._concerned:
            named = self._simulation.catalog.named(kind.lower())
            self._concerned[group, kind] = any(self._is_able(each) for each in named if group in ("", each.group))
        return self._concerned[group, kind]

    def _is_able(self, kind: PolicyKind) -> bool:
        """Tell whether there may be policies of a kind that were not seen."""
        return self._acts(kind) and (kind.group, kind.kind) not in self._simulation.world.unseen.complete

    def _able(self) -> list[tuple[str, str]]:
        """The kinds of which there may be such policies."""
        return [(each.group, each.kind) for each in self._simulation.catalog.of_all_groups() if self._is_able(each)]

    def _may_be(self, target: Target, met: Collection[ResourceKey]) -> bool:
        """Tell whether a target that was not seen may be something that the requests of a route meet."""
        key, world, behind = target.key, self._simulation.world, self._simulation.acting.workloads
        if not key.kind:  # a variable stands for its targets
            return True
        anywhere = is_unplaced(key.namespace or key.name)
        if target.selector is None and key.kind != "Namespace":
            near = (each for each in met if each.kind == key.kind and (anywhere or each.namespace == key.namespace))
            return any(_may_be_called(each.name, key.name, renamed=world.movable) for each in near)
        if is_workload(key.group, key.kind) or key.kind == "Pod":
            services = (world.get(each) for each in met if each.kind == "Service")
            wanted = mapping(mapping(target.selector).get("matchLabels"))
            is_open = any(map(is_symbolic, (*wanted, *wanted.values())))
            hidden = (each for each in services if each is None or anywhere or is_open or not behind(each.key))
            return any(_may_select(wanted, each) for each in hidden)
        return anywhere or world.movable  # else what is in the tree is selected or not, by its labels

    def _is_of_others(self, target: Target, met: Collection[ResourceKey]) -> bool:
        """Tell whether a selector of pods that were not seen calls them by a name that no backend of a route has."""
        wanted = mapping(mapping(target.selector).get("matchLabels"))
        stated = (text(wanted.get(label)) for label in _NAMING)
        called = [name for name in stated if name and not is_symbolic(name)]
        words: list[str] = []
        for key in met:
            if key.kind == "Service":
                service = self._simulation.world.get(key)
                words += [
                    key.name,
                    *texts([] if service is None else [*mapping(service.spec.get("selector")).values()]),
                ]
        return any(not any(name in word or word in name for word in words) for name in called)


def _may_be_called(name: str, written: str, *, renamed: bool) -> bool:
    """Tell whether an object may have a name that a reference writes, with variables in it.

    Args:
        renamed: whether kustomizations that were not rendered may put something before and behind names.
    """
    if name == written or (renamed and (name in written or written in name)):
        return True
    return may_be(name, written)


def _may_select(wanted: Mapping[str, Any], service: Resource | None) -> bool:
    """Tell whether some labels may be those of pods that a Service selects."""
    labels = {} if service is None else mapping(service.spec.get("selector"))
    return all(labels.get(name, value) == value or is_symbolic(value) for name, value in wanted.items())
