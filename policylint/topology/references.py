"""Readers of references: parentRef, backendRef, certificateRef, with the defaults Gateway API gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, Resolution, ResourceKey, World, is_symbolic, text
from policylint.model.keys import CLUSTER_SCOPED
from policylint.namedtuple import NamedTuple

X_GROUP = "gateway.networking.x-k8s.io"
"""The group of the experimental kinds, XListenerSet among them."""

NAMELESS = Resolution("missing", "the reference has no name")


class Target(NamedTuple):
    """What a reference names: the key, and section and port where it has them."""

    key: ResourceKey
    section: str
    port: int | None


def target(reference: Mapping[str, Any], namespace: str, group: str, kind: str) -> Target:
    """A reference read with its defaults: the namespace of its holder, and the group and kind given.

    An empty group is the core group; only an absent one takes the default.
    """
    wanted_group = text(reference["group"]) if reference.get("group") is not None else group
    wanted_kind = text(reference.get("kind")) or kind
    wanted_namespace = text(reference.get("namespace")) or namespace
    if (wanted_group, wanted_kind) in CLUSTER_SCOPED:
        wanted_namespace = ""
    key = ResourceKey(wanted_group, wanted_kind, wanted_namespace, text(reference.get("name")))
    return Target(key, text(reference.get("sectionName")), port_number(reference.get("port")))


def parent_target(reference: Mapping[str, Any], namespace: str) -> Target:
    """A parentRef: a Gateway of the route's namespace where it says nothing else (shared_types.go ParentReference)."""
    return target(reference, namespace, GATEWAY_GROUP, "Gateway")


def backend_target(reference: Mapping[str, Any], namespace: str) -> Target:
    """A backendRef: a core Service of the route's namespace where it says nothing else."""
    return target(reference, namespace, "", "Service")


def port_number(value: object) -> int | None:
    """A port, None where the manifest holds anything but a number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def resolve(world: World, key: ResourceKey) -> Resolution:
    """`World.resolve`, and missing for a reference without a name."""
    return world.resolve(key) if key.name else NAMELESS


def same_namespace(one: str, other: str) -> bool | None:
    """Whether two namespaces are the same one; None where either is not known."""
    if one == other:
        return True
    if UNKNOWN_NAMESPACE in (one[:1], other[:1]) or is_symbolic(one) or is_symbolic(other):
        return None
    return False


def is_listener_set(group: str, kind: str) -> bool:
    """Whether a kind is ListenerSet or its experimental forerunner."""
    return group in (GATEWAY_GROUP, X_GROUP) and kind in ("ListenerSet", "XListenerSet")
