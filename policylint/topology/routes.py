"""Routes as written: their kinds, hostnames, rules and rule names, and the faults that no controller accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policylint.documents import Pointer
from policylint.matches import unknown_types
from policylint.model import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    Node,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.model.kinds import MESH_ROUTE
from policylint.namedtuple import NamedTuple
from policylint.topology.extensions import named_extension
from policylint.topology.hostnames import EVERY, patterns

HOSTNAME_KINDS = frozenset({"GRPCRoute", "HTTPRoute", "TLSRoute"})
FILTERS = frozenset(
    {
        *("RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect", "URLRewrite"),
        *("ExtensionRef", "CORS", "ExternalAuth"),
    }
)
"""Filter types of v1.6 (httproute_types.go HTTPRouteFilterType, grpcroute_types.go GRPCRouteFilterType)."""
_DEFAULT_RULES: Final[list[dict[str, Any]]] = [{}]
"""What the API server gives an HTTPRoute that states no rules (httproute_types.go, HTTPRouteSpec.Rules): one for every
request, as a rule without matches is."""
_MATCHED = {"headers": "header", "queryParams": "query parameter"}


UNSEEN: Final = "led on to what was not seen"
"""In the body of a rule that doors are lowered to: what it leads on to, whose rules take its requests."""


class Rule(NamedTuple):
    """One rule of a route, with its body; `synthetic` for an unnamed one, called `rule-N`."""

    number: int
    node: Node
    synthetic: bool
    body: Mapping[str, Any]

    def pointer(self, match: int | None) -> Pointer:
        """Return the pointer of one of its matches, by number, or its own where it has none."""
        place: Pointer = ("spec", "rules", self.number)
        return place if match is None else (*place, "matches", match)


class RouteFault(NamedTuple):
    """The reason why a rule cannot be programmed (RouteConditionReason): UnsupportedValue or IncompatibleFilters."""

    rule: int
    reason: str
    pointer: Pointer
    message: str


def of_world(world: World) -> list[Resource]:
    """Return all routes, by kind, namespace and name; those of a mesh's own group where a Service is their parent."""
    parents = ((route, sequence(route.spec.get("parentRefs"))) for route in world.of_kind(*MESH_ROUTE))
    own = [route for route, named in parents if any(mapping(each).get("kind") == "Service" for each in named)]
    return [*(route for kind in ROUTE_KINDS for route in world.of_kind(GATEWAY_GROUP, kind)), *own]


def hostnames(route: Resource) -> tuple[str, ...]:
    """Return the hostnames of a route as patterns; ("",) for those without, and for kinds that have none."""
    return route.once(_hostnames)


def _hostnames(route: Resource) -> tuple[str, ...]:
    written = route.spec.get("hostnames")
    listed = [written] if is_symbolic(written) else sequence(written)
    return patterns(listed) if route.key.kind in HOSTNAME_KINDS else (EVERY,)


def rules(route: Resource) -> list[Rule]:
    """Return the rules of a route as nodes: `HTTPRouteRule shop/checkout#pay`, unnamed ones `#rule-N`, from 1."""
    route.keep_answers()  # a dozen readers ask every route
    return route.once(_rules)


def rule_at(route: Resource, index: int) -> Rule | None:
    """Return the rule at a place of the list, None where something else stands there."""
    return next((rule for rule in rules(route) if rule.number == index), None)


def _rules(route: Resource) -> list[Rule]:
    role, parsed, spec = f"{route.key.kind}Rule", [], route.body.get("spec")
    stated = spec if is_symbolic(spec) else route.spec.get("rules")
    if stated is None and route.key.kind == "HTTPRoute":
        stated = _DEFAULT_RULES
    written = [{"matches": stated}] if is_symbolic(stated) else sequence(stated)
    named = {text(mapping(value).get("name")) for value in written}
    for index, value in enumerate({"matches": each} if is_symbolic(each) else each for each in written):
        if isinstance(value, dict):
            name, place = text(value.get("name")), f"rule-{index + 1}"
            section = name or (f"{place} without a name" if place in named else place)
            parsed.append(Rule(index, Node(route.key, section, role), not name, value))
    return parsed


def extension_refs(route: Resource) -> Iterator[tuple[Node, int, ResourceKey]]:
    """Yield every ExtensionRef filter of a rule: the rule, the filter's position, and the object that it names."""
    for rule in rules(route):
        for position, value in enumerate(map(mapping, sequence(rule.body.get("filters")))):
            named = named_extension(route, value)
            if named is not None:
                yield rule.node, position, named


def faults(route: Resource) -> list[RouteFault]:
    """Return at most one fault per rule: filters that exclude each other, unknown filter or path match types."""
    return route.once(_read_faults)


def _read_faults(route: Resource) -> list[RouteFault]:
    bodies = enumerate(sequence(route.spec.get("rules")))
    return [fault for index, body in bodies if (fault := fault_of(index, body)) is not None]


def fault_of(index: int, body: object) -> RouteFault | None:
    """Return the first fault of a rule, None where it has none."""
    return next(_faults(index, ("spec", "rules", index), body), None)


def _faults(index: int, pointer: Pointer, rule: object) -> Iterator[RouteFault]:
    types = []
    for number, route_filter in enumerate(sequence(mapping(rule).get("filters"))):
        kind = text(mapping(route_filter).get("type"))
        types.append(kind)
        if kind and kind not in FILTERS and "/" not in kind and not is_symbolic(kind):
            place = (*pointer, "filters", number, "type")
            yield RouteFault(index, "UnsupportedValue", place, f"filter type {kind} is not known")
    if "URLRewrite" in types and "RequestRedirect" in types:
        place = (*pointer, "filters", types.index("URLRewrite"))
        yield RouteFault(index, "IncompatibleFilters", place, "URLRewrite and RequestRedirect exclude each other")
    for number, match in enumerate(sequence(mapping(rule).get("matches"))):
        for place, kind in unknown_types(mapping(match)):
            what = _MATCHED.get(str(place[0]), place[0])
            message = f"{what} match type {kind} is not known"
            yield RouteFault(index, "UnsupportedValue", (*pointer, "matches", number, *place), message)
