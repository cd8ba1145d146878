"""A policy kind in words: its targets, how two policies of it combine, what its controller reports."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model.keys import GATEWAY_GROUP
from policylint.model.policy_kind import UNLIMITED, PolicyKind, TargetKind
from policylint.model.words import series

_STRATEGIES = {
    "none": "none: one policy per target",
    "atomic-defaults": "the more specific replaces the broader whole",
    "patch-defaults": "the more specific wins field by field",
    "atomic-overrides": "the broader replaces the more specific whole",
    "patch-overrides": "the broader wins field by field",
    "field": "each field by itself, overrides over defaults",
    "units": "by named rule, the more specific keeps its own",
    "union": "all apply together",
    "each": "each acts by itself",
    "custom": "by rules of its own",
}
_GRANULARITIES = {
    "atomic": "whole",
    "patch": "field by field (RFC 7386)",
    "strategic": "field by field, keyed lists by key",
    "units": "by named rule",
    "field": "each field by itself",
    "none": "not at all",
}
_CONFLICTS = {
    "none": "No policy is refused for another's sake.",
    "same-target": "Of two with the same target and section the older wins; the other is Conflicted.",
    "section-first": "Of two with the same target and section the older wins; one on a section keeps those on the "
    "whole object off it.",
    "same-target-strictly-older": "Of two with the same target and section the older wins and the other is Conflicted; "
    "made in the same second, both stand.",
    "overlapping-fields": "Of two with the same target that set the same field the older wins; the other is Conflicted "
    "as a whole.",
    "same-level": "Of two on the same level the older wins; the other is Conflicted.",
    "namespace-singleton": "Of several that hold for a whole namespace (or the mesh) only the oldest counts.",
}
_IN_SHORT = {
    "none": "-",
    "atomic-defaults": "whole",
    "patch-defaults": "by field",
    "atomic-overrides": "whole, up",
    "patch-overrides": "field, up",
    "field": "each field",
    "units": "by rule",
    "union": "all apply",
    "each": "all apply",
    "custom": "own rules",
}
_CONFLICTS_IN_SHORT = {
    "none": "-",
    "same-target": "older wins",
    "same-target-strictly-older": "older wins",
    "section-first": "section, then older",
    "overlapping-fields": "by field",
    "same-level": "per level",
    "namespace-singleton": "oldest",
}
_STATUS = {
    "ancestors": "status.ancestors, one entry per ancestor",
    "conditions": "status.conditions of the policy",
    "none": "nothing that Gateway API defines",
}
_BOUND = {
    "extension-ref": "A rule of a route names it as a filter (extensionRef).",
    "parameters-ref": "A GatewayClass or Gateway names it as its parameters (parametersRef).",
    "annotation": "An annotation on the target names it.",
    "object": "Objects of another kind name it.",
    "none": "Nothing is attached by it.",
}
_VERIFIED = {
    "yes": "These facts were read in the implementation's own code.",
    "partly": "Part of these facts is inferred or from documentation only.",
    "no": "These facts are not verified.",
}


def targets_in_words(kind: PolicyKind) -> str:
    """Return the targets: `Gateway, HTTPRoute`, with `#` where sections may be named; `any kind`; `-` for none."""
    return ", ".join(_target(target) + ("#" if target.sections else "") for target in kind.targets) or "-"


def merge_in_words(kind: PolicyKind) -> str:
    """Return the merge strategy as one phrase for a table."""
    if kind.policy_class == "Other":
        return "not evaluated"
    directive = kind.merge.directive
    return _STRATEGIES[kind.merge.strategy] + (f"; {directive.field} decides" if directive is not None else "")


def in_short(kind: PolicyKind) -> tuple[str, str]:
    """Return merging and conflict rule in a word each, for narrow tables; `*` where a field of the policy decides."""
    if kind.policy_class == "Other":
        return "-", "-"
    return _IN_SHORT[kind.merge.strategy] + ("*" if kind.merge.directive else ""), _CONFLICTS_IN_SHORT[kind.conflict]


def conflicts_in_words(kind: PolicyKind) -> str:
    """Return the conflict rule as one phrase for a table."""
    if kind.policy_class == "Other" or kind.conflict == "none":
        return "-"
    words = _CONFLICTS[kind.conflict].partition(";")[0].rstrip(".")
    fields = f" ({', '.join(kind.conflict_fields)})" if kind.conflict_fields else ""
    return words + fields


def status_in_words(kind: PolicyKind) -> str:
    """Return the conditions that the controller writes, and where."""
    if kind.status == "none":
        return "none"
    names = ", ".join(kind.conditions) or "conditions"
    where = "per ancestor" if kind.status == "ancestors" else "one list"
    mark = f"; {kind.target_condition} on targets" if kind.target_condition else ""
    return f"{names} ({where}){mark}"


def verified_in_words(kind: PolicyKind) -> str:
    """Return how far the facts are verified, and against what."""
    return f"{kind.verified}: {kind.source}" if kind.source else kind.verified


def explain(kind: PolicyKind, evaluated: str = "") -> Iterator[tuple[str, str]]:
    """Yield a kind in full: (heading, sentences) pairs.

    Args:
        evaluated: how else than by what it targets it is evaluated, "" where it is not.
    """
    yield "Kind", _identity(kind)
    if kind.bound_by != "reference":
        yield "Attachment", _BOUND[kind.bound_by]
    if kind.policy_class == "Other":
        yield "Evaluation", evaluated or "policylint recognises this kind and does not evaluate it."
    elif kind.bound_by == "reference":
        yield "Targets", " ".join(_targets(kind))
        yield "References", " ".join(_references(kind))
        yield "Merging", " ".join(_merging(kind))
        yield "Conflicts", " ".join(_conflicts(kind))
    losses = [
        f"{name}: {series(fields)}"
        for name, fields in zip(("authentication", "authorization", "protection"), kind.settings[:3], strict=True)
        if fields
    ]
    if losses:
        yield "Security", f"Settings whose loss matters: {'; '.join(losses)}."
    if kind.weaker:
        yield "Weaker", f"A change is reported that weakens {series(dict.fromkeys(weak.path for weak in kind.weaker))}."
    yield "Status", " ".join(_status(kind))
    if kind.notes:
        yield "Notes", kind.notes
    yield "Facts", " ".join(filter(None, (_VERIFIED[kind.verified], f"Source: {kind.source}." if kind.source else "")))


def _identity(kind: PolicyKind) -> str:
    """Return the kind's name, scope, class and versions in words."""
    scope = "cluster-scoped" if kind.cluster_scoped else "namespaced"
    versions = f" Versions: {series(kind.versions)}." if kind.versions else " No version of it is served any more."
    old = "".join(f" {version} is superseded by {new}." for version, new in kind.deprecated_versions.items())
    label = f" Its CRD is labelled {kind.label!r}." if kind.label else ""
    if kind.kind == "*":
        return f"Any other kind of group {kind.group} ({kind.implementation}), class {kind.policy_class}."
    origin = kind.implementation or "from a CRD"
    return f"{kind} ({origin}), {scope}, class {kind.policy_class}.{versions}{old}{label}"


def _targets(kind: PolicyKind) -> Iterator[str]:
    """Yield sentences about what the kind may target."""
    if kind.targets:
        yield f"It may target {series(_target(target, full=True) for target in kind.targets)}."
    sectioned = [_target(target) for target in kind.targets if target.sections]
    if sectioned:
        everywhere = len(sectioned) == len(kind.targets)
        yield f"A sectionName is allowed{'' if everywhere else ' on ' + series(sectioned)}."
    elif kind.targets:
        yield "A sectionName is not allowed."
    if kind.synthetic_rule_names:
        yield "`rule-N` names an unnamed rule of a route."
    if kind.any_case:
        yield "Group and kind of a target may be written in any case."
    if kind.cross_namespace == "grant":
        yield "Another namespace may be named if a ReferenceGrant there allows it."
    elif kind.cross_namespace == "yes":
        yield "Another namespace may be named."
    elif kind.cross_namespace == "clients":
        yield "Another namespace may be named, for traffic from the policy's own namespace alone."
    elif kind.cross_namespace == "ignored":
        yield "Targets are in the policy's own namespace, whatever namespace the reference names."
    elif not kind.cluster_scoped and kind.targets:
        yield "Targets are in the policy's own namespace."
    if kind.default_target == "namespace":
        yield "Without a reference it acts on every workload of its namespace."
    elif kind.default_target == "mesh":
        yield "Without a reference it acts on every workload of its namespace, in the root namespace on the whole mesh."
    if kind.effective_at:
        yield f"It takes effect at the {kind.effective_at}."


def _references(kind: PolicyKind) -> Iterator[str]:
    """Yield sentences about the fields that name targets."""
    yield f"Targets are named in {series(f'spec.{reference.path}' for reference in kind.references)}."
    for reference in kind.references:
        if reference.deprecated:
            yield f"spec.{reference.path} is deprecated: use {reference.deprecated}."
    if any(reference.form == "refs" for reference in kind.references):
        yield "There is no bound on their number." if kind.max_targets == UNLIMITED else f"At most {kind.max_targets}."
    if kind.extension_ref:
        yield "A rule of a route may also name it as a filter (extensionRef)."
    if kind.selects_across_namespaces:
        yield "Selectors may reach other namespaces, given a ReferenceGrant."


def _merging(kind: PolicyKind) -> Iterator[str]:
    """Yield sentences about how two policies combine."""
    merge = kind.merge
    yield f"{_STRATEGIES[merge.strategy].capitalize()}."
    for meaning in ("defaults", "overrides"):
        names = [name for name, wrapped in merge.wrappers.items() if wrapped == meaning]
        if names:
            yield f"spec.{series(names, 'or')} wraps {meaning}."
    if merge.both:
        yield "Both may stand in one policy."
    if merge.directive is not None:
        values = series(
            f"{value} ({_GRANULARITIES[granularity]})" for value, granularity in merge.directive.values.items()
        )
        decider = "broader (established)" if merge.directive.on == "established" else "more specific (challenger)"
        yield f"The field `{merge.directive.field}` of the {decider} policy decides: {values}."
    if merge.units:
        yield f"Named rules are {series(merge.units)}."
    if merge.empty_without:
        yield f"Without {series(merge.empty_without, 'or')} a policy counts as empty."
    if merge.empty_opts_out:
        yield "Even an empty policy replaces the broader one."


def _conflicts(kind: PolicyKind) -> Iterator[str]:
    """Yield sentences about policies that are refused."""
    yield _CONFLICTS[kind.conflict]
    if kind.conflict_fields:
        yield f"Fields compared: {series(kind.conflict_fields)}."
    if kind.shadowed_by_section:
        yield "A policy on a section takes that section from one on the whole object."


def _status(kind: PolicyKind) -> Iterator[str]:
    """Yield sentences about the conditions that the controller writes."""
    yield f"The controller writes {_STATUS[kind.status]}."
    for name, reasons in kind.conditions.items():
        yield f"{name}: {series(reasons)}."
    if kind.target_condition:
        yield f"Affected objects get the condition {kind.target_condition}."


def _target(target: TargetKind, *, full: bool = False) -> str:
    """Return a target kind in words; `full` adds the group."""
    if target.kind == "*":
        return "any kind" if target.group == "*" else f"any kind of {target.group or 'the core group'}"
    return f"{target.kind}.{target.group}" if full and target.group not in ("", "*", GATEWAY_GROUP) else target.kind
