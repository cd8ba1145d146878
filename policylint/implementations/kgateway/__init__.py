"""kgateway: fields from the first policy that sets them, weights, delegation, Attached.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.catalog.kinds import Catalog
from policylint.implementations.generic import Implementation
from policylint.implementations.kgateway.attachment_points import TLS_PROTOCOLS, Outcome, Sites, outcomes
from policylint.implementations.kgateway.fields import with_ports
from policylint.implementations.kgateway.merging import Level, fold, priority, ranked, rule_lists
from policylint.implementations.kgateway.references import PERMISSIVE, broken_reference
from policylint.implementations.kgateway.settings import broken_template, everywhere
from policylint.implementations.kgateway.validation import refused_value
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, Resource, ResourceKey, mapping, sequence, text
from policylint.policy import verdict
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Ancestor, Attachment, Effective, Group, PolicyState, Target
from policylint.topology import Condition, Topology
from policylint.topology.ancestry import foreign, gateways_above
from policylint.topology.grants import Grants

_WORDS = ("Overridden", "Merged", "Attached")
"""What is said of a policy that fared differently in different places: the worst."""
_MESSAGES = {
    "Overridden": "Overridden due to conflict with higher priority policy in target(s)",
    "Merged": "Merged with other policies in target(s) and attached",
    "Attached": "Attached to all targets",
}


class Kgateway(Implementation):
    """TrafficPolicy, ListenerPolicy, BackendConfigPolicy and DirectResponse."""

    name = "kgateway"

    def __init__(self) -> None:
        self._topology: Topology | None = None
        self._catalog: Catalog | None = None
        self._kept: dict[Node, list[Attachment]] = {}
        self._outcomes: dict[ResourceKey, dict[Node, list[Outcome]]] = {}
        self._refused: dict[ResourceKey, set[Node]] = {}

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """The catalog says which Gateways are another controller's."""
        self._catalog = catalog

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """What a policy names must be there, granted and of use, and its values such as the controller takes; under
        strict validation its templates must parse too."""
        found = broken_reference(state.policy, topology, text(self.settings.get("referenceGrantMode"), PERMISSIVE))
        found = found if found.code else refused_value(state.policy, topology.world)
        if not found.code and self.settings.get("validationMode") == "strict":
            return broken_template(state.policy)
        return found

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """References stay in the policy's namespace; the global policy namespace selects in all of them (§2.1)."""
        found = super().targets(policy, kind, topology, grants)
        if policy.key.namespace and policy.key.namespace == self.settings.get("globalPolicyNamespace"):
            return tuple(everywhere(each, topology) for each in found)
        return found

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per route rule, listener or backend; a listener without routes is configured as well."""
        self._topology, self._kept = topology, kept
        return Effects(topology, kind, kept, self.merge, ends_above=True).groups()

    def merge(self, stack: Stack) -> Effective:
        """Routes before listeners before the Gateway, each level as §2.2 and §2.3 say."""
        folded = fold(stack.kind.kind, self._levels(stack.attachments), self._joined)
        if stack.kind.kind == "BackendConfigPolicy" and "tls" in folded.spec and self._topology is not None:
            rival = _tls_policy(stack.attachments[-1].node.key, self._topology)
            if rival is not None:
                _without_tls(folded, stack.attachments, rival)
        result = folded.effective(stack.attachments)
        return with_ports(result) if stack.kind.kind == "ListenerPolicy" else result

    @property
    def _joined(self) -> frozenset[str]:
        """The fields that TrafficPolicies of one level merge deeply."""
        how = mapping(mapping(self.settings.get("policyMerge")).get("trafficPolicy"))
        return frozenset(name for name, each in how.items() if each == "DeepMerge")

    def _levels(self, attachments: tuple[Attachment, ...]) -> list[Level]:
        """The levels of a path from its most specific end: its routes, its listener, its Gateway."""
        routes: dict[ResourceKey, list[Attachment]] = {}
        above: dict[Node, list[Attachment]] = {}
        for each in attachments:
            if each.node.key.kind.endswith("Route"):
                routes.setdefault(each.node.key, []).append(each)
            else:
                above.setdefault(each.node, []).append(each)
        levels = []
        for key, found in reversed(routes.items()):
            filters, rule = rule_lists([each for each in found if each.node.section])
            of_route = [each for each in found if not each.node.section]
            parent = self._topology.route(key) if self._topology is not None else None
            levels.append(
                Level(ranked(filters, rule, of_route), priority(parent.route if parent is not None else None))
            )
        lists = list(reversed(above.values()))
        if any(self._terminates(node) for node in above):
            return [*levels, Level(ranked(*lists))]
        return [*levels, *(Level(ranked(each)) for each in lists)]

    def _terminates(self, node: Node) -> bool:
        listener = self._topology.listener(node) if self._topology is not None else None
        return listener is not None and listener.protocol in TLS_PROTOCOLS

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Overridden only where the controller says so too: what a route replaces of a Gateway's policy is not (§2.2).

        The controller says it as soon as one target is lost; where others are not, the verdict is PartiallyEnforced.
        """
        found: dict[ResourceKey, dict[Node, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
        if self._kept:
            for each in outcomes(states[0].kind.kind, Sites(topology, self._kept).all(), self._joined):
                found[each.policy][each.ancestor].append(each)
        self._outcomes = found
        self._refused = _refused(states, topology)
        for state in states:
            verdict.judge(state)
            lost = [each for of in found.get(state.key, {}).values() for each in of if each.word == "Overridden"]
            if lost and state.kind.kind != "DirectResponse":
                survives = any(group.effective.survives(state.key) for group in state.groups)
                state.verdict = "PartiallyEnforced" if survives else "Overridden"
                state.by = tuple(sorted({key for each in lost for key in each.by}))
            elif state.verdict == "Overridden":
                state.verdict = "PartiallyEnforced"

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Per Gateway, ListenerSet or backend how the policy fared there; nothing where it reached none (§2.5)."""
        if state.invalid_code:
            refused = (
                Condition("Accepted", "False", "Invalid", state.invalid),
                Condition("Attached", "False", "Pending"),
            )
            nodes = [node for node in sorted(self._refused.get(state.key, ())) if self._reports_on(node, topology)]
            return tuple(Ancestor(node, _controller(topology, node.key), refused) for node in nodes)
        found = []
        for node, fared in sorted(self._outcomes.get(state.key, {}).items()):
            if not self._reports_on(node, topology):
                continue
            words = {each.word for each in fared}
            word = next(each for each in _WORDS if each in words)
            if state.kind.kind == "DirectResponse":
                word = "Attached"
            conditions = [
                Condition("Accepted", "True", "Valid", "Policy accepted"),
                Condition("Attached", "False" if word == "Overridden" else "True", word, _MESSAGES[word]),
            ]
            of_backend = state.kind.kind == "BackendConfigPolicy" and "tls" in state.policy.spec
            if of_backend and _tls_policy(node.key, topology) is not None:
                message = "a BackendTLSPolicy targets this backend; `tls` is ignored"
                conditions.append(Condition("Overridden", "True", "ConflictedWithBackendTLSPolicy", message))
            found.append(Ancestor(node, _controller(topology, node.key), tuple(conditions)))
        return tuple(found)

    def _reports_on(self, ancestor: Node, topology: Topology) -> bool:
        """Nothing is written of Gateways of other controllers."""
        return self._catalog is None or not foreign(topology, ancestor.key, self.name, self._catalog)


def _refused(states: list[PolicyState], topology: Topology) -> dict[ResourceKey, set[Node]]:
    """Invalid policies are reported where they would have been merged."""
    kept: dict[Node, list[Attachment]] = defaultdict(list)
    for state in states:
        if state.invalid_code:
            for target in state.targets:
                for node in target.nodes:
                    kept[node].append(Attachment(state.policy, node, target, state.declared))
    found: dict[ResourceKey, set[Node]] = defaultdict(set)
    if kept:
        for site in Sites(topology, kept).all():
            for level in site.levels:
                for each in level.attachments:
                    found[each.key].add(site.ancestor)
    return found


def _controller(topology: Topology, key: ResourceKey) -> str:
    states = (topology.gateway(each) for each in gateways_above(topology, key))
    return next((each.controller for each in states if each is not None), "")


def _tls_policy(backend: ResourceKey, topology: Topology) -> ResourceKey | None:
    """The BackendTLSPolicy that targets a backend, whose `tls` then counts (§2.4)."""
    for policy in topology.world.in_namespace(GATEWAY_GROUP, "BackendTLSPolicy", backend.namespace):
        for each in map(mapping, sequence(policy.spec.get("targetRefs"))):
            if (each.get("kind"), each.get("name")) == (backend.kind, backend.name):
                return policy.key
    return None


def _without_tls(folded: Folding, attachments: tuple[Attachment, ...], rival: ResourceKey) -> None:
    folded.clear(("tls",), rival)
    for each in attachments:
        tls = each.declared[0].proper.get("tls")
        if tls is not None:
            folded.lose(each, ("tls",), tls, {rival})
