"""schemas/charts.yaml: which kinds of Gateway API a chart that is not rendered may make of its values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.model import GATEWAY_GROUP, ROUTE_KINDS
from policylint.model.shipped import shipped
from policylint.render.helm.published import ANY_ROUTE, source

CHARTS: dict[str, Any] = yaml.safe_load(shipped("schemas", "charts.yaml").read_text(encoding="utf-8"))["charts"]


def test_the_table_is_sorted_and_names_where_it_is_from() -> None:
    assert list(CHARTS) == sorted(CHARTS)
    assert len(CHARTS) > 150
    assert all(chart["source"] for chart in CHARTS.values())


def kinds_of(written: str) -> set[tuple[str, str]]:
    kind, _, group = written.partition(".")
    return {(group, each) for each in (ROUTE_KINDS if kind == ANY_ROUTE else (kind,))}


@pytest.mark.parametrize("name", CHARTS)
def test_every_entry_is_read(name: str) -> None:
    """Nothing is made of no values but what needs none, and each value switches its kind on."""
    makes: dict[str, list[str]] = CHARTS[name]["makes"]
    always = {kind for written, paths in makes.items() if not paths for kind in kinds_of(written)}
    assert source(name, {}).makes == always
    for written, paths in makes.items():
        for path in paths:
            values: Any = {"enabled": True}
            for step in reversed(path.split(".")):
                values = {step: values}
            assert kinds_of(written) <= (source(name, values).makes or set())


@pytest.mark.parametrize(
    ("chart", "values", "made"),
    [
        ("kube-prometheus-stack", {"grafana": {"route": {"main": {"enabled": True}}}}, set(ROUTE_KINDS)),
        ("kube-prometheus-stack", {"grafana": {"replicas": 2}, "prometheus": {"enabled": True}}, set()),
        ("argo-cd", {"server": {"httproute": {"enabled": True}}}, {"HTTPRoute"}),
        (
            "argo-cd",
            {"server": {"httproute": {"enabled": False}, "backendTLSPolicy": {"enabled": True}}},
            {"BackendTLSPolicy"},
        ),
        ("keda", {"crds": {"install": True}}, set()),
    ],
)
def test_values_say_what_is_made(chart: str, values: dict[str, Any], made: set[str]) -> None:
    assert {kind for group, kind in source(chart, values).makes or () if group == GATEWAY_GROUP} == made


def test_a_chart_that_nobody_looked_through_may_make_anything() -> None:
    assert source("shop", {}).makes is None
    assert source("", {}).makes is None


RENDERED: dict[str, dict[str, list[str]]] = yaml.safe_load((Path(__file__).parent / "charts_rendered.yaml").read_text())


@pytest.mark.parametrize("name", RENDERED)
def test_what_helm_made_of_a_chart_is_known(name: str) -> None:
    """bench/charts.py rendered it with its default values, and with each value that has to do with requests."""
    for path, kinds in RENDERED[name].items():
        values: Any = {}
        for step in reversed(path.split(".") if path != "defaults" else []):
            values = {step: values or {"enabled": True}}
        made = source(name, values).makes or frozenset()
        assert {kind for written in kinds for kind in kinds_of(written)} <= made, path
