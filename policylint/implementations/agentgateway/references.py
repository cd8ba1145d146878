"""The references of an AgentgatewayPolicy besides its targets: backends, Secrets, ConfigMaps and key sets.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.agentgateway.credentials import api_key_faults, authority_faults, secret_faults
from policylint.implementations.agentgateway.expressions import invalid_expressions, is_unreported
from policylint.implementations.agentgateway.merging import BLOCKS
from policylint.implementations.generic import walk
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.results import FaultyPart
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target
from policylint.topology.secret_data import contents

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


def faults(policy: Resource, world: World, granted: bool = False) -> list[FaultyPart]:
    """Return why a policy is only partly valid: expressions that do not parse, references that do not resolve.

    Args:
        granted: whether backends of other namespaces need a ReferenceGrant.
    """
    found: list[FaultyPart] = []
    references = References(policy, world, granted)
    for block in BLOCKS:
        if block in policy.spec:
            found += (FaultyPart(*fault) for fault in invalid_expressions(policy.spec[block], ("spec", block)))
            for pointer, value in walk(policy.spec[block], ("spec", block)):
                if is_unreported(pointer):
                    continue
                found += (FaultyPart(pointer, message) for message in references.faults(pointer, value))
                if pointer[-1] in ("jwks", "remote") and not {"jwksPath", "url"}.isdisjoint(mapping(value)):
                    found.append(FaultyPart(pointer, "its key set is not fetched yet", passing=True))
    return found


class References:
    """The references of one policy."""

    def __init__(self, policy: Resource, world: World, granted: bool) -> None:
        self.policy = policy
        self.world = world
        self.granted = granted
        self.namespace = policy.key.namespace

    def faults(self, pointer: Pointer, value: Any) -> Iterator[str]:
        """Yield the faults of one field, apart from those of the fields inside it."""
        body = mapping(value)
        match pointer[-1]:
            case "backendRef" if isinstance(value, dict):
                yield from self.backend(value)
            case name if name in _SECRETS:
                for reference in value if isinstance(value, list) else [value]:
                    yield from self._secret(mapping(reference), pointer)
            case "caCertificateRefs":
                for reference in map(mapping, sequence(value)):
                    yield from self._authority(reference)
            case "secretSelector" if isinstance(value, dict):
                yield from self._selected("Secret", value)
            case "configMapSelector" if isinstance(value, dict):
                yield from self._selected("ConfigMap", value)
            case "jwtAuthentication" if "mcp" in body and len(sequence(body.get("providers"))) != 1:
                yield f"mcp needs exactly one provider, not {len(sequence(body.get('providers')))}"

    def backend(self, reference: Mapping[str, Any]) -> Iterator[str]:
        """Yield why a backendRef leads nowhere for certain."""
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
            yield f"{key} is missing"
        elif resolution.resource is not None:
            yield from secret_faults(resolution.resource, reference, pointer, self.world)

    def _authority(self, reference: Mapping[str, Any]) -> Iterator[str]:
        kind = text(reference.get("kind")) or "ConfigMap"
        key = ResourceKey("", kind, self.namespace, text(reference.get("name")))
        resolution = self.world.resolve(key)
        if resolution.missing:
            yield f"{key} is missing"
        elif resolution.resource is not None:
            yield from authority_faults(resolution.resource, self.world)

    def _selected(self, kind: str, selector: Mapping[str, Any]) -> Iterator[str]:
        """Check API keys by label; that none is there is no fault."""
        for holder in self.world.selected("", kind, selector, self.namespace):
            yield from api_key_faults(holder, contents(holder, self.world) or {})
