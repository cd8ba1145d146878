"""AWS Gateway API Controller for VPC Lattice: exported Services, and the documents of IAMAuthPolicies.

Source: aws/aws-application-networking-k8s docs/api-types, «TargetGroupPolicy» and «IAMAuthPolicy»;
docs.aws.amazon.com/vpc-lattice/latest/ug/auth-policies.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.implementations.generic import Attachments, Implementation
from policylint.implementations.generic.backends import regardless_of_grants
from policylint.model import PolicyKind, World, is_symbolic, mapping, text
from policylint.model.embedded import json_in
from policylint.model.ternary import every
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, otherwise
from policylint.policy.folding import Stack
from policylint.policy.order import by_age
from policylint.policy.paths import ListedPaths
from policylint.policy.results import Attachment, Group, Refusal
from policylint.topology import BackendState, RouteState, Topology

_EXPORT = ("application-networking.k8s.aws", "ServiceExport")
_INVOKING = frozenset({"*", "vpc-lattice-svcs:*", "vpc-lattice-svcs:invoke"})
_EVERYBODY: tuple[object, ...] = ("*", {"AWS": "*"}, {"AWS": ["*"]})
_LONGEST = 10_240
"""Characters of a document: VPC Lattice takes no longer ones."""


class AwsGatewayApiController(Implementation):
    """TargetGroupPolicy, IAMAuthPolicy and AccessLogPolicy; the other kinds follow their catalog entries."""

    name = "aws-gateway-api-controller"

    def backends(self, route: RouteState, topology: Topology) -> tuple[BackendState, ...]:
        """Take backends of other namespaces without a grant: the controller asks whether they are there, and no more;
        and a ServiceImport for its own, whatever group a reference has.

        Source: pkg/controllers/route_controller.go, validateBackedRefs @ 00115ee38.
        """
        found = (_imported(backend, topology.world) for backend in super().backends(route, topology))
        return tuple(map(regardless_of_grants, found))

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Let one log of a sort of destination have each target: VPC Lattice refuses the other, whichever comes later.

        Source: VPC Lattice, CreateAccessLogSubscription: a ConflictException, of which the controller makes Conflicted.
        """
        kept, refused = super().claims(kind, attached)
        if kind.kind != "AccessLogPolicy":
            return kept, refused
        for node, attachments in kept.items():
            first: dict[str, Attachment] = {}
            for attachment in by_age(attachments):
                holder = first.setdefault(_destination(attachment), attachment)
                if holder is not attachment:
                    refused.append(Refusal(attachment, holder.key, stated=False))
            kept[node] = [each for each in attachments if first[_destination(each)] is each]
        return kept, refused

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the groups over the contexts of routes, and one per exported Service: other clusters send there."""
        found = super().groups(kind, kept, topology)
        for node, attachments in kept.items():
            if (node.key.group, node.key.kind) == _EXPORT and attachments:
                effective = self.merge(Stack(kind, tuple(attachments)))
                sources = frozenset(attachment.key for attachment in attachments)
                found.append(Group(kind, effective, ListedPaths(((node,),)), {node: sources}))
        return found

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Return what the document of an IAMAuthPolicy answers."""
        document = spec.get("policy")
        if kind.kind != "IAMAuthPolicy" or not isinstance(document, str):
            return ()
        return (_decision(document),)


def _destination(log: Attachment) -> str:
    """Return the sort of a log's destination, `s3`, `logs` or `firehose`; the log itself where its ARN hides it."""
    arn = text(log.policy.spec.get("destinationArn"))
    parts = arn.split(":")
    return parts[2] if len(parts) > 2 and not is_symbolic(arn) else str(log.key)


def _decision(document: str) -> Decision:
    """Return the answer of a document: Deny goes before Allow, and what no statement allows is denied."""
    place = ("policy",)
    content = mapping(json_in(document)) if len(document) <= _LONGEST else {}
    statements = content.get("Statement")
    listed = [mapping(statement) for statement in (statements if isinstance(statements, list) else [statements])]
    if not any(listed):
        return Decision("depends", place, "a document that cannot be read")
    rules = list(_rules(listed))
    ordered = [rule for rule in rules if not rule.allows] + [rule for rule in rules if rule.allows]
    return first_match(ordered, otherwise(place, "no statement allows it", allows=False))


def _rules(statements: list[Mapping[str, Any]]) -> Iterator[AuthorizationRule]:
    for number, statement in enumerate(statements, 1):
        applies = (
            _invokes(statement),
            True if statement.get("Principal") in _EVERYBODY else None,
            True if statement.get("Resource") in ("*", ["*"]) else None,
            None if statement.get("Condition") else True,
        )
        allows = statement.get("Effect") == "Allow"
        matches = every(applies)
        on = f"its statement {number}" if matches is None else "" if allows else "it denies such requests"
        yield AuthorizationRule(matches, allows, ("policy",), on)


def _invokes(statement: Mapping[str, Any]) -> bool | None:
    """Return whether a statement is about requests, None where a pattern may stand for them."""
    actions = statement.get("Action")
    named = [str(action).lower() for action in (actions if isinstance(actions, list) else [actions])]
    if any(action in _INVOKING for action in named):
        return True
    return None if actions is None or any("*" in action or "?" in action for action in named) else False


def _imported(backend: BackendState, world: World) -> BackendState:
    if backend.reason != "InvalidKind" or backend.wanted.kind != "ServiceImport":
        return backend
    wanted = backend.wanted._replace(group=_EXPORT[0])
    found = world.resolve(wanted)
    reason, message = ("BackendNotFound", found.reason) if found.missing else ("", "")
    return backend._replace(wanted=wanted, resolution=found, reason=reason, message=message)
