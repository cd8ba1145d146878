"""A policy kind as the entry that schemas/policy-kind.json describes: the inverse of `policy_kind`."""

from __future__ import annotations

from typing import Any

from policylint.model.policy_kind import UNLIMITED, PolicyKind
from policylint.model.weakness import weakness_entry


def kind_entry(kind: PolicyKind) -> dict[str, Any]:
    """Return the entry of a kind in plain values, in the order in which entries are written; defaults are left out."""
    entry: dict[str, Any] = {"group": kind.group, "kind": kind.kind}
    entry |= _set(plural=kind.plural, versions=list(kind.versions), deprecatedVersions=dict(kind.deprecated_versions))
    entry |= _set(scope="Cluster" if kind.cluster_scoped else "", label=kind.label)
    entry["class"] = kind.policy_class
    bound_by = "" if kind.bound_by == "reference" else kind.bound_by
    entry |= _set(boundBy=bound_by, annotation=kind.annotation, says=kind.says, extensionRef=kind.extension_ref)
    entry |= _set(members=kind.members, everywhere=dict(kind.everywhere), readWith=kind.read_with, switchedOff=kind.off)
    if kind.clients is not None:
        entry["clients"] = _set(**kind.clients._asdict() | {"kinds": list(kind.clients.kinds)})
    entry |= _set(unresolved="" if kind.unresolved == "fails" else kind.unresolved)
    entry |= _set(
        narrows=kind.narrows,
        preflight=kind.preflight,
        misleads=[
            {"path": each.path} | _set(**each._asdict() | {"together": list(each.together)}) for each in kind.misleads
        ],
        refuses=[_set(**each._asdict()) for each in kind.refuses],
        consumes=[{"header": each.header} | _set(**each._asdict()) for each in kind.consumes],
    )
    if kind.exposes is not None:
        entry["exposes"] = _set(**kind.exposes._asdict() | {"also": list(kind.exposes.also)})
    if kind.expects is not None:
        entry["expects"] = _set(**kind.expects._asdict() | {"paths": list(kind.expects.paths)})
    if kind.sessions is not None:
        entry["sessions"] = _set(**kind.sessions._asdict() | {"same": list(kind.sessions.same)})
    entry |= _set(
        refers=[
            {"path": field.path, "kinds": [".".join(filter(None, (name, group))) for group, name in field.kinds]}
            | _set(missing=field.missing)
            | ({} if field.home else {"home": False})
            for field in kind.refers
        ]
    )
    entry |= _set(waits=dict(kind.waits), headers=dict(kind.headers), secures=dict(kind.secures))
    entry |= _set(answers={} if kind.answers is None else _set(**kind.answers._asdict()))
    entry |= _set(probes={} if kind.probes is None else _set(**kind.probes._asdict()))
    entry |= _set(nodePorts={} if kind.node_ports is None else kind.node_ports._asdict())
    entry["references"] = [
        {"path": reference.path, "form": reference.form}
        | _set(deprecated=reference.deprecated, sections=reference.sections)
        | _set(inside=reference.inside, kind=reference.kind, optional=reference.optional, group=reference.group)
        for reference in kind.references
    ]
    entry |= {"default-target": kind.default_target} if kind.default_target != "none" else {}
    entry["targets"] = [
        {"group": target.group, "kind": target.kind}
        | _set(sections=target.sections, virtual=target.virtual, groupless=target.groupless)
        | ({"except": list(target.but)} if target.but else {})
        for target in kind.targets
    ]
    entry |= _set(
        crossNamespace="" if kind.cross_namespace == "no" else kind.cross_namespace,
        selectsAcrossNamespaces=kind.selects_across_namespaces,
    )
    entry["maxTargets"] = None if kind.max_targets == UNLIMITED else kind.max_targets
    entry["merge"] = _merge(kind)
    return entry | _set(
        conflict="" if kind.conflict == "none" else kind.conflict,
        conflictFields=list(kind.conflict_fields),
        shadowedBySection=kind.shadowed_by_section,
        effectiveAt=kind.effective_at,
        syntheticRuleNames=kind.synthetic_rule_names,
        anyCase=kind.any_case,
        required=list(kind.required),
        settings=_set(
            authentication=list(kind.settings.authentication),
            authorization=list(kind.settings.authorization),
            protection=list(kind.settings.protection),
            optional=list(kind.settings.optional),
            outside=list(kind.settings.outside),
            inside=dict(kind.settings.inside),
            code=list(kind.settings.code),
            raw=list(kind.settings.raw),
            plain=list(kind.settings.plain),
        ),
        weaker=[weakness_entry(weak) for weak in kind.weaker],
        idle=list(kind.idle),
        status=kind.status,
        ancestor="" if kind.ancestor == "none" else kind.ancestor,
        conditions={name: list(reasons) for name, reasons in kind.conditions.items()},
        targetCondition=kind.target_condition,
        verified=kind.verified,
        source=kind.source,
        notes=kind.notes,
    )


def _merge(kind: PolicyKind) -> dict[str, Any]:
    """Return the entry's `merge`."""
    merge = kind.merge
    entry: dict[str, Any] = {"strategy": merge.strategy, "wrappers": dict(merge.wrappers)}
    if merge.directive is not None:
        entry["directive"] = {
            "field": merge.directive.field,
            "decidedBy": merge.directive.on,
            "values": dict(merge.directive.values),
        } | _set(since=merge.directive.since)
    return entry | _set(
        both=merge.both,
        wrapped=merge.wrapped,
        units=list(merge.units),
        emptyWithout=list(merge.empty_without),
        emptyOptsOut=merge.empty_opts_out,
        maps=list(merge.maps),
        lists=dict(merge.lists),
        ignore=list(merge.ignore),
    )


def _set(**fields: Any) -> dict[str, Any]:
    """Return the fields that hold something."""
    return {name: value for name, value in fields.items() if value}
