"""GWP409: gatewayClassName names no GatewayClass, controllerName no controller, or parametersRef no parameters."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.kinds import Catalog
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import grade
from policylint.checks.kit.suggestions import Nearby
from policylint.checks.kit.wording import is_slip
from policylint.model import GATEWAY_GROUP, Finding, Resource, text
from policylint.policy.bindings import ObjectBinding
from policylint.simulation import Simulation

RULE = "GWP409"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for state in simulation.topology.gateways:
        key, resolution = state.class_key, state.class_resolution
        if not key.name:
            continue  # GWP501 says what it lacks
        if resolution.found or simulation.catalog.implementation_of_class(key.name) is not None:
            continue  # some controllers make their class themselves
        missing = resolution.missing
        severity, confidence = grade(not missing, "warning")
        yield Finding(
            RULE,
            severity,
            f"{state.gateway.key} names "
            + (f"missing {key}" if missing else f"{key}, which is not among these manifests"),
            state.gateway.location("spec", "gatewayClassName"),
            resources=(state.gateway.key, key),
            label=nearby.describe(key) if missing else resolution.reason,
            help=() if not missing else ("note: no controller will act on this Gateway",),
            confidence=confidence,
            field="spec.gatewayClassName",
        )
    for gateway_class in simulation.world.of_kind(GATEWAY_GROUP, "GatewayClass"):
        yield from _misspelt(gateway_class, simulation.catalog)
    for binding in simulation.bindings:
        if binding.form == "parameters" and not binding.resolution.found:
            yield _parameters(binding, nearby)


def _misspelt(gateway_class: Resource, catalog: Catalog) -> Iterator[Finding]:
    """Yield the finding on a controllerName that is a known one but for a slip; with more behind it, it is another one.

    Of a class that no controller takes its condition stays `Waiting` (GatewayClassReasonWaiting, Gateway API).
    """
    written = text(gateway_class.spec.get("controllerName"))
    meant = [name for name in catalog.controllers() if is_slip(written, name) and not written.startswith(name)]
    if not meant or written in catalog.controllers():
        return
    yield Finding(
        RULE,
        "warning",
        f"{gateway_class.key} names controller {written}, which is the name of none",
        gateway_class.location("spec", "controllerName"),
        resources=(gateway_class.key,),
        label=f"{meant[0]} was probably meant",
        help=(f"fix: write `{meant[0]}`", "note: no controller will act on Gateways of this class"),
        confidence="assumed",
        ground="a controller can be configured to have any name",
        field="spec.controllerName",
    )


def _parameters(binding: ObjectBinding, nearby: Nearby) -> Finding:
    """Return the finding on parameters that are not there (GatewayClassReasonInvalidParameters)."""
    holder, wanted, resolution = binding.holder, binding.wanted, binding.resolution
    severity, confidence = grade(resolution.unknown, "warning")
    what = f"{wanted}, which is not among these manifests" if resolution.unknown else f"missing {wanted}"
    return Finding(
        RULE,
        severity,
        f"{holder.key} takes its parameters from {what}",
        at(holder, binding.pointer, "name"),
        resources=(holder.key, wanted),
        label=resolution.reason if resolution.unknown else nearby.describe(wanted),
        help=()
        if resolution.unknown
        else (f"note: the controller does not accept this {holder.key.kind} without them",),
        confidence=confidence,
        field=path(binding.pointer),
    )
