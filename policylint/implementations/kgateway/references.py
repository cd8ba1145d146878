"""What a kgateway policy refers to beside its targets; what is not there makes it invalid.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, last item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.kgateway.credentials import api_keys, header_key, users
from policylint.implementations.kgateway.extensions import TYPES, Fault, own_faults
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.model.selectors import matches
from policylint.policy.declared import Reading
from policylint.topology import Topology
from policylint.topology.backends import ports
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target

GROUP = "gateway.kgateway.dev"
PERMISSIVE = "permissive"
"""Default of the controller's ReferenceGrantMode."""
_BACKENDS = ("backendRef", "jwksBackendRef")
_SECRETS = ("secretRef",)


def broken_reference(policy: Resource, topology: Topology, grants: str = PERMISSIVE) -> Reading:
    """The first reference that certainly does not resolve, is not granted, or leads to what is of no use; a Reading
    without code for none.

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
        self._kept: Grants | None = None

    def faults(self) -> Iterator[Fault]:
        if self.policy.key.kind == "TrafficPolicy":
            yield from self._extensions()
            yield from self._api_keys()
            yield from users(self.policy, self.world)
        if self.policy.key.kind == "ListenerPolicy":
            yield from self._backends(self.policy, ("spec",), self.policy.spec)
        yield from self._secrets(("spec",), self.policy.spec)

    def _extensions(self) -> Iterator[Fault]:
        for path in TYPES:
            block: Any = self.policy.spec
            for step in path:
                block = mapping(mapping(block).get(step))
            reference = mapping(mapping(block).get("extensionRef"))
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
                for fault in self._of_extension(resolution.resource, TYPES[path]):
                    yield pointer, f"{key}: {fault}"

    def _of_extension(self, extension: Resource, wanted: str) -> Iterator[str]:
        yield from (fault for _, fault in own_faults(extension, wanted, self.world))
        yield from (fault for _, fault in self._backends(extension, ("spec",), extension.spec))

    def _backends(self, holder: Resource, pointer: Pointer, value: Any) -> Iterator[Fault]:
        for index, each in enumerate(sequence(value)):
            yield from self._backends(holder, (*pointer, index), each)
        for name, inner in mapping(value).items():
            here = (*pointer, name)
            if name in _BACKENDS and isinstance(inner, dict):
                wanted, _, port = backend_target(inner, holder.key.namespace)
                yield from ((here, fault) for fault in self._reach(holder, wanted, port))
            else:
                yield from self._backends(holder, here, inner)

    def _secrets(self, pointer: Pointer, value: Any) -> Iterator[Fault]:
        for index, each in enumerate(sequence(value)):
            yield from self._secrets((*pointer, index), each)
        for name, inner in mapping(value).items():
            if name in _SECRETS and isinstance(inner, dict) and text(inner.get("name")):
                key = self._secret(inner)
                yield from (((*pointer, name), fault) for fault in self._reach(self.policy, key))
                if "headerModifiers" in pointer:
                    fault = header_key(self.world, key, inner, text(mapping(value).get("name")))
                    yield from [((*pointer, name), fault)] if fault else []
            else:
                yield from self._secrets((*pointer, name), inner)

    def _secret(self, reference: Any) -> ResourceKey:
        namespace = text(mapping(reference).get("namespace")) or self.policy.key.namespace
        return ResourceKey("", "Secret", namespace, text(mapping(reference).get("name")))

    def _api_keys(self) -> Iterator[Fault]:
        """The Secrets of `apiKeyAuth`: by a selector also those of other namespaces whose grants permit it."""
        block = mapping(self.policy.spec.get("apiKeyAuth"))
        pointer: Pointer = ("spec", "apiKeyAuth", "secretRef")
        chosen = [found] if (found := self.world.get(self._secret(block.get("secretRef")))) is not None else []
        selector = block.get("secretSelector")
        if isinstance(selector, dict):
            pointer = ("spec", "apiKeyAuth", "secretSelector")
            labelled = [each for each in self.world.of_kind("", "Secret") if matches(selector, each.labels)]
            permits = [(each, self._allows(self.policy.key, each.key)) for each in labelled]
            if any(permitted is None for _, permitted in permits):
                return
            chosen = [each for each, permitted in permits if permitted]
            namespace = self.policy.key.namespace
            if not chosen and self.world.resolve(ResourceKey("", "Secret", namespace, "")).missing:
                yield pointer, f"no Secret in namespace {namespace} has these labels"
        if chosen and (fault := api_keys(chosen, self.world)):
            yield pointer, fault

    def _allows(self, holder: ResourceKey, wanted: ResourceKey) -> bool | None:
        if self.mode == "off" or holder.namespace == wanted.namespace:
            return True
        if self._kept is None:
            self._kept = Grants(self.world)
        return self._kept.allows(holder, wanted)

    def _reach(self, holder: Resource, wanted: ResourceKey, port: int | None = None) -> Iterator[str]:
        resolution = self.world.resolve_inner(wanted)
        if self._allows(holder.key, wanted) is False:
            yield f"no ReferenceGrant in namespace {wanted.namespace} lets {holder.key} name {wanted}"
        elif resolution.missing:
            yield f"{wanted} is not there"
        elif resolution.resource is not None and port is not None:
            numbers = [each.number for each in ports(resolution.resource)]
            if numbers and port not in numbers and None not in numbers:
                yield f"{wanted} has no port {port}"
