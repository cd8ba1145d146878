"""The challenges over HTTP that cert-manager answers for its issuers: for which hosts, by which route.

Source: cert-manager v1.21, pkg/controller/certificate-shim/sync.go (what is made for Gateways and ListenerSets),
pkg/controller/acmeorders/util.go (applyGatewayAPIAnnotationParentRefOverride), pkg/util/solverpicker, and
pkg/issuer/acme/http/httproute.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.checks.needs import IN_PLACE
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple
from policylint.topology.gateways import LISTENER_SETS

CERTIFICATES = "cert-manager.io"
CHALLENGE = "/.well-known/acme-challenge/"
SOLVER = {"acme.cert-manager.io/http01-solver": "true"}
"""The label of the pods that cert-manager starts for challenges; its other labels are hashes."""
PORT = 8089
NAMED_BY = (("cert-manager.io/cluster-issuer", "ClusterIssuer"), ("cert-manager.io/issuer", "Issuer"))
MOST_HOSTS = 16
_GATEWAY_API = "gateway.networking.k8s.io"
_PARENT = "acme.cert-manager.io/http01-parentref"
"""How the annotations begin that name one more parent of the route, on a Certificate or what it is made for."""
_SHOWING = ("HTTPS", "TLS")
_CLASS = "kubernetes.io/ingress.class"
_LATE = "9999-12-31T23:59:59Z"
"""When what is made for a challenge is created: after all that needs the certificate."""


class Challenge(NamedTuple):
    """A host whose certificate is proved over HTTP, with the namespace of the Certificate.

    Args:
        parents: of the route by which it is answered; () where it is answered otherwise.
        solver: `http01.ingress` of the issuer, where it is answered by an Ingress of its own.
        made_for: the Gateway or ListenerSet whose annotations have the Certificate made.
    """

    host: str
    namespace: str
    parents: tuple[Mapping[str, Any], ...] = ()
    made_for: ResourceKey | None = None
    solver: Mapping[str, Any] | None = None

    @property
    def is_answered_there(self) -> bool:
        """Whether it is answered by a route below that very object, and no other one."""
        holder = self.made_for
        own = () if holder is None else (holder.kind, holder.namespace, holder.name)
        named = {
            (text(each.get("kind"), "Gateway"), text(each.get("namespace"), self.namespace), text(each.get("name")))
            for each in self.parents
        }
        return named == {own}


class _Wanted(NamedTuple):
    """A host of a Certificate, which is written or is made for another object."""

    host: str
    namespace: str
    labels: Mapping[str, Any]
    own: Mapping[str, Any]
    """The parent that its annotations name, {} for none."""
    made_for: ResourceKey | None
    is_in_place: bool = False


def issuers(world: World) -> Iterator[Resource]:
    for kind in ("Issuer", "ClusterIssuer"):
        yield from world.of_kind(CERTIFICATES, kind)


def challenges(world: World, issuer: Resource) -> list[Challenge]:
    """Return the hosts for which an issuer proves over HTTP that they are its own, each once."""
    solvers = [mapping(each) for each in sequence(mapping(issuer.spec.get("acme")).get("solvers"))]
    found: dict[tuple[str, str], Challenge] = {}
    for wanted in _wanted(world, issuer) if any("http01" in solver for solver in solvers) else ():
        http = mapping(_picked(solvers, wanted).get("http01"))
        parents = list(map(mapping, sequence(mapping(http.get("gatewayHTTPRoute")).get("parentRefs"))))
        parents += [wanted.own] if "gatewayHTTPRoute" in http and wanted.own else []
        place, by = (wanted.namespace, wanted.host), http.get("ingress")
        solver = by if isinstance(by, dict) and "name" not in by and not wanted.is_in_place else None
        found.setdefault(place, Challenge(wanted.host, wanted.namespace, tuple(parents), wanted.made_for, solver))
    return list(found.values())


def asked_at(solver: str) -> str:
    """Return the path that is asked for one challenge: each has a token of its own, also where hosts are the same."""
    return f"{CHALLENGE}token-of-{solver}"


def solving(issuer: Resource, name: str, challenge: Challenge) -> Iterator[Resource]:
    """Yield what cert-manager makes for a challenge: a route or an Ingress, a Service and a pod behind it."""
    namespace = challenge.namespace
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    match = {"path": {"type": "Exact", "value": asked_at(name)}}
    route = {
        "parentRefs": [{"namespace": namespace, **each} for each in challenge.parents],
        "hostnames": [challenge.host],
        "rules": [{"matches": [match], "backendRefs": [{"name": name, "port": PORT}]}],
    }
    service = {"ports": [{"port": PORT}], "selector": SOLVER}
    pod = {"containers": [{"name": "acmesolver", "ports": [{"containerPort": PORT}]}]}
    way: tuple[str, str, Mapping[str, Any]] = (_GATEWAY_API, "HTTPRoute", route)
    if challenge.solver is not None:
        path: dict[str, Any] = {"path": asked_at(name), "pathType": "Exact"}
        path |= {"backend": {"service": {"name": name, "port": {"number": PORT}}}}
        classes = {"ingressClassName": challenge.solver.get("ingressClassName")}
        rules = [{"host": challenge.host, "http": {"paths": [path]}}]
        way = (*INGRESS, {**{key: each for key, each in classes.items() if each}, "rules": rules})
        stated = mapping(mapping(challenge.solver.get("ingressTemplate")).get("metadata")).get("annotations")
        named = {_CLASS: challenge.solver["class"]} if challenge.solver.get("class") else {}
        metadata |= {"annotations": {**mapping(stated), **named}, "creationTimestamp": _LATE}
    for group, kind, spec in (way, ("", "Service", service), ("", "Pod", pod)):
        body = {"metadata": {**metadata, "labels": SOLVER} if kind == "Pod" else metadata, "spec": spec}
        yield Resource(ResourceKey(group, kind, namespace, name), "v1", body, issuer.document, issuer.root)


def _wanted(world: World, issuer: Resource) -> Iterator[_Wanted]:
    for certificate in world.of_kind(CERTIFICATES, "Certificate"):
        named = mapping(certificate.spec.get("issuerRef"))
        is_its = (named.get("kind", "Issuer"), named.get("name")) == (issuer.key.kind, issuer.key.name)
        if is_its and _is_near(issuer, certificate):
            yield from _of(certificate, texts(certificate.spec.get("dnsNames")), _named(certificate))
    for holder in (each for kind in ((_GATEWAY_API, "Gateway"), *LISTENER_SETS) for each in world.of_kind(*kind)):
        if _is_for(issuer, holder):
            listeners = [mapping(each) for each in sequence(holder.spec.get("listeners"))]
            yield from _of(holder, [text(each.get("hostname")) for each in listeners if _shows(each)], _parent(holder))
    for ingress in world.of_kind(*INGRESS):
        if _is_for(issuer, ingress):
            tls = [mapping(each) for each in sequence(ingress.spec.get("tls"))]
            yield from _of(ingress, [host for each in tls for host in texts(each.get("hosts"))], {})


def _of(holder: Resource, hosts: Sequence[str], own: Mapping[str, Any]) -> Iterator[_Wanted]:
    for host in hosts:
        if host and not host.startswith("*") and not is_symbolic(host):
            is_made = holder.key[:2] not in (INGRESS, (CERTIFICATES, "Certificate"))
            in_place = holder.annotations.get(IN_PLACE) in ("true", True)
            yield _Wanted(host, holder.key.namespace, holder.labels, own, holder.key if is_made else None, in_place)


def _is_near(issuer: Resource, holder: Resource) -> bool:
    return issuer.key.kind == "ClusterIssuer" or issuer.key.namespace == holder.key.namespace


def _is_for(issuer: Resource, holder: Resource) -> bool:
    """Return whether the annotations of an object have cert-manager make Certificates of an issuer for it."""
    named = ((kind, text(holder.annotations.get(name))) for name, kind in NAMED_BY)
    return (issuer.key.kind, issuer.key.name) in named and _is_near(issuer, holder)


def _shows(listener: Mapping[str, Any]) -> bool:
    """Return whether a listener shows a certificate of a Secret that cert-manager may write."""
    tls = mapping(listener.get("tls"))
    return listener.get("protocol") in _SHOWING and tls.get("mode") != "Passthrough" and "certificateRefs" in tls


def _named(certificate: Resource) -> Mapping[str, Any]:
    """Return the parent that annotations of a Certificate name."""
    name, kind = (text(certificate.annotations.get(f"{_PARENT}{each}")) for each in ("name", "kind"))
    namespace = text(certificate.annotations.get(f"{_PARENT}namespace")) or certificate.key.namespace
    return {"kind": kind, "name": name, "namespace": namespace} if name and kind else {}


def _parent(holder: Resource) -> Mapping[str, Any]:
    """Return the parent that the Certificates of a Gateway or ListenerSet name: that object, or its Gateway.

    Which one annotations of its own name is not known: releases differ in whether they count.
    """
    if f"{_PARENT}name" in holder.annotations:
        return {}
    if holder.key.kind == "Gateway" or holder.annotations.get(f"{_PARENT}fallback") not in ("true", True):
        return {"group": holder.key.group, "kind": holder.key.kind, "name": holder.key.name}
    above = mapping(holder.spec.get("parentRef"))
    return {
        "kind": "Gateway",
        "name": text(above.get("name")),
        "namespace": text(above.get("namespace")) or holder.key.namespace,
    }


def _picked(solvers: Sequence[Mapping[str, Any]], wanted: _Wanted) -> Mapping[str, Any]:
    """Return the solver of a host: one that names it comes before one with its zone, the longest first; else labels
    decide, and of equal ones the first."""
    best, rank = {}, (-1, -1, -1)
    for solver in solvers:
        selector = mapping(solver.get("selector"))
        names, zones = texts(selector.get("dnsNames")), texts(selector.get("dnsZones"))
        labels = mapping(selector.get("matchLabels"))
        held = [len(zone) for zone in zones if wanted.host == zone or wanted.host.endswith(f".{zone}")]
        fits = not (names and wanted.host not in names) and not (zones and not held)
        if fits and labels.items() <= wanted.labels.items():
            this = (int(bool(names)), max(held, default=0), len(labels))
            if this > rank:
                best, rank = dict(solver), this
    return best
