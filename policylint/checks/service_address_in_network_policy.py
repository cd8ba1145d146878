"""GWP622: an address in a network policy that is a Service's, where policies see those of the pods behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.network.rules import Block
from policylint.simulation import Simulation

RULE = "GWP622"
_ALONE = ("/32", "/128")


def check(simulation: Simulation) -> Iterator[Finding]:
    services = dict(_addresses(simulation.world.of_kind("", "Service")))
    for _, policy, rule in rules(simulation):
        if rule.direction != "egress" or rule.action != "Allow":
            continue
        for peers, below in rule.peers:
            block = peers[0] if len(peers) == 1 else None
            service = services.get(_address(block)) if isinstance(block, Block) else None
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


def _address(block: Block) -> str:
    """Return the address that a block is; "" of more than one."""
    return block.cidr.rpartition("/")[0] if block.cidr.endswith(_ALONE) else ""


def _addresses(services: Iterable[Resource]) -> Iterator[tuple[str, Resource]]:
    """Yield the addresses that lead to the pods of Services."""
    for service in services:
        spec: Mapping[str, object] = service.spec
        if not mapping(spec.get("selector")):
            continue
        stated = (spec.get("clusterIP"), *sequence(spec.get("clusterIPs")), *sequence(spec.get("externalIPs")))
        for address in (*stated, spec.get("loadBalancerIP")):
            if text(address) not in ("", "None"):
                yield text(address), service
