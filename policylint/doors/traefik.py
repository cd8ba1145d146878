"""Traefik's IngressRoutes as doors: rules in its own language, by priority, with the Middlewares that they name.

Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/http/ingressroute, .../http/routing/rules;
.../install-configuration/providers/kubernetes/kubernetes-crd (allowCrossNamespace; without it there is no router for a
rule that names an object of another namespace: traefik/traefik#8380, #11517, #12976).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.lowered import EVERYTHING, Door, DoorRule, Guard, Opening, door, made_of
from policylint.doors.traefik_rules import Hosts, Matcher, alternatives
from policylint.doors.vendors import guards
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.topology import BackendState
from policylint.topology.workloads import pod_spec

KIND = ("traefik.io", "IngressRoute")
_DOOR = ResourceKey("traefik.io", "EntryPoints", "", "traefik")
_CONTROLLER = "traefik.io/ingress-controller"
_OPENINGS = {"web": Opening("http", 80), "websecure": Opening("https", 443)}
_OF_ITS_OWN = 0
"""The port of an entry point whose port no manifest states."""
_ASKING = frozenset({"RequireAnyClientCert", "RequireAndVerifyClientCert"})
_SAME_PROVIDER = "@kubernetescrd"
_CROSSING = "--providers.kubernetescrd.allowcrossnamespace"
_OF_CRDS = "--providers.kubernetescrd"
Backends = Callable[[Resource, Collection[ResourceKey]], tuple[BackendState, ...]]


def traefik_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the entry points of Traefik, where there are IngressRoutes."""
    routes = world.of_kind(*KIND)
    if routes:
        holder = made_of(routes[0], {}, {}, _DOOR)
        crossing = _allows_crossing(world)
        hosts = Hosts(_written(routes))
        rules = [rule for route in routes for rule in _rules(world, route, hosts, crossing=crossing)]
        openings = tuple(_OPENINGS.values())
        yield door(holder, _CONTROLLER, rules, guards(), lambda route: backends(route, EVERYTHING), openings)


def _written(routes: Iterable[Resource]) -> Iterator[str]:
    """Yield the rules of some objects."""
    for ingress in routes:
        for route in map(mapping, sequence(ingress.spec.get("routes"))):
            yield text(route.get("match"))


def _allows_crossing(world: World) -> bool | None:
    """Return whether rules may name objects of other namespaces; None where no arguments of Traefik were seen."""
    asked = None
    for kind in ("Deployment", "DaemonSet"):
        for workload in world.of_kind("apps", kind):
            for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
                said = [argument.lower() for argument in texts(container.get("args"))]
                if any(argument in (_CROSSING, f"{_CROSSING}=true") for argument in said):
                    return True
                asked = False if any(argument.startswith(_OF_CRDS) for argument in said) else asked
    return asked


def _crosses(world: World, ingress: Resource, route: Mapping[str, Any]) -> str:
    """Return the object of another namespace that a rule names, in words; "" where it names none."""
    home = ingress.key.namespace
    for service in map(mapping, sequence(route.get("services"))):
        if text(service.get("namespace")) not in ("", home):
            return f"{text(service.get('kind'), 'Service')} {service['namespace']}/{text(service.get('name'))}"
    for middleware in map(mapping, sequence(route.get("middlewares"))):
        name, namespace = text(middleware.get("name")), text(middleware.get("namespace")) or home
        if name.endswith(_SAME_PROVIDER):
            return f"Middleware {name}"
        if "@" not in name and namespace != home:
            return f"Middleware {namespace}/{name}"
        found = world.get(ResourceKey(KIND[0], "Middleware", home, name))
        chain = mapping(mapping(found.spec if found is not None else {}).get("chain"))
        for member in map(mapping, sequence(chain.get("middlewares"))):
            if text(member.get("namespace")) not in ("", home):
                return f"Middleware {member['namespace']}/{text(member.get('name'))}, by its chain {home}/{name},"
    return ""


def _rules(world: World, ingress: Resource, hosts: Hosts, *, crossing: bool | None) -> Iterator[DoorRule]:
    for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
        crossed = "" if crossing else _crosses(world, ingress, route)
        if crossed and crossing is False:
            continue
        unknown = f"it names {crossed} of another namespace, which Traefik takes only with allowCrossNamespace"
        written = text(route.get("match"))
        priority = route.get("priority")
        rank = priority if isinstance(priority, int) and priority else len(written)
        body, asked = _body(world, ingress, route, number)
        pointer: Pointer = ("spec", "routes", number)
        for further, matchers in enumerate(alternatives(written) or [(Matcher("?", (written,)),)]):
            of_hosts = list(hosts.matches(matchers))
            for host, match in of_hosts:
                name = f"route-{number}.{further}" + (" of other hosts" if match != of_hosts[0][1] else "")
                said = {**body, "matches": [match], "precedence": (rank, 0, 0, 0, 0)}
                for opening in _openings(ingress):
                    yield DoorRule(ingress, opening, host, name, said, pointer, asked, unknown if crossed else "")


def _openings(ingress: Resource) -> Iterator[Opening]:
    """Yield where a route is open: a router with TLS takes https alone, one without takes http alone."""
    secure = isinstance(ingress.spec.get("tls"), dict)
    for name in texts(ingress.spec.get("entryPoints")) or list(_OPENINGS):
        known = _OPENINGS.get(name, Opening("https" if secure else "http", _OF_ITS_OWN))
        if known.scheme == "https" or not secure:
            yield known


def _middleware(world: World, ingress: Resource, named: Mapping[str, Any]) -> ResourceKey | None:
    """Return the Middleware that a rule names, None where it is one of another provider (`auth@file`).

    `infra-auth@kubernetescrd` is Middleware `auth` of namespace `infra`, and may be `infra-auth` of another one.
    """
    name, namespace = text(named.get("name")), text(named.get("namespace")) or ingress.key.namespace
    if "@" not in name:
        return ResourceKey(KIND[0], "Middleware", namespace, name)
    spelled = name.removesuffix(_SAME_PROVIDER)
    keys = (each.key for each in world.of_kind(KIND[0], "Middleware"))
    return next((key for key in keys if name != spelled and f"{key.namespace}-{key.name}" == spelled), None)


def _body(
    world: World, ingress: Resource, route: Mapping[str, Any], number: int
) -> tuple[dict[str, Any], tuple[Guard, ...]]:
    """Return a route as a rule, and what is asked besides the Middlewares of this provider."""
    filters, elsewhere = [], []
    for middleware in map(mapping, sequence(route.get("middlewares"))):
        named = _middleware(world, ingress, middleware)
        if named is None:
            elsewhere.append(text(middleware.get("name")))
        else:
            reference = {"group": KIND[0], "kind": "Middleware", "name": named.name, "namespace": named.namespace}
            filters.append({"type": "ExtensionRef", "extensionRef": reference})
    place: Pointer = ("spec", "routes", number, "middlewares")
    asked = [Guard(ingress, {"unread": ", ".join(elsewhere)}, {("unread",): place})] if elsewhere else []
    options = mapping(mapping(ingress.spec.get("tls")).get("options"))
    namespace = text(options.get("namespace")) or ingress.key.namespace
    option = world.get(ResourceKey(KIND[0], "TLSOption", namespace, text(options.get("name")))) if options else None
    wanted = "" if option is None else text(mapping(option.spec.get("clientAuth")).get("clientAuthType"))
    if option is not None and wanted in _ASKING:
        there: Pointer = ("spec", "clientAuth", "clientAuthType")
        asked.append(Guard(option, {"clientCertificate": {"type": wanted}}, {("clientCertificate",): there}))
    references = [_reference(world, ingress, mapping(each)) for each in sequence(route.get("services"))]
    return {"filters": filters, "backendRefs": references}, tuple(asked)


def _reference(world: World, ingress: Resource, backend: Mapping[str, Any]) -> dict[str, Any]:
    """Return a service as routes name it: with the number of its port."""
    name, namespace = text(backend.get("name")), text(backend.get("namespace")) or ingress.key.namespace
    kind, port = text(backend.get("kind"), "Service"), backend.get("port")
    said = {"name": name, "namespace": namespace, "weight": backend.get("weight", 1)}
    if kind != "Service":
        return {**said, "group": KIND[0], "kind": kind}
    if not isinstance(port, int):
        seen = world.get(ResourceKey("", "Service", namespace, name))
        ports = [] if seen is None else [mapping(each) for each in sequence(seen.spec.get("ports"))]
        meant = [each.get("port") for each in ports if port in (None, each.get("name"))]
        port = meant[0] if meant and isinstance(meant[0], int) else 80
    return {**said, "port": port}
