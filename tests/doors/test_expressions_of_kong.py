"""Paths of Kong's Ingresses: expressions begin with `/~`, all others are taken letter by letter (Kong/kong#9664).

Predicted from internal/dataplane/translator/subtranslator/ingress.go, MaybePrependRegexPrefix, and ingress_atc.go of
Kong/kubernetes-ingress-controller @ 1fa68f864, and developer.konghq.com, «Expressions» (anchored at the start alone).
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer, request
from tests.worlds import manifest, service, simulated

CLASS = manifest(
    "networking.k8s.io/v1", "IngressClass", "kong", "", "spec: {controller: ingress-controllers.konghq.com/kong}"
)


def ingress(path: str, kind: str = "ImplementationSpecific", annotations: str = "") -> str:
    to = "backend: {service: {name: web, port: {number: 80}}}"
    paths = f"[{{path: '{path}', pathType: {kind}, {to}}}]"
    spec = f"spec: {{ingressClassName: kong, rules: [{{host: a.example.com, http: {{paths: {paths}}}}}]}}"
    return manifest("networking.k8s.io/v1", "Ingress", "web", "shop", spec, more=f"annotations: {{{annotations}}}")


@pytest.mark.parametrize(
    ("path", "asked", "is_taken"),
    [
        ("/~/api/v[0-9]+", "/api/v1/a", True),
        ("/~/api/v[0-9]+", "/api/va", False),
        ("/~/api/v[0-9]+$", "/api/v1", True),
        ("/~/api/v[0-9]+$", "/api/v1/a", False),
        ("/~^/api", "/api", True),
        ("/~/api", "/x/api", False),
        ("/~/(a|b)/c", "/b/c", True),
        ("/~/a|/b", "/b", True),
        ("/api/v[0-9]+", "/api/v1", False),
        ("/api/v[0-9]+", "/api/v[0-9]+", True),
    ],
)
def test_what_a_path_takes(path: str, asked: str, is_taken: bool) -> None:
    tracer = Tracer(simulated(CLASS, service("web"), ingress(path)))
    assert bool(tracer.trace(request({"host": "a.example.com", "path": asked})).outcome.backends) is is_taken


def test_a_mark_of_its_own_and_paths_that_are_whole() -> None:
    own = ingress("/:/api/.+", annotations="konghq.com/regex-prefix: '/:'")
    whole = ingress("/~/api", "Exact")
    for objects, asked, is_taken in ((own, "/api/a", True), (own, "/api/", False), (whole, "/api", False)):
        tracer = Tracer(simulated(CLASS, service("web"), objects))
        assert bool(tracer.trace(request({"host": "a.example.com", "path": asked})).outcome.backends) is is_taken


BY_LOOKS = "spec: {enableLegacyRegexDetection: true}"
LEGACY = manifest("configuration.konghq.com/v1alpha1", "IngressClassParameters", "kong", "kong", BY_LOOKS)


@pytest.mark.parametrize(
    ("path", "beside", "is_told"),
    [
        ("/api/(debug.*|trigger-.*)", "", True),
        ("/api/v[0-9]/a", "", True),
        ("/api/.*", "", True),
        (r"/file\.txt", "", True),
        ("/~/api/.*", "", False),
        ("/api.v1/file.txt", "", False),
        ("/a+b/c$d", "", False),
        ("/${PREFIX}/(a|b)", "", False),
        ("/api/.*", LEGACY, False),
    ],
)
def test_paths_that_look_like_expressions(path: str, beside: str, is_told: bool) -> None:
    found = run(simulated(CLASS, service("web"), ingress(path), *filter(None, [beside])), select={"GWP526"})
    assert [each.field for each in found] == ["spec.rules[0].http.paths[0].path"] * is_told


def test_other_controllers() -> None:
    other = CLASS.replace("ingress-controllers.konghq.com/kong", "k8s.io/ingress-nginx")
    assert not list(run(simulated(other, service("web"), ingress("/api/.*")), select={"GWP526"}))
