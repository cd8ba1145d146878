"""Who claims what: the targets of all policies of a kind in the controller's order.

Source: docs/design/implementations/envoy-gateway.md §3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.implementations.envoy_gateway.feature_flags import OFF
from policylint.implementations.envoy_gateway.managed import Fleet, Scope, order
from policylint.implementations.envoy_gateway.policy_status import Book
from policylint.model import ROUTE_KINDS, Node, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, PolicyState, Target
from policylint.topology import Condition


class Claim(NamedTuple):
    """One target of one policy; `node` is None where the object has no such section."""

    policy: Resource
    scope: Scope
    node: Node | None

    @property
    def key(self) -> ResourceKey:
        """Of the policy."""
        return self.policy.key

    @property
    def on_route(self) -> bool:
        return self.scope.key.kind in ROUTE_KINDS


class Ledger:
    """The claims of all policies of one kind, who holds which scope, and the books of all policies."""

    def __init__(self, fleet: Fleet, claims: Iterable[Claim]) -> None:
        self.fleet = fleet
        self.claims = sorted(claims, key=lambda each: order(each.policy))
        self.books: dict[ResourceKey, Book] = {claim.key: Book() for claim in self.claims}
        self.holders: dict[Scope, Claim] = {}

    def of_sections(self, kind: str, *, sections: bool) -> Iterator[Claim]:
        """The claims of one pass: on sections of a kind (`Route` for all routes), or on whole objects."""
        for claim in self.claims:
            fits = claim.on_route if kind == "Route" else claim.scope.key.kind == kind
            if fits and bool(claim.scope.section) is sections:
                yield claim

    def take(self, claim: Claim) -> bool:
        """Whether a claim gets its scope: the first one does, and holds it whatever its content turns out to be."""
        return self.holders.setdefault(claim.scope, claim) is claim

    def say(self, claim: Claim, ancestors: Iterable[Scope], condition: Condition) -> None:
        book = self.books[claim.key]
        for each in ancestors:
            book.set(each.ancestor, self.fleet.controller(each.key), condition)

    def accept(self, claim: Claim, ancestors: Iterable[Scope]) -> None:
        book = self.books[claim.key]
        for each in ancestors:
            book.accept(each.ancestor, self.fleet.controller(each.key))


def no_section(claim: Claim) -> Condition:
    """The object is there, its section is not."""
    key = claim.scope.key
    message = f"No section name {claim.scope.section} found for {key.kind} {key.path}"
    if claim.policy.key.kind == "ClientTrafficPolicy" and key.kind == "ListenerSet":
        message = f'ListenerSet {key.path} does not have a listener named "{claim.scope.section}"'
    return Condition("Accepted", "False", "TargetNotFound", message)


def conflicted(claim: Claim) -> Condition:
    """Somebody else has the scope already."""
    scope = claim.scope
    kind = claim.policy.key.kind
    what = f"{scope.key.kind} {scope.key.name}"
    if scope.section:
        place = scope.key.path if (kind, scope.key.kind) == ("BackendTrafficPolicy", "Gateway") else scope.key.name
        what = f"{'RouteRule' if claim.on_route else 'Listener'} {place}/{scope.section}"
        if kind == "ClientTrafficPolicy":
            what = f"section of {scope.key.name}"
    message = f"Unable to target {what}, another {kind} has already attached to it"
    return Condition("Accepted", "False", "Conflicted", message)


def of_states(states: Iterable[PolicyState]) -> list[Claim]:
    """The claims of all policies that the API server lets in, those on missing sections and those that need a feature
    that is off among them."""
    return [claim for state in states if state.invalid_code in ("", OFF) for claim in _of_state(state)]


def of_attachments(attachments: Iterable[Attachment]) -> list[Claim]:
    """The claims behind attachments."""
    return [Claim(each.policy, _scope(each.node, each.target), each.node) for each in attachments]


def _of_state(state: PolicyState) -> Iterator[Claim]:
    for target in state.targets:
        if target.problem == "section-not-found":
            yield Claim(state.policy, Scope(target.key, target.section), None)
        for node in target.nodes:
            yield Claim(state.policy, _scope(node, target), node)


def _scope(node: Node, target: Target) -> Scope:
    """What the policy itself names: for a selector the object it chose."""
    return Scope(node.key if target.selector is not None else target.key, target.section)
