"""Linkerd: authorizations on one target are alternatives; of two rate limits on one Server the oldest counts (§4).

Besides docs/design/implementations/kgateway-nginx-gloo.md: the refusals of the admission webhook
(policy-controller/src/admission.rs), and the meaning of a Namespace (k8s/index/src/inbound/index.rs): every Server of
the policy's own namespace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from policylint.documents import Pointer
from policylint.implementations.generic import Attachments, Implementation, resolved_to
from policylint.implementations.generic.backends import regardless_of_grants
from policylint.implementations.linkerd.references import AUTHENTICATIONS, referred
from policylint.model import PolicyKind, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.policy.authorizing import Checkpoint, Decision, RequestFacts
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.results import Declared, Effective, Group, Idle, Losses, PolicyState, Target
from policylint.policy.targets import refused
from policylint.topology import BackendState, Condition, RouteState, Topology, whole
from policylint.topology.grants import Grants
from policylint.topology.references import same_namespace
from policylint.topology.workloads import is_workload

if TYPE_CHECKING:
    from policylint.implementations.generic.control_plane import ControlPlane
    from policylint.implementations.generic.dead_ends import DeadEnd
    from policylint.implementations.generic.relays import OpenRelay
    from policylint.implementations.generic.workload_ports import WorkloadPort
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Tunnel

_LETS_REQUEST = "let the probe's path in, without an identity (an HTTPRoute and a NetworkAuthentication for it)"
_LETS_CALL = (
    "let the addresses of nodes in at a Server of the port (an AuthorizationPolicy with a NetworkAuthentication), or "
    "probe by HTTP, which is let in by default"
)
_AUTHORIZATION = "AuthorizationPolicy"
_INBOUND = 4143
"""The port of the proxies that are the target of connections."""
_HOME = "linkerd"
_CONTROL = (8080, 8086, 8090)
"""The ports of identity, destination and policy."""
_RATE_LIMIT = "HTTPLocalRateLimitPolicy"
_UNLIMITED = ("TLS", "gRPC", "opaque")
"""Protocols of Servers for which the proxy is told of no rate limit."""
_SERVER = ("policy.linkerd.io", "Server")
_REFERENCES = "requiredAuthenticationRefs"


def _no_kind(group: str, kind: str) -> str:
    """Return why a reference is to no authentication: its kind is none, or is one in another group."""
    own = next((owner for owner, name in AUTHENTICATIONS if name.lower() == kind.lower()), "")
    if own:
        return f"{kind} is an authentication of group {own}, and {f'not of {group}' if group else 'no group is stated'}"
    return f"{kind} is no kind of authentication"


class Linkerd(Implementation):
    """AuthorizationPolicy and HTTPLocalRateLimitPolicy."""

    name = "linkerd"
    is_mesh = True
    asked_by_requests = True

    def open_relays(self, world: World) -> Iterable[OpenRelay]:
        from policylint.implementations.linkerd.relays import open_relays

        return open_relays(world)

    def dead_ends(self, world: World) -> Iterable[DeadEnd]:
        """Return the ServiceProfiles that are called after no Service."""
        from policylint.implementations.linkerd.profiles import unasked

        return unasked(world)

    def workload_ports(self, world: World) -> Iterable[WorkloadPort]:
        from policylint.implementations.linkerd.workload_ports import workload_ports

        return workload_ports(world)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve references; the policy's namespace needs no manifest, and stands for all Servers in it."""
        targets = super().targets(policy, kind, topology, grants)
        return tuple(_of_namespace(target, policy, topology.world) for target in targets)

    def backends(self, route: RouteState, topology: Topology) -> tuple[BackendState, ...]:
        """Take backends of other namespaces without a grant, whoever's kind the route is of.

        Source: linkerd2 policy-controller/k8s/index/src/outbound/index/http.rs, convert_backend, and grpc.rs, tcp.rs,
        tls.rs beside it: they read no grants.
        """
        return tuple(map(regardless_of_grants, super().backends(route, topology)))

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse what the webhook refuses: an authorization takes at most one identity and one network."""
        if kind.kind == _AUTHORIZATION:
            seen: Counter[str] = Counter()
            for index, stated in enumerate(sequence(policy.spec.get(_REFERENCES))):
                reference = mapping(stated)
                group, name = text(reference.get("group")), text(reference.get("kind"))
                if any(map(is_symbolic, (stated, group, name))):
                    continue
                sort = AUTHENTICATIONS.get(referred(reference), "")
                seen[sort] += 1
                if not sort or seen[sort] > 1:
                    reason = f"only one {sort} may be asked for" if sort else _no_kind(group, name)
                    return Reading(code="authentication", reason=reason, pointer=("spec", _REFERENCES, index))
        return super().validate(policy, kind, declared, world)

    def merge(self, stack: Stack) -> Effective:
        """Return the requirements of all policies side by side, one list each: a request has to meet one of them."""
        if stack.kind.kind != _AUTHORIZATION or len(stack.attachments) == 1:
            return super().merge(stack)
        alternatives = [list(sequence(attachment.policy.spec.get(_REFERENCES))) for attachment in stack.attachments]
        owners: dict[Pointer, ResourceKey] = {
            (_REFERENCES, index): attachment.key for index, attachment in enumerate(stack.attachments)
        }
        return Effective({_REFERENCES: alternatives}, owners, Losses(), stack.attachments)

    def admit(self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World) -> Decision | None:
        """Ask the Server of a port of a workload's pods, or the default policy where there is none."""
        from policylint.implementations.linkerd.admission import admit

        policies = [
            attachment for group in groups if group.kind.kind == _AUTHORIZATION for attachment in group.effective.stack
        ]
        return admit(call, hop, policies, world) if is_workload(*hop.resource.key[:2]) else None

    def admit_probe(
        self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World
    ) -> Decision | None:
        """Return what the Server of the port answers: probes are requests as any other once it has HTTPRoutes.

        Source: linkerd.io, «Authorization Policy», «Default authorizations»; linkerd/linkerd2#8945.
        """
        return self.admit(call, hop, groups, world)

    def may_refuse(self, call: RequestFacts, service: Resource, world: World) -> bool:
        """Tell whether a Server may select pods behind a Service, of which none was seen, or a default policy holds."""
        from policylint.implementations.linkerd.admission import may_refuse

        return may_refuse(call, service, world)

    def letting_probes_in(self, *, is_call: bool) -> str:
        return _LETS_CALL if is_call else _LETS_REQUEST

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the groups; proxies are told of rate limits for HTTP alone (grpc/src/inbound.rs @ 01afd2304)."""
        if kind.kind == _RATE_LIMIT:
            kept = {node: policies for node, policies in kept.items() if not _unlimited(node.key, topology.world)}
        return super().groups(kind, kept, topology)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set the generic verdicts, and why a rate limit has no effect."""
        super().judge(states, topology)
        for state in states:
            target = next(iter(state.targets), None)
            if state.kind.kind == _RATE_LIMIT and state.verdict == "NoEffect" and target is not None:
                protocol = _unlimited(target.key, topology.world)
                why = f"the proxy limits nothing at a Server with `proxyProtocol: {protocol}`"
                state.idle = Idle(target, why, "set `proxyProtocol` to HTTP/1, HTTP/2 or unknown") if protocol else None

    def proxied(self, workload: Resource, world: World) -> bool | None:
        """Return whether an annotation has the proxy injected."""
        from policylint.implementations.linkerd.admission import injected

        return injected(workload, world)

    def tunnel(self, source: Endpoint, target: Endpoint, world: World) -> Tunnel | None:
        """Return the port of the target's proxy (linkerd.io, «Network Policy» among the common errors of 2.18)."""
        from policylint.implementations.linkerd.admission import wrapped
        from policylint.network.meshes import Tunnel

        if not wrapped(source, world) or not wrapped(target, world):
            return None
        why = f"{source} and {target} are in Linkerd's mesh, which sends to port {_INBOUND} from 2.18 on"
        return Tunnel(_INBOUND, True, why)

    def encrypted(
        self,
        source: Endpoint,
        target: Endpoint,
        service: Resource,  # noqa: ARG002
        ports: tuple[int | None, int | None],
        groups: Sequence[Group],  # noqa: ARG002
        world: World,
    ) -> str:
        """Return that both ends have a proxy (linkerd.io, «Automatic mTLS»; «Protocol Detection», skipped ports)."""
        from policylint.implementations.linkerd.admission import skips, wrapped

        if not wrapped(source, world) or not wrapped(target, world) or skips(source, target, ports, world):
            return ""
        return "Linkerd encrypts it (mutual TLS)"

    def steered_by(self, end: Endpoint, world: World) -> ControlPlane | None:
        """Return identity, destination and policy, for pods with a proxy (charts/linkerd-control-plane, Services)."""
        from policylint.implementations.generic.control_plane import ControlPlane
        from policylint.implementations.linkerd.admission import wrapped

        if end.resource is None or not wrapped(end, world):
            return None
        then = "a proxy that gets no identity never gets ready, and neither does its pod"
        return ControlPlane("Linkerd's control plane", _HOME, _CONTROL, then)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the condition that is written on a rate limit (policy-controller/k8s/status/src/index.rs)."""
        if state.kind.status != "conditions" or state.invalid_code:
            return ()
        if state.refused:
            return (Condition("Accepted", "False", "RateLimitReasonAlreadyExists"),)
        if any(target.resolution.unknown for target in state.targets):
            return ()
        if not any(target.nodes for target in state.targets):
            return (Condition("Accepted", "False", "NoMatchingTarget"),)
        return (Condition("Accepted", "True", "Accepted"),)


def _unlimited(server: ResourceKey, world: World) -> str:
    """Return the protocol of a Server of which the proxy limits no requests, "" where it does."""
    resource = world.get(server)
    protocol = "" if resource is None else text(resource.spec.get("proxyProtocol"))
    return protocol if protocol in _UNLIMITED else ""


def _of_namespace(target: Target, policy: Resource, world: World) -> Target:
    if (target.key.group, target.key.kind) != ("", "Namespace") or is_symbolic(target.key.name):
        return target
    home = policy.key.namespace
    if same_namespace(target.key.name, home) is False:
        detail = f"{_AUTHORIZATION} may only target its own namespace {home}"
        resolution = refused(target.key, detail)
        return target._replace(nodes=(), resolution=resolution, problem="other-namespace", detail=detail)
    servers = [whole(server.key) for server in world.of_kind(*_SERVER) if server.key.namespace == home]
    nodes = servers or [whole(ResourceKey("", "Namespace", "", target.key.name))]
    return resolved_to(target, *nodes, reason="the policy is in it")
