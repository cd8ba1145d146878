"""Shapes of objects: what is linked to what, and how many findings come of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from changes import git

from shapes._written import GATEWAY_API, HOST, Object, gateway, made, route, service, target, write

ENVOY = "gateway.envoyproxy.io/v1alpha1"
KGATEWAY = "gateway.kgateway.dev/v1alpha1"
ISTIO = "security.istio.io/v1"
NETWORKING = "networking.istio.io/v1"
CORS = {"cors": {"allowOrigins": ["https://shop.example.com"]}}
RETRY = {"retry": {"numRetries": 2}}


def _lint(root: Path, objects: Iterable[Object]) -> list[str]:
    write(root / "all.yaml", objects)
    return ["lint", str(root)]


def _names(stem: str, size: int) -> list[str]:
    return [f"{stem}-{number:05}" for number in range(size)]


def _routes(size: int) -> list[Object]:
    return [*gateway(), service(), *(route(name, labels={"app": name}) for name in _names("app", size))]


def _workloads(names: Iterable[str]) -> Iterable[Object]:
    for name in names:
        labels = {"app": name, "mesh": "yes"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        yield made("apps/v1", "Deployment", name, labels=labels, spec=spec)


def _allow(name: str, labels: Object) -> Object:
    rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
    spec = {"selector": {"matchLabels": labels}, "action": "ALLOW", "rules": rules}
    return made(ISTIO, "AuthorizationPolicy", name, spec=spec)


def _cors(name: str, *targets: Object) -> Object:
    return made(ENVOY, "SecurityPolicy", name, spec={"targetRefs": list(targets), **CORS})


# Policies


def label_selectors(root: Path, size: int) -> list[str]:
    """Istio policies and workloads; every policy selects one of them by its label."""
    names = _names("app", size)
    return _lint(root, [*_workloads(names), *(_allow(name, {"app": name}) for name in names)])


def label_selectors_all(root: Path, size: int) -> list[str]:
    """Istio policies that select every workload of the namespace: each pair is an attachment."""
    names = _names("app", size)
    return _lint(root, [*_workloads(names), *(_allow(name, {"mesh": "yes"}) for name in names)])


def request_authentication(root: Path, size: int) -> list[str]:
    """Istio's three kinds of security policy, each of them selecting one workload, behind one of the whole mesh."""
    names = _names("app", size)
    objects: list[Object] = [*_workloads(names), made(ISTIO, "PeerAuthentication", "mesh", "istio-system", spec={})]
    for name in names:
        selector = {"selector": {"matchLabels": {"app": name}}}
        rule = {**selector, "jwtRules": [{"issuer": "https://id.example.com"}]}
        objects.append(made(ISTIO, "RequestAuthentication", name, spec=rule))
        objects.append(made(ISTIO, "PeerAuthentication", name, spec={**selector, "mtls": {"mode": "STRICT"}}))
        objects.append(_allow(name, {"app": name}))
    return _lint(root, objects)


def target_selectors(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies and routes; every policy selects one of them by its label."""
    selected = {"group": GATEWAY_API, "kind": "HTTPRoute"}
    policies = (
        made(
            ENVOY,
            "SecurityPolicy",
            name,
            spec={"targetSelectors": [{**selected, "matchLabels": {"app": name}}], **CORS},
        )
        for name in _names("app", size)
    )
    return _lint(root, [*_routes(size), *policies])


def target_selectors_all(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies that select every route: each pair is an attachment, and all but one are in conflict."""
    selected = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"team": "shop"}}
    routes = [*gateway(), service(), *(route(name, labels={"team": "shop"}) for name in _names("app", size))]
    spec = {"targetSelectors": [selected], **CORS}
    return _lint(root, [*routes, *(made(ENVOY, "SecurityPolicy", name, spec=spec) for name in _names("cors", size))])


def target_expressions(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies that select every route by the presence of a label."""
    selected = {
        "group": GATEWAY_API,
        "kind": "HTTPRoute",
        "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["none"]}],
    }
    spec = {"targetSelectors": [selected], **RETRY}
    policies = (made(ENVOY, "BackendTrafficPolicy", name, spec=spec) for name in _names("retry", size))
    return _lint(root, [*_routes(size), *policies])


def policies_on_one_route(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies of one kind on one route: all but one are in conflict."""
    return _lint(root, [*_routes(1), *(_cors(name, target("app-00000")) for name in _names("cors", size))])


def policies_on_one_gateway(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies of one kind on one Gateway that has as many routes."""
    policies = (_cors(name, target("edge", "Gateway")) for name in _names("cors", size))
    return _lint(root, [*_routes(size), *policies])


def policies_on_listeners(root: Path, size: int) -> list[str]:
    """A Gateway of many listeners, a policy on each, and a route to each."""
    names = _names("site", size)
    listeners = [{"name": name, "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"} for name in names]
    policies = (_cors(name, target("edge", "Gateway", sectionName=name)) for name in names)
    return _lint(root, [*gateway(listeners=listeners), service(), *policies, *map(route, names)])


def policies_on_rules(root: Path, size: int) -> list[str]:
    """One route of many rules, and a policy on each of them."""
    names = _names("rule", size)
    rules = [
        {
            "name": name,
            "matches": [{"path": {"type": "PathPrefix", "value": f"/{name}"}}],
            "backendRefs": [{"name": "app", "port": 80}],
        }
        for name in names
    ]
    policies = (_cors(name, target("app", sectionName=name)) for name in names)
    return _lint(root, [*gateway(), service(), route("app", rules=rules), *policies])


def targets_of_one_policy(root: Path, size: int) -> list[str]:
    """One policy that names every route, twice."""
    names = _names("app", size)
    return _lint(root, [*_routes(size), _cors("cors", *map(target, names), *map(target, names))])


def overridden_policies(root: Path, size: int) -> list[str]:
    """A policy of the Gateway, which the policy of every route takes the place of."""
    jwt = {"jwt": {"providers": [{"name": "id", "remoteJWKS": {"uri": "https://id.example.com/keys"}}]}}
    login = made(ENVOY, "SecurityPolicy", "login", spec={"targetRefs": [target("edge", "Gateway")], **jwt})
    return _lint(root, [*_routes(size), login, *(_cors(name, target(name)) for name in _names("app", size))])


def kgateway_one_target(root: Path, size: int) -> list[str]:
    """Kgateway's TrafficPolicies on one route: the fields of each are merged with those of all before it."""
    policies = (
        made(KGATEWAY, "TrafficPolicy", name, spec={"targetRefs": [target("app")], **RETRY})
        for name in _names("retry", size)
    )
    return _lint(root, [*gateway("kgateway.dev/kgateway"), service(), route("app"), *policies])


def kgateway_delegation(root: Path, size: int) -> list[str]:
    """A route that delegates to all routes of a namespace by a label."""
    rules = [
        {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [{"group": "delegation.kgateway.dev", "kind": "label", "name": "shop"}],
        }
    ]
    labels = {"delegation.kgateway.dev/label": "shop"}
    children = []
    for name in _names("child", size):
        child = route(name, labels=labels)
        child["spec"] = {"rules": [{**child["spec"]["rules"][0], "matches": [{"path": {"value": f"/{name}"}}]}]}
        children.append(child)
    return _lint(root, [*gateway("kgateway.dev/kgateway"), service(), route("parent", rules=rules), *children])


def kgateway_delegation_chain(root: Path, size: int) -> list[str]:
    """Routes that delegate to the next one each, and a policy on every one."""
    names = _names("link", size)
    objects = [*gateway("kgateway.dev/kgateway"), service(), route(names[0])]
    for name, following in zip(names, [*names[1:], ""], strict=True):
        link = objects[-1]["spec"]
        if following:
            link["rules"] = [{"backendRefs": [{"group": GATEWAY_API, "kind": "HTTPRoute", "name": following}]}]
        if name != names[0]:
            link.pop("parentRefs"), link.pop("hostnames")
        objects.append(made(KGATEWAY, "TrafficPolicy", name, spec={"targetRefs": [target(name)], **RETRY}))
        if following:
            objects.append(route(following))
    return _lint(root, objects)


def ngf_policies(root: Path, size: int) -> list[str]:
    """NGINX Gateway Fabric's policies on routes that share a hostname."""
    names = _names("app", size)
    controller = "gateway.nginx.org/nginx-gateway-controller"
    routes = (route(name, hostnames=[HOST], rules=_rules(f"/{name}")) for name in names)
    policies = (
        made(
            "gateway.nginx.org/v1alpha1",
            "ClientSettingsPolicy",
            name,
            spec={"targetRef": target(name), "body": {"maxSize": "1m"}},
        )
        for name in names
    )
    return _lint(root, [*gateway(controller), service(), *routes, *policies])


def kuadrant_policies(root: Path, size: int) -> list[str]:
    """Kuadrant's AuthPolicies: one of the Gateway, and one of every route."""
    spec: Object = {"rules": {"authentication": {"key": {"apiKey": {"selector": {}}}}}}
    names = _names("app", size)
    policies = (made("kuadrant.io/v1", "AuthPolicy", name, spec={"targetRef": target(name), **spec}) for name in names)
    own = made("kuadrant.io/v1", "AuthPolicy", "edge", spec={"targetRef": target("edge", "Gateway"), "defaults": spec})
    return _lint(root, [*_routes(size), own, *policies])


def backend_tls(root: Path, size: int) -> list[str]:
    """A Service with a BackendTLSPolicy behind every route."""
    names = _names("app", size)
    spec = {"validation": {"hostname": HOST, "wellKnownCACertificates": "System"}}
    objects = [*gateway()]
    for name in names:
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "port": 80}]}]))
        objects.append(service(name))
        refs = [{"group": "", "kind": "Service", "name": name}]
        objects.append(made(f"{GATEWAY_API}/v1", "BackendTLSPolicy", name, spec={"targetRefs": refs, **spec}))
    return _lint(root, objects)


# Routes, listeners, backends


def _rules(path: str, kind: str = "PathPrefix") -> list[Object]:
    return [
        {"matches": [{"path": {"type": kind, "value": path}}], "backendRefs": [{"name": "app", "port": 80}]},
    ]


def one_path(root: Path, size: int) -> list[str]:
    """Routes of one hostname and one path: the oldest serves it, all others are shadowed."""
    routes = (route(name, hostnames=[HOST], rules=_rules("/cart")) for name in _names("app", size))
    return _lint(root, [*gateway(), service(), *routes])


def one_hostname(root: Path, size: int) -> list[str]:
    """Routes of one hostname, with a path each."""
    routes = (route(name, hostnames=[HOST], rules=_rules(f"/{name}")) for name in _names("app", size))
    return _lint(root, [*gateway(), service(), *routes])


def wildcard_hostnames(root: Path, size: int) -> list[str]:
    """Routes of a hostname below a wildcard each, and of the wildcard."""
    routes = []
    for name in _names("app", size):
        routes.append(route(name, hostnames=[f"www.{name}.example.com"]))
        routes.append(route(f"{name}-all", hostnames=[f"*.{name}.example.com", f"*.{name}.example.org"]))
    return _lint(root, [*gateway(), service(), *routes])


def hostnames_and_listeners(root: Path, size: int) -> list[str]:
    """A Gateway of many wildcard listeners, and routes of 16 hostnames each that none or one of them has."""
    sites = _names("site", size)
    listeners = [{"name": site, "protocol": "HTTP", "port": 80, "hostname": f"*.{site}.example.com"} for site in sites]
    routes = (
        route(f"app-{number}", hostnames=[f"{name}.{site}.example.com" for name in _names("host", 16)])
        for number, site in enumerate(sites)
    )
    return _lint(root, [*gateway(listeners=listeners), service(), *routes])


def every_listener(root: Path, size: int) -> list[str]:
    """Routes without hostnames on a Gateway of as many listeners: each pair is an attachment."""
    listeners = [
        {"name": name, "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"}
        for name in _names("site", size)
    ]
    routes = (route(name, hostnames=[]) for name in _names("app", size))
    return _lint(root, [*gateway(listeners=listeners), service(), *routes])


def listener_sets(root: Path, size: int) -> list[str]:
    """ListenerSets of one Gateway, with a route each."""
    names = _names("site", size)
    objects = [*gateway(), service()]
    objects[2]["spec"]["allowedListeners"] = {"namespaces": {"from": "Same"}}
    for name in names:
        listeners = [{"name": "http", "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"}]
        parent = target("edge", "Gateway")
        spec = {"parentRef": parent, "listeners": listeners}
        objects.append(made(f"{GATEWAY_API}/v1", "ListenerSet", name, spec=spec))
        objects.append(route(name, parentRefs=[target(name, "ListenerSet")]))
    return _lint(root, objects)


def allowed_namespaces(root: Path, size: int) -> list[str]:
    """Listeners that admit routes by a label of their namespace, and a namespace and a route for each."""
    names = _names("team", size)
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
    return _lint(root, objects)


def parents_of_one_route(root: Path, size: int) -> list[str]:
    """One route with many Gateways as parents."""
    names = _names("edge", size)
    objects = [*gateway(), service()]
    for name in names:
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
    return _lint(root, [*objects, route("app", parentRefs=[{"name": name} for name in names])])


def gateways(root: Path, size: int) -> list[str]:
    """Gateways of a class and a route each."""
    objects = [*gateway(), service()]
    for name in _names("edge", size):
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
        objects.append(route(name, parentRefs=[{"name": name}]))
    return _lint(root, objects)


def certificates(root: Path, size: int) -> list[str]:
    """A Gateway of HTTPS listeners with a certificate each, from a namespace that grants it."""
    names = _names("site", size)
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
    return _lint(root, [*objects, *(made("v1", "Secret", name, "certs", **kinds) for name in names)])


def reference_grants(root: Path, size: int) -> list[str]:
    """Routes to Services of another namespace, each by a ReferenceGrant of its own."""
    objects = gateway()
    for name in _names("app", size):
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "namespace": "data", "port": 80}]}]))
        objects.append(service(name, "data"))
        spec = {
            "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "shop"}],
            "to": [{"group": "", "kind": "Service", "name": name}],
        }
        objects.append(made(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", name, "data", spec=spec))
    return _lint(root, objects)


def missing_grants(root: Path, size: int) -> list[str]:
    """The same, with grants that name other Services: every reference is refused."""
    objects = gateway()
    for name in _names("app", size):
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "namespace": "data", "port": 80}]}]))
        objects.append(service(name, "data"))
        spec = {
            "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "shop"}],
            "to": [{"group": "", "kind": "Service", "name": f"{name}-old"}],
        }
        objects.append(made(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", name, "data", spec=spec))
    return _lint(root, objects)


def backends_of_one_rule(root: Path, size: int) -> list[str]:
    """One rule with many Services as backends."""
    names = _names("app", size)
    rules = [{"backendRefs": [{"name": name, "port": 80} for name in names]}]
    return _lint(root, [*gateway(), *map(service, names), route("app", rules=rules)])


def rules_of_one_route(root: Path, size: int) -> list[str]:
    """One route of many rules."""
    rules = [rule for name in _names("path", size) for rule in _rules(f"/{name}")]
    return _lint(root, [*gateway(), service(), route("app", rules=rules)])


def matches_of_one_rule(root: Path, size: int) -> list[str]:
    """One rule of many matches, every second one said twice."""
    matches = [{"path": {"type": "PathPrefix", "value": f"/{number // 2}"}} for number in range(size)]
    return _lint(root, [*gateway(), service(), route("app", rules=[{**_rules("/")[0], "matches": matches}])])


def header_matches(root: Path, size: int) -> list[str]:
    """Routes of one hostname and one path that a header tells apart."""
    routes = []
    for name in _names("app", size):
        rule = _rules("/cart")[0]
        rule["matches"][0]["headers"] = [{"name": "x-tenant", "value": name}]
        routes.append(route(name, hostnames=[HOST], rules=[rule]))
    return _lint(root, [*gateway(), service(), *routes])


def ports_of_one_service(root: Path, size: int) -> list[str]:
    """One Service of many ports, and a rule to each of them."""
    whole = service()
    whole["spec"]["ports"] = [{"name": name, "port": number + 1} for number, name in enumerate(_names("port", size))]
    rules = [
        {**_rules(f"/{number}")[0], "backendRefs": [{"name": "app", "port": number + 1}]} for number in range(size)
    ]
    return _lint(root, [*gateway(), whole, route("app", rules=rules)])


def same_name(root: Path, size: int) -> list[str]:
    """One route, said in many documents."""
    return _lint(root, [*gateway(), service(), *(route("app") for _ in range(size))])


# Istio's own routing


def virtual_services(root: Path, size: int) -> list[str]:
    """A VirtualService, a DestinationRule and a Service for every host."""
    objects = []
    for name in _names("app", size):
        host = f"{name}.shop.svc.cluster.local"
        http = [{"route": [{"destination": {"host": host, "subset": "v1"}}]}]
        subsets = [{"name": "v1", "labels": {"version": "v1"}}]
        objects.append(service(name))
        objects.append(made(NETWORKING, "VirtualService", name, spec={"hosts": [host], "http": http}))
        objects.append(made(NETWORKING, "DestinationRule", name, spec={"host": host, "subsets": subsets}))
    return _lint(root, objects)


def service_entries(root: Path, size: int) -> list[str]:
    """ServiceEntries of a host each, and a policy on each of them."""
    objects = []
    for name in _names("api", size):
        spec = {"hosts": [f"{name}.example.com"], "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}]}
        objects.append(made(NETWORKING, "ServiceEntry", name, labels={"app": name}, spec=spec))
        refs = [{"group": "networking.istio.io", "kind": "ServiceEntry", "name": name}]
        rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
        objects.append(made(ISTIO, "AuthorizationPolicy", name, spec={"targetRefs": refs, "rules": rules}))
    return _lint(root, objects)


def waypoint(root: Path, size: int) -> list[str]:
    """Services behind one waypoint, with an Istio policy on each of them."""
    objects = [*gateway("istio.io/mesh-controller", [{"name": "mesh", "protocol": "HBONE", "port": 15008}])]
    objects[1]["metadata"]["name"] = objects[2]["spec"]["gatewayClassName"] = "istio-waypoint"
    for name in _names("app", size):
        objects.append(service(name, labels={"istio.io/use-waypoint": "edge"}))
        refs = [{"group": "", "kind": "Service", "name": name}]
        rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
        objects.append(made(ISTIO, "AuthorizationPolicy", name, spec={"targetRefs": refs, "rules": rules}))
    return _lint(root, [*objects, *_workloads(_names("app", size))])


def policies_by_namespace(root: Path, size: int) -> list[str]:
    """Istio policies and workloads in a namespace each."""
    objects = []
    for name in _names("team", size):
        objects.append(made("v1", "Namespace", name, "", labels={"team": name}))
        policy, (workload,) = _allow("all", {"app": name}), _workloads([name])
        policy["metadata"]["namespace"] = workload["metadata"]["namespace"] = name
        objects += [policy, workload]
    return _lint(root, objects)


# Findings: names that nothing has, suppressions, formats


def missing_targets(root: Path, size: int) -> list[str]:
    """Policies whose target is one letter away from the name of a route."""
    policies = (_cors(name, target(name.replace("checkout", "chekout"))) for name in _names("checkout", size))
    routes = (route(name) for name in _names("checkout", size))
    return _lint(root, [*gateway(), service(), *routes, *policies])


def missing_backends(root: Path, size: int) -> list[str]:
    """Routes whose backend is one letter away from the name of a Service."""
    names = _names("checkout", size)
    routes = (route(name, rules=[{"backendRefs": [{"name": name.replace("ck", "k"), "port": 80}]}]) for name in names)
    return _lint(root, [*gateway(), *map(service, names), *routes])


def missing_sections(root: Path, size: int) -> list[str]:
    """One route of many rules, and policies whose section is one letter away from the name of one."""
    names = _names("checkout", size)
    rules = [{**_rules(f"/{name}")[0], "name": name} for name in names]
    policies = (_cors(name, target("app", sectionName=name.replace("ck", "k"))) for name in names)
    return _lint(root, [*gateway(), service(), route("app", rules=rules), *policies])


def missing_parents(root: Path, size: int) -> list[str]:
    """Routes whose Gateway is one letter away from the name of one."""
    objects = [*gateway(), service()]
    for name in _names("edge", size):
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
        objects.append(route(name, parentRefs=[{"name": name.replace("edge", "egde")}]))
    return _lint(root, objects)


def unknown_fields(root: Path, size: int) -> list[str]:
    """Routes with a field that the schema does not have."""
    return _lint(root, [*gateway(), service(), *(route(name, hostname=HOST) for name in _names("app", size))])


def _dangling(root: Path, size: int, before: str = "", behind: str = "") -> None:
    """Write policies whose target is nowhere, with a comment before each or behind its name."""
    policy = (
        "{before}apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\n"
        "metadata:\n  name: {name}\n  namespace: shop\nspec:\n  targetRefs:\n    - group: gateway.networking.k8s.io\n"
        "      kind: HTTPRoute\n      name: {name}{behind}\n  cors:\n    allowOrigins: ['*']\n"
    )
    text = "---\n".join(policy.format(name=name, before=before, behind=behind) for name in _names("gone", size))
    (root / "policies.yaml").write_text(text, encoding="utf-8", newline="\n")


def findings(root: Path, size: int) -> list[str]:
    """Policies whose target is nowhere, as text."""
    _dangling(root, size)
    return ["lint", str(root)]


def suppression_comments(root: Path, size: int) -> list[str]:
    """The same, each suppressed by a comment behind the name."""
    _dangling(root, size, behind="  # policylint: ignore[GWP101] known")
    return ["lint", str(root)]


def comments_of_one_document(root: Path, size: int) -> list[str]:
    """One policy with many missing targets, each suppressed by a comment of its own."""
    head = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: cors, namespace: shop}\n"
    ref = (
        "    # policylint: ignore[GWP101] known\n"
        "    - {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {}}}\n"
    )
    text = f"{head}spec:\n  targetRefs:\n{''.join(map(ref.format, _names('gone', size)))}  cors: {{}}\n"
    (root / "policy.yaml").write_text(text, encoding="utf-8", newline="\n")
    return ["lint", str(root)]


def unused_comments(root: Path, size: int) -> list[str]:
    """Comments that no finding answers to, among findings that they do not suppress."""
    _dangling(root, size, behind="  # policylint: ignore[GWP201] known")
    return ["lint", str(root)]


def configured_ignores(root: Path, size: int) -> list[str]:
    """Findings, each suppressed by an entry of the configuration."""
    _dangling(root, size)
    entries = [
        {"rule": "GWP101", "resource": f"SecurityPolicy/shop/{name}", "reason": "known"}
        for name in _names("gone", size)
    ]
    (root / ".policylint.yaml").write_text(json.dumps({"ignore": entries}, indent=1), encoding="utf-8")
    return ["lint", "-C", str(root)]


def configured_patterns(root: Path, size: int) -> list[str]:
    """Findings, each suppressed by an entry of the configuration that has a wildcard."""
    _dangling(root, size)
    entries = [
        {"rule": "GWP101", "resource": f"SecurityPolicy/*/{name}", "reason": "known"} for name in _names("gone", size)
    ]
    (root / ".policylint.yaml").write_text(json.dumps({"ignore": entries}, indent=1), encoding="utf-8")
    return ["lint", "-C", str(root)]


def baseline(root: Path, size: int) -> list[str]:
    """A baseline of many findings."""
    _dangling(root, size)
    return ["baseline", "-C", str(root)]


def one_long_line(root: Path, size: int) -> list[str]:
    """A List of findings as JSON, in one line."""
    items = [_cors(name, target(name)) for name in _names("gone", size)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    (root / "all.yaml").write_text(text, encoding="utf-8")
    return ["lint", str(root)]


def files(root: Path, size: int) -> list[str]:
    """Findings in a file and a folder each."""
    for name in _names("gone", size):
        write(root / name / "policy.yaml", [_cors(name, target(name))])
    return ["lint", str(root)]


def _format(name: str, root: Path, size: int) -> list[str]:
    _dangling(root, size)
    return ["lint", str(root), "-o", name]


def as_markdown(root: Path, size: int) -> list[str]:
    """Findings as Markdown."""
    return _format("markdown", root, size)


def as_sarif(root: Path, size: int) -> list[str]:
    """Findings as SARIF."""
    return _format("sarif", root, size)


def as_json(root: Path, size: int) -> list[str]:
    """Findings as JSON."""
    return _format("json-v1", root, size)


def as_junit(root: Path, size: int) -> list[str]:
    """Findings as JUnit XML."""
    return _format("junit", root, size)


def as_codeclimate(root: Path, size: int) -> list[str]:
    """Findings as Code Climate."""
    return _format("codeclimate", root, size)


def as_github(root: Path, size: int) -> list[str]:
    """Findings as workflow commands."""
    return _format("github", root, size)


def add_ignore(root: Path, size: int) -> list[str]:
    """Findings of one file, all suppressed by comments that are written now."""
    _dangling(root, size)
    return ["lint", str(root), "--add-ignore", "known"]


def fix(root: Path, size: int) -> list[str]:
    """Findings of one file that are all mended."""
    missing_targets(root, size)
    return ["lint", str(root), "--fix", "--unsafe-fixes"]


# The other commands


def explain_gateway(root: Path, size: int) -> list[str]:
    """Explain a Gateway of many routes."""
    overridden_policies(root, size)
    return ["explain", "Gateway/shop/edge", str(root)]


def explain_policy(root: Path, size: int) -> list[str]:
    """Explain the policy of a Gateway of many routes, most of which have their own."""
    overridden_policies(root, size)
    return ["explain", "SecurityPolicy/shop/login", str(root)]


def explain_route(root: Path, size: int) -> list[str]:
    """Explain a route of many rules that have a policy each."""
    policies_on_rules(root, size)
    return ["explain", "HTTPRoute/shop/app", str(root)]


def trace(root: Path, size: int) -> list[str]:
    """Trace a request on a Gateway of many routes of its host."""
    one_hostname(root, size)
    return ["trace", "GET", f"http://{HOST}/app-00000", str(root)]


def traces(root: Path, size: int) -> list[str]:
    """Trace as many requests as there are routes."""
    _lint(root, _routes(size))
    requests = [{"method": "GET", "host": f"{name}.example.com", "path": "/"} for name in _names("app", size)]
    (root / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
    return ["trace", "--requests", str(root / "requests.json"), str(root / "all.yaml")]


def simulate(root: Path, size: int) -> list[str]:
    """Print the whole state."""
    overridden_policies(root, size)
    return ["simulate", str(root)]


def list_policies(root: Path, size: int) -> list[str]:
    """List many policies."""
    overridden_policies(root, size)
    return ["list", "policies", str(root)]


def _graph(name: str, root: Path, size: int) -> list[str]:
    overridden_policies(root, size)
    return ["graph", str(root), "-o", name]


def graph_mermaid(root: Path, size: int) -> list[str]:
    """Draw many routes with a policy each, as Mermaid."""
    return _graph("mermaid", root, size)


def graph_dot(root: Path, size: int) -> list[str]:
    """The same, as DOT."""
    return _graph("dot", root, size)


def graph_html(root: Path, size: int) -> list[str]:
    """The same, as a page."""
    return _graph("html", root, size)


def _diff(root: Path, before: Iterable[Object], after: Iterable[Object]) -> list[str]:
    git(root, "init", "-q", "-b", "main")
    for objects in (before, after):
        write(root / "all.yaml", objects)
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", "objects")
    return ["diff", "-C", str(root), "HEAD~1..HEAD"]


def diff_parent_policy(root: Path, size: int) -> list[str]:
    """A policy comes to a Gateway of many routes."""
    return _diff(root, _routes(size), [*_routes(size), _cors("edge", target("edge", "Gateway"))])


def diff_policies(root: Path, size: int) -> list[str]:
    """Every route gets a policy of its own."""
    return _diff(root, _routes(size), [*_routes(size), *(_cors(name, target(name)) for name in _names("app", size))])


def diff_removed(root: Path, size: int) -> list[str]:
    """Every route and its policy go."""
    before = [*_routes(size), *(_cors(name, target(name)) for name in _names("app", size))]
    return _diff(root, before, _routes(1))


def diff_renamed(root: Path, size: int) -> list[str]:
    """Every route and every policy gets another name."""

    def named(stem: str) -> list[Object]:
        names = _names(stem, size)
        return [*gateway(), service(), *map(route, names), *(_cors(name, target(name)) for name in names)]

    return _diff(root, named("app"), named("site"))


def diff_findings(root: Path, size: int) -> list[str]:
    """Many findings are new, and as many are gone."""

    def dangling(stem: str) -> list[Object]:
        return [_cors(name, target(f"{stem}-{name}")) for name in _names("cors", size)]

    return _diff(root, dangling("old"), dangling("new"))


# Whole trees


def namespaces(root: Path, size: int) -> list[str]:
    """Namespaces with a route, a Service and a policy each."""
    objects = gateway()
    for name in _names("team", size):
        objects.append(made("v1", "Namespace", name, ""))
        objects += [route(name, name), service("app", name)]
        objects.append({**_cors("cors", target(name)), "metadata": {"name": "cors", "namespace": name}})
    return _lint(root, objects)


def environments(root: Path, size: int) -> list[str]:
    """Overlays of one base, each an environment."""
    write(root / "base" / "all.yaml", _routes(1))
    write(root / "base" / "kustomization.yaml", [{"resources": ["all.yaml"]}])
    for name in _names("cluster", size):
        write(root / "overlays" / name / "kustomization.yaml", [{"resources": ["../../base"]}])
    return ["lint", str(root)]


def custom_kinds(root: Path, size: int) -> list[str]:
    """CustomResourceDefinitions of policies, and a policy of each kind."""
    objects = _routes(1)
    for number in range(size):
        names = {"kind": f"Own{number}Policy", "plural": f"own{number}policies"}
        refs = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
        spec = {"type": "object", "properties": {"targetRefs": refs, "limit": {"type": "integer"}}}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        labels = {"gateway.networking.k8s.io/policy": "Direct"}
        whole = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        name = f"own{number}policies.example.com"
        objects.append(made("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "", labels=labels, spec=whole))
        own = {"targetRefs": [target("app-00000")], "limit": 1}
        objects.append(made("example.com/v1", f"Own{number}Policy", "own", spec=own))
    return _lint(root, objects)


def repeated_keys(root: Path, size: int) -> list[str]:
    """One object in which a key is said many times."""
    lines = "".join(f"    app: '{number}'\n" for number in range(size))
    text = f"apiVersion: v1\nkind: Service\nmetadata:\n  name: app\n  labels:\n{lines}spec: {{ports: [{{port: 80}}]}}\n"
    (root / "service.yaml").write_text(text, encoding="utf-8")
    return ["lint", str(root)]


def broken_documents(root: Path, size: int) -> list[str]:
    """Documents that are no YAML, in one file."""
    (root / "all.yaml").write_text("---\nkind: [\n" * size, encoding="utf-8")
    return ["lint", str(root)]


SHAPES = (
    *(label_selectors, label_selectors_all, request_authentication),
    *(target_selectors, target_selectors_all, target_expressions),
    *(policies_on_one_route, policies_on_one_gateway, policies_on_listeners, policies_on_rules, targets_of_one_policy),
    *(overridden_policies, kgateway_one_target, kgateway_delegation, kgateway_delegation_chain),
    *(ngf_policies, kuadrant_policies, backend_tls),
    *(one_path, one_hostname, wildcard_hostnames, hostnames_and_listeners, every_listener, listener_sets),
    *(allowed_namespaces, parents_of_one_route, gateways, certificates, reference_grants, missing_grants),
    *(backends_of_one_rule, rules_of_one_route, matches_of_one_rule, header_matches, ports_of_one_service, same_name),
    *(virtual_services, service_entries, waypoint, policies_by_namespace),
    *(missing_targets, missing_backends, missing_sections, missing_parents, unknown_fields),
    *(findings, suppression_comments, comments_of_one_document, unused_comments),
    *(configured_ignores, configured_patterns, baseline, one_long_line, files),
    *(as_markdown, as_sarif, as_json, as_junit, as_codeclimate, as_github, add_ignore, fix),
    *(explain_gateway, explain_policy, explain_route, trace, traces, simulate, list_policies),
    *(graph_mermaid, graph_dot, graph_html),
    *(diff_parent_policy, diff_policies, diff_removed, diff_renamed, diff_findings),
    *(namespaces, environments, custom_kinds, repeated_keys, broken_documents),
)
