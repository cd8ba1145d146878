"""Shapes of routing: routes, listeners, backends and grants, and Istio's own kinds."""

from __future__ import annotations

from pathlib import Path

from shapes._written import (
    GATEWAY_API,
    HOST,
    ISTIO,
    NETWORKING,
    Object,
    allowing,
    gateway,
    linted,
    made,
    numbered,
    route,
    rules_for,
    service,
    target,
    workloads,
)


def one_path(root: Path, size: int) -> list[str]:
    """Routes of one hostname and one path: the oldest serves it, all others are shadowed."""
    routes = (route(name, hostnames=[HOST], rules=rules_for("/cart")) for name in numbered("app", size))
    return linted(root, [*gateway(), service(), *routes])


def one_hostname(root: Path, size: int) -> list[str]:
    """Routes of one hostname, with a path each."""
    routes = (route(name, hostnames=[HOST], rules=rules_for(f"/{name}")) for name in numbered("app", size))
    return linted(root, [*gateway(), service(), *routes])


def wildcard_hostnames(root: Path, size: int) -> list[str]:
    """Routes of a hostname below a wildcard each, and of the wildcard."""
    routes = []
    for name in numbered("app", size):
        routes.append(route(name, hostnames=[f"www.{name}.example.com"]))
        routes.append(route(f"{name}-all", hostnames=[f"*.{name}.example.com", f"*.{name}.example.org"]))
    return linted(root, [*gateway(), service(), *routes])


def hostnames_and_listeners(root: Path, size: int) -> list[str]:
    """A Gateway of many wildcard listeners, and routes of 16 hostnames each that none or one of them has."""
    sites = numbered("site", size)
    listeners = [{"name": site, "protocol": "HTTP", "port": 80, "hostname": f"*.{site}.example.com"} for site in sites]
    routes = (
        route(f"app-{number}", hostnames=[f"{name}.{site}.example.com" for name in numbered("host", 16)])
        for number, site in enumerate(sites)
    )
    return linted(root, [*gateway(listeners=listeners), service(), *routes])


def every_listener(root: Path, size: int) -> list[str]:
    """Routes without hostnames on a Gateway of as many listeners: each pair is an attachment."""
    listeners = [
        {"name": name, "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"}
        for name in numbered("site", size)
    ]
    routes = (route(name, hostnames=[]) for name in numbered("app", size))
    return linted(root, [*gateway(listeners=listeners), service(), *routes])


def listener_sets(root: Path, size: int) -> list[str]:
    """ListenerSets of one Gateway, with a route each."""
    names = numbered("site", size)
    objects = [*gateway(), service()]
    objects[2]["spec"]["allowedListeners"] = {"namespaces": {"from": "Same"}}
    for name in names:
        listeners = [{"name": "http", "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"}]
        parent = target("edge", "Gateway")
        spec = {"parentRef": parent, "listeners": listeners}
        objects.append(made(f"{GATEWAY_API}/v1", "ListenerSet", name, spec=spec))
        objects.append(route(name, parentRefs=[target(name, "ListenerSet")]))
    return linted(root, objects)


def allowed_namespaces(root: Path, size: int) -> list[str]:
    """Listeners that admit routes by a label of their namespace, and a namespace and a route for each."""
    names = numbered("team", size)
    listeners = [
        {
            "name": name,
            "protocol": "HTTP",
            "port": 80,
            "hostname": f"{name}.example.com",
            "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": name}}}},
        }
        for name in names
    ]
    objects = gateway(listeners=listeners)
    for name in names:
        objects.append(made("v1", "Namespace", name, "", labels={"team": name}))
        objects += [route(name, name), service("app", name)]
    return linted(root, objects)


def parents_of_one_route(root: Path, size: int) -> list[str]:
    """One route with many Gateways as parents."""
    names = numbered("edge", size)
    objects = [*gateway(), service()]
    for name in names:
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
    return linted(root, [*objects, route("app", parentRefs=[{"name": name} for name in names])])


def gateways(root: Path, size: int) -> list[str]:
    """Gateways of a class and a route each."""
    objects = [*gateway(), service()]
    for name in numbered("edge", size):
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
        objects.append(route(name, parentRefs=[{"name": name}]))
    return linted(root, objects)


def certificates(root: Path, size: int) -> list[str]:
    """A Gateway of HTTPS listeners with a certificate each, from a namespace that grants it."""
    names = numbered("site", size)
    listeners = [
        {
            "name": name,
            "protocol": "HTTPS",
            "port": 443,
            "hostname": f"{name}.example.com",
            "tls": {"certificateRefs": [{"name": name, "namespace": "certs"}]},
        }
        for name in names
    ]
    kinds: Object = {"type": "kubernetes.io/tls", "data": {"tls.crt": "Y2VydA==", "tls.key": "a2V5"}}
    grant = {
        "from": [{"group": GATEWAY_API, "kind": "Gateway", "namespace": "shop"}],
        "to": [{"group": "", "kind": "Secret"}],
    }
    objects = [
        *gateway(listeners=listeners),
        made(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", "all", "certs", spec=grant),
    ]
    return linted(root, [*objects, *(made("v1", "Secret", name, "certs", **kinds) for name in names)])


def reference_grants(root: Path, size: int) -> list[str]:
    """Routes to Services of another namespace, each by a ReferenceGrant of its own."""
    objects = gateway()
    for name in numbered("app", size):
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "namespace": "data", "port": 80}]}]))
        objects.append(service(name, "data"))
        spec = {
            "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "shop"}],
            "to": [{"group": "", "kind": "Service", "name": name}],
        }
        objects.append(made(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", name, "data", spec=spec))
    return linted(root, objects)


def missing_grants(root: Path, size: int) -> list[str]:
    """The same, with grants that name other Services: every reference is refused."""
    objects = gateway()
    for name in numbered("app", size):
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "namespace": "data", "port": 80}]}]))
        objects.append(service(name, "data"))
        spec = {
            "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "shop"}],
            "to": [{"group": "", "kind": "Service", "name": f"{name}-old"}],
        }
        objects.append(made(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", name, "data", spec=spec))
    return linted(root, objects)


def backends_of_one_rule(root: Path, size: int) -> list[str]:
    """One rule with many Services as backends."""
    names = numbered("app", size)
    rules = [{"backendRefs": [{"name": name, "port": 80} for name in names]}]
    return linted(root, [*gateway(), *map(service, names), route("app", rules=rules)])


def rules_of_one_route(root: Path, size: int) -> list[str]:
    """One route of many rules."""
    rules = [rule for name in numbered("path", size) for rule in rules_for(f"/{name}")]
    return linted(root, [*gateway(), service(), route("app", rules=rules)])


def matches_of_one_rule(root: Path, size: int) -> list[str]:
    """One rule of many matches, every second one said twice."""
    matches = [{"path": {"type": "PathPrefix", "value": f"/{number // 2}"}} for number in range(size)]
    return linted(root, [*gateway(), service(), route("app", rules=[{**rules_for("/")[0], "matches": matches}])])


def header_matches(root: Path, size: int) -> list[str]:
    """Routes of one hostname and one path that a header tells apart."""
    routes = []
    for name in numbered("app", size):
        rule = rules_for("/cart")[0]
        rule["matches"][0]["headers"] = [{"name": "x-tenant", "value": name}]
        routes.append(route(name, hostnames=[HOST], rules=[rule]))
    return linted(root, [*gateway(), service(), *routes])


def ports_of_one_service(root: Path, size: int) -> list[str]:
    """One Service of many ports, and a rule to each of them."""
    whole = service()
    whole["spec"]["ports"] = [{"name": name, "port": number + 1} for number, name in enumerate(numbered("port", size))]
    rules = [
        {**rules_for(f"/{number}")[0], "backendRefs": [{"name": "app", "port": number + 1}]} for number in range(size)
    ]
    return linted(root, [*gateway(), whole, route("app", rules=rules)])


def same_name(root: Path, size: int) -> list[str]:
    """One route, said in many documents."""
    return linted(root, [*gateway(), service(), *(route("app") for _ in range(size))])


def virtual_services(root: Path, size: int) -> list[str]:
    """A VirtualService, a DestinationRule and a Service for every host."""
    objects = []
    for name in numbered("app", size):
        host = f"{name}.shop.svc.cluster.local"
        http = [{"route": [{"destination": {"host": host, "subset": "v1"}}]}]
        subsets = [{"name": "v1", "labels": {"version": "v1"}}]
        objects.append(service(name))
        objects.append(made(NETWORKING, "VirtualService", name, spec={"hosts": [host], "http": http}))
        objects.append(made(NETWORKING, "DestinationRule", name, spec={"host": host, "subsets": subsets}))
    return linted(root, objects)


def server_names(root: Path, size: int) -> list[str]:
    """All ways in of a listener that passes TLS on, with a VirtualService for every server name."""
    port = {"number": 443, "name": "tls", "protocol": "TLS"}
    server = {"port": port, "tls": {"mode": "PASSTHROUGH"}, "hosts": ["*"]}
    objects = [service(), made(NETWORKING, "Gateway", "edge", spec={"selector": {"app": "edge"}, "servers": [server]})]
    for name in numbered("app", size):
        host = f"{name}.example.com"
        tls = [{"match": [{"sniHosts": [host]}], "route": [{"destination": {"host": "app"}}]}]
        objects.append(
            made(NETWORKING, "VirtualService", name, spec={"hosts": [host], "gateways": ["edge"], "tls": tls})
        )
    return ["reach", *linted(root, objects)[1:]]


def network_policies(root: Path, size: int) -> list[str]:
    """A network policy for every workload, which lets another one in, and one that lets in all of them by name."""
    names = numbered("app", size)
    entries = [[{"podSelector": {"matchLabels": {"app": name}}}] for name in names]
    policies = [
        _letting_in(name, {"app": name}, entry) for name, entry in zip(names, entries[1:] + entries[:1], strict=True)
    ]
    every = _letting_in("every", {"mesh": "yes"}, [peer for entry in entries for peer in entry])
    return linted(root, [*workloads(names), *map(service, names), *policies, every])


def _letting_in(name: str, labels: Object, peers: list[Object]) -> Object:
    ingress = [{"from": peers, "ports": [{"port": 80}]}]
    spec = {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"], "ingress": ingress}
    return made("networking.k8s.io/v1", "NetworkPolicy", name, spec=spec)


def service_entries(root: Path, size: int) -> list[str]:
    """ServiceEntries of a host each, and a policy on each of them."""
    objects = []
    for name in numbered("api", size):
        spec = {"hosts": [f"{name}.example.com"], "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}]}
        objects.append(made(NETWORKING, "ServiceEntry", name, labels={"app": name}, spec=spec))
        refs = [{"group": "networking.istio.io", "kind": "ServiceEntry", "name": name}]
        rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
        objects.append(made(ISTIO, "AuthorizationPolicy", name, spec={"targetRefs": refs, "rules": rules}))
    return linted(root, objects)


def waypoint(root: Path, size: int) -> list[str]:
    """Services behind one waypoint, with an Istio policy on each of them."""
    objects = [*gateway("istio.io/mesh-controller", [{"name": "mesh", "protocol": "HBONE", "port": 15008}])]
    objects[1]["metadata"]["name"] = objects[2]["spec"]["gatewayClassName"] = "istio-waypoint"
    for name in numbered("app", size):
        objects.append(service(name, labels={"istio.io/use-waypoint": "edge"}))
        refs = [{"group": "", "kind": "Service", "name": name}]
        rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
        objects.append(made(ISTIO, "AuthorizationPolicy", name, spec={"targetRefs": refs, "rules": rules}))
    return linted(root, [*objects, *workloads(numbered("app", size))])


def policies_by_namespace(root: Path, size: int) -> list[str]:
    """Istio policies and workloads in a namespace each."""
    objects = []
    for name in numbered("team", size):
        objects.append(made("v1", "Namespace", name, "", labels={"team": name}))
        policy, (workload,) = allowing("all", {"app": name}), workloads([name])
        policy["metadata"]["namespace"] = workload["metadata"]["namespace"] = name
        objects += [policy, workload]
    return linted(root, objects)


SHAPES = (
    one_path,
    one_hostname,
    wildcard_hostnames,
    hostnames_and_listeners,
    every_listener,
    listener_sets,
    allowed_namespaces,
    parents_of_one_route,
    gateways,
    certificates,
    reference_grants,
    missing_grants,
    backends_of_one_rule,
    rules_of_one_route,
    matches_of_one_rule,
    header_matches,
    ports_of_one_service,
    same_name,
    virtual_services,
    server_names,
    network_policies,
    service_entries,
    waypoint,
    policies_by_namespace,
)
