"""Shapes of policies: what they select, what they name, and how many there are of one place."""

from __future__ import annotations

from pathlib import Path

from shapes._written import (
    CORS,
    ENVOY,
    GATEWAY_API,
    HOST,
    ISTIO,
    KGATEWAY,
    RETRY,
    Object,
    allowing,
    cors_policy,
    gateway,
    linted,
    made,
    numbered,
    route,
    routes_of,
    rules_for,
    service,
    target,
    workloads,
)


def label_selectors(root: Path, size: int) -> list[str]:
    """Istio policies and workloads; every policy selects one of them by its label."""
    names = numbered("app", size)
    return linted(root, [*workloads(names), *(allowing(name, {"app": name}) for name in names)])


def label_selectors_all(root: Path, size: int) -> list[str]:
    """Istio policies that select every workload of the namespace: each pair is an attachment."""
    names = numbered("app", size)
    return linted(root, [*workloads(names), *(allowing(name, {"mesh": "yes"}) for name in names)])


def request_authentication(root: Path, size: int) -> list[str]:
    """Istio's three kinds of security policy, each of them selecting one workload, behind one of the whole mesh."""
    names = numbered("app", size)
    objects: list[Object] = [*workloads(names), made(ISTIO, "PeerAuthentication", "mesh", "istio-system", spec={})]
    for name in names:
        selector = {"selector": {"matchLabels": {"app": name}}}
        rule = {**selector, "jwtRules": [{"issuer": "https://id.example.com"}]}
        objects.append(made(ISTIO, "RequestAuthentication", name, spec=rule))
        objects.append(made(ISTIO, "PeerAuthentication", name, spec={**selector, "mtls": {"mode": "STRICT"}}))
        objects.append(allowing(name, {"app": name}))
    return linted(root, objects)


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
        for name in numbered("app", size)
    )
    return linted(root, [*routes_of(size), *policies])


def target_selectors_all(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies that select every route: each pair is an attachment, and all but one are in conflict."""
    selected = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"team": "shop"}}
    routes = [*gateway(), service(), *(route(name, labels={"team": "shop"}) for name in numbered("app", size))]
    spec = {"targetSelectors": [selected], **CORS}
    return linted(root, [*routes, *(made(ENVOY, "SecurityPolicy", name, spec=spec) for name in numbered("cors", size))])


def target_expressions(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies that select every route by the presence of a label."""
    selected = {
        "group": GATEWAY_API,
        "kind": "HTTPRoute",
        "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["none"]}],
    }
    spec = {"targetSelectors": [selected], **RETRY}
    policies = (made(ENVOY, "BackendTrafficPolicy", name, spec=spec) for name in numbered("retry", size))
    return linted(root, [*routes_of(size), *policies])


def policies_on_one_route(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies of one kind on one route: all but one are in conflict."""
    return linted(root, [*routes_of(1), *(cors_policy(name, target("app-00000")) for name in numbered("cors", size))])


def policies_on_one_gateway(root: Path, size: int) -> list[str]:
    """Envoy Gateway policies of one kind on one Gateway that has as many routes."""
    policies = (cors_policy(name, target("edge", "Gateway")) for name in numbered("cors", size))
    return linted(root, [*routes_of(size), *policies])


def policies_on_listeners(root: Path, size: int) -> list[str]:
    """A Gateway of many listeners, a policy on each, and a route to each."""
    names = numbered("site", size)
    listeners = [{"name": name, "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"} for name in names]
    policies = (cors_policy(name, target("edge", "Gateway", sectionName=name)) for name in names)
    return linted(root, [*gateway(listeners=listeners), service(), *policies, *map(route, names)])


def policies_on_rules(root: Path, size: int) -> list[str]:
    """One route of many rules, and a policy on each of them."""
    names = numbered("rule", size)
    rules = [
        {
            "name": name,
            "matches": [{"path": {"type": "PathPrefix", "value": f"/{name}"}}],
            "backendRefs": [{"name": "app", "port": 80}],
        }
        for name in names
    ]
    policies = (cors_policy(name, target("app", sectionName=name)) for name in names)
    return linted(root, [*gateway(), service(), route("app", rules=rules), *policies])


def targets_of_one_policy(root: Path, size: int) -> list[str]:
    """One policy that names every route, twice."""
    names = numbered("app", size)
    return linted(root, [*routes_of(size), cors_policy("cors", *map(target, names), *map(target, names))])


def overridden_policies(root: Path, size: int) -> list[str]:
    """A policy of the Gateway, which the policy of every route takes the place of."""
    jwt = {"jwt": {"providers": [{"name": "id", "remoteJWKS": {"uri": "https://id.example.com/keys"}}]}}
    login = made(ENVOY, "SecurityPolicy", "login", spec={"targetRefs": [target("edge", "Gateway")], **jwt})
    return linted(root, [*routes_of(size), login, *(cors_policy(name, target(name)) for name in numbered("app", size))])


def kgateway_one_target(root: Path, size: int) -> list[str]:
    """Kgateway's TrafficPolicies on one route: the fields of each are merged with those of all before it."""
    policies = (
        made(KGATEWAY, "TrafficPolicy", name, spec={"targetRefs": [target("app")], **RETRY})
        for name in numbered("retry", size)
    )
    return linted(root, [*gateway("kgateway.dev/kgateway"), service(), route("app"), *policies])


def policies_without_backends(root: Path, size: int) -> list[str]:
    """A route without backends for each policy, which may answer in their place."""
    names = numbered("app", size)
    policies = (made(KGATEWAY, "TrafficPolicy", name, spec={"targetRefs": [target(name)], **RETRY}) for name in names)
    routes = (route(name, rules=[{"matches": [{"path": {"value": f"/{name}"}}]}]) for name in names)
    return linted(root, [*gateway("kgateway.dev/kgateway"), *routes, *policies])


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
    for name in numbered("child", size):
        child = route(name, labels=labels)
        child["spec"] = {"rules": [{**child["spec"]["rules"][0], "matches": [{"path": {"value": f"/{name}"}}]}]}
        children.append(child)
    return linted(root, [*gateway("kgateway.dev/kgateway"), service(), route("parent", rules=rules), *children])


def kgateway_delegation_chain(root: Path, size: int) -> list[str]:
    """Routes that delegate to the next one each, and a policy on every one."""
    names = numbered("link", size)
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
    return linted(root, objects)


def ngf_policies(root: Path, size: int) -> list[str]:
    """NGINX Gateway Fabric's policies on routes that share a hostname."""
    names = numbered("app", size)
    controller = "gateway.nginx.org/nginx-gateway-controller"
    routes = (route(name, hostnames=[HOST], rules=rules_for(f"/{name}")) for name in names)
    policies = (
        made(
            "gateway.nginx.org/v1alpha1",
            "ClientSettingsPolicy",
            name,
            spec={"targetRef": target(name), "body": {"maxSize": "1m"}},
        )
        for name in names
    )
    return linted(root, [*gateway(controller), service(), *routes, *policies])


def kuadrant_policies(root: Path, size: int) -> list[str]:
    """Kuadrant's AuthPolicies: one of the Gateway, and one of every route."""
    spec: Object = {"rules": {"authentication": {"key": {"apiKey": {"selector": {}}}}}}
    names = numbered("app", size)
    policies = (made("kuadrant.io/v1", "AuthPolicy", name, spec={"targetRef": target(name), **spec}) for name in names)
    own = made("kuadrant.io/v1", "AuthPolicy", "edge", spec={"targetRef": target("edge", "Gateway"), "defaults": spec})
    return linted(root, [*routes_of(size), own, *policies])


def backend_tls(root: Path, size: int) -> list[str]:
    """A Service with a BackendTLSPolicy behind every route."""
    names = numbered("app", size)
    spec = {"validation": {"hostname": HOST, "wellKnownCACertificates": "System"}}
    objects = [*gateway()]
    for name in names:
        objects.append(route(name, rules=[{"backendRefs": [{"name": name, "port": 80}]}]))
        objects.append(service(name))
        refs = [{"group": "", "kind": "Service", "name": name}]
        objects.append(made(f"{GATEWAY_API}/v1", "BackendTLSPolicy", name, spec={"targetRefs": refs, **spec}))
    return linted(root, objects)


def mixed_policies(root: Path, size: int) -> list[str]:
    """The policies of eight implementations, with their routes and mistakes (bench/policies.py); 25 documents each."""
    from policies import write_policies

    return ["lint", str(write_policies(root, 25 * size))]


SHAPES = (
    label_selectors,
    label_selectors_all,
    request_authentication,
    target_selectors,
    target_selectors_all,
    target_expressions,
    policies_on_one_route,
    policies_on_one_gateway,
    policies_on_listeners,
    policies_on_rules,
    targets_of_one_policy,
    overridden_policies,
    kgateway_one_target,
    policies_without_backends,
    kgateway_delegation,
    kgateway_delegation_chain,
    ngf_policies,
    kuadrant_policies,
    backend_tls,
    mixed_policies,
)
