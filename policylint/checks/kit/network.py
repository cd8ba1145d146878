"""What rules about network policies share: policies that act, places of peers and ports, and what may be unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.wording import near
from policylint.documents import Pointer
from policylint.model import Confidence, Location, ResourceKey, Severity, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.model.selectors import matches
from policylint.network.kinds import NETWORK_POLICY
from policylint.network.rules import Peer, Pods, PolicySpec, RuleSpec
from policylint.network.state import Network
from policylint.network.walk import Stretch
from policylint.simulation import Simulation
from policylint.topology.namespaces import NAME_LABEL
from policylint.topology.workloads import is_written_later

_BY_NAME = ("name", "namespace", "ns")
"""How labels are called that hold the name of their namespace where somebody sets them."""
_OF_KUBERNETES = ("kube-system", "kube-public", "kube-node-lease", "default")
"""The namespaces that the API server makes, with no label but that of their name."""


def acting(simulation: Simulation) -> Iterator[tuple[int, PolicySpec]]:
    """Yield the network policies that the API server takes, with their numbers."""
    for number, policy in enumerate(simulation.network_policies):
        if not policy.refused:
            yield number, policy


def rules(simulation: Simulation) -> Iterator[tuple[int, PolicySpec, RuleSpec]]:
    """Yield the rules of these policies."""
    for number, policy in acting(simulation):
        for rule in policy.rules:
            yield number, policy, rule


def stretches(network: Network, number: int, rule: RuleSpec) -> Iterator[tuple[int, Stretch]]:
    """Yield what a rule matches for each subject of its policy, by the subject's number."""
    from policylint.network.selecting import numbers_of

    for subject in numbers_of(network.subjects[number].maybe):
        for stretch in network.meaning.parts(rule, subject):
            yield subject, stretch


def names_api_server(peer: Pods) -> bool:
    """Return whether labels name the API server, where it runs as pods: not one that extends it (`keda-apiserver`)."""
    stated: list[Any] = []
    for selector in map(mapping, (peer.namespaces, peer.pods)):
        stated += mapping(selector.get("matchLabels")).values()
        for each in map(mapping, sequence(selector.get("matchExpressions"))):
            stated += sequence(each.get("values"))
    return any(value == "apiserver" or text(value).endswith("kube-apiserver") for value in stated)


def subject_place(policy: PolicySpec) -> Location:
    """Return where a policy says whom it selects."""
    body = policy.resource.body
    for field in ("podSelector", "subject", "endpointSelector", "selector", "namespaceSelector"):
        if value_at(body, ("spec", field)) is not None:
            return policy.resource.location("spec", field)
    return policy.resource.location("spec") if body.get("spec") is not None else policy.resource.name_location


def peer_places(rule: RuleSpec) -> Iterator[tuple[Pods, Pointer]]:
    """Yield the peers of a rule that are pods, each with its place in the object."""
    for peers, below in rule.peers:
        if len(peers) == 1 and isinstance(peers[0], Pods):
            yield peers[0], (*rule.pointer, *below)


def may_be_elsewhere(network: Network, peer: Peer | None) -> bool:
    """Return whether pods that a selection means may exist without having been seen."""
    if not isinstance(peer, Pods):
        return True
    from policylint.network.selecting import numbers_of

    world, universe = network.world, network.universe
    if world.pods_elsewhere(peer.pods, peer.home or "") or (world.partial and _is_of_a_controller(network, peer)):
        return True
    name = peer.home or mapping(peer.namespaces.get("matchLabels")).get(NAME_LABEL)
    system = _OF_KUBERNETES[0]
    running = _run_by_kubernetes(mapping(peer.pods.get("matchLabels")))
    if running and (name == system if name else matches(peer.namespaces, {NAME_LABEL: system})):
        members = (universe.endpoints[number].labels for number in numbers_of(universe.members(system)))
        return all(running.isdisjoint(_run_by_kubernetes(labels)) for labels in members)
    if isinstance(name, str):
        return not universe.members(name) or not network.is_whole_namespace(name)
    around = universe.namespaces(peer.namespaces).maybe
    return world.partial or not around or bool(around & universe.open)


def _is_of_a_controller(network: Network, peer: Pods) -> bool:
    """Return whether a label is asked for that who owns its prefix puts on pods that it makes, and that none here has
    (`acme.cert-manager.io/http01-solver`, `tekton.dev/taskRun`)."""
    templates = [end.labels for end in network.universe.endpoints]
    return any(is_written_later(str(key), templates) for key in mapping(peer.pods.get("matchLabels")))


def by_hand(network: Network, policy: PolicySpec, wanted: Peer | None) -> str:
    """Return why pods that a policy of a plain file means may run though none is here; "" where they would be here.

    Such a file names no namespace, and is applied to any by hand, as pods are started (`kubectl run`). Labels that are
    a slip of those of pods that are here mean these.
    """
    world, resource = network.world, policy.resource
    if not (world.partial and "namespace" not in resource.metadata and world.is_loose(resource)):
        return ""
    known: dict[str, set[str]] = {}
    for end in network.universe.endpoints:
        for name, value in end.labels.items():
            known.setdefault(name, set()).add(str(value))
    for name, value in mapping(wanted.pods.get("matchLabels") if isinstance(wanted, Pods) else None).items():
        here = known.get(name, set())
        is_under_another = not here and any(str(value) in values for values in known.values())
        if str(value) not in here and (is_under_another or near(str(value), here)):
            return ""
    return f"{policy.key} names no namespace, and nothing here applies it: its pods may be started by hand"


def _run_by_kubernetes(labels: Mapping[str, Any]) -> set[str]:
    """Return which of what every cluster runs, whatever the tree holds, labels are of: DNS above all."""
    values = ((key, str(value)) for key, value in labels.items())
    return {
        "dns" if "dns" in value else value for key, value in values if key in ("component", "k8s-app") or "dns" in value
    }


def _stated(selector: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the labels that a selector asks for by one value, in either way to write that."""
    yield from mapping(selector.get("matchLabels")).items()
    for each in map(mapping, sequence(selector.get("matchExpressions"))):
        values = sequence(each.get("values"))
        if each.get("operator") == "In" and len(values) == 1 and isinstance(each.get("key"), str):
            yield each["key"], values[0]


def meant_by_name(network: Network, peer: Peer | None) -> str:
    """Return the namespace that a selector names by a label such as `name`, which its manifest does not have."""
    if not isinstance(peer, Pods) or peer.home is not None:
        return ""
    for key, value in _stated(peer.namespaces):
        found = network.world.get(ResourceKey("", "Namespace", "", value)) if isinstance(value, str) else None
        if found is not None and str(key).rpartition("/")[2] in _BY_NAME and key not in (NAME_LABEL, *found.labels):
            return found.key.name
    return ""


def unlabelled(network: Network, peer: Peer | None) -> str:
    """Return the namespace of Kubernetes' own that a selector names by a label which nothing in the tree gives it."""
    if not isinstance(peer, Pods) or peer.home is not None or network.universe.namespaces(peer.namespaces).sure:
        return ""
    named = (str(value) for key, value in _stated(peer.namespaces) if key in _BY_NAME and value in _OF_KUBERNETES)
    return next((name for name in named if network.world.get(ResourceKey("", "Namespace", "", name)) is None), "")


def is_nobody(network: Network, peer: Peer | None) -> bool:
    """Return whether a peer certainly means no pod: none was seen, and none may be elsewhere."""
    if not isinstance(peer, Pods):
        return False
    chosen, named = network.universe.select(peer), meant_by_name(network, peer)
    return not chosen.sure and (bool(named) or not (chosen.maybe or may_be_elsewhere(network, peer)))


def doubt(simulation: Simulation, namespace: str) -> tuple[Severity, Confidence, str]:
    """Return how bad and how sure it is that network policies of a namespace keep something out, and why.

    What was not seen may let it in: where its values speak of network policies, nothing is known; else in principle.
    """
    unseen = simulation.world.unseen
    reason = unseen.reason(ResourceKey(*NETWORK_POLICY, namespace, ""))
    sources = (making.source for place in (namespace, None) for _, making in unseen.at(place))
    spoken = any(mention.kind == NETWORK_POLICY[1].lower() for source in sources for mention in source.mentions)
    if not reason:
        return "error", "certain", ""
    ground = f"a policy that was not seen may let them through ({reason})"
    return ("note", "unknown", ground) if spoken else ("warning", "assumed", ground)
