"""What releases do otherwise beyond schemas: the changes of the catalog, looked for in one environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from typing import Any

from policylint.catalog.content import places
from policylint.catalog.releases import Place, ReleaseChange, ReleasedProduct, Version, version
from policylint.cel.evaluation import Program
from policylint.cel.nodes import Fuel
from policylint.cel.syntax import tree
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Location, Resource, mapping, sequence, text
from policylint.model.resource import Spot, deepest_written, dotted
from policylint.namedtuple import NamedTuple
from policylint.regex import expression
from policylint.render.controllers import Configuration, configurations, locating, there, values_of_charts
from policylint.render.in_use import InUse, Lines, charts
from policylint.simulation import Simulation
from policylint.topology.ancestry import implementation_of
from policylint.upgrade import Consequence

_LONGEST = 4_000
"""Characters of a line, beyond which nothing is looked for in it."""


class Examined(NamedTuple):
    """What a change may show in.

    Args:
        name: as reports name it.
        body: what conditions are asked of.
        locate: a pointer below the body → where that is written.
        resource: the object, where it is one of the environment.
    """

    name: str
    body: Any
    locate: Callable[[Pointer], Location]
    resource: Resource | None = None


Hit = tuple[Examined, Pointer]


class Looking:
    """One environment, and what is looked for in it for one product.

    Args:
        uses: what the tree says of the release in use.
        files, lines: the files of the tree, and what stands in them.
    """

    def __init__(
        self, product: ReleasedProduct, simulation: Simulation, uses: list[InUse], files: Iterable[str], lines: Lines
    ) -> None:
        self.product = product
        self.simulation = simulation
        self.uses = uses
        self.files = sorted(files)
        self.lines = lines
        self.subjects = cache(self._subjects)

    def changes(self, start: Version, end: Version, known: dict[str, Version]) -> Iterator[Consequence]:
        """Yield what the releases after one, up to another, do otherwise.

        Args:
            known: the releases of other products that are in use, as far as they are known.
        """
        for change in self.product.changes:
            if start < change.release <= end and self._is_needed(change, known):
                seen = set()
                for place in change.places:
                    for subject, pointer in self.hits(place):
                        if (subject.name, pointer) not in seen:
                            seen.add((subject.name, pointer))
                            yield self._consequence(change, subject, pointer)
                            if place.kind == "Installation":
                                break

    def _is_needed(self, change: ReleaseChange, known: dict[str, Version]) -> bool:
        """Tell whether a release of another product that a change needs is not known to be there."""
        return not change.needs or any(
            known.get(name) is None or known[name] < (version(least) or ()) for name, least in change.needs.items()
        )

    def _consequence(self, change: ReleaseChange, subject: Examined, pointer: Pointer) -> Consequence:
        place = subject.locate(deepest_written(subject.body, pointer))
        return Consequence(
            self.product.name,
            change.release,
            change.effect,
            change.name,
            subject.name,
            change.says,
            change.todo,
            dotted(pointer),
            place.file,
            place.at()[0],
        )

    def hits(self, place: Place) -> Iterator[Hit]:
        """Yield the subjects in which a place is, and where in them."""
        if any(not self._is_anywhere(other) for other in place.beside) or any(map(self._is_anywhere, place.unless)):
            return
        if place.kind == "Text":
            yield from self._lines(place)
            return
        for subject in self.subjects(place.kind):
            if self._holds(place, subject):
                for pointer, value in places(subject.body, place.at, ()) if place.at else (((), subject.body),):
                    if self._is_meant(place, subject, value):
                        yield subject, pointer

    def _is_anywhere(self, place: Place) -> bool:
        return next(self.hits(place), None) is not None

    def _holds(self, place: Place, subject: Examined) -> bool:
        """Tell whether a whole object is as a place wants it."""
        if place.given and not _is_true(place.given, subject.body):
            return False
        resource = subject.resource
        if place.targets and place.targets not in self._targets(resource):
            return False
        if place.verdict:
            state = None if resource is None else self.simulation.policies.get(resource.key)
            if state is None or state.verdict != place.verdict:
                return False
        if place.missing and not any(
            binding.form == place.missing and binding.holder is resource and binding.resolution.missing
            for binding in self.simulation.bindings
        ):
            return False
        return not place.untargeted or (resource is not None and not self._is_targeted(resource, place.untargeted))

    def _is_meant(self, place: Place, subject: Examined, value: Any) -> bool:
        if place.when and not _is_true(place.when, value):
            return False
        if place.mentions and expression(place.mentions).is_within(json.dumps(value, default=str)) is not True:
            return False
        if place.refers is None:
            return True
        wanted = mapping(value)
        own = "" if subject.resource is None else subject.resource.key.namespace
        namespace = text(wanted.get("namespace")) or own
        return any(
            other.resource is not None
            and other.resource.key.name == text(wanted.get("name"))
            and other.resource.key.namespace == namespace
            and other.resource.key.kind == text(wanted.get("kind"))
            for other, _ in self.hits(place.refers)
        )

    def _targets(self, resource: Resource | None) -> set[str]:
        """Return the kinds of what a policy is for, whether it names that or selects it."""
        state = None if resource is None else self.simulation.policies.get(resource.key)
        targets = () if state is None else state.targets
        return {target.key.kind for target in targets if target.selector is None or target.nodes}

    def _is_targeted(self, resource: Resource, kind: str) -> bool:
        return any(
            text(mapping(target).get("name")) == resource.key.name
            and text(mapping(target).get("kind")) == resource.key.kind
            for policy in self.simulation.world.of_kind(*_split(kind))
            if policy.key.namespace == resource.key.namespace
            for target in (*sequence(policy.spec.get("targetRefs")), policy.spec.get("targetRef"))
        )

    def _lines(self, place: Place) -> Iterator[Hit]:
        """Yield the first line of each file that a pattern is in, each as a subject of its own."""
        wanted = expression(place.mentions)
        told = set()
        for file, number, line in self._telling:
            if file not in told and wanted.is_within(line):
                told.add(file)
                yield Examined(file, line, partial(there, Location(Spot(file, number)))), ()

    @cached_property
    def _telling(self) -> list[tuple[str, int, str]]:
        """The lines of files that may tell of some change, comments left out; each file is read once."""
        listed = [place for change in self.product.changes for place in change.places]
        listed += [other for place in listed for other in (*place.beside, *place.unless)]
        patterns = {place.mentions: None for place in listed if place.kind == "Text"}
        if not patterns:
            return []
        any_of = expression("(?m)" + "|".join(f"(?:{pattern})" for pattern in patterns))
        return [
            (file, number, line)
            for file in self.files
            if any_of.is_within("\n".join(lines := self.lines(file))) is not False
            for number, line in enumerate(lines, 1)
            if len(line) <= _LONGEST and not line.lstrip().startswith("#") and any_of.is_within(line)
        ]

    def _subjects(self, kind: str) -> list[Examined]:
        if kind == "Installation":
            return [*self._installation()]
        if kind == "Holder":
            held = (chart.holder for _, chart in charts(self.product, self.simulation.world))
            return [Examined(str(holder.key), holder.body, locating(holder), holder) for holder in held]
        if kind == "Values":
            return self._examined(values_of_charts(self.product, self.simulation.world))
        if kind == text(self.product.configuration.get("kind")):
            return self._examined(self._configurations())
        found = self.simulation.world.of_kind(*_split(kind))
        return [each for resource in found for each in _policies(resource)]

    def _installation(self) -> Iterator[Examined]:
        """Yield what stands for the whole product: what says its release, else its class, else a Gateway of it."""
        if self.uses:
            use = self.uses[0]
            yield Examined(use.said, {"uses": [each.said for each in self.uses]}, partial(there, use.location))
            return
        simulation, name = self.simulation, self.product.name
        for resource in simulation.world.of_kind(GATEWAY_GROUP, "GatewayClass"):
            controller = text(resource.spec.get("controllerName"))
            if simulation.catalog.implementation_of_controller(controller) == name:
                yield Examined(str(resource.key), resource.body, locating(resource), resource)
                return
        for state in simulation.topology.gateways:
            if implementation_of(state, simulation.catalog) == name:
                yield Examined(str(state.gateway.key), state.gateway.body, locating(state.gateway), state.gateway)
                return

    def _examined(self, found: Iterable[Configuration]) -> list[Examined]:
        return [Examined(each.name, each.body, each.locate) for each in found]

    def _configurations(self) -> list[Configuration]:
        return [*configurations(self.product, self.simulation.world, self.files, self.lines)]


def _split(kind: str) -> tuple[str, str]:
    """Return group and kind of `Kind.group`."""
    name, _, group = kind.partition(".")
    return group, name


@cache
def _program(expression: str) -> Program:
    parsed = tree(expression)
    if parsed is None:
        raise ValueError(f"no expression: {expression}")
    return Program(parsed, None, Fuel())


def _is_true(expression: str, value: Any) -> bool:
    return _program(expression).value(value) is True


def _policies(resource: Resource) -> Iterator[Examined]:
    """Yield an object, or each of the policies that it holds (`specs` of Cilium's) as the only one of an object."""
    several = [] if resource.spec else sequence(resource.body.get("specs"))
    at = locating(resource)
    for number, spec in enumerate(several):
        yield Examined(str(resource.key), {**resource.body, "spec": spec}, partial(_in_list, at, number), resource)
    if not several:
        yield Examined(str(resource.key), resource.body, at, resource)


def _in_list(locate: Callable[[Pointer], Location], number: int, pointer: Pointer) -> Location:
    return locate(("specs", number, *pointer[1:]) if pointer[:1] == ("spec",) else pointer)
