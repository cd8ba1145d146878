"""GWP402: sectionName or port of a parentRef selects no listener."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policylint.checks.kit.fixes import rename
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.sections import FIELD, NOUN
from policylint.checks.kit.suggestions import Nearby
from policylint.checks.kit.wording import near
from policylint.model import Finding, Related, Resource, mapping, sequence
from policylint.model.words import listing, quoted
from policylint.simulation import Simulation
from policylint.topology import ParentState

RULE = "GWP402"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for state in simulation.topology.routes:
        for parent in state.parents:
            if parent.section_found is False and parent.resolution.found:
                holder = simulation.world.get(parent.wanted)
                if holder is not None:
                    used = {other.section for other in state.parents if other.wanted == parent.wanted}
                    yield _finding(simulation, state.route, parent, holder, nearby, used)


def _finding(
    simulation: Simulation,
    route: Resource,
    parent: ParentState,
    holder: Resource,
    nearby: Nearby,
    used: Collection[str],
) -> Finding:
    """Return the finding of a parent; `used` are the sections of the holder that the route names."""
    noun = NOUN.get(holder.key.kind, "section")
    names, spellings = nearby.sections(holder)
    guess = ""
    field = FIELD.get(noun, noun)
    if parent.section and (parent.section not in names or parent.port is None):
        guess = near(parent.section, spellings)
        label = f'no {noun} "{parent.section}"' + (f' (did you mean "{guess}"?)' if guess else "")
        wrong_field = "sectionName"
    else:
        of = f' "{parent.section}"' if parent.section else ""
        label = f"no port {parent.port}" if noun == "port" else f"no {noun}{of} has port {parent.port}"
        wrong_field = "port"
    ports = [mapping(section).get("port") for section in sequence(holder.spec.get(field))]
    present = _describe(noun, quoted(names)) if wrong_field == "sectionName" else _describe("port", listing(ports))
    added = _listener_set(simulation, holder, parent.section)
    guess = "" if added else guess
    label = f'listener "{parent.section}" is one of {added.key}, which has to be named instead' if added else label
    location = at(route, parent.pointer, wrong_field, "name")
    return Finding(
        RULE,
        "error",
        f"{route.key} attaches to a {noun} that {holder.key} does not have",
        location,
        resources=(route.key, holder.key),
        label=label,
        related=(
            Related(present if names else f"its {noun}s have no names", holder.location("spec", field, key=True)),
        ),
        field=path(parent.pointer),
        fixes=rename([location], parent.section, guess, spellings, used),
    )


def _listener_set(simulation: Simulation, gateway: Resource, section: str) -> Resource | None:
    """Return the set that adds a listener of a name to a Gateway: routes attach to the set, and not through it."""
    sets = (state for state in simulation.topology.listener_sets if section)
    return next(
        (
            state.listener_set
            for state in sets
            if any(each.name == section and each.gateway == gateway.key for each in state.listeners)
        ),
        None,
    )


def _describe(noun: str, names: str) -> str:
    """Return `its listeners are "http" and "https"`."""
    return f"its {noun}s are {names}" if " and " in names else f"its {noun} is {names}"
