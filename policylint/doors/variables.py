"""What a variable leaves open at doors: one in the place of rules, of what a rule takes or does, or of what is asked.

Flux fills in `${ROUTES}`, charts `{{ .Values.routes }}`, scripts whatever they replace. What nothing in the tree fills
in is not known, which is not none: a list that was not read has entries, and a rule of which a part was not read is
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from policylint.documents import Pointer
from policylint.matches import PATH_TYPES, read
from policylint.model import Resource, ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.patterns import Pattern
from policylint.topology.routes import UNSEEN

if TYPE_CHECKING:
    from policylint.doors.lowered import DoorRule, Guard

BEFORE_ALL: Final = 1_000_000_000
"""The rank of a rule that may come before any other one."""
_TAKING: Final = frozenset(
    {
        *("conditions", "match", "uri", "headers", "withoutHeaders", "queryParams", "method", "authority", "scheme"),
        *("queryParameter", "matches"),
    }
)
"""Fields of rules that say which requests they take: lists and objects, but for the rule of an IngressRoute."""
_ASKING: Final = frozenset(
    {
        *("middlewares", "policies", "virtualhost", "ipAllowPolicy", "ipDenyPolicy", "jwtVerificationPolicy"),
        *("authPolicy", "rateLimitPolicy", "authorization", "jwtProviders", "clientValidation"),
    }
)
"""Fields that say what requests are asked, of which doors ask where they stand: other objects have a part in them."""
_ASKING_ALONE: Final = frozenset({"plugins", "tls"})
"""Those, of rules and of whole objects, in which no other object has a part."""
_DOING: Final = frozenset(
    {
        *("services", "requestRedirectPolicy", "directResponsePolicy", "pathRewritePolicy"),
        *("route", "redirect", "directResponse", "rewrite", "delegate", "fault", "destination"),
        *("action", "splits", "upstreams", "return", "proxy", "routeSelector"),
        *("backend", "resource", "defaultBackend", "tcpproxy", "to", "alternateBackends"),
    }
)
"""Fields that say what becomes of requests."""
_SHARED: Final = frozenset({"tls", "upstreams"})
"""Fields of objects that all of their rules have a part in."""
_SETTLED: Final = _TAKING | _DOING | _ASKING_ALONE
_OBJECTS: Final = _SETTLED | _ASKING
_OBJECTS_WITHIN: Final = frozenset({("backend", "service"), ("defaultBackend", "service")})
"""Fields that are objects in these, and texts elsewhere."""
_ONE: Final = Pattern(r"\s*(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|\$\w+)\s*")


def listed(value: object) -> list[Any]:
    """Return a list as written; the variable alone where one stands for it, as the entry that there is."""
    return [value] if isinstance(value, str) and is_symbolic(value) else sequence(value)


def entries(resource: Resource, field: str) -> list[Any]:
    """Return the entries of a list of an object; the variable that stands for it, or for all that the object says."""
    return entries_of(resource.body, "spec", field)


def entries_of(value: object, *fields: str) -> list[Any]:
    """Return the entries of a list in something; the variable that stands for it, or for what it is in."""
    for step in fields:
        value = value if isinstance(value, str) else mapping(value).get(step)
    return listed(value)


def words(value: object) -> list[str]:
    """Return the texts of a list; the variable alone where one stands for it."""
    return [value] if isinstance(value, str) and is_symbolic(value) else texts(value)


def host_of(resource: Resource, *fields: str) -> str:
    """Return the host that an object is for; the variable that stands for it, or for what it is in."""
    value = _written(resource, ("spec", *fields))
    return value if isinstance(value, str) else ""


def stands_in_variable(resource: Resource, pointer: Pointer) -> bool:
    """Return whether a variable stands for what is at a place of an object, or around it."""
    return isinstance(_written(resource, pointer), str)


def _written(resource: Resource, pointer: Pointer) -> object:
    """Return what stands at a place of an object; the text around it where one is there."""
    value: object = resource.body
    for step in pointer:
        value = value if isinstance(value, str) else _below(value, step)
    return value


def variable_at(resource: Resource, pointer: Pointer) -> str:
    """Return the variable that stands for something at a place of an object, around it or within; "" if none does."""
    value = _written(resource, pointer)
    return value if _is_variable(value) and isinstance(value, str) else next(_within("", value), "")


def is_left_open(resource: Resource, pointer: Pointer = ("spec",)) -> bool:
    """Return whether a variable stands for something at a place of an object, around it or within: what is said to be
    wrong there is not known to be."""
    return bool(variable_at(resource, pointer))


def undetermined(holder: Resource) -> str:
    """Return where a variable stands for listeners of a Gateway, or for what requests they take; "" where none does.

    Those of doors are called servers.
    """
    spec = holder.body.get("spec")
    if is_symbolic(spec):
        return "spec"
    for field in ("listeners", "servers"):
        written = holder.spec.get(field)
        if is_symbolic(written):
            return f"spec.{field}"
        for number, entry in enumerate(sequence(written)):
            port = mapping(entry).get("port")
            stated = (entry, port, *mapping(port).values(), mapping(entry).get("protocol"))
            if any(map(is_symbolic, stated)):
                return f"spec.{field}[{number}]"
    return ""


def settled(rules: Iterable[DoorRule], *, in_order: bool = False) -> list[DoorRule]:
    """Return the rules of a door as they were read, or as much of them as is known where variables stand in them.

    Args:
        in_order: whether the place of each among the others is its rank, and it says all of itself.
    """
    holding: dict[ResourceKey, bool] = {}
    found = []
    for rule in rules:
        holder = rule.holder
        if holder.key not in holding:
            holding[holder.key] = any(True for _ in _within("spec", holder.body.get("spec")))
        rule = _settled(rule, in_order=in_order) if holding[holder.key] else rule
        found.append(rule if in_order else _before(rule))
    return found


def _before(rule: DoorRule) -> DoorRule:
    """Return a rule with the highest rank that it may have: where a variable stands in a path its length is open."""
    stated = rule.body.get("matches")
    if not isinstance(stated, list) or not any(_is_of_open_path(mapping(match)) for match in stated):
        return rule
    kind, length, *rest = rule.body["precedence"]
    weights = (kind, BEFORE_ALL, *rest) if length else (BEFORE_ALL, length, *rest)
    return rule._replace(body={**rule.body, "precedence": weights})


def _is_of_open_path(match: Mapping[str, Any]) -> bool:
    also = (each for each in sequence(match.get("also")) if each.get("of") == "path")
    paths = map(mapping, (match.get("path"), *also))
    return any(read(text(each.get("type")), text(each.get("value")), PATH_TYPES).is_open for each in paths)


def _settled(rule: DoorRule, *, in_order: bool) -> DoorRule:
    holder = rule.holder
    value = _written(holder, rule.pointer)
    if isinstance(value, str) and UNSEEN in rule.body:
        return rule  # what it may take is said
    is_whole = isinstance(value, str) and is_symbolic(value) and rule.pointer != ("metadata", "name")
    if is_whole and rule.pointer[-1] not in _DOING:
        weights = rule.body.get("precedence") if in_order else None
        body = {"matches": value, "precedence": weights or (BEFORE_ALL, 0, 0, 0, 0)}
        return rule._replace(body=body, guards=())
    written = {rule.pointer[-1]: value} if rule.pointer[-1] in _DOING else mapping(value)
    found = list(_of_fields(written, _SETTLED))
    found += () if in_order else _of_fields(holder.spec, _SHARED)
    body, guards = dict(rule.body), list(rule.guards)
    for field, variable in found:
        if field in _TAKING:
            weights = body.get("precedence") if in_order else None
            body |= {"matches": variable, "precedence": weights or (BEFORE_ALL, 0, 0, 0, 0)}
        elif field in _DOING or (field == "tls" and rule.opening.scheme == "http"):
            body["backendRefs"] = variable
            guards = [each for each in guards if not each.failing]
        else:
            guards.append(_unread(holder, rule.pointer, variable))
    return rule._replace(body=body, guards=tuple(guards)) if found else rule


def open_guards(holder: Resource, *places: Pointer) -> list[Guard]:
    """Return what may be asked where an object has a variable in the place of what asks, around it, or in a list."""
    read = ((place, filter(is_symbolic, listed(_written(holder, place)))) for place in places)
    stated = {variable: place for place, variables in read for variable in variables}
    return [_unread(holder, place, each) for each, place in stated.items()]


def _unread(holder: Resource, place: Pointer, variable: str) -> Guard:
    from policylint.doors.lowered import Guard

    return Guard(holder, {"unread": variable}, {("unread",): place})


def _of_fields(entry: Mapping[str, Any], fields: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables within fields of an entry, each with its field."""
    for name in entry.keys() & fields:
        yield from ((name, variable) for variable in _within(name, entry[name]))


def _within(name: str, value: object) -> Iterator[str]:
    """Yield the variables that stand for a list or an object in the value of a field, or for an entry of a list."""
    if isinstance(value, str):
        if (name in _OBJECTS or name in _LISTS) and _is_variable(value):
            yield value
    elif isinstance(value, dict):
        for below, inner in value.items():
            if (name, below) in _OBJECTS_WITHIN and _is_variable(inner):
                yield inner
            yield from _within(below, inner)
    elif isinstance(value, list):
        for inner in value if name not in _OF_TEXTS else ():
            yield from _within(name, inner)


_LISTS: Final = frozenset(
    {
        *("spec", "routes", "includes", "tcpproxy", "rules", "paths", "subroutes", "http", "tcp", "tls", "servers"),
        *("listeners", "ports", "hosts", "gateways"),
    }
)
"""Fields in which the entries of a door stand."""
_OF_TEXTS: Final = frozenset({"hosts", "gateways", "entryPoints"})
"""Lists whose entries are texts, each of which may be a variable."""


def _is_variable(value: object) -> bool:
    return isinstance(value, str) and _ONE.fullmatch(value) is not None


def _below(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return value.get(step)
    return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None
