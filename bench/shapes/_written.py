"""What the shapes are written with: objects as dicts, and a Gateway for what needs one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]
GATEWAY_API = "gateway.networking.k8s.io"
HOST = "shop.example.com"


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
