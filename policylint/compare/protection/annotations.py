"""GWP304 for annotations of Ingresses, Services and Gateways, by their names: a limit, a switch, an audience."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain

from policylint.catalog.directions import directed
from policylint.catalog.weakenings import access, as_step, common_weaknesses
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import WeakenedWay
from policylint.compare.protection.extensions import edited, weakened
from policylint.compare.protection.spec import weakenings
from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Location,
    PolicyKind,
    Resource,
    is_symbolic,
    mapping,
    sequence,
    text,
    value_at,
)
from policylint.topology import whole
from policylint.topology.workloads import WORKLOADS

_KINDS: tuple[tuple[str, str, Pointer], ...] = (
    ("networking.k8s.io", "Ingress", ("metadata", "annotations")),
    ("", "Service", ("metadata", "annotations")),
    (GATEWAY_GROUP, "Gateway", ("metadata", "annotations")),
    (GATEWAY_GROUP, "Gateway", ("spec", "infrastructure", "annotations")),
    ("", "Namespace", ("metadata", "annotations")),
    ("", "Namespace", ("metadata", "labels")),
    *((*kind, ("spec", "template", "metadata", "annotations")) for kind in WORKLOADS),
)
_ANNOTATED = frozenset((group, kind) for group, kind, place in _KINDS if place == ("metadata", "annotations"))
_WITH_LISTENERS = ((GATEWAY_GROUP, "Gateway"), (GATEWAY_GROUP, "ListenerSet"))
_WORDS = {"labels": "label", "options": "option"}
_KIND = "Annotation"
"""What stands for a kind where names of annotations are looked up."""


def _nothing(_: str) -> Collection[PolicyKind]:
    return ()


def annotations_weakened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the objects whose annotations ask for less; the part of a name before `/` does not count."""
    own = ((old, new, place) for group, kind, place in _KINDS for old, new in sides.edited(group, kind))
    of_listeners = (
        (old, new, ("spec", "listeners", number, "tls", "options"))
        for kind in _WITH_LISTENERS
        for old, new in sides.edited(*kind)
        for number, (was, now) in enumerate(zip(_listeners(old), _listeners(new), strict=False))
        if was == now
    )
    of_others = ((old, new, place) for old, new in edited(sides) for place in _written(old.spec, ("spec",)))
    of_any = (
        (old, new, ("metadata", "annotations"))
        for group, kind in sides.after.world.kinds()
        if (group, kind) not in _ANNOTATED and group not in access().silent
        for old, new in sides.edited(group, kind)
    )
    for old, new, place in chain(own, of_listeners, of_others, of_any):
        # Elsewhere the objects that annotations name are compared by what they ask.
        left_out = _nothing if new.key[:2] in _ANNOTATED else sides.after.catalog.bound_by
        before, after = _said(old, place, left_out), _said(new, place, left_out)
        if before == after:
            continue
        meant = [*common_weaknesses(_KIND, before, after), *directed(_KIND, before, after)]
        for weakening in weakenings(meant, before, after):
            cause = weakened(weakening, old, new, "keep it as it was, or say what takes its place")
            name = str(weakening.before[0])
            where = _location(new, place, name), _location(old, place, name)
            said = (
                name if new.key.kind in ("Ingress", "Service") else f"{_WORDS.get(str(place[-1]), 'annotation')} {name}"
            )
            yield cause._replace(own=True, field=said, location=where[0], before=where[1]), "", (whole(new.key),)


def _listeners(gateway: Resource) -> list[str]:
    """Return the names of the listeners of a Gateway, in order."""
    return [text(mapping(each).get("name")) for each in sequence(gateway.spec.get("listeners"))]


def _written(value: object, above: Pointer) -> Iterator[Pointer]:
    """Yield where an object writes down annotations of what is made of it, as EnvoyProxy does those of its Service."""
    for name, inner in mapping(value).items():
        if name.lower().endswith("annotations"):
            yield (*above, name)
        elif isinstance(inner, dict):
            yield from _written(inner, (*above, name))


def _said(
    resource: Resource, place: Pointer, is_left_out: Callable[[str], Collection[PolicyKind]]
) -> Mapping[str, object]:
    """Return the annotations by the last part of their names, those with variables left out."""
    return {
        _bare(name): value
        for name, value in mapping(value_at(resource.body, place)).items()
        if isinstance(value, str) and not is_symbolic(value) and not is_left_out(name)
    }


def _bare(name: str) -> str:
    return as_step(name.rpartition("/")[2])


def _location(resource: Resource, place: Pointer, bare: str) -> Location:
    full = next((name for name in mapping(value_at(resource.body, place)) if _bare(name) == bare), "")
    return resource.location(*place, full) if full else resource.name_location


__all__ = ["annotations_weakened"]
