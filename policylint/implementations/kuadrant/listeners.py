"""Kuadrant's DNSPolicy and TLSPolicy: the listeners that they act on, and those that they pass over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.model import (
    GATEWAY_GROUP,
    Node,
    PolicyKind,
    ResourceKey,
    holds_variable,
    mapping,
    sequence,
    text,
)
from policylint.model.kinds import group_of
from policylint.policy.results import Group, Idle, PolicyState
from policylint.topology import ListenerState, Topology
from policylint.topology.status import tls_of

_WITH_TLS = ("HTTPS", "TLS")
_SECRET = ("", "Secret")


def named_listeners(kind: PolicyKind, topology: Topology) -> dict[tuple[ResourceKey, str], set[ResourceKey]]:
    """Return for each listener, by Gateway and name, the policies that name it, refused ones included."""
    naming: dict[tuple[ResourceKey, str], set[ResourceKey]] = defaultdict(set)
    for policy in topology.world.of_kind(kind.group, kind.kind):
        reference = mapping(policy.spec.get("targetRef"))
        section = text(reference.get("sectionName"))
        if section:
            gateway = ResourceKey(GATEWAY_GROUP, "Gateway", policy.key.namespace, text(reference.get("name")))
            naming[gateway, section].add(policy.key)
    return naming


def with_gateways(group: Group) -> Group:
    """Return the group with the Gateways that its policies target among its nodes."""
    nodes = dict(group.nodes)
    for attachment in group.effective.stack:
        if not attachment.node.section:
            nodes[attachment.node] = nodes.get(attachment.node, frozenset()) | {attachment.key}
    return group._replace(nodes=nodes)


def idle(state: PolicyState, topology: Topology) -> Iterator[Idle]:
    """Yield why a policy of listeners does nothing, for each listener of its targets that it passes over."""
    for target in state.targets:
        for node in target.nodes:
            listener, gateway = topology.listener(node), topology.gateway(node.key)
            listeners = gateway.listeners if listener is None and gateway is not None else filter(None, (listener,))
            for each in listeners:
                passed = passed_over(state.kind.kind, each)
                if passed is not None:
                    why, fix = passed
                    yield Idle(target, f"{each.node} {why}, and a {state.kind.kind} passes such listeners over", fix)


def shared_secrets(states: Iterable[PolicyState], topology: Topology) -> dict[ResourceKey, str]:
    """Return for each TLSPolicy how listeners share a Secret: each gets a Certificate of its own, and one is not ready.

    Source: internal/controller/effective_tls_policies_reconciler.go, tlspolicy_status_updater.go @ faec72c9.
    """
    sharing: dict[ResourceKey, dict[Node, ResourceKey]] = defaultdict(dict)
    acting = [(node, state.key) for state in states for group in state.groups for node in group.nodes]
    for node, policy in acting:
        listener = topology.listener(node)
        for reference in () if listener is None else listener.references:
            if reference.role == "certificate":
                sharing[reference.wanted][node] = policy
    return {
        policy: f"{' and '.join(map(str, sorted(nodes)))} share {secret}, which holds one certificate"
        for secret, nodes in sharing.items()
        if len(nodes) > 1
        for policy in nodes.values()
    }


def passed_over(kind: str, listener: ListenerState) -> tuple[str, str] | None:
    """Return why a DNSPolicy or TLSPolicy does nothing for a listener, and what would help; None where it acts.

    Source: internal/controller/effective_dnspolicies_reconciler.go, reconcile; effective_tls_policies_reconciler.go,
    validateGatewayListenerBlock.
    """
    if kind == "TLSPolicy" and listener.protocol not in _WITH_TLS:
        return "has no TLS", "name a listener with protocol HTTPS or TLS"
    if not listener.hostname:
        return "has no hostname", "give the listener a `hostname`"
    if kind != "TLSPolicy":
        return None
    tls = tls_of(listener)
    mode = text(tls.get("mode"))
    if mode not in ("", "Terminate") and not holds_variable(mode):
        return "passes TLS on", "name a listener with `tls.mode: Terminate`"
    references = [mapping(reference) for reference in sequence(tls.get("certificateRefs"))]
    if not references:
        return "names no Secret for its certificate", "add the Secret to `tls.certificateRefs`"
    if any((group_of(text(each.get("group"))), text(each.get("kind"), "Secret")) != _SECRET for each in references):
        return "names a certificate that is no Secret", "name a Secret"
    namespace = listener.holder.key.namespace
    if any(text(each.get("namespace"), namespace) != namespace for each in references):
        return "names a Secret of another namespace", f"name a Secret in namespace {namespace}"
    return None
