"""Whether there is anything for a rule to look at: spares one small file the import of rules that cannot say anything.

Only where that is plain to see from the simulation. A rule that is not listed here is always asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policylint.policy.results import PolicyState, Target
    from policylint.simulation import Simulation


def has_material(rule: str, simulation: Simulation) -> bool:
    """Whether a rule may have something to say of an environment."""
    family = rule[:4]
    if family in ("GWP1", "GWP2", "GWP3") and not simulation.policies:
        return False
    if "GWP510" <= rule < "GWP520":
        return bool(simulation.world.of_kind("apiextensions.k8s.io", "CustomResourceDefinition"))
    if rule in _TARGETS:
        wanted = _TARGETS[rule]
        return any(wanted(target) for state in simulation.policies.values() for target in state.targets)
    if rule in _STATES:
        return any(map(_STATES[rule], simulation.policies.values()))
    return _SIMULATIONS[rule](simulation) if rule in _SIMULATIONS else True


def _is_broken(simulation: Simulation) -> bool:
    from policylint.checks.kit.schemas import broken

    return bool(broken(simulation))


def _breaks(simulation: Simulation) -> bool:
    from policylint.checks.kit.invariants import breaches

    return bool(breaches(simulation))


def _loses(simulation: Simulation) -> bool:
    return any(group.effective.lost for group in simulation.groups)


def _meets(simulation: Simulation) -> bool:
    return any(len(group.effective.stack) > 1 for group in simulation.groups)


_TARGETS: dict[str, Callable[[Target], bool]] = {
    "GWP101": lambda target: target.problem == "not-found" or target.resolution.unknown,
    "GWP102": lambda target: target.problem == "kind-not-allowed" or bool(target.lenient),
    "GWP104": lambda target: target.problem in ("other-namespace", "not-granted"),
    "GWP105": lambda target: target.selector is not None,
    "GWP109": lambda target: target.key.kind == "GatewayClass",
    "GWP110": lambda target: bool(target.section),
}
_STATES: dict[str, Callable[[PolicyState], bool]] = {
    "GWP111": lambda state: state.verdict == "Invalid",
    "GWP202": lambda state: bool(state.refused),
    "GWP203": lambda state: state.verdict == "Overridden",
    "GWP204": lambda state: state.verdict == "PartiallyEnforced",
    "GWP208": lambda state: bool(state.invalid_code),
    "GWP210": lambda state: state.key.kind == "AuthorizationPolicy",
    "GWP211": lambda state: state.policy.spec.get("action") == "CUSTOM",
    "GWP212": lambda state: state.key.kind in ("TrafficExtension", "WasmPlugin"),
    "GWP301": lambda state: bool(state.kind.settings.authentication),
    "GWP303": lambda state: state.key.kind == "BackendTLSPolicy",
    "GWP520": lambda state: state.key.kind == "EnvoyFilter",
    "GWP521": lambda state: state.key.kind == "EnvoyFilter",
    "GWP522": lambda state: state.key.kind == "Telemetry",
    "GWP523": lambda state: state.policy.spec.get("action") == "DENY",
}
_SIMULATIONS: dict[str, Callable[[Simulation], bool]] = {
    "GWP108": lambda simulation: bool(simulation.topology.gateways),
    "GWP201": _loses,
    "GWP205": _loses,
    "GWP206": lambda simulation: bool(simulation.order_dependent),
    "GWP207": _meets,
    "GWP209": _meets,
    "GWP408": lambda simulation: bool(simulation.topology.routes),
    "GWP501": lambda simulation: _is_broken(simulation) or _breaks(simulation),
}
