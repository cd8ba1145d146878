"""GWP420: a certificate that is for none of the hosts for which it is shown: clients refuse it.

Source: RFC 9525, 6.3 (a wildcard stands for one label); cert-manager.io, Certificate.spec.dnsNames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.certified import ends, names_of
from policylint.checks.kit.locations import path
from policylint.implementations.generic.tls_ends import End
from policylint.load.charts import RELEASE
from policylint.model import Finding, Related, Resource, World, is_symbolic, mapping
from policylint.model.hosts import names_service
from policylint.model.kinds import SERVICE
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP420"
_OTHER_NAME = ("originServerName", "noTLSVerify")
"""Settings of tunnels (cloudflared, «Origin configuration parameters») for the certificate of what they lead to."""


def check(simulation: Simulation) -> Iterator[Finding]:
    for end in ends(simulation):
        known = [names_of(simulation.world, secret) for secret in end.secrets]
        found = [each for each in known if each is not None]
        if not found or len(found) < len(known):
            continue
        names = frozenset[str]().union(*(each.names for each in found))
        lacking = [host for host in dict.fromkeys(end.hosts) if not _is_for(names, host)]
        if end.asks and len(lacking) < len(set(end.hosts)):
            continue  # one of them is enough
        if (
            lacking
            and not any(map(is_symbolic, (*lacking, *names)))
            and not _is_behind_a_tunnel(simulation, end.holder)
            and not (not end.asks and _is_for_callers(simulation.world, names, end.holder))
        ):
            yield _finding(end, lacking, names, found[0].holder)


def _is_behind_a_tunnel(simulation: Simulation, holder: Resource) -> bool:
    """Return whether something in front, which names an object as where it sends requests, asks for another name or for
    none: clients see its certificate, and it does not hold the host against this one."""
    return any(holder.key.name in text for text in simulation.world.once(_checking_otherwise))


def _is_for_callers(world: World, names: Iterable[str], holder: Resource) -> bool:
    """Return whether a certificate is for what calls a holder's own proxies by a Service of the cluster, and for nobody
    else: what tunnels and load balancers pass on, whose clients see the certificate of these."""
    own = [
        service.key
        for service in world.of_kind(*SERVICE)
        if holder.key.name in map(str, mapping(service.spec.get("selector")).values())
    ]
    return bool(own) and all(any(names_service(name, key.namespace, key) for key in own) for name in names)


def _checking_otherwise(world: World) -> list[str]:
    """Return the settings of programs that ask for another name than that of a host, or for none."""
    settings = [mapping(each.body.get("data")) for each in world.of_kind("", "ConfigMap")]
    settings += [mapping(each.spec.get("values")) for each in world.of_kind(*RELEASE)]
    return [text for text in map(str, settings) if any(word in text for word in _OTHER_NAME)]


def _is_for(names: Iterable[str], host: str) -> bool:
    """Return whether a certificate with these names is taken for a host, or for some host of a pattern."""
    if host.startswith("*."):
        return any(name == host or name.endswith(host[1:]) for name in names)
    wildcard = f"*.{host.partition('.')[2]}"
    return any(name in (host, wildcard) for name in names)


def _finding(end: End, lacking: list[str], names: frozenset[str], holder: Resource) -> Finding:
    deep = next((host for host in lacking for name in names if _is_below(host, name)), "")
    label = f"it is for {listing(sorted(names), most=3)}: {'the proxy refuses it' if end.asks else 'clients refuse it'}"
    whom = "that name" if len(lacking) == 1 else "these names"
    if deep:
        label = f"{label} (a wildcard stands for one label, which {deep} has not)"
    return Finding(
        RULE,
        "warning",
        f"{end.what} has a certificate that is not for {listing(lacking, most=3)}, which {end.asks} asks for"
        if end.asks
        else f"{end.what} serves {listing(lacking, most=3)} with a certificate that is not for {whom}",
        end.holder.location(*end.pointer),
        resources=tuple(dict.fromkeys((end.holder.key, holder.key))),
        label=label,
        related=(Related("its names", holder.location("spec", "dnsNames", key=True)),)
        if "dnsNames" in holder.spec
        else (),
        help=(f"fix: add {listing(lacking, most=3)} to the names of the certificate, or name another one",),
        confidence="assumed" if end.asks else "certain",
        ground="it may serve another one than those that are mounted" if end.asks else "",
        field=path(end.pointer),
    )


def _is_below(host: str, name: str) -> bool:
    """Return whether a host is below a wildcard, or right at it, by another number of labels than it stands for."""
    return name.startswith("*.") and (host.endswith(name[1:]) or host == name[2:])
