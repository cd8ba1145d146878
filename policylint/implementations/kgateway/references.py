"""The references of a kgateway policy besides its targets; a missing one makes it invalid.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, last item.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic import walk
from policylint.implementations.kgateway.credentials import api_keys, header_fault, users
from policylint.implementations.kgateway.extensions import TYPES, Fault, own_faults
from policylint.model import Resource, ResourceKey, mapping, text
from policylint.policy.declared import Reading
from policylint.topology import Topology
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target
from policylint.topology.service_ports import ports

GROUP = "gateway.kgateway.dev"
PERMISSIVE = "permissive"
"""Default of the controller's ReferenceGrantMode."""


def broken_reference(policy: Resource, topology: Topology, grants: str = PERMISSIVE) -> Reading:
    """Return the first reference that certainly is missing, not granted or unusable; no `code` without one.

    Args:
        grants: ReferenceGrantMode: `permissive` asks for grants for backends and Secrets of other namespaces, `strict`
            also for GatewayExtensions, `off` for none.
    """
    fault = next(_References(policy, topology, grants).faults(), None)
    return Reading() if fault is None else Reading(code="broken-reference", reason=fault[1], pointer=fault[0])


class _References:
    def __init__(self, policy: Resource, topology: Topology, mode: str) -> None:
        self.policy = policy
        self.mode = mode
        self.world = topology.world
        self._kept: Grants | None = None

    def faults(self) -> Iterator[Fault]:
        if self.policy.key.kind == "TrafficPolicy":
            yield from self._extensions()
            yield from self._api_keys()
            yield from users(self.policy, self.world)
        if self.policy.key.kind == "ListenerPolicy":
            yield from self._backends(self.policy)
        yield from self._secrets()

    def _extensions(self) -> Iterator[Fault]:
        for path in TYPES:
            block = self.policy.spec
            for step in path:
                block = mapping(block.get(step))
            key = self._key(GROUP, "GatewayExtension", block.get("extensionRef"))
            if not key.name:
                continue
            resolution = self.world.resolve_inner(key)
            pointer: Pointer = ("spec", *path, "extensionRef")
            if resolution.missing:
                yield pointer, f"{key} is missing"
            elif self.mode == "strict" and (fault := next(self._reach(self.policy, key), "")):
                yield pointer, fault
            elif resolution.resource is not None:
                extension = resolution.resource
                for _, fault in (*own_faults(extension, TYPES[path], self.world), *self._backends(extension)):
                    yield pointer, f"{key}: {fault}"

    def _backends(self, holder: Resource) -> Iterator[Fault]:
        for pointer, value in walk(holder.spec, ("spec",)):
            if pointer[-1] in ("backendRef", "jwksBackendRef") and isinstance(value, dict):
                backend, _, port = backend_target(value, holder.key.namespace)
                yield from ((pointer, fault) for fault in self._reach(holder, backend, port))

    def _secrets(self) -> Iterator[Fault]:
        for pointer, value in walk(self.policy.spec, ("spec",)):
            if pointer[-1] == "secretRef" and text(mapping(value).get("name")):
                key = self._key("", "Secret", value)
                yield from ((pointer, fault) for fault in self._reach(self.policy, key))
                if "headerModifiers" in pointer:
                    header: Any = reduce(getitem, pointer[1:-1], self.policy.spec)  # type: ignore[arg-type]
                    fault = header_fault(self.world, key, value, text(header.get("name")))
                    yield from [(pointer, fault)] if fault else []

    def _key(self, group: str, kind: str, reference: Any) -> ResourceKey:
        namespace = text(mapping(reference).get("namespace")) or self.policy.key.namespace
        return ResourceKey(group, kind, namespace, text(mapping(reference).get("name")))

    def _api_keys(self) -> Iterator[Fault]:
        """Check the Secrets of `apiKeyAuth`; a selector finds those of other namespaces too, where grants allow it."""
        block = mapping(self.policy.spec.get("apiKeyAuth"))
        pointer: Pointer = ("spec", "apiKeyAuth", "secretRef")
        secret = self.world.get(self._key("", "Secret", block.get("secretRef")))
        chosen = [secret] if secret is not None else []
        selector = block.get("secretSelector")
        if isinstance(selector, dict):
            pointer = ("spec", "apiKeyAuth", "secretSelector")
            labelled = self.world.selected("", "Secret", selector)
            permits = [(secret, self._allows(self.policy.key, secret.key)) for secret in labelled]
            if any(permitted is None for _, permitted in permits):
                return
            chosen = [secret for secret, permitted in permits if permitted]
            namespace = self.policy.key.namespace
            if not chosen and self.world.resolve(ResourceKey("", "Secret", namespace, "")).missing:
                yield pointer, f"no Secret in namespace {namespace} has these labels"
        if chosen and (fault := api_keys(chosen, self.world)):
            yield pointer, fault

    def _allows(self, holder: ResourceKey, key: ResourceKey) -> bool | None:
        if self.mode == "off" or holder.namespace == key.namespace:
            return True
        if self._kept is None:
            self._kept = Grants(self.world)
        return self._kept.allows(holder, key)

    def _reach(self, holder: Resource, key: ResourceKey, port: int | None = None) -> Iterator[str]:
        resolution = self.world.resolve_inner(key)
        if self._allows(holder.key, key) is False:
            yield f"no ReferenceGrant in namespace {key.namespace} lets {holder.key} name {key}"
        elif resolution.missing:
            yield f"{key} is missing"
        elif resolution.resource is not None and port is not None:
            numbers = [each.number for each in ports(resolution.resource)]
            if numbers and port not in numbers and None not in numbers:
                yield f"{key} has no port {port}"
