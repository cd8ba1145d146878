"""Ingresses of charts: those of app-template, and what charts that are not rendered make of the usual values."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.budget import Budget
from policylint.documents import read
from policylint.render.helm import app_template
from policylint.render.helm.app_template import Release
from policylint.render.helm.ingresses import ingresses
from policylint.render.provenance import Manifest, Provenance


def release(values: str, chart: str, major: int = 5) -> Release:
    document = read(values.encode(), "values.yaml").documents[0]
    return Release("plex", "media", document.value, Provenance(document), Budget(), chart, major)


def ingress_of(found: list[Manifest]) -> Manifest:
    return next(each for each in found if each.kind == "Ingress")


SERVICES = "service: {app: {ports: {http: {port: 80}, admin: {port: 90}}}, other: {ports: {x: {port: 1}}}}\n"


def backend(name: str, **port: Any) -> dict[str, Any]:
    return {"service": {"name": name, "port": port}}


OF_APP_TEMPLATE = {
    "by identifier, the first port by name": ("{identifier: app}", 5, backend("plex-app", number=90)),
    "a port by its name": ("{identifier: app, port: admin}", 5, backend("plex-app", number=90)),
    "a port by its number": ("{identifier: other, port: 7}", 5, backend("plex-other", number=7)),
    "by name": ("{name: else, port: 7}", 5, backend("else", number=7)),
    "a name that is an identifier, in version 2": ("{name: app, port: http}", 2, backend("plex", number=80)),
    "a name is a name, in version 3": ("{name: app, port: 80}", 3, backend("app", number=80)),
}


@pytest.mark.parametrize(("stated", "major", "expected"), OF_APP_TEMPLATE.values(), ids=OF_APP_TEMPLATE)
def test_backends_of_app_template(stated: str, major: int, expected: dict[str, Any]) -> None:
    hosts = f"[{{host: '{{{{ .Release.Name }}}}.example.com', paths: [{{path: /, service: {stated}}}]}}]"
    values = f"{SERVICES}ingress: {{app: {{className: nginx, hosts: {hosts}}}}}"
    made = ingress_of(app_template.objects(release(values, "app-template", major)))
    (rule,) = made.spec["rules"]
    assert rule["host"] == "plex.example.com"
    assert rule["http"]["paths"] == [{"path": "/", "pathType": "Prefix", "backend": expected}]
    assert made.spec["ingressClassName"] == "nginx"


def test_what_app_template_keeps() -> None:
    entry = (
        "{annotations: {a: '{{ .Release.Name }}'}, tls: [{hosts: [h], secretName: s}], hosts: [{host: h, paths: []}]}"
    )
    made = ingress_of(app_template.objects(release(f"ingress: {{app: {entry}}}", "app-template")))
    assert made.body["metadata"]["annotations"] == {"a": "plex"}
    assert made.spec["tls"] == [{"hosts": ["h"], "secretName": "s"}]


def test_an_ingress_of_app_template_that_is_off() -> None:
    values = "ingress: {app: {enabled: false, hosts: [{host: h, paths: []}]}}"
    assert app_template.objects(release(values, "app-template")) == []


USUAL = {
    "as helm create has it": ("{hosts: [{host: h, paths: [{path: /a, pathType: Exact}]}]}", [("h", "/a", "Exact")]),
    "paths as texts": ("{hosts: [{host: h, paths: [/a]}]}", [("h", "/a", "Prefix")]),
    "hosts as texts": ("{hosts: [h, i]}", [("h", "/", "Prefix"), ("i", "/", "Prefix")]),
    "hosts as texts, with a path": ("{hosts: [h], path: /a, pathType: Exact}", [("h", "/a", "Exact")]),
    "one host": ("{host: h}", [("h", "/", "Prefix")]),
    "one hostname": ("{hostname: h}", [("h", "/", "Prefix")]),
    "a host by its name": ("{hosts: [{name: h, path: /}]}", [("h", "/", "Prefix")]),
    "a template": ("{hosts: ['{{ .Release.Name }}.x']}", [("plex.x", "/", "Prefix")]),
    "no host": ("{hosts: []}", []),
}


@pytest.mark.parametrize(("stated", "expected"), USUAL.values(), ids=USUAL)
def test_the_usual_forms(stated: str, expected: list[tuple[str, str, str]]) -> None:
    values = f"ingress: {{enabled: true, {stated[1:]}"
    rules = [rule for made in ingresses(release(values, "plex-server")) for rule in made.spec["rules"]]
    assert [(rule["host"], at["path"], at["pathType"]) for rule in rules for at in rule["http"]["paths"]] == expected


NAMES = {
    "the release, with the chart": ("ingress: {enabled: true, host: h}", "web", ["plex-web"]),
    "the release that has the name of the chart": ("ingress: {enabled: true, host: h}", "plex", ["plex"]),
    "of a component": ("server: {ingress: {enabled: true, host: h}}", "plex", ["plex-server"]),
    "of a key": (
        "ingress: {main: {enabled: true, host: h}, api: {enabled: true, host: i}}",
        "plex",
        ["plex", "plex-api"],
    ),
    "fullnameOverride": ("fullnameOverride: tv\ningress: {enabled: true, host: h}", "plex", ["tv"]),
    "off": ("ingress: {enabled: false, host: h}", "plex", []),
    "created": ("hook: {ingress: {create: true, host: h}}", "plex", ["plex-hook"]),
    "nothing said": ("ingress: {host: h}", "plex", []),
    "no mapping": ("ingress: [1]", "plex", []),
}


@pytest.mark.parametrize(("values", "chart", "expected"), NAMES.values(), ids=NAMES)
def test_names(values: str, chart: str, expected: list[str]) -> None:
    assert [each.name for each in ingresses(release(values, chart))] == expected


def test_classes_annotations_and_certificates() -> None:
    values = "ingress: {enabled: true, hostname: h, ingressClassName: nginx, tls: true, annotations: {a: b}}"
    (made,) = ingresses(release(values, "plex"))
    assert made.spec["ingressClassName"] == "nginx"
    assert made.spec["tls"] == [{"hosts": ["h"], "secretName": "h-tls"}]
    assert made.body["metadata"]["annotations"] == {"a": "b"}
