"""GWP501: an object breaks its schema, so that the API server refuses it or drops part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policylint.checks.conflicting_merge_directives import CODES as MERGING
from policylint.checks.kit.fixes import rename_key, set_value
from policylint.checks.kit.locations import path, value_at
from policylint.checks.kit.schemas import is_of_texts, is_surprising, written_text
from policylint.checks.kit.wording import near
from policylint.clusters.kinds import POLICY, POLICY_GROUP
from policylint.clusters.templates import INFORM_ONLY, PolicyTemplate, policy_templates
from policylint.model import Confidence, Finding, Location, Related, Resource, ResourceKey, Severity, mapping, text
from policylint.model.fix import Fix
from policylint.model.resource import deepest_written
from policylint.model.words import listing
from policylint.network.kinds import CLUSTER, CLUSTER_NETWORK_POLICY, has_policies
from policylint.policy.validity import SCHEMA
from policylint.schema.broken import BrokenObject, broken_within, is_lasting, is_open, is_passing
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

RULE = "GWP501"
_OF_KUBERNETES = "networking.k8s.io"
_TARGETS = ("targetRef", "targetRefs", "targetSelectors")
_MISAIMED = ("kind-not-allowed", "malformed", "section-not-allowed")
_SELECTOR = {"matchLabels", "matchExpressions"}
_OF_FORM = ("required", "type", "enum")
_LOOSE = frozenset(CLUSTER) - {CLUSTER_NETWORK_POLICY}
"""Kinds of which some releases of their one version ask for less."""
_DROPPED = "note: kubectl rejects an unknown field; with other clients it is silently dropped"

_FORMER = ("note: a cluster that has it keeps its former state; a new one gets none of it",)


def check(simulation: Simulation) -> Iterator[Finding]:
    for broken in simulation.broken:
        for violation in broken.violations:
            if not _has_own_rule(simulation, broken, violation):
                is_refused = violation is broken.refusal and broken.resource.key in simulation.refused
                yield _finding(broken, violation, _FORMER if is_refused else _taken(broken, violation))
    if has_policies(simulation.world):
        yield from _of_network_policies(simulation)
        yield from _strange_in_network_policies(simulation)
    if simulation.world.of_kind(*POLICY):
        yield from _of_templates(simulation)


def _taken(broken: BrokenObject, violation: Violation) -> tuple[str, ...]:
    """Return why an object that lacks something of its form counts all the same: for a field of another release, or as
    its version was looser in some of them (`simulation`)."""
    if broken.resource.key[:2] in _LOOSE and violation.code in _OF_FORM:
        return (f"note: it counts as it is written: other releases of {broken.resource.version} ask for less",)
    opened = (each for each in broken.violations if each.code == "unknown-field" and is_open(broken, each))
    field = next(opened, None) if broken.refusal is None and violation.code in _OF_FORM else None
    return (
        () if field is None else (f"note: it counts as it is written: another release may have {path(field.pointer)}",)
    )


def _of_templates(simulation: Simulation) -> Iterator[Finding]:
    """Yield what the templates of Policies lack, or have in a wrong form: clusters refuse them, the hub does not."""
    holders: dict[ResourceKey, Resource] = {}
    written: list[Resource] = []
    for key in simulation.hub.policies:
        policy = simulation.world.resources[key]
        for template in policy_templates(policy):
            group, kind = template.kind
            if group == POLICY_GROUP and isinstance(template.body, dict):
                inner = ResourceKey(group, kind, "", template.name)
                version = text(template.body.get("apiVersion")).rpartition("/")[2]
                root = (*policy.root, *template.pointer)
                written.append(Resource(inner, version, _as_applied(template, policy), policy.document, root))
                holders[inner] = policy
    for broken in broken_within(simulation.world, written):
        for violation in broken.violations:
            if violation.code in _OF_FORM and "{{" not in str(violation.value):
                found = _finding(
                    broken, violation, ("note: the hub takes the Policy, and its clusters report an error",)
                )
                yield found._replace(resources=(holders[broken.resource.key].key,))


def _as_applied(template: PolicyTemplate, policy: Resource) -> dict[str, Any]:
    """Return the object of a template as its cluster gets it: the Policy has the last word on what it does, and
    `InformOnly` is written down as `inform` (governance-policy-framework-addon, overrideRemediationAction)."""
    spec = template.body.get("spec")
    action = "inform" if template.action == INFORM_ONLY else text(policy.spec.get("remediationAction"))
    changed = {"spec": {**spec, "remediationAction": action}} if isinstance(spec, dict) and action else {}
    return {**template.body, **changed}


def _of_network_policies(simulation: Simulation) -> Iterator[Finding]:
    """Yield what the API server refuses network policies for that no shipped schema states."""
    broken_keys = {broken.resource.key for broken in simulation.broken}
    for policy in simulation.network_policies:
        if policy.refused and policy.key not in broken_keys:
            pointer = deepest_written(policy.resource.body, policy.pointer)
            yield Finding(
                RULE,
                "error",
                f"{policy.key} is refused: {policy.refused}",
                policy.resource.location(*pointer),
                resources=(policy.key,),
                label=policy.refused,
                confidence="certain" if policy.key.group == _OF_KUBERNETES else "assumed",
                ground=f"the cluster may have another release of {policy.key.group}",
                field=path(pointer),
            )


def _strange_in_network_policies(simulation: Simulation) -> Iterator[Finding]:
    """Yield the fields of network policies that are none where they stand, in kinds of which no schema is shipped."""
    from policylint.catalog.network_fields import strange_fields

    broken_keys = {broken.resource.key for broken in simulation.broken}
    for policy in {each.key: each for each in simulation.network_policies}.values():  # one for each entry of `specs`
        if policy.refused or policy.key in broken_keys:
            continue
        for strange in strange_fields(policy.resource):
            name = str(strange.pointer[-1])
            guess = near(name, strange.known)
            fix = (
                f"write it in {path(strange.belongs)}" if strange.belongs is not None else guess and f"write `{guess}`"
            )
            is_sure = policy.key.group == _OF_KUBERNETES or bool(fix)
            yield Finding(
                RULE,
                "error",
                f"{policy.key} has {path(strange.pointer)}, which is no field there: it is dropped",
                policy.resource.location(*strange.pointer, key=True),
                resources=(policy.key,),
                label=f"known here: {listing(strange.known, most=6)}",
                help=(*((f"fix: {fix}",) if fix else ()), _DROPPED),
                confidence="certain" if is_sure else "assumed",
                ground="" if is_sure else f"the cluster may have another release of {policy.key.group}",
                field=path(strange.pointer),
            )


def _has_own_rule(simulation: Simulation, broken: BrokenObject, violation: Violation) -> bool:
    """Return whether another rule reports it: on targets (GWP102, GWP103, GWP107), merging (GWP208), selectors
    of network policies (GWP603) or scalars."""
    if violation.code == "unknown-field" and broken.resource.key[:2] in CLUSTER and {*violation.wanted} == _SELECTOR:
        return True
    state = simulation.policies.get(broken.resource.key)
    if state is not None and violation.pointer[:1] == ("spec",):
        has_code = state.invalid_code not in ("", SCHEMA)
        if has_code and violation.pointer[: len(state.invalid_pointer or "none")] == state.invalid_pointer:
            return True
        is_judged = has_code or any(target.problem for target in state.targets)
        if violation.code == "rule":
            if has_code and state.invalid_pointer[: len(violation.pointer)] == violation.pointer:
                return True
            is_misaimed = any(target.problem in _MISAIMED for target in state.targets)
            if state.invalid_code in MERGING and "override" in violation.wanted[0].lower():
                return True
            return is_misaimed and "target" in violation.wanted[0]
        if violation.pointer[1:2] and violation.pointer[1] in _TARGETS:
            return is_judged or any(target.lenient for target in state.targets)
    if violation.code != "type" or "string" not in violation.wanted:
        return False
    written = written_text(simulation, broken.resource.location(*violation.pointer))
    is_told = is_of_texts(broken.resource, violation) and isinstance(violation.value, (bool, int, float))
    return is_surprising(written, violation.value) or (bool(written) and is_told)


def _finding(broken: BrokenObject, violation: Violation, notes: tuple[str, ...]) -> Finding:
    resource = broken.resource
    written = violation.value if violation.code == "enum" else violation.pointer[-1] if violation.pointer else ""
    guess = near(str(written), _candidates(resource.body, violation))
    label, help_, fixes = _advise(broken, violation, guess)
    related: tuple[Related, ...] = ()
    if broken.schema.origin is not None:
        related = (Related("the CRD whose schema says so", Location(broken.schema.origin)),)
    severity, confidence = _grade(broken, violation)
    return Finding(
        RULE,
        severity,
        f"{resource.key} {violation.says}",
        _place(broken, violation),
        resources=(resource.key,),
        label=label,
        related=related,
        help=(*help_, *notes),
        confidence=confidence,
        ground=_ground(broken),
        field=path(violation.pointer),
        fixes=fixes,
    )


def _ground(broken: BrokenObject) -> str:
    from policylint.catalog.releases import OLDER

    if broken.schema.told.endswith(OLDER):
        return f"it rests on the CRD of {broken.schema.release}, the oldest that is known: {broken.schema.told}"
    if broken.schema.told:
        return f"it rests on the CRD of {broken.schema.release}, the release that {broken.schema.told} names"
    if broken.schema.elsewhere and broken.schema.origin is not None:
        return f"it rests on the CRD in {broken.schema.origin.file}, which nothing deploys with it"
    return f"it rests on the CRD of {broken.schema.release}, and the cluster may have another version"


def _grade(broken: BrokenObject, violation: Violation) -> tuple[Severity, Confidence]:
    """Return severity and confidence: the cluster may have another release, and releases rename experimental fields."""
    if broken.schema.binds or is_lasting(broken, violation):
        return "error", "certain"
    if is_open(broken, violation):
        return "note", "unknown" if is_passing(broken.schema, violation.pointer) else "assumed"
    return "error", "assumed"


def _candidates(body: object, violation: Violation) -> tuple[str, ...]:
    """Return the names that may have been meant: allowed, and not there yet."""
    if violation.code == "enum":
        return violation.wanted
    if violation.code != "unknown-field":
        return ()
    present = mapping(value_at(body, violation.pointer[:-1]))
    return tuple(name for name in violation.wanted if name not in present)


def _advise(broken: BrokenObject, violation: Violation, guess: str) -> tuple[str, tuple[str, ...], tuple[Fix, ...]]:
    location = _place(broken, violation)
    if violation.code == "unknown-field":
        wrong = str(violation.pointer[-1])
        if violation.belongs:
            place = path(violation.belongs)
            return (
                f"no such field here; it belongs to {path(violation.belongs[:-1])}",
                (f"fix: indent it as {place}", _DROPPED),
                (),
            )
        no_field = f"no such field in {broken.schema.release}" if broken.schema.told else "no such field"
        label = f'{no_field} (did you mean "{guess}"?)' if guess else no_field
        if not guess:
            return label, (_DROPPED,), ()
        return label, (f"fix: write `{guess}`", _DROPPED), rename_key(location, wrong, guess, violation.wanted)
    if violation.code == "enum":
        label = f"one of {listing(violation.wanted, word='or', most=10)}"
        if not guess or not isinstance(violation.value, str):
            return label, (), ()
        return label, (f"fix: write `{guess}`",), set_value(location, violation.value, guess, violation.wanted)
    return violation.label, (), ()


def _place(broken: BrokenObject, violation: Violation) -> Location:
    """Return where an unknown field is, as a key; of a missing field where the object that lacks it is."""
    if violation.code == "unknown-field":
        return broken.resource.location(*violation.pointer, key=True)
    if violation.code == "required":
        holder = violation.pointer[:-1]
        return broken.resource.location(*holder, key=bool(holder) and isinstance(holder[-1], str))
    return broken.resource.location(*violation.pointer)
