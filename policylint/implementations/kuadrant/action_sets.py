"""Which policies act on a request: those of the action set that the filter of its Gateway chooses.

The operator writes one list for a Gateway: for each path on which any policy acts, each hostname of the route within
the listener, and each match of the rule, a set of the actions of all kinds. The filter takes the sets of the narrowest
hostname that covers a request's, and of these the first whose match fits, narrow ones first. It knows neither listeners
nor routes: a path without policies meets those of another one, and a narrower hostname takes them away.
Sources: kuadrant-operator v1.5.1, internal/controller/istio_extension_reconciler.go, buildWasmConfigs;
internal/wasm/utils.go, BuildActionSetsForPath; internal/gatewayapi/types.go, Less; wasm-shim v0.14.1,
src/kuadrant/pipeline/factory.rs, select_blueprint (docs/design/semantics.md §6, trap 26).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, count, groupby

from policylint.implementations.generic.calls import by_path
from policylint.implementations.kuadrant.patterns import anywhere
from policylint.matches import Match, Term, matches
from policylint.model import Node, ResourceKey, holds_variable
from policylint.model.ternary import every
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import RequestFacts
from policylint.policy.paths import ListedPaths, Path
from policylint.policy.results import Group
from policylint.spaces.predicates import Predicate, ending, matching, starting
from policylint.topology import Candidate, RouteState, Topology, whole
from policylint.topology.hostnames import EVERY, covers, specificity, wildcards_above
from policylint.topology.ports import HostsServed
from policylint.topology.routes import rules

_LEAST = 4
"""Gateway, listener, route, rule; above them the GatewayClass where it is in the tree."""
_MOST_SETS = 1_000
"""Sets of one Gateway beyond which policies are taken to act on their own paths alone."""
Taken = Mapping[object, Mapping[str, Sequence[str]]]
Acting = frozenset[int]
"""The numbers of effective policies."""


class _ActionSet(NamedTuple):
    """One set of a Gateway.

    Args:
        place: the listener and the rule.
        match: of the rule, that of a call by its path.
        acting: the effective policies whose actions these are.
        alone: whether the rule has no other match.
        order: the first of two comes first in the list; equal ones come in any order.
    """

    place: tuple[Node, Node]
    match: Match
    acting: Acting
    alone: bool
    order: tuple[object, ...]


class ActionSets:
    """The action sets of all Gateways; effective policies are called by their numbers.

    Attributes:
        among: those of the kinds that the filter makes act; of DNS, certificates and extensions it knows nothing.
        acting: of these, by listener and rule, those that were computed for them, and `paths` the ways there.
    """

    why = "two sets of actions for its host fit it, and which one comes first is not stated"

    def __init__(self, groups: Sequence[Group], topology: Topology, implementation: str) -> None:
        self._topology = topology
        self.paths: dict[tuple[Node, Node], Path] = {}
        self.acting: dict[tuple[Node, Node], set[int]] = defaultdict(set)
        self._fitting: dict[tuple[Node, ResourceKey], list[tuple[str, bool]]] = {}
        of_filter = [(each.kind.implementation, each.kind.effective_at) == (implementation, "rule") for each in groups]
        self.among = frozenset(compress(count(), of_filter))
        for number in sorted(self.among):
            for path in groups[number].contexts() if groups[number].effective.owners else ():
                if _is_whole(path):
                    self.acting[path[-3], path[-1]].add(number)
                    self.paths[path[-3], path[-1]] = path
        self._read: dict[Node, list[Match]] = {}
        self._sets: dict[ResourceKey, dict[str, list[_ActionSet]]] = defaultdict(lambda: defaultdict(list))
        for (listener, rule), numbers in self.acting.items():
            for hostname, made in self._made(listener, rule, frozenset(numbers)):
                self._sets[listener.key][hostname].append(made)
        for gateway, by_host in list(self._sets.items()):
            if sum(map(len, by_host.values())) > _MOST_SETS:
                del self._sets[gateway]
            for sets in by_host.values():
                sets.sort(key=lambda made: made.order)

    @property
    def gateways(self) -> Iterable[ResourceKey]:
        """The Gateways that have sets of actions."""
        return self._sets.keys()

    def chosen(
        self, gateway: ResourceKey, listener: Node, rule: Node, message: RequestFacts
    ) -> Sequence[Acting] | None:
        """Return what acts on a request that a rule takes at a listener; several where that is not known."""
        if gateway not in self._sets:
            return None
        by_host = self._sets[gateway]
        found: list[Acting] = []
        for hostname, is_of_all in self._met(listener, rule.key):
            is_under = True if is_of_all else _is_under(hostname, message)
            if is_under is not False:
                found += _first(by_host[hostname], rule, message)
            if is_under:
                break
        else:
            found.append(frozenset())
        return list(dict.fromkeys(found))

    def _met(self, listener: Node, route: ResourceKey) -> list[tuple[str, bool]]:
        """Return the hostnames of sets that requests for a route at a listener may be under, narrowest first, each with
        whether all are."""
        if (listener, route) not in self._fitting:
            hosts = self.hosts(listener, route)
            self._fitting[listener, route] = [
                (hostname, all(covers(hostname, host) for host in hosts))
                for hostname in sorted(self._sets[listener.key], key=specificity, reverse=True)
                if any(covers(hostname, host) or covers(host, hostname) for host in hosts)
            ]
        return self._fitting[listener, route]

    def hosts(self, listener: Node, route: ResourceKey) -> Sequence[str]:
        """Return the hostnames that a route serves at a listener."""
        state = self._topology.route(route)
        parents = () if state is None else state.parents
        return [
            host for parent in parents for each in parent.candidates if each.node == listener for host in each.hostnames
        ]

    def probes(
        self, listener: Node, rule: Node, taken: Taken, takes: Callable[[Node, str], bool]
    ) -> Iterator[RequestFacts]:
        """Yield requests that a rule takes at a listener, one for each way in which the sets may tell them apart.

        Those for hosts that a route names more narrowly on the port go there: in the proxies below, each hostname has a
        virtual host of its own.

        Args:
            taken: by port and hostname that routes serve there the narrower ones of which they get the requests.
            takes: whether requests for a hostname at the port of a listener come to it.
        """
        by_host = self._sets[listener.key]
        hosts = self.hosts(listener, rule.key)
        listed = (name for host in hosts for name in taken[self._port(listener)].get(host, ()))
        narrower = [name for name in listed if takes(listener, name)]
        met = [made for hostname, _ in self._met(listener, rule.key) for made in by_host[hostname]]
        others = {tuple(made.match.conditions): made.match for made in met if made.place[0] != listener}.values()
        besides = {tuple(made.match.conditions): made.match for made in met if made.place[1] != rule}.values()
        for host in dict.fromkeys(f"any{host[1:]}" if host.startswith("*") else host for host in (*hosts, *narrower)):
            for match in self._matches(rule):
                yield _request(host, match)
                yield from (each for other in besides for each in _just_beside(host, match, other))
                for other in others:
                    request = _request(host, match, other)
                    if _fits(match, request) is not False and not self._is_taken(listener, rule, match, other, host):
                        yield request

    def _is_taken(self, listener: Node, rule: Node, match: Match, other: Match, host: str) -> bool:
        """Return whether a request that satisfies two matches goes to another rule of the same listener."""
        alike = self._written[listener].get(tuple(other.conditions), ()) if other.before(match) else ()
        return any(each != rule and any(covers(name, host) for name in names) for each, names in alike)

    def taken(self, hosts: Mapping[tuple[Node, Node], Sequence[str]]) -> Taken:
        """Return by port of a Gateway and hostname that routes serve there those of sets that none narrower covers."""
        served: dict[tuple[ResourceKey, object], set[str]] = defaultdict(set)
        for (listener, _), left in hosts.items():
            if listener.key in self._sets:
                served[self._port(listener)].update(left)
        found: dict[object, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for port, names in served.items():
            for hostname in self._sets[port[0]]:
                covering = (name for name in (hostname, *wildcards_above(hostname), EVERY) if name in names)
                if (taker := next(covering, None)) is not None:
                    found[port][taker].append(hostname)
        return found

    @cached_property
    def _attached(self) -> list[tuple[RouteState, list[Candidate]]]:
        """The routes of Gateways with sets, with the listeners that they are attached to."""
        found = []
        for state in self._topology.routes:
            candidates = [each for parent in state.parents for each in parent.candidates if not each.failure]
            if candidates := [each for each in candidates if each.node.key in self._sets]:
                found.append((state, candidates))
        return found

    @cached_property
    def _written(self) -> Mapping[Node, Mapping[object, list[tuple[Node, Sequence[str]]]]]:
        """By listener and conditions the rules with a match that has these, and the hostnames that they serve there."""
        found: dict[Node, dict[object, list[tuple[Node, Sequence[str]]]]] = defaultdict(lambda: defaultdict(list))
        for state, candidates in self._attached:
            for each in rules(state.route):
                for match in self._matches(each.node):
                    for candidate in candidates:
                        found[candidate.node][tuple(match.conditions)].append((each.node, candidate.hostnames))
        return found

    def _port(self, listener: Node) -> tuple[ResourceKey, object]:
        state = self._topology.listener(listener)
        return listener.key, None if state is None else state.port

    def _made(self, listener: Node, rule: Node, acting: Acting) -> Iterator[tuple[str, _ActionSet]]:
        """Yield the sets of a path, each with its hostname."""
        state, route = self._topology.listener(listener), self._topology.route(rule.key)
        if state is None or route is None:
            return
        written = [hostname for hostname in route.hostnames if hostname]
        hostnames = [name for name in written if covers(state.hostname, name)] if written else [state.hostname]
        if any(map(holds_variable, (*written, state.hostname))):
            return
        age = str(route.route.metadata.get("creationTimestamp")), route.route.key.path
        listed = self._matches(rule)
        for match in listed:
            kind, length, methods, headers, queries = match.weights
            order = (-kind, -length, methods, -headers, -queries, *age)  # with a method they come last, as in Less
            for hostname in hostnames:
                yield hostname, _ActionSet((listener, rule), match, acting, len(listed) == 1, order)

    def _matches(self, rule: Node) -> list[Match]:
        if rule not in self._read:
            self._read[rule] = self._matches_of(rule)
        return self._read[rule]

    def _matches_of(self, rule: Node) -> list[Match]:
        route = self._topology.route(rule.key)
        body = next((each.body for each in rules(route.route) if each.node == rule), {}) if route is not None else {}
        calls = rule.key.kind == "GRPCRoute"
        return [by_path(match) if calls else match for match in matches(body, grpc=calls)]


def taken(
    groups: Sequence[Group], topology: Topology, implementation: str, served: Callable[[], HostsServed]
) -> Sequence[Group]:
    """Return effective policies with the contexts on which the filter makes them act."""
    sets = ActionSets(groups, topology, implementation)
    contexts: dict[int, set[Path]] = defaultdict(set)
    partly: dict[int, set[Path]] = defaultdict(set)
    changed: set[int] = set()
    serving = served() if any(sets.gateways) else HostsServed()
    narrower = sets.taken(serving.hosts)
    for path in _paths(sets, topology):
        listener, rule = path[-3], path[-1]
        probes = sets.probes(listener, rule, narrower, serving.takes)
        answers = (sets.chosen(listener.key, listener, rule, message) for message in probes)
        chosen = [acting for answer in answers for acting in answer or ()]
        found = set().union(*chosen)
        for number in found:
            contexts[number].add(path)
            if any(number not in acting for acting in chosen):
                partly[number].add(path)
        changed |= found ^ sets.acting.get((listener, rule), set())
    moved = [_moved(group, contexts[number]) if number in changed else group for number, group in enumerate(groups)]
    return [
        group._replace(partly=frozenset(partly[number])) if number in partly else group
        for number, group in enumerate(moved)
    ]


def _moved(group: Group, paths: set[Path]) -> Group:
    """Return an effective policy that acts on other paths than those that it was computed for."""
    own = tuple(group.contexts())
    others = [path for path in own if not _is_whole(path)]
    kept = {node for path in (*paths, *others) for node in path} | {
        node for node in group.nodes if node.role == "Namespace"
    }
    nodes = {node: keys for node, keys in group.nodes.items() if node in kept}
    for path in sorted(paths - {*own}):
        for place, node in enumerate(path):
            roles = {each.role for each in path[: place + 1]}  # what is attached to another listener acts at this one
            around = (each for each in group.effective.stack if place >= len(path) - 2 or each.node.role in roles)
            if keys := frozenset(attachment.key for attachment in around):
                nodes.setdefault(node, keys)
    return group._replace(contexts=ListedPaths(sorted({*paths, *others})), nodes=nodes)


def _is_whole(path: Path) -> bool:
    return len(path) >= _LEAST and path[-3].role == "Listener"


def _paths(sets: ActionSets, topology: Topology) -> Iterator[Path]:
    """Yield the ways of requests through Gateways that have sets of actions."""
    gateways = set(sets.gateways)
    for state in topology.routes:
        for parent in state.parents:
            gateway = None if parent.gateway not in gateways else topology.gateway(parent.gateway)
            if gateway is None:
                continue
            of_class = (whole(gateway.class_key),) if gateway.class_resolution.resource is not None else ()
            for candidate in parent.candidates:
                if candidate.failure or candidate.node.key != parent.gateway:
                    continue
                above = (*of_class, whole(gateway.gateway.key))
                for rule in rules(state.route):
                    known = sets.paths.get((candidate.node, rule.node))
                    yield known or (*above, candidate.node, whole(state.route.key), rule.node)


def _first(sets: Sequence[_ActionSet], rule: Node, message: RequestFacts) -> Iterator[Acting]:
    """Yield what acts by the first of the sets of one hostname that fits."""
    if len({made.acting for made in sets}) == 1 and any(made.place[1] == rule for made in sets):
        yield sets[0].acting
        return
    for _, tied in groupby(sets, key=lambda made: made.order):
        answers = [
            (made, True if made.alone and made.place[1] == rule else _fits(made.match, message)) for made in tied
        ]
        yield from (made.acting for made, answer in answers if answer is not False)
        if any(answer for _, answer in answers):
            return
    yield frozenset()


def _is_under(hostname: str, message: RequestFacts) -> bool | None:
    if not hostname:
        return True
    name = ending(hostname[1:]) if hostname.startswith("*") else Predicate("Exact", hostname)
    return message.has("host", message.host, name)


def _fits(match: Match, message: RequestFacts) -> bool | None:
    """Return whether a request satisfies the expressions that the operator makes of a match."""
    return every(_answer(term, message) for term in match.conditions)


def _answer(term: Term, message: RequestFacts) -> bool | None:
    if term.fault:
        return False
    wanted = term.predicate
    if term.name == "path":
        if wanted.is_prefix:  # of a text, whatever its segments
            return True if wanted.value == "/" else message.has_path(starting(wanted.value))
        return message.has_path(matching(anywhere(wanted.value)) if wanted.is_expression else wanted)
    if term.name == "method":
        return message.has_method(wanted)
    exact = Predicate("Exact", wanted.value)  # whatever its type
    return message.has_header(term.name.removeprefix("header "), exact) if term.what == "header" else None


def _just_beside(host: str, match: Match, other: Match) -> Iterator[RequestFacts]:
    """Yield a request that a match takes and another one does not, whose path begins with the same letters: to routes
    /pay-later is not below /pay, and to the filter it is."""
    own, path = (
        next((term.predicate for term in each.conditions if term.name == "path"), None) for each in (match, other)
    )
    if own is not None and path is not None and own.is_prefix and path.is_prefix:
        near = f"{path.value.rstrip('/')}-"
        if near.startswith(f"{own.value.rstrip('/')}/"):
            request = _request(host, match, other)._replace(path=near)
            if _fits(match, request) is not False:
                yield request


def _request(host: str, *matches: Match) -> RequestFacts:
    """Return a request that satisfies some matches where one does: what the later ones say, else the first."""
    said = {term.name: term.predicate for match in matches for term in match.conditions}
    paths = [term.predicate.value for match in matches for term in match.conditions if term.name == "path"]
    headers = {name.removeprefix("header "): each.value for name, each in said.items() if name.startswith("header ")}
    return RequestFacts(said["method"].value if "method" in said else "GET", host, max(paths, key=len), headers)
