"""What an AgentgatewayPolicy refers to beside its targets: backends, Secrets, ConfigMaps and key sets.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.credentials import api_key_faults, authority_faults, secret_faults
from policylint.implementations.agentgateway.expressions import invalid_expressions, unreported
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.selectors import matches
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target
from policylint.topology.secret_data import contents

BLOCKS = ("frontend", "traffic", "backend")
_SECRETS = frozenset({"certificateRef", "clientSecretRef", "mtlsCertificateRef", "secretRef", "signingKeyRef"})
GRANTS = "route-and-policy"
"""The controller's BackendRefGrantMode with which policies too need a ReferenceGrant for backends elsewhere."""
_BACKENDS = frozenset(
    {
        ("", "Service"),
        ("agentgateway.dev", "AgentgatewayBackend"),
        ("gateway.networking.x-k8s.io", "XBackend"),
        ("inference.networking.k8s.io", "InferencePool"),
    }
)


def faults(policy: Resource, world: World, granted: bool = False) -> list[tuple[Pointer, str]]:
    """All that makes a policy only partly valid: expressions that do not parse, references that do not resolve.

    Args:
        granted: whether backends of other namespaces need a ReferenceGrant.
    """
    found: list[tuple[Pointer, str]] = []
    reader = _References(policy, world, granted)
    for block in BLOCKS:
        if block in policy.spec:
            found += invalid_expressions(policy.spec[block], ("spec", block))
            found += reader.below(policy.spec[block], ("spec", block))
    return found


class _References:
    def __init__(self, policy: Resource, world: World, granted: bool) -> None:
        self.policy = policy
        self.world = world
        self.granted = granted
        self.namespace = policy.key.namespace

    def below(self, value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
        for index, each in enumerate(sequence(value)):
            yield from self.below(each, (*pointer, index))
        for name, inner in mapping(value).items():
            here = (*pointer, name)
            if unreported(name, pointer):
                continue
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
                if name in ("jwks", "remote") and {"jwksPath", "url"}.intersection(mapping(inner)):
                    yield here, "its key set is not fetched yet"
                if name == "jwtAuthentication" and "mcp" in mapping(inner):
                    providers = len(sequence(mapping(inner).get("providers")))
                    yield from [(here, f"mcp needs exactly one provider, not {providers}")] if providers != 1 else []
                yield from self.below(inner, here)

    def _backend(self, reference: Mapping[str, Any]) -> Iterator[str]:
        key, _, port = backend_target(reference, self.namespace)
        if (key.group, key.kind) not in _BACKENDS:
            yield f"{key} is no kind of backend"
        elif self.granted and Grants(self.world).allows(self.policy.key, key) is False:
            yield f"no ReferenceGrant in namespace {key.namespace} lets {self.policy.key} name {key}"
        elif self.world.resolve_inner(key).missing:
            yield f"unable to find the {key}"
        elif key.kind == "Service" and port is None and "port" not in reference:
            yield f"{key} needs a port"

    def _secret(self, reference: Mapping[str, Any], pointer: Pointer) -> Iterator[str]:
        if not text(reference.get("name")) or text(reference.get("kind"), "Secret") != "Secret":
            return
        key = ResourceKey("", "Secret", self.namespace, text(reference["name"]))
        resolution = self.world.resolve(key)
        if resolution.missing:
            yield f"{key} is not there"
        elif resolution.resource is not None:
            yield from secret_faults(resolution.resource, reference, pointer, self.world)

    def _authority(self, reference: Mapping[str, Any]) -> Iterator[str]:
        kind = text(reference.get("kind")) or "ConfigMap"
        key = ResourceKey("", kind, self.namespace, text(reference.get("name")))
        resolution = self.world.resolve(key)
        if resolution.missing:
            yield f"{key} is not there"
        elif resolution.resource is not None:
            yield from authority_faults(resolution.resource, self.world)

    def _selected(self, name: str, selector: Mapping[str, Any]) -> Iterator[str]:
        """API keys by label; that none is there is no fault."""
        kind = "Secret" if name == "secretSelector" else "ConfigMap"
        for each in self.world.in_namespace("", kind, self.namespace):
            if matches(selector, each.labels):
                yield from api_key_faults(each, contents(each, self.world) or {})
