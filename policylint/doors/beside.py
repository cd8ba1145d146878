"""What routes of Gateway API share with Ingresses of the same controller: what objects answer that both name, and whose
address counts (`extensions`, `addresses` in schemas/doors.yaml).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from policylint.doors.addresses import SETTING, believed
from policylint.doors.extensions import guards_of
from policylint.doors.vendors import guards, vendors
from policylint.implementations import implementation
from policylint.implementations.generic.detecting import Detection
from policylint.implementations.generic.failing import failures
from policylint.model import Location, Resource, ResourceKey, World, mapping
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.bindings import ObjectBinding


def decided(
    bindings: Iterable[ObjectBinding], message: RequestFacts
) -> Iterator[tuple[Decision, ResourceKey, Location]]:
    """Yield what objects answer a request that are named where it passes, with whose answer it is, and where it stands.

    Those that act for some clients alone say nothing of all; the logins of the others are what their kinds ask.
    """
    behaviour = implementation(guards().implementation)
    for binding in bindings:
        resource, kind = binding.resolution.resource, binding.kind
        if resource is None or kind is None or not kind.says or binding.of_some:
            continue
        about = next((each.extensions for each in vendors() if each.name == kind.implementation), {})
        for guard in guards_of(resource, about) if about.get("group") == kind.group else ():
            for decision in chain(failures(guard.failing), behaviour.decisions(guards(), guard.spec, message)):
                if binding.spares and decision.answer == "denied":
                    decision = decision._replace(answer="depends", why="whether a client has another one of its sort")
                place = guard.places.get(decision.pointer[:1], ("metadata", "name"))
                yield decision, resource.key, resource.location(*place)


def detection(world: World, serving: str, gateway: Resource) -> Detection | None:
    """Return where the controller of a Gateway looks for clients' addresses, as its settings for Ingresses say."""
    vendor = next((each for each in vendors() if each.name == serving and each.addresses), None)
    guard = None if vendor is None else believed(world, vendor, gateway)
    stated = {} if guard is None else {SETTING: mapping(guard.spec.get(SETTING))}
    return implementation(guards().implementation).detection(gateway, guards(), stated)
