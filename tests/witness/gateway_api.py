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
_UNREAD = ("UDPRoute", "ServiceImport", "EndpointSlice")
_STATUSES = ("Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "BackendTLSPolicy")
_SERVICES = ("checkout", "cart", "none")


class Dialect(NamedTuple):
    """An implementation.

    Args:
        policies: makes an own policy of a name.
        module: the Go module whose release is asked.
        switches: the environment of the program.
    """

    title: str
    of_class: str
    controller: str
    policies: Callable[[Draw, str], Manifest]
    kinds: tuple[str, ...]
    module: str
    switches: Mapping[str, str]


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


DIALECTS = {
    "istio": Dialect(
        "Istio",
        "istio",
        "istio.io/gateway-controller",
        _traffic,
        ("XBackendTrafficPolicy",),
        "istio.io/istio",
        {"PILOT_ENABLE_ALPHA_GATEWAY_API": "true", "PILOT_ENABLE_AMBIENT": "true"},
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
        if "envoyproxy" in each["apiVersion"] or each["kind"] in _UNREAD:
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
    return _facts(sorted(told, key=lambda each: (each["kind"], each["namespace"], each["name"])))


def our_facts(dialect: Dialect, objects: Sequence[Manifest], refused: Collection[str]) -> Facts:
    """Return what policylint says of the objects that the API server does not refuse."""
    stored = [each for each in objects if name_of(each) not in refused]
    told = [
        {"kind": each["kind"], "namespace": "", **each["metadata"], "status": each["status"]}
        for each in stanzas(simulated(stored))
        if each["metadata"]["name"] != "filler" and each["kind"] in (*_STATUSES, *dialect.kinds)
    ]
    return {fact: value for fact, value in _facts(told).items() if value != _NEW}


def _facts(told: list[dict[str, Any]]) -> Facts:
    """Return the facts; Istio names no namespace of a Gateway above a policy, so that none is compared there."""
    for each in told:
        for entry in each["status"].get("ancestors") or ():
            if entry["ancestorRef"].get("kind") == "Gateway":
                entry["ancestorRef"].pop("namespace", None)
    return of_statuses(told, _UNSAID)


def head(name: str) -> dict[str, Any]:
    """Return the first line of a record."""
    dialect = DIALECTS[name]
    written = (Path(__file__).parent / name / "go.mod").read_text()
    (version,) = re.findall(rf"^(?:require)?\s*{re.escape(dialect.module)} (v\S+)$", written, re.MULTILINE)
    return {"title": dialect.title, "about": ABOUT, "versions": {name: version}}
