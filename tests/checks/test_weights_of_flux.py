"""GWP528: weights that Flux takes back, and routes that a Canary of Flagger makes (docs.flagger.app)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import Finding
from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.test_weights_fought_over import HTTP, ROUTE, VIRTUAL, application, rollout

OWNER = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {interval: 10m, path: ./shop, prune: true, MORE sourceRef: {kind: GitRepository, name: flux-system}}
"""
ISTIO = "istio: {virtualService: {name: cart}}"
SSA = "kustomize.toolkit.fluxcd.io/ssa"


def canary(service: str = "", target: str = "cart") -> str:
    named = f"name: {service}, " if service else ""
    spec = (
        f"spec: {{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}, service: {{{named}port: 80}}}}"
    )
    return worlds.manifest("flagger.app/v1beta1", "Canary", "release", "shop", spec)


def annotated(value: str, name: str = SSA) -> str:
    return ROUTE.replace("namespace: shop}", f"namespace: shop, annotations: {{{name}: {value}}}}}", 1)


def found(folder: Path, owner: str, *deployed: str) -> list[Finding]:
    for name, text in {"clusters/prod/shop.yaml": owner, "shop/all.yaml": "---\n".join(deployed)}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [each for each in open_workspace([str(folder)]).findings() if each.rule == "GWP528"]


@pytest.mark.parametrize(
    ("more", "objects", "told"),
    [
        ("", (ROUTE, rollout(HTTP)), "Rollout shop/cart gives to HTTPRoute shop/cart"),
        (
            "",
            (VIRTUAL, rollout("istio: {virtualService: {name: cart}}")),
            "Rollout shop/cart gives to VirtualService shop/cart",
        ),
        ("", (ROUTE, canary()), "Canary shop/release gives to HTTPRoute shop/cart"),
        ("", (ROUTE, canary("cart", "other")), "Canary shop/release gives to HTTPRoute shop/cart"),
        ("", (VIRTUAL, canary()), "Canary shop/release gives to VirtualService shop/cart"),
        ("", (ROUTE, canary("other")), ""),
        ("", (ROUTE,), ""),
        ("suspend: true,", (ROUTE, rollout(HTTP)), ""),
        ("", (annotated("IfNotPresent"), rollout(HTTP)), ""),
        ("", (annotated("Ignore"), rollout(HTTP)), ""),
        ("", (annotated("Merge"), rollout(HTTP)), "Rollout shop/cart gives to HTTPRoute shop/cart"),
        ("", (annotated("disabled", "kustomize.toolkit.fluxcd.io/reconcile"), rollout(HTTP)), ""),
    ],
)
def test_what_flux_takes_back(tmp_path: Path, more: str, objects: tuple[str, ...], told: str) -> None:
    said = found(tmp_path, OWNER.replace("MORE", more), *objects)
    whose = "Kustomization flux-system/shop takes back the weights that "
    assert [(each.severity, each.message) for each in said] == ([("warning", f"{whose}{told}")] if told else [])


def test_what_a_canary_makes_is_taken_out(tmp_path: Path) -> None:
    fix = "fix: take HTTPRoute shop/cart out of Git, Canary shop/release makes it"
    assert found(tmp_path / "flux", OWNER.replace("MORE", ""), ROUTE, canary())[0].help == (fix,)
    assert found(tmp_path / "argo", application(), ROUTE, canary())[0].help[0] == fix
