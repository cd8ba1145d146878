"""What Calico's policies say of endpoints of hosts to no effect: ports that Felix keeps open, hosts without addresses.

Source: projectcalico/calico @ 87c15906f2, felix/config/config_params.go (FailsafeInboundHostPorts) and
felix/rules/endpoints.go: the chain of failsafes comes before the policies of each endpoint of a host; libcalico-go,
hostendpointprocessor.go: its addresses are the `expectedIPs` (projectcalico/calico#7785, #2956).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.calico.labelled import GROUPS, LabelledWorld
from policylint.implementations.calico.policies import policies
from policylint.implementations.calico.selectors import Expression, NoSelectorError, parse
from policylint.implementations.generic.containers import containers
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, value_at
from policylint.model.words import listing
from policylint.network.rules import Direction, Entity, PolicySpec, RuleSpec
from policylint.policy.results import FaultyPart

_FAILSAFES: Mapping[Direction, tuple[tuple[str, int], ...]] = {
    "ingress": (
        *(("TCP", port) for port in (22, 179, 2379, 2380, 5473, 6443, 6666, 6667)),
        ("UDP", 68),
    ),
    "egress": (*(("TCP", port) for port in (179, 2379, 2380, 5473, 6443, 6666, 6667)), ("UDP", 53), ("UDP", 67)),
}
"""What Felix lets through unless its configuration says otherwise, in the protocols of rules."""
_FIELDS: Mapping[Direction, str] = {"ingress": "failsafeInboundHostPorts", "egress": "failsafeOutboundHostPorts"}
_CONTROLLERS, _AUTOMATIC = "KubeControllersConfiguration", ("controllers", "node", "hostEndpoint", "autoCreate")
_SIDES: Mapping[Direction, str] = {"ingress": "source", "egress": "destination"}


def idle_rules(world: World) -> Iterator[tuple[Resource, FaultyPart]]:
    """Yield the parts of policies for endpoints of hosts, or of rules about such, that do nothing."""
    around = LabelledWorld(world)
    if not any(around.of_hosts()):
        yield from _without_hosts(world)
        return
    for spec in policies(world):
        if spec.resource.key.kind != "GlobalNetworkPolicy" or spec.refused:
            continue
        for rule in spec.rules:
            if rule.action == "Deny" and _is_for_hosts(spec, around) and (part := _kept_open(rule, world)):
                yield spec.resource, part
    for group in GROUPS:
        for policy in world.of_kind(group, "GlobalNetworkPolicy"):
            yield from ((policy, part) for part in _without_addresses(policy, around))


def _without_hosts(world: World) -> Iterator[tuple[Resource, FaultyPart]]:
    """Yield the policies for endpoints of hosts alone in a tree that has none of these, and makes none.

    Source: docs.tigera.io/calico, «Apply policy to Kubernetes node ports» and «Protect Kubernetes nodes»
    (`hostEndpoint.autoCreate`); projectcalico/calico#3379.
    """
    made = (value_at(each.spec, _AUTOMATIC) for group in GROUPS for each in world.of_kind(group, _CONTROLLERS))
    if any(each not in (None, "Disabled") for each in made):
        return
    for group in GROUPS:
        for policy in world.of_kind(group, "GlobalNetworkPolicy"):
            field = next((each for each in ("preDNAT", "doNotTrack") if policy.spec.get(each) is True), "")
            if field:
                why = "it acts at HostEndpoints alone, and there is none here"
                repair = f"declare HostEndpoints, or set `{'.'.join(_AUTOMATIC)}: Enabled` of {_CONTROLLERS} default"
                ground = "HostEndpoints may be made elsewhere, or by Calico"
                yield policy, FaultyPart((field,), why, fix=repair, outcome="selects nothing", ground=ground)


def _is_for_hosts(spec: PolicySpec, around: LabelledWorld) -> bool:
    """Return whether a policy is for an endpoint of a host for certain."""
    stated = spec.resource.spec
    if spec.subject != Entity("some nodes"):
        return False
    alone = True in (stated.get("preDNAT"), stated.get("doNotTrack"))
    return alone or around.surely_hosts(_selector(stated.get("selector")))


def _kept_open(rule: RuleSpec, world: World) -> FaultyPart | None:
    """Return what a rule denies port by port, and Felix lets through before it; None for nothing."""
    failsafes = _failsafes(rule.direction, world)
    ports = [(port.protocol, port.low) for port in rule.ports or () if port.certain and port.low == port.high]
    kept = [port for port in ports if port in failsafes]
    if not kept:
        return None
    numbers, way = listing([str(number) for _, number in kept]), "to" if rule.direction == "ingress" else "from"
    return FaultyPart(
        (*rule.pointer[1:], "action"),
        f"Felix lets connections {way} hosts through at {numbers} before it asks any policy",
        fix=f"state {_FIELDS[rule.direction]} without them in FelixConfiguration default",
        outcome=f"does not deny {listing([f'{protocol} {number}' for protocol, number in kept])}",
    )


def _failsafes(direction: Direction, world: World) -> frozenset[tuple[str, int]]:
    """Return the ports that Felix keeps open for everybody; none where that is not known."""
    field = _FIELDS[direction]
    told = f"FELIX_{field}".upper()
    if any(mapping(each).get("name") == told for _, one in containers(world) for each in sequence(one.get("env"))):
        return frozenset()
    stated = [
        felix.spec[field]
        for group in GROUPS
        for felix in world.of_kind(group, "FelixConfiguration")
        if field in felix.spec
    ]
    if not stated:
        return frozenset(_FAILSAFES[direction])
    listed = [mapping(each) for each in sequence(stated[0])]
    if len(stated) > 1 or is_symbolic(stated[0]):
        return frozenset()
    return frozenset(
        (text(each.get("protocol"), "tcp").upper(), port)
        for each in listed
        if isinstance(port := each.get("port"), int) and not each.get("net")
    )


def _without_addresses(policy: Resource, around: LabelledWorld) -> Iterator[FaultyPart]:
    """Yield the selectors of the other end that mean endpoints of hosts whose addresses nobody stated."""
    for direction, side in _SIDES.items():
        for number, rule in enumerate(map(mapping, sequence(policy.spec.get(direction)))):
            entity: Mapping[str, Any] = mapping(rule.get(side))
            if entity.get("nets") or entity.get("namespaceSelector") or not entity.get("selector"):
                continue
            expression = _selector(entity["selector"])
            if around.surely_hosts(expression) and not around.hosts(expression, addressed=True):
                yield FaultyPart(
                    (direction, number, side, "selector"),
                    "a HostEndpoint has the addresses of its `expectedIPs`, and these have none",
                    fix="state `expectedIPs` in the HostEndpoints, or addresses in `nets`",
                    outcome="means no host",
                )


def _selector(written: object) -> Expression | None:
    try:
        return parse(written) if isinstance(written, str) and not is_symbolic(written) else None
    except NoSelectorError:
        return None
