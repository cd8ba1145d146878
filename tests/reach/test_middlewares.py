"""What Middlewares of Traefik ask of requests tells regions apart: a redirect by the method, a refusal by the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach import end_in_words
from policylint.report.reach import Question, find
from policylint.workspace import open_workspace
from tests import worlds

ROUTE = (
    "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: own}}], "
    "backendRefs: [{name: checkout, port: 80}]}]"
)


@pytest.mark.parametrize(
    ("spec", "ends"),
    [
        ("redirectScheme: {scheme: https, permanent: true}", {"301 redirect to https", "308 redirect to https"}),
        ("redirectScheme: {scheme: https}", {"302 redirect to https", "307 redirect to https"}),
        ("redirectScheme: {permanent: true}", {"404"}),
        ("redirectScheme: {scheme: https, forcePermanentRedirect: true}", {"308 redirect to https"}),
        ("headers: {allowedHosts: [A.example.com]}", {"shop/checkout", "500"}),
        ("headers: {allowedHosts: [A.example.com], isDevelopment: true}", {"shop/checkout"}),
    ],
)
def test_regions_are_told_apart(tmp_path: Path, spec: str, ends: set[str]) -> None:
    assert _ends(tmp_path, spec, "traefik.io/gateway-controller") == ends


def test_a_controller_that_is_not_known_may_take_what_traefik_refuses(tmp_path: Path) -> None:
    ends = _ends(tmp_path, "redirectScheme: {permanent: true}", "example.net/controller")
    assert ends == {"301 redirect to", "308 redirect to"}


def _ends(tmp_path: Path, spec: str, controller: str) -> set[str]:
    middleware = worlds.manifest("traefik.io/v1alpha1", "Middleware", "own", "shop", f"spec: {{{spec}}}")
    world = (
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more=ROUTE),
        worlds.service(),
        middleware,
    )
    (tmp_path / "all.yaml").write_text("---\n".join(world), encoding="utf-8")
    rows = find(open_workspace([str(tmp_path)]).simulations, Question()).rows
    return {end_in_words(row.way.trace).partition(":")[0].strip() for row in rows}
