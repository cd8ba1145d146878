"""Network policies as a witness: what becomes of packets, by a plugin's own evaluator and by policylint."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policylint.network.rules import Entity
from policylint.network.state import Network
from policylint.network.walk import TierStep
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.network_worlds import NAMES, NODES, OUTSIDE, PODS, Packet
from tests.witness.programs import Program

SOURCE = Path(__file__).parent / "network"
ABOUT = (
    "The evaluator that decides on every packet in kube-network-policies, a network plugin of Kubernetes' own: which"
    " packets get through NetworkPolicies, AdminNetworkPolicies with a BaselineAdminNetworkPolicy, and"
    " ClusterNetworkPolicies of both tiers."
)
_FATES = {"+": "allowed", "-": "denied"}


PACKETS = 230
"""Per world."""
KEPT = "all | packets"


class Evaluator(Program):
    """The running program."""

    def ask(self, objects: Sequence[Manifest], packets: Sequence[Packet]) -> str:
        """Return one letter a packet: `+` for one that gets through, `-` for one that is dropped."""
        return self.line({"objects": objects, "names": NAMES, "packets": packets}).strip()


def kept(letters: str) -> Facts:
    """Return the answers as a record has them, which packets are drawn again."""
    return {KEPT: letters}


def compared(objects: Sequence[Manifest], packets: Sequence[Packet], record: Facts) -> tuple[Facts, Facts]:
    """Return the answers of a record of which policylint says anything, and what it says."""
    return told_of(objects, packets, record, _network(objects))


def told_of(
    objects: Sequence[Manifest], packets: Sequence[Packet], record: Facts, network: Network
) -> tuple[Facts, Facts]:
    """Return the same of a network as policylint has read it."""
    real = {named(packet): _FATES[letter] for packet, letter in zip(packets, record[KEPT], strict=True)}
    ours = _our_facts(objects, packets, real, network)
    return {fact: real[fact] for fact in ours}, ours


def named(packet: Packet) -> str:
    """Return a packet as a fact is named."""
    return f"{packet['protocol']} {packet['from']} > {packet['to']}:{packet['port']} | packet"


def _our_facts(objects: Sequence[Manifest], packets: Sequence[Packet], real: Facts, network: Network) -> Facts:
    """Return what policylint says of each packet of which the evaluator says something."""
    numbers = {
        each["status"]["podIPs"][0]["ip"]: network.numbers[f"Pod {_name(each)}"]
        for each in objects
        if each["kind"] == "Pod"
    }
    addresses = network.universe.addresses
    for address in OUTSIDE:
        found = addresses.at(address)
        if found:
            numbers[address] = found.bit_length() - 1
    told: Facts = {}
    for packet in packets:
        source, target = numbers.get(packet["from"]), numbers.get(packet["to"])
        if source is None or target is None:  # no rule speaks of IPv6
            continue
        fact = named(packet)
        answer = network.ask(source, target, network.universe.ports.at(packet["protocol"], packet["port"]))
        told[fact] = answer.verdict
        if answer.verdict == "unknown" and any(map(_names_hosts, (*answer.egress, *answer.ingress))):
            told[fact] = real[fact]  # which addresses a name has, is what a resolver says
        elif answer.verdict != real[fact] and "Baseline" in (answer.egress[-1].tier, answer.ingress[-1].tier):
            told[fact] += " in the Baseline tier"
    return told


def _names_hosts(step: TierStep) -> bool:
    peers = step.rule.peers if step.rule else ()
    return not step.certain and any(Entity("names") in alternatives for alternatives, _ in peers)


def _name(pod: Manifest) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _network(objects: Sequence[Manifest]) -> Network:
    """Read a world as what a cluster holds, whose plugin compares an ipBlock with the addresses of pods."""
    with TemporaryDirectory() as place:
        file = Path(place) / "cluster.yaml"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
        given = Assumptions(network={"pods": [PODS], "nodes": [NODES], "plugin": "kube-router"})
        network = open_workspace([str(file)], given=given).simulations[0].hops.network
    assert [policy.refused for policy in network.policies if policy.refused] == []
    return network


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    required = re.findall(
        r"^\t?(?:require )?(sigs.k8s.io/kube-network-policies) (v\S+)", (SOURCE / "go.mod").read_text(), re.M
    )
    return {"title": "Network policies", "about": ABOUT, "versions": dict(required)}
