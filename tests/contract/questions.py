"""The table of questions, and who answers each: what a reader says is put into the words that all of them share.

A reader that is silent about something, or does not know it, leaves it out. To add a question or a reader is to add a
function and a line of `QUESTIONS` or `OF_CHANGES`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from policylint.assistant.answers import LOGINS
from policylint.assistant.answers import answer as to_assistant
from policylint.compare import Comparison
from policylint.compare.change import FindingChange
from policylint.compare.requests import RequestChange
from policylint.compare.requests.changes import RequestSet
from policylint.editor.state import State
from policylint.explain.contexts import answers as context_answers
from policylint.explain.contexts import nodes_of
from policylint.explain.explanation import explain
from policylint.explain.reach import reach
from policylint.explain.subject import Subject
from policylint.explain.wording import why_closed
from policylint.guardrails import Guardrail, verdicts
from policylint.guardrails.reading import RequestPattern
from policylint.implementations import implementation
from policylint.implementations.istio.mesh import Mesh
from policylint.model import (
    SEVERITIES,
    Finding,
    Node,
    ResourceKey,
    holds_variable,
    is_symbolic,
    mapping,
    sequence,
)
from policylint.model.spelling import spelled
from policylint.network.endpoints import workloads
from policylint.network.kinds import has_policies
from policylint.policy.authorizing import CLAIM, CLIENT
from policylint.policy.results import Group
from policylint.reach import EntryPoint, WayIn, asked, end_in_words, entries_inside, is_grpc
from policylint.reach import entries as entry_points
from policylint.report.diff.comment import OPENING, CommentRow, comment
from policylint.report.diff.report import DiffReport
from policylint.report.explain import write
from policylint.report.export import Export
from policylint.report.findings.report import Report
from policylint.report.graph.exposure import exposures
from policylint.report.kit.display import Paint
from policylint.report.list.listing import ListRequest, entries
from policylint.report.reach import Found, Question, ending
from policylint.report.reach import find as find_ways
from policylint.report.reach import write as write_reach
from policylint.report.trace.text import result
from policylint.report.trace.trace_v1 import entry as trace_entry
from policylint.schema.known import Schemas
from policylint.session.lint import LintResult
from policylint.session.session import Session
from policylint.simulation import Simulation, simulate
from policylint.simulation.ranking import ranked, ranking
from policylint.spaces.addresses import address_set
from policylint.spaces.boxes import meetings
from policylint.topology import Candidate, ListenerState, RouteState, whole
from policylint.topology.ancestry import unheard_of
from policylint.topology.routes import Rule, rules
from policylint.topology.workloads import is_workload
from policylint.trace import Request, Trace, from_url
from policylint.trace import request as as_request
from policylint.trace.left_open import left_open
from policylint.trace.policies import facts
from policylint.trace.requirements import PURPOSES
from tests.contract.environment import MOST_WAYS, Answers, Change, Environment, bare, named
from tests.worlds import resources as loaded

ADDRESSES = ("10.1.2.3", "192.168.1.1", "203.0.113.9", "2001:db8::1")
TOLD_OF_WHO = ("GWP302", "GWP304", "GWP324", "GWP620", "GWP621")
"""The rules that tell who gets in that was kept out."""
"""Clients of whom every reader of addresses is asked."""
_MOST_ENDS = 12
_MOST_OBJECTS = 60
_SCHEMES = {"HTTP": "http", "HTTPS": "https", "TLS": "tls", "TCP": "tcp", "UDP": "udp"}
_FORMS = ("text", "json")
_LITTLE_ROOM = 2_000
"""Characters for an assistant, in which few answers are whole."""
_MOST_ASKED = 30
_HBONE = 15008
"""The port of what ambient proxies send to each other."""


def _serves(words: str, trace: Trace) -> str | None:
    """Return whether a sentence about the end of a request says that it gets to a backend; None for a part of them."""
    if " in part" in words or words.startswith(("not known: no ", "unknown")):
        return None
    if words.startswith("not known: goes to") or ", not known whether it gets there" in words:
        return "not known"
    backends = [key.path for key in trace.outcome.backends]
    return "yes" if any(words.removeprefix("reaches ").startswith(path) for path in backends) else "no"


# Does a request get to the pods


def _arrives_by_trace(world: Environment) -> Answers:
    traces = ((way, world.traced(way.trace.request)) for way in world.taken)
    told = {named(way.trace.request): _serves(result(trace, world.names), trace) for way, trace in traces}
    return {subject: answer for subject, answer in told.items() if answer is not None}


def _arrives_by_reach(world: Environment) -> Answers:
    told = {named(way.trace.request): _serves(ending(way), way.trace) for way in world.taken}
    return {subject: answer for subject, answer in told.items() if answer is not None}


def _arrives_by_guardrail(world: Environment) -> Answers:
    """A guardrail by which nothing outside gets to any Service is broken by every request that does."""
    guardrail = Guardrail("nobody", 0, "never", sources=("outside",), target="Service/*")
    return {
        " ".join(breach.shows): "yes"
        for verdict in verdicts(world.simulation, [guardrail])
        for breach in verdict.breaches
        if breach.shows and not breach.unknown
    }


def _arrives_by_gwp604(world: Environment) -> Answers:
    told = {}
    for finding in world.findings:
        if finding.rule == "GWP604" and finding.confidence == "certain":
            port = re.search(r" to port (\d+) of ", finding.message)
            for way in _of_routes(world, finding):
                shares = [share for share in way.trace.outcome.shares if share.share and not share.problem]
                meant = (port is None or share.port == int(port[1]) for share in shares)
                if shares and {share.key for share in shares} <= set(finding.resources) and all(meant):
                    told[named(way.trace.request)] = "no"
    return told


def _arrives_by_python(world: Environment) -> Answers:
    """A session asks by words, as a command does; what it hands out is printed here as trace prints it."""
    told = {}
    for way in world.taken[:_MOST_ASKED]:
        asked_for = way.trace.request
        if asked_for.scheme in ("http", "https") and asked_for.gateway:
            headers = [f"{name}: {value}" for name, value in asked_for.headers]
            in_words = from_url(*_words(asked_for), headers, gateway=asked_for.gateway)
            if in_words._replace(given=asked_for.given) == asked_for:
                (traced,) = _session(world).trace(*_words(asked_for), headers=headers, gateway=asked_for.gateway)
                told[named(asked_for)] = _serves(result(traced.trace, world.names), traced.trace)
    return {subject: answer for subject, answer in told.items() if answer is not None}


def _arrives_by_assistant(world: Environment) -> Answers:
    """An assistant gets a trace in JSON, cut to the room that it has."""
    told = {}
    for way in world.taken[:_MOST_ASKED]:
        trace = world.traced(way.trace.request)
        document = json.dumps({"version": "1", "requests": [trace_entry(trace, world.names)]})
        (entry,) = json.loads(to_assistant(document, room=_LITTLE_ROOM)[1])["requests"]
        if not entry["outcome"].get("unknown") and _serves(result(trace, world.names), trace) in ("yes", "no"):
            gets_there = "backends" in entry["outcome"] and not entry["outcome"].get("refused")
            told[named(way.trace.request)] = "yes" if gets_there else "no"
    return told


def _session(world: Environment) -> Session:
    opened: Any = SimpleNamespace(simulations=[world.simulation])
    unset: Any = None
    return Session(unset, opened)


def _words(asked_for: Request) -> tuple[str, str]:
    """Return a request as somebody types it: a method and a URL."""
    scheme = asked_for.scheme if not asked_for.grpc else {"http": "grpc", "https": "grpcs"}[asked_for.scheme]
    host = asked_for.host or "x"
    place = host if ":" in host or asked_for.port is None else f"{host}:{asked_for.port}"
    return asked_for.method, f"{scheme}://{place}{asked_for.path}"


def _of_routes(world: Environment, finding: Finding) -> Iterator[WayIn]:
    """Yield the ways of the routes that a finding is about."""
    for way in world.taken:
        if way.trace.route is not None and way.trace.route.key in finding.resources:
            yield way


# Is a login asked


def _login_by_reach(world: Environment) -> Answers:
    told = {}
    for way in world.taken:
        if way.trace.outcome.backends:
            given = asked(world.requirements, way, "authentication")
            if given.state != "unknown":
                told[named(way.trace.request)] = "asked" if given.state == "asked" else "not asked"
    return told


def _counted_by_reach(world: Environment) -> Answers:
    states = Counter(row.answers["authentication"].state for row in _found(world).rows if row.serves)
    return {LOGINS[state]: str(number) for state, number in states.items()}


def _counted_by_assistant(world: Environment) -> Answers:
    """An assistant is told in a sentence what a document comes to."""
    document = "".join(write_reach("json", _found(world), Paint(on=False)))
    sentence = to_assistant(document, room=_LITTLE_ROOM)[0].partition("\n")[0]
    return {words: number for words in LOGINS.values() for number in re.findall(rf"\b(\d+) {words}", sentence)}


def _found(world: Environment) -> Found:
    return find_ways([world.simulation], Question())


def _login_by_trace(world: Environment) -> Answers:
    told = {}
    for way in world.taken:
        trace = world.tracer.trace(way.trace.request)
        given = world.requirements.of(trace, "authentication")
        if trace.outcome.backends and given.state != "unknown":
            told[named(trace.request)] = "asked" if given.state == "asked" else "not asked"
    return told


def _login_by_clients(world: Environment) -> Answers:
    """Who is let in shows it, too: where all requests without a token are turned away, a login is asked."""
    told = {}
    for way in world.taken:
        claims = [n for n, dimension in enumerate(way.dimensions) if dimension.name.startswith(CLAIM)]
        if way.trace.outcome.backends and any(all(not box[n] & 1 for box in way.boxes) for n in claims):
            free = [tuple(1 if n in claims else bits for n, bits in enumerate(box)) for box in way.boxes]
            others = (other for other in world.taken if other.entry == way.entry and other.trace.outcome.backends)
            alike = [other for other in others if is_grpc(other.dimensions) == is_grpc(way.dimensions)]
            if not any(any(meetings(free, other.boxes)) for other in alike):
                told[named(way.trace.request)] = "asked"
    return told


def _login_by_guardrail(world: Environment) -> Answers:
    guardrail = Guardrail("login", 0, "ask", ask="authentication")
    return {
        " ".join(breach.shows): "not asked"
        for verdict in verdicts(world.simulation, [guardrail])
        for breach in verdict.breaches
        if breach.shows and not breach.unknown
    }


def _login_by_gwp301(world: Environment) -> Answers:
    findings = [finding for finding in world.findings if finding.rule == "GWP301"]
    return {
        named(way.trace.request): "not asked"
        for finding in findings
        for way in _of_routes(world, finding)
        if way.trace.outcome.backends and finding.resources[-1] in {node.key for node in way.trace.path}
    }


# What of an answer that no login is asked was seen


def _seen_by_reach(world: Environment) -> Answers:
    ways = (way for way in world.taken if way.trace.outcome.backends)
    given = {named(way.trace.request): asked(world.requirements, way, "authentication") for way in ways}
    return {subject: _seen(each.why, each.ground) for subject, each in given.items() if each.state != "asked"}


def _seen_by_trace(world: Environment) -> Answers:
    traces = (world.tracer.trace(way.trace.request) for way in world.taken)
    given = {
        named(each.request): world.requirements.of(each, "authentication") for each in traces if each.outcome.backends
    }
    return {subject: _seen(each.why, each.ground) for subject, each in given.items() if each.state != "asked"}


def _seen_by_guardrail(world: Environment) -> Answers:
    found = verdicts(world.simulation, [Guardrail("login", 0, "ask", ask="authentication")])
    breaches = (breach for verdict in found for breach in verdict.breaches if breach.shows)
    return {" ".join(breach.shows): _seen(breach.unknown, breach.ground) for breach in breaches}


def _seen_by_gwp301(world: Environment) -> Answers:
    told = {}
    for finding in world.findings:
        for way in _of_routes(world, finding) if finding.rule == "GWP301" else ():
            if way.trace.outcome.backends and finding.resources[-1] in {node.key for node in way.trace.path}:
                told[named(way.trace.request)] = _seen("", finding.ground)
    return told


def _seen_by_export(world: Environment) -> Answers:
    """It tells what is not known alone."""
    rows = (row for row in Export([world.simulation], "", "").rows("ways") if row["backends"] and row["example"])
    asked_of = {f"{row['example']} --gateway {row['gateway'].replace(' ', '/')}": row["authentication"] for row in rows}
    return {subject: "not known" for subject, state in asked_of.items() if state == "unknown"}


def _seen(why: str, ground: str) -> str:
    return "not known" if why else f"as far as seen: {ground}" if ground else "all"


# Who may reach a route


def _reached_by_page(world: Environment) -> Answers:
    """The colours of the graph page."""
    told = {"open": "without a login", "addresses": "without a login", "login": "with one"}
    return {
        (found.gateway, found.route): told[found.state]
        for found in exposures([world.simulation]) or ()
        if found.gateway is not None and found.state in told
    }


def _reached_by_reach(world: Environment) -> Answers:
    states: dict[object, set[str]] = {}
    for way in world.ways if len(world.ways) < MOST_WAYS else ():
        if way.taken and way.trace.route is not None and (way.trace.outcome.backends or way.trace.outcome.unknown):
            given = asked(world.requirements, way, "authentication")
            states.setdefault((way.entry.gateway, way.trace.route.key), set()).add(given.state)
    told = {subject: "with one" if found == {"asked"} else "" for subject, found in states.items()}
    told |= {subject: "without a login" for subject, found in states.items() if found & {"open", "optional"}}
    return {subject: answer for subject, answer in told.items() if answer}


def _reached_by_editor(world: Environment) -> Answers:
    """The lens above a route, where it has only one Gateway."""
    told: dict[object, str] = {}
    workspace: Any = SimpleNamespace(simulations=[world.simulation])
    state = State(workspace, LintResult(workspace, ()))
    leading: dict[ResourceKey, set[ResourceKey]] = {}
    for way in world.ways if len(world.ways) < MOST_WAYS else ():
        if way.trace.rule is not None:
            leading.setdefault(way.trace.rule.key, set()).add(way.entry.gateway)
    for route, gateways in leading.items():
        words = state.lens(route).partition("authentication: ")[2] if len(gateways) == 1 else ""
        if words and "unknown" not in words:
            (gateway,) = gateways
            told[gateway, route] = "without a login" if re.search(r"none|optional", words) else "with one"
    return told


# Does it depend on the answer of somebody who authorizes


def _authorized_by_trace(world: Environment) -> Answers:
    """What only a variable or an unseen object keeps from being decided says nothing of an authorizer."""
    told = {}
    for way in world.taken:
        if way.trace.outcome.backends and not way.trace.may_ask:
            decisions = [each.decision for each in (*way.trace.admissions, *way.trace.judged)]
            asked_of = [decision.asks for decision in decisions if decision.answer == "depends"]
            if all(asked_of):
                told[named(way.trace.request)] = "depends" if asked_of else "does not"
    return told


def _authorized_by_reach(world: Environment) -> Answers:
    """An authorizer outside asks for whatever it likes: it is told where anything is asked."""
    told = {}
    for way in world.taken:
        given = [asked(world.requirements, way, purpose).state for purpose in ("authentication", "authorization")]
        if way.trace.outcome.backends and given == ["open", "open"]:
            told[named(way.trace.request)] = "does not"
    return told


# What do policies and proxies on the way answer


def _answered_by_trace(world: Environment) -> Answers:
    traces = [way.trace for way in world.taken]
    policies = {(named(each.request), "policy"): len(each.judged) for each in traces}
    proxies = {(named(each.request), "proxy"): len(each.admissions) for each in traces}
    return {subject: str(number) for subject, number in (policies | proxies).items()}


def _answered_by_json(world: Environment) -> Answers:
    told: dict[object, str] = {}
    for way in world.taken:
        content = trace_entry(way.trace, world.names)
        for field, who in (("authorization", "policy"), ("proxies", "proxy")):
            told[named(way.trace.request), who] = str(len(content.get(field, ())))
    return told


# Who is turned away, by the address


def _who_by_trace(world: Environment) -> Answers:
    told = {}
    for way in world.taken:
        for address in ADDRESSES:
            trace = world.tracer.trace(way.trace.request._replace(address=address))
            if trace.rule == way.trace.rule and not trace.outcome.unknown and not trace.depends:
                told[bare(way.trace.request), address] = "in" if trace.outcome.backends else "out"
    return told


def _who_by_reach(world: Environment) -> Answers:
    told = {}
    for way in world.taken:
        for address in ADDRESSES:
            holding = [other for other in world.taken if _alike(way, other) and _holds(other, address)]
            ends = {bool(other.trace.outcome.backends) for other in holding}
            if len(ends) == 1 and not any(other.trace.depends for other in holding):
                told[bare(way.trace.request), address] = "in" if ends.pop() else "out"
    return told


def _alike(way: WayIn, other: WayIn) -> bool:
    """Return whether two ways have the same requests, but for who sends them."""
    if (way.entry, way.trace.rule, is_grpc(way.dimensions)) != (
        other.entry,
        other.trace.rule,
        is_grpc(other.dimensions),
    ):
        return False
    return bare(way.trace.request) == bare(other.trace.request)


def _holds(way: WayIn, address: str) -> bool:
    """Return whether a way has requests from an address."""
    for number, dimension in enumerate(way.dimensions):
        if dimension.name == CLIENT:
            witness = {bit for bit in range(len(dimension.witnesses)) if _is_in(dimension.ranges[bit], address)}
            return any(box[number] >> bit & 1 for box in way.boxes for bit in witness)
    return True


def _is_in(ranges: object, address: str) -> bool:
    from policylint.spaces.addresses import address_set

    (own,) = address_set((address,)).ranges
    return any(each.low <= own.low < each.high for each in ranges)  # type: ignore[attr-defined]


def _who_by_guardrails(world: Environment) -> Answers:
    """A guardrail by which one client gets to no Service is broken where requests of that client do."""
    told = {}
    for address in ADDRESSES:
        (network,) = address_set((address,)).text.split(",")
        guardrail = Guardrail(
            "one", 0, "never", requests=RequestPattern(clients=network), sources=(network,), target="Service/*"
        )
        for verdict in verdicts(world.simulation, [guardrail]):
            for breach in verdict.breaches if len(world.ways) < MOST_WAYS else ():
                if breach.shows and not breach.unknown and "--claim" not in breach.shows:  # others have no token
                    told[re.sub(r" --from \S+", "", " ".join(breach.shows)), address] = "in"
    return told


def _who_by_policies(world: Environment) -> Answers:
    """The policies on the path themselves, asked without anybody who leads the request to them.

    Those at a Gateway of another controller may act, or not; what a variable leaves open is seen on the way alone.
    """
    told = {}
    world_of = world.simulation.world
    schemas = Schemas(world_of.definitions, world_of.is_deployed_with)
    for way in world.taken:
        if asked(world.requirements, way, "authorization").state == "unknown":
            continue
        nodes = set(way.trace.path)
        on_path = (g for g in world.simulation.groups if any(nodes.issuperset(context) for context in g.contexts()))
        topology, catalog = world.simulation.topology, world.simulation.catalog
        heard = (g for g in on_path if not unheard_of(topology, way.entry.gateway, g.kind, catalog))
        read = (group for group in heard if not any(left_open(group, schemas)))
        groups = [group for group in read if not _is_chosen(group, world)]
        for address in ADDRESSES:
            request = way.trace.request._replace(address=address)
            for group in groups:
                behaviour = implementation(group.kind.implementation, {})
                answers = behaviour.decisions(group.kind, group.effective.spec, facts(request))
                if any(decision.answer == "denied" for decision in answers):
                    told[bare(way.trace.request), address] = "out"
    return told


def _is_chosen(group: Group, world: Environment) -> bool:
    """Return whether a filter chooses, request by request, which of the policies on a path act."""
    behaviour = implementation(group.kind.implementation, {})
    return behaviour.choosing(world.simulation.groups, world.simulation.topology) is not None


# On which routes does a policy act


def _acts_by_trace(world: Environment) -> Answers:
    """What some request of a route meets acts there; of routes all of whose requests get to backends, all else does
    not, but at listeners that serve the route for hosts of which other routes take all requests, and what stands on the
    way of some and wants other ones by its own conditions (`when`)."""
    tied = {rule.key for rule in world.tied}
    told: dict[object, str] = {}
    met: dict[ResourceKey, set[ResourceKey]] = {}
    waiting: dict[ResourceKey, set[ResourceKey]] = {}
    known: dict[ResourceKey, bool] = {}
    taken: dict[ResourceKey, set[Node]] = {}
    served: dict[ResourceKey, set[Node]] = {}
    for way in world.ways:
        if way.trace.route is not None and way.trace.rule is not None:
            route = way.trace.route.key
            end = way.trace.outcome
            passed = not (end.unknown or way.undecided) and bool(end.backends)
            known[route] = known.get(route, True) and passed and not any(share.problem for share in end.shares)
            acting = (set(each.group.effective.owners.values()) for each in way.trace.policies if not each.skipped)
            deciding = {each.decision.by.key for each in way.trace.admissions if each.decision.by is not None}
            met.setdefault(route, set()).update(deciding, *acting)
            unmet = (each.group.effective.owners.values() for each in way.trace.policies if each.skipped)
            waiting.setdefault(route, set()).update(*unmet)
            taken.setdefault(route, set()).add(way.trace.rule)
            served.setdefault(route, set()).update([] if way.trace.listener is None else [way.trace.listener.node])
    for route, owners in met.items():
        told.update({(owner, route): "acts" for owner in owners})
        state = world.simulation.topology.route(route)
        whole_route = state is not None and taken[route] >= {rule.node for rule in rules(state.route)}
        if (
            whole_route
            and known[route]
            and route not in tied
            and len(world.ways) < MOST_WAYS
            and not world.simulation.topology.delegations
        ):
            others = (
                world.simulation.policies.keys() - owners - waiting[route] - _standing_at(world, state, served[route])
            )
            told.update({(other, route): "does not act" for other in others})
    return told


def _standing_at(world: Environment, state: RouteState | None, served: set[Node]) -> set[ResourceKey]:
    """Return the policies at listeners that may serve a route, and at which other routes take all of its requests."""
    nodes = [] if state is None else [node for node in state.attached if node not in served]
    listeners = filter(None, map(world.simulation.topology.listener, nodes))
    standing = {
        each.node
        for each in listeners
        if state is not None and not _is_closed(world, each) and not _others_take(world, state, each)
    }
    return {
        key
        for group in world.simulation.acting.groups
        if any(not standing.isdisjoint(context) for context in group.contexts())
        for key in group.effective.sources
    }


def _acts_by_closed_listeners(world: Environment) -> Answers:
    """Where no listener of a route takes a request for its own hosts, nothing acts on the route."""
    told: dict[object, str] = {}
    topology = world.simulation.topology
    below = {delegation.child for delegation in topology.delegations}
    for state in topology.routes[:_MOST_OBJECTS]:
        listeners = [listener for node in state.attached if (listener := topology.listener(node)) is not None]
        others = any(parent.mesh or parent.unseen is not None for parent in state.parents)
        if (
            listeners
            and not others
            and state.route.key not in below
            and all(_is_closed(world, each) or _others_take(world, state, each) for each in listeners)
        ):
            told.update({(key, state.route.key): "does not act" for key in world.simulation.policies})
    return told


def _is_closed(world: Environment, listener: ListenerState) -> bool:
    """Return whether a listener turns away a request of its own protocol for its own host."""
    trace = _asked_at(world, listener, listener.hostname.replace("*", "any") or "any.example.com")
    if trace is None:  # requests of other protocols are not asked for: of one that nobody knows the listener says so
        return any(each.type == "Accepted" and each.status == "False" for each in listener.conditions)
    return trace.outcome.refused and trace.listener is None


def _others_take(world: Environment, state: RouteState, listener: ListenerState) -> bool:
    """Return whether another listener takes requests for each host of a route, all of which it names outright."""
    hosts = (
        state.hostnames if all(name and "*" not in name and not is_symbolic(name) for name in state.hostnames) else ()
    )
    traces = [_asked_at(world, listener, host) for host in hosts]
    chosen = [each.listener.node for each in traces if each is not None and each.listener is not None]
    return len(chosen) == len(traces) > 0 and listener.node not in chosen


def _at_listeners(world: Environment) -> Iterator[tuple[RouteState, Candidate]]:
    """Yield routes at the open listeners to which they are attached, where the name of one tells which it is."""
    closed = world.simulation.acting.closed.nodes
    for state in world.simulation.topology.routes[:_MOST_OBJECTS]:
        accepted = (parent for parent in state.parents if parent.accepted)
        at = [each for parent in accepted for each in parent.candidates if not each.failure and not each.unknown]
        times = Counter(each.node.section for each in at)
        yield from ((state, each) for each in at if times[each.node.section] == 1 and each.node not in closed)


def _sends_by_explain(world: Environment) -> Answers:
    told = {}
    for state, candidate in _at_listeners(world):
        facts_of_it = explain(Subject(world.simulation, state.route.key, whole(state.route.key))).facts
        idle = f"listener {candidate.node.section} gets none of its requests"
        is_idle = any(fact.name == "idle" and fact.words.startswith(idle) for fact in facts_of_it)
        told[candidate.node, state.route.key] = "nothing" if is_idle else "something"
    return told


def _sends_by_trace(world: Environment) -> Answers:
    """Of hosts that are named outright; a listener whose host is a variable may take them from others, or may not."""
    told = {}
    for state, candidate in _at_listeners(world):
        listener = world.simulation.topology.listener(candidate.node)
        named = bool(candidate.hostnames) and all(
            name and "*" not in name and not is_symbolic(name) for name in candidate.hostnames
        )
        traces = [_asked_at(world, listener, host) for host in candidate.hostnames] if listener and named else []
        chosen = [(each.listener.node, each.route) for each in traces if each is not None and each.listener is not None]
        if any(each is not None and each.listener and is_symbolic(each.listener.hostname) for each in traces):
            continue
        here = [route for node, route in chosen if node == candidate.node]
        if len(chosen) == len(traces) > 0 and (not here or state.route in here):  # else another route takes them there
            told[candidate.node, state.route.key] = "something" if here else "nothing"
    return told


def _asked_at(world: Environment, listener: ListenerState, host: str) -> Trace | None:
    scheme = _SCHEMES.get(listener.protocol)
    if scheme is None or listener.gateway is None or listener.port is None:
        return None
    asks = {"gateway": spelled(listener.gateway), "scheme": scheme, "port": listener.port, "host": host, "path": "/"}
    return world.traced(as_request(asks))


def _acts_by_explain(world: Environment) -> Answers:
    told: dict[object, str] = {}
    routes = [state.route.key for state in world.simulation.topology.routes]
    for state in world.simulation.policies.values():
        acting = {reached.key for reached in reach(world.simulation, state).routes if reached.extent != "none"}
        told.update({(state.key, route): "acts" if route in acting else "does not act" for route in routes})
    return told


def _acts_by_explained_route(world: Environment) -> Answers:
    told: dict[object, str] = {}
    for state in world.simulation.topology.routes:
        node = whole(state.route.key)
        found = context_answers(world.simulation, nodes_of(world.simulation, node))
        owners = {by for each in found.listed for group in each.groups for by in group.effective.owners.values()}
        if not found.truncated:
            keys = world.simulation.policies
            told.update({(key, state.route.key): "acts" if key in owners else "does not act" for key in keys})
    return told


def _acts_by_list(world: Environment) -> Answers:
    told: dict[object, str] = {}
    keys = {world.names.key(key): key for key in world.simulation.policies}
    routes = {world.names.key(state.route.key): state.route.key for state in world.simulation.topology.routes}
    for row in entries("routes", [world.simulation], ListRequest()):
        acting = set(row["acting"])
        told.update(
            {(key, routes[row["route"]]): "acts" if name in acting else "does not act" for name, key in keys.items()}
        )
    return told


def _acts_by_simulate(world: Environment) -> Answers:
    told: dict[object, str] = {}
    for node, owners in world.simulation.acting.affected().items():
        if node.key.kind.endswith("Route"):
            told.update({(owner, node.key): "acts" for owner in owners})
    return told


# May a policy act on a route that was not seen to


def _unseen_by_reach(world: Environment) -> Answers:
    """A login that is not known for what may ask for it makes "no policy acts" untrue; one that is certain does not."""
    told: dict[object, str] = {}
    for way in world.ways if len(world.ways) < MOST_WAYS else ():
        if way.trace.rule is not None and way.trace.outcome.backends and not way.trace.may_ask:
            given = asked(world.requirements, way, "authentication")
            if given.state == "unknown" and " may ask for it" in given.why:
                told[way.trace.rule.key] = "may act"
    return told


def _unseen_by_trace(world: Environment) -> Answers:
    told: dict[object, str] = {}
    for way in world.taken:
        trace = world.traced(way.trace.request)
        if trace.rule is not None and trace.outcome.backends and trace.rule == way.trace.rule:
            why = world.requirements.of(trace, "authentication", unread=False).why
            if why and not trace.outcome.unknown and " may ask for it" in why:
                told[trace.rule.key] = "may act"
    return told


def _unseen_by_explain(world: Environment) -> Answers:
    """What the sentence says that stands where no policy acts, in every format and above the editor's cursor."""
    told: dict[object, str] = {}
    for state in world.simulation.topology.routes[:_MOST_OBJECTS]:
        subject = Subject(world.simulation, state.route.key, whole(state.route.key))
        explained = [(explain(subject), None)]
        text, data = ("".join(write(form, explained, world.names, Paint(on=False), 2000, "")) for form in _FORMS)
        said = re.search(r"^no policy [^;]*?\bacts (on it|here)(?!: no request)(;?)", text, re.MULTILINE)
        if said is not None:
            in_data = any(each.get("mayAct") for each in json.loads(data)["explanations"])
            assert in_data == bool(said[2]), state.route.key
            told[state.route.key] = "may act" if in_data else "none"
    return told


def _unseen_by_list(world: Environment) -> Answers:
    routes = {world.names.key(state.route.key): state.route.key for state in world.simulation.topology.routes}
    acting = {routes[row["route"]]: row for row in entries("routes", [world.simulation], ListRequest())}
    closed = {key for key in acting if not world.simulation.acting.owners.get(key) and _is_shut(world, key)}
    counted = {key: row["policies"] for key, row in acting.items() if key not in closed}
    return {key: "may act" if number is None else "none" for key, number in counted.items() if not number}


def _unseen_by_page(world: Environment) -> Answers:
    """The sentence of the side pane, where no policy acts on a box."""
    told: dict[object, str] = {}
    drawing, data = world.page
    for box, node in zip(drawing.graph.nodes, data["nodes"], strict=True):
        key = box.nodes[-1].key if box.nodes and not box.nodes[-1].section else None
        if key is not None and world.simulation.topology.route(key) is not None and not node["results"]:
            told[key] = "may act" if node["unseen"].startswith(";") else "none"
    return {key: answer for key, answer in told.items() if not _is_shut(world, key)}


def _is_shut(world: Environment, route: ResourceKey) -> bool:
    paths = context_answers(world.simulation, nodes_of(world.simulation, whole(route))).paths
    return bool(why_closed(world.simulation, paths))


# Does a policy act on all requests of a rule at a listener


def _whole_by_trace(world: Environment) -> Answers:
    """What some ways of a rule meet and others do not acts on some requests; what a policy says itself of the requests
    that it is for is a setting. Below a narrower host without a rule for them, controllers may answer 404.
    """
    met: dict[tuple[Node, Node], list[set[ResourceKey]]] = {}
    doubtful: set[object] = set()
    tied = world.tied
    named = {way.trace.hostname for way in world.ways}
    for way in world.ways if len(world.ways) < MOST_WAYS else ():
        if way.trace.rule is not None and way.trace.listener is not None:
            place = way.trace.listener.node, way.trace.rule
            acting = way.trace.policies
            met.setdefault(place, []).append({by for each in acting for by in each.group.effective.owners.values()})
            one_of_several = len(way.cells) > 1  # alike in what they ask, and one was traced
            if (
                one_of_several
                or way.undecided
                or way.trace.rule in tied
                or not way.trace.outcome.backends
                or any(each.doubt for each in acting)
                or (way.entry.hostname != way.trace.hostname and way.entry.hostname in named)
            ):
                doubtful.add(place)
    return {
        (key, *place): "all" if all(key in each for each in ways) else "some"
        for place, ways in met.items()
        for key in (set().union(*ways) if place not in doubtful else ())
    }


def _whole_by_explain(world: Environment) -> Answers:
    """The answers about a rule; they tell listeners and backends apart, and where requests part, no more."""
    told: dict[object, str] = {}
    for state in world.simulation.topology.routes[:_MOST_OBJECTS]:
        for rule in rules(state.route):
            found = context_answers(world.simulation, nodes_of(world.simulation, rule.node))
            for answer in found.listed if not found.truncated else ():
                for node in {node for path in answer.paths for node in path if node.role == "Listener"}:
                    owners = Counter(by for group in answer.partly for by in set(group.effective.owners.values()))
                    for group in answer.groups:
                        words = "some" if answer.meets_some(group) else "all"
                        acting = {by for by in group.effective.owners.values() if owners[by] < 2}
                        told.update({(by, node, rule.node): words for by in acting})
    return told


# Does a listener take requests


def _listeners(world: Environment) -> list[ListenerState]:
    topology = world.simulation.topology
    holders = (*topology.gateways, *topology.listener_sets)
    found = (listener for holder in holders for listener in holder.listeners)
    return [each for each in found if each.protocol in _SCHEMES][:_MOST_OBJECTS]


def _takes_by_trace(world: Environment) -> Answers:
    """What it answers to a request for its own host; one that another listener takes says nothing of this one."""
    told: dict[object, str] = {}
    for listener in _listeners(world):
        if not is_symbolic(listener.hostname):
            trace = _asked_at(world, listener, listener.hostname.replace("*", "any") or "any.example.com")
            if trace is not None and trace.outcome.refused and trace.listener is None and not trace.outcome.unknown:
                told[listener.node] = "takes none"
            elif trace is not None and trace.listener is not None and trace.listener.node == listener.node:
                told[listener.node] = "takes some"
    return told


def _takes_by_reach(world: Environment) -> Answers:
    told = (way.trace.listener for way in world.taken)
    return {listener.node: "takes some" for listener in told if listener is not None}


def _takes_by_lint(world: Environment) -> Answers:
    found = (each.message for each in world.findings if each.rule == "GWP412" and each.confidence == "certain")
    words = {each.partition(" is ")[0] for each in found if each.endswith("so no connection gets through")}
    return {listener.node: "takes none" for listener in _listeners(world) if str(listener.node) in words}


def _takes_by_list(world: Environment) -> Answers:
    """A reason for which a controller refuses a listener says nothing of requests: some serve it all the same."""
    rows = {row["listener"]: row["status"] for row in entries("listeners", [world.simulation], ListRequest())}
    words = {"takes no requests": "takes none", "Accepted": "takes some"}
    told = {each.node: words.get(rows.get(world.names.node(each.node), ""), "") for each in _listeners(world)}
    return {node: answer for node, answer in told.items() if answer}


def _takes_by_explain(world: Environment) -> Answers:
    told: dict[object, str] = {}
    for listener in _listeners(world):
        for fact in explain(Subject(world.simulation, listener.node.key, listener.node)).facts:
            if fact.name == "serves":
                told[listener.node] = "takes none" if "takes no requests" in fact.words else "takes some"
                if listener.conflict:
                    del told[listener.node]
    return told


# At which objects does a policy act


def _objects(world: Environment) -> list[ResourceKey]:
    """Return what requests pass, or come to."""
    objects = world.simulation.world
    kinds = ("Gateway", "GatewayClass", "Service")
    found = [key for key in objects.resources if key.kind in kinds or is_workload(key.group, key.kind)]
    return sorted(found)[:_MOST_OBJECTS]


def _acts_at(world: Environment, of: Mapping[ResourceKey, Collection[ResourceKey]]) -> Answers:
    return {(key, at): "acts" if key in of[at] else "does not act" for at in of for key in world.simulation.policies}


def _acts_at_by_explain(world: Environment) -> Answers:
    found = {}
    for key in _objects(world):
        answer = context_answers(world.simulation, nodes_of(world.simulation, whole(key)))
        if not answer.truncated:
            found[key] = {
                by for each in answer.listed for group in each.groups for by in group.effective.owners.values()
            }
    return _acts_at(world, found)


def _acts_at_by_list(world: Environment) -> Answers:
    """The index that `list` and editors read."""
    owners = world.simulation.acting.owners
    return _acts_at(world, {key: owners.get(key, ()) for key in _objects(world)})


def _acts_at_by_simulate(world: Environment) -> Answers:
    """It tells objects at and below a target; what lies before or behind a proxy it leaves out."""
    affected = world.simulation.acting.affected()
    objects = set(_objects(world))
    return {(owner, node.key): "acts" for node, owners in affected.items() if node.key in objects for owner in owners}


def _acts_at_by_page(world: Environment) -> Answers:
    """The policies whose boxes light up with the box of an object; it draws no more results than there is room for."""
    drawing, said = world.page
    boxes, data = drawing.graph.nodes, said["nodes"]
    drawn = {
        box.nodes[-1].key: each
        for box, each in zip(boxes, data, strict=True)
        if box.nodes and not box.nodes[-1].section
    }
    policies = [key for key in world.simulation.policies if key in drawn]
    numbers = {key: data.index(drawn[key]) for key in policies}
    return {
        (policy, at): "acts" if numbers[policy] in drawn[at]["acting"] else "does not act"
        for at in _objects(world)
        if at in drawn
        for policy in policies
    }


# Is an object refused


def _refused_by_lint(world: Environment) -> Answers:
    """A field that must be there, another type, another value, a name: limits and patterns are loosened from time to
    time, a word that resembles none of an enumeration may be one of a later release, and so may a field, with which
    the rest may be otherwise; the finding says that the object counts. What is "unknown" says nothing of it."""
    shapes = re.compile(r" lacks |, which takes |, which no API server takes")
    return {
        finding.resources[0]: "refused"
        for finding in world.findings
        if (
            (finding.rule == "GWP501" and finding.resources and shapes.search(finding.message))
            and finding.confidence != "unknown"
            and not (finding.confidence == "assumed" and finding.message.endswith(" other values"))
            and not any("counts as it is written" in words for words in finding.help)
        )
        or (finding.rule == "GWP505" and finding.severity == "error" and finding.field.startswith("metadata."))
    }


def _refused_by_trace(world: Environment) -> Answers:
    return {
        owner: "acts"
        for way in world.ways
        for each in way.trace.policies
        for owner in each.group.effective.owners.values()
        if not each.skipped
    }


def _refused_by_reach(world: Environment) -> Answers:
    return {
        demand.policy: "acts"
        for way in world.taken
        for purpose in ("authentication", "authorization")
        for demand in asked(world.requirements, way, purpose).demands
        if demand.policy is not None
    }


def _refused_by_simulate(world: Environment) -> Answers:
    acting = ("Enforced", "PartiallyEnforced")
    states = world.simulation.policies.values()
    return {state.key: "acts" for state in states if state.verdict in acting}


def _refused_by_network(world: Environment) -> Answers:
    statuses = world.simulation.network.statuses.policies if has_policies(world.simulation.world) else ()
    return {status.key: "acts" for status in statuses if status.verdict in ("Enforced", "PartiallyEnforced")}


def _refused_by_hub(world: Environment) -> Answers:
    placed = world.simulation.hub.policies.items()
    return {key: "acts" for key, several in placed if any(not each.nowhere for each in several)}


# Is a workload in a mesh


def _meshed_by_trace(world: Environment) -> Answers:
    told = {}
    for end in workloads(world.simulation.world):
        proxied = None if end.resource is None else world.tracer.simulation.meshes.proxied(end.resource)
        if proxied is not None:
            told[end.key] = "yes" if proxied else "no"
        elif _meshed_by_labels(world).get(end.key):
            told[end.key] = "not known"
    return told


def _meshed_by_labels(world: Environment) -> Answers:
    """Who is injected for certain, as Istio's injector reads it: the namespace says so, and no pod says otherwise."""
    objects = world.simulation.world
    injecting = {
        each.key.name
        for each in objects.of_kind("", "Namespace")
        if each.labels.get("istio-injection") == "enabled" and not each.key.name.startswith("kube-")
    }
    plain = (end for end in workloads(objects) if end.resource is not None and end.is_pod and not end.host)
    return {
        end.key: "yes"
        for end in plain
        if end.namespace in injecting and "istio" not in repr(end.resource and end.resource.body)
    }


def _meshed_by_network(world: Environment) -> Answers:
    ends = workloads(world.simulation.world)
    return {end.key: "yes" for end in ends if end.is_pod and world.simulation.meshes.tunnel(end, end) is not None}


def _ambient_by_trace(world: Environment) -> Answers:
    proxies = ((end.key, Mesh(world.simulation.world).proxy(end.key)) for end in workloads(world.simulation.world))
    return {key: "yes" if proxy.ambient else "no" for key, proxy in proxies if proxy is not None and proxy.sure}


def _ambient_by_network(world: Environment) -> Answers:
    told = {}
    for end in workloads(world.simulation.world):
        wrapped = world.simulation.meshes.tunnel(end, end) if end.is_pod else None
        told[end.key] = "yes" if wrapped is not None and wrapped.port == _HBONE else "no"
    return told


# Is an object there


_MISSING = re.compile(r"\b([A-Z]\w+) (?:(\S+)/)?(\S+?) (?:was|is) not (?:found|there)|there is no ([A-Z]\w+) (\S+)")


def _there_by_files(world: Environment) -> Answers:
    """What stands in the files of which anything is deployed, whether a reader asked for it or not."""
    files = {resource.name_location.file for resource in world.simulation.world.resources.values()}
    read = (each for file in sorted(files) if Path(file).is_file() for each in loaded(Path(file).read_bytes(), file))
    return {f"{each.key.kind} {each.key.path}": "there" for each in read}


def _there_by_lint(world: Environment) -> Answers:
    told = {}
    for finding in world.findings:
        for kind, namespace, name, *other in _MISSING.findall(f"{finding.message}. {finding.label}"):
            path = f"{namespace}/{name}" if namespace else name
            told[f"{kind} {path}" if kind else f"{other[0]} {other[1].rstrip('.,;:')}"] = "missing"
    return told


# Which rule takes a request


def _taker_by_reach(world: Environment) -> Answers:
    of_ways = {named(way.trace.request): str(way.trace.rule) for way in world.taken}
    return of_ways | {named(request): str(trace.rule) for request, trace in world.drawn if not trace.outcome.unknown}


def _taker_by_trace(world: Environment) -> Answers:
    requests = [*(way.trace.request for way in world.taken), *(request for request, _ in world.drawn)]
    traces = ((request, world.traced(request)) for request in requests)
    return {named(request): str(trace.rule) for request, trace in traces if not trace.outcome.unknown}


def _rules(world: Environment) -> Iterator[Node]:
    """Yield the rules of routes that some listener serves, where regions tell all of their requests apart."""
    served = {way.trace.route.key for way in world.taken if way.trace.route is not None}
    served -= {way.trace.route.key for way in world.ways if way.trace.route is not None and way not in world.taken}
    doubtful = {way.entry.gateway for way in world.ways if way.trace.route is None and way.trace.outcome.unknown}
    at = ((state.route.key, {parent.gateway for parent in state.parents}) for state in world.simulation.topology.routes)
    served -= {route for route, gateways in at if not gateways.isdisjoint(doubtful)}
    if not any(way.undecided for way in world.ways) and len(world.ways) < MOST_WAYS:
        for state in world.simulation.topology.routes:
            if state.route.key in served and state.route.key.kind in ("GRPCRoute", "HTTPRoute"):
                of_route = list(rules(state.route))
                names = Counter(rule.node for rule in of_route)  # a name may be another's number
                left_open = {rule.node for rule in of_route if holds_variable(json.dumps(rule.body.get("matches")))}
                yield from (node for node, times in names.items() if times == 1 and node not in left_open)


def _rules_by_reach(world: Environment) -> Answers:
    """Rules whose backends share the requests of another one get some, too."""
    with_requests = {way.trace.rule for way in world.taken}
    for trace in (way.trace for way in world.taken):
        for share in trace.outcome.shares:
            maker = share.route or trace.route
            if maker is not None and share.share:
                with_requests |= {rule.node for rule in rules(maker) if rule.pointer(None) == share.pointer[:3]}
    return {rule: "gets requests" if rule in with_requests else "gets none" for rule in _rules(world)}


def _doubtful_beside_others(routes: Iterable[RouteState]) -> set[ResourceKey]:
    """Return the routes of a listener with several of which one may not be attached there."""
    at_listener: dict[Node, list[tuple[ResourceKey, str]]] = {}
    for state in routes:
        for each in (candidate for parent in state.parents for candidate in parent.candidates if not candidate.failure):
            at_listener.setdefault(each.node, []).append((state.route.key, each.unknown))
    several = [found for found in at_listener.values() if len({key for key, _ in found}) > 1]
    return {key for found in several if any(unknown for _, unknown in found) for key, _ in found}


def _is_read(world: Environment, rule: Rule) -> bool:
    """Return whether some Gateway of its route makes something of a rule."""
    state = world.simulation.topology.route(rule.node.key)
    gateways = () if state is None else map(world.simulation.topology.gateway, {each.gateway for each in state.parents})
    orders = (ranking(world.simulation, gateway) for gateway in gateways)
    return any(any(ranked(rule.body, order, grpc=rule.node.key.kind == "GRPCRoute")) for order in orders)


def _is_made(world: Environment, state: RouteState, rule: Rule) -> bool:
    """Return whether some Gateway of a route makes its rule, whose filters it may not know (GWP415 tells of it)."""
    unserved = world.tracer.responder.unserved
    return any(unserved(state.route, rule, parent.gateway)[0] != 404 for parent in state.parents) or not state.parents


def _rules_by_gwp408(world: Environment) -> Answers:
    """What is reported of one match of a rule says nothing of its others; of a refused route there is none, and of one
    at a Gateway that was not seen nothing is said. One that may not be attached is held against no other."""
    told = {str(rule): (rule, "gets requests") for rule in _rules(world)}
    for finding in world.findings:
        subject = finding.message.partition(" can never win")[0].partition(" is in a tie ")[0]
        if finding.rule == "GWP408" and subject in told:
            told[subject] = (told[subject][0], "gets none")
            if re.search(r" is in a tie against .* for .*: both match", finding.message):
                del told[subject]  # it says so of one host
    refused = {key for finding in world.findings if finding.rule == "GWP501" for key in finding.resources}
    invalid = {key for finding in world.findings if finding.rule == "GWP416" for key in finding.resources}
    routes = world.simulation.topology.routes
    listed = (rule for state in routes if state.route.key in invalid for rule in rules(state.route))
    unread = {rule.node for rule in listed if not _is_read(world, rule)}
    unmade = {rule.node for state in routes for rule in rules(state.route) if not _is_made(world, state, rule)}
    told |= {name: (rule, "gets none") for name, (rule, _) in told.items() if rule in unread}
    silent = refused | {state.route.key for state in routes if any(each.resolution.unknown for each in state.parents)}
    silent |= _doubtful_beside_others(routes)
    several = {
        rule.node for state in routes for rule in rules(state.route) if len(sequence(rule.body.get("matches"))) > 1
    }
    return {
        rule: answer
        for rule, answer in told.values()
        if (rule not in several or answer == "gets requests" or rule in unread)
        and rule.key not in silent
        and rule not in unmade  # what no other one takes it answers with 404 by itself
    }


# Does something else change an answer that has nothing to do with it


def _meshed_beside(world: Environment) -> Answers:
    return _meshed_by_trace(world.beside_unrelated)


def _ends_inside(world: Environment) -> Answers:
    """Where the requests of workloads to Services end; an object of a mesh says who applies the routes of Services."""
    told = {}
    objects = world.simulation.world
    callers = [end.key for end in workloads(objects) if end.is_pod][:_MOST_ENDS]
    for service in objects.of_kind("", "Service")[:_MOST_ENDS]:
        if service.key in world.tracer.in_mesh:
            continue
        for port in map(mapping, sequence(service.spec.get("ports"))):
            for caller in callers if isinstance(port.get("port"), int) else ():
                asks = {"client": spelled(caller), "service": spelled(service.key), "port": port["port"], "path": "/"}
                trace = world.traced(as_request({"host": service.key.name, **asks}))
                told[caller, service.key, port["port"]] = end_in_words(trace)
    return told


def _ends_inside_beside(world: Environment) -> Answers:
    return _ends_inside(world.beside_unrelated)


QUESTIONS: dict[str, Mapping[str, Callable[[Environment], Answers]]] = {
    "does it get to the pods": {
        "trace": _arrives_by_trace,
        "reach": _arrives_by_reach,
        "guardrail": _arrives_by_guardrail,
        "GWP604": _arrives_by_gwp604,
        "Python": _arrives_by_python,
        "assistant": _arrives_by_assistant,
    },
    "how many ways have a login": {"reach": _counted_by_reach, "assistant": _counted_by_assistant},
    "is a login asked": {
        "trace": _login_by_trace,
        "reach": _login_by_reach,
        "clients let in": _login_by_clients,
        "guardrail": _login_by_guardrail,
        "GWP301": _login_by_gwp301,
    },
    "what of a login was seen": {
        "trace": _seen_by_trace,
        "reach": _seen_by_reach,
        "guardrail": _seen_by_guardrail,
        "GWP301": _seen_by_gwp301,
        "export": _seen_by_export,
    },
    "who may reach a route": {"page": _reached_by_page, "reach": _reached_by_reach, "editor": _reached_by_editor},
    "does it depend on who authorizes": {"trace": _authorized_by_trace, "reach": _authorized_by_reach},
    "who answers on the way": {"trace": _answered_by_trace, "trace in JSON": _answered_by_json},
    "who is turned away": {
        "trace": _who_by_trace,
        "reach": _who_by_reach,
        "guardrails": _who_by_guardrails,
        "policies": _who_by_policies,
    },
    "on which routes does it act": {
        "trace": _acts_by_trace,
        "trace at closed listeners": _acts_by_closed_listeners,
        "explain": _acts_by_explain,
        "explain of the route": _acts_by_explained_route,
        "list": _acts_by_list,
        "simulate": _acts_by_simulate,
    },
    "may a policy act that was not seen": {
        "reach": _unseen_by_reach,
        "trace": _unseen_by_trace,
        "explain": _unseen_by_explain,
        "list": _unseen_by_list,
        "page": _unseen_by_page,
    },
    "does it act on all requests of a rule": {"trace": _whole_by_trace, "explain": _whole_by_explain},
    "does a listener take requests": {
        "trace": _takes_by_trace,
        "reach": _takes_by_reach,
        "lint": _takes_by_lint,
        "list": _takes_by_list,
        "explain": _takes_by_explain,
    },
    "does a listener send a route anything": {"explain": _sends_by_explain, "trace": _sends_by_trace},
    "at which objects does it act": {
        "explain": _acts_at_by_explain,
        "list": _acts_at_by_list,
        "simulate": _acts_at_by_simulate,
        "page": _acts_at_by_page,
    },
    "is it refused": {
        "lint": _refused_by_lint,
        "trace": _refused_by_trace,
        "reach": _refused_by_reach,
        "simulate": _refused_by_simulate,
        "network": _refused_by_network,
        "hub": _refused_by_hub,
    },
    "is it in a mesh": {
        "trace": _meshed_by_trace,
        "network": _meshed_by_network,
        "labels": _meshed_by_labels,
        "trace beside an unrelated policy": _meshed_beside,
    },
    "is it ambient": {"trace": _ambient_by_trace, "network": _ambient_by_network},
    "where do requests inside end": {"trace": _ends_inside, "trace beside an unrelated policy": _ends_inside_beside},
    "is it there": {"files": _there_by_files, "lint": _there_by_lint},
    "which rule takes it": {"trace": _taker_by_trace, "reach": _taker_by_reach},
    "does a rule get requests": {"reach": _rules_by_reach, "GWP408": _rules_by_gwp408},
}


# What does a change open


def _opened_by_traces(change: Change) -> Answers:
    told: dict[object, str] = {}
    served = {(each.gateway, each.host) for each in entry_points(change.environments[0].tracer) if each.hostname}
    for entry, before, after in change.traces:
        subject = (entry.gateway, entry.port, entry.hosts)
        if _is_taken_over(change, entry, served):
            continue
        if any(trace.outcome.unknown or trace.authorization == "depends" or trace.depends for trace in (before, after)):
            told[subject] = ""
        elif after.outcome.backends and _is_in_doubt(change, before, after):
            told[subject] = ""  # a diff that sees go what was asked says so, as far as seen
        elif after.unsettled and before.denied and not before.is_cut_off:
            told[subject] = ""  # and one that sees who turned it away go, where the network may still do so
        elif told.get(subject) != "":
            words = [result(trace, change.names) for trace in (before, after)]
            ends = [_serves(said, trace) for said, trace in zip(words, (before, after), strict=True)]
            if before.denied and not before.is_cut_off and ends[-1] == "not known":
                told[subject] = ""  # who turned it away for certain does so no longer: a diff says so, as far as seen
                continue
            opened = ends == ["no", "yes"] or _opened_to_strangers(change, before, after)
            opened = opened or told.get(subject) == "opened"
            told[subject] = "" if None in ends else "opened" if opened else "not opened"
            if ends[-1] == "not known" and ends[0] != "yes" and words[0] != words[1] and not opened:
                told[subject] = "not known"
    return {subject: answer for subject, answer in told.items() if answer}


def _is_taken_over(change: Change, entry: EntryPoint, served: set[tuple[ResourceKey, str]]) -> bool:
    """Return whether a Gateway comes to serve a host that an object of another kind served already: requests are
    compared with what they got there."""
    is_new = change.sides.pairing.was(entry.gateway) not in {gateway for gateway, host in served if host == entry.host}
    return is_new and any(gateway[:2] != entry.gateway[:2] and host == entry.host for gateway, host in served)


def _is_in_doubt(change: Change, before: Trace, after: Trace) -> bool:
    """Return whether it is not known whether a request needs a login now, or what else it certainly needed before."""
    now = change.environments[1].requirements
    purposes = ("authentication", *(["authorization"] if _is_asked_besides(change.environments[0], before) else ()))
    return any(now.of(after, purpose).state == "unknown" for purpose in purposes)


def _opened_to_strangers(change: Change, before: Trace, after: Trace) -> bool:
    """Return whether a request gets to a backend on both sides, and needed a login before that it need not have now, or
    what else no trace judges."""
    if not (before.outcome.backends and after.outcome.backends):
        return False
    was, now = (world.requirements for world in change.environments)
    free = {purpose: now.of(after, purpose).state in ("open", "optional") for purpose in PURPOSES}
    if free["authentication"] and was.of(before, "authentication").state == "asked":
        return True
    return free["authorization"] and _is_asked_besides(change.environments[0], before)


def _is_asked_besides(world: Environment, trace: Trace) -> bool:
    """Return whether a request must have more than a login, and neither policies nor proxies of pods turn any away in a
    trace that has it not: addresses and groups that a plugin lets in."""
    given = world.requirements.of(trace, "authorization")
    unjudged = {binding.wanted for binding in trace.extensions}
    if not (trace.admissions or trace.beyond):
        unjudged |= {each.policy for each in given.demands if each.policy is not None}
        unjudged -= {each.policy for each in trace.judged if each.policy is not None}
    return given.state == "asked" and any(each.must and each.policy in unjudged for each in given.demands)


def _opened_by_diff(change: Change) -> Answers:
    requests = change.found.requests
    if requests is None:
        return {}
    opened = {
        (each.gateway, each.port, host) for found in requests.opens for each in found.requests for host in each.hosts
    }
    if requests.unknown:
        return dict.fromkeys(opened, "opened")
    subjects = {(entry.gateway, entry.port, entry.hosts) for entry, _, _ in change.traces}
    return {subject: "opened" if subject in opened else "not opened" for subject in subjects}


def _said(change: Change) -> Answers:
    requests = change.found.requests
    if requests is None or _has_connections_inside(change):
        return {}
    return _told(requests.changes, _unknown(change, requests.unknown))


def _has_connections_inside(change: Change) -> bool:
    """Return whether routes of connections have Services as parents: whether they are for requests is the mesh's."""
    routed = (state for side in change.environments for listed in side.tracer.in_mesh.values() for _, state in listed)
    return any(state.route.key.kind == "TCPRoute" for state in routed)


def _told(changes: Iterable[RequestChange], unknown: Iterable[tuple[str, int]]) -> Answers:
    kinds = sorted({each.change for each in changes})
    return {"the change": f"{', '.join(kinds)}; not known: {[why for why, _ in unknown]}"}


def _said_beside(change: Change) -> Answers:
    """What is said beside an object of a mesh: where that is its first policy, requests inside are compared that were
    not looked at, and clients are told apart that were one: of these a row may be about one alone."""
    requests, alone = change.beside_unrelated.found.requests, change.found.requests
    if requests is None or alone is None or _has_connections_inside(change):
        return {}
    asked = {entry.gateway for side in change.environments for entry in entries_inside(side.tracer)}
    whole = any(side.tracer.admissions.any for side in change.environments)
    kinds: defaultdict[ResourceKey, set[str]] = defaultdict(set)
    for each in alone.changes:
        for found in each.requests:
            kinds[found.gateway].add(each.change)
    asked |= kinds.keys()  # one side may have a port for which the other has the route

    def is_asked(kind: str, found: RequestSet) -> bool:
        if not found.inside:
            return True
        is_one = whole or found.gateway in asked or found.gateway in kinds
        return is_one and kind in kinds.get(found.gateway, {kind})

    changes = (each for each in requests.changes if any(is_asked(each.change, found) for found in each.requests))
    return _told(changes, _unknown(change, requests.unknown))


def _unknown(change: Change, reasons: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the reasons that are not only of requests inside."""
    return [each for each in reasons if not _is_of_services(change, each[0])]


def _is_of_services(change: Change, why: str) -> bool:
    """Return whether a policy that may ask for something is one of Services alone: clients inside meet it, as they do
    what network policies do to accounts."""
    inside = " may stop what ServiceAccount/" in why or why == "nothing here says how it gets there"
    if why.startswith("it hangs on "):  # the network leaves it open, and for nobody who comes by a Gateway
        doubts = {way.trace.unsettled for each in change.environments for way in each.ways}
        inside = why not in doubts
    return inside or any(
        all(node.key.kind == "Service" for target in state.targets for node in target.nodes)
        for side in change.sides[:2]
        for state in side.policies.values()
        if why.startswith(f"{state.key} may ask") and state.targets
    )


def _login_lost_by_diff(change: Change) -> Answers:
    requests = change.found.requests
    if requests is None or requests.unknown:
        return {}
    less = [each for each in requests.changes if each.change in ("opened", "less-asked")]
    return {"the change": "asks for less" if less else "asks for as much"}


def _login_lost_by_findings(change: Change) -> Answers:
    lost = [
        finding
        for finding in change.findings
        if finding.rule in ("GWP302", "GWP324") and finding.confidence == "certain"
    ]
    return {"the change": "asks for less"} if lost else {}


def _login_lost_by_comment(change: Change) -> Answers:
    uncovered: Any = None
    new = tuple(FindingChange(finding, "new") for finding in change.findings)
    said = comment(DiffReport(Comparison((change.found,), new), Report((), uncovered)))
    if change.found.requests is None or change.found.requests.unknown:
        return {}
    # A row of a host that moves stands for two changes of requests: what opens there, and what closes here.
    # A limit turns nobody away who asks less often: of requests nothing is said where it goes.
    opening = (row for row in said.rows if row.kind in OPENING and not _is_of_objects(row, change))
    moved = [row for row in said.rows if row.moves or row.kind == "moved" or _comes_to_another_port(row)]
    less = [*moved, *opening]
    return {"the change": "asks for less" if less else "asks for as much"}


def _comes_to_another_port(row: CommentRow) -> bool:
    """Return whether a row is of a host that opens at another port or scheme of its Gateway, where more is asked."""
    return row.kind == "stricter" and row.example is not None and row.example.change == "opened"


def _is_of_objects(row: CommentRow, change: Change) -> bool:
    """Return whether a row of the comment tells what no request shows: only settings that protect without asking who
    comes, those of an object through which no rule takes any request, or what findings say of an object, or assume of
    requests that were not seen."""
    said = [finding for finding in row.findings if finding.rule == "GWP304" or finding.confidence == "assumed"]
    if row.findings and row.example is None and len(said) == len(row.findings):
        return True
    ways = [way for side in change.environments for way in side.ways if way.trace.rule is not None]
    taking = {key for way in ways for key in (way.entry.gateway, way.trace.rule and way.trace.rule.key)}
    if row.subjects and taking.isdisjoint(subject.key for subject in row.subjects):
        return True
    protects = (each.name in {path.split(".")[0] for path in each.kind.settings.protection} for each in row.settings)
    return bool(row.settings) and all(protects)


def _in_its_place_by_diff(change: Change) -> Answers:
    """Where some are asked something else and others nothing, each finding is about some of them."""
    requests = change.found.requests
    changes = [] if requests is None else requests.changes
    after = [each.after.login for one in changes if one.purpose == "authentication" for each in one.requests]
    return {"the change": "something else is asked"} if after and all(each.state == "asked" for each in after) else {}


def _in_its_place_by_findings(change: Change) -> Answers:
    lost = [finding for finding in change.findings if "authentication" in finding.message]
    said = [" ".join((finding.message, finding.label, *finding.help)) for finding in lost]
    return (
        {"the change": "nothing"} if any(re.search(r"no other policy\b.* replaces it", words) for words in said) else {}
    )


def _taken_over_by_diff(change: Change) -> Answers:
    """The requests that go elsewhere although their own rule is as it was, by a diff as it is."""
    requests = change.found.requests
    return {} if requests is None or requests.unknown else {"rerouted": str(_rerouted(change))}


def _taken_over_by_ages(change: Change) -> Answers:
    """The same of both sides with the ages that they have in the cluster: what is new is younger."""
    old, new = (_aged(side, set(change.sides.before.world.resources)) for side in change.sides[:2])
    aged = Change(old, new)
    requests = aged.found.requests
    return {} if requests is None or requests.unknown else {"rerouted": str(_rerouted(aged))}


def _rerouted(change: Change) -> bool:
    requests = change.found.requests
    return requests is not None and any(each.change == "rerouted" for each in requests.changes)


def _aged(simulation: Simulation, old: set[ResourceKey]) -> Simulation:
    aged = {}
    for key, resource in simulation.world.resources.items():
        year = 2098 if key in old else 2099  # what states its age is older (Resource.age)
        metadata = {"creationTimestamp": f"{year}-01-01T00:00:00Z", **resource.body.get("metadata", {})}
        aged[key] = resource.replaced(body={**resource.body, "metadata": metadata})
    return simulate(simulation.world.with_resources(aged), simulation.catalog)


def _lets_in(before: Trace, after: Trace) -> bool:
    """Return whether whoever was turned away by a policy gets in: where the network did it, to the pods that it kept
    them from, and not to others to which a Service leads meanwhile. Where the network alone is in doubt now, and did
    not do it, that is a ground, and no reason to say nothing."""
    if not before.denied or before.depends or not after.outcome.backends:
        return False
    if after.unsettled and before.is_cut_off:
        return False
    denials = [each.decision for each in before.judged if each.decision.answer == "denied"]
    if denials and all(each.direct for each in denials):
        return False  # a page of maintenance keeps nobody out
    if (
        denials
        and all(each.is_fault for each in denials)
        and any(ask.must for met in after.policies for ask in met.asks)
    ):
        return False  # what could do no work kept everybody out; who gets in now has shown who they are
    if after.depends or after.authorization == "depends":
        return False
    stopped = None if before.network is None or before.outcome.backends else before.network.stopped
    if stopped is None or after.network is None:
        return True
    return any(
        (hop.target.key, hop.target.labels) == (stopped.target.key, stopped.target.labels)
        for hop in after.network.hops
        if hop.verdict != "denied"
    )


def _let_in_by_traces(change: Change) -> Answers:
    """Who was turned away by a policy and now gets to the backend of a route that both sides have."""
    for entry, before, after in change.traces:
        if entry.gateway in change.sides.after.topology.unseen:
            continue  # of what takes the place of a Gateway that goes nothing is known
        if _lets_in(before, after) and _still_there(change, before) and not _only_clients_differ(change, before):
            return {"the change": "lets in who was kept out"}
    return {}


def _still_there(change: Change, before: Trace) -> bool:
    """Return whether the pods from which the network kept a request are there on the side after."""
    stopped = None if before.network is None or before.outcome.backends else before.network.stopped
    workload = None if stopped is None else change.sides.before.world.get(stopped.target.key)
    return workload is None or change.sides.after.world.get(change.sides.pairing.key(workload.key)) is not None


def _only_clients_differ(change: Change, before: Trace) -> bool:
    """Return whether what turned requests away in a mesh stands, and those who send them do so in another way: a
    DestinationRule that has them show no certificate is gone."""
    refusing = [each for each in before.admissions if each.decision.answer == "denied"]
    sides = [side.world.resources for side in change.sides[:2]]
    changed = {
        key
        for key in sides[0].keys() | sides[1].keys()
        if any(key not in side for side in sides) or sides[0][key].body != sides[1][key].body
    }
    worlds = [(world.simulation.policies, world.tracer.admissions.hears) for world in change.environments]
    states = ((policies.get(key), hears) for policies, hears in worlds for key in changed)
    is_policy = any(state is not None and hears(state.kind.implementation) for state, hears in states)
    around = {each.at.path[0].key for each in refusing}
    around |= {ResourceKey("", "Namespace", "", key.namespace) for key in around}
    return bool(refusing) and not is_policy and changed.isdisjoint(around)


def _let_in_by_findings(change: Change) -> Answers:
    """A warning where a new entry names them, an error elsewhere (tests/compare/test_severities.py)."""
    told = [finding for finding in change.findings if finding.severity in ("error", "warning")]
    return {"the change": "lets in who was kept out" if told else "nothing"}


def _how_bad_by_traces(change: Change) -> Answers:
    """Where clients with nothing in common were kept out, and now get in, nobody is named who might be meant."""
    before, after = (world.tracer for world in change.environments)
    for entry, was, now in change.traces:
        request = was.request
        anonymous = not (request.claims or entry.inside or any(map(request.path.startswith, change.paths)))
        anonymous = anonymous and change.new_texts.isdisjoint(
            (request.method, *(value for _, value in request.headers))
        )
        anonymous = anonymous and entry.gateway not in change.sides.after.topology.unseen
        anonymous = anonymous and _still_there(change, was) and not _is_of_sites(was)
        if anonymous and _lets_in(was, now) and not _only_clients_differ(change, was):
            asked = [request._replace(address=address) for address in ADDRESSES]
            if sum(_lets_in(before.trace(each), after.trace(each)) for each in asked) > 1:
                return {"the change": "error"}
    return {}


def _is_of_sites(trace: Trace) -> bool:
    """Return whether settings that protect without asking who comes turned a request away, and nothing else did: from
    scripts of other sites, whose visitors are let in."""
    denials = [each for each in trace.judged if each.decision.answer == "denied"]
    return bool(denials) and all(
        each.met is not None
        and str(next(iter(each.decision.pointer), ""))
        in {path.partition(".")[0] for path in each.met.group.kind.settings.protection}
        for each in denials
    )


def _severity_of_rows(change: Change) -> Answers:
    """How bad it is that a setting asks for less, and nobody gets in by that, the catalog says (`one more user`)."""
    requests = change.found.requests
    of_settings = any(finding.rule == "GWP304" for finding in change.findings)
    told = ("opened",) if of_settings else ("opened", "less-asked")
    rows = [] if requests is None else [each for each in requests.changes if each.change in told]
    return {"the change": min((each.severity for each in rows), key=SEVERITIES.index)} if rows else {}


def _severity_of_findings(change: Change) -> Answers:
    """A finding may be worse than the rows, where an object says so that no request shows; it is never milder."""
    rows, worst = _severity_of_rows(change), _how_bad_by_findings(change)
    if rows and worst and SEVERITIES.index(worst["the change"]) < SEVERITIES.index(rows["the change"]):
        return {}
    return worst or dict.fromkeys(rows, "no finding")


def _how_bad_by_findings(change: Change) -> Answers:
    told = [finding.severity for finding in change.findings if finding.rule in TOLD_OF_WHO]
    return {"the change": min(told, key=SEVERITIES.index)} if told else {}


def _connects_by_packets(change: Change) -> Answers:
    """Packets between pods that both sides have, one by one: some that nobody let through get there for certain."""
    sides = change.sides[:2]
    if not any(side.network_policies for side in sides):
        return {}
    roster = [side.network.universe.endpoints for side in sides]
    pods = [{end.key: end for end in ends if end.role == "workload" and not end.host} for ends in roster]
    common = [key for key in pods[0] if key in pods[1]][:_MOST_ENDS]
    for source, target in permutations(common, 2):
        for port in sorted({80, *(number for _, number in pods[1][target].listed)}):
            verdicts = [
                side.hops.to_pod(side.hops.number(own[source]), side.hops.number(own[target]), "TCP", port).verdict
                for side, own in zip(sides, pods, strict=True)
            ]
            if verdicts == ["denied", "allowed"]:
                return {"the change": "opens connections"}
    return {}


def _connects_by_rows(change: Change) -> Answers:
    """A row without targets is about a workload that comes or goes: nobody kept it out."""
    opened = [each for each in change.found.connections if each.targets and each.change in ("opened", "widened")]
    if any(not each.ground for each in opened):
        return {"the change": "opens connections"}
    return {"the change": "may open connections" if opened else "opens none"}


def _connects_by_findings(change: Change) -> Answers:
    """Where a new entry names who may get in, and nobody knows whether it means them, the rows alone say so."""
    told = [finding for finding in change.findings if finding.rule in ("GWP620", "GWP621")]
    if any(not finding.ground.startswith("whether they") for finding in told):
        return {"the change": "opens connections"}
    if told:
        return {"the change": "may open connections"}
    return {} if _connects_by_rows(change)["the change"] == "may open connections" else {"the change": "opens none"}


def _comes_by_rows(change: Change) -> Answers:
    words = {"added": "new", "removed": "gone"}
    return {each.key: words.get(each.change, "there") for each in change.found.known}


def _comes_by_objects(change: Change) -> Answers:
    """A route that the API server refuses is none, and a row under another name is about one that is there."""
    before, after, pairing = change.sides
    told = {}
    for each in change.found.known:
        sides = (each.key, after), (pairing.was(each.key), before)
        if not any(broken.resource.key == key for key, side in sides for broken in side.broken):
            now, was = (key in side.world.resources for key, side in sides)
            told[each.key] = "there" if was and now else "new" if now else "gone"
    return told


OF_CHANGES: dict[str, Mapping[str, Callable[[Change], Answers]]] = {
    "does it come or go": {"rows": _comes_by_rows, "objects": _comes_by_objects},
    "what does it open": {
        "traces": _opened_by_traces,
        "diff": _opened_by_diff,
    },
    "what is said of requests": {"diff": _said, "diff beside an unrelated policy": _said_beside},
    "does it ask for less": {
        "diff": _login_lost_by_diff,
        "findings": _login_lost_by_findings,
        "comment": _login_lost_by_comment,
    },
    "what takes the place of a login": {"diff": _in_its_place_by_diff, "findings": _in_its_place_by_findings},
    "does what is new take requests over": {"diff": _taken_over_by_diff, "ages": _taken_over_by_ages},
    "does it let in who was kept out": {"traces": _let_in_by_traces, "findings": _let_in_by_findings},
    "does it open connections between pods": {
        "packets": _connects_by_packets,
        "rows": _connects_by_rows,
        "findings": _connects_by_findings,
    },
    "how severe is what opens": {"rows": _severity_of_rows, "findings": _severity_of_findings},
    "how bad is it": {"traces": _how_bad_by_traces, "findings": _how_bad_by_findings},
}
