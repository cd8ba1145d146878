"""GWP526 setting-misleads: settings that do something else than they seem to say, or nothing where they stand.

Which they are says the catalog (`misleads`), with an expression that is false of them, and the implementation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from policylint.catalog.content import misleading_objects, places
from policylint.checks.kit.locations import path
from policylint.checks.kit.one_of_a_sort import Displaced, displaced
from policylint.checks.kit.present import present, routes_served
from policylint.checks.kit.waiting import EndedEarly, cuts
from policylint.documents import Pointer
from policylint.doors.peculiar import BY_CONSUMER, BY_HOST, BY_PRIORITY, LISTING
from policylint.implementations import implementation
from policylint.implementations.generic.one_table import OF_REQUESTS, at_further, further_listeners
from policylint.model import Finding, Related, Resource, ResourceKey, holds_variable, mapping, sequence, text, value_at
from policylint.model.kinds import INGRESS
from policylint.model.policy_kind import Misleading
from policylint.model.words import count, listing
from policylint.policy.results import FaultyPart
from policylint.simulation import Simulation
from policylint.simulation.ranking import stops
from policylint.simulation.serving import served
from policylint.topology import ListenerState, RouteState
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import rules

if TYPE_CHECKING:
    from policylint.implementations.generic.stops import Stop

RULE = "GWP526"


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _misleading(simulation)
    yield from _everywhere(simulation)
    yield from _unread(simulation)
    yield from map(_cut_off, cuts(simulation))
    yield from _underscored(simulation)
    yield from _labelled_otherwise(simulation)
    yield from _displaced(simulation)
    yield from _of_anybody(simulation)
    if any(simulation.world.of_kind(*kind) for kind in LISTING):
        yield from _against_proxies(simulation)
        yield from _unasking(simulation)
        yield from _passed_by(simulation)
    if simulation.world.of_kind(*BY_HOST):
        yield from _not_of_the_host(simulation)
    if simulation.world.of_kind(*BY_PRIORITY):
        yield from _in_no_order(simulation)
    if simulation.world.of_kind(*INGRESS):
        yield from _taken_literally(simulation)
    for behaviour in present(simulation):
        for policy, part in behaviour.idle_rules(simulation.world):
            yield _unused(policy, part._replace(pointer=("spec", *part.pointer)))
    yield from map(partial(_stopping, simulation), stops(simulation))
    states = [state for state in simulation.policies.values() if state.groups and not state.invalid_code]
    names = {state.kind.implementation for state in states}
    behaviours = {name: implementation(name, simulation.catalog.settings(name)) for name in names}
    for state in states:
        parts = behaviours[state.kind.implementation].without_use(state, simulation.topology)
        yield from (_unused(state.policy, part) for part in parts)


def _everywhere(simulation: Simulation) -> Iterator[Finding]:
    """Yield the routes that choose among the listeners of a proxy which serves them at all of its listeners."""
    further = further_listeners(served(simulation.topology), simulation.catalog)
    for route in simulation.topology.routes if further else ():
        chosen = [parent for parent in route.parents if parent.accepted and (parent.section or parent.port)]
        beside = list(at_further(route, further)) if route.route.key.kind in OF_REQUESTS else []
        if chosen and beside:
            pointer = (*chosen[0].pointer, "sectionName" if chosen[0].section else "port")
            listeners = list(dict.fromkeys(str(each.node).rpartition("#")[2] for each in beside))
            yield Finding(
                RULE,
                "warning",
                f"{path(pointer)} of {route.route.key} does not keep it to that listener",
                route.route.location(*pointer),
                resources=(route.route.key, *(each.node.key for each in beside[:1])),
                label=f"the proxy has one table of routes: listener {listing(listeners, most=3)} serves it as well",
                help=("fix: let a Gateway of another class have it, or match what tells the requests apart",),
                field=path(pointer),
            )


def _displaced(simulation: Simulation) -> Iterator[Finding]:
    """Yield what Services name for their requests and routes keep from acting: of one sort that of the route acts."""
    found: dict[tuple[ResourceKey, ResourceKey], list[Displaced]] = {}
    for each in displaced(simulation):
        found.setdefault((each.lost, each.service.key), []).append(each)
    for (lost, service), entries in found.items():
        first, routes = entries[0], list(dict.fromkeys(entry.of for entry in entries))
        place: Pointer = ("metadata", "annotations", first.annotation)
        yield Finding(
            RULE,
            "note",  # settings of a route are often meant to take the place of those of all
            f"{lost}, which {service} names, does not act on requests of {listing(routes, most=3)}",
            first.service.location(*place),
            resources=(lost, service, first.by, *routes[:3]),
            label=f"{first.by} does in its place: of one sort the route's alone acts, and the two are not merged",
            help=("fix: write what both are to do into the one that the route names",),
            field=path(place),
        )


def _taken_literally(simulation: Simulation) -> Iterator[Finding]:
    """Yield the paths of Ingresses that look like expressions, and are none to who serves them."""
    from policylint.doors.literal_paths import literal_paths

    for ingress, pointer, vendor in literal_paths(simulation.world):
        mark = vendor.mark(ingress)[0]
        yield Finding(
            RULE,
            "warning",
            f"{path(pointer)} of {ingress.key} is no regular expression: {vendor.name} takes it letter by letter",
            ingress.location(*pointer),
            resources=(ingress.key,),
            label=f"it takes requests whose path has these characters; expressions begin with {mark}",
            help=(f"fix: begin it with {mark} and use pathType ImplementationSpecific",),
            field=path(pointer),
        )


def _of_anybody(simulation: Simulation) -> Iterator[Finding]:
    """Yield the logins that look as if they were for some clients, and take what all of them bring."""
    if not any(simulation.world.of_kind(*kind) for kind in BY_CONSUMER):
        return
    from policylint.doors.kong_groups import anybody

    for plugin, other, consumers in anybody(simulation.world):
        yield Finding(
            RULE,
            "note",
            f"{plugin.key} lets in whoever has a credential of any consumer: "
            f"{listing([each.key.name for each in consumers], most=3)}",
            plugin.location("plugin"),
            resources=(plugin.key, other.key),
            label=f"credentials belong to the whole gateway, and {other.key} takes the same ones",
            help=("fix: add an `acl` that allows a group, and put those consumers into it who are meant",),
            field="plugin",
        )


def _labelled_otherwise(simulation: Simulation) -> Iterator[Finding]:
    """Yield the Applications whose labels for their Namespace are not there: it is among what they deploy, and that
    counts (argo-cd.readthedocs.io, Sync Options, «Namespace Metadata»)."""
    place: Pointer = ("spec", "syncPolicy", "managedNamespaceMetadata")
    for application in simulation.world.of_kind("argoproj.io", "Application"):
        managed = mapping(value_at(application.body, place))
        home = text(mapping(application.spec.get("destination")).get("namespace"))
        namespace = simulation.world.get(ResourceKey("", "Namespace", "", home)) if managed and home else None
        if namespace is None or not _is_deployed_by(application, namespace):
            continue
        for field, there in (("labels", namespace.labels), ("annotations", namespace.annotations)):
            stated = mapping(managed.get(field))
            lost = sorted(str(name) for name, value in stated.items() if there.get(name) != value)
            if lost:
                names = listing(lost, most=3)
                yield Finding(
                    RULE,
                    "warning",
                    f"managedNamespaceMetadata of {application.key} does not give {namespace.key} {field} {names}",
                    application.location(*place, field, lost[0], key=True),
                    resources=(application.key, namespace.key),
                    label="the Namespace is among what it deploys, and its manifest takes the place of these",
                    related=(Related("deployed as well", namespace.name_location),),
                    help=(f"fix: write them in the manifest of {namespace.key}, or leave that out",),
                    field=path((*place, field)),
                )


def _against_proxies(simulation: Simulation) -> Iterator[Finding]:
    """Yield the lists of addresses that are held against those of proxies, which its settings say are in front."""
    for each in chain.from_iterable(one.lists_of_proxies(simulation.world) for one in present(simulation)):
        whose = "every client behind these passes"
        proxies = f"{listing(each.networks, most=3)} are proxies"
        yield Finding(
            RULE,
            "note",  # those who connect from there directly may be meant
            f"{path(each.pointer)} of {each.holder.key} is held against the addresses of proxies, not of clients",
            each.holder.location("spec", *each.pointer),
            resources=(each.holder.key,),
            label=f"without `ipStrategy` who connects counts, and {proxies}: {whose}",
            help=("fix: set `ipStrategy.depth` to the number of proxies, or `excludedIPs` to their networks",),
            confidence="assumed",
            ground="requests may come past these proxies, too",
            field=path(each.pointer),
        )


def _unasking(simulation: Simulation) -> Iterator[Finding]:
    """Yield the annotations of Ingresses that are to ask for certificates of clients, and ask nobody."""
    from policylint.doors.annotations import unasking

    for ingress, annotation, why, vendor in unasking(simulation.world):
        yield Finding(
            RULE,
            "error",
            f"{annotation} of {ingress.key} asks no client for a certificate: {why}",
            ingress.location("metadata", "annotations", annotation),
            resources=(ingress.key,),
            label=f"without the certificate of an authority {vendor.name} leaves the check out",
            help=("fix: put the certificate of the authority that signs those of clients into the Secret",),
            field=path(("metadata", "annotations", annotation)),
        )


def _passed_by(simulation: Simulation) -> Iterator[Finding]:
    """Yield the annotations of Ingresses that ask nobody, as TLS goes to the pods unread."""
    from policylint.doors.annotations import passed_by

    for ingress, passing, asking, vendor in passed_by(simulation.world):
        place = ("metadata", "annotations", asking[0])
        counts = "does not count" if len(asking) == 1 else "do not count"
        yield Finding(
            RULE,
            "warning",
            f"{listing(asking, most=3)} of {ingress.key} {counts} over TLS",
            ingress.location(*place),
            resources=(ingress.key,),
            label=f"{vendor.name} passes TLS on to the pods, and reads no request",
            related=(Related("by this", ingress.location("metadata", "annotations", passing)),),
            help=("fix: have it ended there, or ask at the backend",),
            field=path(place),
        )


def _in_no_order(simulation: Simulation) -> Iterator[Finding]:
    """Yield the rules that are meant to come before or after another one, and have its priority."""
    from policylint.doors.traefik import unordered

    told = set()
    for tie in unordered(simulation.world):
        first, second = tie.first, tie.second
        if (str(first), str(second)) in told:
            continue
        told.add((str(first), str(second)))
        pointer = ("spec", "routes", first.number)
        stated = value_at(first.ingress.body, (*pointer, "priority"))
        field = "priority" if stated else "match"
        other = ("spec", "routes", second.number)
        yield Finding(
            RULE,
            "warning",
            f"{first} and {second} take the same requests, and nothing says which of them comes first",
            first.ingress.location(*pointer, field),
            resources=tuple(dict.fromkeys((first.ingress.key, second.ingress.key))),
            label=f"both have priority {first.rank}{'' if stated else ', the length of their rules'}: chance decides",
            related=(Related("the other rule", second.ingress.location(*other)),),
            help=("fix: give the one that is to come first a higher `priority`",),
            field=path((*pointer, field)),
        )


def _not_of_the_host(simulation: Simulation) -> Iterator[Finding]:
    """Yield the TLS options that are named for a host and not used there, since its routers disagree, or name none."""
    from policylint.doors.traefik_options import overruled

    for each in overruled(simulation.world):
        claim, other = each.claim, each.other
        option = simulation.world.get(claim.option) if claim.option is not None else None
        lost = "asks no client for a certificate" if each.asks(simulation.world) else "is not used"
        where = (
            f"at host {each.host}, for which {claim.holder.key} names it" if each.host else f"for {claim.holder.key}"
        )
        reason = "no rule of it has a `Host`, and options are chosen by the name that a client asks for"
        fix = "name the host in the rule"
        if other is not None:
            named = "the default ones" if other.option is None else f"{other.option.kind} {other.option.path}"
            reason = f"{other.holder.key} has {named} for that host: of different ones the default is used for all"
            fix = f"name the same options in {other.holder.key}, or give one of them a host of its own"
        related = (
            () if other is None else (Related("other options for the same host", other.holder.location(*other.place)),)
        )
        yield Finding(
            RULE,
            "error" if each.asks(simulation.world) else "warning",
            f"{claim.option} {lost} {where}",
            claim.holder.location(*claim.place),
            resources=(claim.holder.key, *((option.key,) if option else ()), *((other.holder.key,) if other else ())),
            label=reason,
            related=related,
            help=(f"fix: {fix}",),
            field=path(claim.place),
        )


def _is_deployed_by(application: Resource, namespace: Resource) -> bool:
    """Return whether a Namespace is written in a directory that an Application deploys."""
    sources = [application.spec.get("source"), *sequence(application.spec.get("sources"))]
    directories = [text(mapping(source).get("path")).strip("./") for source in sources]
    file = f"/{namespace.name_location.file}"
    return any(directory and f"/{directory}/" in file for directory in directories)


def _unread(simulation: Simulation) -> Iterator[Finding]:
    """Yield the fields of routes that none of those reads who serve them."""
    for route, gateways, names in routes_served(simulation):
        if any(parent.mesh for parent in route.parents):
            continue
        unread = [simulation.catalog.unread_fields(name) for name in names]
        for field, instead in unread[0].items():
            steps = tuple(field.split("."))
            found = [rule.number for rule in rules(route.route) if value_at(rule.body, steps) is not None]
            if not found or not all(field in each for each in unread):
                continue
            pointer: Pointer = ("spec", "rules", found[0], *steps)
            more = f" (and of {count(len(found) - 1, 'other rule')})" if len(found) > 1 else ""
            yield Finding(
                RULE,
                "warning",
                f"{path(pointer)} of {route.route.key}{more} has no effect at {gateways[0]}",
                route.route.location(*pointer, key=True),
                resources=(route.route.key, gateways[0]),
                label="who serves that Gateway does not read it",
                help=(f"fix: write {instead}",) if instead else (),
                field=path(pointer),
            )


def _cut_off(cut: EndedEarly) -> Finding:
    """Return the finding on a time that requests may take and do not get."""
    route, stated = cut.route.route, cut.idle.holder is not None
    by = f"{cut.idle.holder} ends it" if stated else "its Gateway ends it"
    place = cut.idle.place if stated else cut.whole.place
    return Finding(
        RULE,
        "warning" if stated else "note",
        f"requests of {route.key} that may take {cut.whole.written} end after {cut.idle.written} without traffic",
        place or route.name_location,
        resources=tuple(dict.fromkeys(filter(None, (cut.idle.holder, cut.whole.holder, route.key)))),
        label=f"{by} where nothing comes for so long, while the backend works on its answer, too",
        related=(Related("may take longer", cut.whole.place),) if stated and cut.whole.place is not None else (),
        help=("fix: let streams be idle for as long as the request may take",),
        confidence="assumed",
        ground="a backend may send something in between" if stated else "its configuration may say otherwise",
    )


def _underscored(simulation: Simulation) -> Iterator[Finding]:
    """Yield the matches by a header with an underscore in its name at Gateways where no request has one."""
    from policylint.implementations.generic.headers import is_underscored

    asking: list[tuple[RouteState, Pointer, str]] = []
    for route in simulation.topology.routes:
        for rule in rules(route.route):
            for number, match in enumerate(map(mapping, sequence(rule.body.get("matches")))):
                for index, header in enumerate(map(mapping, sequence(match.get("headers")))):
                    if is_underscored(name := text(header.get("name"))) and not holds_variable(name):
                        place = ("spec", "rules", rule.number, "matches", number, "headers", index, "name")
                        asking.append((route, place, name))
    for route, pointer, name in asking:
        nodes = [node for parent in route.parents for node in parent.attached]
        listeners = [simulation.topology.listener(node) for node in nodes]
        answers = {"" if each is None else _becoming(simulation, each) for each in listeners}
        if not answers or "" in answers:
            continue
        does = "answers such requests with 400" if "rejected" in answers else "leaves such headers out"
        yield Finding(
            RULE,
            "warning",
            f"{path(pointer)} of {route.route.key} matches no request: {name} has an underscore",
            route.route.location(*pointer),
            resources=(route.route.key, nodes[0].key),
            label=f"{nodes[0].key} {does}, as it is configured",
            help=("fix: write the name with a hyphen, or let such headers in",),
            field=path(pointer),
        )


def _becoming(simulation: Simulation, listener: ListenerState) -> str:
    """Return what becomes of headers with an underscore at a listener."""
    gateway = None if listener.gateway is None else simulation.topology.gateway(listener.gateway)
    name = None if gateway is None else implementation_of(gateway, simulation.catalog)
    behaviour = None if name is None else implementation(name, simulation.catalog.settings(name))
    return "" if behaviour is None else behaviour.underscored(listener.node, simulation.groups, simulation.world)


def _unused(policy: Resource, part: FaultyPart) -> Finding:
    """Return the finding on a setting that nothing takes which its policy is for."""
    return Finding(
        RULE,
        "warning",
        f"{path(part.pointer)} of {policy.key} {part.outcome}",
        policy.location(*part.pointer, key=True),
        resources=(policy.key,),
        label=part.message,
        help=(f"fix: {part.fix}",) if part.fix else (),
        confidence="assumed" if part.ground else "certain",
        ground=part.ground,
        field=path(part.pointer),
    )


def _stopping(simulation: Simulation, stop: Stop) -> Finding:
    """Return the finding on a setting for which Gateways get no new configuration."""
    policy, pointer = simulation.policies[stop.policy].policy, ("spec", *stop.part.pointer)
    holders = [simulation.topology.listener(node) for node in stop.listeners]
    gateways = sorted({each.gateway for each in holders if each is not None and each.gateway is not None})
    return Finding(
        RULE,
        "error",
        f"{path(pointer)} of {stop.policy} stops {listing(gateways, most=3)} from being configured",
        policy.location(*pointer, key=True),
        resources=(stop.policy, *gateways),
        label=stop.consequence,
        help=(f"fix: {stop.part.fix}",),
        field=path(pointer),
    )


def _misleading(simulation: Simulation) -> Iterator[Finding]:
    states = [state for state in simulation.policies.values() if not state.invalid_code]
    yield from chain.from_iterable(_misled(state.policy, state.kind.misleads) for state in states)
    for named in simulation.world.kinds():  # what policies name: extensions, parameters
        known = simulation.catalog.get(*named)
        for holder in simulation.world.of_kind(*named) if known is not None and known.misleads else ():
            if known is not None and holder.key not in simulation.policies:
                yield from _misled(holder, known.misleads)
    for kind, entries in misleading_objects(simulation.world.kinds()):
        for holder in simulation.world.of_kind(*kind):
            yield from _misled(holder, entries)


def _misled(holder: Resource, entries: Iterable[Misleading]) -> Iterator[Finding]:
    from policylint.cel.evaluation import is_broken

    held: tuple[Any, Pointer] = (holder.spec, ("spec",)) if "spec" in holder.body else (holder.body, ())
    for misleading in entries:
        for pointer, value in places(held[0], misleading.path, held[1]):
            is_whole = all(name in mapping(value) for name in misleading.together)
            if is_whole and is_broken(misleading.holds, value):
                yield Finding(
                    RULE,
                    misleading.severity,
                    f"{path(pointer)} of {holder.key} does not do what it appears to do",
                    holder.location(*pointer, key=isinstance(pointer[-1], str)),
                    resources=(holder.key,),
                    label=misleading.says,
                    help=(f"fix: {misleading.repair}",) if misleading.repair else (),
                    field=path(pointer),
                )
