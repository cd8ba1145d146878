"""What stands whole in the values of a chart that is installed by hand may be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.render.values_files import holds_values
from policylint.workspace import open_workspace

ROUTE = """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: web, namespace: shop}
spec:
  entryPoints: [websecure]
  routes:
  - kind: Rule
    match: Host(`shop.example.com`)
    middlewares: [{name: auth, namespace: traefik}]
    services: [{name: web, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: shared, namespace: traefik}
spec: {compress: {}}
"""
MIDDLEWARE = """apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: auth%s}
spec: {forwardAuth: {address: http://auth}}
"""
IS_MISSING = ["error"]


def said(folder: Path, files: dict[str, str]) -> list[str]:
    """What GWP415 says of the route, by its severity."""
    for path, text in {"web.yaml": ROUTE, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    found = open_workspace([str(folder)]).findings()
    return [each.severity for each in found if each.rule == "GWP415" and each.confidence != "unknown"]


def extra(middleware: str, key: str = "extraObjects") -> str:
    """Values that put out an object, as YAML."""
    return f"deployment: {{kind: DaemonSet}}\n{key}:\n- " + middleware.strip().replace("\n", "\n  ") + "\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, IS_MISSING),
        ({"traefik/traefik-values.yaml": extra(MIDDLEWARE % "")}, []),
        ({"traefik/values.yml": extra(MIDDLEWARE % "", "extraManifests")}, []),
        ({"traefik/prodValues.yaml": extra(MIDDLEWARE % ", namespace: traefik")}, []),
        ({"traefik/values.yaml": extra(MIDDLEWARE % ", namespace: '{{ .Release.Namespace }}'")}, []),
        (
            {
                "traefik/values.yaml": "extra:\n- |\n  "
                + (MIDDLEWARE % "").replace("{name: auth}", "\n  name: auth").replace("\n", "\n  ")
            },
            [],
        ),
        (
            {
                "traefik/values.yaml": "deep:\n  more:\n    extra: {m: {" + "apiVersion: traefik.io/v1alpha1, "
                "kind: Middleware, metadata: {name: auth}}}\n"
            },
            [],
        ),
        ({"traefik/values.yaml": extra(MIDDLEWARE % ", namespace: other")}, IS_MISSING),
        ({"traefik/values.yaml": extra((MIDDLEWARE % "").replace("auth}", "other}"))}, IS_MISSING),
        ({"traefik/values.yaml": extra((MIDDLEWARE % "").replace("Middleware", "TLSOption"))}, IS_MISSING),
        ({"traefik/values.yaml": extra((MIDDLEWARE % "").replace("name: auth", "generateName: auth"))}, IS_MISSING),
        ({"traefik/values.yaml": extra((MIDDLEWARE % "").replace("apiVersion", "version"))}, IS_MISSING),
        ({"traefik/settings.yaml": extra(MIDDLEWARE % "")}, IS_MISSING),
        (
            {"traefik/values.yaml": extra(MIDDLEWARE % ""), "traefik/Chart.yaml": "name: own\nversion: 1.0.0\n"},
            IS_MISSING,
        ),
        ({"traefik/values.yaml": "extraObjects: [{kind: Middleware}, text, 1]\nbroken: ]\n"}, IS_MISSING),
    ],
    ids=[
        *("nothing", "beside settings", "another key", "its namespace", "a template of one", "as text", "deep down"),
        *("another namespace", "another name", "another kind", "no name", "no object", "no values", "of a chart here"),
        "broken",
    ],
)
def test_what_values_put_out_is_not_missing(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert said(tmp_path, files) == expected


def test_a_policy_in_values_does_not_act_on_everything(tmp_path: Path) -> None:
    policy = (MIDDLEWARE % "").replace("Middleware", "AuthPolicy")
    assert said(tmp_path, {"traefik/values.yaml": extra(policy)}) == IS_MISSING


def test_each_object_of_values_counts(tmp_path: Path) -> None:
    last = (MIDDLEWARE % "").replace("auth}", "last}").strip().replace("\n", "\n  ")
    assert said(tmp_path, {"traefik/values.yaml": f"{extra(MIDDLEWARE % '')}- {last}\n"}) == []


def test_no_hand_installs_what_stands_in_a_manifest(tmp_path: Path) -> None:
    """A ConfigMap of values is one of a release, which says what comes of it."""
    held = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: traefik}\ndata:\n  values.yaml: |\n    "
    )
    text = extra(MIDDLEWARE % "").replace("\n", "\n    ")
    assert said(tmp_path, {"traefik/values.yaml": held + text}) == IS_MISSING


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        *((each, True) for each in ("values.yaml", "a/values-prod.yml", "redis-values.yaml", "prod.values.yml")),
        *((each, True) for each in ("values_prod.yaml", "prodValues.yaml", "valuesProd.yaml", "values2.yaml")),
        *(
            (each, False)
            for each in ("valuesets.yaml", "myvalues.yaml", "values.json", "values/app.yaml", "value.yaml")
        ),
    ],
)
def test_what_values_are_called(path: str, holds: bool) -> None:
    assert holds_values(path) is holds
