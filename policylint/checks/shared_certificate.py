"""GWP419: one certificate for hosts that proxies serve apart: clients reuse the connection of one for another.

Source: RFC 9113, 9.1.1; GEP-3567; istio/istio#52853, kgateway-dev/kgateway#13862; Envoy Gateway offers no HTTP/2 there.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.doors.peculiar import TLS_ENDS
from policylint.implementations.generic.tls_ends import TlsEnd
from policylint.model import Finding, Related, is_symbolic, mapping, sequence, text, value_at
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.simulation.serving import served
from policylint.topology.ancestry import implementation_of

RULE = "GWP419"
_MISDIRECTED = 421


def check(simulation: Simulation) -> Iterator[Finding]:
    told: set[tuple[object, ...]] = set()
    first: dict[tuple[object, ...], list[TlsEnd]] = {}
    for end in (*_beside(simulation), *_at_listeners(simulation)):
        place = (*end.proxies, end.certificate)
        other = next((each for each in first.get(place, ()) if each.hosts != end.hosts), None)
        first.setdefault(place, []).append(end)
        if other is not None and place not in told:
            told.add(place)
            yield _finding(end, other)


def _beside(simulation: Simulation) -> Iterator[TlsEnd]:
    if any(simulation.world.of_kind(*kind) for kind in TLS_ENDS):
        from policylint.doors.certificates import tls_ends

        yield from tls_ends(simulation.world)


def _at_listeners(simulation: Simulation) -> Iterator[TlsEnd]:
    """Yield the listeners of Gateways whose implementation serves each of them by the name that a client asks for."""
    for state, listener in served(simulation.topology):
        name = implementation_of(state, simulation.catalog)
        if name is None or not simulation.catalog.serves_by_name(name):
            continue
        settings = mapping(mapping(value_at(listener.holder.body, listener.pointer)).get("tls"))
        named = [mapping(each) for each in sequence(settings.get("certificateRefs"))]
        if listener.protocol != "HTTPS" or not named or settings.get("options") or is_symbolic(listener.hostname):
            continue
        namespace = text(named[0].get("namespace")) or listener.holder.key.namespace
        secret = f"Secret {namespace}/{text(named[0].get('name'))}"
        place = (*listener.pointer, "tls", "certificateRefs")
        hosts = frozenset({listener.hostname or "*"})
        yield TlsEnd(listener.holder, place, (state.gateway.key, listener.port), secret, hosts, 404)


def _finding(end: TlsEnd, other: TlsEnd) -> Finding:
    is_retried = end.status == _MISDIRECTED
    hosts = " and ".join(listing(sorted(each.hosts), most=2) for each in (other, end))
    retried = "which browsers ask again, and other clients may not" if is_retried else "as no route of the first has it"
    return Finding(
        RULE,
        "note" if is_retried else "warning",
        f"{end.certificate} is for {hosts}, which are served apart: over one connection the other gets {end.status}",
        end.holder.location(*end.pointer),
        resources=tuple(dict.fromkeys((end.holder.key, other.holder.key))),
        label=f"clients of HTTP/2 reuse a connection for every name in its certificate: {end.status}, {retried}",
        related=(Related("the same certificate", other.holder.location(*other.pointer)),),
        help=("fix: serve the hosts in one place, give each a certificate of its own, or offer HTTP/1.1 alone",),
        confidence="assumed",
        ground="clients that reuse connections, as browsers do, must find one address for both names",
        field=path(end.pointer),
    )
