"""HTTPProxies of several Contours, by class (projectcontour/contour, internal/annotation/annotations.go)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated

WORLD = (service("one", "shop"), service("two", "shop"))
URL = "http://shop.example.com/"


def proxy(name: str, of_class: str = "", annotation: str = "") -> str:
    stated = f"ingressClassName: {of_class}, " if of_class else ""
    host = f"{stated}virtualhost: {{fqdn: shop.example.com}}"
    spec = f"spec: {{{host}, routes: [{{services: [{{name: {name}, port: 80}}]}}]}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", name, "shop", spec, more=annotation)


def annotated(of_class: str, prefix: str = "projectcontour.io") -> str:
    return f"annotations: {{{prefix}/ingress.class: {of_class}}}"


@pytest.mark.parametrize(
    ("first", "second", "doors"),
    [
        (proxy("one", "inner"), proxy("two", "outer"), ("inner", "outer")),
        (
            proxy("one", annotation=annotated("inner")),
            proxy("two", annotation=annotated("outer", "kubernetes.io")),
            ("inner", "outer"),
        ),
        (proxy("one"), proxy("two", "outer"), ("contour", "outer")),
        (proxy("one", "outer", annotated("inner")), proxy("two", "outer"), ("inner", "outer")),  # annotations count
    ],
)
def test_each_contour_has_hosts_of_its_own(first: str, second: str, doors: tuple[str, str]) -> None:
    world = simulated(*WORLD, first, second)
    assert [each.message for each in run(world, select={"GWP415"})] == []
    assert [answer(world, URL, gateway=f"HTTPProxies/{name}")[0] for name in doors] == ["one", "two"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (proxy("one", "inner"), proxy("two", annotation=annotated("inner"))),
        (proxy("one"), proxy("two", "contour")),
        (proxy("one", "inner"), proxy("two", "inner")),
        (proxy("one"), proxy("two")),
    ],
)
def test_one_contour_takes_neither_of_two(first: str, second: str) -> None:
    found = run(simulated(*WORLD, first, second), select={"GWP415"})
    assert sorted(str(each.resources[0]) for each in found) == ["HTTPProxy shop/one", "HTTPProxy shop/two"]
