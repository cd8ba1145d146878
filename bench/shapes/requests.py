"""Shapes for what is computed of all requests: authorization by headers, tokens and addresses, guardrails, diffs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from shapes._written import (
    ENVOY,
    ISTIO,
    Object,
    gateway,
    made,
    numbered,
    route,
    service,
    target,
    workloads,
    write,
)
from shapes.commands import of_change

PROVIDER = {"name": "idp", "issuer": "https://id.example.com", "remoteJWKS": {"uri": "https://id.example.com/jwks"}}
PRODUCT = "gateway.networking.k8s.io/gateway-name"


def _authorizing(rules: Iterable[Object], **beside: object) -> list[Object]:
    """Return a Gateway with one route, and a SecurityPolicy with some rules of authorization on it."""
    authorization = {"defaultAction": "Deny", "rules": list(rules)}
    spec = {"targetRefs": [target("app")], "authorization": authorization, **beside}
    return [*gateway(), service(), route("app"), made(ENVOY, "SecurityPolicy", "rules", spec=spec)]


def _allowed(name: str, **principal: object) -> Object:
    return {"name": name, "action": "Allow", "principal": principal}


def authorization_headers(root: Path, size: int) -> list[str]:
    """Let in the requests with any of many values of one header, each by a rule of its own."""
    rules = (_allowed(name, headers=[{"name": "x-team", "values": [name]}]) for name in numbered("team", size))
    write(root / "all.yaml", _authorizing(rules))
    return ["reach", str(root)]


def authorization_header_names(root: Path, size: int) -> list[str]:
    """Let in the requests with any of many headers, each by a rule of its own."""
    rules = (_allowed(name, headers=[{"name": name, "values": ["yes"]}]) for name in numbered("x", size))
    write(root / "all.yaml", _authorizing(rules))
    return ["reach", str(root)]


def authorization_claims(root: Path, size: int) -> list[str]:
    """Let in the tokens with any of many values of one claim, each by a rule of its own."""
    rules = (
        _allowed(name, jwt={"provider": "idp", "claims": [{"name": "team", "values": [name]}]})
        for name in numbered("team", size)
    )
    write(root / "all.yaml", _authorizing(rules, jwt={"providers": [PROVIDER]}))
    return ["reach", str(root)]


def authorization_addresses(root: Path, size: int) -> list[str]:
    """Let in the clients of many networks, each by a rule of its own."""
    rules = (
        _allowed(name, clientCIDRs=[f"10.{number // 256}.{number % 256}.0/24"])
        for number, name in enumerate(numbered("net", size))
    )
    write(root / "all.yaml", _authorizing(rules))
    return ["reach", str(root)]


def authorization_hosts(root: Path, size: int) -> list[str]:
    """Let in the requests for any of many hosts with any of many values of a header: rules times rules times hosts."""
    rules = (_allowed(name, headers=[{"name": "x-team", "values": [name]}]) for name in numbered("team", size))
    spec = {"targetRefs": [target("edge", "Gateway")], "authorization": {"defaultAction": "Deny", "rules": list(rules)}}
    policy = made(ENVOY, "SecurityPolicy", "rules", spec=spec)
    write(root / "all.yaml", [*_hosts(size, login=False), policy])
    return ["reach", str(root)]


def _istio(rules: Iterable[Object]) -> list[Object]:
    spec = {"selector": {"matchLabels": {PRODUCT: "edge"}}, "action": "ALLOW", "rules": list(rules)}
    policy = made(ISTIO, "AuthorizationPolicy", "rules", spec=spec)
    return [*gateway("istio.io/gateway-controller"), service(), route("app"), policy]


def istio_paths(root: Path, size: int) -> list[str]:
    """Let in the requests for any of many paths, each by a rule of one AuthorizationPolicy."""
    rules = ({"to": [{"operation": {"paths": [f"/{name}/*"]}}]} for name in numbered("app", size))
    write(root / "all.yaml", _istio(rules))
    return ["reach", str(root)]


def istio_headers(root: Path, size: int) -> list[str]:
    """Let in the requests with any of many values of one header, each by a rule of one AuthorizationPolicy."""
    rules = ({"when": [{"key": "request.headers[x-team]", "values": [name]}]} for name in numbered("team", size))
    write(root / "all.yaml", _istio(rules))
    return ["reach", str(root)]


def istio_claims(root: Path, size: int) -> list[str]:
    """Let in the tokens with any of many values of one claim, each by a rule of one AuthorizationPolicy."""
    rules = ({"when": [{"key": "request.auth.claims[team]", "values": [name]}]} for name in numbered("team", size))
    token = {
        "selector": {"matchLabels": {PRODUCT: "edge"}},
        "jwtRules": [{"issuer": "https://id.example.com", "jwksUri": "https://id.example.com/jwks"}],
    }
    write(root / "all.yaml", [*_istio(rules), made(ISTIO, "RequestAuthentication", "tokens", spec=token)])
    return ["reach", str(root)]


def istio_principals(root: Path, size: int) -> list[str]:
    """Let in many clients of the mesh, each by a rule of one AuthorizationPolicy, and ask for all ways to a Service."""
    rules = (
        {"from": [{"source": {"principals": [f"cluster.local/ns/shop/sa/{name}"]}}]} for name in numbered("web", size)
    )
    spec = {"selector": {"matchLabels": {"app": "app"}}, "action": "ALLOW", "rules": list(rules)}
    namespace = made("v1", "Namespace", "shop", "", labels={"istio-injection": "enabled"})
    objects = [namespace, service(), *workloads(["app"]), made(ISTIO, "AuthorizationPolicy", "rules", spec=spec)]
    write(root / "all.yaml", objects)
    return ["reach", "--to", "Service/shop/app", str(root)]


def _hosts(size: int, login: bool) -> Iterable[Object]:
    routes = (route(name) for name in numbered("app", size))
    spec = {"targetRefs": [target("edge", "Gateway")], "jwt": {"providers": [PROVIDER]}}
    policy = [made(ENVOY, "SecurityPolicy", "login", spec=spec)] if login else []
    return [*gateway(), service(), *routes, *policy]


def reach_hosts(root: Path, size: int) -> list[str]:
    """Ask for all ways in of many hosts of one Gateway."""
    write(root / "all.yaml", _hosts(size, login=True))
    return ["reach", str(root)]


def diff_hosts(root: Path, size: int) -> list[str]:
    """Take the login of a Gateway of many hosts away."""
    return of_change(root, _hosts(size, login=True), _hosts(size, login=False))


def reach_listeners(root: Path, size: int) -> list[str]:
    """Ask for all ways in of many listeners, each for a host of its own."""
    listeners = [
        {"name": name, "protocol": "HTTP", "port": 80, "hostname": f"{name}.example.com"}
        for name in numbered("app", size)
    ]
    write(
        root / "all.yaml", [*gateway(listeners=listeners), service(), *(route(name) for name in numbered("app", size))]
    )
    return ["reach", str(root)]


def reach_gateways(root: Path, size: int) -> list[str]:
    """Ask for all ways in of many Gateways with a route each."""
    objects = [*gateway(), service()]
    for name in numbered("app", size):
        listeners = [{"name": "http", "protocol": "HTTP", "port": 80}]
        spec = {"gatewayClassName": "edge", "listeners": listeners}
        objects += [
            made("gateway.networking.k8s.io/v1", "Gateway", name, spec=spec),
            route(name, parentRefs=[{"name": name}]),
        ]
    write(root / "all.yaml", objects)
    return ["reach", str(root)]


def _guarded(root: Path, objects: Iterable[Object], *require: Object) -> list[str]:
    """Write a tree with guardrails."""
    (root / "policylint.json").write_text(json.dumps({"require": list(require)}), encoding="utf-8")
    write(root / "tree" / "all.yaml", objects)
    return ["lint", str(root / "tree"), "--config", str(root / "policylint.json")]


def guardrail_pairs(root: Path, size: int) -> list[str]:
    """Demand that none of many workloads gets to any of the namespace: a product of both, up to a bound."""
    rule = {"name": "apart", "never": {"from": "namespace/shop", "to": "namespace/shop"}}
    return _guarded(root, workloads(numbered("app", size)), rule)


def guardrails(root: Path, size: int) -> list[str]:
    """Demand a login of each of many hosts by a guardrail of its own."""
    require = (
        {"name": f"login {name}", "requests": {"host": f"{name}.example.com"}, "ask": "authentication"}
        for name in numbered("app", size)
    )
    return _guarded(root, _hosts(size, login=True), *require)


def own_timeouts(root: Path, size: int) -> list[str]:
    """Set a timeout in every rule of many routes, and another one on their Gateway."""
    rules = [{"timeouts": {"request": "5s"}, "backendRefs": [{"name": "app", "port": 80}]}]
    spec = {"targetRefs": [target("edge", "Gateway")], "timeout": {"http": {"requestTimeout": "1s"}}}
    policy = made(ENVOY, "BackendTrafficPolicy", "slow", spec=spec)
    write(
        root / "all.yaml",
        [*gateway(), service(), *(route(name, rules=rules) for name in numbered("app", size)), policy],
    )
    return ["reach", str(root)]


SHAPES = (
    authorization_headers,
    authorization_header_names,
    authorization_claims,
    authorization_addresses,
    authorization_hosts,
    istio_paths,
    istio_headers,
    istio_claims,
    istio_principals,
    reach_hosts,
    diff_hosts,
    reach_listeners,
    reach_gateways,
    guardrail_pairs,
    guardrails,
    own_timeouts,
)
