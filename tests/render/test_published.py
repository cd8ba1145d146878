"""schemas/charts.yaml: which kinds of Gateway API a chart that is not rendered may make of its values."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policylint.model import GATEWAY_GROUP, ROUTE_KINDS
from policylint.model.shipped import shipped
from policylint.render.helm.published import source

CHARTS: dict[str, Any] = yaml.safe_load(shipped("schemas", "charts.yaml").read_text(encoding="utf-8"))["charts"]
KINDS = {*ROUTE_KINDS, "BackendTLSPolicy", "Gateway", "GatewayClass", "ListenerSet", "ReferenceGrant"}


def test_the_table_is_sorted_and_names_where_it_is_from() -> None:
    assert list(CHARTS) == sorted(CHARTS)
    assert len(CHARTS) > 50
    assert all(chart["source"] for chart in CHARTS.values())


@pytest.mark.parametrize("name", CHARTS)
def test_every_entry_is_read(name: str) -> None:
    """Nothing is made of no values but what needs none, and each value switches its kind on."""
    always = {(GATEWAY_GROUP, each["kind"].partition(".")[0]) for each in CHARTS[name]["makes"] if "from" not in each}
    assert source(name, {}).makes == always
    for each in CHARTS[name]["makes"]:
        kind, _, group = each["kind"].partition(".")
        assert group == GATEWAY_GROUP
        assert kind in KINDS
        for path in each.get("from", ()):
            values: Any = {"enabled": True}
            for step in reversed(path.split(".")):
                values = {step: values}
            assert (group, kind) in (source(name, values).makes or ())


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
    assert source(chart, values).makes == {(GATEWAY_GROUP, kind) for kind in made}


def test_a_chart_that_nobody_looked_through_may_make_anything() -> None:
    assert source("shop", {}).makes is None
    assert source("", {}).makes is None
