"""The object that a question is about, from a name as people spell it; ambiguous and misspelt names get help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.digits import whole_number
from policylint.errors import UsageError
from policylint.model import ROUTE_KINDS, Node, ResourceKey
from policylint.model.spelling import alike, find, readings, spelled
from policylint.model.words import leading
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import is_workload

_MOST = 6


class UnclearError(UsageError):
    """A name fits no object or several; the message is for users."""


class Subject(NamedTuple):
    """The object that a question is about, in one environment.

    Args:
        node: the object, or the section of it that is asked about.
    """

    simulation: Simulation
    key: ResourceKey
    node: Node

    @property
    def is_policy(self) -> bool:
        """Whether the object is a policy."""
        return self.key in self.simulation.policies


def subjects(name: str, simulations: Sequence[Simulation], rule: str = "") -> list[Subject]:
    """Return the object that a text names, once per environment that has it.

    Args:
        rule: a rule of the route, by name or by number counted from 1.

    Raises:
        UnclearError: the text names no object, or several.
    """
    known = {key for simulation in simulations for key in simulation.world.resources}
    namespaces = {key.namespace for key in known if key.namespace and not key.unplaced}
    known |= {ResourceKey("", "Namespace", "", namespace) for namespace in namespaces}
    known |= {key for simulation in simulations for key in simulation.topology.unseen}
    found = find(name, known)
    if len(found) > 1 and not any(reading.kind and reading.fits(found[0]) for reading in readings(name)):
        found = [key for key in found if _is_asked_about(key, simulations)] or found
        routes = [key for key in found if key.kind in ROUTE_KINDS]
        found = routes if len(routes) == 1 else found
    if not found:
        raise UnclearError(_undeployed(name, simulations) or _unknown(name, known))
    if len(found) > 1:
        raise UnclearError(_ambiguous(name, found))
    key = found[0]
    section = rule or next((reading.section for reading in readings(name) if reading.section), "")
    holding = [simulation for simulation in simulations if _holds(simulation, key)]
    return [Subject(simulation, key, _node(simulation, key, section)) for simulation in holding]


def names(simulations: Iterable[Simulation]) -> list[str]:
    """Return what completion offers: the objects that people ask about, as the command line takes them."""
    keys = {
        key for simulation in simulations for key in simulation.world.resources if _is_asked_about(key, [simulation])
    }
    return [spelled(key) for key in sorted(keys)]


def _node(simulation: Simulation, key: ResourceKey, section: str) -> Node:
    """Return the section of an object that is asked for, or the whole object."""
    if not section:
        return whole(key)
    topology = simulation.topology
    number = whole_number(section)
    name = section if number is None or key.kind not in ROUTE_KINDS else f"rule-{section}"
    node = topology.node_for(key, name) or (None if number is None else _numbered(simulation, key, number))
    if node is not None:
        return node
    sections = [*topology.sections(key), *topology.synthetic_sections(key)]
    raise UnclearError(f"{spelled(key)} has no {section!r}; it has {', '.join(sections) or 'no sections'}")


def _numbered(simulation: Simulation, key: ResourceKey, number: int) -> Node | None:
    """Return the rule of a route by its number, whether it has a name or not."""
    from policylint.topology.routes import rules

    route = simulation.topology.route(key)
    listed = rules(route.route) if route is not None else []
    return next((rule.node for rule in listed if rule.number == number - 1), None)


def _holds(simulation: Simulation, key: ResourceKey) -> bool:
    """Return whether an environment has an object, or routes that name it; a Namespace has something in it."""
    if key in simulation.world.resources or key in simulation.topology.unseen:
        return True
    return key.kind == "Namespace" and any(other.namespace == key.name for other in simulation.world.resources)


def _is_asked_about(key: ResourceKey, simulations: Sequence[Simulation]) -> bool:
    """Return whether people ask about an object: policies, Gateway API, Services, Namespaces, workloads, backends."""
    if is_workload(key.group, key.kind) or (key.group, key.kind) in (("", "Service"), ("", "Namespace")):
        return True
    return any(key in simulation.policies or simulation.topology.vertices_of(whole(key)) for simulation in simulations)


def _ambiguous(name: str, keys: Sequence[ResourceKey]) -> str:
    """Return the message for a name that fits several objects: `2 objects are called "checkout": …`."""
    kinds = {(key.kind, key.namespace, key.name) for key in keys}
    listed = leading((spelled(key, group=len(kinds) < len(keys)) for key in keys), _MOST)
    return f'{len(keys)} objects are called "{name}": {listed}'


def _undeployed(name: str, simulations: Iterable[Simulation]) -> str:
    """Return the message for a name that fits an object in a file that nothing deploys, "" where there is none."""
    orphans = {key: resource for simulation in simulations for key, resource in simulation.world.orphans.items()}
    found = find(name, orphans)
    if not found:
        return ""
    file = orphans[found[0]].document.file
    return f"{spelled(found[0])} is in {file}, which nothing deploys here; give that file, or its directory, as PATH"


def _unknown(name: str, known: Iterable[ResourceKey]) -> str:
    """Return the message for a name that fits no object, with the names that are like it."""
    similar = alike(name, known)
    spellings = dict.fromkeys(map(spelled, similar))  # several may have no namespace that is known
    hint = f" (did you mean {' or '.join(spellings)}?)" if spellings else ""
    return f'no object named "{name}"{hint}; use Kind/namespace/name'
