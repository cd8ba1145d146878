"""GWP607: a `from` or `to` item of a network policy that matches no pod."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.either_or_peers import written_apart
from policylint.checks.kit.locations import path
from policylint.checks.kit.network import by_hand, is_nobody, meant_by_name, peer_places, rules, unlabelled
from policylint.documents import Pointer
from policylint.model import Finding
from policylint.network.rules import Pods, PolicySpec, RuleSpec
from policylint.network.state import Network
from policylint.simulation import Simulation
from policylint.topology.namespaces import NAME_LABEL

RULE = "GWP607"
_SIDES = ("source", "destination")


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    told: set[tuple[int, Pointer]] = set()
    for _, policy, rule in rules(simulation):
        somebody = {  # an expression may mean pods in several ways, and sets of addresses: all of them at one place
            (*rule.pointer, *below)
            for peers, below in rule.peers
            if not any(is_nobody(network, peer) for peer in peers)
        }
        for peer, pointer in peer_places(rule):
            if (id(rule), pointer) in told:
                continue
            told.add((id(rule), pointer))
            if pointer not in somebody and path(pointer) in written_apart(network, policy, rule):
                continue  # GWP614 tells where these pods are
            if pointer in somebody:
                yield from _unlabelled(network, policy, rule, peer, pointer)
                continue
            named = meant_by_name(network, peer)
            inside = network.universe.namespaces(peer.namespaces).maybe if peer.home is None else 1
            way = "from" if rule.direction == "ingress" else "to"
            way = str(pointer[-1]) if pointer[-1] in _SIDES else way
            label = "no pod has these labels" if inside and not named else "no namespace with pods has these labels"
            fixes = (f"fix: select Namespace {named} by its label {NAME_LABEL}",) if named else ()
            which = "that do not exist"
            on_host = next(network.universe.at_their_node(peer), None)
            if on_host is not None:
                label = f"{on_host.key} uses its node's network (`hostNetwork`): to this rule its pods are the node"
                fixes = ("fix: name the nodes: entities such as `host` and `remote-node`, or their addresses",)
                which = "which use the network of their node"
            doubt = "" if on_host is not None or named else by_hand(network, policy, peer)
            yield Finding(
                RULE,
                "note" if doubt else "warning",
                f"{policy.key} names pods in {rule.direction}[{rule.position}].{way} {which}",
                policy.resource.location(*pointer),
                resources=(policy.key,),
                label=label,
                help=fixes,
                confidence="assumed" if doubt else "certain",
                ground=doubt,
                field=path(pointer),
            )


def _unlabelled(
    network: Network, policy: PolicySpec, rule: RuleSpec, peer: Pods, pointer: Pointer
) -> Iterator[Finding]:
    """Yield a peer that means a namespace of Kubernetes' own by a label that somebody has to give it."""
    name = unlabelled(network, peer)
    if name:
        yield Finding(
            RULE,
            "note",
            f"{policy.key} names Namespace {name} in {rule.direction}[{rule.position}] by a label that Kubernetes does "
            "not set",
            policy.resource.location(*pointer),
            resources=(policy.key,),
            label=f"the API server makes {name} with the label {NAME_LABEL} alone",
            help=(f"fix: select it by {NAME_LABEL}: {name}",),
            confidence="assumed",
            ground="somebody may label the namespace by hand",
            field=path(pointer),
        )
