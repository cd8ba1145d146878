"""`explain-v1`: explanations as plain data for JSON and YAML."""

from __future__ import annotations

from typing import Any

from policylint.explain.contexts import ContextAnswer
from policylint.explain.explanation import Explanation
from policylint.explain.reach import ReachedObject
from policylint.explain.settings import Setting, settings
from policylint.explain.unattached import target_place
from policylint.explain.wording import chains, level_of, strategy, where
from policylint.model import Location
from policylint.report.explain.radius import Radius
from policylint.report.kit.identity import Names, json_pointer

VERSION = "explain-v1"
Entry = dict[str, Any]


def entry(explanation: Explanation, names: Names, field: str, radius: Radius | None, several: bool) -> Entry:
    """One object."""
    subject = explanation.subject
    found: Entry = {"environment": explanation.environment} if several else {}
    found["object"] = names.node(subject.node)
    if explanation.resource is not None:
        found["location"] = place(explanation.resource.name_location)
    found["facts"] = [{"name": each.name, "value": each.words} for each in explanation.facts]
    if explanation.state is None:
        paths = explanation.answers.paths
        found["chains"] = chains(paths, subject.node)
        found["contexts"] = [
            {
                "where": where(each, paths, subject.node),
                "paths": [names.path(path) for path in each.paths],
                "policies": _policies(each, names, field),
            }
            for each in explanation.answers.listed
        ]
        if explanation.answers.truncated:
            found["truncated"] = True
    else:
        found.update(_policy(explanation, names))
    found["notAttached"] = [
        {"policy": names.key(each.policy), "why": each.why, "location": place(each.location)}
        for each in explanation.unattached
    ]
    found["findings"] = [
        {"rule": each.rule, "severity": each.severity, "message": each.message, "location": place(each.location)}
        for each in explanation.findings
    ]
    if radius is not None:
        found["without"] = radius.entry(names)
    return found


def place(location: Location) -> Entry:
    return {"file": location.file, "line": location.at()[0]}


def _policies(answer: ContextAnswer, names: Names, field: str) -> list[Entry]:
    found = []
    for group in answer.groups:
        rows = [_setting(each, names) for each in settings(group, field)]
        if rows:
            kind = names.kind(group.kind.group, group.kind.kind)
            found.append({"kind": kind, "merge": strategy(group.kind), "settings": rows})
    return sorted(found, key=lambda each: str(each["kind"]))


def _setting(setting: Setting, names: Names) -> Entry:
    found: Entry = {
        "field": setting.field,
        "pointer": json_pointer(setting.pointer),
        "value": setting.value,
        "policy": names.key(setting.policy),
        "level": level_of(setting.node),
        "how": setting.state,
    }
    if setting.location is not None:
        found["location"] = place(setting.location)
    if setting.by:
        found["by"] = names.keys(setting.by)
    return found


def _policy(explanation: Explanation, names: Names) -> Entry:
    state, reach = explanation.state, explanation.reach
    assert state is not None and reach is not None
    targets = []
    for each in state.targets:
        target: Entry = {
            "target": names.target(each),
            "resolution": each.resolution.state,
            "location": place(target_place(state, each)),
        }
        if each.problem:
            target["problem"] = each.detail or each.problem
        if len(each.nodes) > 1 or each.selector is not None:
            target["selects"] = [names.node(node) for node in each.nodes]
        targets.append(target)
    return {
        "kind": names.kind(state.kind.group, state.kind.kind),
        "class": state.kind.policy_class,
        "status": state.verdict,
        "by": names.keys(state.by),
        **({"invalid": state.invalid} if state.invalid else {}),
        "targets": targets,
        "refused": [{"target": names.node(each.attachment.node), "by": names.key(each.by)} for each in state.refused],
        "reaches": [_reached(each, names) for each in reach.objects],
        "namespaces": list(reach.namespaces),
    }


def _reached(each: ReachedObject, names: Names) -> Entry:
    found: Entry = {"object": names.key(each.key), "extent": each.extent}
    return {**found, "lost": list(each.lost), "by": names.keys(each.by)} if each.lost else found
