"""The registry: the rules, what each needs to have anything to say, and who runs it; a table, and no code of any rule.

A rule is one line of `RULES`. One that states no need always runs; a need only spares a small tree the import of rules
that have nothing to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from policylint.checks.needs import (
    addresses_in_lists,
    any_cluster_network_policy,
    any_cluster_policy,
    any_crd,
    any_gateway,
    any_mesh,
    any_network_policy,
    any_note,
    any_ordered_network_policy,
    any_policy,
    any_problem,
    any_route,
    any_set_binding,
    anything,
    authorizing_at_gateways,
    broken_objects,
    called_workloads,
    classes_or_parameters,
    decided_by_address,
    either,
    enrolling,
    has,
    kinds_or_versions_of_nobody,
    logins_and_challenges,
    lost_settings,
    of_kind,
    policies_and_gateways,
    port_of_service,
    preflights,
    read_by_class,
    redirecting_route,
    releases_are_told,
    routes_and_authentication,
    routes_and_network_policies,
    several,
    some_parent,
    some_policy,
    some_target,
    stacked_policies,
    unstated_order,
    verifying,
    ways_in,
)
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.checks.needs import Need
    from policylint.model import Finding
    from policylint.simulation import Simulation


class RuleEntry(NamedTuple):
    """One rule.

    Args:
        identifier: its name with underscores, `parent_setting_dropped`.
        needs: whether an environment holds anything for the rule to look at.
        runs: `always` and `on request` (only when it is selected by name): the rule's module has `check`, a generator
            of findings about one environment. `on changes`: it takes two states, so `compare` runs it. `in triage`: it
            is about suppressions, which are judged when all findings are known. `where required`: the configuration
            states what it judges.
        where: the rule's module, where it is not the one of this package that bears its name.
        family: the module of this package that holds a table of rules, each a generator that bears the rule's name.
    """

    identifier: str
    needs: Need = anything
    runs: Literal["always", "on request", "on changes", "in triage", "where required"] = "always"
    where: str = ""
    family: str = ""

    @property
    def name(self) -> str:
        """Return `parent-setting-dropped`."""
        return self.identifier.replace("_", "-")

    @property
    def module(self) -> str:
        """Return the dotted name of the module that does the work."""
        return self.where or f"policylint.checks.{self.family or self.identifier}"

    @property
    def check(self) -> Callable[[Simulation], Iterable[Finding]]:
        """Return the generator of findings about one environment."""
        check: Callable[[Simulation], Iterable[Finding]] = getattr(
            import_module(self.module), self.identifier if self.family else "check"
        )
        return check


RULES: dict[str, RuleEntry] = {
    "GWP101": RuleEntry(
        "target_not_found", some_target(lambda target: target.problem == "not-found" or target.resolution.unknown)
    ),
    "GWP102": RuleEntry(
        "target_kind_not_allowed",
        some_target(lambda target: target.problem == "kind-not-allowed" or bool(target.lenient)),
    ),
    "GWP103": RuleEntry("section_not_found", any_policy),
    "GWP104": RuleEntry(
        "target_in_other_namespace",
        some_target(lambda target: target.problem in ("other-namespace", "not-granted") or bool(target.denied)),
    ),
    "GWP105": RuleEntry("selector_matches_nothing", some_target(lambda target: target.selector is not None)),
    "GWP106": RuleEntry(
        "no_effective_target", some_policy(lambda policy: policy.idle is not None or not policy.groups)
    ),
    "GWP107": RuleEntry("duplicate_target", any_policy),
    "GWP108": RuleEntry("policy_without_controller", policies_and_gateways),
    "GWP109": RuleEntry("cluster_scope_target", some_target(lambda target: target.key.kind == "GatewayClass")),
    "GWP110": RuleEntry("synthetic_rule_name", some_target(lambda target: bool(target.section))),
    "GWP111": RuleEntry(
        "policy_refused", some_policy(lambda policy: policy.verdict == "Invalid" or bool(policy.faults))
    ),
    "GWP112": RuleEntry("namespace_rewritten", some_policy(lambda policy: not policy.groups)),
    "GWP113": RuleEntry("content_not_found"),
    "GWP114": RuleEntry(
        "annotation_not_read",
        either(any_route, any_gateway, has("Ingress"), enrolling, read_by_class),
    ),
    "GWP115": RuleEntry("parameters_not_named", any_gateway),
    "GWP201": RuleEntry("parent_setting_dropped", lost_settings),
    "GWP202": RuleEntry("policy_conflict", some_policy(lambda policy: bool(policy.refused))),
    "GWP203": RuleEntry("policy_overridden", some_policy(lambda policy: policy.verdict == "Overridden")),
    "GWP204": RuleEntry(
        "policy_partially_overridden", some_policy(lambda policy: policy.verdict == "PartiallyEnforced")
    ),
    "GWP205": RuleEntry(
        "empty_policy_opts_out",
        either(lost_settings, some_policy(lambda policy: policy.is_inert)),
    ),
    "GWP206": RuleEntry("order_dependent_winner", unstated_order),
    "GWP207": RuleEntry("ineffective_override", stacked_policies),
    "GWP208": RuleEntry("conflicting_merge_directives", some_policy(lambda policy: bool(policy.invalid_code))),
    "GWP209": RuleEntry("relative_reference_moved", stacked_policies),
    "GWP210": RuleEntry("authorization_without_effect", of_kind("AuthorizationPolicy")),
    "GWP211": RuleEntry(
        "custom_authorization_conflict", some_policy(lambda policy: policy.policy.spec.get("action") == "CUSTOM")
    ),
    "GWP212": RuleEntry("extension_order_unstated", of_kind("TrafficExtension", "WasmPlugin")),
    "GWP213": RuleEntry("sidecar_conflict", several("Sidecar")),
    "GWP214": RuleEntry("generated_policy", has("MCPRoute")),
    "GWP215": RuleEntry(
        "policy_overrides", some_policy(lambda policy: policy.verdict in ("Overridden", "PartiallyEnforced"))
    ),
    "GWP216": RuleEntry(
        "authorizer_not_configured", some_policy(lambda policy: policy.policy.spec.get("action") == "CUSTOM")
    ),
    "GWP217": RuleEntry("sidecar_not_read", has("Sidecar")),
    "GWP301": RuleEntry("route_without_authentication", routes_and_authentication),
    "GWP302": RuleEntry("authentication_removed", runs="on changes", where="policylint.compare.requests.findings"),
    "GWP303": RuleEntry("backend_tls_dropped", of_kind("BackendTLSPolicy")),
    "GWP304": RuleEntry("protection_weakened", runs="on changes", where="policylint.compare.requests.findings"),
    "GWP305": RuleEntry("jwt_not_required", of_kind("RequestAuthentication")),
    "GWP306": RuleEntry("host_match_without_port", of_kind("AuthorizationPolicy")),
    "GWP307": RuleEntry("forgeable_client_address", decided_by_address),
    "GWP308": RuleEntry("waypoint_bypassed", of_kind("AuthorizationPolicy")),
    "GWP309": RuleEntry("client_rule_not_read", has("DestinationRule")),
    "GWP310": RuleEntry(
        "port_of_no_workload", either(of_kind("AuthorizationPolicy", "PeerAuthentication"), has("Server", "Sidecar"))
    ),
    "GWP311": RuleEntry("probe_turned_away", either(has("Server"), any_mesh)),
    "GWP312": RuleEntry("separate_logins", some_policy(lambda policy: policy.kind.sessions is not None)),
    "GWP313": RuleEntry("gateway_not_let_in", any_mesh),
    "GWP314": RuleEntry("health_check_by_default", any_gateway),
    "GWP315": RuleEntry("identity_of_nobody", of_kind("AuthorizationPolicy")),
    "GWP316": RuleEntry("needed_request_turned_away", logins_and_challenges),
    "GWP317": RuleEntry("preflight_not_routed", preflights),
    "GWP318": RuleEntry("hosts_drift", authorizing_at_gateways),
    "GWP319": RuleEntry(
        "attribute_of_nobody",
        either(
            has("VirtualService"),
            some_policy(
                lambda policy: (
                    policy.kind.expects is not None or not {"afresh", "reads"}.isdisjoint(policy.kind.headers)
                )
            ),
        ),
    ),
    "GWP320": RuleEntry("guardrail_broken", runs="where required", where="policylint.guardrails"),
    "GWP324": RuleEntry("requests_opened", runs="on changes", where="policylint.compare.requests.findings"),
    "GWP325": RuleEntry("ends_changed", runs="on changes", where="policylint.compare.ends"),
    "GWP326": RuleEntry("release_changes", runs="on changes", where="policylint.compare.releases"),
    "GWP327": RuleEntry("client_address_hidden", addresses_in_lists),
    "GWP328": RuleEntry("open_relay", any_mesh),
    "GWP401": RuleEntry("parent_not_found"),
    "GWP402": RuleEntry("parent_section_not_found", some_parent(lambda parent: parent.section_found is False)),
    "GWP403": RuleEntry("route_not_allowed", either(any_gateway, some_parent(lambda parent: bool(parent.candidates)))),
    "GWP404": RuleEntry("hostname_mismatch", some_parent(lambda parent: bool(parent.candidates))),
    "GWP405": RuleEntry("missing_reference_grant"),
    "GWP406": RuleEntry("backend_not_found"),
    "GWP407": RuleEntry("listener_conflict", any_gateway),
    "GWP408": RuleEntry("shadowed_route_match", either(any_route, has("VirtualService"))),
    "GWP409": RuleEntry("gateway_class_not_found", classes_or_parameters),
    "GWP410": RuleEntry("target_port_not_found", port_of_service),
    "GWP411": RuleEntry("redirect_loop", redirecting_route),
    "GWP412": RuleEntry("listener_without_certificate", either(any_gateway, ways_in)),
    "GWP413": RuleEntry("rule_without_backend", any_route),
    "GWP414": RuleEntry("no_node_port", any_gateway),
    "GWP415": RuleEntry(
        "dead_end",
        either(ways_in, any_route, has("DestinationRule", "KongConsumer", "ServiceEntry", "ServiceProfile", "Sidecar")),
    ),
    "GWP416": RuleEntry("route_refused", any_route),
    "GWP417": RuleEntry("name_without_record", any_route),
    "GWP418": RuleEntry("path_without_fallback", any_gateway),
    "GWP419": RuleEntry("shared_certificate", either(any_gateway, has("Gateway", "HTTPProxy"))),
    "GWP420": RuleEntry(
        "certificate_of_other_names",
        either(any_gateway, verifying, ways_in),
    ),
    "GWP501": RuleEntry("schema_violation", broken_objects),
    "GWP502": RuleEntry("deprecated_api_version"),
    "GWP503": RuleEntry("duplicate_resource", lambda simulation: bool(simulation.world.duplicates)),
    "GWP504": RuleEntry("duplicate_key", any_problem),
    "GWP505": RuleEntry("surprising_scalar"),
    "GWP506": RuleEntry("no_such_kind", kinds_or_versions_of_nobody),
    "GWP510": RuleEntry("crd_policy_label", any_crd, family="policy_crds"),
    "GWP511": RuleEntry("crd_kind_name", any_crd, family="policy_crds"),
    "GWP512": RuleEntry("crd_no_conditions", any_crd, family="policy_crds"),
    "GWP513": RuleEntry("crd_none_combined", any_crd, family="policy_crds"),
    "GWP514": RuleEntry("crd_direct_many_kinds", any_crd, family="policy_crds"),
    "GWP515": RuleEntry("crd_target_limits", any_crd, family="policy_crds"),
    "GWP520": RuleEntry("envoy_patch_ignored", of_kind("EnvoyFilter")),
    "GWP521": RuleEntry("envoy_patch_order", of_kind("EnvoyFilter")),
    "GWP522": RuleEntry("access_log_without_provider", of_kind("Telemetry")),
    "GWP523": RuleEntry("deny_reaches_tcp", some_policy(lambda policy: policy.policy.spec.get("action") == "DENY")),
    "GWP524": RuleEntry("literal_wildcard", of_kind("AuthorizationPolicy")),
    "GWP525": RuleEntry("defaults_left_out", has("Application")),
    "GWP526": RuleEntry(
        "setting_misleads",
        either(
            any_policy,
            any_route,
            has("Application", "HTTPProxy", "Ingress", "IngressRoute", "KongClusterPlugin", "KongPlugin", "Middleware"),
            has("TLSOption", "GlobalNetworkPolicy"),
        ),
    ),
    "GWP527": RuleEntry("changes_not_synced", has("Application", "ApplicationSet")),
    "GWP528": RuleEntry("weights_fought_over", has("Canary", "Rollout")),
    "GWP529": RuleEntry("known_defect", releases_are_told),
    "GWP601": RuleEntry("subject_selects_nothing", any_network_policy),
    "GWP602": RuleEntry("equal_priority_overlap", any_cluster_network_policy),
    "GWP603": RuleEntry("selector_falls_open", either(any_network_policy, any_gateway)),
    "GWP604": RuleEntry("gateway_cut_off", routes_and_network_policies),
    "GWP605": RuleEntry("webhook_cut_off", either(any_network_policy, called_workloads)),
    "GWP606": RuleEntry("network_rule_shadowed", any_ordered_network_policy),
    "GWP607": RuleEntry("peer_selects_nothing", any_network_policy),
    "GWP608": RuleEntry("service_port_in_network_policy", any_network_policy),
    "GWP609": RuleEntry("named_port_nowhere", any_network_policy),
    "GWP610": RuleEntry("dns_cut_off", any_network_policy),
    "GWP611": RuleEntry("deny_reaches_system", any_network_policy),
    "GWP612": RuleEntry("networks_take_pods", any_network_policy),
    "GWP613": RuleEntry("accept_without_effect", any_cluster_network_policy),
    "GWP614": RuleEntry("either_or_peers", any_network_policy),
    "GWP615": RuleEntry("policy_type_mismatch", any_network_policy),
    "GWP616": RuleEntry("policy_not_evaluated", any_network_policy),
    "GWP617": RuleEntry("cilium_label_unknown", any_network_policy),
    "GWP618": RuleEntry("refusals_close_pods", any_network_policy),
    "GWP619": RuleEntry("names_not_learnt", any_network_policy),
    "GWP620": RuleEntry("isolation_removed", runs="on changes", where="policylint.compare.connections"),
    "GWP621": RuleEntry("connections_opened", runs="on changes", where="policylint.compare.opened"),
    "GWP622": RuleEntry("service_address_in_network_policy", any_network_policy),
    "GWP623": RuleEntry("dependency_cut_off", any_network_policy),
    "GWP624": RuleEntry("tunnel_opens_all", any_network_policy),
    "GWP625": RuleEntry("tunnel_shut", any_network_policy),
    "GWP626": RuleEntry("http_rule_finds_tls", any_network_policy),
    "GWP627": RuleEntry("authentication_impossible", any_network_policy),
    "GWP701": RuleEntry("dangling_placement", any_cluster_policy, family="cluster_policies"),
    "GWP702": RuleEntry("dangling_subject", any_cluster_policy, family="cluster_policies"),
    "GWP703": RuleEntry("dangling_member", any_cluster_policy, family="cluster_policies"),
    "GWP704": RuleEntry("placement_ref_invalid", any_cluster_policy, family="cluster_policies"),
    "GWP705": RuleEntry("policy_not_bound", any_cluster_policy),
    "GWP706": RuleEntry("placement_selects_nothing", any_cluster_policy),
    "GWP707": RuleEntry("restricted_binding_places_nothing", any_cluster_policy),
    "GWP708": RuleEntry("override_ineffective", any_cluster_policy),
    "GWP709": RuleEntry("exclusion_ineffective", any_cluster_policy),
    "GWP710": RuleEntry("dependency_missing", any_cluster_policy, family="cluster_policies"),
    "GWP711": RuleEntry("dependency_not_placed", any_cluster_policy),
    "GWP712": RuleEntry("template_action_overridden", any_cluster_policy),
    "GWP713": RuleEntry("configuration_conflict", any_cluster_policy),
    "GWP714": RuleEntry("disabled_policy_bound", any_cluster_policy, family="cluster_policies"),
    "GWP715": RuleEntry("policy_name_too_long", any_cluster_policy, family="cluster_policies"),
    "GWP716": RuleEntry("remediation_action_missing", any_cluster_policy, family="cluster_policies"),
    "GWP717": RuleEntry("set_binding_name", any_set_binding, family="cluster_policies"),
    "GWP718": RuleEntry("replicated_policy_in_git", any_cluster_policy, family="cluster_policies"),
    "GWP719": RuleEntry("hub_template_scope", any_cluster_policy, family="cluster_policies"),
    "GWP720": RuleEntry("generated_binding_without_name", any_cluster_policy, family="cluster_policies"),
    "GWP721": RuleEntry("template_unbalanced", any_cluster_policy, family="cluster_policies"),
    "GWP722": RuleEntry("duplicate_template", any_cluster_policy),
    "GWP723": RuleEntry("namespace_selector_ineffective", any_cluster_policy, family="cluster_policies"),
    "GWP724": RuleEntry("object_without_namespace", any_cluster_policy, family="cluster_policies"),
    "GWP901": RuleEntry("unused_suppression", runs="in triage", where="policylint.triage.reports"),
    "GWP902": RuleEntry("unknown_rule_in_suppression", runs="in triage", where="policylint.triage.reports"),
    "GWP903": RuleEntry("suppression_without_reason", runs="in triage", where="policylint.triage.reports"),
    "GWP904": RuleEntry("suppression_expired", runs="in triage", where="policylint.triage.reports"),
    "GWP910": RuleEntry("file_not_parsed", any_problem),
    "GWP911": RuleEntry("not_rendered", any_note, family="render_notes"),
    "GWP912": RuleEntry("unresolved_variable", either(any_note, has("Kustomization")), family="render_notes"),
    "GWP913": RuleEntry("orphan_manifest", runs="on request"),
    "GWP914": RuleEntry("build_fails", either(any_note, has("HelmRelease")), family="render_notes"),
    "GWP915": RuleEntry("patch_selects_nothing", any_note, family="render_notes"),
}
"""Id → rule."""
ON_REQUEST = frozenset(rule for rule, entry in RULES.items() if entry.runs == "on request")
"""Rules that run only when they are selected by name (`--show-orphans`)."""
OF_CHANGES = frozenset(rule for rule, entry in RULES.items() if entry.runs == "on changes")
"""Rules that take two states: policylint/compare runs them."""


def name_of(rule: str) -> str:
    """Return `parent-setting-dropped` for GWP201."""
    return RULES[rule].name


def expand(names: Iterable[str]) -> set[str]:
    """Return the ids of what people write to select or ignore rules: ids, names and families (`GWP1`, `GWP51`).

    Raises:
        ValueError: a name that is no rule and no family; the message says which may have been meant.
    """
    chosen: set[str] = set()
    by_name = {name_of(rule): rule for rule in RULES}
    for name in names:
        text = name.strip()
        rules = {by_name[text.lower()]} if text.lower() in by_name else set()
        if not rules and re.fullmatch(r"(?i)GWP\d{0,3}", text):
            rules = {rule for rule in RULES if rule.startswith(text.upper())}
        if not rules:
            from policylint.checks.kit.wording import near

            guess = near(text.lower(), by_name)
            raise ValueError(f"unknown rule {text!r}" + (f" (did you mean {guess!r}?)" if guess else ""))
        chosen |= rules
    return chosen
