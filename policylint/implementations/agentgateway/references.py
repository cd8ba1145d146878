"""What an AgentgatewayPolicy refers to beside its targets: backends, Secrets, ConfigMaps and key sets (§4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.expressions import invalid_expressions
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.selectors import matches
from policylint.topology.grants import Grants

BLOCKS = ("frontend", "traffic", "backend")
_SECRETS = frozenset({"certificateRef", "clientSecretRef", "mtlsCertificateRef", "secretRef", "signingKeyRef"})
_AUTHORIZATION = "Authorization"
"""The key that backend.auth reads where none is named."""


def faults(policy: Resource, world: World) -> list[tuple[Pointer, str]]:
    """All that makes a policy only partly valid: expressions that do not parse, references that do not resolve."""
    found: list[tuple[Pointer, str]] = []
    reader = _References(policy, world)
    for block in BLOCKS:
        if block in policy.spec:
            found += invalid_expressions(policy.spec[block], ("spec", block))
            found += reader.below(policy.spec[block], ("spec", block))
    return found


class _References:
    def __init__(self, policy: Resource, world: World) -> None:
        self.policy = policy
        self.world = world
        self.namespace = policy.key.namespace

    def below(self, value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
        for index, each in enumerate(sequence(value)):
            yield from self.below(each, (*pointer, index))
        for name, inner in mapping(value).items():
            here = (*pointer, name)
            if name == "backendRef" and isinstance(inner, dict):
                yield from ((here, fault) for fault in self._backend(inner))
            elif name in _SECRETS:
                for each in inner if isinstance(inner, list) else [inner]:
                    yield from ((here, fault) for fault in self._secret(mapping(each), here))
            elif name == "caCertificateRefs":
                for each in map(mapping, sequence(inner)):
                    yield from ((here, fault) for fault in self._authority(each))
            elif name in ("secretSelector", "configMapSelector") and isinstance(inner, dict):
                yield from ((here, fault) for fault in self._selected(name, inner))
            else:
                if name in ("jwks", "remote") and "jwksPath" in mapping(inner):
                    yield here, "its key set is not fetched yet"
                yield from self.below(inner, here)

    def _backend(self, reference: Mapping[str, Any]) -> Iterator[str]:
        kind = text(reference.get("kind")) or "Service"
        namespace = text(reference.get("namespace")) or self.namespace
        key = ResourceKey(text(reference.get("group")), kind, namespace, text(reference.get("name")))
        if namespace != self.namespace and Grants(self.world).allows(self.policy.key, key) is False:
            yield f"no ReferenceGrant in namespace {namespace} lets {self.policy.key} name {key}"
        elif self.world.resolve_inner(key).missing:
            yield f"unable to find the {key}"

    def _secret(self, reference: Mapping[str, Any], pointer: Pointer) -> Iterator[str]:
        if not text(reference.get("name")) or text(reference.get("kind"), "Secret") != "Secret":
            return
        key = ResourceKey("", "Secret", self.namespace, text(reference["name"]))
        resolution = self.world.resolve(key)
        if resolution.missing:
            yield f"{key} is not there"
            return
        wanted = text(reference.get("key"))
        if not wanted and pointer[-3:] == ("backend", "auth", "secretRef"):
            wanted = _AUTHORIZATION
        if wanted and resolution.resource is not None and wanted not in _entries(resolution.resource):
            yield f"{key} has no key {wanted!r}"

    def _authority(self, reference: Mapping[str, Any]) -> Iterator[str]:
        kind = text(reference.get("kind")) or "ConfigMap"
        key = ResourceKey("", kind, self.namespace, text(reference.get("name")))
        resolution = self.world.resolve(key)
        if resolution.missing:
            yield f"{key} is not there"
        elif resolution.resource is not None and "ca.crt" not in _entries(resolution.resource):
            yield f"{key} has no key 'ca.crt'"

    def _selected(self, name: str, selector: Mapping[str, Any]) -> Iterator[str]:
        """API keys: a ConfigMap may hold hashes only, as it is not confidential."""
        if name == "secretSelector":
            return
        for each in self.world.in_namespace("", "ConfigMap", self.namespace):
            if matches(selector, each.labels):
                for entry, value in _entries(each).items():
                    if "keyHash" not in str(value):
                        yield f"{each.key}: {entry} is no hash, and a ConfigMap is not confidential"


def _entries(holder: Resource) -> dict[str, Any]:
    return {**mapping(holder.body.get("data")), **mapping(holder.body.get("stringData"))}
