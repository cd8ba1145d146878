"""GWP304 for policies where nothing shows what they act on: each is judged where what it names is there.

They stand in files that nothing here deploys, in templates that are not rendered, or are for Gateways, routes and pods
of another repository. What is weaker in such a policy is weaker wherever it acts: both states of it are compared as
any others are, in a world of their own with what they name, and the finding says what was not seen.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from policylint.catalog.content import selectors_of
from policylint.catalog.weakenings import common_weaknesses
from policylint.checks.kit.locations import value_at
from policylint.compare.pairing import Sides, differs, is_policy
from policylint.compare.peers import RULE as PEERS
from policylint.compare.protection.anywhere import directed_changes, is_beside, said_beside
from policylint.compare.protection.cause import AffectedObjects, Cause, Weakened
from policylint.compare.protection.cause import finding as finding_of
from policylint.compare.protection.extensions import weakened
from policylint.compare.protection.spec import weakenings
from policylint.compare.protection.unjudged import NOT_JUDGED
from policylint.compare.protection.unseen import spec_of, weaker
from policylint.compare.texts import TextChanges
from policylint.compare.unknown import is_of_unseen, is_way_in, relabelled, undeployed, without_routes
from policylint.compare.unread import UnreadText, unread_changes
from policylint.digits import whole_number
from policylint.documents import read
from policylint.doors import with_doors
from policylint.load.objects import resources
from policylint.model import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    Finding,
    PolicyKind,
    Resource,
    ResourceKey,
    World,
    mapping,
)
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS as NETWORK_POLICIES
from policylint.network.ports import LAST
from policylint.network.rules import DIRECTIONS
from policylint.patterns import Pattern
from policylint.policy.content import content_references
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation, simulate
from policylint.topology import RouteState
from policylint.topology.workloads import is_workload

_MOST = 40
"""Policies of one change: each takes a simulation or two."""
_MOST_PORTS = 8
"""Ports of one policy at which requests are compared."""
_FILE = "what was not seen"
_ANY, _PLACE = "any-of-them", "some-namespace"
_ACTION = Pattern(r"\{\{.*?\}\}")
_BLOCK = Pattern(r"\s*(?:\{\{[^}]*\}\}\s*)+$")
_GATEWAY, _SERVICE, _NAMESPACE = (GATEWAY_GROUP, "Gateway"), ("", "Service"), ("", "Namespace")
_STAND_IN = Pattern(r"(\w+) [\w.-]+/any-of-them(?:-\d+)?\b")
"""What stands for what was not seen: an object, and its host in the mesh."""
_HOST = Pattern(r"any-of-them(?:-\d+)?\.[\w.-]+,? ")


class _Pair(NamedTuple):
    """One policy on both sides.

    Args:
        key: by which the row names it.
        ground: why it is judged apart.
        beside: what else acts at its targets on each side.
        names: what stands for the actions of a template in it.
    """

    key: ResourceKey
    was: Resource
    now: Resource | None
    ground: str
    beside: tuple[Sequence[Resource], Sequence[Resource]] = ((), ())
    names: Mapping[str, str] = {}


def assumed_weaker(
    sides: Sides, texts: TextChanges, worlds: Collection[World], told: Collection[ResourceKey], *, first: bool
) -> Iterator[Finding]:
    """Yield what is weaker in such policies, as far as they show it.

    Args:
        worlds: the environments of both sides.
        told: the policies of which something is said already.
        first: whether this is the first environment: what nothing deploys is told there.
    """
    pairs = [*_at_unseen_targets(sides), *(_beside(sides, texts, worlds) if first else ())]
    for pair in islice((each for each in pairs if each.was.key not in told), _MOST):
        judged = _weaker if _is_simulated(sides, pair.was.key) else _weaker_by_words
        yield from judged(sides, pair)


def _is_simulated(sides: Sides, key: ResourceKey) -> bool:
    return is_policy(sides.after.catalog, *key[:2]) or is_way_in(*key[:2])


def _at_unseen_targets(sides: Sides) -> Iterator[_Pair]:
    """Yield the policies that differ, or are gone, or whose namespace says something else of itself, with a target
    behind which nothing was seen."""
    spaces = {both[1].key.name: both for both in relabelled(sides)}
    for key, was in sides.before.policies.items():
        now = sides.after.policies.get(sides.pairing.key(key))
        around = spaces.get(key.namespace)
        if now is not None and around is None and not differs(was.policy, now.policy, sides.after.catalog):
            continue
        unseen = [(target.key, why) for target in was.targets if (why := _unseen(target, was, sides.before))]
        if was.invalid or not unseen:
            continue
        if now is None and not any(each.namespace == key.namespace for each in sides.after.world.resources):
            continue  # it went with all that was there
        targets = {target for target, _ in unseen}
        beside = _others(sides.before, key, targets), _others(sides.after, sides.pairing.key(key), targets)
        if around is not None:
            beside = [*beside[0], around[0]], [*beside[1], around[1]]
        now_policy = None if now is None else now.policy
        yield _Pair(key, was.policy, now_policy, unseen[0][1], beside)


def _unseen(target: Target, state: PolicyState, side: Simulation) -> str:
    """Return what was not seen of a target, "" where something was."""
    if target.resolution.unknown and not (target.nodes and state.groups):
        return target.resolution.reason
    if is_of_unseen(target, state, side):
        return f"no pods of {target.key} were seen"
    return next((f"no route of {gateway} was seen" for gateway in without_routes(target, side)), "")


def _others(side: Simulation, key: ResourceKey, targets: Collection[ResourceKey]) -> list[Resource]:
    states = (state for each, state in side.policies.items() if each != key)
    named = filter(None, map(side.world.get, targets))
    return [
        *(each for each in named if "podSelector" in each.spec),
        *(state.policy for state in states if any(target.key in targets for target in state.targets)),
    ]


def _beside(sides: Sides, texts: TextChanges, worlds: Collection[World]) -> Iterator[_Pair]:
    """Yield the policies that differ where nothing deploys them."""
    files = set()
    for key, was, now in undeployed(sides):
        files.add((was if now is None else now).document.file)
        if now is not None and _is_simulated(sides, key):
            yield _Pair(key, _placed(was), _placed(now), f"nothing here deploys {now.document.file}")
    for change in unread_changes(texts, worlds, sides.after.catalog):
        if change.now is not None and _is_judged(sides, change.was.key) and change.file not in files:
            names: dict[str, str] = {}
            old, new = (_read(text, change.file, names) for text in (change.was, change.now))
            if old is not None and new is not None:
                yield _Pair(change.was.key, old, new, change.why, names=names)


def _is_judged(sides: Sides, key: ResourceKey) -> bool:
    return _is_simulated(sides, key) or is_beside(sides, *key[:2])


def _placed(resource: Resource) -> Resource:
    """Return an object in some namespace where it is not known in which."""
    if not resource.key.unplaced:
        return resource
    key = resource.key._replace(namespace=_PLACE)
    return Resource(key, resource.version, resource.body, resource.document, resource.root, resource.sources)


def _read(text: UnreadText, file: str, names: dict[str, str]) -> Resource | None:
    """Return the object of a text, of a template with a name for each action: the same one stands for the same value.

    Args:
        names: to which those names are added, with the actions.
    """

    def name(action: Any) -> str:
        made = f"v-{hashlib.sha256(action[0].strip('{}- ').encode()).hexdigest()[:6]}"
        names[made] = action[0]
        return made

    lines = ("" if _BLOCK.match(line) else _ACTION.sub(name, line) for line in text.body.splitlines())
    documents = read(("\n" * text.first + "\n".join(lines)).encode(), file).documents
    found = resources(documents, cluster_scoped=frozenset(), movable=True)
    return _placed(found[0]) if len(found) == 1 else None


def _weaker(sides: Sides, pair: _Pair) -> Iterator[Finding]:
    from policylint.compare import compare, pair_sides, removed_protections

    catalog, name = sides.after.catalog, sides.after.world.name
    policies = [(pair.was, *pair.beside[0]), (*(() if pair.now is None else (pair.now,)), *pair.beside[1])]
    bare = [simulate(World(name, each, partial=True), catalog) for each in policies]
    asked = {port for each in policies for policy in each for port in _ports(policy.spec)}
    there = _Companions(bare[0], sorted(asked)[:_MOST_PORTS])
    for each in bare:
        there.meet(each)
    known = {each.key for side in policies for each in side}
    made = [each for each in there.made() if each.key not in known]
    both = [simulate(World(name, (*made, *each), partial=True), catalog) for each in policies]
    pairs = pair_sides(both[:1], both[1:])
    found = (each.policies.get(of.key) for each, of in zip(both, (pair.was, pair.now), strict=True) if of is not None)
    states = [state for state in found if state is not None and not state.groups and not state.invalid]
    if len(states) == len(both) and (of_pods := _of_pods(pair, states[0].kind)) is not None:
        yield from _weaker(sides, of_pods)
        return
    if len(states) == len(both):  # what it is for has no stand-in
        yield from _weaker_by_words(sides, pair, states)
        return
    yield from _for_other_pods(sides, pair)
    yield from _isolating_less(pair, both, name)
    said: set[str] = set()
    for finding in removed_protections(pairs, compare(pairs), whole=False):
        message = _STAND_IN.sub(r"every \1 that it is for", _HOST.sub("", finding.message))
        message = message.replace(f"{_PLACE}/", "").replace(f".{_PLACE}", "")
        for stand_in, word in pair.names.items():
            message = message.replace(stand_in, word)
        if message in said or finding.label == NOT_JUDGED:
            continue
        said.add(message)
        subject = (pair.was if pair.now is None else pair.now).name_location
        yield Finding(
            finding.rule,
            "note" if finding.severity == "note" else "warning",
            message,
            subject if finding.location.file == _FILE else finding.location,
            resources=(pair.key,),
            label="as far as the policy itself shows",
            confidence="assumed",
            ground=pair.ground,
            field=finding.field,
            environments=(name,),
        )


def _of_pods(pair: _Pair, kind: PolicyKind) -> _Pair | None:
    """Return a policy as it acts on pods where it names no target, None where it names none or always has to."""
    if pair.now is None or not any(each.form == "workload-selector" for each in kind.references):
        return None
    was, now = (_untargeted(each, kind.target_fields) for each in (pair.was, pair.now))
    return None if was is pair.was and now is pair.now else pair._replace(was=was, now=now)


def _untargeted(policy: Resource, fields: Collection[str]) -> Resource:
    if policy.spec.keys().isdisjoint(fields):
        return policy
    spec = {name: value for name, value in policy.spec.items() if name not in fields}
    return policy.replaced(body={**policy.body, "spec": spec})


def _for_other_pods(sides: Sides, pair: _Pair) -> Iterator[Finding]:
    """Yield that a network policy is for other pods, or for fewer, than before, of which none was seen."""
    old, new = pair.was, pair.now
    for field in () if new is None or new.key[:2] not in NETWORK_POLICIES else selectors_of(*new.key[:2]):
        assert new is not None
        was, now = (mapping(mapping(each.spec.get(field)).get("matchLabels")) for each in (old, new))
        if now and not now.items() <= was.items():
            change = f"is for {'fewer' if was.items() <= now.items() else 'other'} pods than before"
            place, former = (each.location("spec", field) for each in (new, old))
            fix = f"keep `{field}` as it was, if pods still have these labels"
            cause = Cause(field, change, "it isolates the others no longer", (new.key,), fix=fix, severity="note")
            yield _alone(sides, cause._replace(location=place, before=former, ground=pair.ground), new.key)


def _isolating_less(pair: _Pair, both: Sequence[Simulation], environment: str) -> Iterator[Finding]:
    """Yield that a network policy limits a direction no longer, whatever it says of peers there."""
    ways = [
        {way for each in side.network.policies if each.key == pair.was.key for way in each.isolates} for side in both
    ]
    lost = [way for way in DIRECTIONS if way in ways[0] - ways[1]]
    if lost and pair.now is not None:
        yield Finding(
            PEERS,
            "warning",
            f"{pair.key} no longer limits {listing(lost)} of the pods that it selects",
            pair.now.name_location,
            resources=(pair.key,),
            label="as far as the policy itself shows",
            confidence="assumed",
            ground=pair.ground,
            environments=(environment,),
        )


def _alone(sides: Sides, cause: Cause, key: ResourceKey) -> Finding:
    """Return the finding for a cause at an object by itself."""
    affected = AffectedObjects()
    affected.others.add(key)
    return finding_of(sides, Weakened(cause._replace(own=True), affected))


def _weaker_by_words(sides: Sides, pair: _Pair, states: Sequence[PolicyState] = ()) -> Iterator[Finding]:
    """Yield what is weaker by the words of fields alone: of no policy, or of one whose targets nothing stands for.

    Args:
        states: the policy before and after.
    """
    if pair.now is None:
        return
    causes: list[Cause] = []
    if states:
        was, now = states
        before, after = spec_of(was), spec_of(now)
        weaknesses = [*was.kind.weaker, *common_weaknesses(was.kind.kind, before, after, was.kind)]
        causes += (weaker(was, now, each) for each in weakenings(weaknesses, before, after))
    else:
        for weakening, certain in directed_changes(pair.key[:2], said_beside(pair.was), said_beside(pair.now)):
            cause = weakened(weakening, pair.was, pair.now, "keep it as it was, or say what takes its place")
            causes.append(cause if certain else cause._replace(severity="note"))
    for cause in causes:
        yield _alone(sides, cause._replace(ground=pair.ground), pair.now.key)


def _ports(value: Any, *, of_ports: bool = False) -> Iterator[int]:
    """Yield the ports that a policy tells apart: numbers, and names of fields, below what is named after ports."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        if of_ports or "port" in f"{name} {value.get('key')}".lower():
            yield from _ports([name, inner], of_ports=True)
        else:
            yield from _ports(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _ports(inner, of_ports=of_ports)
    number = whole_number(str(value)) if of_ports and isinstance(value, int | str) else None
    if number is not None and 0 < number <= LAST:
        yield number


class _Companions:
    """What policies name and what no manifest shows: one object of each, and a route with a backend behind it."""

    def __init__(self, side: Simulation, ports: Sequence[int]) -> None:
        self._side, self._ports = side, ports
        self._bodies: dict[ResourceKey, dict[str, Any]] = {}
        self._pods: dict[frozenset[tuple[str, str]], str] = {}

    def _name_of_pods(self) -> str:
        return f"{_ANY}-{len(self._pods)}" if self._pods else _ANY

    def made(self) -> list[Resource]:
        text = "\n---\n".join(json.dumps(body, default=str) for body in self._bodies.values())
        documents = read(text.encode(), _FILE).documents
        return resources(documents, cluster_scoped=frozenset(), movable=False)

    def meet(self, side: Simulation) -> None:
        """Add what the policies of a side are for."""
        for key, state in side.policies.items():
            for target in state.targets:
                self._meet(state, target)
            for reference in content_references(state.policy, side.world, state.kind.refers or None):
                if reference.wanted[:2] == _SERVICE:
                    port = mapping(value_at(state.policy.body, reference.pointer)).get("port", 80)
                    spec = {"selector": {"app": reference.wanted.name}, "ports": [{"port": port}]}
                    self._add("v1", "Service", reference.wanted.namespace, reference.wanted.name, spec)
            if not state.targets:
                self._workload(state.kind, key.namespace or _PLACE, {})
        for key in side.world.resources:
            if key[:2] in NETWORK_POLICIES:
                self._add("v1", "ConfigMap", key.namespace or _PLACE, _ANY, {})
            elif is_way_in(*key[:2]):
                self._behind(with_doors(side).topology.routes)

    def _behind(self, routes: Iterable[RouteState]) -> None:
        """Add the Services that ways in name, each with the ports that they ask for, and pods."""
        asked: dict[ResourceKey, dict[int, None]] = defaultdict(dict)
        for backend in (each for route in routes for each in route.backends):
            if backend.wanted[:2] == _SERVICE and backend.resolution.missing:
                asked[backend.wanted][backend.port or 80] = None
        for service, ports in asked.items():
            labels = {"app": service.name}
            exposed = [{"name": f"port-{port}", "port": port, "targetPort": port} for port in ports]
            self._add("v1", "Service", service.namespace, service.name, {"selector": labels, "ports": exposed})
            self._add_pods(service.namespace, service.name, labels, [{"containerPort": port} for port in ports])

    def _meet(self, state: PolicyState, target: Target) -> None:
        kind, key = state.kind, target.key
        place = state.key.namespace if key.unplaced or not key.namespace else key.namespace
        labels = mapping(mapping(target.selector).get("matchLabels")) if target.selector else {}
        name = key.name or _ANY
        named = self._side.world.get(key)
        if named is not None and "podSelector" in named.spec:
            labels = mapping(mapping(named.spec["podSelector"]).get("matchLabels"))
            self._workload(kind, place, labels, port=str(named.spec.get("port", "")))
        elif key[:2] == _GATEWAY or key.kind in ("ListenerSet", "GatewayClass"):
            gateway = name if key[:2] == _GATEWAY else _ANY
            self._route(
                "HTTPRoute", place, _ANY, gateway=gateway, of=kind, section=target.section, gateway_labels=labels
            )
        elif key.kind in ROUTE_KINDS:
            self._route(key.kind, place, name, of=kind, rule=target.section, labels=labels)
        elif key[:2] == _SERVICE:
            self._route("HTTPRoute", place, _ANY, of=kind, service=name, port=target.section)
        elif is_workload(*key[:2]) or key.kind == "Pod" or key[:2] == _NAMESPACE:
            self._workload(kind, name if key[:2] == _NAMESPACE and key.name else place, labels)
        elif key.group == state.key.group and key.name:  # of the same API, where it stands for a port of pods
            known = self._side.catalog.get(*key[:2])
            version = next(iter(known.versions), "v1") if known is not None else "v1"
            pods = {"app": name}
            self._add(
                f"{key.group}/{version}", key.kind, place, name, {"podSelector": {"matchLabels": pods}, "port": 80}
            )
            self._workload(kind, place, pods, port="80")

    def _route(
        self,
        kind: str,
        place: str,
        name: str,
        *,
        of: PolicyKind,
        gateway: str = _ANY,
        section: str = "",
        rule: str = "",
        service: str = _ANY,
        port: str = "",
        labels: Mapping[str, Any] | None = None,
        gateway_labels: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a route through a Gateway to a Service with its workload."""
        controller = self._side.catalog.controller(of.implementation) or "example.com/gateway"
        self._add("gateway.networking.k8s.io/v1", "GatewayClass", "", _ANY, {"controllerName": controller})
        listener = {"name": section or "http", "port": 80, "protocol": "HTTP"}
        listeners = [{**listener, "allowedRoutes": {"namespaces": {"from": "All"}}}]
        spec = {"gatewayClassName": _ANY, "listeners": listeners}
        self._add("gateway.networking.k8s.io/v1", "Gateway", place, gateway, spec, gateway_labels)
        reference = {"name": service, "port": 80}
        rules = [{**({"name": rule} if rule else {}), "backendRefs": [reference]}]
        parents = [{"name": gateway, "namespace": place}]
        self._add("gateway.networking.k8s.io/v1", kind, place, name, {"parentRefs": parents, "rules": rules}, labels)
        self._workload(of, place, {"app": service}, service, port)

    def _workload(
        self, kind: PolicyKind, place: str, labels: Mapping[str, Any], service: str = "", port: str = ""
    ) -> None:
        """Add pods with labels behind a Service, in a namespace that is in the mesh that reads a kind."""
        told = {str(name): str(value) for name, value in labels.items()} or {"app": _ANY}
        workload = service or self._pods.setdefault(frozenset(told.items()), self._name_of_pods())
        enrolling = self._side.catalog.enrolling()
        mesh = next((name for name, whose in enrolling.items() if whose == kind.implementation), "")
        self._add("v1", "Namespace", "", place, None, {mesh: "enabled"} if mesh else {})
        stated = whole_number(port)
        number, name = 80 if stated is None else stated, port if stated is None else ""
        named = {"name": name} if name else {}
        others = [each for each in self._ports if each not in (80, number)]
        exposed = [{**named, "containerPort": number}, *({"containerPort": each} for each in others)]
        self._add_pods(place, workload, told, exposed)
        ports = [{"name": name or "http", "port": 80, "targetPort": number}]
        ports += [{"name": f"http-{each}", "port": each, "targetPort": each} for each in others]
        self._add("v1", "Service", place, service or workload, {"selector": told, "ports": ports})

    def _add_pods(self, place: str, name: str, labels: Mapping[str, str], ports: Iterable[Any]) -> None:
        container = {"name": "app", "image": "app", "ports": list(ports)}
        template = {"metadata": {"labels": dict(labels)}, "spec": {"containers": [container]}}
        self._add(
            "apps/v1", "Deployment", place, name, {"selector": {"matchLabels": dict(labels)}, "template": template}
        )

    def _add(
        self, version: str, kind: str, place: str, name: str, spec: Any, labels: Mapping[str, Any] | None = None
    ) -> None:
        metadata: dict[str, Any] = {"name": name, **({"namespace": place} if place else {})}
        if labels:  # whichever of both a mesh reads
            metadata |= {"labels": dict(labels), "annotations": dict(labels)}
        key = ResourceKey(version.rpartition("/")[0], kind, place, name)
        body: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": metadata}
        self._bodies.setdefault(key, {**body, "spec": spec} if spec is not None else body)


__all__ = ["assumed_weaker"]
