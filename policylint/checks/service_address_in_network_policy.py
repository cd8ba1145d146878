"""GWP622: an address in a network policy that is a Service's, where policies see those of the pods behind it, or that
of the API server, where Cilium sees none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules
from policylint.doors.published import addresses_of
from policylint.model import Finding, Resource, World, integer, mapping
from policylint.network.cilium_installed import installed
from policylint.network.rules import Block, Entity, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation
from policylint.topology.service_ports import ports
from policylint.topology.workloads import container_port, workloads_selected

RULE = "GWP622"
_ALONE = ("/32", "/128")
_API_SERVER = 6443


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _of_services(simulation)
    cilium = list(installed(simulation.world))
    if cilium and not any(each.matches_nodes for each in cilium):
        yield from _of_nodes(simulation, cilium[0].resource)


def _of_nodes(simulation: Simulation, installing: Resource) -> Iterator[Finding]:
    """Yield the rules that open an address at the API server's port: for Cilium it is an entity, as nodes are, which no
    network selects (docs.cilium.io, «IP/CIDR based», «Entities based»; cilium/cilium#20550)."""
    for number, policy, rule in rules(simulation):
        to_api = rule.ports and all(port.low == port.high == _API_SERVER for port in rule.ports)
        if rule.direction != "egress" or rule.action != "Allow" or not to_api:
            continue
        blocks = [(peers[0], below) for peers, below in rule.peers if len(peers) == 1 and isinstance(peers[0], Block)]
        if not blocks or len(blocks) < len(rule.peers) or _opens_entities(simulation.network, number):
            continue
        pointer = (*rule.pointer, *blocks[0][1])
        yield Finding(
            RULE,
            "warning",
            f"{policy.key} opens {blocks[0][0].cidr}:{_API_SERVER} in egress[{rule.position}], and not the API server",
            policy.resource.location(*pointer),
            resources=(policy.key, installing.key),
            label=f"{installing.key} installs a plugin for which nodes and the API server are entities",
            help=("fix: open `toEntities: [kube-apiserver]`, or set policyCIDRMatchMode: nodes",),
            confidence="assumed",
            ground=f"an API server of another cluster may be at port {_API_SERVER} there",
            field=path(pointer),
        )


def _opens_entities(network: Network, number: int) -> bool:
    """Return whether another rule lets all that a policy selects out to the API server, or to nodes."""
    subjects = list(numbers_of(network.subjects[number].maybe))
    return bool(subjects) and all(
        any(
            isinstance(peer, Entity)
            for entry in network.entries(subject, "egress")
            for rule, _ in entry.rules
            if rule.action == "Allow"
            for peers, _ in rule.peers
            for peer in peers
        )
        for subject in subjects
    )


def _of_services(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    services: dict[str, list[Resource]] = {}
    for address, each in _addresses(world.of_kind("", "Service")):
        services.setdefault(address, []).append(each)
    for _, policy, rule in rules(simulation):
        if rule.direction != "egress" or rule.action != "Allow":
            continue
        for peers, below in rule.peers:
            block = peers[0] if len(peers) == 1 else None
            named = services.get(_address(block), ()) if isinstance(block, Block) else ()
            service = next((each for each in named if _is_open(world, each, rule)), None)
            if service is None:
                continue
            pointer = (*rule.pointer, *below)
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} opens the address of {service.key} in egress[{rule.position}], and not its pods",
                policy.resource.location(*pointer),
                resources=(policy.key, service.key),
                label="connections to a Service are sent on to its pods before policies see them",
                help=("fix: select the pods behind the Service",),
                confidence="assumed",
                ground="a network plugin may look at addresses before they are translated",
                field=path(pointer),
            )


def _is_open(world: World, service: Resource, rule: RuleSpec) -> bool:
    """Return whether a rule opens a port of a Service, or one of its pods: else the address is meant as another one's,
    that of a node which the Service is published at."""
    pods = workloads_selected(world, service)
    numbers: set[int | None] = set()
    for port in ports(service):
        at_pods = {container_port(each, port.target) for each in pods if port.target is not None}
        numbers |= {port.number, *(at_pods or {integer(port.target)})}
    return not rule.ports or any(
        port.name or number is None or port.low <= number <= port.high for port in rule.ports for number in numbers
    )


def _address(block: Block) -> str:
    """Return the address that a block is; "" of more than one."""
    return block.cidr.rpartition("/")[0] if block.cidr.endswith(_ALONE) else ""


def _addresses(services: Iterable[Resource]) -> Iterator[tuple[str, Resource]]:
    """Yield the addresses that lead to the pods of Services."""
    for service in services:
        if mapping(service.spec.get("selector")):
            yield from ((address, service) for address in addresses_of(service))
