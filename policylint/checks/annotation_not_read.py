"""GWP114: an annotation on an object of Gateway API at which nobody reads it, and an object unread for want of one.

It names a policy that is for other kinds, or is one of those of Ingresses: what implementations of Gateway API have in
their place is filters and policies. Or it is for a program beside them (schemas/annotations.yaml).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.checks.kit.present import present
from policylint.implementations import implementation
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Finding, Related, Resource, ResourceKey, mapping
from policylint.model.kinds import INGRESS, WORKLOADS
from policylint.model.words import count, listing
from policylint.policy.bindings import names_reader
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above, implementation_of

RULE = "GWP114"
_RECORDS = "external-dns."
"""What annotations for records have in their prefixes, whichever release reads them."""
_ARTICLES = {"annotations": "an annotation", "labels": "a label"}
_OF_INGRESSES = ".ingress.kubernetes.io"
"""How the prefixes of the annotations end that controllers of Ingresses read: `nginx.ingress.kubernetes.io/…`."""


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _without_class(simulation)
    yield from _at_ingresses(simulation)
    yield from _replaced(simulation)
    yield from _enrolling(simulation)
    yield from _without_proxy(simulation)
    yield from _switched_off(simulation)
    named = (
        (state.gateway.key, implementation_of(state, simulation.catalog)) for state in simulation.topology.gateways
    )
    copied = {key for key, name in named if name is not None and simulation.catalog.copies_metadata(name)}
    unread: dict[tuple[str, str], list[Resource]] = {}
    for kind in (*ROUTE_KINDS, "Gateway"):
        for holder in simulation.world.of_kind(GATEWAY_GROUP, kind):
            if holder.key in simulation.refused:
                continue
            if holder.key not in copied:
                yield from _of_ingresses(holder, simulation)
            for annotation in map(str, holder.annotations) if holder.key not in copied else ():
                from policylint.catalog.annotations import readers

                if readers(annotation, kind)[0] and not _is_said_above(simulation, holder, annotation):
                    unread.setdefault((annotation, kind), []).append(holder)
            for annotation in holder.annotations:
                read = simulation.catalog.bound_by(str(annotation)) if "/" in str(annotation) else ()
                if not read or any(each.may_target(*holder.key[:2]) for each in read):
                    continue
                places = sorted({target.kind for each in read for target in each.targets})
                yield Finding(
                    RULE,
                    "warning",
                    f"{annotation} does nothing on {holder.key}",
                    holder.location("metadata", "annotations", annotation, key=True),
                    resources=(holder.key,),
                    label=f"a {read[0].kind} is named by annotation of a {listing(places, word='or')}",
                    help=(f"fix: move it to the {places[0]}",) if len(places) == 1 else (),
                    field=str(annotation),
                )
    yield from _of_other_releases(simulation)
    for (annotation, _), holders in unread.items():
        from policylint.checks.kit.speaking import is_spoken_of

        if not is_spoken_of(simulation.world, annotation):
            yield _for_others(annotation, holders)


def _of_other_releases(simulation: Simulation) -> Iterator[Finding]:
    """Yield the annotations for records that begin as no ExternalDNS here reads them: as another release does."""
    kinds = [("", "Service"), INGRESS, *((GATEWAY_GROUP, each) for each in (*ROUTE_KINDS, "Gateway"))]
    bearing = [
        each for kind in kinds for each in simulation.world.of_kind(*kind) if _RECORDS in str([*each.annotations])
    ]
    if not bearing:
        return
    from policylint.checks.kit.record_makers import PREFIXES, prefixes_read
    from policylint.checks.kit.speaking import is_spoken_of

    prefixes = prefixes_read(simulation.world)
    former = [each for each in PREFIXES if prefixes and each not in prefixes]
    found: dict[str, list[Resource]] = {}
    if former:
        _collect(bearing, former, prefixes, found)
    for annotation, holders in found.items():
        if is_spoken_of(simulation.world, annotation):
            continue
        more = f" and {count(len(holders) - 1, 'other object')}" if len(holders) > 1 else ""
        yield Finding(
            RULE,
            "warning",
            f"{annotation} does nothing on {holders[0].key}{more}: ExternalDNS reads {listing(prefixes)} here",
            holders[0].location("metadata", "annotations", annotation, key=True),
            resources=tuple(each.key for each in holders[:20]),
            label="it begins so since release 0.22" if annotation.startswith(PREFIXES[1]) else "as of release 0.22",
            help=(f"fix: begin it with {prefixes[0]}, or set --annotation-prefix",),
            confidence="assumed",
            ground="another ExternalDNS may read it",
            field=annotation,
        )


def _collect(
    holders: Iterable[Resource], former: Sequence[str], prefixes: Sequence[str], found: dict[str, list[Resource]]
) -> None:
    """Add the annotations of objects that begin in former ways, and are not there in one that is read."""
    for holder in holders:
        for annotation in map(str, holder.annotations):
            beginning, _, name = annotation.rpartition("/")
            if f"{beginning}/" in former and not any(f"{prefix}{name}" in holder.annotations for prefix in prefixes):
                found.setdefault(annotation, []).append(holder)


def _of_ingresses(holder: Resource, simulation: Simulation) -> Iterator[Finding]:
    """Yield the first of the annotations of Ingresses that an object bears."""
    found = [str(name) for name in holder.annotations if str(name).partition("/")[0].endswith(_OF_INGRESSES)]
    if found:
        from policylint.checks.kit.speaking import is_spoken_of

        found = [name for name in found if not is_spoken_of(simulation.world, name)]
    if found:
        label = f"annotations of {found[0].partition('/')[0]} are read from Ingresses alone"
        yield _idle(holder, found, "", label, "say it with a filter or a policy of the implementation")


def _idle(holder: Resource, written: Sequence[str], why: str, label: str, fix: str, *others: ResourceKey) -> Finding:
    """Return the finding about the first of some annotations that do nothing on an object."""
    more = f" (and {len(written) - 1} more)" if len(written) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{written[0]}{more} does nothing on {holder.key}{why}",
        holder.location("metadata", "annotations", written[0], key=True),
        resources=(holder.key, *others),
        label=label,
        help=(f"fix: {fix}",),
        field=written[0],
    )


def _switched_off(simulation: Simulation) -> Iterator[Finding]:
    """Yield the annotations of routes that no controller above them reads, as a setting of each says."""
    catalog = simulation.catalog
    off: dict[str | None, dict[str, str]] = {}
    for state in simulation.topology.gateways:
        name = implementation_of(state, catalog)
        if name is not None and name not in off and (switched := catalog.switched(name)):
            stated = catalog.settings(name)
            off[name] = {each: setting for each, setting in switched.items() if not stated.get(setting)}
    for kind in ROUTE_KINDS if any(off.values()) else ():
        for route in simulation.world.of_kind(GATEWAY_GROUP, kind):
            gateways = map(simulation.topology.gateway, gateways_above(simulation.topology, route.key))
            above = [off.get(None if each is None else implementation_of(each, catalog), {}) for each in gateways]
            for annotation in map(str, route.annotations) if above else ():
                settings = list(dict.fromkeys(each.get(annotation, "") for each in above))
                if all(settings):
                    label = f"it is read where {listing(settings)} of the controller is on"
                    yield _idle(route, [annotation], "", label, f"set {listing(settings)}, or leave it out")


def _at_ingresses(simulation: Simulation) -> Iterator[Finding]:
    """Yield the Ingresses with annotations that their controllers do not read: all are for another controller than that
    of their class, older releases read them, or they are a canary's of which the main Ingress counts."""
    if not simulation.world.of_kind(*INGRESS):
        return
    from policylint.checks.kit.speaking import is_spoken_of
    from policylint.doors.annotations import foreign, former, of_canaries

    for ingress, written, other, own in foreign(simulation.world):
        whose = f"{other.name} reads annotations of {other.prefix.rstrip('/')}"
        label = f"{whose}, {own.name} those of {own.prefix.rstrip('/')}"
        fix = f"write what {own.name} calls it ({own.prefix}…), or name a class of {other.name}"
        if all(is_spoken_of(simulation.world, name) for name in written):
            continue
        yield _idle(ingress, written, f": {own.name} serves it", label, fix)
    for ingress, name, today, own in former(simulation.world):
        told = own.says_prefix
        label = f"its annotations begin with {own.prefix}" + (", as its arguments say" if told else " today")
        why = "does not read it" if told else "reads it no more"
        yield _idle(ingress, [name], f": {own.name} {why}", label, f"write {today}")
    for canary, written, main, own in of_canaries(simulation.world):
        label = f"{own.name} takes the settings of {main.key} for both"
        fix = f"set it on {main.key}, or leave it out"
        yield _idle(canary, written, f": it is a canary of {main.key}", label, fix, main.key)


def _replaced(simulation: Simulation) -> Iterator[Finding]:
    """Yield the annotations of Services whose place one of the same family takes, on a route below them."""
    for state in simulation.topology.routes:
        route = state.route
        services = [simulation.world.get(each.wanted) for each in state.parents if each.wanted[:2] == ("", "Service")]
        for service in filter(None, services):
            from policylint.catalog.annotations import replacing

            for family in replacing():
                own = [str(name) for name in route.annotations if str(name).startswith(family)]
                around = [str(name) for name in service.annotations if str(name).startswith(family)]
                lost = sorted(set(around) - set(own)) if own else []
                if lost:
                    yield Finding(
                        RULE,
                        "warning",
                        f"{listing(lost)} of {service.key} does nothing for {route.key}",
                        route.location("metadata", "annotations", own[0], key=True),
                        resources=(route.key, service.key),
                        label=f"one annotation of {family.rstrip('/')} on a route replaces all of its Service",
                        related=(Related("replaced", service.location("metadata", "annotations", lost[0], key=True)),),
                        help=(f"fix: repeat {listing(lost)} on the route",),
                        field=own[0],
                    )


def _enrolling(simulation: Simulation) -> Iterator[Finding]:
    """Yield what is to take pods into a mesh, or out of it, and stands where no mesh reads it: a label in place of an
    annotation, or the metadata of a workload in place of that of its pods."""
    for kind in (("", "Namespace"), *WORKLOADS):
        for holder in simulation.world.of_kind(*kind):
            for field, other in (("annotations", "labels"), ("labels", "annotations")):
                for name in map(str, mapping(holder.metadata.get(field))):
                    finding = _unheard(holder, name, field, other)
                    if finding is None:
                        continue
                    from policylint.checks.kit.speaking import is_spoken_of

                    if not is_spoken_of(simulation.world, name):
                        yield finding


def _without_proxy(simulation: Simulation) -> Iterator[Finding]:
    """Yield the labels that ask for a proxy which is not there, where no rule says so of a policy that needs it."""
    said = [state.idle.why for state in simulation.policies.values() if state.idle is not None]
    serving = (implementation_of(gateway, simulation.catalog) for gateway in simulation.topology.gateways)
    behind = {name: implementation(name, simulation.catalog.settings(name)) for name in serving if name}
    for behaviour in {**{each.name: each for each in present(simulation)}, **behind}.values():
        for each in behaviour.idle_labels(simulation.world):
            if any(each.why in why for why in said):
                continue
            yield Finding(
                RULE,
                "warning",
                f"label {each.label} does nothing on {each.holder.key}",
                each.holder.location("metadata", "labels", each.label),
                resources=(each.holder.key,),
                label=f"{each.why}: {each.then}",
                help=(f"fix: {each.fix}",),
                confidence="assumed" if each.ground else "certain",
                ground=each.ground,
                field=each.label,
            )


def _unheard(holder: Resource, name: str, field: str, other: str) -> Finding | None:
    """Return that no mesh reads what an object bears in one of two fields of its metadata; None where one does."""
    from policylint.catalog.annotations import enrolments

    kind = holder.key.kind
    known = next((each for each in enrolments() if each.means(name)), None)
    if known is None or ("Namespace" if kind == "Namespace" else "Pod") not in known.at:
        return None
    right = field if known.form in ("either", field[:-1]) else other
    if kind in ("Namespace", "Pod"):
        own, whose, there = holder.metadata, f"{kind}s", "metadata"
    else:
        from policylint.topology.workloads import pod_template

        own, whose = mapping(pod_template(holder).get("metadata")), f"the pods of {kind}s"
        there = "spec.template.metadata"
    if name in mapping(own.get(right)):
        return None
    return Finding(
        RULE,
        "warning",
        f"{field[:-1]} {name} does nothing on {holder.key}",
        holder.location("metadata", field, name, key=True),
        resources=(holder.key,),
        label=f"{known.reader} reads it as {_ARTICLES[right]} of {whose}",
        help=(f"fix: move it to {there}.{right}",),
        field=name,
    )


def _is_said_above(simulation: Simulation, holder: Resource, annotation: str) -> bool:
    """Return whether the Gateways of a route bear the same annotation: then nothing is lost."""
    gateways = [simulation.world.get(key) for key in gateways_above(simulation.topology, holder.key)]
    above = [None if each is None else each.annotations.get(annotation) for each in gateways]
    own = holder.annotations[annotation]
    return holder.key.kind != "Gateway" and bool(above) and all(value == own for value in above)


def _for_others(annotation: str, holders: list[Resource]) -> Finding:
    """Return the finding on an annotation that a program beside the implementations reads from other kinds."""
    from policylint.catalog.annotations import readers

    first, kind = holders[0], holders[0].key.kind
    reader, places = readers(annotation, kind)
    where = places[0] if len(places) == 1 else "route"
    more = f" and {count(len(holders) - 1, f'other {kind}')}" if len(holders) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{annotation} does nothing on {first.key}{more}",
        first.location("metadata", "annotations", annotation, key=True),
        resources=tuple(each.key for each in holders[:20]),
        label=f"{reader} reads it from {listing([f'{place}s' for place in places], word='and')} alone",
        related=tuple(
            Related("here as well", each.location("metadata", "annotations", annotation, key=True))
            for each in holders[1:4]
        ),
        help=(f"fix: move it to the {where}",),
        field=annotation,
    )


def _without_class(simulation: Simulation) -> Iterator[Finding]:
    """Yield what a controller reads only where its class is the default of the cluster, as no annotation names one."""
    for key in simulation.world.kinds():
        kind = simulation.catalog.get(*key)
        if kind is None or not kind.read_with:
            continue
        for resource in simulation.world.of_kind(*key):
            if not names_reader(resource, kind.read_with):
                yield Finding(
                    RULE,
                    "warning",
                    f"{resource.key} is not read: it lacks the annotation {kind.read_with}",
                    resource.name_location,
                    resources=(resource.key,),
                    label="its controller takes those of its own class alone",
                    help=(f"fix: set {kind.read_with} to the name of the controller's class",),
                    confidence="assumed",
                    ground="the class of the controller may be the default of the cluster",
                    field=kind.read_with,
                )
