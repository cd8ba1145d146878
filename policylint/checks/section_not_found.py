"""GWP103: a sectionName that names no listener, rule or port of the target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policylint.checks.kit.locations import at, entry, path, targets, unknown_target
from policylint.checks.kit.sections import NOUN
from policylint.checks.kit.suggestions import Nearby
from policylint.checks.kit.wording import near
from policylint.digits import whole_number
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.model.words import quoted
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation

RULE = "GWP103"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for state, target in targets(simulation):
        if target.problem == "section-not-found" and target.key.kind not in NOUN:
            general = f"{target.key} has no section named {target.section!r}"
            unknown = f"the sections of {target.key.kind} are not known"
            yield _unknown(state, target, unknown if target.detail == general else target.detail)
        elif target.problem in ("section-not-found", "section-not-allowed"):
            yield _finding(state, target, simulation.world.get(target.key), target.section, nearby)
        elif target.section and target.resolution.unknown and not target.problem:
            from policylint.checks.target_not_found import is_elsewhere

            if not is_elsewhere(target, simulation.world):
                yield _unknown(state, target, target.resolution.reason)
        elif isinstance(number := entry(state.policy, target).get("sectionName"), int):
            yield _finding(state, target, simulation.world.get(target.key), str(number), nearby)


def _finding(state: PolicyState, target: Target, resource: Resource | None, section: str, nearby: Nearby) -> Finding:
    from policylint.checks.kit.fixes import rename

    noun = NOUN.get(target.key.kind, "section")
    if target.problem == "section-not-allowed":
        message = f"{state.key} targets a section of {target.key}, which {state.kind.kind} cannot do"
        label = f"{state.kind.kind} takes no sectionName for {target.key.kind}"
        help_: tuple[str, ...] = ("fix: remove sectionName",)
    else:
        message = f'{state.key} points at missing {noun} "{section}" of {target.key}'
        label, help_ = f'no {noun} "{section}"', ()
    guess = ""
    if resource is not None and target.problem != "section-not-allowed":
        names, spellings = nearby.sections(resource)
        guess = near(section, spellings)
        label, help_ = _explain(resource, section, noun, names, guess)
    location = at(state.policy, target.pointer, "sectionName", "name")
    used = {other.section for other in state.targets if other.key == target.key}
    return Finding(
        RULE,
        "error",
        message,
        location,
        resources=(state.key, target.key),
        label=label,
        help=help_,
        field=path(target.pointer),
        fixes=rename([location], section, guess, spellings, used)
        if guess and location.pointer[-1] == "sectionName"
        else (),
    )


def _explain(resource: Resource, section: str, noun: str, names: list[str], guess: str) -> tuple[str, tuple[str, ...]]:
    """Return label and help: for the near miss, else for the names that are often mistaken for sections."""
    present = f"note: its {noun}s are {quoted(names)}" if len(names) > 1 else f"note: its {noun} is {quoted(names)}"
    help_ = (present,) if names else (f"note: none of its {noun}s has a name",)
    if guess:
        return f'no {noun} "{section}" (did you mean "{guess}"?)', help_
    if (number := whole_number(section)) is not None and noun == "port":
        ports = map(mapping, sequence(resource.spec.get("ports")))
        port = next((port for port in ports if port.get("port") == number), None)
        named = text(mapping(port).get("name"))
        fix = f"write `sectionName: {named}`" if named else f"give port {section} a name"
        if port is not None:
            return "a port is targeted by its name, not by its number", (f"fix: {fix}",)
    synthetic = re.fullmatch(r"rule-(\d+)", section)
    if synthetic is not None and noun == "rule":
        return "a rule without a name cannot be targeted", (f"fix: give rule {synthetic.group(1)} a `name`", *help_)
    if section in _backend_names(resource):
        return f'"{section}" is a backend, not a {noun}', help_
    return f'no {noun} "{section}"', help_


def _backend_names(resource: Resource) -> set[str]:
    rules = map(mapping, sequence(resource.spec.get("rules")))
    return {text(mapping(backend).get("name")) for rule in rules for backend in sequence(rule.get("backendRefs"))}


def _unknown(state: PolicyState, target: Target, why: str) -> Finding:
    message = f"{state.key} targets a section of {target.key} that cannot be checked against these files"
    location = at(state.policy, target.pointer, "sectionName", "name")
    return unknown_target(RULE, message, state, target, location, why)
