"""SARIF: valid by the schema, and by what GitHub asks for besides (docs/design/conventions.md §1)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from policylint.model import Location, Spot
from policylint.model.suppression import Suppression
from policylint.report.findings import Options, Report, write
from policylint.report.findings.sarif import MOST_RESULTS, left_out
from policylint.report.findings.sarif_rules import rule_entry
from policylint.report.rule_page import all_pages
from policylint.triage import Suppressed
from tests.report.sample import CORS, at, clean, findings, sample

SCHEMA = Path(__file__).parents[3] / "shared" / "sarif" / "sarif-schema-2.1.0.json"


def run(report: Report) -> dict[str, Any]:
    content = json.loads(write("sarif", report))
    assert content["$schema"] and content["version"] == "2.1.0"
    (only,) = content["runs"]
    return dict(only)


@pytest.mark.skipif(not SCHEMA.exists(), reason="../shared is not here")
@pytest.mark.parametrize("report", [sample(), clean()], ids=["findings", "clean"])
def test_valid_by_the_schema(report: Report) -> None:
    import jsonschema

    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(json.loads(write("sarif", report)))


def test_clean_run_has_results_and_all_rules() -> None:
    found = run(clean())
    assert found["results"] == []
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == [
        "GWP101",
        "GWP201",
        "GWP201/note",
        "GWP203",
        "GWP910",
    ]


def test_rules_do_not_depend_on_results() -> None:
    assert run(sample())["tool"] == run(clean())["tool"]


def check_rule(rule: dict[str, Any]) -> None:
    """What GitHub wants of a rule besides the schema."""
    for texts in (rule["shortDescription"]["text"], rule["fullDescription"]["text"]):
        assert 0 < len(texts) <= 1024
    assert rule["help"]["text"] and rule["help"]["markdown"]
    assert len(rule["name"]) <= 255
    assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    properties = rule["properties"]
    assert len(properties["tags"]) <= 10
    assert properties["precision"] in ("very-high", "high", "medium", "low")
    if "security" in properties["tags"]:
        assert isinstance(properties["security-severity"], str)
        assert 0.0 < float(properties["security-severity"]) <= 10.0
    else:
        assert properties["problem.severity"] in ("error", "warning", "recommendation")


def check_result(found: dict[str, Any], result: dict[str, Any]) -> None:
    """What GitHub wants of a result besides the schema: one place, on one line, with a relative URI."""
    assert found["columnKind"] == "unicodeCodePoints"
    assert found["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]
    (location,) = result["locations"]
    for each in (location, *result.get("relatedLocations", ())):
        region = each["physicalLocation"]["region"]
        assert region["startLine"] == region["endLine"] >= 1
        assert 1 <= region["startColumn"] < region["endColumn"]
        uri = each["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=@%/-]+", uri)
        assert not uri.startswith(("/", "./", "..")) and ":" not in uri
    assert all(f"]({each['id']})" in result["message"]["text"] for each in result.get("relatedLocations", ()))
    prints = result["partialFingerprints"]
    assert re.fullmatch(r"[0-9a-f]{1,16}:[1-9]\d*", prints["primaryLocationLineHash"])
    assert prints["policylint/v1"]
    assert "suppressions" not in result


def test_every_rule_has_what_github_needs() -> None:
    for rule in run(sample())["tool"]["driver"]["rules"]:
        check_rule(rule)


def test_every_result_has_what_github_needs() -> None:
    found = run(sample())
    for result in found["results"]:
        check_result(found, result)


def test_what_has_no_file_is_left_out() -> None:
    assert len(run(sample())["results"]) == len(findings()) - 1


def test_related_locations_are_linked() -> None:
    result = run(sample())["results"][0]
    numbers = [each["id"] for each in result["relatedLocations"]]
    assert numbers == [1]
    assert all(f"]({number})" in result["message"]["text"] for number in numbers)


def test_manifests_cannot_make_links() -> None:
    texts = [each["message"]["text"] for each in run(sample())["results"]]
    assert any("[here\\](https://example.com)" in text for text in texts)


def test_category_is_the_root() -> None:
    assert run(sample())["automationDetails"]["id"] == "policylint/clusters-prod/"
    assert run(sample(paths=()))["automationDetails"]["id"] == "policylint/"


def test_two_findings_of_a_rule_on_one_line_have_hashes_of_their_own() -> None:
    first = findings()[0]
    second = first._replace(field="basicAuth", message="HTTPRoute shop/checkout loses basicAuth")
    hashes = [
        each["partialFingerprints"]["primaryLocationLineHash"]
        for each in run(sample(findings=[first, second]))["results"]
    ]
    assert len(set(hashes)) == 2
    assert hashes[0].endswith(":1") and hashes[1].endswith(":2")


def test_different_rules_on_one_line_keep_githubs_hash() -> None:
    first = findings()[0]
    hashes = {
        each["partialFingerprints"]["primaryLocationLineHash"]
        for each in run(sample(findings=[first, first._replace(rule="GWP203")]))["results"]
    }
    assert len(hashes) == 1


def test_too_many_keeps_the_worst_and_says_so() -> None:
    note = findings()[3]
    error = findings()[1]._replace(location=at(CORS, "spec"))
    report = sample(findings=[*[note] * MOST_RESULTS, error])
    found = run(report)
    assert len(found["results"]) == MOST_RESULTS
    assert sum(each["level"] == "error" for each in found["results"]) == 1
    (notice,) = found["invocations"][0]["toolExecutionNotifications"]
    assert str(MOST_RESULTS + 1) in notice["message"]["text"]
    assert left_out(report) == 1


def silenced() -> list[Suppressed]:
    """The first finding, answered for by a comment, and the second one by the configuration."""
    comment = Suppression("comment", ("GWP201",), "JWT is checked by the app", at(CORS, "spec"))
    entry = Suppression("configuration", ("GWP101",), "a chart makes it", Location(Spot("<configuration>", 3, 5)))
    return [Suppressed(findings()[0], comment), Suppressed(findings()[1], entry)]


def test_suppressed_findings_only_when_asked_for() -> None:
    left = findings()[2:]
    plain = run(sample(findings=left, silenced=silenced()))
    assert plain["results"] == run(sample(findings=left))["results"]
    report = sample(findings=left, silenced=silenced(), options=Options(with_suppressed=True))
    by_rule: dict[str, list[Any]] = {}
    for each in run(report)["results"]:
        by_rule.setdefault(each["ruleId"], []).append(each["suppressions"])
    ((comment,),), ((entry,),) = by_rule.pop("GWP201"), by_rule.pop("GWP101")
    assert all(each == [] for found in by_rule.values() for each in found), "all results have the list or none has"
    assert {**comment, "location": None} == {
        "kind": "inSource",
        "status": "accepted",
        "justification": "JWT is checked by the app",
        "location": None,
    }
    assert comment["location"]["physicalLocation"]["artifactLocation"]["uri"] == CORS
    assert entry == {"kind": "external", "status": "accepted", "justification": "a chart makes it"}
    if SCHEMA.exists():
        import jsonschema

        jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(json.loads(write("sarif", report)))


def test_where_there_are_too_many_what_was_answered_for_goes_first() -> None:
    note = findings()[3]
    report = sample(findings=[note] * MOST_RESULTS, silenced=silenced(), options=Options(with_suppressed=True))
    results = run(report)["results"]
    assert len(results) == MOST_RESULTS
    assert all(each["suppressions"] == [] for each in results)
    assert left_out(report) == 2


def test_file_that_is_gone_has_no_line_hash() -> None:
    found = run(sample(source_lines=lambda _: []))
    assert all("primaryLocationLineHash" not in each["partialFingerprints"] for each in found["results"])


def test_notes_of_a_security_rule_are_no_security_alerts() -> None:
    """Code scanning shows a result as High by its rule's security-severity, whatever the level of the result."""
    error = findings()[0]
    found = run(sample(findings=[error, error._replace(severity="note", field="cors")]))
    rules = {rule["id"]: rule["properties"] for rule in found["tool"]["driver"]["rules"]}
    assert {each["level"]: each["ruleId"] for each in found["results"]} == {"error": "GWP201", "note": "GWP201/note"}
    assert rules["GWP201"]["security-severity"] == "8.1"
    assert "security-severity" not in rules["GWP201/note"]
    assert "security" not in rules["GWP201/note"]["tags"]
    for result in found["results"]:
        check_result(found, result)


def test_titles_are_noun_phrases_and_no_text_ends_in_a_colon() -> None:
    for page in all_pages():
        entry = rule_entry(page, "https://example.com")
        texts = [entry["shortDescription"]["text"], entry["fullDescription"]["text"], entry["help"]["text"]]
        assert texts[0] == page.heading
        assert not texts[0].startswith("Reports")
        assert not texts[0].endswith(".")
        assert not [text for text in texts if text.endswith(":")]
    leading = findings()[0]._replace(label="it has several reasons:")
    assert "It has several reasons." in run(sample(findings=[leading]))["results"][0]["message"]["text"]
