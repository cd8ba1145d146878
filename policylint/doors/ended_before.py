"""Load balancers that end TLS in front of proxies, as annotations of Services have them: there it is plain text.

ingress-nginx takes what comes to the port of http for http, and redirects it again where it redirects at all:
kubernetes.github.io/ingress-nginx/user-guide/miscellaneous, «Source IP address» and «Proxy Protocol»;
rootfs/etc/nginx/lua/lua_ingress.lua, rewrite (`pass_access_scheme`).

Source: schemas/doors.yaml, `balancers`; traefik/traefik, pkg/middlewares/redirect/redirect_scheme.go (the scheme is
that of the connection, unless a header is believed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.doors.vendors import balancers
from policylint.implementations.generic.containers import arguments, containers
from policylint.implementations.generic.entry_points import stated
from policylint.load.images import image_of
from policylint.model import Resource, World, integer, mapping, sequence, text, texts
from policylint.topology.service_ports import Port, ports
from policylint.topology.workloads import services_selecting

_HTTP, _HTTPS = 80, 443
_PORT = "http-port"
"""The argument of ingress-nginx that states where it takes http."""


def may_end(world: World) -> bool:
    """Return whether any load balancer ends TLS, by annotations of a Service."""
    certificates = {text(each.get("certificate")) for each in balancers()}
    return any(each.annotations.keys() & certificates for each in world.of_kind("", "Service"))


def plain_entry_points(world: World) -> Mapping[str, Resource]:
    """Return the entry points of Traefik that get what was encrypted as plain text, with the Services that say so."""
    if not may_end(world):
        return {}
    found: dict[str, Resource] = {}
    for workload, container in containers(world):
        arguments = [each.lower() for each in (*texts(container.get("command")), *texts(container.get("args")))]
        names = {text(each.get("name")): each.get("containerPort") for each in _ports(container)}
        points = {number: name for name, (number, secured) in stated(arguments).items() if not secured}
        for service in services_selecting(world, workload) if points else ():
            for port in _ended(service):
                number = integer(names.get(port.target)) if isinstance(port.target, str) else port.target
                if number in points:
                    found.setdefault(points[number], service)
    return found


def are_plain(world: World, image: str) -> bool:
    """Return whether clients of https come to the port of http of a controller: all Services before its pods end TLS.

    Args:
        image: the end of its name, "" where that is not known.
    """
    return bool(image) and may_end(world) and world.once(_plain_ports).get(image, False)


def _plain_ports(world: World) -> Mapping[str, bool]:
    """Return by image whether all ports for https of Services lead to where its containers take http."""
    found: dict[str, list[bool]] = {}
    for workload, container in containers(world):
        name = "/".join(image_of(container)[0].split("/")[-2:])
        plain = next((int(each) for key, each in arguments(container) if key == _PORT and each.isdigit()), _HTTP)
        names = {text(each.get("name")): each.get("containerPort") for each in _ports(container)}
        for service in services_selecting(world, workload):
            ended = list(_ended(service))
            for port in ports(service):
                if port.number == _HTTPS:
                    number = integer(names.get(port.target)) if isinstance(port.target, str) else port.target
                    found.setdefault(name, []).append(port in ended and number == plain)
    return {name: all(led) for name, led in found.items()}


def _ended(service: Resource) -> Iterator[Port]:
    """Yield the ports of a Service at which its load balancer ends TLS and passes on plain text, without a word."""
    for about in balancers():
        said = {name: text(service.annotations.get(about.get(name, ""))) for name in ("certificate", "ports", "speaks")}
        if not said["certificate"] or said["speaks"] not in ("", *texts(about.get("silent"))):
            continue
        listed = [each.strip() for each in said["ports"].split(",") if each.strip()]
        for port in ports(service):
            if not listed or "*" in listed or {str(port.number), port.name} & {*listed}:
                yield port


def _ports(container: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return map(mapping, sequence(container.get("ports")))
