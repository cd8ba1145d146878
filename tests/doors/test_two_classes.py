"""An Ingress that two fields give two classes, which no API server creates (ValidateIngressCreate)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds

CLASS = "kubernetes.io/ingress.class"
BACKEND = "{service: {name: checkout, port: {number: 80}}}"
PATHS = f"[{{path: /, pathType: Prefix, backend: {BACKEND}}}]"


@pytest.mark.parametrize(
    ("named", "stated", "is_told"),
    [
        ("nginx", "traefik", True),
        ("nginx", "nginx", False),
        ("nginx", "", False),
        ("", "nginx", False),
        ("${CLASS}", "nginx", False),
        ("nginx", "${CLASS}", False),
    ],
)
def test_both_have_to_match(named: str, stated: str, is_told: bool) -> None:
    annotations = f"annotations: {{{CLASS}: '{named}'}}" if named else ""
    of_class = f"ingressClassName: '{stated}', " if stated else ""
    spec = f"spec: {{{of_class}rules: [{{host: a.example.com, http: {{paths: {PATHS}}}}}]}}"
    ingress = worlds.manifest("networking.k8s.io/v1", "Ingress", "a", "shop", spec, more=annotations)
    found = run(worlds.simulated(worlds.service(), ingress), select={"GWP415"})
    assert [each.label for each in found] == (["the API server refuses to create it"] if is_told else [])
