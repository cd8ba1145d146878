"""GWP203: everything that a policy sets is overridden everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.losses import lost_fields, names, overridden, superseders
from policylint.model import Finding, Severity, mapping
from policylint.model.words import listing, verb
from policylint.policy.asking import asks
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP203"
_FIX = "fix: remove it, or what overrides it"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if state.verdict != "Overridden" or state.refused:
            continue
        by = superseders(simulation, state)
        if by:
            severity: Severity = "warning" if _loses_protection(state) else "note"
            message = f"{state.key} has no effect: {names(state, by)} {verb(len(by), 'overrides')} all of it"
            label = f"none of its settings ({listing(lost_fields(state))}) applies anywhere"
            finding = overridden(RULE, severity, message, label, simulation, state, by)
            still = "denies" if _is_default_denial(state) else "guards" if _is_stated_default(state) else ""
            advice = f"note: it still {still} routes that have no policy of their own" if still else _FIX
            yield finding._replace(help=(advice,))


def _loses_protection(state: PolicyState) -> bool:
    """Return whether the settings that replace a policy's own protect differently.

    A setting that is repeated word for word is not lost. Under the overrides of a parent every setting that protects
    counts; a parent that gives way to something more specific does what defaults are for, so that only authentication
    and authorization count there.
    """
    if _is_default_denial(state) or _is_stated_default(state):
        return False
    settings = state.kind.settings
    for group in state.groups:
        outranked = group.effective.stack[-1].key == state.key  # the most specific of its stack, and lost all the same
        protecting = settings.security if outranked else {*settings.authentication, *settings.authorization}
        for lost in group.effective.lost_by(state.key):
            field = str(lost.pointer[0]) if lost.pointer else ""
            own = next((declared.proper[field] for declared in state.declared if field in declared.proper), None)
            if field in protecting and group.effective.spec.get(field) != own:
                return True
    return False


def _is_default_denial(state: PolicyState) -> bool:
    """Return whether a policy denies without asking for credentials, and wherever it gives way others protect.

    A Gateway that denies unless a route says otherwise is meant to be overridden by every route there is (Kuadrant's
    guide "Secure, protect, and connect" begins with one); it is there for the routes to come.
    """
    settings = state.kind.settings
    asking = {*settings.authentication, *settings.authorization}
    own = [(field, value) for declared in state.declared for field, value in declared.proper.items() if field in asking]
    return (
        bool(own)
        and all(_only_denies(mapping(value)) for _, value in own)
        and all(
            group.effective.stack[-1].key != state.key and any(group.effective.spec.get(field) for field in asking)
            for group in state.groups
        )
    )


def _is_stated_default(state: PolicyState) -> bool:
    """Return whether a policy states defaults, of a kind that has overrides as well, and wherever it gives way others
    ask for a login if it does, or for something: so its author wrote it, and it is there for the routes to come."""
    kind = state.kind
    own = {ask.purpose for declared in state.declared for ask in asks(kind, declared.proper)}
    wanted = own & {"authentication"} or own
    return (
        "overrides" in kind.merge.wrappers.values()
        and all(declared.mode == "defaults" for declared in state.declared)
        and all(
            group.effective.stack[-1].key != state.key
            and wanted <= {ask.purpose for ask in asks(kind, group.effective.spec)}
            for group in state.groups
        )
    )


def _only_denies(setting: Mapping[str, Any]) -> bool:
    """Return whether a setting is an authorization that identifies nobody: Kuadrant's `rules`, or a bare `Deny`."""
    if "defaultAction" in setting:
        return setting["defaultAction"] == "Deny" and not setting.get("rules")
    return bool(setting.get("authorization")) and not setting.get("authentication")
