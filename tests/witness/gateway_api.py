"""Istio and kgateway as witnesses: what their controllers write of Gateway API objects, and what policylint says.

The worlds are those of Envoy Gateway's grammar without what is Envoy Gateway's own, of another class, and with policies
of the asked implementation.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from policylint.report.simulate.status import stanzas
from tests.witness import envoy_gateway_wider
from tests.witness.api_server import parted
from tests.witness.envoy_gateway import CLASS, simulated, with_material
from tests.witness.envoy_gateway_worlds import CERTIFICATE, GATEWAY_API, PRIVATE_KEY
from tests.witness.facts import Facts, of_statuses
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import Program

_UNSAID = (
    "kgateway.dev/Programmed",
    "Programmed",
    "OverlappingTLSConfig",
    "ResolvedWaypoints",
    "AttachedListenerSets",
)
"""Conditions that hang on proxies that run, or on the names in certificates, or that one controller alone has."""
_NEW = "Unknown/Pending"
"""What the API server writes into a new Gateway, and no controller."""
_UNREAD = ("ServiceImport", "EndpointSlice")
_STATUSES = ("Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", "BackendTLSPolicy")
_OF_MIRRORS = "_ngf-internal-mirror-"
"""The beginning of the names of routes that a controller makes for itself, for mirrors."""
_REFUSALS = ("NoMatchingParent", "NotAllowedByListeners", "NoMatchingListenerHostname")
_SERVICES = ("checkout", "cart", "none")


class Dialect(NamedTuple):
    """An implementation.

    Args:
        policies: makes an own policy of a name.
        module: the Go module whose release is asked.
        switches: the environment of the program.
        unread: kinds beside those that no controller reads.
        by_object: whether it names a listener in the status of a route that names none, and leaves out ports.
        any_refusal: whether which of several listeners says why it refuses a route hangs on the order of a map.
    """

    title: str
    of_class: str
    controller: str
    policies: Callable[[Draw, str], Manifest]
    kinds: tuple[str, ...]
    module: str
    switches: Mapping[str, str]
    unread: tuple[str, ...] = ("UDPRoute",)
    by_object: bool = False
    any_refusal: bool = False


def _service(draw: Draw) -> Manifest:
    return {"group": "", "kind": "Service", "name": draw.of(_SERVICES)}


def _traffic(draw: Draw, name: str) -> Manifest:
    spec: dict[str, Any] = {"targetRefs": [_service(draw)]}
    spec |= draw.maybe(0.7, "retryConstraint", {"budget": {"percent": draw.number(1, 90)}})
    spec |= draw.maybe(0.4, "sessionPersistence", {"sessionName": "a", "type": "Cookie"})
    group = "gateway.networking.x-k8s.io/v1alpha1"
    return manifest(group, "XBackendTrafficPolicy", name, draw.one("shop", "pay"), draw.age(), spec=spec)


def _of_kgateway(draw: Draw, name: str) -> Manifest:
    kind = draw.one("TrafficPolicy", "TrafficPolicy", "ListenerPolicy", "BackendConfigPolicy")
    namespace = draw.one("infra", "shop", "pay")
    spec: dict[str, Any] = {}
    if kind == "TrafficPolicy":
        target = {
            "kind": draw.one("Gateway", "HTTPRoute", "HTTPRoute"),
            "name": draw.one("edge", "inner", "alpha", "beta"),
        }
        spec |= draw.maybe(0.6, "timeouts", {"request": f"{draw.number(1, 9)}s"})
        spec |= draw.maybe(0.5, "retry", {"attempts": draw.number(1, 5)})
        spec |= draw.maybe(0.3, "buffer", {"maxRequestSize": "64Ki"})
    elif kind == "ListenerPolicy":
        target = {"kind": "Gateway", "name": draw.one("edge", "inner", "third")}
        target |= draw.maybe(0.3, "sectionName", draw.one("web", "alt"))
        spec["default"] = {"perConnectionBufferLimitBytes": draw.number(1, 9) * 1024}
        spec["default"] |= draw.maybe(0.5, "tcpKeepalive", {"keepAliveProbes": draw.number(1, 5)})
    else:
        target = _service(draw)
        spec |= draw.maybe(0.7, "connectTimeout", f"{draw.number(1, 9)}s")
        spec |= draw.maybe(0.5, "perConnectionBufferLimitBytes", 1024 * draw.number(1, 9))
    spec["targetRefs"] = [{"group": GATEWAY_API, **target}]
    return manifest("gateway.kgateway.dev/v1alpha1", kind, name, namespace, draw.age(), spec=spec)


def _of_agentgateway(draw: Draw, name: str) -> Manifest:
    spec: dict[str, Any] = {}
    block = draw.one("traffic", "traffic", "frontend", "backend")
    if block == "traffic":
        target = {"kind": draw.one("Gateway", "HTTPRoute", "HTTPRoute", "GRPCRoute", "ListenerSet")}
        target["name"] = draw.one("edge", "inner", "alpha", "beta", "gamma")
        target |= draw.maybe(0.2, "sectionName", draw.one("web", "alt", "none"))
        traffic: dict[str, Any] = draw.maybe(0.6, "timeouts", {"request": f"{draw.number(1, 9)}s"})
        traffic |= draw.maybe(0.4, "retry", {"attempts": draw.number(1, 5)})
        traffic |= draw.maybe(0.3, "directResponse", {"status": 403})
        traffic |= draw.maybe(0.15, "phase", "PreRouting")
        spec["traffic"] = traffic
    elif block == "frontend":
        target = {"kind": "Gateway", "name": draw.one("edge", "inner", "third", "none")}
        target |= draw.maybe(0.2, "sectionName", draw.one("web", "alt"))
        spec["frontend"] = {"http": {"http1MaxHeaders": draw.number(1, 99)}} if draw.often(0.6) else {"accessLog": {}}
    else:
        target = draw.one(_service(draw), {"kind": "HTTPRoute", "name": draw.one("alpha", "beta")})
        target |= draw.maybe(0.2, "sectionName", draw.one("80", "8080"))
        spec["backend"] = draw.maybe(0.6, "tcp", {"connectTimeout": f"{draw.number(1, 9)}s"})
        spec["backend"] |= draw.maybe(0.4, "http", {"version": draw.one("HTTP1", "HTTP2")})
    several = [target, *({**target, "name": other} for other in draw.some(("delta", "omega"), 1, 0))]
    spec["targetRefs"] = [{"group": GATEWAY_API, **each} for each in several]
    namespace = draw.one("infra", "shop", "pay")
    return manifest("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", name, namespace, draw.age(), spec=spec)


def _of_nginx(draw: Draw, name: str) -> Manifest:
    kinds = ("ClientSettingsPolicy", "ProxySettingsPolicy", "RateLimitPolicy", "ObservabilityPolicy", "SnippetsPolicy")
    kind = draw.of((*kinds, *kinds[:3], "UpstreamSettingsPolicy", "UpstreamSettingsPolicy"))
    route = {"kind": draw.one("HTTPRoute", "HTTPRoute", "GRPCRoute"), "name": draw.one("alpha", "beta", "gamma")}
    gateway = {"kind": "Gateway", "name": draw.one("edge", "inner", "third")}
    target = {"group": GATEWAY_API, **(draw.one(route, gateway) if draw.often(0.95) else {**route, "kind": "TLSRoute"})}
    several = [target, *({**target, "name": other} for other in draw.some(("delta", "omega"), 1, 0))]
    spec: dict[str, Any]
    match kind:
        case "ClientSettingsPolicy":
            spec = {"targetRef": target, **draw.maybe(0.6, "body", {"maxSize": f"{draw.number(1, 9)}m"})}
            spec |= draw.maybe(0.5, "keepAlive", {"requests": draw.number(1, 9)})
            spec |= draw.maybe(0.2, "keepAlive", {"timeout": {"header": "5s", **draw.maybe(0.7, "server", "9s")}})
        case "ProxySettingsPolicy":
            spec = {"targetRefs": several, **draw.maybe(0.6, "timeout", {"read": f"{draw.number(1, 9)}s"})}
            buffers = {
                "buffers": {"size": "8k", "number": draw.number(2, 9)},
                "bufferSize": draw.one("4k", "8k", "64k"),
            }
            spec |= draw.maybe(0.6, "buffering", draw.one(buffers, {"disable": True}, {"busyBuffersSize": "16k"}))
        case "RateLimitPolicy":
            rule = {"rate": draw.one("5r/s", "30r/m"), "key": "$binary_remote_addr", **draw.maybe(0.4, "burst", 3)}
            limit = {"local": {"rules": [rule]}, **draw.maybe(0.3, "rejectCode", draw.one(429, 503))}
            spec = {"targetRefs": several, "rateLimit": limit}
        case "ObservabilityPolicy":
            spec = {"targetRefs": several, "tracing": {"strategy": draw.one("ratio", "parent")}}
        case "SnippetsPolicy":
            snippet = {"context": draw.one("main", "http", "http.server"), "value": "aio on;"}
            spec = {"targetRefs": [gateway | {"group": GATEWAY_API}], "snippets": [snippet]}
        case _:
            service = _service(draw)
            service["name"] = draw.one("web", "api", "none")
            spec = {"targetRefs": [service], **draw.maybe(0.6, "zoneSize", "1m")}
            spec |= draw.maybe(0.4, "keepAlive", {"connections": draw.number(1, 9)})
            spec |= draw.maybe(0.3, "loadBalancingMethod", draw.one("ip_hash", "hash", "least_conn"))
    version = "v1alpha2" if kind == "ObservabilityPolicy" else "v1alpha1"
    namespace = draw.one("infra", "shop", "pay")
    return manifest(f"gateway.nginx.org/{version}", kind, name, namespace, draw.age(), spec=spec)


DIALECTS = {
    "nginx-gateway-fabric": Dialect(
        "NGINX Gateway Fabric",
        "nginx",
        "gateway.nginx.org/nginx-gateway-controller",
        _of_nginx,
        (
            "ClientSettingsPolicy",
            "ProxySettingsPolicy",
            "RateLimitPolicy",
            "ObservabilityPolicy",
            "SnippetsPolicy",
            "UpstreamSettingsPolicy",
        ),
        "github.com/nginx/nginx-gateway-fabric/v2",
        {},
        (),
        by_object=True,
    ),
    "istio": Dialect(
        "Istio",
        "istio",
        "istio.io/gateway-controller",
        _traffic,
        ("XBackendTrafficPolicy",),
        "istio.io/istio",
        {"PILOT_ENABLE_ALPHA_GATEWAY_API": "true", "PILOT_ENABLE_AMBIENT": "true"},
    ),
    "agentgateway": Dialect(
        "agentgateway",
        "agentgateway",
        "agentgateway.dev/agentgateway",
        _of_agentgateway,
        ("AgentgatewayPolicy",),
        "github.com/agentgateway/agentgateway",
        {"TARGET_OUT": "/", "LOCAL_OUT": "/"},  # else its library warns of them where answers are written
        any_refusal=True,
    ),
    "kgateway": Dialect(
        "kgateway",
        "kgateway",
        "kgateway.dev/kgateway",
        _of_kgateway,
        ("TrafficPolicy", "ListenerPolicy", "BackendConfigPolicy", "DirectResponse"),
        "github.com/kgateway-dev/kgateway/v2",
        {},
    ),
}
ABOUT = (
    "Its own controller with a client that keeps the objects in memory: the conditions, counts and kinds in the status"
    " of every Gateway, ListenerSet, route and policy."
)


def world(name: str, seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world of an implementation."""
    dialect, draw = DIALECTS[name], Draw(name, seed, number)
    objects = []
    for each in envoy_gateway_wider.world(f"{name}/{seed}", number):
        if "envoyproxy" in each["apiVersion"] or each["kind"] in (*_UNREAD, *dialect.unread):
            continue
        spec = each.get("spec", {})
        if each["kind"] == "GatewayClass":
            each["metadata"]["name"], each["spec"] = dialect.of_class, {"controllerName": dialect.controller}
        elif spec.get("gatewayClassName") == CLASS:
            spec["gatewayClassName"] = dialect.of_class
        objects.append(each)
    return objects + [dialect.policies(draw, policy) for policy in draw.some(("p1", "p2", "p3", "p4"), 4, 0)]


class Controller(Program):
    """The running controller of a dialect, with a real certificate."""

    def __init__(self, dialect: Dialect, program: Path, certificate: str, key: str) -> None:
        super().__init__(program, switches=dialect.switches, quiet=True)
        self._dialect = dialect
        self._material = ((CERTIFICATE, certificate), (PRIVATE_KEY, key))

    def facts(self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]]) -> tuple[Facts, tuple[str, ...]]:
        """Return what the controller says of a world, and the objects that the API server refuses.

        Args:
            fates: of the objects by the API server.
        """
        stored, refused = parted(objects, fates)
        return _real_facts(self._dialect, self.answer([self._encoded(each) for each in stored])), refused

    def _encoded(self, body: Manifest) -> Manifest:
        """Return an object with real certificates, a Secret as it is stored."""
        made = dict(with_material(body, self._material))
        written = made.pop("stringData", {})
        if written:
            made["data"] = {name: b64encode(value.encode()).decode() for name, value in written.items()}
        return made


def _real_facts(dialect: Dialect, answer: Mapping[str, Any]) -> Facts:
    """Return what the controller says."""
    if answer.get("error"):
        return {"| failed": str(answer["error"])}
    told = [each for each in answer["statuses"] if each["kind"] in (*_STATUSES, *dialect.kinds)]
    told = [each for each in told if not each["name"].startswith(_OF_MIRRORS)]
    return _facts(dialect, sorted(told, key=lambda each: (each["kind"], each["namespace"], each["name"])))


def our_facts(dialect: Dialect, objects: Sequence[Manifest], refused: Collection[str]) -> Facts:
    """Return what policylint says of the objects that the API server does not refuse."""
    stored = [each for each in objects if name_of(each) not in refused]
    told = [
        {"kind": each["kind"], "namespace": "", **each["metadata"], "status": each["status"]}
        for each in stanzas(simulated(stored))
        if each["metadata"]["name"] != "filler" and each["kind"] in (*_STATUSES, *dialect.kinds)
    ]
    return {fact: value for fact, value in _facts(dialect, told).items() if value != _NEW}


def _facts(dialect: Dialect, told: list[dict[str, Any]]) -> Facts:
    """Return the facts; Istio names no namespace of a Gateway above a policy, so that none is compared there."""
    for each in told:
        if dialect.by_object and each["status"].get("parents"):
            each["status"] = {"parents": _by_object(each)}
        for entry in each["status"].get("parents") or () if dialect.any_refusal else ():
            for condition in entry["conditions"]:
                if condition["type"] == "Accepted" and condition["reason"] in _REFUSALS:
                    condition["reason"] = "Refused"
        for entry in each["status"].get("ancestors") or ():
            if entry["ancestorRef"]["name"] == "StatusSummary":  # of what a policy attaches to nowhere
                entry["ancestorRef"] = {"kind": "Gateway", "name": "StatusSummary"}
            if entry["ancestorRef"].get("kind") == "Gateway":
                entry["ancestorRef"].pop("namespace", None)
    return of_statuses(told, _UNSAID)


def _by_object(route: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a route's status, one an object: of several on one, the reasons of all."""
    merged: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
    for entry in route["status"]["parents"]:
        parent = entry["parentRef"]
        place = (parent.get("kind", "Gateway"), parent.get("namespace") or route["namespace"], parent["name"])
        held = merged.setdefault(place, {})
        for condition in entry["conditions"]:
            told = held.setdefault(condition["type"], {"type": condition["type"], "status": "", "reason": ""})
            for field in ("status", "reason"):
                told[field] = " ".join(sorted({*told[field].split(), condition[field]}))
    return [
        {"parentRef": {"kind": kind, "namespace": namespace, "name": name}, "conditions": list(held.values())}
        for (kind, namespace, name), held in sorted(merged.items())
    ]


def head(name: str) -> dict[str, Any]:
    """Return the first line of a record."""
    dialect = DIALECTS[name]
    written = (Path(__file__).parent / name.replace("-", "_") / "go.mod").read_text()
    (version,) = re.findall(rf"^(?:require)?\s*{re.escape(dialect.module)} (v\S+)$", written, re.MULTILINE)
    return {"title": dialect.title, "about": ABOUT, "versions": {name: version}}
