"""GWP510, GWP511, GWP512, GWP513, GWP514, GWP515: what the authors of a policy CRD should mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.crd_kind import POLICY_LABEL
from policylint.checks.kit.crds import PolicyCrd, policy_crds
from policylint.model import Finding, Location, Severity, mapping, sequence, text
from policylint.model.words import listing
from policylint.simulation import Simulation

_DIRECTIVES = ("strategy", "mergeStrategy", "mergeType")
_MOST_TARGETS = 16


def crd_policy_label(simulation: Simulation) -> Iterator[Finding]:
    """Report a CRD without the policy label, or with a value that names no class."""
    for crd in policy_crds(simulation):
        if (crd.label or "").lower() in ("direct", "inherited"):
            continue
        if crd.label is None:
            message, label = "lacks the policy label", "tools cannot tell that this is a policy"
        else:
            message = f'has the policy label "{crd.label}", which names no class'
            label = "neither Direct nor Inherited"
        fix = f"fix: add the label `{POLICY_LABEL}: {crd.kind.policy_class}`"
        yield _finding("GWP510", "warning", crd, message, crd.label_location, label, fix)


def crd_kind_name(simulation: Simulation) -> Iterator[Finding]:
    """Report a kind that does not end in Policy, and a resource that does not end in policies."""
    for crd in policy_crds(simulation):
        plural = text(mapping(crd.crd.spec.get("names")).get("plural"))
        if not crd.name.endswith("Policy"):
            message = f"is a policy, but the name of its kind, {crd.name}, does not say so"
            label, location = "the names of policy kinds end in Policy", crd.kind_location
        elif plural and not plural.endswith("policies"):
            message = f"is a policy, but the name of its resource, {plural}, does not say so"
            label, location = (
                "the names of policy resources end in policies",
                crd.crd.location("spec", "names", "plural"),
            )
        else:
            continue
        yield _finding("GWP511", "note", crd, message, location, label)


def crd_no_conditions(simulation: Simulation) -> Iterator[Finding]:
    """Report a status without conditions: nobody can see whether a policy takes effect."""
    for crd in policy_crds(simulation):
        if crd.schema and not _has_conditions(crd):
            declared = "status" in mapping(crd.schema.get("properties"))
            location = crd.in_schema("properties", "status") if declared else crd.kind_location
            label = "neither `conditions` nor `ancestors`" if declared else "its schema has no status"
            fix = "fix: give the status the type PolicyStatus of Gateway API"
            yield _finding("GWP512", "note", crd, "has no status conditions", location, label, fix)


def _has_conditions(crd: PolicyCrd) -> bool:
    status = mapping(mapping(crd.schema.get("properties")).get("status"))
    if status.get("x-kubernetes-preserve-unknown-fields") is True:
        return True
    return not {"conditions", "ancestors"}.isdisjoint(mapping(status.get("properties")))


def crd_none_combined(simulation: Simulation) -> Iterator[Finding]:
    """Report the strategy None alongside others, or beside defaults and overrides."""
    for crd in policy_crds(simulation):
        for field in _DIRECTIVES:
            values = [str(value) for value in sequence(mapping(crd.spec.get(field)).get("enum"))]
            others = [value for value in values if value.lower() != "none"]
            if len(others) == len(values) or not (others or crd.wrappers):
                continue
            message = f"offers the strategy None alongside {listing([*others, *(f'`{it}`' for it in crd.wrappers)])}"
            label, fix = "a kind either merges or does not", "fix: remove None, or all other strategies"
            yield _finding("GWP513", "warning", crd, message, crd.in_spec(field, "enum"), label, fix)


def crd_direct_many_kinds(simulation: Simulation) -> Iterator[Finding]:
    """Report what says that it is a Direct policy, and allows several target kinds or a way to merge."""
    for crd in policy_crds(simulation):
        if (crd.label or "").lower() != "direct":
            continue
        kinds = sorted({target.kind for target in crd.kind.targets if target.kind != "*"})
        if len(kinds) > 1:
            why = f"may target {listing(kinds)}"
        elif crd.wrappers:
            why = f"has `{crd.wrappers[0]}`, a way to merge"
        else:
            continue
        label = "a Direct policy has one target kind and does not merge"
        note = "note: a kind that can set the same thing at two levels is Inherited"
        yield _finding("GWP514", "note", crd, f"is labelled Direct, but {why}", crd.label_location, label, note)


def crd_target_limits(simulation: Simulation) -> Iterator[Finding]:
    """Report a list of targets without limits of its own."""
    for crd in policy_crds(simulation):
        faults = [] if crd.spec.get("targetRefs") is None else list(_without_limits(mapping(crd.spec["targetRefs"])))
        if faults:
            message = f"lets targetRefs {listing(faults, word='or')}"
            label = f"GEP-713 allows 1 to {_MOST_TARGETS} entries, each target once"
            fix = f"fix: set minItems: 1, maxItems: {_MOST_TARGETS} and `x-kubernetes-list-type: map` with its keys"
            yield _finding("GWP515", "warning", crd, message, crd.in_spec("targetRefs"), label, fix)


def _without_limits(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the list may be or do, and should not."""
    most = schema.get("maxItems")
    if not isinstance(most, int):
        yield "have any number of entries"
    elif most > _MOST_TARGETS:
        yield f"have {most} entries"
    if not schema.get("minItems"):
        yield "be empty"
    keyed = schema.get("x-kubernetes-list-type") in ("map", "set")
    if not keyed and not sequence(schema.get("x-kubernetes-validations")):
        yield "name a target twice"


def _finding(
    rule: str, severity: Severity, crd: PolicyCrd, message: str, location: Location, label: str, *help_lines: str
) -> Finding:
    key = crd.crd.key
    return Finding(rule, severity, f"{key} {message}", location, resources=(key,), label=label, help=help_lines)
