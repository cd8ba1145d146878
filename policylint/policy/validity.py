"""Whether a policy is refused before anything is merged (docs/design/semantics.md §1, rules 2-5, 15)."""

from __future__ import annotations

from policylint.model import PolicyKind, Resource, mapping, sequence
from policylint.policy.declared import Reading
from policylint.policy.results import Target

SCHEMA = "schema"
"""The code of a policy that the API server refuses by the schema of its kind."""
SWITCHED_OFF = "switched-off"
"""The code of a policy that needs a feature which the settings of its controller switch off."""


def structural(policy: Resource, kind: PolicyKind, targets: tuple[Target, ...]) -> Reading:
    """Return the first structural fault of a policy's references, a Reading without code when there is none.

    Beside selectors both forms pass (the rule «either targetRef or targetRefs must be used» of Envoy Gateway's CRDs).
    """
    both = [ref.path for ref in kind.references if ref.form in ("ref", "refs") and ref.path in policy.spec]
    if len(both) > 1 and not any(ref.form == "selectors" and policy.spec.get(ref.path) for ref in kind.references):
        return Reading(code="both-forms", reason=f"`{both[0]}` and `{both[1]}` are both set", pointer=("spec", both[1]))
    for reference in kind.references:
        entries = sequence(mapping(policy.spec).get(reference.path))
        if reference.form == "refs" and len(entries) > kind.max_targets:
            reason = f"{len(entries)} targets, {kind.kind} takes at most {kind.max_targets}"
            return Reading(code="too-many", reason=reason, pointer=("spec", reference.path, kind.max_targets))
    named = [target for target in targets if target.selector is None and target.filter is None and target.key.name]
    seen: dict[object, Target] = {}
    for target in named:
        identity = (target.key, target.section)
        if identity in seen:
            return Reading(code="duplicate-target", reason=f"{target} is targeted twice", pointer=target.pointer)
        seen[identity] = target
    # Of a kind that nobody described, a route's filter may name the policy, or the target may be another field.
    needed = kind.default_target == "none" and kind.origin != "shape"
    needed = needed and not any(reference.optional for reference in kind.references)
    if not targets and needed and not kind.extension_ref and not _selects(policy, kind):
        return Reading(code="no-target", reason="the policy names no target", pointer=("spec",))
    return Reading()


def _selects(policy: Resource, kind: PolicyKind) -> bool:
    """Whether the policy has a reference of a form that other rooms resolve (workload and label selectors)."""
    for reference in kind.references:
        if reference.form in ("workload-selector", "label-selector", "namespace-selector"):
            value: object = policy.spec
            for step in reference.path.split("."):
                value = mapping(value).get(step)
            if value is not None:
                return True
    return False


def edition(policy: Resource, kind: PolicyKind, targets: tuple[Target, ...]) -> Reading:
    """Return what only the 2023 edition refuses: a namespaced policy on a GatewayClass ((a1) 15)."""
    if kind.merge.strategy != "field" or not policy.key.namespace:
        return Reading()
    for target in targets:
        if target.key.kind == "GatewayClass":
            reason = "a policy on a GatewayClass must be cluster-scoped"
            return Reading(code="cluster-scope", reason=reason, pointer=target.pointer)
    return Reading()
