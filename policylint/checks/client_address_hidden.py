"""GWP327: lists of client addresses behind a Service that shows the addresses of nodes in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from policylint.checks.kit.locations import path
from policylint.checks.kit.present import present
from policylint.documents import Pointer
from policylint.doors import node_ports, published_as, with_doors
from policylint.doors.annotations import served
from policylint.doors.hiding import FIELD, Hiding, hiding_services, of_controller, speaks_of_proxies
from policylint.doors.hiding_entries import of_gateway
from policylint.doors.vendors import vendors
from policylint.implementations import Implementation, implementation
from policylint.model import Finding, Location, Related, Resource, ResourceKey, World, mapping, sequence, text, value_at
from policylint.model.words import count, listing
from policylint.namedtuple import NamedTuple
from policylint.network.addresses import may_hold
from policylint.network.cilium import ASKS_AT_GATEWAYS
from policylint.network.hops import SHOWN, Hop, Hops
from policylint.network.ports import TCP
from policylint.network.rules import Block, Entity, Pods, PolicySpec, RuleSpec
from policylint.simulation import Simulation
from policylint.spaces.addresses import OF_NOBODY, address_set, cidr, network_of, without
from policylint.topology.ancestry import implementation_of
from policylint.topology.workloads import services_selecting, workloads_selected

RULE = "GWP327"
_GROUND = "a load balancer that sends connections to the pods themselves, or returns them directly, keeps the addresses"


class Listed(NamedTuple):
    """Some addresses by which an object decides, with their place."""

    holder: Resource
    place: Location
    networks: tuple[str, ...]


def check(simulation: Simulation) -> Iterator[Finding]:
    found: dict[tuple[ResourceKey, Pointer], tuple[Hiding, list[Listed]]] = {}
    for hiding, listed in (*_behind_services(simulation), *_at_controllers(simulation), *_at_gateways(simulation)):
        if _tells_apart(listed.networks):
            found.setdefault((hiding.owner.key, hiding.place), (hiding, []))[1].append(listed)
    for hiding, lists in found.values():
        yield _finding(simulation, hiding, lists)
    yield from _behind_identities(simulation)
    yield from _behind_proxies(simulation)


def _behind_proxies(simulation: Simulation) -> Iterator[Finding]:
    """Yield the policies for workloads whose proxies take who connects to a Gateway for the client, where that Gateway
    says that these are proxies of somebody else."""
    world = simulation.world
    asking: dict[ResourceKey, list[tuple[Implementation, Resource]]] = {}
    for group in simulation.groups:
        behaviour = _behaviour(simulation, group.kind.implementation)
        if behaviour.__class__.counted_before is not Implementation.counted_before:
            for policy in (attachment.policy for attachment in group.effective.stack):
                if behaviour.address_rule(group.kind, policy.spec):
                    for context in group.contexts():
                        asking.setdefault(context[-1].key, []).append((behaviour, policy))
    reached = _reaching(simulation, asking) if asking else {}
    told: set[ResourceKey] = set()
    for workload, gateways in reached.items():
        for (behaviour, policy), gateway in product(asking[workload], gateways):
            found = None if policy.key in told else behaviour.counted_before(policy, workload, gateway, world)
            if found is not None:
                told.add(policy.key)
                yield _counted_before(policy, found, workload, gateway.key)


def _reaching(simulation: Simulation, wanted: Iterable[ResourceKey]) -> dict[ResourceKey, list[Resource]]:
    """Return the Gateways whose routes lead to some workloads, by workload."""
    world, topology = simulation.world, with_doors(simulation).topology
    to: dict[ResourceKey, list[ResourceKey]] = {}
    for route in topology.routes:
        gateways = [parent.gateway for parent in route.parents if parent.accepted and parent.gateway is not None]
        for backend in route.backends:
            to.setdefault(backend.wanted, []).extend(gateways)
    found = {}
    for key in wanted:
        workload = world.get(key)
        services = services_selecting(world, workload) if workload is not None else ()
        keys = dict.fromkeys(gateway for service in services for gateway in to.get(service.key, ()))
        found[key] = [gateway for each in keys if (gateway := world.get(each)) is not None]
    return found


def _counted_before(
    policy: Resource, found: tuple[Pointer, Location | None], workload: ResourceKey, gateway: ResourceKey
) -> Finding:
    pointer, counted = found
    return Finding(
        RULE,
        "warning",
        f"{policy.key} decides by client addresses at {workload}, which takes the proxies before {gateway} for clients",
        policy.location(*pointer),
        resources=tuple(dict.fromkeys((policy.key, workload, gateway))),
        label="a sidecar takes the last address of X-Forwarded-For: that of who connects to the Gateway",
        related=(Related("how many are in front: that counts at the Gateway alone", counted),) if counted else (),
        help=("fix: decide at the Gateway, by a policy for its pods",),
        confidence="assumed",
        ground="the list may be meant for these proxies",
        field=path(pointer),
    )


def _behind_identities(simulation: Simulation) -> Iterator[Finding]:
    """Yield the network policies that let in some addresses, and by another rule the proxies of a Gateway, which come
    as themselves: none of its clients is held against the list (cilium/cilium#32755, cilium/cilium#28126)."""
    lists: dict[ResourceKey, list[tuple[RuleSpec, Pointer]]] = {}
    for policy in simulation.network_policies:
        lists.setdefault(policy.key, []).extend(_of_addresses(policy))
    if not any(lists.values()) or not any(map(_names_entities, simulation.network_policies)):
        return
    subjects = (policy.subject for policy in simulation.network_policies if lists[policy.key])
    spaces = {subject.home for subject in subjects if isinstance(subject, Pods)}
    doors = with_doors(simulation)
    hops, told = doors.hops, set[ResourceKey]()
    for route in doors.topology.routes:
        gateways = {parent.gateway for parent in route.parents if parent.accepted and parent.gateway is not None}
        backends = [each for each in route.backends if not spaces.isdisjoint((None, each.wanted.namespace))]
        for gateway, backend in product(sorted(gateways), backends):
            for hop in hops.from_gateway(gateway, None, backend.wanted, backend.port).hops:
                step = hop.ingress[-1] if hop.ingress and hop.verdict == "allowed" else None
                if step is None or step.rule is None or step.policy is None or step.policy.key in told:
                    continue
                asked = lists.get(step.policy.key) if _is_for_itself(hops, hop) else None
                if asked and not _is_published(simulation.world, hop.target.resource):
                    told.add(step.policy.key)
                    yield _unasked(step.policy, asked[0], step.rule, gateway, backend.wanted)
    if doors is not simulation:
        doors.kept_hops = None


def _is_for_itself(hops: Hops, hop: Hop) -> bool:
    """Return whether a hop comes from proxies that policies see as such, and that no policy asks for clients."""
    is_proxy = hop.source is not None and hop.source.role == "identity"
    return is_proxy and hop.source is not None and not hops.network.entries(hops.number(hop.source), "ingress")


def _is_published(world: World, workload: Resource | None) -> bool:
    """Return whether clients outside also get to pods by themselves."""
    if workload is None:
        return False
    return any(map(published_as, services_selecting(world, workload))) or any(node_ports(workload))


def _unasked(
    policy: PolicySpec, listed: tuple[RuleSpec, Pointer], letting: RuleSpec, gateway: ResourceKey, backend: ResourceKey
) -> Finding:
    rule, below = listed
    return Finding(
        RULE,
        "warning",
        f"{policy.key} decides by client addresses, which the proxies of {gateway} hide from the pods of {backend}",
        policy.resource.location(*rule.pointer, *below),
        resources=(policy.key, gateway, backend),
        label=f"ingress[{letting.position}] lets these proxies in, for whatever client they are sent",
        related=(Related("lets the proxies in", policy.resource.location(*letting.pointer)),),
        help=(f"fix: {ASKS_AT_GATEWAYS}",),
        confidence="assumed",
        ground="clients may also get to the pods without the Gateway",
        field=path((*rule.pointer, *below)),
    )


def _of_addresses(policy: PolicySpec) -> Iterator[tuple[RuleSpec, Pointer]]:
    """Yield the rules of a policy by which some addresses, and no others, are let in."""
    for rule in policy.rules:
        blocks = [(peers[0], below) for peers, below in rule.peers if len(peers) == 1 and isinstance(peers[0], Block)]
        is_list = bool(blocks) and len(blocks) == len(rule.peers) and rule.action == "Allow"
        if is_list and rule.direction == "ingress" and _tells_apart(tuple(block.cidr for block, _ in blocks)):
            yield rule, blocks[0][1]


def _names_entities(policy: PolicySpec) -> bool:
    return any(isinstance(peer, Entity) for rule in policy.rules for peers, _ in rule.peers for peer in peers)


def _tells_apart(networks: tuple[str, ...]) -> bool:
    """Return whether some networks hold one client and not another one."""
    listed = address_set(networks)
    is_nobody = not listed.doubtful and not without(listed.ranges, OF_NOBODY.ranges)
    return bool(networks) and not is_nobody and not any(network.endswith("/0") for network in networks)


def _behind_services(simulation: Simulation) -> Iterator[tuple[Hiding, Listed]]:
    """Yield the lists of network policies, and of policies for workloads, for the pods behind published Services."""
    world = simulation.world
    hidden = hiding_services(world)
    at_workloads: dict[ResourceKey, list[Listed]] = {}
    for group in simulation.groups if hidden else ():
        behaviour = _behaviour(simulation, group.kind.implementation)
        for policy in (attachment.policy for attachment in group.effective.stack):
            if pointer := behaviour.address_rule(group.kind, policy.spec):
                listed = _listed(policy, ("spec", *pointer))
                for context in group.contexts():
                    at_workloads.setdefault(context[-1].key, []).append(listed)
    for hiding in hidden:
        for workload in workloads_selected(world, hiding.owner) if at_workloads else ():
            yield from ((hiding, listed) for listed in at_workloads.get(workload.key, ()))
        if simulation.network_policies:
            yield from ((hiding, listed) for listed in _ofnetwork_of(simulation, hiding.owner))


def _ofnetwork_of(simulation: Simulation, service: Resource) -> Iterator[Listed]:
    """Yield the addresses by which network policies let clients in to the pods behind a Service, and nobody else."""
    hops = simulation.hops
    for port in map(mapping, sequence(service.spec.get("ports"))):
        number, over = port.get("port"), text(port.get("protocol"), TCP)
        for hop in hops.from_outside(service.key, number, over).hops if isinstance(number, int) else ():
            if hop.because != SHOWN or hop.target.role != "workload":
                continue
            policies = {step.policy.key: step.policy for step in hop.ingress if step.policy is not None}
            for policy in policies.values():
                for rule in policy.rules:
                    blocks = [(peer, below) for peers, below in rule.peers for peer in peers if isinstance(peer, Block)]
                    if blocks and rule.direction == "ingress" and rule.action == "Allow":
                        place = policy.resource.location(*rule.pointer, *blocks[0][1])
                        yield Listed(policy.resource, place, tuple(block.cidr for block, _ in blocks))


def _at_controllers(simulation: Simulation) -> Iterator[tuple[Hiding, Listed]]:
    """Yield the lists of Ingresses and of what they name, where the proxies of their controller see nodes connect."""
    from policylint.doors.addresses import believed
    from policylint.doors.believing import listed_at

    world = simulation.world
    known: dict[str, Hiding | None] = {}
    for ingress, vendor, certain in served(world):
        listed = listed_at(world, ingress, vendor) if certain and vendor.proxies else None
        if listed is None or believed(world, vendor, ingress) is not None:
            continue
        if vendor.name not in known:
            known[vendor.name] = of_controller(world, vendor)
        if (hiding := known[vendor.name]) is not None:
            holder, place = listed
            yield hiding, _listed(holder, place.pointer)
    by = {vendor.name: vendor for vendor in vendors() if vendor.proxies}
    for behaviour in present(simulation):
        for each in behaviour.lists_of_connecting(world) if behaviour.name in by else ():
            if behaviour.name not in known:
                known[behaviour.name] = of_controller(world, by[behaviour.name])
            if (hiding := known[behaviour.name]) is not None:
                yield hiding, _listed(each.holder, ("spec", *each.pointer))


def _at_gateways(simulation: Simulation) -> Iterator[tuple[Hiding, Listed]]:
    """Yield the lists of policies at Gateways whose Service their parameters, or the controller, make so."""
    gateways = {
        state.gateway.key: (hiding, state.gateway)
        for state in simulation.topology.gateways
        if any(group.kind.implementation for group in simulation.groups)
        and (hiding := of_gateway(simulation, state)) is not None
    }
    told: dict[ResourceKey, bool] = {}  # looked for at few of them: all policies are looked at for each
    for group in simulation.groups if gateways else ():
        behaviour = _behaviour(simulation, group.kind.implementation)
        for policy in (attachment.policy for attachment in group.effective.stack):
            if pointer := behaviour.address_rule(group.kind, policy.spec):
                above = {node.key for node in group.nodes} | {node.key for path in group.contexts() for node in path}
                listed = _listed(policy, ("spec", *pointer))
                for key in sorted(above & gateways.keys()):
                    hiding, gateway = gateways[key]
                    if key not in told:
                        told[key] = _is_told(simulation, gateway)
                    if not told[key]:
                        yield hiding, listed


def _is_told(simulation: Simulation, gateway: Resource) -> bool:
    """Return whether a Gateway, or a policy at its listeners, says where it finds the addresses of clients."""
    state = simulation.topology.gateway(gateway.key)
    own = _behaviour(simulation, "" if state is None else implementation_of(state, simulation.catalog) or "")
    if own.detection(gateway, None, {}) is not None:
        return True
    for group in simulation.groups:
        if any(node.key == gateway.key for node in group.nodes):
            spec = group.effective.spec
            said = _behaviour(simulation, group.kind.implementation).detection(gateway, group.kind, spec)
            if said is not None or speaks_of_proxies(spec):
                return True
    return False


def _behaviour(simulation: Simulation, name: str) -> Implementation:
    return implementation(name, simulation.catalog.settings(name))


def _listed(holder: Resource, pointer: Pointer) -> Listed:
    return Listed(holder, holder.location(*pointer), tuple(_addresses(value_at(holder.body, pointer))))


def _addresses(value: object) -> Iterator[str]:
    """Yield the networks and addresses in a value."""
    if isinstance(value, str):
        yield from (part.strip() for part in value.split(",") if cidr(network_of(part.strip())) is not None)
    for inner in (*sequence(value), *mapping(value).values()):
        yield from _addresses(inner)


def _finding(simulation: Simulation, hiding: Hiding, lists: list[Listed]) -> Finding:
    owner, first = hiding.owner, lists[0]
    holders = list(dict.fromkeys(each.holder.key for each in lists))
    nodes = simulation.hops.network.universe.facts.nodes
    are_in = [each for listed in lists for each in listed.networks if may_hold(network_of(each), (), nodes)]
    others = f" and {count(len(holders) - 1, 'other')}" if holders[1:] else ""
    decides = "decide" if others else "decides"
    default = "" if hiding.is_stated else ", the default,"
    instead = f", which {listing(list(dict.fromkeys(are_in)), most=3)} may hold" if are_in else ""
    headers = ", or have the load balancer send PROXY headers and the proxies take them"
    headers = "" if any(policy.key == holders[0] for policy in simulation.network_policies) else headers
    return Finding(
        RULE,
        "warning" if hiding.place[-1] != "gatewayClassName" else "note",  # a Service that no manifest shows
        f"{holders[0]}{others} {decides} by client addresses, which {owner.key} hides",
        owner.location(*hiding.place),
        resources=(owner.key, *holders[:20]),
        label=f"with `{FIELD}: Cluster`{default} who connects has the address of a node{instead}",
        related=(Related("decides by addresses of clients", first.place),),
        help=(f"fix: set `{FIELD}: Local`{headers}",),
        confidence="assumed",
        ground=_GROUND,
        field=path(hiding.place),
    )
