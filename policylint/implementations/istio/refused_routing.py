"""Gateways, VirtualServices and DestinationRules that the webhook of Istio refuses.

Source: pkg/config/validation/validation.go (ValidateGateway, validateServer, ValidateVirtualService,
ValidateDestinationRule) and virtualservice.go (validateHTTPRouteConflict), 1.31.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.refused_actions import of_actions
from policylint.model import Resource, is_symbolic, mapping, sequence, text, texts
from policylint.model.keys import is_no_host_yet

Fault = tuple[Pointer, str, str]
"""Where it stands, what is wrong, and what to write."""
_WITH_TLS = ("HTTPS", "TLS")
_IN_PLAIN_TEXT = ("HTTP", "HTTP2", "GRPC", "GRPC-WEB")
_PASSED = ("", "PASSTHROUGH", "AUTO_PASSTHROUGH")
_ENDS = ("route", "redirect", "directResponse")
_NOT_TOGETHER = ("fault", "rewrite")
"""What goes with a route alone."""
_MESH = "mesh"


def of_gateway(gateway: Resource) -> Iterator[Fault]:
    servers = [mapping(each) for each in sequence(gateway.spec.get("servers"))]
    if not servers:
        yield ("servers",), "has no server", "state a server with a port and hosts"
    seen: set[str] = set()
    for number, server in enumerate(servers):
        place: Pointer = ("servers", number)
        yield from _of_hosts([host.rpartition("/")[2] for host in texts(server.get("hosts"))], (*place, "hosts"))
        port, tls = mapping(server.get("port")), mapping(server.get("tls"))
        name, protocol = text(port.get("name")), text(port.get("protocol")).upper()
        if not texts(server.get("hosts")):
            yield (*place, "hosts"), f"has a server without hosts, servers[{number}]", "name hosts, or `*` for all"
        if name in seen and not is_symbolic(name):
            yield (*place, "port", "name"), f"has two servers with a port called {name}", "give each a name of its own"
        seen.add(name)
        if protocol in _WITH_TLS and "tls" not in server:
            fix = "add `tls` with a mode and a `credentialName`, or take protocol HTTP"
            yield (*place, "port", "protocol"), f"has a server of {protocol} without `tls`", fix
        elif protocol in _IN_PLAIN_TEXT and text(tls.get("mode")) not in _PASSED and not is_symbolic(protocol):
            does = f"has TLS settings for a server of {protocol}, and Istio accepts `httpsRedirect` alone there"
            yield (*place, "tls", "mode"), does, "take protocol HTTPS, or leave `mode` out"
        sources = [field for field in ("credentialName", "credentialNames", "tlsCertificates") if tls.get(field)]
        sources += ["serverCertificate"] if tls.get("serverCertificate") and tls.get("privateKey") else []
        if tls.get("mode") == "ISTIO_MUTUAL" and sources:
            does = f"names a certificate (`{sources[0]}`) where those of the mesh are taken (ISTIO_MUTUAL)"
            yield (*place, "tls", sources[0]), does, f"leave `{sources[0]}` out, or take mode MUTUAL"
        elif len(sources) > 1 and text(tls.get("mode")) not in _PASSED:
            does = f"has certificates from two places, `{sources[0]}` and `{sources[1]}`"
            yield (*place, "tls", sources[1]), does, "keep one of them"


def of_virtual_service(service: Resource) -> Iterator[Fault]:
    hosts, gateways = texts(service.spec.get("hosts")), texts(service.spec.get("gateways"))
    rules = [mapping(each) for each in sequence(service.spec.get("http"))]
    yield from _of_hosts(hosts, ("hosts",))
    if not any(service.spec.get(field) for field in ("http", "tls", "tcp")):
        yield (), "has no rule", "state a rule in http, tls or tcp"
    for field in ("gateways", "tls", "tcp") if not hosts else ():
        if service.spec.get(field):
            does = f"has no hosts, and so is for others to delegate to, which goes with `http` and not with `{field}`"
            yield ("hosts" if "hosts" in service.spec else field,), does, f"name hosts, or leave `{field}` out"
    if "*" in hosts and (not gateways or _MESH in gateways):
        does = "has host `*` for clients in the mesh, which Istio refuses"
        yield ("hosts", hosts.index("*")), does, "name a domain, or gateways without `mesh`"
    for number, host in enumerate(hosts):
        earlier = next((each for each in hosts[:number] if _overlap(each, host)), "")
        if earlier and not is_symbolic(host + earlier):
            yield (
                ("hosts", number),
                f"has hosts {earlier} and {host}, and one takes the other's requests",
                "keep one",
            )
    for number, rule in enumerate(rules):
        yield from _of_rule(rule, ("http", number), is_delegate=not hosts)
    for field in ("tls", "tcp"):
        for number, rule in enumerate(map(mapping, sequence(service.spec.get(field)))):
            where = f"{field}[{number}]"
            if not rule.get("route"):
                yield (field, number), f"has nothing to send connections to in {where}", "state a `route`"
            if field == "tls" and not rule.get("match"):
                yield (field, number), f"has no match in {where}", "state the `sniHosts` that it takes"
            yield from _weighed(rule, (field, number))


def _of_hosts(hosts: list[str], place: Pointer) -> Iterator[Fault]:
    """Yield the hosts that are no names of hosts (ValidateFQDN): those with a port or a scheme."""
    for number, host in enumerate(hosts):
        bare, port, _ = host.rpartition("://")[2].partition("/")[0].partition(":")
        is_name = "://" not in host and not port
        if not is_name and host.count(":") < 3 and not is_no_host_yet(host):  # more of them make an address of IPv6
            yield (*place, number), f"has host {host}, and hosts have neither scheme nor port", f"write `{bare}`"


def _of_rule(rule: Mapping[str, Any], place: Pointer, *, is_delegate: bool) -> Iterator[Fault]:
    ends = [field for field in _ENDS if rule.get(field) not in (None, [])]
    where = f"{place[0]}[{place[1]}]"
    if rule.get("delegate") and not is_delegate:
        if beside := next((field for field in ends if field != "directResponse"), ""):
            yield (*place, beside), f"has both `delegate` and `{beside}` in {where}", f"leave `{beside}` out"
        return
    if rule.get("delegate"):
        yield (*place, "delegate"), f"delegates in {where} what was delegated to it", "state a `route`"
    elif not ends:
        does = f"has nothing to send requests to in {where}"
        yield place, does, "state `route`, `redirect` or `directResponse`"
    elif len(ends) > 1:
        does = f"has both `{ends[0]}` and `{ends[1]}` in {where}"
        yield (*place, ends[1]), does, "keep one of them, and write a rule of its own for the other"
    for field in _NOT_TOGETHER if ends and ends[0] != "route" else ():
        if rule.get(field):
            yield (*place, field), f"has both `{field}` and `{ends[0]}` in {where}", f"leave `{field}` out"
    if rule.get("mirror") and rule.get("mirrors"):
        yield (*place, "mirror"), f"has both `mirror` and `mirrors` in {where}", "keep `mirrors`"
    yield from _weighed(rule, place)
    yield from of_actions(rule, place)


def _weighed(rule: Mapping[str, Any], place: Pointer) -> Iterator[Fault]:
    routes = [mapping(each) for each in sequence(rule.get("route"))]
    if len(routes) > 1 and not any(each.get("weight") for each in routes):
        does = f"has {len(routes)} destinations of no weight in {place[0]}[{place[1]}]"
        yield (*place, "route"), does, "give each a `weight`"


def of_destination_rule(rule: Resource) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, subset in enumerate(map(mapping, sequence(rule.spec.get("subsets")))):
        name = text(subset.get("name"))
        if name in seen and not is_symbolic(name):
            yield ("subsets", number, "name"), f"has two subsets called {name}", "give each a name of its own"
        seen.add(name)


def _overlap(one: str, other: str) -> bool:
    """Return whether a host takes requests of another, as Name.Matches of pkg/config/host has it."""
    pairs = ((one, other), (other, one))
    return one == other or any(
        wide.startswith("*") and narrow.removeprefix("*").endswith(wide[1:]) for wide, narrow in pairs
    )
