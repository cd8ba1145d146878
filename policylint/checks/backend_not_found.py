"""GWP406: a backend, or what a filter or annotation names, that nothing deploys, or a port that a backend lacks.

The same for what is there, and the controller of the route refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import at, deepest_written, path
from policylint.checks.kit.routing import grade, unusable_filters
from policylint.checks.kit.suggestions import Nearby
from policylint.implementations import implementation
from policylint.model import Finding, Node, Related, Resource, ResourceKey, mapping, sequence
from policylint.model.kinds import BACKEND_KINDS, INGRESS, group_of
from policylint.model.words import count, listing, quoted
from policylint.policy.bindings import ObjectBinding
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import Rule, rules

if TYPE_CHECKING:
    from policylint.model.fix import Fix

RULE = "GWP406"


_MISSING = "BackendNotFound"
_REPORTED = ("InvalidKind", "RefNotPermitted", _MISSING)
"""Reasons that every controller has, which are told of otherwise."""
_RELEASE = "releases of the controller differ in the backends that they take"
_NEVER_SKIPPED = "a filter is never skipped: its requests get an error"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    policies = (each for each in simulation.policies.values() if each.kind.kind == "BackendTLSPolicy")
    told = {(target.key, each.key): each.invalid for each in policies if each.invalid_code for target in each.targets}
    by_route: dict[ResourceKey, dict[ResourceKey, list[ObjectBinding]]] = {}
    for binding in simulation.bindings:
        if binding.form == "filter" and not binding.resolution.found:
            by_route.setdefault(binding.holder.key, {}).setdefault(binding.wanted, []).append(binding)
    for state in simulation.topology.routes:
        folded: dict[object, list[BackendState]] = {}
        for backend in state.backends:
            if not backend.wanted.name:
                continue  # GWP501 says what it lacks
            if backend.reason == "InvalidKind" or not backend.resolution.found or backend.port_found is False:
                folded.setdefault((backend.wanted, backend.port), []).append(backend)
        for backends in folded.values():
            yield _finding(simulation, state, backends, nearby)
        named = by_route.get(state.route.key, {})
        for missing in named.values():
            yield _of_filter(simulation, state.route, missing, nearby)
        yield from _refused(state, told)
    for binding in simulation.bindings:
        if binding.form == "annotation" and not binding.resolution.found:
            yield _of_annotation(binding, nearby)
    yield from _of_ingresses(simulation)
    yield from _unusable(simulation)
    yield from _refused_rules(simulation)


def _finding(simulation: Simulation, state: RouteState, backends: list[BackendState], nearby: Nearby) -> Finding:
    route, first = state.route, backends[0]
    wanted, resolution = first.wanted, first.resolution
    related: tuple[Related, ...] = ()
    field = "name"
    unknown = (
        resolution.reason if resolution.unknown else simulation.world.elsewhere(wanted) if resolution.missing else ""
    )
    if first.reason == "InvalidKind":
        field, says = "kind", f"{wanted}, which is not a kind of backend"
        label = first.message or f"{wanted.kind} cannot receive requests"
        # The group of a CRD is a domain, so that `core` is nobody's.
        is_foreign = wanted[:2] not in BACKEND_KINDS and not simulation.catalog.knows_group(wanted.group)
        is_foreign = is_foreign and "." in wanted.group
        unknown = "a controller may accept kinds of its own" if is_foreign else ""
    elif unknown:
        says, label = f"{wanted}, which is not among these manifests", unknown
    elif resolution.missing:
        says, label = f"missing {wanted}", nearby.describe(wanted)
    else:
        field, says = "port", f"port {first.port} of {wanted}, which it does not have"
        ports, related = _ports(simulation.world.get(wanted))
        label = f"{wanted} has {ports}"
    severity, confidence = grade(unknown)
    more = f" (in {count(len(backends), 'place')})" if len(backends) > 1 else ""
    return Finding(
        RULE,
        severity,
        f"{route.key} sends requests to {says}{more}",
        at(route, first.pointer, field, "name"),
        resources=(route.key, wanted),
        label=label,
        related=related,
        confidence=confidence,
        field=path(first.pointer),
        fixes=_rename(state, backends, nearby) if field == "name" and not unknown else (),
    )


def _refused_rules(simulation: Simulation) -> Iterator[Finding]:
    """Yield the rules that the controller refuses for their filters or sessions, where nothing that they name fails."""
    topology = simulation.topology
    faulty: dict[Node, bool] = {}
    for binding in simulation.bindings:
        if binding.form == "filter" and "backendRefs" not in binding.pointer:
            resource, kind = binding.resolution.resource, binding.kind
            fails = resource is None or (
                kind is not None and bool(implementation(kind.implementation).filter_fault(resource, topology))
            )
            faulty[binding.node] = faulty.get(binding.node, False) or fails
    for route in topology.routes:
        for of_route in rules(route.route):
            if "sessionPersistence" in of_route.body or _calls(of_route):
                failing = (backend.reason or not backend.resolution.found for backend in _of_rule(route, of_route))
                faulty.setdefault(of_route.node, any(failing))
    for node in (node for node, told in faulty.items() if not told):
        state = topology.route(node.key)
        rule = None if state is None else next((rule for rule in rules(state.route) if rule.node == node), None)
        if state is None or rule is None:
            continue
        gateways = (topology.gateway(parent.gateway) for parent in state.parents if parent.gateway is not None)
        names = {implementation_of(gateway, simulation.catalog) for gateway in gateways if gateway is not None}
        for name in sorted(name for name in names if name is not None):
            fault = implementation(name).rule_fault(state.route, rule, topology)
            if fault is not None:
                pointer = deepest_written(state.route.body, ("spec", "rules", rule.number, "filters"))
                yield Finding(
                    RULE,
                    "error",
                    f"requests of {node} are answered with {fault[0]}: {fault[1]}",
                    state.route.location(*pointer, key=pointer[-1:] == ("filters",)),
                    resources=(node.key,),
                    field=path(pointer),
                )
                break


_CALLING = ("RequestMirror", "ExternalAuth")
"""Filters of Gateway API that send requests to backends of their own."""


def _calls(rule: Rule) -> bool:
    return any(mapping(each).get("type") in _CALLING for each in sequence(rule.body.get("filters")))


def _of_rule(state: RouteState, rule: Rule) -> Iterator[BackendState]:
    """Yield the backends that filters of a rule call."""
    return (each for each in state.backends if each.rule == rule.number and each.role in _CALLING)


def _refused(state: RouteState, told: Mapping[tuple[ResourceKey, ResourceKey], str]) -> Iterator[Finding]:
    """Yield the backends that are there and that the controller refuses.

    Args:
        told: by backend and policy, why a policy of its TLS is refused: a backend that is refused for it is told of.
    """
    route = state.route
    refused: dict[tuple[ResourceKey, str], BackendState] = {}
    for backend in state.backends:
        is_told = backend.reason in _REPORTED and (backend.reason != _MISSING or backend.port_found is False)
        of_policies = [(policy, why) for (key, policy), why in told.items() if key == backend.wanted]
        is_told |= any(why == backend.message or str(policy) in backend.message for policy, why in of_policies)
        if (backend.reason or backend.status is not None) and not is_told and backend.resolution.found:
            refused.setdefault((backend.wanted, backend.message), backend)
    for (wanted, why), backend in refused.items():
        what = "which its controller refuses" if backend.status is None else f"which answers none ({backend.status})"
        yield Finding(
            RULE,
            "warning",
            f"{route.key} sends requests to {wanted}, {what}: {why}",
            at(route, backend.pointer, "name"),
            resources=(route.key, wanted),
            confidence="assumed",
            ground=_RELEASE,
            field=path(backend.pointer),
        )


def _of_filter(simulation: Simulation, route: Resource, missing: list[ObjectBinding], nearby: Nearby) -> Finding:
    """Return the finding of an object that filters name and that is not there."""
    pointer, wanted, resolution, kind = missing[0].pointer, missing[0].wanted, missing[0].resolution, missing[0].kind
    left_out = kind is not None and kind.unresolved == "skipped"
    note = "the filter is left out, and its requests go on without" if left_out else _NEVER_SKIPPED
    elsewhere = resolution.reason if resolution.unknown else simulation.world.elsewhere(wanted)
    meant = _groups_meant(simulation, wanted)
    presumed = _presumed(simulation, wanted) if elsewhere == simulation.world.elsewhere(wanted) else ""
    unknown = "" if meant or presumed else elsewhere
    severity, confidence = grade(unknown)
    if presumed and not meant:
        severity, confidence = "warning", "assumed"
    says = f"{wanted}, which is not among these manifests" if unknown else f"missing {wanted}"
    says = f"a {wanted.kind} of group {quoted((wanted.group,))}, where it does not exist" if meant else says
    more = f" (in {count(len(missing), 'place')})" if len(missing) > 1 else ""
    return Finding(
        RULE,
        severity,
        f"{route.key} has a filter that names {says}{more}",
        at(route, pointer, "group" if meant else "name"),
        resources=(route.key, wanted),
        label=f"did you mean {quoted(meant)}?" if meant else unknown or nearby.describe(wanted),
        help=() if unknown else (f"note: {note}",),
        confidence=confidence,
        ground="" if meant else presumed,
        field=path(pointer),
    )


def _presumed(simulation: Simulation, wanted: ResourceKey) -> str:
    """Return what speaks against it that an object is missing which would be here, as its namespace is and everything
    was read; "" if it would not, or nothing does."""
    world = simulation.world
    is_presumed = world.elsewhere(wanted) and simulation.catalog.knows_group(wanted.group) and not world.doubt(wanted)
    return "nothing of its kind is here, and another repository may have it" if is_presumed else ""


def _groups_meant(simulation: Simulation, wanted: ResourceKey) -> list[str]:
    """Return the groups that have the kind of a reference, whose own group is known and has no such kind."""
    catalog = simulation.catalog
    known = not group_of(wanted.group) or catalog.knows_group(wanted.group)
    if not known or catalog.get(wanted.group, wanted.kind) is not None:
        return []
    return sorted({each.group for each in catalog.named(wanted.kind.lower())})


def _unusable(simulation: Simulation) -> Iterator[Finding]:
    """Yield the objects that filters name and that cannot be used for what they name in turn, once each."""
    for binding, fault in unusable_filters(simulation):
        resource = binding.resolution.resource
        if resource is not None:
            yield Finding(
                RULE,
                "error",
                f"{binding.wanted} cannot be used: {fault}",
                resource.name_location,
                resources=(binding.wanted, binding.holder.key),
                label=f"requests that {binding.holder.key} leads here are answered with an error",
            )


def _of_annotation(binding: ObjectBinding, nearby: Nearby) -> Finding:
    """Return the finding of an object that an annotation names and that is not there."""
    holder, wanted, resolution = binding.holder, binding.wanted, binding.resolution
    severity, confidence = grade(resolution.unknown)
    what = f"{wanted}, which is not among these manifests" if resolution.unknown else f"missing {wanted}"
    near = nearby.describe(wanted) if holder.key.namespace == wanted.namespace else resolution.reason
    return Finding(
        RULE,
        severity,
        f"{binding.by} of {holder.key} names {what}",
        holder.location(*binding.pointer),
        resources=(holder.key, wanted),
        label=resolution.reason if resolution.unknown else near,
        confidence=confidence,
        field=path(binding.pointer),
    )


def _of_ingresses(simulation: Simulation) -> Iterator[Finding]:
    """Yield the findings of objects that annotations of Ingresses name, of kinds that they bind elsewhere, too."""
    if not simulation.world.of_kind(*INGRESS):
        return
    from policylint.doors.annotations import astray

    for end in astray(simulation.world):
        if end.binds(simulation.catalog):
            yield Finding(
                RULE,
                "error",
                f"annotation {end.pointer[2]} of {end.holder.key} names missing {end.about[0]}",
                end.holder.location(*end.pointer),
                resources=(end.holder.key, end.about[0]),
                label=end.then,
                confidence="assumed" if end.ground else "certain",
                ground=end.ground,
                field=path(end.pointer),
            )


def _rename(state: RouteState, backends: list[BackendState], nearby: Nearby) -> tuple[Fix, ...]:
    """Return the fix that writes the one Service that is near in every place that names the missing one."""
    from policylint.checks.kit.fixes import rename

    wanted = backends[0].wanted
    if nearby.namespaces(wanted):
        return ()
    rules = {backend.pointer[:3] for backend in backends}
    used = {backend.wanted.name for backend in state.backends if backend.pointer[:3] in rules}
    places = [at(state.route, backend.pointer, "name") for backend in backends]
    return rename(places, wanted.name, nearby.name(wanted), nearby.names(wanted), used)


def _ports(service: Resource | None) -> tuple[str, tuple[Related, ...]]:
    """Return `ports 80 and 443`, and where they are written."""
    if service is None:
        return "other ports", ()
    numbers = [mapping(port).get("port") for port in sequence(service.spec.get("ports"))]
    text = f"{'port' if len(numbers) == 1 else 'ports'} {listing(numbers)}"
    return text, (Related("its ports", service.location("spec", "ports", key=True)),)
