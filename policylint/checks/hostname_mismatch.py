"""GWP404: no hostname of the route is one of the listeners that would take it, or one of several just misses them.

So is a name that an annotation gives external-dns, which makes records of what a listener of the route takes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.checks.kit.locations import path
from policylint.checks.kit.record_makers import PREFIXES, prefixes_read
from policylint.checks.kit.routing import grade
from policylint.model import Finding, Related, Resource, is_symbolic, text
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology import ParentState, RouteState
from policylint.topology.hostnames import EVERY, covers, patterns

RULE = "GWP404"
MISMATCH = "NoMatchingListenerHostname"
_RECORDS = "hostname"
"""The annotation by which external-dns reads names."""


def check(simulation: Simulation) -> Iterator[Finding]:
    prefixes = prefixes_read(simulation.world) or PREFIXES
    for state in simulation.topology.routes:
        for parent in state.parents:
            failures = {candidate.failure for candidate in parent.candidates}
            if MISMATCH in failures and failures <= {MISMATCH, "NotAllowedByListeners"}:
                yield _finding(state.route, state.hostnames, parent)
        if state.parents and all(map(_is_seen, state.parents)):
            nodes = {each.node for parent in state.parents for each in parent.candidates if not each.failure}
            taken = [each.hostname for node in nodes if (each := simulation.topology.listener(node)) is not None]
            yield from _unserved(state, taken)
            yield from _without_record(state, taken, prefixes)


def _is_seen(parent: ParentState) -> bool:
    """Return whether it is known what the listeners of a parent make of the route, and one of them takes it."""
    attached = any(not candidate.failure for candidate in parent.candidates)
    return attached and not any(candidate.unknown for candidate in parent.candidates)


def _unserved(state: RouteState, taken: Sequence[str]) -> Iterator[Finding]:
    """Yield the hostnames that no listener takes, of a route that others attach: in a domain of a listener.

    Names of other domains may be for other Gateways, and Gateway API has them ignored here.
    """
    served = {host for parent in state.parents for each in parent.candidates for host in each.hostnames}
    domains = tuple(f".{host.removeprefix('*.')}" for host in taken)
    for index, written in enumerate(state.hostnames):
        (host,) = patterns([written])
        if host == EVERY or host in served or is_symbolic(host):
            continue
        if host.startswith("*.") and any(covers(host, each) for each in served):
            continue
        if not f".{host}".endswith(domains):
            continue
        yield Finding(
            RULE,
            "warning",
            f"{state.route.key} gets no request for {written}: no listener of {_names(state)} serves it",
            state.route.location("spec", "hostnames", index),
            resources=(state.route.key, *(parent.wanted for parent in state.parents)),
            label=f"the route attaches with {listing(sorted(served), most=3)} alone",
            help=("fix: add a listener for it, or remove it",),
            field=path(("spec", "hostnames", index)),
        )


def _without_record(state: RouteState, taken: Sequence[str], prefixes: Iterable[str]) -> Iterator[Finding]:
    """Yield the annotated names of which external-dns makes no record (its source/gateway.go, hosts and resolve)."""
    annotations = (f"{prefix}{_RECORDS}" for prefix in prefixes)
    stated = ((read, text(state.route.annotations.get(read))) for read in annotations)
    for annotation, name in ((read, name.strip()) for read, names in stated if names for name in names.split(",")):
        (host,) = patterns([name])
        if host == EVERY or is_symbolic(host) or any(covers(each, host) or covers(host, each) for each in taken):
            continue
        yield Finding(
            RULE,
            "warning",
            f"external-dns makes no record for {name} of {state.route.key}: no listener of {_names(state)} takes it",
            state.route.location("metadata", "annotations", annotation),
            resources=(state.route.key,),
            label=f"its listeners are for {listing(sorted(taken), most=3)}",
            help=("fix: name a host of a listener, or add a listener for it",),
            confidence="assumed",
            ground="external-dns may read the name from elsewhere",
            field=annotation,
        )


def _names(state: RouteState) -> str:
    return listing(dict.fromkeys(str(parent.wanted) for parent in state.parents), most=3)


def _finding(route: Resource, hostnames: tuple[str, ...], parent: ParentState) -> Finding:
    missed = [candidate for candidate in parent.candidates if candidate.failure == MISMATCH][:3]
    severity, confidence = grade(any(candidate.unknown for candidate in parent.candidates))
    return Finding(
        RULE,
        severity,
        f"{route.key} has no hostname in common with {parent.text}",
        route.location("spec", "hostnames", 0),
        resources=(route.key, parent.wanted),
        label=f"{listing(hostnames, word='or', most=3)} is not a host of the listener",
        related=tuple(Related(f"the hosts of {each.node}", each.holder.location(*each.pointer)) for each in missed),
        confidence=confidence,
        field=path(parent.pointer),
    )
