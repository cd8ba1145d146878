"""Linkerd: authorizations on one target are alternatives; of two rate limits on one Server the oldest counts (§4).

Besides docs/design/implementations/kgateway-nginx-gloo.md: what the admission webhook refuses
(policy-controller/src/admission.rs), and what a Namespace stands for (k8s/index/src/inbound/index.rs): every Server of
the policy's own namespace.
"""

from __future__ import annotations

from collections import Counter

from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.model import PolicyKind, Resolution, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.results import Declared, Effective, PolicyState, Target
from policylint.topology import Condition, Topology, whole
from policylint.topology.grants import Grants
from policylint.topology.references import same_namespace

_AUTHORIZATION = "AuthorizationPolicy"
_SERVER = ("policy.linkerd.io", "Server")
_REFERENCES = "requiredAuthenticationRefs"
_AUTHENTICATIONS = {
    ("policy.linkerd.io", "MeshTLSAuthentication"): "identity",
    ("", "ServiceAccount"): "identity",
    ("policy.linkerd.io", "NetworkAuthentication"): "network",
}
"""What an authorization may ask for, at most once of each sort."""


class Linkerd(Implementation):
    """AuthorizationPolicy and HTTPLocalRateLimitPolicy."""

    name = "linkerd"

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """The policy's namespace is there without a manifest, and means all Servers in it."""
        found = super().targets(policy, kind, topology, grants)
        return tuple(_of_namespace(each, policy, topology.world) for each in found)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """The webhook takes one identity and one network in an authorization, and nothing else."""
        if kind.kind == _AUTHORIZATION:
            seen: Counter[str] = Counter()
            for index, each in enumerate(map(mapping, sequence(policy.spec.get(_REFERENCES)))):
                group, name = text(each.get("group")), text(each.get("kind"))
                if is_symbolic(group) or is_symbolic(name):
                    continue
                sort = _AUTHENTICATIONS.get(("" if group == "core" else group, name), "")
                seen[sort] += 1
                if not sort or seen[sort] > 1:
                    reason = f"only one {sort} may be asked for" if sort else f"{name} is no kind of authentication"
                    return Reading(code="authentication", reason=reason, pointer=("spec", _REFERENCES, index))
        return super().validate(policy, kind, declared, world)

    def merge(self, stack: Stack) -> Effective:
        """A request passes if it meets one of the policies: their requirements stand side by side, a list of each."""
        if stack.kind.kind != _AUTHORIZATION or len(stack.attachments) == 1:
            return super().merge(stack)
        alternatives = [list(sequence(each.policy.spec.get(_REFERENCES))) for each in stack.attachments]
        owners: dict[Pointer, ResourceKey] = {
            (_REFERENCES, index): each.key for index, each in enumerate(stack.attachments)
        }
        return Effective({_REFERENCES: alternatives}, owners, (), stack.attachments)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """What the policy controller writes on a rate limit (policy-controller/k8s/status/src/index.rs)."""
        if state.kind.status != "conditions" or state.invalid_code:
            return ()
        if state.refused:
            return (Condition("Accepted", "False", "RateLimitReasonAlreadyExists"),)
        if any(target.resolution.unknown for target in state.targets):
            return ()
        if not any(target.nodes for target in state.targets):
            return (Condition("Accepted", "False", "NoMatchingTarget"),)
        return (Condition("Accepted", "True", "Accepted"),)


def _of_namespace(target: Target, policy: Resource, world: World) -> Target:
    if (target.key.group, target.key.kind) != ("", "Namespace") or is_symbolic(target.key.name):
        return target
    home = policy.key.namespace
    if same_namespace(target.key.name, home) is False:
        detail = f"{_AUTHORIZATION} may only target its own namespace {home}"
        return target._replace(nodes=(), problem="other-namespace", detail=detail)
    servers = [whole(each.key) for each in world.of_kind(*_SERVER) if each.key.namespace == home]
    nodes = tuple(servers) or (whole(ResourceKey("", "Namespace", "", target.key.name)),)
    found = Resolution("found", "the policy is in it")
    return target._replace(nodes=nodes, resolution=found, problem="", detail="")
