"""The rules: one module each, with `RULE`, and `check`, a generator of findings.

To add a rule: copy the nearest module, give it an id here, write rules/GWPnnn-name.md. tests/rules/ holds the three
together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.simulation import Simulation

RULES = {
    "GWP101": "target_not_found",
    "GWP102": "target_kind_not_allowed",
    "GWP103": "section_not_found",
    "GWP104": "target_in_other_namespace",
    "GWP105": "selector_matches_nothing",
    "GWP106": "no_effective_target",
    "GWP107": "duplicate_target",
    "GWP108": "policy_without_controller",
    "GWP109": "cluster_scope_target",
    "GWP110": "synthetic_rule_name",
    "GWP111": "policy_refused",
    "GWP201": "parent_setting_dropped",
    "GWP202": "policy_conflict",
    "GWP203": "policy_overridden",
    "GWP204": "policy_partially_overridden",
    "GWP205": "empty_policy_opts_out",
    "GWP206": "order_dependent_winner",
    "GWP207": "ineffective_override",
    "GWP208": "conflicting_merge_directives",
    "GWP209": "relative_reference_moved",
    "GWP210": "authorization_without_effect",
    "GWP211": "custom_authorization_conflict",
    "GWP212": "extension_order_unstated",
    "GWP301": "route_without_authentication",
    "GWP302": "authentication_removed",
    "GWP303": "backend_tls_dropped",
    "GWP304": "protection_weakened",
    "GWP401": "parent_not_found",
    "GWP402": "parent_section_not_found",
    "GWP403": "route_not_allowed",
    "GWP404": "hostname_mismatch",
    "GWP405": "missing_reference_grant",
    "GWP406": "backend_not_found",
    "GWP407": "listener_conflict",
    "GWP408": "shadowed_route_match",
    "GWP409": "gateway_class_not_found",
    "GWP501": "schema_violation",
    "GWP502": "deprecated_api_version",
    "GWP503": "duplicate_resource",
    "GWP504": "duplicate_key",
    "GWP505": "surprising_scalar",
    "GWP510": "crd_policy_label",
    "GWP511": "crd_kind_name",
    "GWP512": "crd_no_conditions",
    "GWP513": "crd_none_combined",
    "GWP514": "crd_direct_many_kinds",
    "GWP515": "crd_target_limits",
    "GWP520": "envoy_patch_ignored",
    "GWP521": "envoy_patch_order",
    "GWP522": "access_log_without_provider",
    "GWP523": "deny_reaches_tcp",
    "GWP901": "unused_suppression",
    "GWP902": "unknown_rule_in_suppression",
    "GWP903": "suppression_without_reason",
    "GWP904": "suppression_expired",
    "GWP910": "file_not_parsed",
    "GWP911": "not_rendered",
    "GWP912": "unresolved_variable",
    "GWP913": "orphan_manifest",
}
"""Id → module of this package; the module's name is the rule's, with underscores."""
ON_REQUEST = frozenset({"GWP913"})
"""Rules that run only when they are selected by name (`--show-orphans`)."""
OF_CHANGES = frozenset({"GWP302", "GWP304"})
"""Rules that take two states: policylint/compare asks them."""
_DEPLOYED = ("GWP1", "GWP2", "GWP4")
"""Families that speak of objects that are deployed together."""
_HANGING_ON_KINDS = ("GWP1", "GWP2")
"""Families with rules that rest on how a kind of policy behaves."""


def run(
    simulation: Simulation, *, select: Collection[str] | None = None, spent: dict[str, float] | None = None
) -> Iterator[Finding]:
    """What the selected rules (default: all) have to say about one environment, sorted by place.

    `spent` takes, by rule, the seconds that each one that had something to look at took; they are added up.
    """
    found: list[Finding] = []
    for rule in sorted(RULES.keys() - ON_REQUEST if select is None else RULES.keys() & set(select)):
        begin = 0.0 if spent is None else perf_counter()
        if _has_material(rule, simulation):
            findings = import_module(f"policylint.checks.{RULES[rule]}").check(simulation)
            if rule[:4] in _HANGING_ON_KINDS:
                from policylint.checks.kit.confidence import hedged

                findings = (hedged(each, simulation) for each in findings)
            found.extend(map(_assumed, findings) if simulation.world.movable and rule[:4] in _DEPLOYED else findings)
            if spent is not None:
                spent[rule] = spent.get(rule, 0.0) + perf_counter() - begin
    found.sort(key=lambda each: (*each.location.sort_key(), each.rule, each.message))
    return iter(found)


def name_of(rule: str) -> str:
    """`parent-setting-dropped` for GWP201."""
    return RULES[rule].replace("_", "-")


def expand(names: Iterable[str]) -> set[str]:
    """Ids for what people write to select or ignore rules: ids, names and families (`GWP1`, `GWP51`).

    Raises:
        ValueError: a name that is no rule and no family; the message says which may have been meant.
    """
    chosen: set[str] = set()
    by_name = {name_of(rule): rule for rule in RULES}
    for name in names:
        wanted = name.strip()
        found = {by_name[wanted.lower()]} if wanted.lower() in by_name else set()
        if not found and re.fullmatch(r"(?i)GWP\d{0,3}", wanted):
            found = {rule for rule in RULES if rule.startswith(wanted.upper())}
        if not found:
            from policylint.checks.kit.wording import near

            guess = near(wanted.lower(), by_name)
            raise ValueError(f"unknown rule {wanted!r}" + (f" (did you mean {guess!r}?)" if guess else ""))
        chosen |= found
    return chosen


def _assumed(finding: Finding) -> Finding:
    """Nothing is certain about what meets what while kustomizations that were not rendered may still move it."""
    return finding._replace(confidence="assumed") if finding.confidence == "certain" else finding


def _has_material(rule: str, simulation: Simulation) -> bool:
    """Whether there is anything for a rule to look at; spares the import of modules where there is not."""
    if rule[:4] == "GWP9" and rule < "GWP910":  # about suppressions: triage judges those, when all findings are known
        return False
    from policylint.checks.material import has_material

    return has_material(rule, simulation)
