"""Every field of the catalog that names an object: told where it is not there, near by, or a chart may make it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.catalog.kinds import shipped_catalog
from policylint.checks import run
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.model.policy_kind import ContentField, PolicyKind
from policylint.model.world import UNCOMMITTED
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.checks.linting import GATEWAY, SERVICE, route

AROUND = f"{GATEWAY}---{route()}---{SERVICE}".replace("namespace: infra", "namespace: shop")
TARGETS = {"HTTPRoute": "checkout", "Gateway": "edge", "Service": "checkout", "Server": "checkout"}
REQUIRED: dict[str, dict[str, Any]] = {
    "ClientTrafficPolicy": {"tls": {"clientValidation": {"mode": "Request"}}},
    "WasmPlugin": {"url": "oci://registry.example.com/filter"},
    "WAFPolicy": {"policySource": {"httpSource": {"url": "https://policies.example.com"}}},
}
"""What policies of a kind are refused without, whatever else they set."""

FIELDS = [
    pytest.param(kind, field, named, id=f"{kind.kind}.{kind.group}-{field.path}-{named[1]}")
    for file in shipped_catalog()
    for kind in file.kinds()
    for field in kind.refers
    for named in field.kinds
    if field.home and "*" not in (kind.group, kind.kind) and not field.name.endswith("Selector")
]


def joined(required: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    both = required.keys() & value.keys()
    inner = {
        name: joined(required[name], value[name])
        for name in both
        if isinstance(required[name], dict) and isinstance(value[name], dict)
    }
    return {**required, **value, **inner}


def holder(kind: PolicyKind, field: ContentField, named: tuple[str, str]) -> dict[str, Any]:
    """Return a policy of a kind, with a target, that names `absent` in one field of its content."""
    value: Any = {"name": "absent", "kind": named[1], "group": named[0], "port": 80}
    for step in reversed(field.path.split(".")):
        value = (
            [value]
            if step == "*"
            else {("traffic" if kind.kind == "AgentgatewayPolicy" else "anything") if step == "**" else step: value}
        )
    value = joined(REQUIRED.get(kind.kind, {}), value)
    metadata = {"name": "holder", "namespace": "shop"}
    for reference in kind.references[:1]:
        known = {target.kind: target.group for target in kind.targets}
        target = next((each for each in TARGETS if each in known), "")
        if target and reference.form in ("ref", "refs") and "." not in reference.path:
            entry = {"group": known[target], "kind": target, "name": TARGETS[target]}
            value[reference.path] = [entry] if reference.form == "refs" else entry
    return {"apiVersion": f"{kind.group}/v1", "kind": kind.kind, "metadata": metadata, "spec": value}


def made(named: tuple[str, str], name: str, namespace: str) -> dict[str, Any]:
    version = f"{named[0]}/v1" if named[0] else "v1"
    return {"apiVersion": version, "kind": named[1], "metadata": {"name": name, "namespace": namespace}}


def said(tmp_path: Path, *bodies: dict[str, Any], complete: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return the confidence and the whole text of each finding that names `absent`."""
    (tmp_path / "all.yaml").write_text(f"{AROUND}---\n{yaml.safe_dump_all(bodies)}")
    (simulation,) = open_workspace([str(tmp_path)], given=Assumptions(complete=complete)).simulations
    texts = [(each.confidence, f"{each.message} {each.label} {' '.join(each.help)}") for each in run(simulation)]
    return [(confidence, text) for confidence, text in texts if "absent" in text]


CHART = made(("helm.toolkit.fluxcd.io", "HelmRelease"), "unknown", "shop") | {
    "spec": {"chart": {"spec": {"chart": "shop-web"}}}
}


@pytest.mark.parametrize(("kind", "field", "named"), FIELDS)
def test_each_field_that_names_an_object(
    tmp_path: Path, kind: PolicyKind, field: ContentField, named: tuple[str, str]
) -> None:
    body = holder(kind, field, named)
    missing = said(tmp_path, body, complete=("all",))
    assert any(confidence != "unknown" for confidence, _ in missing), f"complete: {missing}"
    if named not in UNCOMMITTED:
        of_chart = said(tmp_path, body, CHART)
        assert all(confidence == "unknown" for confidence, _ in of_chart), f"chart: {of_chart}"
        assert any("HelmRelease shop/unknown" in text for _, text in of_chart), f"chart: {of_chart}"
    if named not in CLUSTER_SCOPED and named not in UNCOMMITTED:
        near = said(tmp_path, body, made(named, "absent", "far"))
        assert any("far" in text and confidence != "unknown" for confidence, text in near), f"near: {near}"
