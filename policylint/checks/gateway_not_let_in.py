"""GWP313: a policy at pods that lets in nothing of what a Gateway or a waypoint sends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_network
from itertools import chain

from policylint.catalog.content import places
from policylint.checks.kit.mesh_policies import action, sources
from policylint.checks.kit.routing import is_waypoint
from policylint.doors import is_inside, proxies, with_doors
from policylint.implementations.generic import Traffic
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.model import Finding, Related, Resource, ResourceKey, World, mapping, sequence, texts
from policylint.model.kinds import WAYS_IN
from policylint.policy.authorizing import Checkpoint, Client, Decision, NearestRule, RequestFacts
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.workloads import Labels, container_port, pod_labels

RULE = "GWP313"
_OF_TOKENS = ("requestPrincipals", "notRequestPrincipals", "request.auth.", "when request.auth")
_ENCRYPTING = "PeerAuthentication"
_SENT_FROM_OUTSIDE = ", and what sends these requests is outside of the cluster"
_AUTHORIZE = "fix: authorize the pods of the Gateway, or addresses, at these pods"
_IN_PLAIN_TEXT = "fix: let the port take plain text (`portLevelMtls`), or send requests by a Gateway of the mesh"
_FEW, _MANY = 2**8, 2**24
"""Addresses of a block: fewer than pods of a cluster have between them, and more than any network outside."""


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    asked = [
        (mesh, [group for group in simulation.groups if group.kind.implementation == mesh.name])
        for mesh in simulation.meshes.all
    ]
    picked = sorted({labels for mesh, _ in asked for _, _, labels in mesh.picked(world)})
    told: set[ResourceKey] = set()
    for service, sender in _passages(simulation) if asked else ():
        for workload in simulation.acting.workloads(service.key):
            hop = Checkpoint((whole(workload.key),), workload)
            calls = _to_subsets(service, workload, Client(sender, sender.key.namespace), picked)
            for call, decisions in zip(calls, _decisions(world, asked, hop, calls), strict=True):
                open_ = next((each for each in decisions if each is not None and each.answer == "depends"), None)
                if open_ is not None and open_.by is not None and open_.by.key not in told and _is_by_address(open_.by):
                    told.add(open_.by.key)
                    yield _by_address(open_, open_.by, service, workload, sender)
                denied = _refusal(decisions)
                if denied is None or denied.by is None or denied.by.key in told:
                    continue
                if denied.because is not None:
                    told.add(denied.by.key)
                    yield _of_clients(denied, denied.by, denied.because, call, sender)
                elif denied.nearest is not None:  # what lets nothing in at all is a fence, and no mistake
                    told.add(denied.by.key)
                    yield _finding(simulation, denied, denied.by, denied.nearest, service, workload, sender)
                elif _is_default(simulation, denied.by) and sender.key.kind == "Gateway" and not is_waypoint(sender):
                    told.add(denied.by.key)
                    yield _rejecting(denied, (denied.by, service, workload, sender), "", _AUTHORIZE)
    yield from _outside(simulation, asked, told) if asked else ()
    if any(group.kind.kind == _ENCRYPTING for _, groups in asked for group in groups):
        yield from _from_pods(simulation, asked, told, picked)


def _from_pods(
    simulation: Simulation,
    asked: Sequence[tuple[Traffic, list[Group]]],
    told: set[ResourceKey],
    picked: Sequence[Labels],
) -> Iterator[Finding]:
    """Yield what has pods of the mesh send what others refuse; a client of each namespace stands for all there."""
    world, acting = simulation.world, simulation.acting
    meshed = {
        workload.key: workload
        for service in world.of_kind("", "Service")
        for workload in acting.workloads(service.key)
        if simulation.meshes.proxied(workload)
    }
    senders = {workload.key.namespace: workload for workload in reversed(meshed.values())}
    for service in world.of_kind("", "Service") if meshed else ():
        for workload in (each for each in acting.workloads(service.key) if each.key in meshed):
            hop = Checkpoint((whole(workload.key),), workload)
            for sender in senders.values():
                for call in _to_subsets(service, workload, Client(sender, sender.key.namespace), picked):
                    answers = chain.from_iterable(_decisions(world, asked, hop, [call]))
                    denied = _refusal(each for each in answers if each is not None and each.because)
                    if denied is None or denied.by is None or denied.because is None or denied.because.key in told:
                        continue
                    if denied.by.key.kind == _ENCRYPTING and denied.by.key not in told:
                        told.add(denied.because.key)
                        yield _of_clients(denied, denied.by, denied.because, call, sender, inside=True)


def _outside(
    simulation: Simulation, asked: Sequence[tuple[Traffic, list[Group]]], told: set[ResourceKey]
) -> Iterator[Finding]:
    """Yield what lets nobody in by default where Gateways send requests that are none of the mesh: whether their pods
    are in it makes no difference."""
    meshed = {mesh.name for mesh, _ in asked}
    beside = not WAYS_IN.keys().isdisjoint(simulation.world.kinds())
    topology = (with_doors(simulation) if beside else simulation).topology
    from policylint.doors.annotations import is_outside

    for route in topology.routes:
        states = (None if each.gateway is None else topology.gateway(each.gateway) for each in route.parents)
        found = [(each.gateway, implementation_of(each, simulation.catalog)) for each in states if each]
        gateways = [gateway for gateway, name in found if name not in meshed]
        outside = bool(gateways) and is_outside(topology.world, route.route.key)
        outside = outside or any(name and simulation.catalog.sends_from_outside(name) for _, name in found)
        backends = [simulation.world.get(each.wanted) for each in route.backends if each.role != "RequestMirror"]
        services = [each for each in backends if each is not None and each.key[:2] == ("", "Service")]
        for service in services if gateways else ():
            for workload in simulation.acting.workloads(service.key):
                sender = Client(gateways[0], "" if outside else gateways[0].key.namespace)
                hop, calls = Checkpoint((whole(workload.key),), workload), list(_calls(service, workload, sender))
                refusals = [_refusal(each) for each in _decisions(simulation.world, asked, hop, calls)]
                denied = next(filter(None, refusals), None)
                by = None if denied is None else denied.by
                if denied is None or by is None or by.key in told or denied.nearest or denied.because:
                    continue
                ends = (by, service, workload, gateways[0])
                if _is_default(simulation, by):
                    told.add(by.key)
                    yield _rejecting(denied, ends, "", _AUTHORIZE)
                elif by.key.kind == _ENCRYPTING and all(refusals) and outside:
                    told.add(by.key)
                    yield _rejecting(denied, ends, _SENT_FROM_OUTSIDE, _IN_PLAIN_TEXT)


def _decisions(
    world: World, asked: Sequence[tuple[Traffic, list[Group]]], hop: Checkpoint, calls: Iterable[RequestFacts]
) -> list[list[Decision | None]]:
    """Return what each mesh decides of each call at some pods."""
    return [[mesh.admit(call, hop, groups, world) for mesh, groups in asked] for call in calls]


def _refusal(decisions: Iterable[Decision | None]) -> Decision | None:
    return next((each for each in decisions if each is not None and each.answer == "denied"), None)


def _is_default(simulation: Simulation, by: Resource) -> bool:
    """Return whether what turns a request away is no policy: what holds where none is, says so."""
    return by.key not in simulation.policies


def _rejecting(denied: Decision, ends: tuple[Resource, ...], more: str, fix: str) -> Finding:
    """Return the finding about what turns away whatever a Gateway sends.

    Args:
        ends: what rejects it, the Service, the workload, and the Gateway.
        more: what else there is to say of why.
    """
    by, service, _, sender = ends
    return Finding(
        RULE,
        "warning",
        f"{by.key} rejects every request that reaches {service.key} through {sender.key}",
        by.location(*denied.pointer),
        resources=tuple(end.key for end in ends),
        label=f"at the pods, {denied.why}{more}",
        related=(Related("it forwards the requests", sender.name_location),),
        help=(fix,),
    )


def _passages(simulation: Simulation) -> Iterator[tuple[Resource, Resource]]:
    """Yield the Services before pods, each with the Gateways of the mesh and the waypoints that send there."""
    world = simulation.world
    meshed = {mesh.name for mesh in simulation.meshes.all}
    for service in world.of_kind("", "Service"):
        for front in simulation.acting.fronts(service.key, None):
            if front.resource.key != service.key:  # else nobody knows which waypoint it is
                yield service, front.resource
    seen: set[tuple[ResourceKey, ResourceKey]] = set()
    for route in simulation.topology.routes:
        states = (None if each.gateway is None else simulation.topology.gateway(each.gateway) for each in route.parents)
        gateways = {
            state.gateway.key: state.gateway
            for state in states
            if state is not None and implementation_of(state, simulation.catalog) in meshed
        }
        for backend in route.backends if gateways else ():
            target = world.get(backend.wanted)
            if target is not None and target.key[:2] == ("", "Service") and backend.role != "RequestMirror":
                for gateway in gateways.values():
                    pair = target.key, gateway.key
                    if pair not in seen and not simulation.acting.fronts(target.key, gateway):
                        yield target, gateway
                    seen.add(pair)
    if world.of_kind(*OWN_GATEWAY):
        yield from _through_own_gateways(simulation)


def _through_own_gateways(simulation: Simulation) -> Iterator[tuple[Resource, Resource]]:
    """Yield the Services that a mesh's own Gateways send requests to, each with the workload whose pods send them."""
    world = simulation.world
    for route in with_doors(simulation).topology.routes:
        keys = {each.gateway for each in route.parents if each.gateway and each.gateway[:2] == OWN_GATEWAY}
        gateways = [gateway for key in sorted(keys) if (gateway := world.get(key)) is not None]
        senders = {sender.key: sender for gateway in gateways for sender in proxies(world, gateway)}
        for backend in route.backends if senders else ():
            target = world.get(backend.wanted)
            if target is not None and target.key[:2] == ("", "Service") and backend.role != "RequestMirror":
                for sender in senders.values():
                    if not simulation.acting.fronts(target.key, sender):
                        yield target, sender


def _to_subsets(service: Resource, workload: Resource, sender: Client, picked: Sequence[Labels]) -> list[RequestFacts]:
    """Return a request for each port of a Service, and one more for each of the sets of pods to which routes of a mesh
    send, where a workload is in it."""
    own = {*pod_labels(workload).items()}
    calls = list(_calls(service, workload, sender))
    return [*calls, *(call._replace(labels=each) for each in picked if own.issuperset(each) for call in calls)]


def _calls(service: Resource, workload: Resource, sender: Client) -> Iterator[RequestFacts]:
    """Yield a request of which only the sender is known, for each port of a Service."""
    for port in map(mapping, sequence(service.spec.get("ports"))):
        dialled = port.get("port")
        yield RequestFacts(
            "",
            "",
            "",
            {},
            container_port(workload, port.get("targetPort", dialled)),
            sender=sender,
            dialled=dialled if isinstance(dialled, int) else None,
            blank=True,
            service=service,
        )


def _is_by_address(policy: Resource) -> bool:
    """Return whether every rule of an ALLOW policy asks connections for addresses, none of a range that pods have."""
    clauses = [sources(rule) for rule in sequence(policy.spec.get("rules"))]
    asked = [texts(source.get("ipBlocks")) for rule in clauses for source in rule]
    narrow = all(blocks and all(map(_is_narrow, blocks)) for blocks in asked)
    return action(policy) == "ALLOW" and all(clauses) and bool(asked) and narrow


def _is_narrow(block: str) -> bool:
    """Return whether a block is of few addresses, or of addresses that pods have not."""
    try:
        network = ip_network(block, strict=False)
    except ValueError:
        return False
    return network.num_addresses <= _FEW or not (network.is_private or network.num_addresses > _MANY)


def _by_address(
    decision: Decision, policy: Resource, service: Resource, workload: Resource, sender: Resource
) -> Finding:
    """Return the finding about addresses that are compared with that of the proxy in front."""
    through = f"waypoint {sender.key.path}" if is_waypoint(sender) else str(sender.key)
    return Finding(
        RULE,
        "warning",
        f"{policy.key} does not see the addresses of clients that reach {service.key} through {through}",
        policy.location(*decision.pointer),
        resources=(policy.key, service.key, workload.key, sender.key),
        label=f"`ipBlocks` are compared with the address of {through}, from which requests arrive at {workload.key}",
        related=(Related("it forwards the requests", sender.name_location),),
        help=(f"fix: ask for addresses where the proxy in front decides ({_where(sender)})",),
        confidence="assumed",
        ground=f"the addresses of {through} are not known",
    )


def _where(sender: Resource) -> str:
    """Return how a policy names the proxy in front."""
    return f"`selector`: {sender.key}" if is_inside(sender.key) else f"`targetRefs`: {sender.key.kind} or Service"


def _of_clients(
    denied: Decision, policy: Resource, because: Resource, call: RequestFacts, sender: Resource, *, inside: bool = False
) -> Finding:
    """Return the finding about what makes a client send what the pods refuse.

    Args:
        call: a request to the Service, or to some of its pods.
        inside: whether the client stands for the pods of its namespace.
    """
    through = f"waypoint {sender.key.path}" if is_waypoint(sender) else str(sender.key)
    service = call.service or sender
    subset = f" ({', '.join(f'{name}: {value}' for name, value in call.labels)})" if call.labels else ""
    whose = f"reaches {service.key}{subset} through {through}"
    if inside:
        whose = f"pods of the mesh in namespace {sender.key.namespace} send to {service.key}{subset}"
    return Finding(
        RULE,
        "warning",
        f"{policy.key} rejects every request that {whose}, because of {because.key}",
        because.name_location,
        resources=(policy.key, because.key, service.key, sender.key),
        label=f"at the pods, {denied.why}",
        related=(Related("what refuses it", policy.location(*denied.pointer)),),
        help=("fix: leave the TLS of clients to the mesh, or exempt the port on the side of the pods",),
    )


def _taking_tokens(simulation: Simulation, sender: Resource) -> tuple[Resource, str] | None:
    """Return a policy at a sender that takes the token off the requests, with the setting that would keep it."""
    for state in simulation.policies.values():
        contexts = (context for group in state.groups for context in group.contexts())
        if state.kind.consumes and any(node.key == sender.key for context in contexts for node in context):
            for taking in state.kind.consumes:
                entries = [mapping(value) for _, value in places(state.policy.spec, taking.path, ())]
                if taking.keeps and any(not entry.get(taking.keeps) for entry in entries):
                    return state.policy, taking.keeps
    return None


def _finding(
    simulation: Simulation,
    denied: Decision,
    policy: Resource,
    nearest: NearestRule,
    service: Resource,
    workload: Resource,
    sender: Resource,
) -> Finding:
    taker = _taking_tokens(simulation, sender) if nearest.unmet.startswith(_OF_TOKENS) else None
    place = nearest.pointer if nearest.by is policy else denied.pointer
    through = f"waypoint {sender.key.path}" if is_waypoint(sender) else str(sender.key)
    if taker is not None:
        by, keeps = taker
        return Finding(
            RULE,
            "warning",
            f"{policy.key} rejects every request that reaches {service.key} through {through}, because of {by.key}",
            policy.location(*place),
            resources=(policy.key, by.key, service.key, workload.key, sender.key),
            label=f"they arrive at {workload.key} without a token, and this asks for {nearest.unmet}",
            related=(Related("takes it off the requests", by.name_location),),
            help=(f"fix: set `{keeps}: true` in {by.key}, or ask for the token there alone",),
        )
    return Finding(
        RULE,
        "warning",
        f"{policy.key} rejects every request that reaches {service.key} through {through}",
        policy.location(*place),
        resources=(policy.key, service.key, workload.key, sender.key),
        label=f"they arrive at {workload.key} with the identity of {through}, and this asks for {nearest.unmet}",
        related=(Related("it forwards the requests", sender.name_location),),
        help=(
            (
                f"fix: allow the identity of {through} here, and check the callers where its proxy knows them "
                f"({_where(sender)})"
            ),
        ),
    )
