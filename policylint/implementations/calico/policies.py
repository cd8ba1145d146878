"""NetworkPolicies and GlobalNetworkPolicies of Calico, in one form with all others.

A rule that looks at the labels or addresses of the pod itself (`destination` of what comes in) is a policy of its own
for those pods, in its turn; a selector with alternatives is one policy for each of them
(docs/design/implementations/calico.md §3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import inf, isnan
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.implementations.calico.labelled import (
    GROUPS,
    NAMESPACE,
    OF_ACCOUNT,
    OF_NAMESPACE,
    SERVICE_ACCOUNT,
    UNSURE,
    LabelledWorld,
    Peers,
    blocks,
)
from policylint.implementations.calico.selectors import (
    EVERYBODY,
    Expression,
    LabelTest,
    NoSelectorError,
    both,
    parse,
    under,
    without,
)
from policylint.matches import Term
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.network.addressed import SERVICE, destinations
from policylint.network.kinds import CALICO
from policylint.network.ports import LAST, PROTOCOLS, PortSpec
from policylint.network.rules import (
    ANYBODY,
    DIRECTIONS,
    TIERS,
    TOGETHER,
    Action,
    Block,
    Direction,
    Entity,
    HostNames,
    Peer,
    Pods,
    PolicySpec,
    RuleSpec,
    UnacceptableError,
    address_range,
    host_named,
    listed,
    mappings,
    whole,
)
from policylint.spaces.addresses import network_of
from policylint.spaces.predicates import Predicate, starting

DEFAULT_TIER = "default"
_RANKS = {
    "kube-admin": TIERS["Admin"],
    "adminnetworkpolicy": TIERS["Admin"],
    DEFAULT_TIER: TIERS[TOGETHER],
    "kube-baseline": TIERS["Baseline"],
    "baselineadminnetworkpolicy": TIERS["Baseline"],
}
"""The tiers that are there without any object."""
_PROTOCOLS = ("TCP", "UDP", "SCTP", "ICMP", "ICMPv6", "UDPLite")
_NUMBERS = {6: "TCP", 17: "UDP", 132: "SCTP"}
_ACTIONS = ("Allow", "Deny", "Pass", "Log")
_OUTSIDE: tuple[Peer, ...] = (Entity("host"), Entity("kube-apiserver"))
"""What has an address and no labels, beside what lies outside of the cluster."""
_EVERYWHERE = "0.0.0.0/0"
_API_SERVER = ResourceKey("", "Service", "default", "kubernetes")


class _Tier(NamedTuple):
    """A tier: its rank among all, whether it denies what none of its policies decides, and whether it was seen."""

    rank: float
    closes: bool
    seen: bool = True


class _Entity(NamedTuple):
    """One side of a rule.

    Args:
        expression: over the labels of endpoints, None where it is not known; `EVERYBODY` where none is asked for.
        home: the namespace to which it is limited, None for all.
        asks: whether it asks for labels at all.
        excluded: whom `notSelector` leaves out.
        nets, not_nets: networks.
    """

    expression: Expression | None
    home: str | None
    asks: bool
    excluded: Expression | None
    nets: tuple[str, ...]
    not_nets: tuple[str, ...]


def policies(world: World) -> Iterator[PolicySpec]:
    """Yield the policies of a world, those that Calico refuses among them."""
    tiers = _tiers(world)
    around = LabelledWorld(world)
    for kind in CALICO:
        for resource in world.of_kind(*kind):
            try:
                if not isinstance(resource.body.get("spec"), dict | None):
                    raise UnacceptableError("spec is no mapping")
                yield from _Policy(resource, tiers, around).specs()
            except UnacceptableError as refusal:
                pointer = ("spec", *refusal.pointer)
                yield PolicySpec(resource, DEFAULT_TIER, 0, None, refused=str(refusal), pointer=pointer)


def _tiers(world: World) -> dict[str, _Tier]:
    """Return the tiers by name (§1)."""
    found = {name: _Tier(rank, closes=True) for name, rank in _RANKS.items()}
    of_world = [tier for group in GROUPS for tier in world.of_kind(group, "Tier")]
    for number, tier in enumerate(sorted(of_world, key=lambda tier: tier.key.name)):
        order = tier.spec.get("order")
        rank = float(order) if isinstance(order, int | float) else inf
        if rank != inf:
            rank += number * 1e-6  # those of one order go by name
        closes = tier.spec.get("defaultAction") != "Pass"
        found[tier.key.name] = _Tier(_RANKS.get(tier.key.name, rank), closes)
    return found


class _Policy:
    """One object, read."""

    def __init__(self, resource: Resource, tiers: Mapping[str, _Tier], around: LabelledWorld) -> None:
        self.resource, self.around, self.world = resource, around, around.world
        self.home = None if resource.key.kind == "GlobalNetworkPolicy" else resource.key.namespace or None
        self.tier = text(resource.spec.get("tier")) or DEFAULT_TIER
        self.place = tiers.get(self.tier, _Tier(0, closes=True, seen=False))
        if not self.place.seen and not self.world.partial and not is_symbolic(self.tier):
            raise UnacceptableError(f"tier: there is no Tier {self.tier}, so that the policy is skipped", "tier")

    def specs(self) -> Iterator[PolicySpec]:
        """Yield the policies that it is, in the order in which their rules are tried."""
        spec, key = self.resource.spec, self.resource.key
        order = spec.get("order")
        if order is not None and (isinstance(order, bool) or not isinstance(order, int | float) or isnan(order)):
            raise UnacceptableError(f"order: {order!r} is no number", "order")
        subject = self._subject()
        ways = self._ways()
        isolates = frozenset(ways) if self.place.closes else frozenset()
        parts: list[tuple[Expression | None, bool, list[RuleSpec]]] = [(EVERYBODY, True, [])]
        for way in DIRECTIONS:
            for number, rule in enumerate(mappings(spec, way)):
                own = self._entity(rule, _own(way), (way, number))
                narrowed, certain = self._narrowed(own)
                read = self._rule(rule, way, number)
                if way not in ways or read is None:
                    continue
                if (narrowed, certain) != parts[-1][:2]:
                    parts.append((narrowed, certain, []))
                parts[-1][2].append(read)
        for number, (narrowed, certain, rules) in enumerate(parts):
            whom = None if narrowed is None or subject is None else both(subject, narrowed)
            for peer in self._selected(whom, certain=certain):
                yield PolicySpec(
                    self.resource,
                    self.tier,
                    inf if order is None else order,
                    peer,
                    tuple(rules),
                    frozenset() if number else isolates,
                    rank=self.place.rank,
                    after=f"{key.name}/{key.namespace}/{key.kind}#{number:04}",
                )

    def _selected(self, expression: Expression | None, *, certain: bool) -> Iterator[Peer]:
        """Yield the endpoints that the policy is for: pods, and nodes where endpoints of hosts are declared."""
        spec = self.resource.spec
        if True in (spec.get("preDNAT"), spec.get("doNotTrack")):  # they are for endpoints of hosts alone
            yield Entity("some nodes")
            return
        for pods in self.around.pods(expression, self.home):
            yield pods if certain and self.place.seen else pods._replace(family="unread")
        if self.home is None and self.around.hosts(expression):
            yield Entity("some nodes")

    def _subject(self) -> Expression | None:
        """Return whom it selects (§2)."""
        spec, found = self.resource.spec, []
        for field, prefix, everybody in (
            ("selector", "", EVERYBODY),
            ("namespaceSelector", OF_NAMESPACE, LabelTest(NAMESPACE)),
            ("serviceAccountSelector", OF_ACCOUNT, LabelTest(SERVICE_ACCOUNT)),
        ):
            if field == "namespaceSelector" and self.home is not None:
                continue
            one = _selector(spec, field)
            if one is None:
                return None
            if spec.get(field):
                found.append(under(one, prefix, everybody) if prefix else one)
        return both(*found)

    def _ways(self) -> list[Direction]:
        """Return the directions that it is about (§1)."""
        spec = self.resource.spec
        types = listed(spec, "types")
        for number, name in enumerate(types):
            if name not in ("Ingress", "Egress") and not is_symbolic(name):
                raise UnacceptableError(f"types: {name!r} is neither Ingress nor Egress", "types", number)
        if types:
            return [way for way in DIRECTIONS if way.capitalize() in types]
        if self.resource.key.group == "crd.projectcalico.org":
            return list(DIRECTIONS)
        return [way for way in DIRECTIONS if spec.get(way)] or ["ingress"]

    def _entity(self, rule: Mapping[str, Any], side: str, place: Pointer) -> _Entity:
        """Return one side of a rule."""
        entity, at = mapping(rule.get(side)), (*place, side)
        accounts = mapping(entity.get("serviceAccounts"))
        parts: list[Expression | None] = []
        if entity.get("namespaceSelector"):
            one = _selector(entity, "namespaceSelector", *at)
            parts.append(None if one is None else under(one, OF_NAMESPACE, LabelTest(NAMESPACE)))
        if accounts.get("selector"):
            one = _selector(accounts, "selector", *at, "serviceAccounts")
            parts.append(None if one is None else under(one, OF_ACCOUNT, EVERYBODY))
        names = listed(accounts, "names", *at, "serviceAccounts")
        if names:
            parts.append(LabelTest(SERVICE_ACCOUNT, "in", tuple(map(text, names))))
        if entity.get("selector"):
            parts.append(_selector(entity, "selector", *at))
        excluded = _selector(entity, "notSelector", *at) if entity.get("notSelector") else None
        asks = bool(parts) or excluded is not None
        known = [part for part in parts if part is not None]
        expression = both(*known) if len(known) == len(parts) else None
        limited = asks and self.home is not None and not entity.get("namespaceSelector")
        nets, not_nets = (_networks(entity, field, at) for field in ("nets", "notNets"))
        return _Entity(expression, self.home if limited else None, asks, excluded, nets, not_nets)

    def _narrowed(self, own: _Entity) -> tuple[Expression | None, bool]:
        """Return to whom a rule is limited by its own side, and whether that is certain: addresses are not known."""
        expression = own.expression
        if expression is not None and own.excluded is not None:
            expression = both(expression, without(own.excluded))
        certain = not own.not_nets and (not own.nets or _EVERYWHERE in own.nets)
        return expression if own.asks else EVERYBODY, certain

    def _rule(self, rule: Mapping[str, Any], way: Direction, number: int) -> RuleSpec | None:
        """Return a rule, None for one that only writes to a log."""
        place, side = (way, number), "source" if way == "ingress" else "destination"
        action = rule.get("action")
        if action not in _ACTIONS and not is_symbolic(action):
            raise UnacceptableError(f"action: {action!r} is none of {', '.join(_ACTIONS)}", *place, "action")
        peers = [(peer, (side,)) for peer in self._peers(self._entity(rule, side, place), mapping(rule.get(side)))]
        source = mapping(rule.get("source"))
        if source.get("ports") or source.get("notPorts"):
            _ports(rule, source, (*place, "source"))  # which port a client sends from, nobody knows
            peers = [((*peer, UNSURE), pointer) for peer, pointer in peers]
        ports = _ports(rule, mapping(rule.get("destination")), (*place, "destination"))
        services = mapping(mapping(rule.get("destination")).get("services"))
        if services and way == "egress" and ports is None:
            ports = self._service_ports(services)
        if action == "Log":
            return None
        doubt = f"action: {action} holds a variable" if is_symbolic(action) else ""
        read: Action = "Allow"
        if doubt:
            peers = [((*peer, UNSURE), pointer) for peer, pointer in peers]
        else:
            read = action  # type: ignore[assignment]
        calls = _calls(mapping(rule.get("http")))
        name = text(mapping(mapping(rule.get("metadata")).get("annotations")).get("name"))
        return RuleSpec(way, number, read, tuple(peers), ports, ("spec", *place), name, calls, doubt, "proxy")

    def _peers(self, side: _Entity, written: Mapping[str, Any]) -> Iterator[Peers]:
        """Yield who is at the other end, as alternatives (§3)."""
        if written.get("services"):
            yield from ((peer,) for peer in self._service(mapping(written["services"])))
            return
        if written.get("domains"):
            yield from ((HostNames(host_named(domain)),) for domain in texts(written["domains"]))
            return
        by_label = list(self._by_label(side))
        by_net: list[Peers] = [()]
        if side.nets:
            by_net = [(block,) for block in blocks(side.nets, side.not_nets)]
            by_net += [(each,) for each in _OUTSIDE if _EVERYWHERE in side.nets and not side.not_nets]
        elif side.not_nets:
            by_net = [(block,) for block in blocks(_everywhere(side.not_nets), side.not_nets)]
        for labelled, nets in product(by_label, by_net):
            yield (*labelled, *nets) or (ANYBODY,)

    def _by_label(self, side: _Entity) -> Iterator[Peers]:
        """Yield whom the selectors of a side take; an empty tuple where there are none."""
        if not side.asks:
            yield ()
            return
        excluded = side.excluded
        left_out = list(self.around.networks(excluded, None)) if excluded is not None else []
        nets = tuple(net for found in left_out for net in found.blocks)
        expression = side.expression
        if excluded is not None and expression is not None:
            if expression == both() and side.home is None:  # all but some: what has no labels, too
                yield from ((Block(net, nets, "identities"),) for net in _everywhere(nets))
                yield from ((each,) for each in _OUTSIDE)
            expression = both(expression, without(excluded))
        yield from ((pods,) for pods in self.around.pods(expression, side.home))
        for found in self.around.networks(side.expression, side.home):
            for block in blocks(found.blocks, nets):
                yield (block,) if found.certain else (block, UNSURE)
        if side.home is None and self.around.hosts(expression, addressed=True):
            yield (Entity("perhaps what is no pod"),)

    def _named(self, named: Mapping[str, Any]) -> tuple[ResourceKey, Resource | None]:
        """Return the Service that a rule names, and what is here of it."""
        namespace = text(named.get("namespace")) or self.resource.key.namespace
        key = ResourceKey(*SERVICE, namespace, text(named.get("name")))
        return key, self.world.get(key)

    def _service(self, named: Mapping[str, Any]) -> Iterator[Peer]:
        """Yield what stands behind a Service that a rule names."""
        key, service = self._named(named)
        if key == _API_SERVER:
            yield Entity("kube-apiserver")
        elif service is None:
            yield Entity("services")
        elif service.spec.get("selector"):
            yield Pods(key.namespace, {}, {"matchLabels": mapping(service.spec["selector"])})
        else:
            for entry in map(mapping, sequence(service.spec.get("ports"))):
                for found in destinations(self.world, service, entry.get("port")):
                    yield Block(network_of(found.host), (), "cluster")

    def _service_ports(self, named: Mapping[str, Any]) -> tuple[PortSpec, ...] | None:
        """Return the ports of the endpoints of a Service, None where they are not known."""
        _, service = self._named(named)
        if service is None or not service.spec.get("selector"):
            return None
        found = []
        for entry in map(mapping, sequence(service.spec.get("ports"))):
            target = entry.get("targetPort", entry.get("port"))
            protocol = text(entry.get("protocol")) or "TCP"
            number = whole_number(target) if isinstance(target, str) else target
            if isinstance(number, int):
                found.append(PortSpec(protocol, number, number))
            else:
                found.append(PortSpec(protocol, name=text(target)))
        return tuple(found)


def _own(way: Direction) -> str:
    return "destination" if way == "ingress" else "source"


def _everywhere(nets: Iterable[str]) -> tuple[str, ...]:
    """Return all networks of the families that some are of; those of IPv4 where there are none."""
    families = {"::/0" if ":" in net else _EVERYWHERE for net in nets}
    return tuple(sorted(families | {_EVERYWHERE}))


def _selector(holder: Mapping[str, Any], field: str, *pointer: str | int) -> Expression | None:
    """Return a selector, None for one with a variable.

    Raises:
        UnacceptableError: it does not parse.
    """
    written = holder.get(field)
    if written is None or is_symbolic(written):
        return EVERYBODY if written is None else None
    if not isinstance(written, str):
        raise UnacceptableError(f"{field}: {written!r} is no text", *pointer, field)
    try:
        return parse(written)
    except NoSelectorError as error:
        raise UnacceptableError(f"{field}: {written!r} is no selector: {error}", *pointer, field) from error


def _networks(entity: Mapping[str, Any], field: str, pointer: Pointer) -> tuple[str, ...]:
    found = []
    for number, value in enumerate(listed(entity, field, *pointer)):
        net = network_of(value) if isinstance(value, str) else value
        address_range(net, *pointer, field, number)
        found.append(text(net))
    return tuple(found)


def _calls(http: Mapping[str, Any]) -> tuple[tuple[Term, ...], ...] | None:
    """Return which requests a rule takes, None for all: one of its methods and one of its paths, if it has any."""
    methods = [Term("method", Predicate("Exact", each), f"method {each}") for each in texts(http.get("methods"))]
    paths = []
    for each in map(mapping, sequence(http.get("paths"))):
        kind, value = ("Exact", each["exact"]) if each.get("exact") else ("Starts", each.get("prefix"))
        if isinstance(value, str):
            predicate = Predicate("Exact", value) if kind == "Exact" else starting(value)
            paths.append(Term("path", predicate, f"path {value}{'' if kind == 'Exact' else '*'}"))
    if not methods and not paths:
        return None
    return tuple(tuple(each) for each in product(*filter(None, (methods, paths))))


def _ports(rule: Mapping[str, Any], side: Mapping[str, Any], place: Pointer) -> tuple[PortSpec, ...] | None:
    """Return the ports that a side of a rule is about, None for all of them (§3)."""
    protocol, refused = (_protocol(rule.get(field), *place[:2], field) for field in ("protocol", "notProtocol"))
    written, excluded = (listed(side, field, *place) for field in ("ports", "notPorts"))
    numbered = any(not isinstance(port, str) or port[:1].isdigit() for port in (*written, *excluded))
    if (written or excluded) and (protocol not in PROTOCOLS) and (protocol is not None or numbered):
        if is_symbolic(protocol):
            return (PortSpec("", certain=False),)
        raise UnacceptableError("ports need `protocol: TCP`, UDP or SCTP", *place, "ports" if written else "notPorts")
    if is_symbolic(protocol):
        return (PortSpec("", certain=False),)
    meant = [protocol] if protocol is not None else [each for each in PROTOCOLS if each != refused]
    meant = [each for each in meant if each in PROTOCOLS]
    if not written and not excluded:
        return None if protocol is None and refused not in PROTOCOLS else tuple(map(PortSpec, meant))
    if not excluded:
        return tuple(spec for each in meant for spec in _specs(written, each, (*place, "ports")))
    stated = _specs(written, meant[0], (*place, "ports")) if written else [PortSpec(meant[0])]
    left = [(spec.low, spec.high) for spec in stated]
    for spec in _specs(excluded, meant[0], (*place, "notPorts")):
        if spec.name or not spec.certain:
            return (PortSpec(meant[0], certain=False),)
        cut = [part for low, high in left for part in ((low, min(high, spec.low - 1)), (max(low, spec.high + 1), high))]
        left = [(low, high) for low, high in cut if low <= high]
    return tuple(PortSpec(each, *part) for each in meant for part in left)


def _specs(written: Iterable[Any], protocol: str, place: Pointer) -> list[PortSpec]:
    """Return ports as they are listed: numbers, ranges (`8000:8080`), names."""
    found = []
    for number, port in enumerate(written):
        if is_symbolic(port):
            found.append(PortSpec(protocol, certain=False))
            continue
        low, colon, high = text(port).partition(":")
        first, last = (
            (whole_number(low), whole_number(high if colon else low)) if isinstance(port, str) else (port, port)
        )
        if first is None and not colon and low:
            found.append(PortSpec(protocol, name=low))
            continue
        first = whole(first, 1, LAST, *place, number)
        found.append(PortSpec(protocol, first, whole(last, first, LAST, *place, number)))
    return found


def _protocol(value: object, *pointer: str | int) -> str | None:
    """Return a protocol by name, one that policies here do not know as it is written; None for none."""
    if value is None or is_symbolic(value):
        return value if value is None else text(value)
    number = whole_number(value) if isinstance(value, str) else value
    if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 256:
        return _NUMBERS.get(number, str(number))
    if value not in _PROTOCOLS:
        raise UnacceptableError(f"protocol: {value!r} is none of {', '.join(_PROTOCOLS)}", *pointer)
    return text(value)
