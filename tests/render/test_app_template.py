"""The objects that the app-template chart makes of values, named as it names them."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.budget import Budget
from policylint.documents import read
from policylint.render.helm.app_template import Release, looks_like, objects
from policylint.render.provenance import Manifest, Provenance


def made(values: str, name: str = "plex", namespace: str = "media") -> list[Manifest]:
    document = read(values.encode(), "values.yaml").documents[0]
    return objects(Release(name, namespace, document.value, Provenance(document), Budget()))


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
    "a suffix stands after the key": ("route: {app: {suffix: web}, admin: {}}", ["plex-app-web", "plex-admin"]),
    "names that end so already": (
        "global: {fullnameOverride: my-app}\nroute: {app: {}, b: {}}",
        ["my-app", "my-app-b"],
    ),
    "a key that always shows": (
        "global: {alwaysAppendIdentifierToResourceName: true}\nroute: {app: {}}",
        ["plex-app"],
    ),
    "upper case": ("route: {app: {suffix: Web}}", ["plex-web"]),
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


ONE = "service: {app: {ports: {web: {port: 80, enabled: true}, admin: {port: 90}, main: {port: 70, primary: true}}}}\n"
FILLED_IN = {
    "nothing but a place": ("[{}]", [{"name": "plex", "port": 70}]),
    "a port alone": ("[{port: 90}]", [{"name": "plex", "port": 90}]),
    "a text of digits is printed as a number": (
        "[{port: '8787', weight: '2'}]",
        [{"name": "plex", "port": 8787, "weight": 2}],
    ),
    "a name stands for itself": ("[{name: else, port: 90}]", [{"name": "else", "port": 90}]),
}


@pytest.mark.parametrize(("references", "expected"), FILLED_IN.values(), ids=FILLED_IN)
def test_the_only_service_is_found(references: str, expected: list[dict[str, Any]]) -> None:
    found = made(ONE + f"route: {{app: {{rules: [{{backendRefs: {references}}}]}}}}")
    references_made = spec(found, "HTTPRoute")["rules"][0]["backendRefs"]
    assert [{**each} for each in references_made] == expected


def test_one_of_several_services_is_not_guessed() -> None:
    found = made(SERVICES + "route: {app: {rules: [{backendRefs: [{}]}]}}")
    assert spec(found, "HTTPRoute")["rules"][0]["backendRefs"] == [{}]


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
