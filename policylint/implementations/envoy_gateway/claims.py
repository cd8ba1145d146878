"""The claims of policies: the targets of all policies of a kind in the controller's order.

Source: docs/design/implementations/envoy-gateway.md §3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.implementations.envoy_gateway.content import CODE, EARLY
from policylint.implementations.envoy_gateway.managed import Fleet, Scope, order
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.implementations.envoy_gateway.references import OPEN
from policylint.model import ROUTE_KINDS, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, PolicyState, Target
from policylint.policy.validity import SWITCHED_OFF
from policylint.topology import Condition


class TargetClaim(NamedTuple):
    """One target of one policy.

    Args:
        node: None where the object has no such section.
        setting, refusal: what the translator refuses in the policy where it translates it, and why; "" for nothing.
    """

    policy: Resource
    scope: Scope
    node: Node | None
    setting: str = ""
    refusal: str = ""

    @property
    def key(self) -> ResourceKey:
        """Return the key of the policy."""
        return self.policy.key

    @property
    def on_route(self) -> bool:
        """Tell whether the target is a route or a rule of one."""
        return self.scope.key.kind in ROUTE_KINDS


class ClaimLedger:
    """The claims of all policies of one kind, who holds which scope, and the status of every policy."""

    def __init__(self, fleet: Fleet, claims: Iterable[TargetClaim]) -> None:
        self.fleet = fleet
        self.claims = sorted(claims, key=lambda claim: order(claim.policy))
        self.statuses: dict[ResourceKey, PolicyStatus] = {claim.key: PolicyStatus() for claim in self.claims}
        self.holders: dict[Scope, TargetClaim] = {}

    def of_sections(self, kind: str, *, sections: bool) -> Iterator[TargetClaim]:
        """Yield the claims of one pass: on sections of a kind (`Route` for all routes), or on whole objects."""
        for claim in self.claims:
            fits = claim.on_route if kind == "Route" else claim.scope.key.kind == kind
            if fits and bool(claim.scope.section) is sections:
                yield claim

    def take(self, claim: TargetClaim, ancestors: list[Scope]) -> bool:
        """Give a claim its scope, or say on its ancestors why it does not get it.

        The first claim gets a scope, and holds it whatever its content turns out to be.
        """
        if claim.node is None:
            self.say(claim, ancestors, _no_section(claim))
            return False
        if self.holders.setdefault(claim.scope, claim) is not claim:
            self.say(claim, ancestors, _conflicted(claim))
            return False
        return True

    def say(self, claim: TargetClaim, ancestors: list[Scope], condition: Condition | None) -> None:
        """Set a condition of the policy on some ancestors; without a condition nothing."""
        if condition is not None:
            for scope in ancestors:
                self.statuses[claim.key].set(scope.ancestor, self.fleet.controller(scope.key), condition)

    def accept(self, claim: TargetClaim, ancestors: list[Scope], *, http3: bool = False) -> None:
        """Set Accepted where no verdict is there already, and a Warning where there is one to give."""
        from policylint.implementations.envoy_gateway.deprecated import warning

        for scope in ancestors:
            self.statuses[claim.key].accept(scope.ancestor, self.fleet.controller(scope.key))
        self.say(claim, ancestors, warning(claim.policy, http3=http3))


def invalid(why: str) -> Condition:
    """Say that the translator refuses a policy."""
    return Condition("Accepted", "False", "Invalid", why)


def _no_section(claim: TargetClaim) -> Condition:
    """Say that the object is there and its section is not."""
    key = claim.scope.key
    message = f"No section name {claim.scope.section} found for {key.kind} {key.path}"
    if claim.policy.key.kind == "ClientTrafficPolicy" and key.kind == "ListenerSet":
        message = f'ListenerSet {key.path} does not have a listener named "{claim.scope.section}"'
    return Condition("Accepted", "False", "TargetNotFound", message)


def _conflicted(claim: TargetClaim) -> Condition:
    """Say that somebody else has the scope already."""
    scope = claim.scope
    kind = claim.policy.key.kind
    target = f"{scope.key.kind} {scope.key.name}"
    if scope.section and kind == "ClientTrafficPolicy":
        target = f"section of {scope.key.name}"
    elif scope.section:
        holder = scope.key.path if (kind, scope.key.kind) == ("BackendTrafficPolicy", "Gateway") else scope.key.name
        target = f"{'RouteRule' if claim.on_route else 'Listener'} {holder}/{scope.section}"
    message = f"Unable to target {target}, another {kind} has already attached to it"
    return Condition("Accepted", "False", "Conflicted", message)


def of_states(states: Iterable[PolicyState]) -> list[TargetClaim]:
    """Return the claims of all policies that the API server lets in.

    Claims on missing sections, and those of policies that the controller alone refuses, are included.
    """
    claims: list[TargetClaim] = []
    for state in states:
        if state.invalid_code in ("", EARLY):
            claims += _of_state(state)
        elif state.invalid_code in (SWITCHED_OFF, CODE, OPEN):
            setting = str(state.invalid_pointer[1])
            claims += [claim._replace(setting=setting, refusal=state.invalid) for claim in _of_state(state)]
    return claims


def of_attachments(attachments: Iterable[Attachment]) -> list[TargetClaim]:
    """Return the claims behind attachments."""
    return [TargetClaim(each.policy, _scope(each.node, each.target), each.node) for each in attachments]


def _of_state(state: PolicyState) -> Iterator[TargetClaim]:
    for target in state.targets:
        if target.problem == "section-not-found":
            yield TargetClaim(state.policy, Scope(target.key, target.section), None)
        for node in target.nodes:
            yield TargetClaim(state.policy, _scope(node, target), node)
    yield from _repeated(state)


def _repeated(state: PolicyState) -> Iterator[TargetClaim]:
    """Yield the claims of a policy on what it names again, which it has itself by then.

    Source: internal/gatewayapi/helpers.go, getPolicyTargetRefs: only what selectors found is left out of targetRefs.
    """
    named = {(target.key, target.section): target for target in state.targets if target.selector is None}
    for reference in state.kind.references:
        entries = sequence(state.policy.spec.get(reference.path)) if reference.form == "refs" else ()
        seen: set[tuple[str, str, str, str]] = set()
        for entry in map(mapping, entries):
            group, kind, name, section = (text(entry.get(field)) for field in ("group", "kind", "name", "sectionName"))
            target = named.get((ResourceKey(group, kind, state.key.namespace, name), section))
            if (group, kind, name, section) in seen and target is not None:
                yield from (TargetClaim(state.policy, _scope(node, target), node) for node in target.nodes)
            seen.add((group, kind, name, section))


def _scope(node: Node, target: Target) -> Scope:
    """Return what the policy itself names: for a selector the object it chose."""
    return Scope(node.key if target.selector is not None else target.key, target.section)
