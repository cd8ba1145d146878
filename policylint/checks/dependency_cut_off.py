"""GWP623: pods that a network policy cuts off from what they cannot do without.

The API server for controllers, the control plane of a mesh for its sidecars, and for the proxies of Gateways the
Services that policies have them ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import at
from policylint.checks.kit.network import doubt, names_api_server
from policylint.documents import Pointer
from policylint.model import Finding, Related, Resource, ResourceKey, integer, mapping, sequence, text, texts, value_at
from policylint.model.words import leading
from policylint.namedtuple import NamedTuple
from policylint.network.cilium import LETS_API_SERVER
from policylint.network.cilium_installed import installed
from policylint.network.endpoints import Endpoint
from policylint.network.kinds import CILIUM
from policylint.network.rules import Block, Entity, Peer, Pods, PolicySpec, RuleSpec
from policylint.network.selecting import Labels
from policylint.network.walk import Entry
from policylint.policy.content import ContentReference, content_references
from policylint.policy.results import PolicyState
from policylint.render.rights import FOR_OTHERS
from policylint.simulation import Simulation
from policylint.topology.namespaces import NAME_LABEL
from policylint.topology.workloads import pod_spec

RULE = "GWP623"
_API_PORTS = (443, 6443, 8443, 16443)
"""On which API servers listen, as policies see it: behind their Service, or as the Service has it."""
_API_SERVER = Entity("kube-apiserver")
_RIGHTS = "rbac.authorization.k8s.io"
_BINDINGS = ((_RIGHTS, "ClusterRoleBinding"), (_RIGHTS, "RoleBinding"))
_AS_USER = "system:serviceaccount:"
"""What the name of the user begins with that an account is to the API server."""
_NO_REQUESTS = frozenset({"use"})
"""Verbs of rights that the API server looks up by itself, as when it admits pods: nobody makes a request with them."""
_OF_API_SERVER = ("kube-system", "kube-public")
"""Namespaces in which the API server makes Roles itself."""
_CLUSTER_ROLES = ("cluster-admin", "admin", "edit", "view")
_NOT_BY_PROXIES = ("jwks", "oidc", "provider", "telemetry", "introspection")
"""Parts of paths to what a controller asks, or what requests do not wait for."""


class _Need(NamedTuple):
    """What pods must reach.

    Args:
        what: for users.
        ports: of it, each of which is needed; empty for the API server, which has one of several.
        namespace: of its pods; "" for the API server, which is on the network of nodes.
        because: the object that shows that the pods need it, None where they themselves do.
    """

    what: str
    ports: tuple[int, ...]
    namespace: str
    label: str
    fix: str
    because: Resource | None = None


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    bound, by_identity = _bound(simulation), _is_by_identity(simulation)
    cut: dict[tuple[ResourceKey, str], list[tuple[Endpoint, _Need, tuple[Entry, ...]]]] = {}
    for number, end in enumerate(network.universe.endpoints):
        if end.role != "workload" or end.host or end.resource is None:
            continue
        needs = list(_needs(simulation, end, end.resource, bound))
        entries = network.entries(number, "egress") if needs else ()
        isolating = [entry for entry in entries if entry.isolates and entry.certain]
        for need in needs if isolating else ():
            if not _is_open(entries, need, by_identity=by_identity):
                cut.setdefault((isolating[0].policy.key, need.what), []).append((end, need, entries))
    policies = {policy.key: policy for policy in network.policies}
    for (key, _), found in sorted(cut.items(), key=lambda each: each[0]):
        yield _finding(simulation, policies[key], found)
    yield from _asked_by_gateways(simulation)


def _needs(
    simulation: Simulation, end: Endpoint, workload: Resource, bound: dict[tuple[str, str], Resource]
) -> Iterator[_Need]:
    binding = bound.get((end.namespace, end.account))
    if binding is not None and _has_token(simulation, end, workload):
        fix = "fix: open TCP 443 and 6443 to addresses of the API server (`ipBlock`): no selector of pods selects it"
        if any(policy.key[:2] in CILIUM for policy in simulation.network_policies):
            fix = f"fix: {LETS_API_SERVER}"
        label = f"ServiceAccount {end.account} is given rights that the pods can only use there"
        yield _Need("the API server", (), "", label, fix, binding)
    for mesh in simulation.meshes.all:
        plane = mesh.steered_by(end, simulation.world)
        if plane is not None:
            ports = ", ".join(f"{{port: {port}}}" for port in plane.ports)
            peer = f"{{namespaceSelector: {{matchLabels: {{{NAME_LABEL}: {plane.namespace}}}}}}}"
            fix = f"fix: add a rule {{to: [{peer}], ports: [{ports}]}}"
            yield _Need(plane.name, plane.ports, plane.namespace, plane.then, fix)


def _bound(simulation: Simulation) -> dict[tuple[str, str], Resource]:
    """Return the ServiceAccounts that are given rights, by namespace and name, with the first object that does so."""
    found: dict[tuple[str, str], Resource] = {}
    for kind in _BINDINGS:
        for binding in simulation.world.of_kind(*kind):
            role = mapping(binding.body.get("roleRef"))
            if text(role.get("name")).startswith(FOR_OTHERS) or _asks_nothing(simulation, role, binding):
                continue
            for subject in map(mapping, sequence(binding.body.get("subjects"))):
                if (account := _account(subject, binding)) is not None:
                    found.setdefault(account, binding)
    return found


def _account(subject: Mapping[str, Any], binding: Resource) -> tuple[str, str] | None:
    """Return the account that a binding names, as one or as the user that it is; None for others. All accounts of a
    namespace (`system:serviceaccounts:…`) are a group, whose rights show no need of any of them."""
    kind, name = subject.get("kind"), text(subject.get("name"))
    if kind == "User" and name.startswith(_AS_USER):
        namespace, _, name = name.removeprefix(_AS_USER).partition(":")
        return namespace, name
    return (text(subject.get("namespace")) or binding.key.namespace, name) if kind == "ServiceAccount" else None


def _asks_nothing(simulation: Simulation, named: Mapping[str, Any], binding: Resource) -> bool:
    """Return whether all rights of a role are such as others look at: which constraints hold for pods (`use`).

    A role that was not seen shows no need, but for those that the API server makes: Roles in its own namespaces alone.
    """
    kind = text(named.get("kind"))
    home = binding.key.namespace if kind == "Role" else ""
    role = simulation.world.get(ResourceKey(_RIGHTS, kind, home, text(named.get("name"))))
    if role is None:
        return home not in _OF_API_SERVER if kind == "Role" else not _is_built_in(text(named.get("name")))
    rules = [] if "aggregationRule" in role.body else sequence(role.body.get("rules"))
    return bool(rules) and all({*texts(mapping(rule).get("verbs"))} <= _NO_REQUESTS for rule in rules)


def _is_built_in(name: str) -> bool:
    """Return whether every API server makes a ClusterRole (kubernetes.io/docs, RBAC, default roles)."""
    return name in _CLUSTER_ROLES or name.startswith("system:")


def _has_token(simulation: Simulation, end: Endpoint, workload: Resource) -> bool:
    """Return whether the pods get a token for the API server: the pod's own word counts before its account's."""
    stated = pod_spec(workload).get("automountServiceAccountToken")
    if stated is None:
        account = simulation.world.get(ResourceKey("", "ServiceAccount", end.namespace, end.account))
        stated = None if account is None else account.body.get("automountServiceAccountToken")
    return stated is not False


def _is_by_identity(simulation: Simulation) -> bool:
    """Return whether the plugin tells nodes from addresses, so that no range of addresses opens what runs on a node."""
    stated = list(installed(simulation.world))
    here = bool(stated) or any(policy.key[:2] in CILIUM for policy in simulation.network_policies)
    return here and not any(each.matches_nodes or not each.is_whole for each in stated)


def _is_open(entries: Iterable[Entry], need: _Need, *, by_identity: bool) -> bool:
    """Return whether rules may open all that is needed; what only a rule elsewhere could close is open."""
    rules = [rule for entry in entries for rule, _ in entry.rules if rule.action == "Allow"]
    if not need.ports:
        return any(_opens_api_server(rule, by_identity=by_identity) for rule in rules)
    return all(any(_opens(rule, port, need.namespace) for rule in rules) for port in need.ports)


def _opens_api_server(rule: RuleSpec, *, by_identity: bool) -> bool:
    alternatives = [peer for peers, _ in rule.peers for peer in peers]
    if by_identity:
        alternatives = [peer for peer in alternatives if isinstance(peer, Entity)]
    if any(map(_is_api_server, alternatives)):
        return True
    outside = [peer for peer in alternatives if not isinstance(peer, Pods)]
    single = any(isinstance(peer, Block) and peer.cidr.endswith(("/32", "/128")) for peer in outside)
    return bool(outside) and (
        single or rule.ports is None or any(port.may_be("TCP", _API_PORTS) for port in rule.ports)
    )


def _is_api_server(peer: Peer) -> bool:
    """Return whether labels name the API server: where it runs as pods of its own network, these are selected."""
    return peer == _API_SERVER if isinstance(peer, Entity) else isinstance(peer, Pods) and names_api_server(peer)


def _opens(rule: RuleSpec, port: int, namespace: str) -> bool:
    """Return whether a rule may open a port of pods of a namespace; one that names the port means them."""
    if rule.ports is not None:
        fitting = [each for each in rule.ports if each.may_be("TCP", (port,))]
        if not fitting:
            return False
        if any(each.low == each.high == port or each.name or not each.certain for each in fitting):
            return True
    there = Labels([({NAME_LABEL: namespace}, True)])
    return any(
        not isinstance(peer, Pods) or (peer.home in (None, namespace) and bool(there.select(peer.namespaces).maybe))
        for peers, _ in rule.peers
        for peer in peers
    )


def _finding(
    simulation: Simulation, policy: PolicySpec, found: list[tuple[Endpoint, _Need, tuple[Entry, ...]]]
) -> Finding:
    end, need, entries = found[0]
    keys = [each.key for each, _, _ in found]
    missing = [
        port
        for port in need.ports
        if not any(_opens(rule, port, need.namespace) for entry in entries for rule, _ in entry.rules)
    ]
    lacks = f"no rule opens TCP {', '.join(map(str, missing))} to it" if missing else "no rule opens its port"
    related = (Related("the rights are given here", need.because.name_location),) if need.because is not None else ()
    severity, confidence, ground = doubt(simulation, policy.key.namespace or end.namespace)
    grounds = [ground]
    by_address = not need.ports and _is_open(entries, need, by_identity=False)
    if by_address:  # a range of addresses, or labels, that another plugin would take for the API server
        grounds.append("the API server may run elsewhere than on nodes of the cluster")
        lacks = f"{lacks}, as this plugin finds nodes neither by labels nor by addresses"
    ground = "; ".join(filter(None, grounds))
    peers = [
        peer for each in entries for rule, _ in each.rules for alternatives, _ in rule.peers for peer in alternatives
    ]
    return Finding(
        RULE,
        "note" if severity == "note" or (by_address and any(isinstance(peer, Block) for peer in peers)) else "warning",
        f"{policy.key} keeps {leading(keys, 3)} from {need.what}: {lacks}",
        policy.resource.name_location,
        resources=(policy.key, *keys[:20]),
        label=need.label,
        related=related,
        help=(need.fix,),
        confidence="assumed" if ground and confidence == "certain" else confidence,
        ground=ground,
        field=f"egress/{need.what}",
    )


def _asked_by_gateways(simulation: Simulation) -> Iterator[Finding]:
    """Yield the network policies that keep the proxies of Gateways from Services that policies have them ask."""
    told: set[tuple[ResourceKey, ResourceKey, ResourceKey]] = set()
    for state in simulation.policies.values():
        for pointer, service, port in _asked(simulation, state):
            for gateway in _gateways(simulation, state):
                way = simulation.hops.from_gateway(gateway, None, service, port)
                hop = way.stopped
                step = None if hop is None else hop.deciding
                if hop is None or step is None or step.policy is None or (state.policy.key, service, gateway) in told:
                    continue
                told.add((state.policy.key, service, gateway))
                severity, confidence, ground = doubt(simulation, step.policy.key.namespace or service.namespace)
                yield Finding(
                    RULE,
                    severity,
                    f"{step.policy.key} blocks {gateway} from {service} on {hop.port}, which {state.policy.key} has it "
                    "ask",
                    step.policy.resource.location(*(("metadata", "name") if step.rule is None else step.rule.pointer)),
                    resources=(step.policy.key, gateway, service, state.policy.key),
                    label="requests that wait for its answer are turned away, or let through where the policy says so",
                    related=(Related("the proxies are told to ask it here", at(state.policy, pointer, "name")),),
                    confidence=confidence,
                    ground=ground,
                    help=("note: the policy is accepted and its reference resolves: no status shows it",),
                    field=f"asks/{service.path}",
                )


def _asked(simulation: Simulation, state: PolicyState) -> Iterator[tuple[Pointer, ResourceKey, int | None]]:
    """Yield the Services that proxies ask because of a policy, with where it says so: authorizers, limiters."""
    if state.invalid or not state.groups:
        return
    for reference in content_references(state.policy, simulation.world, state.kind.refers):
        if reference.resolution.resource is None or _is_controllers(reference):
            continue
        # What a policy names may name the Service in turn, as an extension of the proxy does.
        below = content_references(reference.resolution.resource, simulation.world)
        for each in (reference, *(each for each in below if not _is_controllers(each))):
            if each.wanted[:2] == ("", "Service"):
                named = mapping(value_at(each.holder.body, each.pointer))
                yield reference.pointer, each.wanted, integer(named.get("port"))


def _is_controllers(reference: ContentReference) -> bool:
    """Return whether a controller asks what a reference names, or requests do not wait for it."""
    return any(part in str(step).lower() for step in reference.pointer for part in _NOT_BY_PROXIES)


def _gateways(simulation: Simulation, state: PolicyState) -> list[ResourceKey]:
    """Return the Gateways through whose contexts a policy acts."""
    served = {gateway.gateway.key for gateway in simulation.topology.gateways}
    contexts = (path for group in state.groups for path in group.contexts())
    return sorted({node.key for path in contexts for node in path} & served)
