"""What was predicted of the small implementations' worlds holds, and trace, explain, lint, diff and simulate agree."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest

from policylint.checks import run
from policylint.compare import compare, pair_sides, removed_protections
from policylint.explain.contexts import answers, nodes_of
from policylint.explain.explanation import explain
from policylint.explain.subject import Subject
from policylint.model import ResourceKey
from policylint.report.kit.identity import Names
from policylint.report.simulate.simulation_v1 import sections
from policylint.simulation import Simulation
from policylint.topology import Topology, whole
from policylint.trace import Requirements, Trace, Tracer, request
from tests import worlds
from tests.compare.test_compare import sides
from tests.implementations import predicted as worlds_of
from tests.implementations.predicted import Predicted
from tests.nightly import sampled

MODULES: dict[str, ModuleType] = {
    module.name.replace("_", "-"): import_module(f"{worlds_of.__name__}.{module.name}")
    for module in iter_modules(worlds_of.__path__)
}
WORLDS: dict[str, tuple[ModuleType, Predicted]] = {
    f"{name}: {world}": (module, predicted)
    for name, module in MODULES.items()
    for world, predicted in module.WORLDS.items()
}
ABOUT_REFERENCES = ("GWP1", "GWP4")
REFUSED = ("403", "404", "reset")
IDLE = ("GWP101", "GWP106", "GWP108", "GWP111")


@pytest.fixture(params=WORLDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def predicting(field: str) -> pytest.MarkDecorator:
    """For the worlds of which something is predicted."""
    return pytest.mark.parametrize("name", [name for name, (_, each) in WORLDS.items() if getattr(each, field)])


def base_of(name: str) -> tuple[str, ...]:
    module, predicted = WORLDS[name]
    return module.BASE if predicted.base is None else predicted.base


@cache
def simulated(name: str) -> Simulation:
    with TemporaryDirectory() as place:
        return worlds.opened(Path(place), *base_of(name), *WORLDS[name][1].policies)


@cache
def traced(name: str) -> Trace:
    return asked(name, simulated(name))


def asks(name: str) -> dict[str, Any]:
    """The request of a world."""
    module, predicted = WORLDS[name]
    return {**module.REQUEST, **predicted.request}


def asked(name: str, simulation: Simulation, **more: Any) -> Trace:
    return Tracer(simulation).trace(request({**asks(name), **more}))


def end(trace: Trace, simulation: Simulation) -> str:
    """How a request ends, in the words of `Predicted`."""
    outcome = trace.outcome
    if outcome.refused or outcome.unknown or outcome.status is not None:
        return "reset" if outcome.refused else "unknown" if outcome.unknown else str(outcome.status)
    if any(placed.decision.answer == "depends" for placed in trace.admissions) or trace.depends:
        return "depends"
    login = Requirements(Tracer(simulation)).of(trace, "authentication")
    names = " and ".join(sorted({demand.setting for demand in login.demands if demand.policy is not None}))
    return f"allowed, {names} {'required' if login.state == 'asked' else 'not required'}" if names else "allowed"


def rest(trace: Trace, simulation: Simulation) -> str:
    """How a request ends without the policies: what its rule names and nobody has seen may turn it away."""
    unseen = [binding.kind for binding in trace.extensions if binding.form == "filter" and binding.resolution.unknown]
    fails = any(kind is None or kind.unresolved != "skipped" for kind in unseen)
    return REFUSED[0] if fails else end(trace, simulation)


def is_asked(ending: str) -> bool:
    """Whether a request is turned away, or let in on a condition."""
    return ending in REFUSED or ("required" in ending and "not required" not in ending)


def findings_of(name: str) -> list[tuple[str, str, tuple[ResourceKey, ...]]]:
    return [(each.rule, each.severity, each.resources) for each in run(simulated(name))]


def test_every_world_names_its_source() -> None:
    assert [name for name, (module, predicted) in WORLDS.items() if predicted.source not in module.SOURCES] == []


def test_trace_says_how_the_request_ends(name: str) -> None:
    assert end(traced(name), simulated(name)) == WORLDS[name][1].end


def acting(trace: Trace) -> tuple[str, ...]:
    """The settings that a request meets in their order, those without a known place last, and who each is from."""
    settings: list[tuple[float, str]] = []
    for met in trace.policies:
        effective = met.group.effective
        for field in effective.spec:
            owners = {owner.name for place, owner in effective.owners.items() if place[0] == field}
            place = met.places.get(field, float("inf"))
            settings.append((place, f"{field} of {' and '.join(sorted(owners))}"))
    return tuple(setting for _, setting in sorted(settings))


@pytest.mark.parametrize("name", [name for name, (_, each) in WORLDS.items() if each.acts is not None])
def test_trace_says_in_which_order_what_acts(name: str) -> None:
    assert acting(traced(name)) == WORLDS[name][1].acts


@predicting("verdicts")
def test_simulate_says_the_verdicts(name: str) -> None:
    predicted = WORLDS[name][1].verdicts
    found = worlds.verdicts(simulated(name))
    assert {policy: found[policy] for policy in predicted} == predicted


def conditions_of(topology: Topology) -> dict[str, set[str]]:
    """The conditions of routes, Gateways, ListenerSets and listeners as `Predicted` names them."""
    found = {
        str(state.route.key): {condition for parent in state.parents for condition in parent.conditions}
        for state in topology.routes
    }
    for gateway in topology.gateways:
        found[str(gateway.gateway.key)] = set(gateway.conditions)
    for listener_set in topology.listener_sets:
        found[str(listener_set.listener_set.key)] = set(listener_set.conditions)
    for holder in (*topology.gateways, *topology.listener_sets):
        found.update((str(listener.node), set(listener.conditions)) for listener in holder.listeners)
    return {name: {f"{each.type}={each.status}/{each.reason}" for each in of} for name, of in found.items()}


@predicting("conditions")
def test_simulate_says_the_conditions(name: str) -> None:
    found = conditions_of(simulated(name).topology)
    for holder, conditions in WORLDS[name][1].conditions.items():
        types = {condition.partition("=")[0] for condition in found[holder]}
        for condition in conditions:
            absent = condition.removeprefix("!")
            assert absent not in types if condition != absent else condition in found[holder], (holder, found[holder])


def test_lint_says_what_names_nothing(name: str) -> None:
    found = {rule for rule, severity, _ in findings_of(name) if severity in ("warning", "error")}
    found -= {"GWP412", "GWP413"}  # of what is not named at all: a certificate, a backend
    if found & {"GWP416"}:  # of what a route says
        assert "GWP406" not in found
        found -= {"GWP416"}
    assert {rule for rule in found if rule.startswith(ABOUT_REFERENCES)} == set(WORLDS[name][1].lint)


@predicting("status")
def test_the_status_says_what_the_controller_writes(name: str) -> None:
    predicted = WORLDS[name][1].status
    simulation = simulated(name)
    written: dict[str, set[str]] = {name: set() for name in predicted}
    for key, state in simulation.policies.items():
        for ancestor in state.ancestors:
            written.setdefault(key.name, set()).update(
                f"{ancestor.ancestor} {condition}" for condition in worlds.conditions(ancestor.conditions)
            )
        written.setdefault(key.name, set()).update(worlds.conditions(state.conditions))
    for route in simulation.topology.routes:
        for parent in route.parents:
            written.setdefault(route.route.key.name, set()).update(
                f"{parent.wanted} {condition}" for condition in worlds.conditions(parent.conditions)
            )
    for holder, expected in predicted.items():
        assert set(expected) <= written[holder]


@predicting("effective")
def test_trace_says_whose_value_a_request_meets(name: str) -> None:
    owners = {
        ".".join(map(str, pointer)): owner.name
        for met in traced(name).policies
        for pointer, owner in met.group.effective.owners.items()
    }
    predicted = WORLDS[name][1].effective
    assert {field: owners.get(field, "") for field in predicted} == predicted


@pytest.mark.parametrize("name", sampled(list(WORLDS), "who acts", 2))
def test_explain_names_who_trace_and_simulate_say_acts(name: str) -> None:
    """Every policy that a request meets, and who turns it away, acts on the way for explain, simulate and lint."""
    simulation, trace = simulated(name), traced(name)
    ends = {whole(share.key) for share in trace.outcome.shares}
    if trace.route is not None and not trace.outcome.shares:  # what stands at its backends may have turned it away
        state = simulation.topology.route(trace.route.key)
        ends |= {whole(backend.wanted) for backend in (() if state is None else state.backends)}
    if asks(name).get("service"):
        ends |= {whole(key) for key in simulation.world.resources if key.namespace == "shop" and key.name == "web"}
    way = [*trace.path, *trace.beyond, *(node for end in ends for node in nodes_of(simulation, end))]
    explained = {
        attachment.key
        for context in answers(simulation, way).listed
        for group in context.groups
        for attachment in group.effective.stack
    }
    met = {key for each in trace.policies for key in each.group.effective.sources}
    owners = [placed.decision.by for placed in trace.admissions]
    deciding = {owner.key for owner in owners if owner is not None} | {each.policy for each in trace.judged}
    acting = (met | deciding) & set(simulation.policies)
    assert acting <= explained
    entries = next(found for section, found in sections([simulation]) if section == "effective")
    told = {policy for entry in entries for policy in entry["from"]}
    names = Names(simulation.world.resources)
    assert set(names.keys(met)) <= told
    enforced = ("Enforced", "PartiallyEnforced", *(["Unknown"] if end(trace, simulation) == "depends" else []))
    for key in acting:
        assert simulation.policies[key].verdict in enforced
    weaker = {("GWP111", "warning"), *(("GWP108", severity) for severity in ("warning", "note"))}
    told = ((rule, keys) for rule, severity, keys in findings_of(name) if (rule, severity) not in weaker)
    idle = {key for rule, keys in told if rule in IDLE for key in keys[:1]}
    assert not {key for key in idle & acting if simulation.policies[key].verdict == "Enforced"}


@pytest.mark.parametrize("name", sampled(list(WORLDS), "objects that are named", 2))
def test_explain_names_the_objects_that_trace_names(name: str) -> None:
    """What filters and annotations name: explain of the route or the backend lists it, and whether it was found."""
    simulation, trace = simulated(name), traced(name)
    on_way = (*trace.path[-1:], *(whole(share.key) for share in trace.outcome.shares))
    named = {
        (binding.wanted, binding.resolution.state)
        for node in on_way
        for binding, by in explain(Subject(simulation, node.key, node)).extensions
        if by is None
    }
    assert {(binding.wanted, binding.resolution.state) for binding in trace.extensions} <= named


@pytest.mark.parametrize("name", sampled(list(WORLDS), "a protection that goes", 2))
def test_diff_reports_a_protection_that_goes(name: str, tmp_path: Path) -> None:
    """Without the policies of a world a request is asked for less exactly where diff says so."""
    module = WORLDS[name][0]
    before = (*base_of(name), *WORLDS[name][1].policies)
    pair = sides(tmp_path, before, base_of(name))
    others: list[dict[str, Any]] = [{}]
    if hasattr(module, "STRANGER") and asks(name).get("client"):
        others += [module.STRANGER, {**module.REQUEST, **module.STRANGER}]
    was, now = simulated(name), pair.after
    ends = [(end(asked(name, was, **more), was), rest(asked(name, now, **more), now)) for more in others]
    opened = any(is_asked(first) and not is_asked(second) for first, second in ends)
    (environment,) = compare([pair])
    assert environment.requests is not None
    found = removed_protections([pair], [environment])
    told = [each for each in found if each.rule in ("GWP302", "GWP304") or each.severity != "note"]
    assert told or environment.requests.unknown or not opened, (
        ends,
        [each.message for each in found],
    )
    (same,) = pair_sides([was], [pair.before])
    assert removed_protections([same], compare([same])) == []
