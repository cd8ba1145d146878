"""Ingresses of an app-template release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render.helm.app_template.release import Item, Release, as_number, filled_in, full_name, made
from policylint.render.helm.app_template.services import port_named, primary_port
from policylint.render.provenance import Manifest
from policylint.spaces.predicates import PREFIX

_PREFIX = PREFIX.removeprefix("Path")


def ingress(release: Release, item: Item, services: Mapping[str, Item]) -> Manifest:
    """Return the Ingress of an entry of `ingress` (templates/classes/_ingress.tpl)."""
    values = item.values
    spec: dict[str, Any] = {}
    class_name = text(values.get("className")) or text(values.get("ingressClassName"))
    if class_name:
        spec["ingressClassName"] = filled_in(class_name, release)
    certificates = [mapping(filled_in(entry, release)) for entry in sequence(values.get("tls"))]
    if certificates:
        fields = ("hosts", "secretName")
        spec["tls"] = [{name: entry[name] for name in fields if entry.get(name)} for entry in certificates]
    if values.get("defaultBackend"):
        spec["defaultBackend"] = values["defaultBackend"]
    else:
        spec["rules"] = [_rule(release, mapping(host), services) for host in sequence(values.get("hosts"))]
    origins = {
        "ingressClassName": item.origin.child("className"),
        "tls": item.origin.child("tls"),
        "rules": item.origin.child("hosts"),
        "defaultBackend": item.origin.child("defaultBackend"),
    }
    places = {field: origin for field, origin in origins.items() if field in spec}
    return made(release, item, "networking.k8s.io/v1", "Ingress", {"spec": spec}, places)


def _rule(release: Release, host: Any, services: Mapping[str, Item]) -> dict[str, Any]:
    paths = []
    for path in map(mapping, sequence(host.get("paths"))):
        kind = text(path.get("pathType"), _PREFIX)
        backend = _backend(release, mapping(path.get("service")), services)
        paths.append({"path": filled_in(path.get("path"), release), "pathType": kind, "backend": {"service": backend}})
    return {"host": filled_in(host.get("host"), release), "http": {"paths": paths}}


def _backend(release: Release, stated: Any, services: Mapping[str, Item]) -> dict[str, Any]:
    """Return a backend as the chart writes it; up to version 2 a `name` is an identifier where there is such one."""
    name, identifier = (text(filled_in(text(stated.get(field)), release)) for field in ("name", "identifier"))
    if release.major <= 2 and name in services:
        name, identifier = "", name
    if not name and not identifier and len(services) == 1:
        identifier = next(iter(services))
    service = None if name else services.get(identifier)
    port = filled_in(stated.get("port"), release)
    if service is not None and not port:
        port = primary_port(release, service)
    elif service is not None and isinstance(port, str):
        port = port_named(release, service, port) or port
    port = as_number(port)
    named = service.name if service is not None else name or f"{full_name(release)}-{identifier}".removesuffix("-")
    return {"name": named, **({"port": {"number" if isinstance(port, int) else "name": port}} if port else {})}
