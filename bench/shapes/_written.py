"""What the shapes are written with: objects as dicts, and a Gateway for what needs one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]
GATEWAY_API = "gateway.networking.k8s.io"
HOST = "shop.example.com"
ENVOY = "gateway.envoyproxy.io/v1alpha1"
KGATEWAY = "gateway.kgateway.dev/v1alpha1"
ISTIO = "security.istio.io/v1"
NETWORKING = "networking.istio.io/v1"
CORS = {"cors": {"allowOrigins": ["https://shop.example.com"]}}
RETRY = {"retry": {"numRetries": 2}}


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as PyYAML calls it
        return True


def write(file: Path, objects: Iterable[Object]) -> None:
    """Write the objects into one file, a document each, as kubectl would print them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        yaml.dump_all(objects, stream, Dumper=_Dumper, sort_keys=False, width=1_000)


def made(
    api: str, kind: str, name: str, namespace: str = "shop", /, labels: Object | None = None, **rest: Any
) -> Object:
    """Return an object; what else is given stands beside its metadata. Without a namespace it is cluster-scoped."""
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def gateway(
    controller: str = "gateway.envoyproxy.io/gatewayclass-controller",
    listeners: Iterable[Object] = ({"name": "http", "protocol": "HTTP", "port": 80},),
) -> list[Object]:
    """Return the namespace shop, a GatewayClass of the controller and its Gateway `edge` there, open to all."""
    allowed = {"allowedRoutes": {"namespaces": {"from": "All"}}}
    opened = [{**listener, **({} if "allowedRoutes" in listener else allowed)} for listener in listeners]
    return [
        made("v1", "Namespace", "shop", ""),
        made(f"{GATEWAY_API}/v1", "GatewayClass", "edge", "", spec={"controllerName": controller}),
        made(f"{GATEWAY_API}/v1", "Gateway", "edge", spec={"gatewayClassName": "edge", "listeners": opened}),
    ]


def route(name: str, namespace: str = "shop", /, labels: Object | None = None, **spec: Any) -> Object:
    """Return an HTTPRoute of the Gateway `edge`, with one hostname and one rule to the Service `app`, or as given."""
    default = {
        "parentRefs": [{"name": "edge", "namespace": "shop"}],
        "hostnames": [f"{name}.example.com"],
        "rules": [{"backendRefs": [{"name": "app", "port": 80}]}],
    }
    return made(f"{GATEWAY_API}/v1", "HTTPRoute", name, namespace, labels=labels, spec={**default, **spec})


def service(name: str = "app", namespace: str = "shop", /, labels: Object | None = None) -> Object:
    """Return a Service with the port 80."""
    return made(
        "v1", "Service", name, namespace, labels=labels, spec={"selector": {"app": name}, "ports": [{"port": 80}]}
    )


def target(name: str, kind: str = "HTTPRoute", /, **rest: Any) -> Object:
    """Return a reference to an object of Gateway API, as policies name their targets."""
    return {"group": GATEWAY_API, "kind": kind, "name": name, **rest}


def linted(root: Path, objects: Iterable[Object]) -> list[str]:
    """Write the objects into one file, and return the arguments of its lint."""
    write(root / "all.yaml", objects)
    return ["lint", str(root)]


def numbered(stem: str, size: int) -> list[str]:
    """Return as many names, of equal length."""
    return [f"{stem}-{number:05}" for number in range(size)]


def routes_of(size: int) -> list[Object]:
    """Return as many routes with a label and a hostname of their own, and what they need."""
    return [*gateway(), service(), *(route(name, labels={"app": name}) for name in numbered("app", size))]


def workloads(names: Iterable[str]) -> Iterable[Object]:
    """Yield Deployments with a label of their own and one that all have."""
    for name in names:
        labels = {"app": name, "mesh": "yes"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        yield made("apps/v1", "Deployment", name, labels=labels, spec=spec)


def allowing(name: str, labels: Object) -> Object:
    """Return an AuthorizationPolicy for the workloads with some labels."""
    rules = [{"from": [{"source": {"namespaces": ["shop"]}}]}]
    spec = {"selector": {"matchLabels": labels}, "action": "ALLOW", "rules": rules}
    return made(ISTIO, "AuthorizationPolicy", name, spec=spec)


def cors_policy(name: str, *targets: Object) -> Object:
    """Return a SecurityPolicy of Envoy Gateway on some targets."""
    return made(ENVOY, "SecurityPolicy", name, spec={"targetRefs": list(targets), **CORS})


def rules_for(path: str) -> list[Object]:
    """Return one rule for a path prefix."""
    return [
        {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": [{"name": "app", "port": 80}]}
    ]
