"""GWP722: two templates of one kind and name, in one Policy or in two that are placed on one cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.templates import PolicyTemplate, policy_templates
from policylint.model import Finding, Related, ResourceKey, is_symbolic
from policylint.model.words import leading
from policylint.simulation import Simulation

RULE = "GWP722"
_MOST = 60
"""Policies with a template of one name that are compared with each other; beyond, the others are left out."""


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-framework-addon test/e2e/case10_error_test.go."""
    hub = simulation.hub
    placed: dict[ResourceKey, int] = {}
    by_name: dict[tuple[tuple[str, str], str], list[PolicyTemplate]] = {}
    for key, rows in hub.policies.items():
        placed[key] = 0
        for row in rows:
            placed[key] |= row.clusters
        told: set[tuple[tuple[str, str], str]] = set()
        own: dict[tuple[tuple[str, str], str], PolicyTemplate] = {}
        for template in policy_templates(simulation.world.resources[key]):
            name = (template.kind, template.name)
            if not (template.kind[1] and template.name) or "{{" in template.name or is_symbolic(template.name):
                continue
            first = own.setdefault(name, template)
            if first is not template and name not in told:
                told.add(name)
                what = f"{key} has two templates called {template.kind[1]} {template.name}"
                yield _finding(what, "no template of the Policy is applied on any cluster", first, template)
        for name, template in own.items():
            by_name.setdefault(name, []).append(template)
    for templates in by_name.values():
        for number, template in enumerate(templates[:_MOST]):
            for first in templates[:number]:
                shared = placed[first.policy.key] & placed[template.policy.key]
                if shared:
                    where = leading(hub.fleet.named(shared), 3)
                    what = f"{template.policy.key} and {first.policy.key} both have {template.kind[1]} {template.name}"
                    yield _finding(f"{what} on {where}", "a cluster applies only one of them", first, template)
                    break


def _finding(what: str, label: str, first: PolicyTemplate, second: PolicyTemplate) -> Finding:
    return Finding(
        RULE,
        "error",
        what,
        second.policy.location(*second.pointer, "metadata", "name"),
        resources=tuple(dict.fromkeys((second.policy.key, first.policy.key))),
        label=label,
        related=(Related("the same name", first.policy.location(*first.pointer, "metadata", "name")),),
        help=("fix: give one of them another name",),
        field=second.name,
    )
