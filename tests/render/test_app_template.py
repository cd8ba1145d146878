"""The objects that the app-template chart makes of values, named as it names them."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.documents import read
from policylint.render.helm.app_template import Release, looks_like, objects
from policylint.render.provenance import Manifest, Provenance


def made(values: str, name: str = "plex", namespace: str = "media") -> list[Manifest]:
    document = read(values.encode(), "values.yaml").documents[0]
    return objects(Release(name, namespace, document.value, Provenance(document)))


def spec(found: list[Manifest], kind: str) -> Any:
    return next(each.body["spec"] for each in found if each.kind == kind)


NAMES = {
    "the only one has the release's name": ("route: {app: {}}", ["plex"]),
    "several add their keys": ("route: {app: {}, admin: {}}", ["plex-app", "plex-admin"]),
    "those that are off do not count": ("route: {app: {}, admin: {enabled: false}}", ["plex"]),
    "a suffix of one's own": ("route: {app: {suffix: web}}", ["plex-web"]),
    "nameOverride, as older charts call it": ("route: {app: {nameOverride: web}}", ["plex-web"]),
    "a prefix": ("route: {app: {prefix: a}}", ["a-plex"]),
    "forceRename": ("route: {app: {forceRename: '{{ .Release.Name }}-x'}}", ["plex-x"]),
    "fullnameOverride": ("global: {fullnameOverride: tv}\nroute: {app: {}}", ["tv"]),
    "nameOverride of the chart": ("global: {nameOverride: tv}\nroute: {app: {}}", ["plex-tv"]),
    "nonsense": ("route: {app: 5, admin: []}", []),
}


@pytest.mark.parametrize(("values", "expected"), NAMES.values(), ids=NAMES)
def test_names(values: str, expected: list[str]) -> None:
    assert [each.name for each in made(values)] == expected


SERVICES = (
    "service: {app: {ports: {http: {port: 80}, metrics: {port: 90}, off: {enabled: false}}},"
    " other: {ports: {x: {port: 1}}}}\n"
)
BACKENDS = {
    "by identifier": ("[{identifier: app, port: 8080}]", [{"name": "plex-app", "port": 8080}]),
    "the port by its name": ("[{identifier: app, port: metrics}]", [{"name": "plex-app", "port": 90}]),
    "without a port": ("[{identifier: app}]", [{"name": "plex-app", "port": 80}]),
    "by name": ("[{name: else, namespace: x, port: 1}]", [{"name": "else", "namespace": "x", "port": 1}]),
    "an identifier that is not there": ("[{identifier: gone, port: 1}]", [{"name": "plex-gone", "port": 1}]),
}


@pytest.mark.parametrize(("references", "expected"), BACKENDS.values(), ids=BACKENDS)
def test_backends(references: str, expected: list[dict[str, Any]]) -> None:
    found = made(SERVICES + f"route: {{app: {{rules: [{{backendRefs: {references}}}]}}}}")
    assert spec(found, "HTTPRoute")["rules"][0]["backendRefs"] == expected


def test_a_route_without_rules_leads_to_the_only_service() -> None:
    found = made("service: {app: {ports: {http: {port: 80}}}}\nroute: {app: {parentRefs: [{name: edge}]}}")
    assert spec(found, "HTTPRoute") == {
        "parentRefs": [{"name": "edge"}],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
                "backendRefs": [{"name": "plex", "port": 80}],
            }
        ],
    }


def test_a_service_has_the_ports_that_are_on() -> None:
    assert [each["name"] for each in spec(made(SERVICES), "Service")["ports"]] == ["http", "metrics"]


def test_templates_of_the_release_are_filled_in_and_others_stay_symbolic() -> None:
    found = made("route: {app: {hostnames: ['{{ .Release.Name }}.a', '{{.Release.Namespace}}.b', '{{ .Values.c }}']}}")
    assert spec(found, "HTTPRoute")["hostnames"] == ["plex.a", "media.b", "{{ .Values.c }}"]


def test_other_kinds_of_routes_and_raw_resources() -> None:
    found = made(
        "route: {app: {kind: TCPRoute, rules: [{}]}}\n"
        "rawResources: {policy: {apiVersion: gateway.envoyproxy.io/v1alpha1, kind: SecurityPolicy, spec: {cors: {}}}}"
    )
    assert [(each.kind, each.name, each.namespace) for each in found] == [
        ("TCPRoute", "plex", "media"),
        ("SecurityPolicy", "plex", "media"),
    ]
    assert spec(found, "SecurityPolicy") == {"cors": {}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"controllers": {}, "route": {"a": {"parentRefs": []}}}, True),
        ({"controllers": {}, "service": {}}, True),
        ({"route": {"main": {"parentRefs": []}}}, False),
        ({"controllers": 2}, False),
        (None, False),
    ],
)
def test_values_of_the_family_are_recognised(values: Any, expected: bool) -> None:
    assert looks_like(values) is expected
