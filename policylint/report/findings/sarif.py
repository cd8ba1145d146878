"""SARIF 2.1.0 as GitHub code scanning wants it; the numbers in comments are those of docs/design/conventions.md §1.

Everything that code scanning needs and the schema does not ask for is asserted in tests/report/test_sarif.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import SEVERITIES, Finding, ResourceKey
from policylint.report.findings.fingerprint import fingerprints, line_hashes
from policylint.report.findings.fixes import fixes_of
from policylint.report.findings.report import Report
from policylint.report.findings.sarif_rules import rule_entry
from policylint.report.kit.position import Place, place_of
from policylint.report.kit.wording import HOME

if TYPE_CHECKING:
    from policylint.model.suppression import Suppression

MOST_RESULTS = 5000
"""Code scanning shows no more (10)."""
MOST_RELATED = 20


def write(report: Report) -> str:
    """One run with all enabled rules and, worst first where there are too many, the findings that have a file."""
    import json

    findings, suppressed = _located(report)
    kept = _worst(findings, suppressed)
    rules = [report.pages[rule] for rule in sorted(report.pages)]
    order = {page.id: index for index, page in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "policylint",
                "semanticVersion": report.version,
                "informationUri": HOME,
                "rules": [rule_entry(page, report.version) for page in rules],
            }
        },
        "automationDetails": {"id": _category(report)},
        "columnKind": "unicodeCodePoints",
        "results": _results(report, kept, suppressed, order),
    }
    if len(kept) < len(findings):
        run["invocations"] = [_left_out(len(findings), len(kept))]
    content = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def left_out(report: Report) -> int:
    """How many findings `write` leaves out because there are too many; the command says so on stderr (10)."""
    return max(0, len(_located(report)[0]) - MOST_RESULTS)


def _located(report: Report) -> tuple[list[Finding], dict[int, Suppression]]:
    """The findings that have a file, and by identity the suppressions of those that are there for completeness (8)."""
    silenced = report.silenced if report.options.with_suppressed else ()
    suppressed = {id(finding): by for finding, by in silenced}
    every = [*report.listed(), *report._replace(findings=[finding for finding, _ in silenced]).listed()]
    if suppressed:
        every.sort(key=lambda each: (each.location.sort_key(), each.rule, each.message))
    return [each for each in every if report.relative(each.location.file)], suppressed


def _worst(findings: list[Finding], suppressed: Mapping[int, object]) -> list[Finding]:
    """As many as are shown; what somebody has answered for goes first."""
    if len(findings) <= MOST_RESULTS:
        return findings

    def rank(at: int) -> tuple[bool, int, int]:
        return id(findings[at]) in suppressed, SEVERITIES.index(findings[at].severity), at

    worst = sorted(range(len(findings)), key=rank)
    return [findings[at] for at in sorted(worst[:MOST_RESULTS])]


def _left_out(all_of_them: int, kept: int) -> dict[str, Any]:
    said = f"{all_of_them} findings, of which the {kept} worst are listed: code scanning shows no more."
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": said}}],
    }


def _category(report: Report) -> str:
    """`policylint/clusters-prod/`: the part before the last slash is the category (9)."""
    roots = sorted(path.strip("/").replace("/", "-") for path in report.paths if path.strip("/.") != "")
    return f"policylint/{'+'.join(roots)}/" if roots else "policylint/"


def _results(
    report: Report, findings: Sequence[Finding], suppressed: Mapping[int, Suppression], order: Mapping[str, int]
) -> list[dict[str, Any]]:
    places = [place_of(report, each.location) for each in findings]
    hashes = _hashes(report, findings, places)
    values = fingerprints(report, findings)
    results = []
    for finding, place, line_hash, value in zip(findings, places, hashes, values, strict=True):
        message, related = _message(report, finding)
        result: dict[str, Any] = {"ruleId": finding.rule}
        if finding.rule in order:
            result["ruleIndex"] = order[finding.rule]
        result |= {"level": finding.severity, "message": {"text": message}}
        location = _physical(report, place)
        if finding.resources:
            name = _qualified(finding.resources[0])
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
    """Who answered for a finding: a comment or an annotation in a manifest, or an entry of the configuration."""
    form = "external" if by.form == "configuration" else "inSource"
    said: dict[str, Any] = {"kind": form, "status": "accepted", "justification": by.reason}
    if report.relative(by.location.file):
        said["location"] = _physical(report, place_of(report, by.location))
    return said


def _fixes(report: Report, finding: Finding) -> list[dict[str, Any]]:
    """What would put a finding right; code scanning ignores it, editors with a SARIF viewer offer it."""
    found = []
    for fix, edits in fixes_of(report, finding) if finding.fixes else ():
        changes: dict[str, list[dict[str, Any]]] = {}
        for each in edits:
            region = {
                "startLine": each.line,
                "startColumn": each.column,
                "endLine": each.end_line,
                "endColumn": each.end_column,
            }
            replacement = {"deletedRegion": region, "insertedContent": {"text": each.text}}
            changes.setdefault(report.relative(each.file) or each.file, []).append(replacement)
        parts = [
            {"artifactLocation": {"uri": _uri(file)}, "replacements": replacements}
            for file, replacements in changes.items()
        ]
        found.append({"description": {"text": _sentence(fix.title)}, "artifactChanges": parts})
    return found


def _hashes(report: Report, findings: Sequence[Finding], places: Sequence[Place]) -> list[dict[str, str]]:
    """`primaryLocationLineHash` per finding (6); a further finding of one rule on one line gets a number of its own."""
    wanted: dict[str, set[int]] = {}
    for place in places:
        wanted.setdefault(place.file, set()).add(place.line)
    known = {file: line_hashes(report.source_lines(file), lines) for file, lines in sorted(wanted.items())}
    taken: Counter[tuple[str, str, str]] = Counter()
    result: list[dict[str, str]] = []
    seen: set[tuple[str, str, int]] = set()
    for finding, place in zip(findings, places, strict=True):
        found = known[place.file].get(place.line)
        if found is None:
            result.append({})
            continue
        value, occurrence, lines = found
        if (finding.rule, place.file, place.line) in seen:
            taken[finding.rule, place.file, value] += 1
            occurrence = lines + taken[finding.rule, place.file, value]
        seen.add((finding.rule, place.file, place.line))
        result.append({"primaryLocationLineHash": f"{value}:{occurrence}"})
    return result


def _message(report: Report, finding: Finding) -> tuple[str, list[dict[str, Any]]]:
    """The text, its first sentence the title, and the related locations it links to: only linked ones are shown (3)."""
    sentences = [_sentence(finding.message)]
    if finding.label:
        sentences.append(_sentence(finding.label))
    links = []
    related: list[dict[str, Any]] = []
    for each in finding.related:
        if not report.relative(each.location.file) or len(related) == MOST_RELATED:
            continue
        number = len(related) + 1
        links.append(f"[{_link_text(each.message)}]({number})")
        place = _physical(report, place_of(report, each.location))
        related.append({"id": number, "message": {"text": each.message or "here"}, **place})
    if links:
        sentences.append(f"See {', '.join(links)}.")
    sentences += [_sentence(each) for each in finding.help]
    return " ".join(sentences), related


def _sentence(text: str) -> str:
    """With a capital letter and a full stop, and with nothing that would read as a link."""
    text = text.strip().replace("](", "\\](") or "Finding"
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?:" else ".")


def _link_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return escaped or "here"


def _physical(report: Report, place: Place) -> dict[str, Any]:
    """A region of one line: an alert is shown on a pull request only if all its lines are part of the change (2)."""
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(report.relative(place.file) or place.file)},
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.line,
                "endColumn": place.end_column,
            },
        }
    }


def _uri(path: str) -> str:
    """A path below the git root as a relative reference: `/`, percent-encoded, no scheme, no `./` (7)."""
    from urllib.parse import quote

    return quote(path.removeprefix("./"), safe="/-._~!$&'()*+,;=@", errors="replace")


def _qualified(key: ResourceKey) -> str:
    kind = f"{key.kind}.{key.group}" if key.group else key.kind
    return f"{kind}/{key.path}"


__all__ = ["MOST_RESULTS", "left_out", "write"]
