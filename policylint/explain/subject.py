"""Which object a question is about: names as people spell them, ambiguous and misspelt ones helped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.errors import UsageError
from policylint.model import ROUTE_KINDS, Node, ResourceKey
from policylint.model.spelling import alike, find, readings, spelled, spelling
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import is_workload

_MOST = 6


class UnclearError(UsageError):
    """Nothing or too much is called that; the message is for users."""


class Subject(NamedTuple):
    """What a question is about in one environment.

    Args:
        node: the object, or the section of it that is asked about.
    """

    simulation: Simulation
    key: ResourceKey
    node: Node

    @property
    def is_policy(self) -> bool:
        return self.key in self.simulation.policies


def subjects(asked: str, simulations: Sequence[Simulation], rule: str = "") -> list[Subject]:
    """The object that a text names, once per environment that has it.

    Args:
        rule: a rule of the route, by name or number counted from 1.

    Raises:
        UnclearError: it names no object, or several.
    """
    known = {key for each in simulations for key in each.world.resources}
    known |= {_namespace(key.namespace) for key in known if key.namespace and not key.unplaced}
    found = find(asked, known)
    if len(found) > 1 and not spelling(asked).kind:
        found = [each for each in found if _is_asked_about(each, simulations)] or found
    if not found:
        raise UnclearError(_unknown(asked, known))
    if len(found) > 1:
        raise UnclearError(_ambiguous(asked, found))
    key = found[0]
    section = rule or next((each.section for each in readings(asked) if each.section), "")
    holding = [each for each in simulations if _holds(each, key)]
    return [Subject(each, key, _node(each, key, section)) for each in holding]


def names(simulations: Iterable[Simulation]) -> list[str]:
    """What completion offers: the objects that are asked about, as the command line takes them."""
    keys = {key for each in simulations for key in each.world.resources if _is_asked_about(key, [each])}
    return [spelled(key) for key in sorted(keys)]


def _node(simulation: Simulation, key: ResourceKey, section: str) -> Node:
    """The section of an object that is asked for, or the whole.

    Raises:
        UnclearError: it has no such section.
    """
    if not section:
        return whole(key)
    topology = simulation.topology
    name = f"rule-{section}" if section.isdigit() and key.kind in ROUTE_KINDS else section
    node = topology.node_for(key, name) or (_numbered(simulation, key, int(section)) if section.isdigit() else None)
    if node is not None:
        return node
    sections = [*topology.sections(key), *topology.synthetic_sections(key)]
    raise UnclearError(f"{spelled(key)} has no {section!r}; it has {', '.join(sections) or 'no sections'}")


def _numbered(simulation: Simulation, key: ResourceKey, number: int) -> Node | None:
    """The rule of a route by its number, named or not."""
    from policylint.topology.routes import rules

    route = simulation.topology.route(key)
    listed = rules(route.route) if route is not None else []
    return next((each.node for each in listed if each.number == number - 1), None)


def _holds(simulation: Simulation, key: ResourceKey) -> bool:
    if key in simulation.world.resources:
        return True
    return key.kind == "Namespace" and any(each.namespace == key.name for each in simulation.world.resources)


def _namespace(name: str) -> ResourceKey:
    return ResourceKey("", "Namespace", "", name)


def _is_asked_about(key: ResourceKey, simulations: Sequence[Simulation]) -> bool:
    """Whether people ask about an object: policies, Gateway API, Services, Namespaces, workloads and backends."""
    if is_workload(key.group, key.kind) or (key.group, key.kind) in (("", "Service"), ("", "Namespace")):
        return True
    return any(key in each.policies or each.topology.vertices_of(whole(key)) for each in simulations)


def _ambiguous(asked: str, found: Sequence[ResourceKey]) -> str:
    """`2 objects are called "checkout": HTTPRoute/shop/checkout, Service/shop/checkout`."""
    kinds = {(each.kind, each.namespace, each.name) for each in found}
    listed = [spelled(each, group=len(kinds) < len(found)) for each in found[:_MOST]]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return f'{len(found)} objects are called "{asked}": {", ".join(listed)}{more}'


def _unknown(asked: str, known: Iterable[ResourceKey]) -> str:
    close = alike(asked, known)
    hint = f" (did you mean {' or '.join(map(spelled, close))}?)" if close else ""
    return f'nothing is called "{asked}" here{hint}; it is Kind/namespace/name'
