"""GWP701 GWP702 GWP703 GWP704 GWP710 GWP714 GWP715 GWP716 GWP717 GWP718 GWP719 GWP720 GWP721 GWP723 GWP724: OCM.

What the webhooks and controllers of Open Cluster Management refuse or ignore in one Policy, binding or set, by itself.
What comes of several together is a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import dangling
from policylint.checks.kit.locations import at
from policylint.checks.kit.suggestions import Nearby
from policylint.clusters.bindings import ROOT_LABEL, NamedReference, is_replica, members
from policylint.clusters.kinds import (
    PLACEMENT,
    PLACEMENT_RULE,
    PLACES,
    POLICY,
    POLICY_GROUP,
    POLICY_SET,
    SET_BINDING,
    SUBJECTS,
)
from policylint.clusters.templates import (
    CONFIGURATION,
    demanded_objects,
    dependencies,
    hub_lookups,
    policy_templates,
    template_texts,
    unbalanced,
)
from policylint.model import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    Finding,
    Location,
    Resource,
    Severity,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.model.words import listing, series
from policylint.simulation import Simulation

_OF_NAMESPACES = frozenset(
    {
        *(
            ("", kind)
            for kind in ("ConfigMap", "LimitRange", "Pod", "ResourceQuota", "Secret", "Service", "ServiceAccount")
        ),
        *(("apps", kind) for kind in ("DaemonSet", "Deployment", "StatefulSet")),
        *(("networking.k8s.io", kind) for kind in ("Ingress", "NetworkPolicy")),
        *(("rbac.authorization.k8s.io", kind) for kind in ("Role", "RoleBinding")),
        *((GATEWAY_GROUP, kind) for kind in ("Gateway", *ROUTE_KINDS)),
    }
)
"""Kinds that are in namespaces for certain; of most others the CRD says it, on the managed cluster."""
_LONGEST = 62
"""Characters of namespace and name together."""


def dangling_placement(simulation: Simulation) -> Iterator[Finding]:
    """Report a PlacementBinding that names a Placement or PlacementRule that is not there."""
    nearby = Nearby(simulation.world)
    for binding in simulation.hub.bindings:
        if binding.placement is not None:
            effect = "no status reports it, and this binding places its policies on no cluster"
            yield from dangling("GWP701", simulation.world, nearby, binding.resource, binding.placement, effect)


def dangling_subject(simulation: Simulation) -> Iterator[Finding]:
    """Report a PlacementBinding that names a Policy or PolicySet that is not there, or something else."""
    nearby = Nearby(simulation.world)
    for binding in simulation.hub.bindings:
        holder = binding.resource
        for reference in binding.subjects:
            effect = "no status reports it, and this subject is placed on no cluster"
            yield from dangling("GWP702", simulation.world, nearby, holder, reference, effect)
        for number, subject in enumerate(map(mapping, sequence(holder.body.get("subjects")))):
            group, kind = text(subject.get("apiGroup")), text(subject.get("kind"))
            if (group, kind) in SUBJECTS or is_symbolic(group) or is_symbolic(kind):
                continue
            wrong = "apiGroup" if (POLICY_GROUP, kind) in SUBJECTS else "kind"
            pointer = ("subjects", number, wrong) if wrong in subject else ("subjects", number)
            yield _finding(
                "GWP702",
                "error",
                holder,
                f"{holder.key} has a subject that is neither a Policy nor a PolicySet",
                holder.location(*pointer),
                f"subjects[{number}].{wrong}",
                f"{kind or 'nothing'} of group {group or 'core'} is ignored",
                f"fix: write `apiGroup: {POLICY_GROUP}` and `kind: Policy` or `kind: PolicySet`",
            )


def dangling_member(simulation: Simulation) -> Iterator[Finding]:
    """Report a PolicySet that names a Policy that is not there."""
    nearby = Nearby(simulation.world)
    for policy_set in simulation.world.of_kind(*POLICY_SET):
        for member in members(policy_set):
            effect = "the set places the others alone"
            yield from dangling("GWP703", simulation.world, nearby, policy_set, member, effect)


def placement_ref_invalid(simulation: Simulation) -> Iterator[Finding]:
    """Report kind and apiGroup of a placementRef that do not pair up, so that the binding is ignored."""
    for binding in simulation.hub.bindings:
        holder = binding.resource
        place = mapping(holder.body.get("placementRef"))
        group, kind = text(place.get("apiGroup")), text(place.get("kind"))
        if binding.placement is not None or is_symbolic(group) or is_symbolic(kind):
            continue
        known = any(kind == other for _, other in PLACES)
        pointer = ("placementRef",) if "placementRef" in holder.body else ("metadata", "name")
        yield _finding(
            "GWP704",
            "error",
            holder,
            f"{holder.key} places nothing: {kind or 'nothing'} of group {group or 'core'} is no placement",
            at(holder, pointer, "apiGroup" if known else "kind", "kind", "name"),
            "placementRef",
            f"the binding is ignored; placements are {series(f'{name} of {of}' for of, name in PLACES)}",
            f"fix: write `apiGroup: {(PLACEMENT_RULE if kind == PLACEMENT_RULE[1] else PLACEMENT)[0]}`",
        )


def dependency_missing(simulation: Simulation) -> Iterator[Finding]:
    """Report a Policy that waits for one that is not there.

    Source: governance-policy-propagator controllers/propagator/replication.go.
    """
    nearby = Nearby(simulation.world)
    for policy in _policies(simulation):
        if simulation.hub.unseen_bindings(policy.key):
            continue  # a library: what it needs may be in another one
        for dependency in dependencies(policy):
            if not is_symbolic(dependency.key.path):
                reference = NamedReference(dependency.key, dependency.pointer)
                effect = "the policy stays pending on all clusters"
                yield from dangling("GWP710", simulation.world, nearby, policy, reference, effect)


def disabled_policy_bound(simulation: Simulation) -> Iterator[Finding]:
    """Report a disabled Policy that bindings and sets still name."""
    for key, rows in simulation.hub.policies.items():
        if rows[0].reason == "disabled" and rows[0].via:
            bindings = [other for other in rows[0].via if other.kind == "PlacementBinding"]
            places = "places" if len(bindings) == 1 else "place"
            policy = simulation.world.resources[key]
            yield _finding(
                "GWP714",
                "note",
                policy,
                f"{key} is disabled, and {listing(bindings, most=3)} {places} it anyway",
                policy.location("spec", "disabled"),
                "spec.disabled",
                "it is applied to no cluster",
            )._replace(resources=(key, *bindings[:20]))


def policy_name_too_long(simulation: Simulation) -> Iterator[Finding]:
    """Report namespaces and names that are too long together for the copies that the hub makes.

    Source: governance-policy-propagator api/v1/policy_webhook.go, as of the next rule.
    """
    for policy in _policies(simulation):
        length = len(policy.key.namespace) + len(policy.key.name)
        if length > _LONGEST and not policy.key.unplaced and not is_symbolic(policy.key.path):
            yield _finding(
                "GWP715",
                "error",
                policy,
                f"{policy.key} has {length} characters in namespace and name, {_LONGEST} at most are allowed",
                policy.name_location,
                "metadata.name",
                "the webhook refuses it: a cluster's copy is named after both",
            )


def remediation_action_missing(simulation: Simulation) -> Iterator[Finding]:
    """Report a Policy without a remediation action that has a ConfigurationPolicy without one."""
    for policy in _policies(simulation):
        if policy.spec.get("remediationAction"):
            continue
        for template in policy_templates(policy):
            if template.kind == CONFIGURATION and "remediationAction" not in mapping(template.body.get("spec")):
                yield _finding(
                    "GWP716",
                    "error",
                    policy,
                    f"neither {policy.key} nor its ConfigurationPolicy {template.name} has a remediationAction",
                    policy.location(*template.pointer, "spec"),
                    template.name,
                    "the webhook refuses the Policy",
                    "fix: add `remediationAction: inform` or `enforce` to the spec of either",
                )


def namespace_selector_ineffective(simulation: Simulation) -> Iterator[Finding]:
    """Report a ConfigurationPolicy that selects namespaces for objects which all state theirs."""
    for policy in _policies(simulation):
        for template in policy_templates(policy):
            spec = mapping(template.body.get("spec"))
            entries = [
                mapping(mapping(entry).get("objectDefinition")) for entry in sequence(spec.get("object-templates"))
            ]
            stated = [text(mapping(body.get("metadata")).get("namespace")) for body in entries]
            if template.kind == CONFIGURATION and spec.get("namespaceSelector") and stated and all(stated):
                yield _finding(
                    "GWP723",
                    "warning",
                    policy,
                    f"the namespaceSelector of ConfigurationPolicy {template.name} in {policy.key} has no effect",
                    policy.location(*template.pointer, "spec", "namespaceSelector", key=True),
                    template.name,
                    f"its objects state their namespace: {listing(sorted(set(stated)), most=3)}",
                    "fix: remove the selector, or leave `metadata.namespace` out of the objects",
                )


def object_without_namespace(simulation: Simulation) -> Iterator[Finding]:
    """Report an object that a ConfigurationPolicy demands in a namespace, where nobody says in which.

    Source: config-policy-controller controllers/configurationpolicy_controller.go, «namespaced object … has no
    namespace specified»: an empty selector selects none.
    """
    for policy in _policies(simulation):
        for demand in demanded_objects(policy):
            selector = mapping(demand.template.body.get("spec")).get("namespaceSelector")
            is_of_namespace = (
                text(demand.body.get("apiVersion")).rpartition("/")[0],
                text(demand.body.get("kind")),
            ) in _OF_NAMESPACES
            if demand.template.kind == CONFIGURATION and is_of_namespace and not demand.places and not selector:
                yield _finding(
                    "GWP724",
                    "error",
                    policy,
                    f"ConfigurationPolicy {demand.template.name} in {policy.key} says no namespace for {demand.what}",
                    policy.location(*demand.pointer, "metadata"),
                    demand.template.name,
                    "it is not compliant on any cluster, and nothing is created: no namespace is specified",
                    "fix: add `metadata.namespace` to the object, or a `namespaceSelector`",
                )


def set_binding_name(simulation: Simulation) -> Iterator[Finding]:
    """Report a ManagedClusterSetBinding whose name is not that of its set."""
    for binding in simulation.world.of_kind(*SET_BINDING):
        name = text(binding.spec.get("clusterSet"))
        if name and name != binding.key.name and not is_symbolic(name) and not is_symbolic(binding.key.name):
            yield _finding(
                "GWP717",
                "error",
                binding,
                f"{binding.key} binds set {name}, but has another name",
                binding.name_location,
                "metadata.name",
                "the webhook refuses it, so the set is not bound",
                f"fix: write `name: {name}`",
            )


def replicated_policy_in_git(simulation: Simulation) -> Iterator[Finding]:
    """Report a Policy in git that is a copy which the hub makes, and overwrites."""
    for policy in simulation.world.of_kind(*POLICY):
        if not is_replica(simulation.world, policy) or policy.metadata.get("uid"):
            continue  # a dump of the hub holds them
        labelled = ROOT_LABEL in policy.labels
        where = f"cluster {policy.key.namespace} has this namespace"
        yield _finding(
            "GWP718",
            "warning",
            policy,
            f"{policy.key} is a copy that the hub makes for one cluster, and overwrites",
            policy.location("metadata", "labels", ROOT_LABEL) if labelled else policy.name_location,
            "metadata.labels" if labelled else "metadata.namespace",
            f"it has the label {ROOT_LABEL}" if labelled else where,
            "fix: leave it out, and place the policy that it is a copy of",
        )


def hub_template_scope(simulation: Simulation) -> Iterator[Finding]:
    """Report a hub template that looks into another namespace than its Policy's.

    Source: governance-policy-propagator controllers/propagator, hub templates.
    """
    for policy in _policies(simulation):
        own = policy.key.namespace
        account = mapping(policy.spec.get("hubTemplateOptions")).get("serviceAccountName")
        if account or policy.key.unplaced or is_symbolic(own):
            continue
        for lookup in hub_lookups(policy):
            if lookup.namespace != own and not is_symbolic(lookup.namespace):
                yield _finding(
                    "GWP719",
                    "warning",
                    policy,
                    f"a hub template of {policy.key} reads namespace {lookup.namespace}, which it may not read",
                    policy.location(*lookup.pointer),
                    lookup.namespace,
                    f"without a service account of its own it sees namespace {own} alone",
                    "fix: move the object, or set spec.hubTemplateOptions.serviceAccountName",
                )


def generated_binding_without_name(simulation: Simulation) -> Iterator[Finding]:
    """Report a PolicyGenerator whose PlacementBinding for a set gets no name.

    Source: policy-generator-plugin#254.
    """
    label = "the API server refuses it, so that the set is placed nowhere"
    fix = "fix: set placementBindingDefaults.name"
    for note in simulation.world.notes:
        if note.rule == "GWP720":
            yield _finding("GWP720", "error", None, note.message, note.location, note.code, label, fix)


def template_unbalanced(simulation: Simulation) -> Iterator[Finding]:
    """Report a template in a Policy with a delimiter that has no partner."""
    for policy in _policies(simulation):
        for pointer, written in template_texts(policy):
            if wrong := unbalanced(written):
                reader = "the hub" if "{{hub" in wrong else "each cluster"
                yield _finding(
                    "GWP721",
                    "error",
                    policy,
                    f"a template of {policy.key} has {wrong}",
                    policy.location(*pointer),
                    ".".join(map(str, pointer)),
                    f"{reader} cannot read it, and the policy is not applied",
                )


def _policies(simulation: Simulation) -> Iterator[Resource]:
    return (simulation.world.resources[key] for key in simulation.hub.policies)


def _finding(
    rule: str,
    severity: Severity,
    about: Resource | None,
    message: str,
    location: Location,
    field: str,
    label: str,
    *help_lines: str,
) -> Finding:
    resources = () if about is None else (about.key,)
    return Finding(rule, severity, message, location, resources=resources, label=label, help=help_lines, field=field)
