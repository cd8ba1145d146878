"""Cilium's network policies: layers 3 and 4, and which requests its rules for HTTP take.

A policy that Cilium's own validation refuses is enforced on no node, although the API server takes it.

Sources: docs.cilium.io, «Layer 3 Policies», «Deny Policies», «Policy Enforcement Modes», «Using Kubernetes Constructs
In Policy», «Ingress and Network Policy Example»; cilium/cilium pkg/policy/api/{ingress,egress,rule,rule_validation}.go
(the checks that all releases share), pkg/k8s/apis/cilium.io/utils/utils.go (which namespace a selector is limited to).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, cast

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.matches import CHANCE, FOREIGN, Term
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.selectors import matches
from policylint.network.cilium import (
    AUTHENTICATED,
    CLUSTER,
    NAMESPACE,
    NAMESPACE_LABELS,
    NOTHING,
    UNPROVEN,
    bare,
    is_unknown,
    may_be_pods,
)
from policylint.network.cilium_installed import installed
from policylint.network.ports import LAST, PROTOCOLS, PortSpec
from policylint.network.rules import (
    ANYBODY,
    DIRECTIONS,
    DNS,
    LABELS,
    TLS_NAME,
    TOGETHER,
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
    is_port_name,
    listed,
    mappings,
    selector,
    whole,
)
from policylint.patterns import Pattern
from policylint.spaces.addresses import cidr, network_of, number_of
from policylint.spaces.predicates import EXPRESSION, Predicate
from policylint.spaces.samples import literal

ENTITIES = (
    "all",
    "world",
    "world-ipv4",
    "world-ipv6",
    "cluster",
    "host",
    "remote-node",
    "kube-apiserver",
    "ingress",
    "init",
    "health",
    "unmanaged",
    "none",
)
_NAME = "kubernetes.io/metadata.name"
_MEMBERS = ("Endpoints", "Entities", "CIDR", "CIDRSet", "Nodes", "Groups", "FQDNs", "Services", "Requires")
_OTHER_PROTOCOLS = ("ICMP", "ICMPv6", "IGMP", "VRRP")
_SECTIONS = ("ingress", "ingressDeny", "egress", "egressDeny")
_MOST_PORTS = 40
_POSITIVE = ("In", "Exists")
_RESERVED = ("reserved:", "reserved.")
_OF_GATEWAYS = "reserved:ingress"
"""The only label of the identity of Cilium's Gateways, which has no namespace either."""
_ODD = Pattern(r"[^-\w.*]")
"""What no pattern for names of hosts has (pkg/policy/api/fqdn.go; cilium/cilium#31031)."""
_STARS = (("**", LABELS), ("*", "[-a-z0-9_]*"))
"""What stars in the names of hosts stand for; those of DNS know `**` at their beginning alone."""
_FAILING = "test-always-fail"
"""The mode by which nobody passes: pkg/auth/always_fail_authhandler.go."""


class _WorldAskedError(Exception):
    """What a policy means hangs on other objects."""


class _NoWorld:
    """A world that nobody may ask."""

    def __getattr__(self, name: str) -> NoReturn:
        raise _WorldAskedError(name)


def policies(resource: Resource, world: World) -> Iterable[PolicySpec]:
    """Return the policies of one object: its `spec`, and each of its `specs`; `world` holds what some of them name, and
    the settings of Cilium. The others are read once for all environments that share the object."""
    own = resource.once(_of_object) if resource.answers is not None else None
    return own if own is not None else _policies(resource, world)


def _of_object(resource: Resource) -> Sequence[PolicySpec] | None:
    """Return the policies of an object; None where one asks what else there is."""
    try:
        return [*_policies(resource, cast("World", _NoWorld()))]
    except _WorldAskedError:
        return None


def _policies(resource: Resource, world: World) -> Iterator[PolicySpec]:
    specs: list[tuple[Pointer, object]] = []
    if resource.body.get("spec") is not None:
        specs.append((("spec",), resource.body["spec"]))
    specs += [(("specs", number), spec) for number, spec in enumerate(sequence(resource.body.get("specs")))]
    found: list[PolicySpec] = []
    for place, spec in specs or [(("spec",), None)]:
        try:
            if not isinstance(spec, dict):
                raise UnacceptableError("a policy has a spec")
            if len(specs) > 1 and not any(spec.get(field) for field in _SECTIONS):
                raise UnacceptableError("one of several specs has no rule, for which Cilium 1.18 refuses them all")
            found.append(_policy(resource, spec, place, world))
        except UnacceptableError as refusal:  # of one spec: Cilium takes none of an object then
            yield PolicySpec(resource, TOGETHER, 0, None, refused=str(refusal), pointer=(*place, *refusal.pointer))
            return
    yield from found


def _policy(resource: Resource, spec: Mapping[str, Any], place: Pointer, world: World) -> PolicySpec:
    home = None if resource.key.kind == "CiliumClusterwideNetworkPolicy" else resource.key.namespace or None
    subject = _subject(spec, home)
    rules: list[RuleSpec] = []
    isolates: set[Direction] = set()
    for direction in DIRECTIONS:
        for field in (direction, f"{direction}Deny"):
            for index, rule in enumerate(mappings(spec, field)):
                isolates.add(direction)
                for each in _rules(rule, direction, field, index, home, place, world):
                    proof = _proof(rule) if each.action == "Allow" else ""
                    rules += _authenticated(each, world, proof) if proof else [each]
    closing = mapping(spec.get("enableDefaultDeny"))
    isolating = frozenset(direction for direction in isolates if closing.get(direction) is not False)
    return PolicySpec(resource, TOGETHER, 0, subject, tuple(rules), isolating)


def _subject(spec: Mapping[str, Any], home: str | None) -> Peer:
    chosen = [name for name in ("endpointSelector", "nodeSelector") if spec.get(name) is not None]
    if len(chosen) != 1:
        many = "not both" if chosen else "and has none"
        raise UnacceptableError(f"a policy of Cilium needs an endpointSelector or a nodeSelector, {many}", *chosen[:1])
    if chosen == ["endpointSelector"]:
        return endpoints(spec["endpointSelector"], home, *chosen, is_subject=True)
    if home is not None:
        raise UnacceptableError("only a CiliumClusterwideNetworkPolicy may have a nodeSelector", *chosen)
    selector(spec["nodeSelector"], *chosen)
    return Entity("some nodes")


def _rules(
    rule: Mapping[str, Any],
    direction: Direction,
    field: str,
    index: int,
    home: str | None,
    place: Pointer,
    world: World,
) -> Iterator[RuleSpec]:
    prefix = "from" if direction == "ingress" else "to"
    pointer = (*place, field, index)
    members = [f"{prefix}{member}" for member in _MEMBERS if rule.get(f"{prefix}{member}") is not None]
    if field == "egressDeny" and rule.get("toFQDNs"):
        raise UnacceptableError("egressDeny has no toFQDNs: Cilium refuses nothing by name", field, index, "toFQDNs")
    combined = [member for member in members if rule[member] and not member.endswith("Requires")]
    if len(combined) > 1:
        raise UnacceptableError(
            f"Cilium does not combine {combined[0]} and {combined[1]} in one rule: write two rules",
            field,
            index,
            combined[1],
        )
    alternatives: list[tuple[tuple[Peer, ...], Pointer]] = [((), ())]
    for member in members:
        peers = list(_peers(rule, member, prefix, home, (field, index), world))
        alternatives = [((*left, peer), (*above, *below)) for left, above in alternatives for peer, below in peers]
        if len(alternatives) > 10_000:
            raise UnacceptableError("the lists of one rule combine to more than 10,000 peers", field, index)
    stated = bool(members) or any(rule.get(name) for name in ("toPorts", "icmps"))
    if not members:
        alternatives = [((ANYBODY,), ())] if stated else []
    action = "Deny" if field.endswith("Deny") else "Allow"
    name = field if action == "Deny" else ""
    doubt = "" if stated else NOTHING
    groups = mappings(rule, "toPorts", field, index)
    if groups and rule.get("icmps"):
        raise UnacceptableError("Cilium does not combine icmps and toPorts in one rule", field, index, "icmps")
    if not groups:
        ports = () if rule.get("icmps") is not None else None
        yield RuleSpec(direction, index, action, tuple(alternatives), ports, pointer, name, doubt=doubt)  # type: ignore[arg-type]
    for number, group in enumerate(groups):
        where = (field, index, "toPorts", number)
        reads: Any = "itself" if any(map(group.get, ("terminatingTLS", "originatingTLS", "serverNames"))) else "wire"
        stated_ports, calls = _group(group, direction, where), _calls(group)
        yield RuleSpec(direction, index, action, tuple(alternatives), stated_ports, pointer, name, calls, doubt, reads)  # type: ignore[arg-type]


def _proof(rule: Mapping[str, Any]) -> str:
    """Return in which way a rule has who connects prove who it is, "" where it asks for nothing."""
    mode = text(mapping(rule.get("authentication")).get("mode"))
    return mode if mode in ("required", _FAILING) else ""


def _authenticated(rule: RuleSpec, world: World, mode: str) -> Iterator[RuleSpec]:
    """Yield a rule that lets through who proves who it is, and what it cuts: whoever cannot.

    Pods can where Cilium has SPIRE; what has no identity of its own (nodes, addresses, Cilium's Gateways) never can.
    Source: cilium/cilium pkg/auth/manager.go, bpf/lib/auth.h; #29400; values.yaml, `authentication`.
    """
    settings = list(installed(world))
    proving = any(each.authenticates for each in settings)
    if mode == _FAILING:
        yield rule._replace(action="Deny", name=AUTHENTICATED, calls=None)
        return
    cannot = "what has no identity" if proving or not settings or not all(each.is_whole for each in settings) else "all"
    cut, doubtful = (
        tuple(((*peers, Entity(beside)), pointer) for peers, pointer in rule.peers if peers)
        for beside in (cannot, "unread")
    )
    yield rule._replace(action="Deny", peers=cut, name=AUTHENTICATED, calls=None)
    if cannot != "all" and any(may_be_pods(peer) for peers, _ in rule.peers for peer in peers):
        yield rule if proving else rule._replace(peers=doubtful, doubt=UNPROVEN)


def _group(group: Mapping[str, Any], direction: Direction, where: Pointer) -> tuple[PortSpec, ...] | None:
    """Return the ports of an entry of toPorts; None for all, where it lists none."""
    written = mappings(group, "ports", *where)
    for name in ("port", "protocol"):
        if group.get(name) is not None:
            raise UnacceptableError(f"toPorts: {name} stands in an entry of `ports`", *where, name)
    if len(written) > _MOST_PORTS:
        raise UnacceptableError(f"ports: {len(written)} are more than {_MOST_PORTS}", *where, "ports")
    of_l7 = [name for name, value in mapping(group.get("rules")).items() if value]
    if direction == "ingress" and "dns" in of_l7:
        raise UnacceptableError("DNS rules are for egress only", *where, "rules", "dns")
    if "dns" in of_l7 and not written:
        raise UnacceptableError("DNS rules need a port", *where, "rules", "dns")
    if of_l7 and group.get("serverNames") and not group.get("terminatingTLS"):
        raise UnacceptableError("serverNames and L7 rules go together only with terminatingTLS", *where, "serverNames")
    ports = []
    for number, port in enumerate(written):
        place = (*where, "ports", number)
        spec = _port(port, place)
        if of_l7 and of_l7 != ["dns"] and not is_symbolic(port.get("protocol")) and port.get("protocol") != "TCP":
            raise UnacceptableError(f"L7 rules ({of_l7[0]}) need ports with `protocol: TCP`", *place)
        ports += [spec] if spec is not None else []
    return tuple(ports) if written else None


def _calls(group: Mapping[str, Any]) -> tuple[tuple[Term, ...], ...] | None:
    """Return which requests an entry of toPorts takes, None for all: those that one of its rules for HTTP takes whole.

    Source: cilium/cilium pkg/envoy (getHTTPRule): expressions take the whole value, that of `path` with its query; a
    header with a mismatch action is mended, and turns nothing away. cilium/proxy cilium/network_policy.cc: a connection
    gets through with one of the server names, and none without TLS does.
    """
    rules = {name: value for name, value in mapping(group.get("rules")).items() if value}
    names = texts(group.get("serverNames"))
    if set(rules) == {"dns"}:
        asked = [named for entry in sequence(rules["dns"]) for named in _named(mapping(entry))]
        return tuple((Term(DNS, each.taken, "names", CHANCE if each.loosely else FOREIGN),) for each in asked)
    if names and not rules:
        patterns = ((name, host_named(name, *(() if name == "*" else _STARS))) for name in names)
        return tuple((Term(TLS_NAME, taken, f"TLS for {name}"),) for name, taken in patterns)
    if not rules:
        return None
    if set(rules) != {"http"} or names:
        return ((Term("path", Predicate(EXPRESSION, ".*"), "what is no rule for HTTP", FOREIGN),),)
    return tuple(tuple(_conditions(mapping(entry))) for entry in sequence(rules["http"]))


def _conditions(entry: Mapping[str, Any]) -> Iterator[Term]:
    for field in ("method", "path", "host"):
        value = text(entry.get(field))
        if not value or value == ".*" or (field == "path" and value == "/.*"):
            continue
        if literal(value) is None:
            yield Term(field, Predicate(EXPRESSION, value), f"{field} ~ {value}")
        else:
            yield Term(field, Predicate("Exact", text(literal(value))), f"{field} {literal(value)}")
    for header in texts(entry.get("headers")):
        name, blank, value = header.partition(" ")
        yield _header(name.rstrip(":") if blank else name, value)
    for entry_of in map(mapping, sequence(entry.get("headerMatches"))):
        if not entry_of.get("mismatch"):
            fault = FOREIGN if entry_of.get("secret") else ""
            yield _header(text(entry_of.get("name")), text(entry_of.get("value")))._replace(fault=fault)


def _header(name: str, value: str) -> Term:
    wanted = Predicate("Exact", value) if value else Predicate("Present")
    return Term(f"header {name.lower()}", wanted, f"header {name}: {value}" if value else f"header {name}")


def _peers(
    rule: Mapping[str, Any], member: str, prefix: str, home: str | None, place: Pointer, world: World
) -> Iterator[tuple[Peer, Pointer]]:
    for number, value in enumerate(listed(rule, member, *place)):
        below: Pointer = (member, number)
        match member.removeprefix(prefix):
            case "Endpoints":
                yield endpoints(value, home, *place, *below), below
            case "Entities":
                if value not in ENTITIES and not is_symbolic(value):
                    raise UnacceptableError(f"{value!r} is no entity of Cilium", *place, *below)
                yield Entity(value if value in ENTITIES else "unread"), below
            case "CIDR":
                one = isinstance(value, str) and "/" not in value and number_of(value) is not None
                block = network_of(value) if one else value  # Cilium takes an address, too
                address_range(block, *place, *below)
                yield Block(text(block), (), "identities"), below
            case "CIDRSet":
                for block in _cidr_set(mapping(value), (*place, *below), world):
                    yield block, below
            case "Nodes":
                settings = list(installed(world))
                if settings and all(each.is_whole and not each.knows_nodes for each in settings):
                    raise UnacceptableError("Cilium takes it with `nodeSelectorLabels: true` alone", *place, member)
                yield Entity("some nodes"), below
            case "FQDNs":
                if odd := _ODD.search(text(mapping(value).get("matchPattern"))):
                    why = f"matchPattern: {odd[0]!r} is neither a letter, a digit, `-`, `_`, `.` nor `*`"
                    raise UnacceptableError(why, *place, *below, "matchPattern")
                for named in _named(mapping(value)):
                    yield named, below
            case "Services":
                for pods in _behind(mapping(value), (*place, *below), world):
                    yield pods, below
            case _:
                yield Entity("names"), below


def _named(entry: Mapping[str, Any]) -> Iterator[HostNames]:
    """Yield which names an entry takes: a `*` stands within one label, alone for all, `**.` for several since 1.20.

    Source: cilium/cilium pkg/fqdn/matchpattern; cilium/cilium#43420.
    """
    pattern = text(entry.get("matchPattern")).strip()
    if pattern == "*":
        yield HostNames(Predicate("Present"), by_proxy=True)
        return
    yield HostNames(host_named(text(entry.get("matchName")) or pattern, *_STARS[1:]), by_proxy=True)
    if pattern.startswith("**."):
        yield HostNames(host_named(pattern, *_STARS), loosely=True, by_proxy=True)


def _behind(entry: Mapping[str, Any], place: Pointer, world: World) -> Iterator[Peer]:
    """Yield the pods behind the Services that an entry of toServices means, by their selectors.

    Without a namespace it means those of all. Source: cilium/cilium pkg/policy/k8s/service.go; docs.cilium.io,
    «Services based»: of a Service without selector, such as `kubernetes`, it means the addresses of its EndpointSlices.
    """
    chosen, named = mapping(entry.get("k8sServiceSelector")), mapping(entry.get("k8sService"))
    wanted, home = selector(chosen.get("selector"), *place), text((chosen or named).get("namespace"))
    meant = [
        service
        for service in world.of_kind("", "Service")
        if home in ("", service.key.namespace)
        and (matches(wanted, service.labels) if chosen else service.key.name == named.get("serviceName"))
    ]
    selecting = [each for each in meant if mapping(each.spec.get("selector"))]
    for service in selecting:
        yield Pods(service.key.namespace, {}, {"matchLabels": mapping(service.spec["selector"])}, "identities")
    if named.get("serviceName") == "kubernetes" and home in ("", "default"):
        yield Entity("some nodes")
    elif len(selecting) < len(meant) or (world.partial and (chosen or not home or not meant)):
        yield Entity("services")


def _cidr_set(entry: Mapping[str, Any], place: Pointer, world: World) -> Iterator[Peer]:
    """Yield the addresses of an entry of a CIDRSet: its own, or those of the CiliumCIDRGroups that it names."""
    excepted = listed(entry, "except", *place)
    exceptions = tuple(map(text, excepted))
    inner = [address_range(exception, *place, "except", number) for number, exception in enumerate(excepted)]
    if entry.get("cidr") is not None:
        around = address_range(entry["cidr"], *place, "cidr")
        for number, part in enumerate(inner):
            if around and part and not around.low <= part.low < around.high:
                raise UnacceptableError(f"{exceptions[number]} is no part of {entry['cidr']}", *place, "except", number)
        yield Block(text(entry["cidr"]), exceptions, "identities")
        return
    chosen = entry.get("cidrGroupSelector")
    if chosen is None:
        named = world.get(ResourceKey("cilium.io", "CiliumCIDRGroup", "", text(entry.get("cidrGroupRef"))))
        groups, others = [named] if named is not None else [], named is None
    else:
        wanted = selector(chosen, *place, "cidrGroupSelector")
        of_world = world.of_kind("cilium.io", "CiliumCIDRGroup")
        groups, others = [group for group in of_world if matches(wanted, group.labels)], world.partial
    for group in groups:
        for external in texts(group.spec.get("externalCIDRs")):
            if cidr(external) is not None:
                yield Block(external, exceptions, "identities")
    if others:
        yield Entity("names")


def endpoints(value: object, home: str | None, *pointer: str | int, is_subject: bool = False) -> Peer:
    """Return the pods, or the reserved identity, that an EndpointSelector means.

    Args:
        home: the namespace of a CiliumNetworkPolicy, None for a CiliumClusterwideNetworkPolicy.
        is_subject: whether it says whom the policy selects: in its own namespace alone, or whatever Cilium manages.

    Raises:
        UnacceptableError: it is no selector.
    """
    written = selector(value, *pointer)
    wanted = mapping(written.get("matchLabels"))
    required = [mapping(expression) for expression in sequence(written.get("matchExpressions"))]
    positive = [*wanted, *(text(entry["key"]) for entry in required if entry["operator"] in _POSITIVE)]
    reserved = [key[9:] for key in positive if key.startswith(_RESERVED)]
    if is_subject and reserved and (home is not None or reserved != ["ingress"]):
        return Entity("none")  # a namespaced policy selects pods of its namespace; nodes have selectors of their own
    if reserved:
        return Entity(reserved[0] if reserved[0] in ENTITIES else "none")
    if any(map(is_unknown, positive)):
        return Entity("none")
    labels: dict[str, dict[str, Any]] = {"namespaces": {}, "pods": {}}
    expressions: dict[str, list[Any]] = {"namespaces": [], "pods": []}
    for label, content in wanted.items():
        if is_subject and home is not None and label in (f"k8s:{NAMESPACE}", f"k8s.{NAMESPACE}"):
            continue  # Cilium puts the policy's own namespace in its place
        axis, key = _axis(label)
        if key:
            labels[axis][key] = content
    for entry in required:
        axis, key = _axis(text(entry["key"]))
        if key and not key.startswith(_RESERVED):
            expressions[axis].append({**entry, "key": key})
    by_namespace, by_pod = (
        {"matchLabels": labels[axis], "matchExpressions": list(expressions[axis])} for axis in ("namespaces", "pods")
    )
    keys = {_axis(label) for label in (*wanted, *(text(entry["key"]) for entry in required))}
    says_where = any(axis == "namespaces" for axis, _ in keys)
    limited = home is not None and (is_subject or not says_where)
    beside = ""
    if is_subject:
        beside = "ingress" if home is None and _means_gateways(wanted, required) else ""
    elif says_where and (home is not None or ("namespaces", _NAME) in keys) and _means_gateways(wanted, required):
        beside = "perhaps what is no pod"  # it has no namespace, and so none of those that are excluded
    return Pods(home if limited else None, by_namespace, by_pod, "identities", beside)


def _means_gateways(wanted: Mapping[str, Any], required: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a selector means what has no label but that of Cilium's Gateways."""
    return not wanted and all(
        entry["operator"] not in _POSITIVE and f"reserved:{text(entry['key'])[9:]}" != _OF_GATEWAYS
        for entry in required
    )


def _axis(label: str) -> tuple[str, str]:
    """Return whose label a key of Cilium means, and that label's key; "" where it says nothing about pods."""
    key = bare(label)
    if key == NAMESPACE:
        return "namespaces", _NAME
    if key.startswith(NAMESPACE_LABELS):
        return "namespaces", key.removeprefix(NAMESPACE_LABELS)
    return "pods", "" if key == CLUSTER else key


def _port(port: Mapping[str, Any], pointer: Pointer) -> PortSpec | None:
    """Return a port, None for a protocol without ports."""
    protocol, value = port.get("protocol"), port.get("port")
    if is_symbolic(protocol) or is_symbolic(value) or is_symbolic(port.get("endPort")):
        return PortSpec(protocol if protocol in PROTOCOLS else "", certain=False)
    if protocol in _OTHER_PROTOCOLS:
        return None
    if protocol not in (*PROTOCOLS, None, "", "ANY"):
        raise UnacceptableError(f"protocol: {protocol!r} is none of ANY, {', '.join(PROTOCOLS)}", *pointer, "protocol")
    protocol = text(protocol) if protocol != "ANY" else ""
    if not isinstance(value, str) or not value:
        raise UnacceptableError(f"port: {value!r} is no text" if value is not None else "port is missing", *pointer)
    if (number := whole_number(value)) is None:
        if not is_port_name(value.lower()):
            raise UnacceptableError(f"port: {value!r} is neither a number nor a port name", *pointer, "port")
        return PortSpec(protocol, name=value.lower())
    if not number:
        return PortSpec(protocol)
    low = whole(number, 1, LAST, *pointer, "port")
    end = port.get("endPort")
    return PortSpec(protocol, low, low if end in (None, 0) else whole(end, low, LAST, *pointer, "endPort"))
