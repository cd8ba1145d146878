"""How sure a finding is, and how bad it may then be: one rule for all rules that look at one environment.

* What rests on an object that was not built whole is unknown: it may be deployed with other values. So is what rests on
  one in which a variable stands for a list or an object, what it is on its own form apart (GWP501), and on
  an object that two plain files write, but for what is wrong with one of the files as such, and what rests on two
  objects that scripts apply in turn.
* What rests on how a kind behaves that could not be verified, on kustomizations that were not rendered, on what stands
  whole in the values of a chart that is not rendered, or on a chart's default values, as nothing says with which it is
  installed, is assumed.
* What is assumed is a warning at most. It says on what it rests, whatever assumed it.

What a change takes away (`OF_CHANGES`) stays an error: it acted before, and there silence costs more than a false
alarm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from policylint.model.resource import PUT_OUT, dotted, value_at
from policylint.model.words import listing
from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.documents import Pointer
    from policylint.model import Finding, Resource, ResourceKey, World
    from policylint.simulation import Simulation

_TOO_LONG = 1_200
"""Letters of a message, beyond which values in it that no API server takes are cut off."""
_VALUE = Pattern(r"([^\s\"'`]{60})[^\s\"'`]{1000,}")
"""Longer than any name, host or path may be."""
NOT_RENDERED = "the kustomizations here were not rendered, and may change it"
_DEPLOYED = ("GWP1", "GWP2", "GWP4")
"""Families of rules on objects that are deployed together."""
_AMONG_OTHERS = ("GWP1", "GWP2", "GWP3", "GWP4", "GWP6")
"""Families of rules on what objects mean for others: all but those on the form of one."""
_OF_FORM = frozenset({"GWP501"})
"""Rules on an object as the API server takes it."""
_TEMPLATE = Pattern(r"(?i:(?:.*/)?(?:(?:[^/]*[-_.])?templates?|templates?[-_.][^/]*)\.ya?ml)")
"""What a file is called in which somebody has to fill in values before it is applied."""
_OF_REFUSALS = frozenset({"GWP111", "GWP415", "GWP416"})
"""Rules of these families on the form of one object, as its controller takes it."""
_OF_RIVALS = frozenset(
    {
        *("GWP201", "GWP202", "GWP203", "GWP206", "GWP211", "GWP213", "GWP407", "GWP408", "GWP602", "GWP606"),
        *("GWP310", "GWP311", "GWP313", "GWP410", "GWP604", "GWP605", "GWP610", "GWP622", "GWP623", "GWP626"),
    }
)
"""Rules on objects that are at odds because both are there; the last ten on what selectors of one make of another."""
_OF_RIVALS_OF_A_KIND = frozenset({"GWP415"})
"""Rules of which that holds where what they are about is of one kind."""
_ON_BEHAVIOUR = frozenset({"GWP102", "GWP103", "GWP104", "GWP201", "GWP202", "GWP203", "GWP204", "GWP205", "GWP206"})
"""Rules that rest on what a policy's kind may target, and on how two policies of it combine."""


def settled(
    findings: Iterable[Finding], simulation: Simulation, provisional: Mapping[ResourceKey, str]
) -> Iterator[Finding]:
    """Yield findings, each as sure and as bad as what it rests on allows.

    Args:
        provisional: the objects that were not built whole, and why.
    """
    for finding in findings:
        if finding.confidence != "unknown":
            written, variants, place = provisional, "", finding.location
            if finding.rule.startswith(_AMONG_OTHERS):
                if simulation.world.rivals:
                    written = {**simulation.world.rewritten, **provisional}
                    variants = _variants(finding, simulation)
                variants = variants or simulation.world.apart(finding.resources, _is_of_rivals(finding), place)
            elif finding.rule in _OF_FORM:
                variants = _renamed(finding, simulation) or _to_be_filled_in(finding, simulation)
                variants = variants or simulation.world.apart(finding.resources, None, place)
                variants = variants or _left_blank(finding, simulation)
            open_key = next((key for key in finding.resources if written.get(key, PUT_OUT) != PUT_OUT), None)
            ground = _assumed(finding, simulation) if finding.confidence == "certain" else ""
            if open_key is not None:
                ground = f"{open_key} may be deployed with other values: {written[open_key]}"
                finding = finding._replace(confidence="unknown", ground=ground)
            elif variants := variants or _with_variable(finding, simulation) or _to_be_given(finding, simulation):
                finding = finding._replace(confidence="unknown", ground=variants)
            elif ground:
                finding = finding._replace(confidence="assumed", ground=ground)
        if finding.confidence == "assumed" and finding.severity == "error":
            finding = finding._replace(severity="warning")
        if len(finding.message) > _TOO_LONG:
            finding = finding._replace(message=_VALUE.sub(r"\1…", finding.message))
        yield finding


def _with_variable(finding: Finding, simulation: Simulation) -> str:
    """Return which object of a finding has a variable in the place of a list or an object, what it may hang on; ""
    where none has, or where that is no question of what objects mean for others."""
    if not finding.rule.startswith(_AMONG_OTHERS):
        return ""
    from policylint.schema.known import Schemas
    from policylint.schema.open_values import open_field

    schemas = Schemas(simulation.world.definitions, simulation.world.is_deployed_with)
    known = [resource for key in finding.resources if (resource := simulation.world.get(key)) is not None]
    places = ((resource.key, open_field(resource, schemas)) for resource in known)
    return next((f"{dotted(place)} of {key} is a variable" for key, place in places if place is not None), "")


def _is_of_rivals(finding: Finding) -> bool:
    """Return whether a finding is that objects are at odds because both are there."""
    is_of_a_kind = finding.rule in _OF_RIVALS_OF_A_KIND and len({key[:2] for key in finding.resources}) == 1
    return is_of_a_kind or finding.rule in _OF_RIVALS


def _renamed(finding: Finding, simulation: Simulation) -> str:
    """Return what gives a Namespace of kustomizations another name, where nobody deploys these as they are; "" if
    nothing does: `namespace:` of another kustomization replaces it whole, so that it may be anything."""
    world, is_name = simulation.world, finding.field == "metadata.name"
    is_open = world.movable or (bool(world.entries) and not world.by_deployer)
    is_namespace = any(key[:2] == ("", "Namespace") for key in finding.resources)
    return (
        "a kustomization that takes it in may replace its name (`namespace:`)"
        if is_open and is_name and is_namespace
        else ""
    )


def _to_be_filled_in(finding: Finding, simulation: Simulation) -> str:
    """Return which file is called a template that holds what a finding is about, where nothing deploys it as it is and
    the object is none of which others are made; "" for none."""
    file, world = finding.location.file, simulation.world
    is_one = _TEMPLATE.fullmatch(file) is not None and not any("Template" in key.kind for key in finding.resources)
    return f"{file} is called a template, whose values are to be filled in" if is_one and world.plain else ""


def _left_blank(finding: Finding, simulation: Simulation) -> str:
    """Return where the values stand that an exercise leaves to others to fill in, if a finding is about such an object;
    "" where it has no field without a value, or nothing beside it has one in the place of any."""
    known = map(simulation.world.get, finding.resources[:1])
    is_blank = any(resource is not None and any(_blanks(resource.body, ())) for resource in known)
    filled = simulation.world.once(_filled_in) if is_blank else ""
    return f"values are left blank here that {filled} has" if filled else ""


def _filled_in(world: World) -> str:
    """Return a file that has a value in the place of a blank of an object, as another directory writes it; "" for
    none."""
    for resource in world.resources.values():
        blanks = list(_blanks(resource.body, ()))
        for other in world.beside(*resource.key[:2]) if blanks else ():
            if other.key == resource.key and any(value_at(other.body, blank) is not None for blank in blanks):
                return other.document.file
    return ""


def _blanks(value: object, pointer: Pointer) -> Iterator[Pointer]:
    """Yield the fields below a value that have none."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        if inner is None:
            yield (*pointer, step)
        else:
            yield from _blanks(inner, (*pointer, step))


def _variants(finding: Finding, simulation: Simulation) -> str:
    """Return which files that hold what a finding is about are variants of one another; "" where none are."""
    known = (simulation.world.get(key) for key in finding.resources)
    files = sorted({resource.document.file for resource in known if resource is not None})
    for number, file in enumerate(files):
        for other in files[number + 1 :]:
            if frozenset((file, other)) in simulation.world.rivals:
                return f"{file} and {other} write the same object, and nothing says that both are applied"
    return ""


def _assumed(finding: Finding, simulation: Simulation) -> str:
    """Return what a finding assumes that its rule is certain of; "" for nothing.

    The catalog says how far each of its kinds is verified; of a kind that only a CRD of the input declares, nothing is
    known but the pattern. What a configuration says of a kind is the user's word.
    """
    if finding.rule in _ON_BEHAVIOUR and finding.resources:
        state = simulation.policies.get(finding.resources[0])
        if state is not None and state.kind.verified == "no" and state.kind.origin != "configuration":
            return f"how {state.kind.kind} behaves could not be verified in its implementation's code"
    if simulation.world.movable and finding.rule.startswith(_DEPLOYED):
        return NOT_RENDERED
    known = map(simulation.world.get, finding.resources)
    if any(resource is not None and resource.provisional == PUT_OUT for resource in known):
        return PUT_OUT
    chart = next((chart for _, chart in _of_lone_charts(finding, simulation)), "")
    return f"chart {chart} with its default values, as nothing here installs it" if chart else ""


def _of_lone_charts(finding: Finding, simulation: Simulation) -> Iterator[tuple[Resource, str]]:
    """Yield the objects of a finding that charts make which nothing installs, and by which chart each is made."""
    for resource in map(simulation.world.get, finding.resources):
        chart = "" if resource is None else getattr(resource.document, "chart", "")
        if resource is not None and chart:
            yield resource, chart


def _to_be_given(finding: Finding, simulation: Simulation) -> str:
    """Return what a finding on such an object hangs on that whoever installs the chart says: the namespace, a value
    that is no mistake as a default, but one to fill in, or how objects fit together, where something here installs it
    with values that are not known; "" where it hangs on none of them."""
    made = list(_of_lone_charts(finding, simulation))
    charts = sorted({chart for _, chart in made})
    if len(charts) > 1 and not all(resource.metadata.get("namespace") for resource, _ in made):
        return f"nothing says that charts {listing(charts)} are installed in one place"
    for resource, chart in made:
        namespaces = {key.namespace for key in finding.resources if key.namespace}
        if not resource.metadata.get("namespace") and len(namespaces) > 1:
            return f"who installs chart {chart} says into which namespace"
        by = getattr(resource.document, "by", "")
        if by and len(finding.resources) > 1 and finding.rule.startswith(_AMONG_OTHERS):
            return f"{by} gives chart {chart} values that are not known"
        if not finding.rule.startswith(_AMONG_OTHERS) or finding.rule in _OF_REFUSALS:
            file, line = finding.location.file, finding.location.at()[0]
            written, below = [*simulation.world.lines(file)[line - 1 : line + 1], "", ""][:2]
            if file != resource.document.file or "{{" in (below if written.rstrip().endswith(":") else written):
                return f"who installs chart {chart} gives it its values"
    return ""
