"""All ends of connections of one world, numbered, and what peers and ports of rules mean among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.clusters import is_put_on_pods
from policylint.model import UNKNOWN_NAMESPACE, World, is_symbolic
from policylint.network.addresses import Addresses, holds, is_everything, may_hold, takes_pods
from policylint.network.cilium import ACCOUNT
from policylint.network.endpoints import API_SERVER, NODES, POD_ROLES, Endpoint
from policylint.network.facts import facts_of
from policylint.network.kinds import WITH_ACCOUNTS
from policylint.network.ports import PortSpace, PortSpec
from policylint.network.rules import Block, Entity, HostNames, Peer, Pods, PolicySpec
from policylint.network.selecting import Chosen, Labels, bits_of, numbers_of, union
from policylint.topology.namespaces import NAME_LABEL


class Universe:
    """The ends of connections by number: endpoints, nodes, the API server, then address ranges.

    Attributes:
        endpoints: those with a number; NODES and API_SERVER are the last two.
        pods: the set of endpoints that selectors of pods can select.
        in_pods: those of them that have addresses of their own.
        shown: the set of what reports list: endpoints and address ranges.
        everything: all of them.
        facts: what is known of the network beside policies.
    """

    def __init__(
        self,
        world: World,
        endpoints: Sequence[Endpoint],
        policies: Sequence[PolicySpec],
        others: Iterable[PolicySpec] = (),
        other_ends: Iterable[Endpoint] = (),
    ) -> None:
        """Number the ends.

        Args:
            policies: whose rules cut addresses and ports.
            others, other_ends: what cuts them as well: the other side of a diff.
        """
        self.facts = facts_of(world)
        self.endpoints = (*endpoints, NODES, API_SERVER)
        count = len(endpoints)
        self._nodes, self._api_server = 1 << count, 1 << count + 1
        stated = [rule for policy in (*policies, *others) for rule in policy.rules]
        blocks = {peer for rule in stated for peers, _ in rule.peers for peer in peers if isinstance(peer, Block)}
        cidrs = {text for block in blocks for text in (block.cidr, *block.excepted)}
        self.addresses = Addresses(cidrs, len(self.endpoints))
        specs = {port for rule in stated for port in rule.ports or ()}
        names = {port.name for port in specs if port.name}
        ends = (*endpoints, *other_ends) if names else ()
        meant = {port for endpoint in ends for port in endpoint.named if port.name in names}
        named = {PortSpec(port.protocol, port.number, port.number) for port in meant}
        self.ports = PortSpace(named | {port for port in specs if not port.name})
        self.names = frozenset(names)
        members: dict[str, list[int]] = {}
        inhabited = set()
        of_role: dict[str, list[int]] = {"host": [], "identity": [], "open": [], "alternative": [], "several": []}
        for number, endpoint in enumerate(endpoints):
            role = endpoint.role
            if role in POD_ROLES:
                members.setdefault(endpoint.namespace, []).append(number)
            elif role == "identity":
                of_role[role].append(number)
            if role != "proxies":
                inhabited.add(endpoint.namespace)
            if endpoint.host:
                of_role["host"].append(number)
            if endpoint.open:
                of_role["open"].append(number)
            if endpoint.alternative:
                of_role["alternative"].append(number)
            if endpoint.several:
                of_role["several"].append(number)
        self._host, self._identities, self.open, hidden, self.several = map(bits_of, of_role.values())
        self.shown = ((1 << count) - 1) & ~hidden | self.addresses.all
        self.everything = self.shown | hidden | self._nodes | self._api_server
        has_accounts = any(policy.key[:2] in WITH_ACCOUNTS for policy in policies)
        labels = [_labels(endpoint) if has_accounts else endpoint.labels for endpoint in endpoints]
        self._by_label = Labels(zip(labels, (each.open for each in endpoints), strict=True), is_put_on_pods)
        self._namespaces = sorted(members)
        self._members = {namespace: bits_of(numbers) for namespace, numbers in members.items()}
        self.pods = union(self._members.values())
        self.in_pods = self.pods & ~self._host
        self._by_namespace = Labels(
            namespace_labels(world, namespace, known=namespace in inhabited) for namespace in self._namespaces
        )
        self._unplaced = union(self._members[namespace] for namespace in filter(is_unplaced, self._namespaces))
        self._anywhere = bits_of(
            number for number in numbers_of(self._unplaced) if self.endpoints[number].role == "proxies"
        )
        self._answers: dict[tuple[str | None, str, str], Chosen] = {}
        self._spread: dict[str, Chosen] = {}
        self._by_port: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def select(self, peer: Peer) -> Chosen:
        """Return the ends that a peer means."""
        if isinstance(peer, Pods):
            return self._select_pods(peer)
        if isinstance(peer, Block):
            return self._select_block(peer)
        return self._select_entity(Entity("names") if isinstance(peer, HostNames) else peer)

    def governed(self, subject: Peer) -> Chosen:
        """Return the ends that a policy is for; proxies of which nothing says where they run are not in its namespace
        unless it names labels of theirs."""
        selected = self.select(subject)
        if self._anywhere and isinstance(subject, Pods) and subject.home and not is_unplaced(subject.home):
            named = self._by_label.select(subject.pods).sure if any(subject.pods.values()) else 0
            selected = selected.within(~self._anywhere | named)
        return selected

    def named(self, name: str, protocol: str) -> list[tuple[int, int]]:
        """Return what a port name means on the pods: pairs of pods and ports, the pods that lack it left out."""
        found = self._by_port.get((name, protocol))
        if found is None:
            by_ports: dict[int, list[int]] = {}
            for number, endpoint in enumerate(self.endpoints):
                ports = self.named_at(endpoint, name, protocol)
                if ports:
                    by_ports.setdefault(ports, []).append(number)
            found = self._by_port[name, protocol] = [(bits_of(pods), ports) for ports, pods in by_ports.items()]
        return found

    def named_at(self, endpoint: Endpoint, name: str, protocol: str) -> int:
        """Return the ports that a name means on one endpoint."""
        ports = 0
        for port in endpoint.named:
            if port.name == name and protocol in ("", port.protocol):
                ports |= self.ports.of(PortSpec(port.protocol, port.number, port.number))
        return ports

    def members(self, namespace: str) -> int:
        """Return the pods of a namespace."""
        return self._members.get(namespace, 0)

    def namespaces(self, selector: Mapping[str, Any]) -> Chosen:
        """Return the pods of the namespaces that a selector selects."""
        key = repr(selector)
        spread = self._spread.get(key)
        if spread is None:
            chosen = self._by_namespace.select(selector)
            sure = self._pods_of(chosen.sure)
            spread = self._spread[key] = Chosen(sure, sure | self._pods_of(chosen.maybe & ~chosen.sure))
        return spread

    def _pods_of(self, namespaces: int) -> int:
        if namespaces == self._by_namespace.all:
            return self.pods
        return union(self._members[self._namespaces[number]] for number in numbers_of(namespaces))

    def _select_pods(self, peer: Pods) -> Chosen:
        key = (peer.home, repr(peer.namespaces), repr(peer.pods))
        selected = self._answers.get(key)
        if selected is None:
            selected = self._by_label.select(peer.pods).within(self.pods)
            if peer.home is None:
                selected &= self.namespaces(peer.namespaces)
            else:
                inside = self.members(peer.home)
                perhaps = self.pods if is_unplaced(peer.home) else inside | self._unplaced
                selected &= Chosen(inside, perhaps)
                if peer.namespaces:
                    selected &= self.namespaces(peer.namespaces)
            self._answers[key] = selected
        if peer.family == "unread":
            return Chosen(0, selected.maybe)
        if peer.family == "core":  # the API leaves open what holds for pods on their node's network
            return Chosen(selected.sure & ~self._host, selected.maybe)
        selected = selected.within(~self._host)
        return selected | self._select_entity(Entity(peer.beside)) if peer.beside else selected

    @property
    def nodes(self) -> int:
        """The nodes, as a set."""
        return self._nodes

    def at_their_node(self, peer: Pods) -> Iterator[Endpoint]:
        """Yield pods with the labels that a peer names whose packets come from their node's address."""
        self._select_pods(peer)
        for number in numbers_of(self._answers[peer.home, repr(peer.namespaces), repr(peer.pods)].sure & self._host):
            yield self.endpoints[number]

    def _select_block(self, block: Block) -> Chosen:
        hosts = self._nodes | self._api_server
        if is_symbolic(block.cidr) or any(map(is_symbolic, block.excepted)):
            return Chosen(0, self.addresses.all | self.pods | hosts)
        outside, facts = self.addresses.of(block.cidr, block.excepted), self.facts
        if block.family == "identities" or (block.family == "core" and facts.block_is_addresses):
            return Chosen(outside, outside | (hosts if facts.matches_nodes else 0))
        if block.family == "cluster" and is_everything(block.cidr) and not (block.excepted or facts.pods):
            inside = self.pods & ~self._host if takes_pods(block.cidr) else 0
            return Chosen(outside | inside, outside | self.pods | hosts)
        sure, maybe = outside, outside
        if not facts.nodes or may_hold(block.cidr, block.excepted, facts.nodes):
            maybe |= hosts | (self._host & self.pods if facts.nodes else 0)
        if may_hold(block.cidr, block.excepted, facts.pods):
            maybe |= self.pods
            if facts.pods and holds(block.cidr, block.excepted, facts.pods):
                sure |= self.pods & ~self._host if block.family == "cluster" or facts.block_is_pods else 0
        return Chosen(sure, maybe | sure)

    def _select_entity(self, entity: Entity) -> Chosen:
        hosts = self._nodes | self._host
        match entity.name:
            case "everything" | "all":
                selected = self.everything
            case "cluster":
                selected = self.everything & ~self.addresses.all
            case "world" | "world-ipv4" | "world-ipv6":
                return Chosen(self.addresses.all, self.addresses.all | self._api_server)
            case "host" | "remote-node":
                return Chosen(hosts, hosts | self._api_server)  # it has the labels of where it runs, too
            case "kube-apiserver":
                selected = self._api_server
            case "ingress":
                selected = self._identities
            case "perhaps ingress":
                return Chosen(0, self._identities)
            case "perhaps what is no pod":
                return Chosen(0, self.everything & ~self.pods)
            case "what has no identity":
                selected = self.everything & ~self.pods | hosts
            case "some nodes":
                return Chosen(0, hosts | self._api_server)
            case "names":
                return Chosen(0, self.addresses.all)
            case "unread":
                return Chosen(0, self.everything)
            case "services":
                return Chosen(0, self.pods)
            case _:
                return Chosen()
        return Chosen(selected, selected)


def namespace_labels(world: World, namespace: str, *, known: bool = True) -> tuple[Mapping[str, Any], bool]:
    """Return the labels of a namespace, and whether it may have others.

    The API server sets the name's. In a tree a namespace without a Namespace object may have any others; among the
    objects of one cluster, or of one file, it has none (`known` is false for one that nothing there is in).
    """
    if is_unplaced(namespace):
        return {}, True
    labels = world.namespace_labels(namespace)
    if labels is not None:
        return {**labels, NAME_LABEL: namespace}, False
    return {NAME_LABEL: namespace}, world.partial or not known


def is_unplaced(namespace: str) -> bool:
    """Return whether the manifests leave open which namespace it is."""
    return namespace[:1] == UNKNOWN_NAMESPACE or is_symbolic(namespace)


def _labels(endpoint: Endpoint) -> Mapping[str, Any]:
    return {**endpoint.labels, ACCOUNT: endpoint.account} if endpoint.account else endpoint.labels
