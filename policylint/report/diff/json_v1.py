"""The diff as `json-v1`: findings with their state, effective changes with RFC 6902 patches.

Source: docs/design/interfaces.md.

A context without an effective policy has `null`; its patch starts from, or leads to, an empty object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model import ResourceKey
from policylint.report.diff import requests as request_changes
from policylint.report.diff.mermaid import drawings
from policylint.report.diff.report import DiffReport
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.json_v1 import coverage_entry, finding_entry, suppressed_entries
from policylint.report.findings.report import counts
from policylint.report.kit.connections import connection_entry
from policylint.report.kit.identity import MOST_INDENTED, Names, visible_json
from policylint.report.kit.placements import placement_entry

if TYPE_CHECKING:
    from policylint.compare.change import (
        ContextChange,
        EnvironmentChange,
        ObjectChange,
        Part,
        PolicyChange,
        SettingChange,
        SubjectChange,
    )
    from policylint.policy.results import Effective
    from policylint.session.judge import ConfigurationChange

Entry = dict[str, Any]


def write(report: DiffReport) -> str:
    """Write the document, indented by two, ending in a newline; a long one has one entry of its lists per line."""
    environments = report.comparison.environments
    names = Names(_keys(report))
    known = report.report.options.show_unknown
    listed = [compared for compared in report.comparison.findings if known or compared.finding.confidence != "unknown"]
    values = fingerprints(report.report, [compared.finding for compared in listed])
    former = report.report._replace(source_lines=report.before_lines, relative=report.before_relative)
    sides = {"fixed": former, "moot": former}
    content = {
        "version": "json-v1",
        "environments": [environment.name for environment in environments],
        "compared": report.span,
        "command": report.again,
        "coverage": {**coverage_entry(report.report), "files_differ": report.files_differ},
        "changes": [change for environment in environments for change in _changes(environment, names)],
        "routes": [_subject(report, subject, names) for env in environments for subject in env.subjects],
        "policies": [_policy(report, change, names) for env in environments for change in env.policies],
        "objects": [_object(touched, names) for env in environments for touched in env.objects],
        "findings": [
            {
                "state": each.state,
                **finding_entry(sides.get(each.state, report.report), each.finding, value),
                "label": each.finding.label,
                **({"field": each.finding.field} if each.finding.field else {}),
                "help": list(each.finding.notes),
            }
            for each, value in zip(listed, values, strict=True)
        ],
        "summary": _summary(report),
    }
    connections = [change for env in environments for change in env.connections]
    if report.readers:
        content["revisions"] = report.readers
    if connections:
        content["connections"] = [connection_entry(change, names) for change in connections]
    requests = [env for env in environments if env.requests is not None and (env.requests.hosts or env.requests.same)]
    if requests:
        content["requests"] = [request_changes.entry(report, env, names) for env in requests]
    placements = [
        {**placement_entry(change, names), "location": report.place(change.location)}
        for env in environments
        for change in env.placements
    ]
    if placements:
        content["placements"] = placements
    if diagrams := [{"environment": env.name, "mermaid": drawn} for env, drawn in drawings(report)]:
        content["diagrams"] = diagrams
    if report.configuration is not None:
        content["configuration"] = _configuration(report, report.configuration)
    if report.silenced:
        content["suppressed"] = suppressed_entries(report.report, report.silenced)
    return visible_json(_text(content)) + "\n"


def _configuration(report: DiffReport, change: ConfigurationChange) -> Entry:
    return {
        "change": change.change,
        "location": {"file": report.report.path_of(change.file), "line": change.line},
        "keys": list(change.keys),
        "judged_by": change.base.replace("`", ""),
        "message": change.message,
    }


def _text(content: Entry) -> str:
    import json
    from functools import partial

    dumps = partial(json.dumps, ensure_ascii=False, default=str)
    if sum(len(part) for part in content.values() if isinstance(part, list)) <= MOST_INDENTED:
        return dumps(content, indent=2)
    fields = []
    for name, value in content.items():
        if isinstance(value, list) and value:
            entries = ",\n    ".join(map(dumps, value))
            fields.append(f"  {dumps(name)}: [\n    {entries}\n  ]")
        else:
            fields.append(f"  {dumps(name)}: {dumps(value)}")
    return "{\n" + ",\n".join(fields) + "\n}"


def _keys(report: DiffReport) -> set[ResourceKey]:
    keys: set[ResourceKey] = set()
    for environment in report.comparison.environments:
        keys.update(node.key for context in environment.contexts for node in context.path)
        keys.update(change.policy for change in environment.policies)
        keys.update(subject.key for subject in environment.subjects)
        keys.update(touched.key for touched in environment.objects)
        for change in () if environment.requests is None else environment.requests.changes:
            keys.update(change.routes, (who.policy for who in change.by), (each.gateway for each in change.requests))
        keys.update(key for change in environment.placements for key in (change.policy, *change.by))
    return keys


def _summary(report: DiffReport) -> Entry:
    environments = report.comparison.environments
    changes = [subject.change for env in environments for subject in env.subjects if subject.is_route]
    return {
        "new": counts(report.known("new")),
        "fixed": len(report.known("fixed")),
        "moot": len(report.known("moot")),
        "unchanged": len(report.known("unchanged")),
        "suppressed": report.report.suppressed,
        "routes": {change: changes.count(change) for change in ("changed", "added", "removed", "renamed")}
        | {"unknown": sum(len(env.unknown) for env in environments)},
        "routes_after": {env.name: env.routes for env in environments},
    }


def _changes(environment: EnvironmentChange, names: Names) -> list[Entry]:
    """Return one entry per context; contexts of one pair of effective policies share the patch."""
    shared: dict[tuple[int, int], Entry] = {}
    entries = []
    for context in environment.contexts:
        pair = (id(context.before), id(context.after))
        if pair not in shared:
            shared[pair] = _pair(context, names)
        entries.append(
            {
                "environment": environment.name,
                "path": names.path(context.path),
                "kind": names.kind(context.kind.group, context.kind.kind),
                "path_stands": context.standing,
                **shared[pair],
            }
        )
    return entries


def _pair(change: ContextChange, names: Names) -> Entry:
    import jsonpatch

    before, after = _spec(change.before), _spec(change.after)
    return {
        "before": before,
        "after": after,
        "patch": list(jsonpatch.make_patch(before or {}, after or {}).patch),
        "from_before": [] if change.before is None else names.keys(change.before.sources),
        "from_after": [] if change.after is None else names.keys(change.after.sources),
    }


def _spec(effective: Effective | None) -> Entry | None:
    return dict(effective.spec) if effective is not None and effective.sources else None


def _subject(report: DiffReport, subject: SubjectChange, names: Names) -> Entry:
    entry: Entry = {
        "environment": subject.environment,
        "object": names.key(subject.key),
        "change": subject.change,
        "location": report.place(subject.location),
        "settings": [
            _setting(report, part, setting, names)
            for part in subject.parts
            for setting in part.settings
            if setting.change != "unchanged"
        ],
        "does_not_apply": [
            {
                "kind": names.kind(setting.kind.group, setting.kind.kind),
                "setting": setting.name,
                "from": names.keys(origin.policy for origin in setting.sources_before),
                "by": names.keys(origin.policy for origin in setting.by),
                **_scope(report, part, setting, names),
            }
            for part in subject.parts
            for setting in part.lost
        ],
        "reach": [
            {
                "what": reach.what,
                "name": reach.name,
                "before": reach.before,
                "after": reach.after,
                "message": reach.message,
            }
            for reach in subject.reach
        ],
    }
    if subject.was is not None:
        entry["was"] = names.key(subject.was)
    if subject.reason:
        entry["reason"] = subject.reason
    return entry


def _setting(report: DiffReport, part: Part, setting: SettingChange, names: Names) -> Entry:
    return {
        "kind": names.kind(setting.kind.group, setting.kind.kind),
        "setting": setting.name,
        "change": setting.change,
        "before": setting.before,
        "after": setting.after,
        "protects": setting.name in setting.kind.settings.security,
        "asks": setting.name in setting.kind.settings.asking,
        "weaker": setting.weaker,
        "from_before": names.keys(origin.policy for origin in setting.sources_before),
        "from_after": names.keys(origin.policy for origin in setting.sources_after),
        "by": names.keys(origin.policy for origin in setting.by),
        "because": setting.because,
        **_scope(report, part, setting, names),
    }


def _scope(report: DiffReport, part: Part, setting: SettingChange, names: Names) -> Entry:
    """Return where a setting changes, and which policies in which places decide on it."""
    sides = {"before": setting.sources_before, "after": setting.sources_after, "by": setting.by}
    return {
        "rules": [node.section for node in part.rules],
        "all_rules": part.all_rules,
        "gateways": names.keys(part.gateways),
        "origins": {
            side: [
                {"policy": names.key(origin.policy), "location": report.place(origin.location)} for origin in origins
            ]
            for side, origins in sides.items()
        },
    }


def _policy(report: DiffReport, change: PolicyChange, names: Names) -> Entry:
    return {
        "environment": change.environment,
        "policy": names.key(change.policy),
        "before": change.before or None,
        "after": change.after or None,
        "by": names.keys(change.by),
        "location": report.place(change.location),
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
    return entry if touched.was is None else {**entry, "was": names.key(touched.was)}
