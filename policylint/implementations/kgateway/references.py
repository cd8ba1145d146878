"""What a kgateway policy refers to beside its targets; what is not there makes it invalid (§2.2, last item)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.model.selectors import matches
from policylint.policy.declared import Reading
from policylint.topology import Topology
from policylint.topology.grants import Grants

GROUP = "gateway.kgateway.dev"
PERMISSIVE = "permissive"
"""Default of the controller's ReferenceGrantMode."""
_EXTENSIONS: tuple[tuple[str, ...], ...] = (
    ("extAuth",),
    ("extProc",),
    ("jwtAuth",),
    ("oauth2",),
    ("rateLimit", "global"),
)
_BACKENDS = ("backendRef", "jwksBackendRef")
_SECRETS = ("secretRef",)


def broken_reference(policy: Resource, topology: Topology, grants: str = PERMISSIVE) -> Reading:
    """The first reference that certainly does not resolve or is not granted; a Reading without code for none.

    Args:
        grants: ReferenceGrantMode: `permissive` asks for grants for backends and Secrets of other namespaces, `strict`
            also for GatewayExtensions, `off` for none.
    """
    found = next(_References(policy, topology, grants).faults(), None)
    return Reading() if found is None else Reading(code="broken-reference", reason=found[1], pointer=found[0])


class _References:
    def __init__(self, policy: Resource, topology: Topology, mode: str) -> None:
        self.policy = policy
        self.mode = mode
        self.world = topology.world
        self._topology = topology
        self._grants: Grants | None = None

    def faults(self) -> Iterator[tuple[Pointer, str]]:
        if self.policy.key.kind == "TrafficPolicy":
            yield from self._extensions()
            yield from self._selected_secrets()
        yield from self._secrets(("spec",), self.policy.spec)

    def _extensions(self) -> Iterator[tuple[Pointer, str]]:
        for path in _EXTENSIONS:
            block: Mapping[str, Any] = self.policy.spec
            for step in path:
                block = mapping(block.get(step))
            reference = mapping(block.get("extensionRef"))
            if not text(reference.get("name")):
                continue
            namespace = text(reference.get("namespace")) or self.policy.key.namespace
            key = ResourceKey(GROUP, "GatewayExtension", namespace, text(reference["name"]))
            resolution = self.world.resolve_inner(key)
            pointer: Pointer = ("spec", *path, "extensionRef")
            if resolution.missing:
                yield pointer, f"{key} is not there"
            elif self.mode == "strict" and (fault := next(self._reach(self.policy, key), "")):
                yield pointer, fault
            elif resolution.resource is not None:
                for fault in self._backends(resolution.resource, resolution.resource.spec):
                    yield pointer, f"{key}: {fault}"

    def _backends(self, extension: Resource, value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for each in value:
                yield from self._backends(extension, each)
        for name, inner in mapping(value).items():
            if name in _BACKENDS and isinstance(inner, dict):
                group, kind = text(inner.get("group")), text(inner.get("kind")) or "Service"
                namespace = text(inner.get("namespace")) or extension.key.namespace
                yield from self._reach(extension, ResourceKey(group, kind, namespace, text(inner.get("name"))))
            else:
                yield from self._backends(extension, inner)

    def _secrets(self, pointer: Pointer, value: Any) -> Iterator[tuple[Pointer, str]]:
        for index, each in enumerate(sequence(value)):
            yield from self._secrets((*pointer, index), each)
        for name, inner in mapping(value).items():
            if name in _SECRETS and isinstance(inner, dict) and text(inner.get("name")):
                namespace = text(inner.get("namespace")) or self.policy.key.namespace
                key = ResourceKey("", "Secret", namespace, text(inner["name"]))
                yield from (((*pointer, name), fault) for fault in self._reach(self.policy, key))
            else:
                yield from self._secrets((*pointer, name), inner)

    def _selected_secrets(self) -> Iterator[tuple[Pointer, str]]:
        selector = mapping(self.policy.spec.get("apiKeyAuth")).get("secretSelector")
        if not isinstance(selector, dict):
            return
        namespace = self.policy.key.namespace
        secrets = self.world.in_namespace("", "Secret", namespace)
        if any(matches(selector, each.labels) for each in secrets):
            return
        if self.world.resolve(ResourceKey("", "Secret", namespace, "")).missing:
            yield ("spec", "apiKeyAuth", "secretSelector"), f"no Secret in namespace {namespace} has these labels"

    def _reach(self, holder: Resource, wanted: ResourceKey) -> Iterator[str]:
        resolution = self.world.resolve_inner(wanted)
        if wanted.namespace != holder.key.namespace and self.mode != "off":
            if self._grants is None:
                self._grants = Grants(self.world)
            if self._grants.allows(holder.key, wanted) is False:
                yield f"no ReferenceGrant in namespace {wanted.namespace} lets {holder.key} name {wanted}"
                return
        if resolution.missing:
            yield f"{wanted} is not there"
