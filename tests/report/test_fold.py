"""What people read of findings that are not certain: ranked, and as one where they are alike; programs get each."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from policylint.compare.change import Comparison, FindingChange
from policylint.model import Finding, Location, ResourceKey, Spot
from policylint.model.finding import Confidence, Severity
from policylint.report.diff.report import DiffReport
from policylint.report.findings import Options, write
from policylint.report.findings.fold import folded
from tests.report.sample import RETRIES, findings, sample


def reference(name: str, why: str, kind: str = "Service", line: int = 1) -> Finding:
    """A route of `shop` that names an object of which nobody knows whether it is there."""
    route = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "shop", name)
    wanted = ResourceKey("", kind, "shop", name)
    return Finding(
        "GWP406",
        "note",
        f"{route} sends requests to {wanted}, which is not among these manifests",
        Location(Spot(RETRIES, line)),
        resources=(route, wanted),
        label=why,
        confidence="unknown",
    )


def charts(*names: str, kind: str = "Service") -> list[Finding]:
    return [
        reference(name, f"HelmRelease shop/{name} may create it; its chart is not rendered", kind, line)
        for line, name in enumerate(names, 1)
    ]


def messages(given: Iterable[Finding]) -> list[str]:
    return [finding.message for finding in folded(given)]


def test_references_to_what_charts_may_make_are_one() -> None:
    services = charts("a", "b", "c", "d", "e", "f", "g")
    (one,) = folded(services)
    assert one.message == "7 Services that 7 HTTPRoutes name may come from charts that are not rendered"
    assert one.notes == (
        "note: for example shop/a, shop/b, shop/c, shop/d, shop/e and 2 more",
        "note: these are 7 findings: `-o concise` lists each with its place, as does `-o json`",
        "note: this is unknown: for example, HelmRelease shop/a may create it; its chart is not rendered",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "chart authentik may create it; charts are not rendered",
            "chart argocd may create it; charts are not rendered",
        ),
        ("crd.yaml, which does not exist, may hold it", "base/install.yaml, which does not exist, may hold it"),
        ("no Service of namespace shop is in the tree", "no Service of namespace infra is in the tree"),
    ],
)
def test_grounds_that_differ_in_names_are_one(one: str, other: str) -> None:
    assert len(folded([reference("a", one), reference("b", other), reference("c", one)])) == 1


def test_what_differs_in_rule_kind_or_ground_stays_by_itself() -> None:
    alone = reference("x", "no Service of namespace shop is in the tree, so they come from elsewhere")
    grant = alone._replace(rule="GWP407", message="HTTPRoute shop/x may not send requests to Service infra/x")
    said = messages([grant, *charts("a", "b", "c"), *charts("d", "e", kind="ServiceImport"), alone])
    assert len(said) == 5 and grant.message in said and alone.message in said


def test_one_object_that_many_name_is_named() -> None:
    why = "no Gateway is in the tree, so they come from elsewhere"
    gateway = ResourceKey("gateway.networking.k8s.io", "Gateway", "infra", "edge")
    routes = [reference(name, why) for name in "abc"]
    routes = [route._replace(resources=(route.resources[0], gateway)) for route in routes]
    assert messages(routes) == ["Gateway infra/edge that 3 HTTPRoutes name was not seen"]
    assert f"note: this is unknown: {why}" in folded(routes)[0].notes


def test_other_messages_are_counted() -> None:
    selectors = [finding._replace(message=f"{finding.resources[0]} selects nothing") for finding in charts(*"abc")]
    assert messages(selectors) == ["HTTPRoute shop/a selects nothing (and 2 more like this)"]


def test_certain_findings_are_never_folded_and_come_first() -> None:
    certain = [finding._replace(confidence="certain") for finding in charts(*"abc")]
    assert messages([*charts(*"xyz"), *certain])[:3] == [finding.message for finding in certain]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_is_by_confidence_then_severity(reverse: bool) -> None:
    ranked: list[tuple[Confidence, Severity]] = [
        ("certain", "note"),
        ("assumed", "warning"),
        ("assumed", "note"),
        ("unknown", "error"),
        ("unknown", "note"),
    ]
    some = [findings()[0]._replace(confidence=confidence, severity=severity) for confidence, severity in ranked]
    given = some[::-1] if reverse else some
    assert [(finding.confidence, finding.severity) for finding in folded(given)] == ranked


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_people_read_one_and_are_told_how_to_list_all(form: str) -> None:
    text = write(form, sample(findings=charts(*"abcd"), options=Options(show_unknown=True)))
    assert text.count("may come from charts") == 1 and "sends requests to" not in text
    assert form == "markdown" or "-o concise" in text


@pytest.mark.parametrize("form", ["concise", "json", "sarif", "junit", "codeclimate"])
def test_programs_and_lists_get_each(form: str) -> None:
    text = write(form, sample(findings=charts(*"abcd"), options=Options(show_unknown=True)))
    assert text.count("which is not among these manifests") >= 4 and "may come from charts" not in text


def test_who_asks_for_what_is_unknown_gets_notes_too() -> None:
    uncertain = charts("a")
    asked = write("text", sample(findings=uncertain, options=Options(show_unknown=True)))
    assert "note[GWP406]" in asked and "1 of them uncertain" in asked
    errors = write("text", sample(findings=uncertain, options=Options(show_unknown=True, min_severity="error")))
    assert "note[GWP406]" not in errors


def test_the_same_findings_whatever_is_folded() -> None:
    report = sample(findings=charts(*"abcd"), options=Options(show_unknown=True))
    assert len(json.loads(write("json", report))["findings"]) == 4


def test_in_a_diff_what_is_lost_comes_first_though_it_is_assumed() -> None:
    note, error = findings()[0]._replace(severity="note"), findings()[0]._replace(severity="error")
    changes = (FindingChange(note, "new"), FindingChange(error._replace(confidence="assumed"), "new"))
    report = DiffReport(Comparison((), changes), sample())
    assert [finding.severity for finding in report.folded("new")] == ["error", "note"]
