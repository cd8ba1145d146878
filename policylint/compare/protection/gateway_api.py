"""GWP304 for Gateway API itself: routes that may attach, objects that may be named, sites that may use credentials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policylint.catalog.weakenings import common_weaknesses
from policylint.checks.kit.locations import path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay
from policylint.compare.protection.extensions import nearest, weakened
from policylint.compare.protection.spec import weakenings
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, integer, is_symbolic, mapping, sequence, text
from policylint.model.weakness import Weakness
from policylint.model.words import listing
from policylint.topology import whole
from policylint.topology.grants import KINDS as GRANTS
from policylint.topology.routes import rules
from policylint.topology.status import client_validation

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
        Weakness(
            "tls.backend.clientCertificateRef",
            "backends no longer see by a certificate who calls them",
            presence="demands",
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
        Weakness(
            "rules.*.filters.*.cors.allowCredentials",
            "scripts of other sites may use the credentials of visitors",
            order=((False,), (True,)),
            unset=False,
            severity="note",
        ),
        *(
            Weakness(f"rules.*.filters.*.cors.{name}", says, list="alternatives", severity="note")
            for name, says in (
                ("allowOrigins", "scripts of more sites may ask"),
                ("allowMethods", "scripts of other sites may do more"),
                ("allowHeaders", "scripts of other sites may send more"),
                ("exposeHeaders", "scripts of other sites may see more"),
            )
        ),
    ),
}


def handshakes_widened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the Gateways, rules or namespaces that they open."""
    for kind, weaker in _WEAKER.items():
        for old, new in _edited(sides, kind):
            warned: set[Pointer] = set()
            for weakening in weakenings(weaker, old.spec, new.spec):
                if kind == "HTTPRoute" and weakening.after[:4] in warned:
                    continue  # of a filter the worst is enough
                warned |= {weakening.after[:4]} if weakening.weak.severity == "warning" else set()
                if _asks_the_same(old, new, weakening.before, weakening.after):
                    continue
                fix = f"keep `{path(weakening.after)}` as narrow as what needs it"
                cause = weakened(weakening, old, new, fix)
                yield cause._replace(own=kind != "HTTPRoute"), "", _way(new, weakening.after)
    for old, new in _edited(sides, "Gateway"):
        yield from ((cause._replace(own=True), "", (whole(new.key),)) for cause in _of_ports(old, new))
    for kind in GRANTS:
        for old, new in _edited(sides, kind):
            way = (whole(ResourceKey("", "Namespace", "", new.key.namespace)),)
            yield from ((cause, "", way) for cause in _of_grant(old, new))
        for key in sides.pairing.added:
            new_grant = sides.after.world.get(key) if key[:2] == (GATEWAY_GROUP, kind) else None
            if new_grant is not None and (given := _of_new_grant(sides, new_grant)):
                yield given, "", (whole(ResourceKey("", "Namespace", "", key.namespace)),)


def _of_ports(old: Resource, new: Resource) -> Iterator[Cause]:
    """Yield what the validation of client certificates asks less of a port where another field decides on it now."""
    ports = {integer(mapping(each).get("port")) for each in sequence(old.spec.get("listeners"))}
    for port in sorted(filter(None, ports)):
        was, now = client_validation(old, port), client_validation(new, port)
        if not was.value or was.port == now.port or not _is_encrypted(new, port):
            continue  # the same field decides: it is compared by its words
        before, after = ({"tls": {"frontend": {"validation": each.value}}} for each in (was, now))
        for weakening in weakenings(common_weaknesses(new.key.kind, before, after), before, after):
            yield Cause(
                f"{path((*now.pointer[1:], *weakening.after[3:]))} for port {port}",
                weakening.change,
                weakening.weak.says,
                (new.key,),
                location=nearest(new, (*now.pointer, *weakening.after[3:])),
                before=nearest(old, (*was.pointer, *weakening.before[3:])),
                fix=f"ask clients for certificates on port {port}, too",
                severity=weakening.weak.severity,
            )


def _is_encrypted(gateway: Resource, port: int) -> bool:
    listeners = map(mapping, sequence(gateway.spec.get("listeners")))
    return any(each.get("port") == port and each.get("protocol") in ("HTTPS", "TLS") for each in listeners)


def _of_new_grant(sides: Sides, new: Resource) -> Cause | None:
    """Return that a new ReferenceGrant lets Secrets be named from elsewhere where nothing that was seen does so."""
    sources = [entry for entry in _entries(new.spec.get("from")) if entry[2] != new.key.namespace]
    secret = any(entry[1] == "Secret" for entry in _entries(new.spec.get("to")))
    if not sources or not secret or _is_used(sides, new, sources):
        return None
    words = listing([" ".join(filter(None, _words(entry))) for entry in sources], most=3)
    return Cause(
        "spec.from",
        f"is new and has {words}",
        "they may name Secrets here, and none that was seen does",
        (new.key,),
        location=nearest(new, ("spec", "from")),
        fix="leave it out until something needs it",
        severity="note",
    )


def _is_used(sides: Sides, grant: Resource, sources: list[_Entry]) -> bool:
    """Tell whether an object that a grant trusts names its namespace."""
    trusted = {(group, kind, namespace) for group, kind, namespace, _ in sources}
    for key, resource in sides.after.world.resources.items():
        if (key.group, key.kind, key.namespace) in trusted and _names(resource.body, grant.key.namespace):
            return True
    return False


def _names(value: object, namespace: str) -> bool:
    """Tell whether some reference in an object is to a namespace."""
    if isinstance(value, dict):
        return value.get("namespace") == namespace or any(_names(inner, namespace) for inner in value.values())
    return isinstance(value, list) and any(_names(inner, namespace) for inner in value)


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
