"""`explain-v1`: explanations as plain data for JSON and YAML."""

from __future__ import annotations

from typing import Any

from policylint.explain.contexts import ContextAnswer
from policylint.explain.explanation import Explanation
from policylint.explain.reach import ReachedObject
from policylint.explain.settings import Setting, settings
from policylint.explain.unattached import target_place
from policylint.explain.unseen import UnseenActing
from policylint.explain.wording import Crowd, chains, level_of, strategy, where
from policylint.policy.results import PolicyState, Target
from policylint.report.explain.radius import Radius
from policylint.report.kit import extensions
from policylint.report.kit.identity import Names, json_place, json_pointer

VERSION = "explain-v1"
Entry = dict[str, Any]


def entry(explanation: Explanation, names: Names, field: str, radius: Radius | None, several: bool) -> Entry:
    """Return the explanation of one object."""
    subject = explanation.subject
    content: Entry = {"environment": explanation.environment} if several else {}
    content["object"] = names.node(subject.node)
    if explanation.resource is not None:
        content["location"] = json_place(explanation.resource.name_location)
    content["facts"] = [
        {"name": fact.name, "value": fact.words} for fact in (*explanation.facts, *explanation.other_systems)
    ]
    if explanation.state is None:
        paths = explanation.answers.paths
        every = Crowd(paths)
        content["chains"] = chains(paths, subject.node)
        content["contexts"] = [
            {
                "where": where(answer, every, subject.node),
                "paths": [names.path(path) for path in answer.paths],
                "policies": _policies(answer, names, field),
            }
            for answer in explanation.answers.listed
        ]
        if explanation.answers.truncated:
            content["truncated"] = True
        unseen = UnseenActing(subject.simulation).on(subject.node)
        content.update((name, words) for name, words in (("mayAct", unseen.may), ("notSeen", unseen.ground)) if words)
    else:
        content.update(_policy(explanation, names))
    content["notAttached"] = [
        {"policy": names.key(missing.policy), "why": missing.why, "location": json_place(missing.location)}
        for missing in explanation.unattached
    ]
    if explanation.extensions:
        content["extensions"] = [
            extensions.entry(binding, names) | ({} if by is None else {"yieldsTo": names.key(by.wanted)})
            for binding, by in explanation.extensions
        ]
    content["findings"] = [
        {"rule": each.rule, "severity": each.severity, "message": each.message, "location": json_place(each.location)}
        for each in explanation.findings
    ]
    if radius is not None:
        content["without"] = radius.entry(names)
    return content


def _policies(answer: ContextAnswer, names: Names, field: str) -> list[Entry]:
    entries: list[Entry] = []
    for group in answer.groups:
        if rows := [_setting(setting, names) for setting in settings(group, field)]:
            kind = names.kind(group.kind.group, group.kind.kind)
            some = {"someRequests": True} if answer.meets_some(group) else {}
            entries.append({"kind": kind, "merge": strategy(group.kind), **some, "settings": rows})
    return sorted(entries, key=lambda entry: str(entry["kind"]))


def _setting(setting: Setting, names: Names) -> Entry:
    content: Entry = {
        "field": setting.field,
        "pointer": json_pointer(setting.pointer),
        "value": setting.value,
        "policy": names.key(setting.policy),
        "level": level_of(setting.node),
        "how": setting.state,
    }
    if setting.location is not None:
        content["location"] = json_place(setting.location)
    if setting.by:
        content["by"] = names.keys(setting.by)
    return content


def _policy(explanation: Explanation, names: Names) -> Entry:
    state, reach = explanation.state, explanation.reach
    assert state is not None and reach is not None
    return {
        "kind": names.kind(state.kind.group, state.kind.kind),
        "class": state.kind.policy_class,
        "status": state.verdict,
        "by": names.keys(state.by),
        "overrides": [
            {"policy": names.key(took.loser), "settings": list(took.settings), "whole": took.whole}
            for took in explanation.taken
        ],
        **({"invalid": state.invalid} if state.invalid else {}),
        "targets": [_target(state, target, names) for target in state.targets],
        "refused": [{"target": names.node(each.attachment.node), "by": names.key(each.by)} for each in state.refused],
        "reaches": [_reached(reached, names) for reached in reach.objects],
        "namespaces": list(reach.namespaces),
    }


def _target(state: PolicyState, target: Target, names: Names) -> Entry:
    content: Entry = {
        "target": names.target(target),
        "resolution": target.resolution.state,
        "location": json_place(target_place(state, target)),
    }
    if target.problem:
        content["problem"] = target.detail or target.problem
    if len(target.nodes) > 1 or target.selector is not None:
        content["selects"] = [names.node(node) for node in target.nodes]
    return content


def _reached(reached: ReachedObject, names: Names) -> Entry:
    content: Entry = {"object": names.key(reached.key), "extent": reached.extent}
    if reached.some:
        content["someRequests"] = True
    return {**content, "lost": list(reached.lost), "by": names.keys(reached.by)} if reached.lost else content
