"""Ingresses that charts make of values in the usual form, for charts that are not rendered.

`helm create` writes `ingress: {enabled, className, annotations, hosts: [{host, paths}], tls}`, and nearly all published
charts have that, or one of its variants, at the top or below a component; some have several, below keys of their own.
Host, class and annotations are certain from that; the Service behind is named as the chart is likely to name it, and
what else the chart makes stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import size_of
from policylint.model import mapping, sequence, text
from policylint.model.resource import GUESSED
from policylint.render.helm.app_template.release import FOR_AN_OBJECT, Release, entry_origin, filled_in
from policylint.render.provenance import Manifest, Provenance
from policylint.spaces.predicates import PREFIX

_FIELD = "ingress"
_DEEPEST = 3
"""Mappings around the field: components, charts that a chart contains."""
_LONGEST_NAME = 63
_PREFIX = PREFIX.removeprefix("Path")


def ingresses(release: Release) -> list[Manifest]:
    """Return the Ingresses of a release of a chart that is not rendered."""
    return list(_below(release, mapping(release.values), release.origin, ()))


def _below(
    release: Release, values: Mapping[str, Any], origin: Provenance, steps: tuple[str, ...]
) -> Iterator[Manifest]:
    for key, value in values.items():
        if not isinstance(value, dict):
            continue
        if key == _FIELD:
            of_keys = {name: entry for name, entry in value.items() if isinstance(entry, dict)}
            for name, entry in ((None, value), *of_keys.items()):
                place = origin.child(key) if name is None else origin.at(key, name)
                own = steps if name in (None, "main") else (*steps, str(name))
                is_on = entry.get("enabled", entry.get("create")) is True
                made = _ingress(release, entry, place, own) if is_on else None
                if made is not None:
                    yield made
        elif len(steps) < _DEEPEST:
            yield from _below(release, value, origin.child(key), (*steps, str(key)))


def _ingress(
    release: Release, values: Mapping[str, Any], origin: Provenance, steps: tuple[str, ...]
) -> Manifest | None:
    """Return the Ingress of an entry; None where it names no host in a form that is known."""
    rules = list(_rules(release, values, _name(release, steps)))
    if not rules:
        return None
    class_name = text(values.get("ingressClassName")) or text(values.get("className"))
    spec: dict[str, Any] = {"rules": rules}
    if class_name:
        spec["ingressClassName"] = filled_in(class_name, release)
    stated = values.get("tls")
    hosts = [rule["host"] for rule in rules]
    certificates = [mapping(filled_in(entry, release)) for entry in sequence(stated)]
    if stated is True:
        certificates = [{"hosts": hosts, "secretName": f"{hosts[0]}-tls"}]
    if certificates:
        spec["tls"] = certificates
    metadata: dict[str, Any] = {"name": _name(release, steps), "namespace": release.namespace}
    annotations = values.get("annotations")
    if isinstance(annotations, dict) and annotations:
        metadata["annotations"] = filled_in(annotations, release)
    body = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}
    release.budget.spend(FOR_AN_OBJECT + size_of(body)[0])
    places = {"rules": origin.child("hosts"), "tls": origin.child("tls"), "ingressClassName": origin.child("className")}
    provenance = entry_origin(origin, origin.with_children(dict(places)))
    return Manifest(body, provenance, provisional=GUESSED)


def _name(release: Release, steps: tuple[str, ...]) -> str:
    """Return what charts call the Ingress and the Service of a component: after the release, and the chart in it."""
    short = text(release.values.get("nameOverride")) or release.chart or release.name
    whole = release.name if short in release.name else f"{release.name}-{short}"
    full = text(release.values.get("fullnameOverride")) or whole
    return "-".join((full, *steps))[:_LONGEST_NAME].rstrip("-").lower()


def _rules(release: Release, values: Mapping[str, Any], service: str) -> Iterator[dict[str, Any]]:
    """Yield a rule for each host: of `hosts`, of texts or mappings, else of `host` or `hostname`."""
    listed = sequence(values.get("hosts")) or [values.get("host") or values.get("hostname")]
    for entry in listed:
        named = mapping(entry)
        host = text(entry) or text(named.get("host")) or text(named.get("name"))
        if not host:
            continue
        paths = sequence(named.get("paths")) or sequence(values.get("paths")) or [values.get("path")]
        kind = text(values.get("pathType"), _PREFIX)
        found = [_path(path, kind, service) for path in paths]
        yield filled_in({"host": host, "http": {"paths": found}}, release)


def _path(entry: Any, kind: str, service: str) -> dict[str, Any]:
    stated = mapping(entry)
    path = text(entry) or text(stated.get("path")) or "/"
    backend = {"service": {"name": service, "port": {"number": 80}}}
    return {"path": path, "pathType": text(stated.get("pathType"), kind), "backend": backend}
