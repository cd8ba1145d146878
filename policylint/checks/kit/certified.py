"""Where TLS ends with a certificate of a Secret, for which hosts, and for which names the certificate is.

A Secret's own certificate is read where the tree has it, else the names that cert-manager is to put into it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policylint.catalog.content import places
from policylint.checks.kit.challenges import CERTIFICATES
from policylint.checks.kit.routing import listeners
from policylint.checks.kit.x509 import names_in
from policylint.documents import Pointer
from policylint.doors.peculiar import SERVER, TLS_ENDS
from policylint.implementations.generic.tls_ends import End, written
from policylint.model import Node, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.keys import VARIABLES
from policylint.model.kinds import INGRESS, SERVICE
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.simulation.serving import by_port, closed_listeners
from policylint.topology import ListenerState
from policylint.topology.certificates import is_annotated
from policylint.topology.ports import Ports
from policylint.topology.secret_data import contents
from policylint.topology.workloads import WORKLOADS, pod_spec, workloads_selected


class Certified(NamedTuple):
    """The names of a certificate, in lower case, and what states them."""

    names: frozenset[str]
    holder: Resource


def names_of(world: World, secret: ResourceKey) -> Certified | None:
    """Return for which names the certificate of a Secret is; None where that is not known."""
    makers = [
        each
        for each in world.in_namespace(CERTIFICATES, "Certificate", secret.namespace)
        if text(each.spec.get("secretName")) == secret.name
    ]
    if makers:
        stated = [*texts(makers[0].spec.get("dnsNames")), text(makers[0].spec.get("commonName"))]
        names = frozenset(each.lower() for each in stated if each)
        return Certified(names, makers[0]) if names and len(makers) == 1 else None
    holder = world.get(secret)
    pem = mapping(contents(holder, world)).get("tls.crt") if holder is not None else None
    read = names_in(pem) if pem else None
    return Certified(read, holder) if holder is not None and read else None


def ends(simulation: Simulation) -> Iterator[End]:
    """Yield where TLS ends with certificates of Secrets, for hosts that are known."""
    world = simulation.world
    yield from _at_listeners(simulation)
    if any(world.of_kind(*kind) for kind in (INGRESS, SERVER, *TLS_ENDS)):
        from policylint.doors.certificates import ends as beside

        yield from (end for end in beside(world) if end.certain and end.hosts and end.secrets)
    yield from _at_pods(simulation)


def _at_pods(simulation: Simulation) -> Iterator[End]:
    """Yield the pods that proxies speak TLS to, by a policy or by what their own objects say, with the certificates
    that are mounted there.

    Source: gateway-api apis/v1/backendtlspolicy_types.go: the certificate must be for `hostname`, or for one of
    `subjectAltNames` where there are some; those of type URI are no names of hosts. What is checked elsewhere says the
    catalog; doors/sessions.py has that of doors.
    """
    for state in simulation.policies.values():
        checked = () if state.invalid_code else _checked(state.policy, texts(state.kind.secures.get("checked")))
        if checked:
            for key in dict.fromkeys(node.key for target in state.targets for node in target.nodes):
                yield from _mounting(simulation.world, key, state.policy, *checked)
    world = simulation.world
    pods = (each for kind in WORKLOADS for each in world.of_kind(*kind))
    if any(names_of(world, secret) is not None for each in pods for secret in _mounted(each)):
        yield from _behind_doors(simulation)


def _behind_doors(simulation: Simulation) -> Iterator[End]:
    """Yield the pods that doors speak TLS to, once for each object that says for which names."""
    from policylint.doors import is_door, with_doors
    from policylint.trace.backends import BackendTls
    from policylint.trace.result import Share

    doors = with_doors(simulation)
    tls = BackendTls(doors) if doors is not simulation else None
    told: set[tuple[ResourceKey, ResourceKey, Pointer]] = set()
    for route in doors.topology.routes if tls is not None else ():
        for backend in (each for each in route.backends if each.role == "backend"):
            share = Share(backend.wanted, backend.port, 1, 1, backend.pointer, backend.section, route=route.route)
            for gateway in sorted({each.gateway for each in route.parents if each.gateway is not None}):
                found = tls.session(share, route.route, gateway) if tls is not None and is_door(gateway) else None
                if found is None or found.by is None or not found.names:
                    continue
                place = backend.wanted, found.by.key, found.pointer
                if place not in told:
                    told.add(place)
                    yield from _mounting(simulation.world, backend.wanted, found.by, found.names, found.pointer)


def _mounting(world: World, key: ResourceKey, by: Resource, names: Sequence[str], place: Pointer) -> Iterator[End]:
    """Yield the pods behind a Service that have certificates as files, of which an object asks for names."""
    service = world.get(key) if key[:2] == SERVICE else None
    for workload in workloads_selected(world, service) if service is not None else ():
        mounted = [each for each in _mounted(workload) if names_of(world, each) is not None]
        if mounted:
            yield End(str(workload.key), by, place, written(names), mounted, asks=str(by.key))


def _checked(policy: Resource, paths: Iterable[str]) -> tuple[list[str], Pointer] | tuple[()]:
    """Return the names of which a certificate must have one, and where they stand; nothing where some are no names."""
    for path in paths:
        place = tuple(path.partition(".*")[0].split("."))
        stated = value_at(policy.spec, place)
        if stated:
            names = [name for _, name in places(policy.spec, path, ()) if isinstance(name, str) and name]
            whole = len(names) == (len(stated) if isinstance(stated, list) else 1)
            return (names, ("spec", *place)) if whole else ()
    return ()


def _mounted(workload: Resource) -> Iterator[ResourceKey]:
    """Yield the Secrets that the pods of a workload have as files."""
    for volume in map(mapping, sequence(pod_spec(workload).get("volumes"))):
        sources = [volume, *map(mapping, sequence(mapping(volume.get("projected")).get("sources")))]
        for secret in (mapping(each.get("secret")) for each in sources):
            if name := text(secret.get("secretName")) or text(secret.get("name")):
                yield ResourceKey("", "Secret", workload.key.namespace, name)


def _at_listeners(simulation: Simulation) -> Iterator[End]:
    certified = [
        (listener, named)
        for listener in listeners(simulation.topology)
        if (named := [each for each in listener.references if each.role == "certificate"])
        and not is_annotated(listener.holder)
        and not any(each.granted is False for each in named)
    ]
    routed: dict[object, list[str]] = defaultdict(list)
    at = by_port(simulation, closed_listeners(simulation)) if certified else None
    for route in simulation.topology.routes if at is not None else ():
        for candidate in (each for parent in route.parents for each in parent.candidates):
            if not candidate.failure and not candidate.unknown and at is not None:
                node = candidate.node
                routed[node] += [host for host in candidate.hostnames if not _is_for_another(at, node, host)]
    for listener, named in certified:
        if shown := _shown(listener, routed[listener.node]):
            secrets = [each.wanted for each in named]
            yield End(str(listener.node), listener.holder, named[0].pointer, shown, secrets)


def _is_for_another(at: Ports, node: Node, host: str) -> bool:
    """Return whether another listener shows its certificate for a host, or may: one for a narrower host, in which a
    variable may stand for what is in the way."""
    port, own = at.of.get(node, (None, ""))
    ends = (
        VARIABLES.split(name)[-1] for other, name in at.named if other == port and name != own and is_symbolic(name)
    )
    return bool(at.narrower(node, host)) or any(end and host.endswith(end) for end in ends)


def _shown(listener: ListenerState, routed: Sequence[str]) -> list[str]:
    """Return for which hosts a listener shows its certificates: its own, or those of its routes below a pattern."""
    own = listener.hostname
    return written([own] if own and not own.startswith("*") else list(routed) or [own])
