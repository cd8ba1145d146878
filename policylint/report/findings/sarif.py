"""SARIF 2.1.0 as GitHub code scanning wants it; the numbers in comments are those of docs/design/conventions.md §1.

Everything that code scanning needs and the schema does not ask for is asserted in tests/report/test_sarif.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import SEVERITIES, Finding
from policylint.report.findings.fingerprint import fingerprints, line_hashes
from policylint.report.findings.report import Region, Report
from policylint.report.findings.sarif_rules import is_security, rule_entry, variants
from policylint.report.kit.identity import json_text

if TYPE_CHECKING:
    from policylint.model.suppression import Suppression

MOST_RESULTS = 5000
"""Code scanning shows no more (10)."""
MOST_RELATED = 20


def write(report: Report) -> str:
    """Write one run with all enabled rules and the findings that have a file, of too many the worst."""
    findings, suppressed = _located(report)
    kept = _worst(findings, suppressed)
    rules = [variant for rule in sorted(report.pages) for variant in variants(report.pages[rule])]
    order = {page.id: index for index, page in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "policylint",
                "semanticVersion": report.version,
                **({"informationUri": report.home} if report.home else {}),
                "rules": [rule_entry(page, report.address_of(page.id.partition("/")[0])) for page in rules],
            }
        },
        "automationDetails": {"id": _category(report)},
        "columnKind": "unicodeCodePoints",
        "results": _results(report, kept, suppressed, order),
    }
    if len(kept) < len(findings):
        run["invocations"] = [_left_out(len(findings), len(kept))]
    if report.notices:
        invocation = run.setdefault("invocations", [{"executionSuccessful": True}])[0]
        invocation["toolConfigurationNotifications"] = [_notice(report, *notice) for notice in report.notices]
    return json_text({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def left_out(report: Report) -> int:
    """Return how many findings `write` leaves out because there are too many; the command says so on stderr (10)."""
    return max(0, len(_located(report)[0]) - MOST_RESULTS)


def _located(report: Report) -> tuple[list[Finding], dict[int, Suppression]]:
    """Return the findings that have a file, and by identity the suppressions of those kept for completeness (8)."""
    silenced = report.silenced if report.options.with_suppressed else ()
    suppressed = {id(finding): by for finding, by in silenced}
    every = [*report.listed(), *report._replace(findings=[finding for finding, _ in silenced]).listed()]
    if suppressed:
        every.sort(key=lambda finding: (finding.location.sort_key(), finding.rule, finding.message))
    return [finding for finding in every if report.relative(finding.location.file)], suppressed


def _worst(findings: list[Finding], suppressed: Mapping[int, object]) -> list[Finding]:
    """Return as many findings as are shown; suppressed ones are left out first."""

    def rank(at: int) -> tuple[bool, int, int]:
        return id(findings[at]) in suppressed, SEVERITIES.index(findings[at].severity), at

    worst = sorted(range(len(findings)), key=rank)
    return [findings[at] for at in sorted(worst[:MOST_RESULTS])]


def _left_out(number: int, kept: int) -> dict[str, Any]:
    text = f"the {kept} worst of {number} findings are listed: code scanning shows no more."
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": text}}],
    }


def _notice(report: Report, file: str, line: int, sentence: str) -> dict[str, Any]:
    notice: dict[str, Any] = {"level": "note", "message": {"text": _sentence(sentence)}}
    if report.relative(file):
        notice["locations"] = [_physical(report, Region(file, line, 1, 2))]
    return notice


def _category(report: Report) -> str:
    """Return `policylint/clusters-prod/`: the part before the last slash is the category (9)."""
    roots = sorted(path.strip("/").replace("/", "-") for path in report.paths if path.strip("/.") != "")
    return f"policylint/{'+'.join(roots)}/" if roots else "policylint/"


def _results(
    report: Report, findings: Sequence[Finding], suppressed: Mapping[int, Suppression], order: Mapping[str, int]
) -> list[dict[str, Any]]:
    regions = [report.region(finding.location) for finding in findings]
    hashes = _hashes(report, findings, regions)
    values = fingerprints(report, findings)
    results = []
    for finding, region, line_hash, value in zip(findings, regions, hashes, values, strict=True):
        message, related = _message(report, finding)
        page = report.pages.get(finding.rule)
        is_note = page is not None and is_security(page) and finding.severity == "note"
        rule = f"{finding.rule}/note" if is_note else finding.rule
        result: dict[str, Any] = {"ruleId": rule}
        if rule in order:
            result["ruleIndex"] = order[rule]
        result |= {"level": finding.severity, "message": {"text": message}}
        location = _physical(report, region)
        if finding.resources:
            key = finding.resources[0]
            name = f"{key.kind}.{key.group}/{key.path}" if key.group else f"{key.kind}/{key.path}"
            location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "resource"}]
        result["locations"] = [location]  # only the first one is used (1)
        if related:
            result["relatedLocations"] = related
        result["partialFingerprints"] = line_hash | {"policylint/v1": value}
        if fixes := _fixes(report, finding):
            result["fixes"] = fixes
        if report.options.with_suppressed:  # of all results or of none, as SARIF 2.1.0, 3.27.23 has it
            by = suppressed.get(id(finding))
            result["suppressions"] = [] if by is None else [_suppression(report, by)]
        if finding.environments:
            result["properties"] = {"environments": list(finding.environments)}
        results.append(result)
    return results


def _suppression(report: Report, by: Suppression) -> dict[str, Any]:
    """Say who answered for a finding: a comment or annotation in a manifest, or an entry of the configuration."""
    form = "external" if by.form == "configuration" else "inSource"
    entry: dict[str, Any] = {"kind": form, "status": "accepted", "justification": by.reason}
    if report.relative(by.location.file):
        entry["location"] = _physical(report, report.region(by.location))
    return entry


def _fixes(report: Report, finding: Finding) -> list[dict[str, Any]]:
    """Return the fixes of a finding; code scanning ignores them, editors with a SARIF viewer offer them."""
    entries = []
    for fix, edits in report.fixes_of(finding):
        changes: dict[str, list[dict[str, Any]]] = {}
        for edit in edits:
            region = _region(edit.line, edit.column, edit.end_line, edit.end_column)
            replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
            changes.setdefault(report.path_of(edit.file), []).append(replacement)
        parts = [
            {"artifactLocation": {"uri": _uri(file)}, "replacements": replacements}
            for file, replacements in changes.items()
        ]
        entries.append({"description": {"text": _sentence(fix.title)}, "artifactChanges": parts})
    return entries


def _hashes(report: Report, findings: Sequence[Finding], regions: Sequence[Region]) -> list[dict[str, str]]:
    """Return `primaryLocationLineHash` per finding (6); a second one of a rule on one line gets a number of its own."""
    lines_of: dict[str, set[int]] = {}
    for region in regions:
        lines_of.setdefault(region.file, set()).add(region.line)
    known = {file: line_hashes(report.source_lines(file), lines) for file, lines in sorted(lines_of.items())}
    taken: Counter[tuple[str, str, str]] = Counter()
    result: list[dict[str, str]] = []
    seen: set[tuple[str, str, int]] = set()
    for finding, region in zip(findings, regions, strict=True):
        line_hash = known[region.file].get(region.line)
        if line_hash is None:
            result.append({})
            continue
        value, occurrence, lines = line_hash
        if (finding.rule, region.file, region.line) in seen:
            taken[finding.rule, region.file, value] += 1
            occurrence = lines + taken[finding.rule, region.file, value]
        seen.add((finding.rule, region.file, region.line))
        result.append({"primaryLocationLineHash": f"{value}:{occurrence}"})
    return result


def _message(report: Report, finding: Finding) -> tuple[str, list[dict[str, Any]]]:
    """Return the text, its first sentence the title, and the locations it links to: only linked ones are shown (3)."""
    sentences = [_sentence(text) for text in (finding.message, *([finding.label] if finding.label else []))]
    links: dict[str, str] = {}  # what is said of each place → the link, each sentence once
    related: list[dict[str, Any]] = []
    located = [place for place in finding.related if report.relative(place.location.file)]
    for number, place in enumerate(located[:MOST_RELATED], 1):
        words = re.sub(r"([\\\[\]])", r"\\\1", place.message) or "here"
        links[words] = f"{links[words]}, [{number}]({number})" if words in links else f"[{words}]({number})"
        where = _physical(report, report.region(place.location))
        related.append({"id": number, "message": {"text": place.message or "here"}, **where})
    if links:
        sentences.append(f"See {', '.join(links.values())}.")
    return " ".join([*sentences, *map(_sentence, finding.notes)]), related


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop, and with nothing that would read as a link."""
    text = re.sub(r"(\\*)\]\(", r"\1\1\\](", text.strip().rstrip(":")) or "Finding"
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def _physical(report: Report, region: Region) -> dict[str, Any]:
    """Return a region of one line: an alert shows on a pull request only if all its lines are changed (2)."""
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(report.path_of(region.file))},
            "region": _region(region.line, region.column, region.line, region.end_column),
        }
    }


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(path: str) -> str:
    """Return a path below the git root as a relative reference: `/`, percent-encoded, no scheme, no `./` (7)."""
    from urllib.parse import quote

    return quote(path.removeprefix("./"), safe="/-._~!$&'()*+,;=@", errors="replace")
