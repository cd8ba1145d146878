"""Network policies as written: subject, rules, peers and ports in one form for all kinds, before labels are looked up.

Reads NetworkPolicy (networking.k8s.io/v1) and the three kinds of policy.networking.k8s.io; cilium.py reads Cilium's.
What the API server would refuse is refused here, with the place: such a policy decides nothing.

Sources: Kubernetes API reference; pkg/apis/networking/validation; kubernetes-sigs/network-policy-api apis/v1alpha1,
apis/v1alpha2 and config/crd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.network.ports import LAST, PROTOCOLS, PortSpec
from policylint.spaces.addresses import Range, cidr
from policylint.spaces.predicates import EXPRESSION, Predicate

if TYPE_CHECKING:
    from policylint.matches import Term

Direction = Literal["ingress", "egress"]
DIRECTIONS: tuple[Direction, ...] = ("ingress", "egress")
_PEERS: tuple[tuple[Direction, str], ...] = (("ingress", "from"), ("egress", "to"))
Action = Literal["Allow", "Deny", "Pass"]
TOGETHER = "NetworkPolicy"
"""The tier of which the policies decide together, whatever they are called, and none of them before another."""
TIERS = {"Admin": 1_000, TOGETHER: 1_000_000, "Baseline": 10_000_000}
"""The tiers, by the rank in which they are asked: engines with tiers of their own put them before, between, behind."""
AMONG = 1_000
"""The priority of what decides together, where an engine orders policies of its own in the same tier."""
Selector = Mapping[str, Any]


class UnacceptableError(Exception):
    """The API server refuses the object.

    Args:
        reason: a clause for users.
        pointer: what it is about.
    """

    def __init__(self, reason: str, *pointer: str | int) -> None:
        super().__init__(reason)
        self.pointer: Pointer = pointer


class Pods(NamedTuple):
    """Pods by the labels of their namespaces and their own.

    Args:
        home: the namespace to which the selection is limited, None for all.
        family: core, cluster or identities: what holds for pods on their node's network differs; of `unread` pods it
            is not known which are meant.
        beside: the Entity that it means beside pods, "" for none.
    """

    home: str | None
    namespaces: Selector
    pods: Selector
    family: str = "core"
    beside: str = ""

    @property
    def are_all(self) -> bool:
        """Whether every pod of every namespace is meant."""
        return self.home is None and not any(self.namespaces.values()) and not any(self.pods.values())


class Block(NamedTuple):
    """Addresses: pods', too, if of a `cluster` network, perhaps if of `core`, never if of `identities`."""

    cidr: str
    excepted: tuple[str, ...] = ()
    family: str = "core"


class HostNames(NamedTuple):
    """Hosts by their names, of which the plugin learns the addresses.

    Args:
        taken: which names; `loosely` where releases differ in that.
        by_proxy: whether it learns them from the answers that pass its rules for DNS alone.
    """

    taken: Predicate
    loosely: bool = False
    by_proxy: bool = False


class Entity(NamedTuple):
    """One of the fixed peers: everything, nodes, a plugin's entity, or nobody; `unknown` may be anything outside."""

    name: str


Peer = Pods | Block | Entity | HostNames
ANYBODY = Entity("everything")
LABELS = "[-a-z0-9_]+([.][-a-z0-9_]+){0,}"
"""One label or more of a host's name."""
DNS, TLS_NAME = "dns", "tls"
"""What conditions on the name that is asked for, and on that of the server in TLS, are called."""


class RuleSpec(NamedTuple):
    """One rule of a policy.

    Args:
        position: its index in the policy's list.
        peers: alternatives, each a tuple of what must all match, with its pointer below the rule; of an empty tuple
            none matches.
        ports: alternatives; None for all.
        pointer: of the rule in the object.
        calls: which requests it takes on the ports that it allows, as alternatives of which all conditions must hold;
            None for all of them.
        doubt: why it is not certain that the rule does what is written, "" when it is.
        reads: how it sees requests: off the `wire`, where TLS hides them; behind the `proxy` of a mesh, whose TLS ends
            before it; or by reading or ending TLS `itself`.
    """

    direction: Direction
    position: int
    action: Action
    peers: tuple[tuple[tuple[Peer, ...], Pointer], ...]
    ports: tuple[PortSpec, ...] | None
    pointer: Pointer
    name: str = ""
    calls: tuple[tuple[Term, ...], ...] | None = None
    doubt: str = ""
    reads: Literal["wire", "proxy", "itself"] = "wire"


class PolicySpec(NamedTuple):
    """One policy.

    Args:
        priority: lower numbers decide first; 0 where a tier has none.
        rank: of a tier that `TIERS` does not have.
        after: what orders policies of one priority, "" where nothing does.
        subject: None for a policy that is refused.
        isolates: the directions in which it closes its subjects to everything that no rule allows.
        refused: why the API server refuses it, "" if it does not; `pointer` says where.
    """

    resource: Resource
    tier: str
    priority: float
    subject: Peer | None
    rules: tuple[RuleSpec, ...] = ()
    isolates: frozenset[Direction] = frozenset()
    refused: str = ""
    pointer: Pointer = ()
    rank: float = 0
    after: str = ""

    @property
    def key(self) -> ResourceKey:
        return self.resource.key

    @property
    def turn(self) -> float:
        """The rank of its tier."""
        return TIERS.get(self.tier, self.rank)

    @property
    def ways(self) -> frozenset[Direction]:
        """The directions that it says anything about."""
        return self.isolates | {rule.direction for rule in self.rules}

    @property
    def subject_text(self) -> str:
        """Its subject as text, which tells the policies of one object apart."""
        return repr(self.subject)


def read_policy(resource: Resource, read: Callable[[Resource], PolicySpec]) -> PolicySpec:
    """Return a policy as its reader has it, or as refused."""
    try:
        if not isinstance(resource.body.get("spec"), dict | None):
            raise UnacceptableError("spec is no mapping")
        return read(resource)
    except UnacceptableError as refusal:
        return PolicySpec(resource, "Admin", 0, None, refused=str(refusal), pointer=("spec", *refusal.pointer))


def network_policy(resource: Resource) -> PolicySpec:
    """Return a NetworkPolicy.

    Raises:
        UnacceptableError: the API server would not take it.
    """
    spec, home = resource.spec, resource.key.namespace
    types = listed(spec, "policyTypes")
    for number, name in enumerate(types):
        if name not in ("Ingress", "Egress"):
            raise UnacceptableError(f"policyTypes: {name!r} is neither Ingress nor Egress", "policyTypes", number)
    if not types:
        types = ["Ingress", "Egress"] if listed(spec, "egress") else ["Ingress"]
    isolates: frozenset[Direction] = frozenset(name for name in DIRECTIONS if name.capitalize() in types)
    rules = []
    for direction, field in _PEERS:
        for index, rule in enumerate(mappings(spec, direction)):
            pointer: Pointer = (direction, index)
            peers = [
                ((_core_peer(peer, home, (*pointer, field, number)),), (field, number))
                for number, peer in enumerate(mappings(rule, field, *pointer))
            ]
            ports = tuple(
                _core_port(port, (*pointer, "ports", number))
                for number, port in enumerate(listed(rule, "ports", *pointer))
            )
            if direction in isolates:
                anybody: tuple[tuple[tuple[Peer, ...], Pointer], ...] = (((ANYBODY,), ()),)
                whom = tuple(peers) or anybody
                rules.append(RuleSpec(direction, index, "Allow", whom, ports or None, ("spec", *pointer)))
    subject = Pods(home, {}, selector(spec.get("podSelector"), "podSelector"))
    return PolicySpec(resource, TOGETHER, 0, subject, tuple(rules), isolates)


def cluster_policy(resource: Resource) -> PolicySpec:
    """Return an AdminNetworkPolicy, BaselineAdminNetworkPolicy or ClusterNetworkPolicy.

    Raises:
        UnacceptableError: the API server would not take it.
    """
    spec, kind = resource.spec, resource.key.kind
    tier: Any = {"AdminNetworkPolicy": "Admin", "BaselineAdminNetworkPolicy": "Baseline"}.get(kind)
    old = tier is not None
    if not old:
        tier = spec.get("tier")
        if tier not in ("Admin", "Baseline"):
            raise UnacceptableError(f"tier: {tier!r} is neither Admin nor Baseline", "tier")
    priority = 0
    if kind == "BaselineAdminNetworkPolicy":
        if resource.key.name != "default":
            raise UnacceptableError("the only BaselineAdminNetworkPolicy is called `default`")
    else:
        priority = whole(spec.get("priority"), 0, 1000, "priority")
    allow = "Allow" if old else "Accept"
    actions: dict[Any, Action] = {allow: "Allow", "Deny": "Deny"}
    if kind != "BaselineAdminNetworkPolicy":
        actions["Pass"] = "Pass"
    subject = _cluster_pods(one_of(spec.get("subject"), ("namespaces", "pods"), "subject"), old, "subject")
    rules = []
    for direction, field in _PEERS:
        for index, rule in enumerate(mappings(spec, direction)):
            action = rule.get("action")
            if not isinstance(action, str) or action not in actions:
                raise UnacceptableError(
                    f"action: {action!r} is none of {', '.join(actions)}", direction, index, "action"
                )
            peers = list(_cluster_peers(rule, direction, index, field, old))
            ports = _cluster_ports(rule, old, direction, index)
            named = ports is not None and any(port.name for port in ports)
            if named and direction == "egress":
                # A name means nothing for addresses and nodes; the standard CRD takes it all the same.
                peers = [peer for peer in peers if all(isinstance(part, Pods) for part in peer[0])]
            place, name = ("spec", direction, index), text(rule.get("name"))
            rules.append(RuleSpec(direction, index, actions[action], tuple(peers), ports, place, name))
    return PolicySpec(resource, tier, priority, subject, tuple(rules))


def _core_peer(peer: Mapping[str, Any], home: str, pointer: Pointer) -> Peer:
    block, namespaces, pods = peer.get("ipBlock"), peer.get("namespaceSelector"), peer.get("podSelector")
    if block is not None:
        if namespaces is not None or pods is not None:
            raise UnacceptableError("ipBlock cannot stand with a selector", *pointer)
        return _block(block, (*pointer, "ipBlock"))
    if namespaces is None and pods is None:
        raise UnacceptableError("a peer needs podSelector, namespaceSelector or ipBlock", *pointer)
    by_name = selector(pods, *pointer, "podSelector")
    if namespaces is None:
        return Pods(home, {}, by_name)
    return Pods(None, selector(namespaces, *pointer, "namespaceSelector"), by_name)


def _block(value: object, pointer: Pointer) -> Block:
    if not isinstance(value, dict):
        raise UnacceptableError("ipBlock is no mapping", *pointer)
    around = address_range(value.get("cidr"), *pointer, "cidr")
    excepted = listed(value, "except", *pointer)
    for number, exception in enumerate(excepted):
        inner = address_range(exception, *pointer, "except", number)
        if around and inner and not (around.low <= inner.low and inner.high <= around.high and around != inner):
            raise UnacceptableError(f"{exception} is no part of {value['cidr']}", *pointer, "except", number)
    return Block(text(value.get("cidr")), tuple(map(text, excepted)))


def _core_port(port: object, pointer: Pointer) -> PortSpec:
    if is_symbolic(port):  # the rule's peers stand, whatever it is
        return PortSpec(certain=False)
    if port is not None and not isinstance(port, dict):
        raise UnacceptableError(f"ports: {port!r} is no mapping", *pointer)
    port = mapping(port)
    protocol = protocol_of(port.get("protocol"), *pointer)
    number, end = port.get("port"), port.get("endPort")
    if isinstance(number, str) and not is_symbolic(number):
        if end is not None:
            raise UnacceptableError("endPort needs a port that is a number", *pointer, "endPort")
        if not is_port_name(number):
            raise UnacceptableError(
                f"port: {number!r} is no port name, which needs a letter and at most 15 characters", *pointer
            )
        return PortSpec(protocol, name=number)
    if number is None:
        if end is not None:
            raise UnacceptableError("endPort needs a port", *pointer, "endPort")
        return PortSpec(protocol)
    if is_symbolic(number) or is_symbolic(end):
        return PortSpec(protocol, certain=False)
    low = whole(number, 1, LAST, *pointer, "port")
    return PortSpec(protocol, low, low if end is None else whole(end, low, LAST, *pointer, "endPort"))


def _cluster_peers(
    rule: Mapping[str, Any], direction: str, index: int, field: str, old: bool
) -> Iterator[tuple[tuple[Peer, ...], Pointer]]:
    written = mappings(rule, field, direction, index)
    if not written:
        raise UnacceptableError(f"{field}: at least one peer is needed", direction, index, field)
    kinds = (
        ("namespaces", "pods") if direction == "ingress" else ("namespaces", "pods", "networks", "nodes", "domainNames")
    )
    for number, peer in enumerate(written):
        place = (direction, index, field, number)
        kind, value = one_of(peer, kinds, *place)
        if kind in ("namespaces", "pods"):
            yield (_cluster_pods((kind, value), old, *place),), (field, number)
        elif kind == "networks":
            for position, network in enumerate(sequence(value)):
                address_range(network, *place, kind, position)
                yield (Block(text(network), family="cluster"),), (field, number, kind, position)
        elif kind == "nodes":
            yield (Entity("some nodes"),), (field, number)
        else:
            for position, name in enumerate(texts(value)):
                yield (HostNames(host_named(name)),), (field, number, kind, position)


def host_named(name: str, *stars: tuple[str, str]) -> Predicate:
    """Return which names of hosts a pattern takes; by default a `*` in it stands for one label or more.

    Args:
        stars: what stands for which expression, the longest one first.
    """
    name = name.strip().lower().rstrip(".")
    if "*" not in name:
        return Predicate("Exact", name)
    name = name.replace(".", "[.]")
    for star, stands_for in stars or (("*", LABELS),):
        name = name.replace(star, stands_for)
    return Predicate(EXPRESSION, name)


def _cluster_pods(chosen: tuple[str, object], old: bool, *pointer: str | int) -> Pods:
    kind, value = chosen
    place = (*pointer, kind)
    if kind == "namespaces":
        return Pods(None, selector(value, *place), {}, "cluster")
    pods = value if isinstance(value, dict) else {}
    if not old and pods.get("podSelector") is None:
        raise UnacceptableError("podSelector is required", *place)
    namespaces = selector(pods.get("namespaceSelector"), *place, "namespaceSelector")
    return Pods(None, namespaces, selector(pods.get("podSelector"), *place, "podSelector"), "cluster")


def _cluster_ports(rule: Mapping[str, Any], old: bool, *pointer: str | int) -> tuple[PortSpec, ...] | None:
    field = "ports" if old else "protocols"
    if rule.get(field) is None:
        return None
    read = _old_port if old else _port
    return tuple(read(port, (*pointer, field, number)) for number, port in enumerate(mappings(rule, field, *pointer)))


def _old_port(port: Mapping[str, Any], pointer: Pointer) -> PortSpec:
    kind, value = one_of(port, ("portNumber", "portRange", "namedPort"), *pointer)
    place = (*pointer, kind)
    if kind == "namedPort":
        return PortSpec(name=_name(value, *place))
    ports = value if isinstance(value, dict) else {}
    protocol = protocol_of(ports.get("protocol"), *place)
    if kind == "portNumber":
        number = whole(ports.get("port"), 1, LAST, *place, "port")
        return PortSpec(protocol, number, number)
    start = whole(ports.get("start"), 1, LAST, *place, "start")
    return PortSpec(protocol, start, whole(ports.get("end"), start, LAST, *place, "end"))


def _port(port: Mapping[str, Any], pointer: Pointer) -> PortSpec:
    kind, value = one_of(port, ("tcp", "udp", "sctp", "destinationNamedPort"), *pointer)
    place = (*pointer, kind)
    if kind == "destinationNamedPort":
        return PortSpec(name=_name(value, *place))
    protocol = kind.upper()
    _, chosen = one_of(value, ("destinationPort",), *place)
    kind, ports = one_of(chosen, ("number", "range"), *place, "destinationPort")
    place = (*place, "destinationPort", kind)
    if kind == "number":
        number = whole(ports, 1, LAST, *place)
        return PortSpec(protocol, number, number)
    bounds = ports if isinstance(ports, dict) else {}
    start = whole(bounds.get("start"), 1, LAST, *place, "start")
    return PortSpec(protocol, start, whole(bounds.get("end"), start + 1, LAST, *place, "end"))


def _name(value: object, *pointer: str | int) -> str:
    if not isinstance(value, str) or not value:
        raise UnacceptableError(f"{value!r} is no port name", *pointer)
    return value


def mappings(holder: Mapping[str, Any], field: str, *pointer: str | int) -> list[Mapping[str, Any]]:
    """Return a list of mappings, empty where the field is absent or null.

    Raises:
        UnacceptableError: it is no list, or an entry is no mapping (null stands for an empty one).
    """
    entries: list[Mapping[str, Any]] = []
    for number, entry in enumerate(listed(holder, field, *pointer)):
        if entry is not None and not isinstance(entry, dict):
            raise UnacceptableError(f"{field}: {entry!r} is no mapping", *pointer, field, number)
        entries.append(entry or {})
    return entries


def listed(holder: Mapping[str, Any], field: str, *pointer: str | int) -> list[Any]:
    """Return a list, empty where the field is absent or null.

    Raises:
        UnacceptableError: it is something else.
    """
    value = holder.get(field)
    if value is None:
        return []
    if is_symbolic(value):  # for a whole list
        return [value]
    if not isinstance(value, list):
        raise UnacceptableError(f"{field}: a list is wanted", *pointer, field)
    return value


def one_of(value: object, fields: tuple[str, ...], *pointer: str | int) -> tuple[str, Any]:
    """Return the one field of a mapping that is set, with its value; fields that nobody knows are pruned.

    Raises:
        UnacceptableError: none is set, or several.
    """
    chosen = [field for field in fields if mapping(value).get(field) is not None]
    if len(chosen) != 1:
        raise UnacceptableError(f"exactly one of {', '.join(fields)} is needed", *pointer)
    return chosen[0], mapping(value)[chosen[0]]


def selector(value: object, *pointer: str | int) -> Selector:
    """Return a LabelSelector; an empty one for null, as it selects the same. A variable that stands for the whole or a
    part of it asks for a label of which nobody knows which.

    Raises:
        UnacceptableError: it is none.
    """
    if value is None:
        return {}
    if is_symbolic(value):
        return _unsaid(value)
    if not isinstance(value, dict):
        raise UnacceptableError("a selector is a mapping", *pointer)
    labels = value.get("matchLabels")
    if is_symbolic(labels):
        return selector({**value, **_unsaid(labels)}, *pointer)
    if labels is not None and not isinstance(labels, dict):
        raise UnacceptableError("matchLabels is a mapping", *pointer, "matchLabels")
    for name, label in (labels or {}).items():
        if not isinstance(label, str):
            raise UnacceptableError(
                f"matchLabels: the value of {name} is no text: {label!r}", *pointer, "matchLabels", name
            )
    written = listed(value, "matchExpressions", *pointer)
    settled = [_settled(each) for each in written]
    if written != settled:
        value = {**value, "matchExpressions": settled}
    for number, expression in enumerate(mappings(value, "matchExpressions", *pointer)):
        place = (*pointer, "matchExpressions", number)
        operator, values = expression.get("operator"), listed(expression, "values", *place)
        if not isinstance(expression.get("key"), str) or not expression["key"]:
            raise UnacceptableError("a requirement has a key", *place)
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise UnacceptableError(f"operator: {operator!r} is none of In, NotIn, Exists, DoesNotExist", *place)
        if (operator in ("In", "NotIn")) != bool(values):
            raise UnacceptableError(f"{operator} {'needs values' if not values else 'takes no values'}", *place)
        if any(not isinstance(entry, str) for entry in values):
            raise UnacceptableError("values are texts", *place, "values")
    return value


def _unsaid(variable: object) -> Selector:
    return {"matchLabels": {variable: variable}}


def _settled(expression: object) -> object:
    """Return a requirement; where a variable stands for it or for its operator, one that may ask for any label."""
    written = mapping(expression)
    if is_symbolic(written.get("values")):
        expression = {**written, "values": [written["values"]]}
    variable = next(filter(is_symbolic, (expression, written.get("operator"))), None)
    return expression if variable is None else {"key": variable, "operator": "Exists"}


def whole(value: object, least: int, most: int, *pointer: str | int) -> int:
    """Return a whole number.

    Raises:
        UnacceptableError: it is none, or out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnacceptableError(f"{pointer[-1]}: {value!r} is no whole number", *pointer)
    if not least <= value <= most:
        raise UnacceptableError(f"{pointer[-1]}: {value} is not between {least} and {most}", *pointer)
    return value


def protocol_of(value: object, *pointer: str | int) -> str:
    """Return a protocol, TCP where none is given.

    Raises:
        UnacceptableError: it is none that policies know.
    """
    if value is None:
        return "TCP"
    if not isinstance(value, str) or value not in PROTOCOLS:
        raise UnacceptableError(f"protocol: {value!r} is none of {', '.join(PROTOCOLS)}", *pointer, "protocol")
    return value


def address_range(value: object, *pointer: str | int) -> Range | None:
    """Return the addresses of a CIDR, None where a variable stands for it.

    Raises:
        UnacceptableError: it is no CIDR.
    """
    if is_symbolic(value):
        return None
    found = cidr(value) if isinstance(value, str) else None
    if found is None:
        raise UnacceptableError(f"{'null' if value is None else repr(value)} is no CIDR", *pointer)
    return found


def is_port_name(name: str) -> bool:
    """Return whether a text is an IANA service name, as Kubernetes demands of port names (RFC 6335, section 5.1)."""
    bare = name.replace("-", "")
    return (
        len(name) <= 15
        and bare.isascii()
        and bare.isalnum()
        and bare == bare.lower()
        and not bare.isdigit()
        and "--" not in name
        and not name.startswith("-")
        and not name.endswith("-")
    )
