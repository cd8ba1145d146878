"""GWP304 for Gateway API itself: routes that may attach, objects that may be named, sites that may use credentials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policylint.checks.kit.locations import path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay
from policylint.compare.protection.extensions import nearest, weakened
from policylint.compare.protection.spec import weakenings
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.model.weakness import Weakness
from policylint.model.words import listing
from policylint.topology import whole
from policylint.topology.grants import KINDS as GRANTS
from policylint.topology.routes import rules

_FROM = (("None",), ("Same",), ("Selector",), ("All",))
_OF_LISTENERS = (
    Weakness(
        "listeners.*.allowedRoutes.namespaces.from",
        "routes of other namespaces may attach as well",
        order=_FROM,
        unset="Same",
        without="Same",
        severity="note",
    ),
    Weakness(
        "listeners.*.allowedRoutes.namespaces.selector.matchLabels",
        "routes of more namespaces may attach",
        list="demands",
        where={"allowedRoutes.namespaces.from": "Selector"},
        severity="note",
    ),
)
_WEAKER: Mapping[str, tuple[Weakness, ...]] = {
    "Gateway": (
        *_OF_LISTENERS,
        Weakness(
            "allowedListeners.namespaces.from",
            "ListenerSets of other namespaces may add listeners",
            order=_FROM,
            unset="None",
            without="None",
            severity="note",
        ),
    ),
    "ListenerSet": _OF_LISTENERS,
    "HTTPRoute": (
        Weakness(
            "rules.*.filters.*.cors.allowOrigins",
            "scripts of every site may use the credentials of visitors",
            everybody=("*",),
            where={"cors.allowCredentials": True},
        ),
    ),
}


def handshakes_widened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the Gateways, rules or namespaces that they open."""
    for kind, weaker in _WEAKER.items():
        for old, new in _edited(sides, kind):
            for weakening in weakenings(weaker, old.spec, new.spec):
                if _asks_the_same(old, new, weakening.before, weakening.after):
                    continue
                fix = f"keep `{path(weakening.after)}` as narrow as what needs it"
                cause = weakened(weakening, old, new, fix)
                yield cause._replace(own=kind != "HTTPRoute"), "", _way(new, weakening.after)
    for kind in GRANTS:
        for old, new in _edited(sides, kind):
            way = (whole(ResourceKey("", "Namespace", "", new.key.namespace)),)
            yield from ((cause, "", way) for cause in _of_grant(old, new))


def _asks_the_same(old: Resource, new: Resource, before: Pointer, after: Pointer) -> bool:
    """Tell whether a selector that lost labels asks for them by expressions now."""
    if "matchLabels" not in before or "matchLabels" not in after:
        return False
    was, now = (value_at(each.spec, at[: at.index("matchLabels")]) for each, at in ((old, before), (new, after)))
    return _conditions(was) <= _conditions(now)


def _conditions(selector: object) -> set[tuple[str, str]]:
    """Return the labels with one value each that a selector asks for."""
    labels = mapping(mapping(selector).get("matchLabels"))
    expressions = map(mapping, sequence(mapping(selector).get("matchExpressions")))
    return {(key, str(value)) for key, value in labels.items()} | {
        (text(each.get("key")), str(sequence(each.get("values"))[0]))
        for each in expressions
        if each.get("operator") == "In" and len(sequence(each.get("values"))) == 1
    }


def _edited(sides: Sides, kind: str) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects of a kind of Gateway API whose specs differ."""
    return ((old, new) for old, new in sides.edited(GATEWAY_GROUP, kind) if new.spec != old.spec)


def _way(resource: Resource, pointer: Pointer) -> Path:
    """Return the way to the rule that a pointer below a spec lies in, else to the object itself."""
    holder = whole(resource.key)
    return (holder, *(rule.node for rule in rules(resource) if pointer[:2] == ("rules", rule.number)))


def _of_grant(old: Resource, new: Resource) -> Iterator[Cause]:
    """Yield what a ReferenceGrant permits beyond all that it permitted; nothing where something else is exchanged."""
    for field, says in (("from", "they may name objects here"), ("to", "other namespaces may name them")):
        before, after = (_entries(grant.spec.get(field)) for grant in (old, new))
        gained = [entry for entry in after if not _is_covered(entry, before)]
        if before and gained and all(_is_covered(entry, after) for entry in before):
            yield Cause(
                f"spec.{field}",
                f"gains {listing([' '.join(filter(None, _words(entry))) for entry in gained], most=3)}",
                says,
                (new.key,),
                location=nearest(new, ("spec", field)),
                before=nearest(old, ("spec", field)),
                fix=f"keep `spec.{field}` to what needs it",
                severity="note",
            )


_Entry = tuple[str, str, str, str]
"""Group, kind, trusted namespace and name of an entry of `from` or `to`."""


def _entries(listed: object) -> list[_Entry]:
    entries = (mapping(entry) for entry in sequence(listed))
    return [
        (text(entry.get("group")), text(entry.get("kind")), text(entry.get("namespace")), text(entry.get("name")))
        for entry in entries
    ]


def _is_covered(entry: _Entry, others: Iterable[_Entry]) -> bool:
    """Return whether others permit the same, or every name of it; what holds a variable may be anything."""
    return any(is_symbolic(part) for part in entry) or any(
        entry == other or (entry[:3] == other[:3] and not other[3]) for other in others
    )


def _words(entry: _Entry) -> tuple[str, str, str]:
    """Return `HTTPRoute of shop`, `Service db`, `every Service` in parts."""
    _, kind, namespace, name = entry
    return ("" if namespace or name else "every", kind, f"of {namespace}" if namespace else name)
