"""Read references (parentRef, backendRef, certificateRef) with the defaults Gateway API gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import (
    GATEWAY_GROUP,
    UNKNOWN_NAMESPACE,
    Resolution,
    ResourceKey,
    World,
    integer,
    is_symbolic,
    text,
)
from policylint.model.kinds import CLUSTER_SCOPED, group_of
from policylint.namedtuple import NamedTuple

X_GROUP = "gateway.networking.x-k8s.io"
"""The group of the experimental kinds, XListenerSet among them."""

NAMELESS = Resolution("missing", "the reference has no name")


class ReferenceTarget(NamedTuple):
    """The object that a reference names: its key, and section and port if given."""

    key: ResourceKey
    section: str
    port: int | None


def target(reference: Mapping[str, Any], namespace: str, group: str, kind: str) -> ReferenceTarget:
    """Return the target of a reference: its namespace, group and kind default to those given.

    An empty group is the core group; only an absent one takes the default.
    """
    wanted_group = text(reference["group"]) if reference.get("group") is not None else group
    wanted_kind = text(reference.get("kind")) or kind
    wanted_namespace = text(reference.get("namespace")) or namespace
    if (wanted_group, wanted_kind) in CLUSTER_SCOPED:
        wanted_namespace = ""
    key = ResourceKey(wanted_group, wanted_kind, wanted_namespace, text(reference.get("name")))
    return ReferenceTarget(key, text(reference.get("sectionName")), integer(reference.get("port")))


def parent_target(reference: Mapping[str, Any], namespace: str) -> ReferenceTarget:
    """Return the target of a parentRef: by default a Gateway in the route's namespace."""
    return of_core(target(reference, namespace, GATEWAY_GROUP, "Gateway"))


def of_core(wanted: ReferenceTarget) -> ReferenceTarget:
    """Return a target, the core group of one of its kinds by its name: `group: core` is nobody else's.

    Source: shared_types.go ParentReference; linkerd2 policy-controller/k8s/index/src/outbound/index.rs is_service.
    """
    meant = group_of(wanted.key.group.lower())
    names_core = not meant and wanted.key.kind in ("Service", "Secret", "ConfigMap")
    return wanted._replace(key=wanted.key._replace(group=meant)) if names_core else wanted


def backend_target(reference: Mapping[str, Any], namespace: str) -> ReferenceTarget:
    """Return the target of a backendRef: by default a core Service in the route's namespace."""
    return target(reference, namespace, "", "Service")


def resolve(world: World, key: ResourceKey) -> Resolution:
    """Return `World.resolve`, or missing for a reference without a name."""
    return world.resolve(key) if key.name else NAMELESS


def resolve_outer(world: World, key: ResourceKey) -> Resolution:
    """Return `World.resolve_outer`, or missing for a reference without a name."""
    return world.resolve_outer(key) if key.name else NAMELESS


def resolve_parent(world: World, key: ResourceKey) -> Resolution:
    """Return `World.resolve_parent`, or missing for a reference without a name."""
    return world.resolve_parent(key) if key.name else NAMELESS


def is_unseen(world: World, key: ResourceKey, resolution: Resolution) -> bool:
    """Return whether contexts lead through a Gateway or ListenerSet that is not in the world: it is certainly not
    missing, and no kustomization may turn out to mean one that is here.
    """
    return not (resolution.missing or key.unplaced or (world.movable and resolution.unknown))


def same_namespace(first: str, second: str) -> bool | None:
    """Return whether two namespaces are the same one; None where either is unknown."""
    if first == second:
        return True
    if UNKNOWN_NAMESPACE in (first[:1], second[:1]) or is_symbolic(first) or is_symbolic(second):
        return None
    return False


def is_parent(key: ResourceKey) -> bool:
    """Return whether an object holds listeners: a Gateway or ListenerSet."""
    return (key.group, key.kind) == (GATEWAY_GROUP, "Gateway") or is_listener_set(key.group, key.kind)


def is_listener_set(group: str, kind: str) -> bool:
    """Return whether a kind is ListenerSet or its experimental predecessor."""
    return group in (GATEWAY_GROUP, X_GROUP) and kind in ("ListenerSet", "XListenerSet")
