"""A configuration of Envoy that its control plane sends in parts, as one static file on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TYPE = "type.googleapis.com/envoy."
_LISTENER = f"{_TYPE}config.listener.v3.Listener"
_ROUTES = f"{_TYPE}config.route.v3.RouteConfiguration"
_CLUSTER = f"{_TYPE}config.cluster.v3.Cluster"
_ENDPOINTS = f"{_TYPE}config.endpoint.v3.ClusterLoadAssignment"
_SECRET = f"{_TYPE}extensions.transport_sockets.tls.v3.Secret"
_NOT_ON_LOOPBACK = (
    "edsClusterConfig", "typedExtensionProtocolOptions", "dnsLookupFamily", "dnsRefreshRate", "respectDnsTtl",
    "transportSocket", "transportSocketMatches", "upstreamBindConfig",
)  # fmt: skip
"""Fields of clusters."""
_MANAGER = "HttpConnectionManager"
Place = Callable[[str, int], tuple[str, int]]


def static(
    resources: Mapping[str, list[Any]], log: str, place: Place, free: Callable[[], int], left_out: frozenset[int]
) -> Any:
    """Return the bootstrap of an Envoy, and the loopback port of each port that it listens on.

    Args:
        resources: by type URL, as Envoy Gateway's translator gives them.
        log: the file for one line per request: what it bears as `x-witness`, and why it was answered as it was.
        place: the loopback address of an endpoint by its address and port.
        free: a loopback port that nobody has yet.
        left_out: the ports of listeners that Envoy does not take.
    """
    routes = {each["name"]: each for each in resources.get(_ROUTES, ())}
    endpoints = {each["clusterName"]: each for each in resources.get(_ENDPOINTS, ())}
    ports: dict[tuple[str, int], int] = {}
    listeners = []
    for listener in resources.get(_LISTENER, ()):
        socket = listener["address"]["socketAddress"]
        protocol = socket.get("protocol", "TCP")
        if protocol != "TCP" or int(socket["portValue"]) in left_out:
            continue
        key = (protocol, int(socket["portValue"]))
        ports[key] = free()
        listener["address"] = {"socketAddress": {"address": "127.0.0.1", "portValue": ports[key]}}
        for field in ("accessLog", "additionalAddresses"):
            listener.pop(field, None)
        for manager in _of_type(listener, _MANAGER):
            if "rds" in manager:
                name = manager.pop("rds")["routeConfigName"]
                manager["routeConfig"] = {**routes.get(name, {"name": name}), "validateClusters": False}
            manager["accessLog"] = [_log(log)]
            manager.pop("tracing", None)
        _without_discovery(listener)
        listeners.append(listener)
    clusters = []
    for cluster in resources.get(_CLUSTER, ()):
        for field in _NOT_ON_LOOPBACK:
            cluster.pop(field, None)
        loaded = endpoints.get(cluster["name"]) or cluster.get("loadAssignment") or {"clusterName": cluster["name"]}
        kind = str(cluster.pop("clusterType", {}).get("name", ""))
        if "dynamic_forward_proxy" in kind:
            continue
        cluster["type"] = "STATIC"
        cluster["loadAssignment"] = loaded
        for socket in values_of(loaded, "socketAddress"):
            socket["address"], socket["portValue"] = place(socket["address"], int(socket["portValue"]))
        clusters.append(cluster)
    secrets = list({each["name"]: each for each in resources.get(_SECRET, ())}.values())
    return {
        "node": {"id": "witness", "cluster": "witness"},
        "admin": {
            "address": {"socketAddress": {"address": "127.0.0.1", "portValue": 0}},
            "ignoreGlobalConnLimit": True,
        },
        "staticResources": {"listeners": listeners, "clusters": clusters, "secrets": secrets},
        "layeredRuntime": {
            "layers": [{"name": "static", "staticLayer": {"overload.global_downstream_max_connections": 9000}}]
        },
    }, ports


def _log(file: str) -> dict[str, Any]:
    fields = {"id": "%REQ(X-WITNESS)%", "details": "%RESPONSE_CODE_DETAILS%", "route": "%ROUTE_NAME%"}
    return {
        "name": "envoy.access_loggers.file",
        "typedConfig": {
            "@type": f"{_TYPE}extensions.access_loggers.file.v3.FileAccessLog",
            "path": file,
            "logFormat": {"jsonFormat": fields},
        },
    }


def _of_type(value: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the messages of a type, wherever they stand."""
    if isinstance(value, dict):
        if str(value.get("@type", "")).endswith(f".{name}"):
            yield value
        for inner in value.values():
            yield from _of_type(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_type(inner, name)


def values_of(value: Any, field: str) -> Iterator[Any]:
    """Yield the values of a field, wherever it stands."""
    if isinstance(value, dict):
        if field in value:
            yield value[field]
        for inner in value.values():
            yield from values_of(inner, field)
    elif isinstance(value, list):
        for inner in value:
            yield from values_of(inner, field)


def _without_discovery(value: Any) -> None:
    """Have every secret taken from the file: without a source it is a static one."""
    if isinstance(value, dict):
        value.pop("sdsConfig", None)
        for inner in value.values():
            _without_discovery(inner)
    elif isinstance(value, list):
        for inner in value:
            _without_discovery(inner)
