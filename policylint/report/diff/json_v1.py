"""The diff as `json-v1`: findings with their state, effective changes with RFC 6902 patches.

Source: docs/design/interfaces.md.

A context without an effective policy has `null`; its patch starts from, or leads to, an empty object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from policylint.model import ResourceKey
from policylint.report.diff.report import DiffReport
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.json_v1 import _finding as finding_entry
from policylint.report.kit.identity import Names

if TYPE_CHECKING:
    from policylint.compare.change import ContextChange, EnvironmentChange, ObjectChange, PolicyChange, SubjectChange
    from policylint.policy.results import Effective

Entry = dict[str, Any]
MOST_INDENTED = 5_000
"""Entries in all; Python indents slowly, and nobody reads more."""


def write(report: DiffReport) -> str:
    """The document, indented by two, ending in a newline; a long one has one entry of its lists per line."""
    environments = report.comparison.environments
    names = Names(_keys(report))
    listed = [each for each in report.comparison.findings if _is_listed(report, each.finding.confidence)]
    values = fingerprints(report.report, [each.finding for each in listed])
    former = report.report._replace(source_lines=report.before_lines, relative=report.before_relative)
    content = {
        "version": "json-v1",
        "environments": [each.name for each in environments],
        "compared": report.span,
        "coverage": {
            "documents": report.report.coverage.documents,
            "unread": report.report.coverage.unread,
            "not_rendered": list(report.report.coverage.not_rendered),
            "files_differ": report.files_differ,
        },
        "changes": [each for env in environments for each in _changes(env, names)],
        "routes": [_subject(report, each, names) for env in environments for each in env.subjects],
        "policies": [_policy(report, each, names) for env in environments for each in env.policies],
        "objects": [_object(each, names) for env in environments for each in env.objects],
        "findings": [
            {
                "state": each.state,
                **finding_entry(former if each.state == "fixed" else report.report, each.finding, value),
            }
            for each, value in zip(listed, values, strict=True)
        ],
        "summary": _summary(report),
    }
    return _text(content).encode("utf-8", "replace").decode() + "\n"


def _text(content: Entry) -> str:
    import json
    from functools import partial

    dumps = partial(json.dumps, ensure_ascii=False, default=str)
    if sum(len(each) for each in content.values() if isinstance(each, list)) <= MOST_INDENTED:
        return dumps(content, indent=2)
    fields = []
    for name, value in content.items():
        if isinstance(value, list) and value:
            entries = ",\n    ".join(map(dumps, value))
            fields.append(f"  {dumps(name)}: [\n    {entries}\n  ]")
        else:
            fields.append(f"  {dumps(name)}: {dumps(value)}")
    return "{\n" + ",\n".join(fields) + "\n}"


def _is_listed(report: DiffReport, confidence: str) -> bool:
    return confidence != "unknown" or report.report.options.show_unknown


def _keys(report: DiffReport) -> set[ResourceKey]:
    found: set[ResourceKey] = set()
    for environment in report.comparison.environments:
        found.update(node.key for each in environment.contexts for node in each.path)
        found.update(each.policy for each in environment.policies)
        found.update(each.key for each in environment.subjects)
        found.update(each.key for each in environment.objects)
    return found


def _summary(report: DiffReport) -> Entry:
    new = report.known("new")
    routes = [each for env in report.comparison.environments for each in env.subjects if each.is_route]
    return {
        "new": {level: sum(each.severity == level for each in new) for level in ("error", "warning", "note")},
        "fixed": len(report.known("fixed")),
        "unchanged": len(report.known("unchanged")),
        "suppressed": report.report.suppressed,
        "routes": {
            change: sum(each.change == change for each in routes)
            for change in ("changed", "added", "removed", "renamed")
        }
        | {"unknown": sum(len(env.unknown) for env in report.comparison.environments)},
    }


def _changes(environment: EnvironmentChange, names: Names) -> list[Entry]:
    """One entry per context; contexts of one pair of effective policies share the patch."""
    shared: dict[tuple[int, int], Entry] = {}
    patch = _patcher()
    found = []
    for each in environment.contexts:
        pair = (id(each.before), id(each.after))
        if pair not in shared:
            shared[pair] = _pair(each, names, patch)
        found.append(
            {
                "environment": environment.name,
                "path": names.path(each.path),
                "kind": names.kind(each.kind.group, each.kind.kind),
                "path_stands": each.standing,
                **shared[pair],
            }
        )
    return found


def _pair(change: ContextChange, names: Names, patch: Callable[[Any, Any], list[Entry]]) -> Entry:
    before, after = _spec(change.before), _spec(change.after)
    return {
        "before": before,
        "after": after,
        "patch": patch(before or {}, after or {}),
        "from_before": [] if change.before is None else names.keys(change.before.sources),
        "from_after": [] if change.after is None else names.keys(change.after.sources),
    }


def _spec(effective: Effective | None) -> Entry | None:
    if effective is None or not effective.sources:
        return None
    return dict(effective.spec)


def _patcher() -> Callable[[Any, Any], list[Entry]]:
    import jsonpatch

    def patch(before: Any, after: Any) -> list[Entry]:
        return list(jsonpatch.make_patch(before, after).patch)

    return patch


def _subject(report: DiffReport, subject: SubjectChange, names: Names) -> Entry:
    place = report.place(subject.location)
    entry: Entry = {
        "environment": subject.environment,
        "object": names.key(subject.key),
        "change": subject.change,
        "location": None if place is None else {"file": place[0], "line": place[1]},
        "settings": [
            {
                "kind": names.kind(setting.kind.group, setting.kind.kind),
                "setting": setting.name,
                "change": setting.change,
                "rules": [node.section for node in part.rules],
                "gateways": names.keys(part.gateways),
                "from_before": names.keys(each.policy for each in setting.sources_before),
                "from_after": names.keys(each.policy for each in setting.sources_after),
                "by": names.keys(each.policy for each in setting.by),
                "because": setting.because,
            }
            for part in subject.parts
            for setting in part.settings
            if setting.change != "unchanged"
        ],
        "does_not_apply": [
            {
                "kind": names.kind(setting.kind.group, setting.kind.kind),
                "setting": setting.name,
                "from": names.keys(each.policy for each in setting.sources_before),
                "by": names.keys(each.policy for each in setting.by),
            }
            for part in subject.parts
            for setting in part.lost
        ],
        "reach": [
            {"what": each.what, "name": each.name, "before": each.before, "after": each.after} for each in subject.reach
        ],
    }
    if subject.was is not None:
        entry["was"] = names.key(subject.was)
    if subject.reason:
        entry["reason"] = subject.reason
    return entry


def _policy(report: DiffReport, change: PolicyChange, names: Names) -> Entry:
    place = report.place(change.location)
    return {
        "environment": change.environment,
        "policy": names.key(change.policy),
        "before": change.before or None,
        "after": change.after or None,
        "by": names.keys(change.by),
        "location": None if place is None else {"file": place[0], "line": place[1]},
    }


def _object(touched: ObjectChange, names: Names) -> Entry:
    entry: Entry = {
        "environment": touched.environment,
        "object": names.key(touched.key),
        "change": touched.change,
        "routes": names.keys(touched.routes),
        "rules": [names.node(node) for node in touched.rules],
        "hostnames": list(touched.hostnames),
        "namespaces": list(touched.namespaces),
    }
    if touched.was is not None:
        entry["was"] = names.key(touched.was)
    return entry
