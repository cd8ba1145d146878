"""What hides the addresses of clients at a way in: its Service, the parameters of a Gateway, a controller's chart."""

from __future__ import annotations

from policylint.catalog.placements import placements
from policylint.documents import Pointer
from policylint.doors import PUBLISHED, is_door, is_inside, proxies, with_doors
from policylint.doors.hiding import FIELD, Hiding, hiding_services, is_plain, of_controller, speaks_of_proxies
from policylint.doors.vendors import vendors
from policylint.model import ResourceKey, mapping, sequence, value_at
from policylint.simulation import Simulation
from policylint.topology import GatewayState
from policylint.topology.ancestry import implementation_of
from policylint.topology.workloads import workloads_selected


def hiding_at(simulation: Simulation, entry: ResourceKey) -> Hiding | None:
    """Return what puts the addresses of nodes in place of those of clients that come in somewhere, as far as seen."""
    if is_inside(entry):
        return None
    if entry.kind in PUBLISHED:
        service = ResourceKey("", "Service", entry.namespace, entry.name)
        return next((each for each in hiding_services(simulation.world) if each.owner.key == service), None)
    state = with_doors(simulation).topology.gateway(entry)
    if state is None:
        return None
    if not is_door(entry):
        found = of_gateway(simulation, state)
        about = (group.effective.spec for group in simulation.groups if any(n.key == entry for n in group.nodes))
        return None if found is None or any(map(speaks_of_proxies, about)) else found
    name = implementation_of(state, simulation.catalog)
    for vendor in vendors():
        if vendor.proxies and (vendor.name == name or vendor.answers_to(state.controller)):
            return of_controller(simulation.world, vendor)
    pods = {pod.key for pod in proxies(simulation.world, state.gateway)}
    published = hiding_services(simulation.world) if pods else ()
    fronts = (
        each for each in published if any(pod.key in pods for pod in workloads_selected(simulation.world, each.owner))
    )
    return next(fronts, None)


def of_gateway(simulation: Simulation, state: GatewayState) -> Hiding | None:
    """Return what hides the addresses of clients from a Gateway: what its parameters say, else what its controller does
    where nobody says anything."""
    owners = (state.gateway.key, state.class_key)
    named = [each for each in simulation.bindings if each.form == "parameters" and each.holder.key in owners]
    for binding in named:
        resource = binding.resolution.resource
        place = _place(resource.body if resource is not None else {}, ())
        if resource is not None and place:
            does_hide = value_at(resource.body, place) == "Cluster"
            is_kept = not is_plain(simulation.world, value_at(resource.body, place[:-1]))
            return Hiding(resource, place, is_stated=True) if does_hide and not is_kept else None
    about = placements(implementation_of(state, simulation.catalog) or "")
    infrastructure = mapping(state.gateway.spec.get("infrastructure"))
    is_silent = not named and "parametersRef" not in infrastructure
    does_hide = any(
        (state.controller or state.class_key.name) in sequence(each.get("hidesClients")) for each in about
    ) and is_plain(simulation.world, infrastructure)
    if is_silent and does_hide:
        return Hiding(state.gateway, ("spec", "gatewayClassName"), is_stated=False)
    return None


def _place(value: object, above: Pointer) -> Pointer:
    """Return where the field stands in an object, () where it does not."""
    for name, inner in mapping(value).items():
        if name == FIELD:
            return (*above, name)
        if found := _place(inner, (*above, name)):
            return found
    return ()
