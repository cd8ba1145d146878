"""What the catalog says of weaker settings is true of the CRDs of the projects: fields that exist, values they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.catalog.kinds import CatalogError, load_catalog
from policylint.cli.kinds import kinds
from policylint.implementations.agentgateway.merging import EARLY
from policylint.model import PolicyKind, mapping, sequence
from policylint.model.weakness import Weakness, weakness, weakness_entry
from tests.model.test_catalog import SHARED, _crds

KINDS = [each for each in load_catalog().kinds() if each.weaker]
UNSHIPPED = (
    *("airlock-microgateway", "aws-load-balancer-controller", "azure-agc", "calico", "cilium", "gke", "kong"),
    *("linkerd", "traefik"),
)
"""Implementations whose CRDs are not shipped: their fields are from documentation, and worlds hold them."""
SHIPPED = [kind for kind in KINDS if kind.implementation not in UNSHIPPED]
WORDS = [pytest.param(kind, each, id=f"{kind.kind}-{each.path}") for kind in SHIPPED for each in kind.weaker]


@pytest.fixture(scope="module")
def schemas() -> dict[tuple[str, str], dict[str, Any]]:
    """The spec's schema of each kind."""
    if not (SHARED / "crds").exists():
        pytest.skip("the CRDs are not beside this checkout")
    found = {}
    for crd in _crds():
        stored = next(each for each in crd.spec["versions"] if each["storage"])
        fields = stored["schema"]["openAPIV3Schema"]["properties"]
        if "spec" in fields:
            found[crd.spec["group"], crd.spec["names"]["kind"]] = fields["spec"]
    return found


def below(schema: dict[str, Any], path: str) -> dict[str, Any] | None:
    """The schema at a path; None where the CRD has no such field."""
    at: Any = schema
    for step in path.split("."):
        inner = mapping(at.get("properties")).get(step)
        if step == "*":
            inner = at.get("items") or at.get("additionalProperties")
        if inner is None:
            return at if at.get("x-kubernetes-preserve-unknown-fields") else None
        at = inner
    return dict(at)


@pytest.mark.parametrize(("kind", "weak"), WORDS)
def test_fields_and_values_are_those_of_the_crd(
    schemas: dict[tuple[str, str], dict[str, Any]], kind: PolicyKind, weak: Weakness
) -> None:
    spec = schemas[kind.group, kind.kind]
    field = below(spec, weak.path.replace(f"{EARLY}.", "traffic."))  # a block of effective policies alone
    field = field or below(spec, f"default.{weak.path}")  # what holds at a listener is `default`, or that of its port
    assert field is not None
    for path in (weak.instead, *(each.partition("=")[0] for each in weak.unless)):
        assert not path or below(spec, path) is not None, path
    innermost = weak.path[: weak.path.rindex("*") + 1] if "*" in weak.path else ""
    for path in weak.where:
        asked = path[1:] if path.startswith("/") else f"{innermost}.{path}".lstrip(".").replace(f"{EARLY}.", "traffic.")
        assert below(spec, asked) is not None, path
    for path in weak.entries if field.get("type") != "string" else ():  # else these are of the text's own format
        assert below(spec, f"{weak.path}.*.{path}") is not None, path
    if weak.order:
        _assert_takes(field, weak, mapping(below(spec, weak.instead)) if weak.instead else {})
    if weak.list:
        assert field["type"] in ("array", "object")
        assert field["type"] == "array" or "additionalProperties" in field or "properties" in field
    if weak.everybody:
        assert field["type"] == "array"


BESIDE = {
    "configPatches.*.patch.operation": {
        *("INVALID", "MERGE", "ADD", "REMOVE", "REPLACE", "MERGE_AND_REPLACE_LIST"),
    },
    "kube.service.type": {"ExternalName"},
}
"""Values that no order holds: what puts a filter nowhere is neither weaker nor stronger than what does."""


def _assert_takes(field: dict[str, Any], weak: Weakness, other: dict[str, Any]) -> None:
    """Every value of the enumeration has its place in the order, and the other way round."""
    listed = {repr(value) for step in weak.order for value in step}
    known = {repr(each) for at in (field, other) for each in sequence(at.get("enum"))}
    known |= {"True", "False"} if "boolean" in (field.get("type"), other.get("type")) else set()
    known -= {repr(each) for each in BESIDE.get(weak.path, ())}
    absent = {repr(weak.unset)} - known
    assert not known or known - {"'UNSET'"} - {repr(False)} <= listed
    assert not known or listed <= known | absent
    if "default" in field:
        assert weak.unset in (field["default"], None)


@pytest.mark.parametrize(("kind", "weak"), WORDS)
def test_an_entry_says_what_it_was_read_from(kind: PolicyKind, weak: Weakness) -> None:
    assert weakness(weakness_entry(weak)) == weak
    assert (
        sum(map(bool, (weak.order, weak.list, weak.presence, weak.everybody, weak.rate, weak.anchor, weak.grows))) == 1
    )
    assert not weak.says.endswith("."), f"{kind}: says ends a message"


def test_every_implementation_with_a_login_says_what_weakens_it() -> None:
    assert {each.implementation for each in KINDS} == {
        "agentgateway",
        "aws-gateway-api-controller",
        "envoy-gateway",
        "gateway-api",
        "gloo",
        "istio",
        "kgateway",
        "kuadrant",
        "nginx-gateway-fabric",
        *UNSHIPPED,
    }


def test_kinds_lists_the_fields() -> None:
    output = CliRunner().invoke(kinds, ["PeerAuthentication"]).output
    assert "A change is reported that weakens mtls.mode and portLevelMtls.*.mode." in " ".join(output.split())


def refused() -> Iterator[Any]:
    yield pytest.param({"path": "a", "says": "b"}, id="no-word")
    yield pytest.param({"path": "a", "says": "b", "list": "demands", "presence": "demands"}, id="two-words")
    yield pytest.param({"path": "a", "says": "b", "list": "options"}, id="unknown")
    yield pytest.param({"path": "a", "presence": "demands"}, id="says-nothing")


@pytest.mark.parametrize("entry", list(refused()))
def test_a_word_of_a_configured_kind_is_checked(entry: dict[str, Any]) -> None:
    kind = {"group": "a.io", "kind": "A", "class": "Direct", "targets": [], "merge": {"strategy": "none"}}
    assert load_catalog(configured=[kind | {"weaker": [{"path": "a", "says": "b", "presence": "demands"}]}])
    with pytest.raises(CatalogError, match=r"^kinds\[0\]\.weaker\[0\]"):
        load_catalog(configured=[kind | {"weaker": [entry]}])
