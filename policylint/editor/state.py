"""What an editor asks of a tree, answered from one reading of it: places in, places and values out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from policylint.documents import Document, Pointer
from policylint.editor.completion import Offer, offers
from policylint.editor.references import NamedPlace, reference_at, references, section_of
from policylint.editor.surroundings import Surroundings
from policylint.model import Location, Resource, ResourceKey
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.reach import WayIn, all_ways, asked
from policylint.report.kit.display import one_line
from policylint.session.lint import LintResult
from policylint.simulation import Simulation
from policylint.workspace import Workspace

_WIDTH = 80
"""Columns of a hover: wider ones are moved from side to side in."""
_MOST_SYMBOLS = 500
_WITH_WAYS = ("Gateway", "HTTPRoute", "GRPCRoute", "Service")
"""Kinds whose lens counts requests."""


class StaleError(Exception):
    """The answer is of no use any more: something changed while it was worked out."""


class Held(NamedTuple):
    """An object in one environment."""

    simulation: Simulation
    resource: Resource


class Cursor(NamedTuple):
    """A place of a file in terms of objects.

    Args:
        held: the object that is written there, in each environment that has it.
        pointer: the value at the place, below the object.
    """

    held: tuple[Held, ...]
    pointer: Pointer

    @property
    def key(self) -> ResourceKey:
        """The object's identity."""
        return self.held[0].resource.key


class State:
    """One reading of a tree.

    Args:
        workspace: its environments.
        lint: its findings.
        is_stale: asked now and then while much is computed, whether the answer is still wanted.
    """

    def __init__(self, workspace: Workspace, lint: LintResult, is_stale: Callable[[], bool] = lambda: False) -> None:
        self.workspace = workspace
        self.lint = lint
        self._is_stale = is_stale

    @cached_property
    def _by_file(self) -> dict[str, list[Held]]:
        """The objects that are written in each file, in the order of its lines."""
        by_file: dict[str, list[Held]] = {}
        for simulation in self.workspace.simulations:
            for resource in simulation.world.resources.values():
                if isinstance(resource.document, Document):
                    by_file.setdefault(resource.document.file, []).append(Held(simulation, resource))
        for written in by_file.values():
            written.sort(key=lambda held: (_document(held).line, held.resource.root, held.resource.key))
        return by_file

    @cached_property
    def _references(self) -> dict[ResourceKey, list[tuple[Held, NamedPlace]]]:
        """The places that name each object."""
        naming: dict[ResourceKey, list[tuple[Held, NamedPlace]]] = {}
        for simulation in self.workspace.simulations:
            for resource in simulation.world.resources.values():
                for reference in references(resource, simulation.world):
                    naming.setdefault(reference.key, []).append((Held(simulation, resource), reference))
        return naming

    @cached_property
    def _acting(self) -> dict[ResourceKey, list[ResourceKey]]:
        """The policies that own a setting in force at each object or a section of it."""
        acting: dict[ResourceKey, set[ResourceKey]] = {}
        for simulation in self.workspace.simulations:
            for key, policies in simulation.acting.owners.items():
                acting.setdefault(key, set()).update(policies)
        return {key: sorted(policies) for key, policies in acting.items()}

    @cached_property
    def _ways(self) -> list[tuple[Simulation, WayIn]]:
        """The ways into all environments.

        Raises:
            StaleError: something changed meanwhile.
        """
        ways = []
        for simulation in self.workspace.simulations:
            for way in all_ways(simulation):
                if self._is_stale():
                    raise StaleError
                if way.trace.rule is not None:
                    ways.append((simulation, way))
        return ways

    def objects_in(self, file: str) -> list[Cursor]:
        """Return the objects of a file, in the order of its lines, each once for all environments."""
        places: dict[tuple[int, Pointer, ResourceKey], list[Held]] = {}
        for held in self._by_file.get(file, ()):
            places.setdefault((_document(held).line, held.resource.root, held.resource.key), []).append(held)
        return [Cursor(tuple(several), ()) for several in places.values()]

    def at(self, file: str, line: int, column: int) -> Cursor | None:
        """Return what is written at a place, None where no object is.

        Args:
            line, column: 1-based, columns in code points.
        """
        above = [held for held in self._by_file.get(file, ()) if _document(held).line <= line]
        if not above:
            return None
        document = _document(above[-1])
        pointer = _pointer_at(document, line, column)
        own = [
            held
            for held in above
            if _document(held).line == document.line and pointer[: len(held.resource.root)] == held.resource.root
        ]
        if not own:
            return None
        first = own[0].resource
        return Cursor(tuple(held for held in own if held.resource.key == first.key), pointer[len(first.root) :])

    def meant(self, cursor: Cursor) -> ResourceKey:
        """Return the object that a place is about: the one that it names, else the one that is written there."""
        named = next(self._named(cursor), None)
        return cursor.key if named is None else named[1].key

    def definitions(self, cursor: Cursor) -> list[Location]:
        """Return where the objects are written that a place names: by reference, or by a selector of a policy."""
        found: dict[tuple[str, int, int], Location] = {}
        for held, reference in self._named(cursor):
            resource = held.simulation.world.get(reference.key)
            if resource is not None:
                on_section = reference.section and cursor.pointer[-1:] == ("sectionName",)
                where = section_of(resource, reference.section) if on_section else resource.name_location
                found[where.sort_key()] = where
        for held in () if found else cursor.held:
            policy = held.simulation.policies.get(cursor.key)
            for target in () if policy is None else policy.targets:
                if cursor.pointer[: len(target.pointer)] == target.pointer:
                    for node in target.nodes:
                        if (resource := held.simulation.world.get(node.key)) is not None:
                            found[resource.name_location.sort_key()] = resource.name_location
        return [found[place] for place in sorted(found)]

    def references(self, key: ResourceKey, *, declaration: bool = False) -> list[Location]:
        """Return the places that name an object, and the names of the policies that act on it.

        Args:
            declaration: whether the object's own name is one of them.
        """
        places = [held.resource.location(*reference.name) for held, reference in self._references.get(key, ())]
        keys = [*self._acting.get(key, ()), *([key] if declaration else [])]
        for simulation in self.workspace.simulations:
            known = (simulation.world.get(policy) for policy in keys)
            places += [resource.name_location for resource in known if resource is not None]
        unique = {place.sort_key(): place for place in places}
        return [unique[place] for place in sorted(unique)]

    def naming(self, key: ResourceKey) -> list[tuple[Held, NamedPlace]]:
        """Return the references to an object, each with the object that holds it."""
        return self._references.get(key, [])

    def has_lens(self, key: ResourceKey) -> bool:
        """Tell, without following any request, whether there is something to say above an object."""
        if key.kind in _WITH_WAYS or key in self._acting:
            return True
        return any(key in simulation.policies for simulation in self.workspace.simulations)

    def lens(self, key: ResourceKey) -> str:
        """Return `4 policies · 12 requests · authentication: jwt`, for a policy its verdict; "" where there is nothing.

        Requests are kinds of requests: the regions that `reach` lists.

        Raises:
            StaleError: something changed meanwhile.
        """
        states = [simulation.policies[key] for simulation in self.workspace.simulations if key in simulation.policies]
        if states:
            targets = len({node for state in states for target in state.targets for node in target.nodes})
            return f"{' / '.join(sorted({state.verdict for state in states}))} · {count(targets, 'target')}"
        policies = len(self._acting.get(key, ()))
        parts = [count(policies, "policy", "policies")] if policies else []
        ways = [way for way in self._ways if key in _passed(way[1])] if key.kind in _WITH_WAYS else []
        if ways:
            parts.append(count(len(ways), "request"))
            served = [(where, way) for where, way in ways if way.trace.outcome.backends or way.trace.outcome.unknown]
            parts += [f"authentication: {_authentication(served)}"] if served else []
        return " · ".join(parts)

    def hover(self, cursor: Cursor) -> str:
        """Return the explanation of what a place is about: of one setting where the cursor is on one."""
        from policylint.explain.explanation import explain
        from policylint.explain.subject import Subject
        from policylint.report.explain import write
        from policylint.report.kit.display import Paint
        from policylint.report.kit.identity import Names
        from policylint.topology import whole

        key = self.meant(cursor)
        explained: list[tuple[Any, None]] = [
            (explain(Subject(simulation, key, whole(key)), self.lint.findings), None)
            for simulation in self.workspace.simulations
            if key in simulation.world.resources
        ]
        field = _setting(cursor) if key == cursor.key else ""
        names = Names.of(self.workspace.simulations)
        lines = "".join(write("text", explained, names, Paint(False), _WIDTH, field)).splitlines()
        said = "\n".join(line for line in lines if not line.startswith("More ")).strip()  # of a command line
        return "\n\n".join([*self._found_at(cursor), said])

    def _found_at(self, cursor: Cursor) -> list[str]:
        """Return what was found at a place itself: `no HTTPRoute "chekout" (did you mean "checkout"?)` and the like."""
        places = {held.resource.location(*cursor.pointer).sort_key() for held in cursor.held}
        return [
            "\n".join(map(one_line, (f"{one.rule}: {one.message}", *([one.label] if one.label else []), *one.help)))
            for one in self.lint.known
            if cursor.pointer and one.location.sort_key() in places
        ]

    def complete(self, place: Surroundings) -> list[Offer]:
        """Return what may be written at a place."""
        return offers(place, self.workspace.simulations)

    def symbols(self, query: str = "") -> list[Held]:
        """Return the objects whose names hold the letters of a query in their order, each once, by name."""
        wanted = query.lower()
        found: dict[tuple[ResourceKey, tuple[str, int, int]], Held] = {}
        for written in self._by_file.values():
            for held in written:
                letters = iter(str(held.resource.key).lower())
                if all(letter in letters for letter in wanted):
                    found[held.resource.key, held.resource.name_location.sort_key()] = held
        return [found[each] for each in sorted(found)][:_MOST_SYMBOLS]

    def _named(self, cursor: Cursor) -> Iterator[tuple[Held, NamedPlace]]:
        """Yield the innermost reference around a place, in each environment that has one."""
        for held in cursor.held:
            for end in range(len(cursor.pointer), 0, -1):
                reference = reference_at(held.resource, cursor.pointer[:end], held.simulation.world)
                if reference is not None:
                    yield held, reference
                    break


def _document(held: Held) -> Document:
    document = held.resource.document
    assert isinstance(document, Document)
    return document


def _pointer_at(document: Document, line: int, column: int) -> Pointer:
    """Return the pointer of the innermost value that begins at or before a place, with its key."""
    pointer: Pointer = ()
    value: Any = document.value
    while isinstance(value, (dict, list)):
        chosen: Any = None
        steps: Sequence[Any] = list(value) if isinstance(value, dict) else range(len(value))
        for step in steps:
            if document.position((*pointer, step), key=isinstance(value, dict)) <= (line, column):
                chosen = step
        if chosen is None:
            break
        pointer = (*pointer, chosen)
        value = value[chosen]
    return pointer


def _passed(way: WayIn) -> set[ResourceKey]:
    """Return the Gateway, the route and the backends of a way."""
    rule = way.trace.rule
    return {way.entry.gateway, *([rule.key] if rule is not None else []), *way.trace.outcome.backends}


def _authentication(ways: Sequence[tuple[Simulation, WayIn]]) -> str:
    """Return what the ways that end at a backend demand for authentication, `none` or `unknown` where some differ."""
    from policylint.trace import Requirements, Tracer

    words: set[str] = set()
    of_environment: dict[str, Requirements] = {}
    for simulation, way in ways:
        name = simulation.world.name
        if name not in of_environment:
            of_environment[name] = Requirements(Tracer(simulation, nearest=False))
        answer = asked(of_environment[name], way, "authentication")
        settings = " + ".join(asker.setting for asker in answer.demands)
        words.add(
            {"asked": settings, "optional": f"{settings} (optional)", "open": "none"}.get(answer.state, "unknown")
        )
    return ", ".join(sorted(words))


def _setting(cursor: Cursor) -> str:
    """Return the setting of a policy under the cursor, as `explain --field` takes it; "" for none."""
    held = cursor.held[0]
    state = held.simulation.policies.get(cursor.key)
    steps = [step for step in cursor.pointer if isinstance(step, str)]
    if state is None or steps[:1] != ["spec"] or len(steps) < 2 or steps[1].startswith("target"):
        return ""
    return next((step for step in steps[1:] if step not in ("default", "defaults", "override", "overrides")), "")
