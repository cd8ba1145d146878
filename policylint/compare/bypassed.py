"""GWP325 for proxies that ask for a login: a route that sent all requests through one, and sends some past it now.

No policy asks there, so that comparing requests shows another backend, no lost login. What such proxies are called is
data (`access.proxies` in schemas/weakenings.yaml).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.weakenings import access
from policylint.compare.ends import with_login
from policylint.compare.pairing import Sides
from policylint.load.images import image_of
from policylint.model import Finding, Resource, ResourceKey, World, mapping, sequence
from policylint.topology import BackendState, RouteState
from policylint.topology.workloads import pod_template, workloads_selected

RULE = "GWP325"


def logins_bypassed(sides: Sides) -> Iterator[Finding]:
    """Yield the routes that led to such proxies alone, and of which no policy asks for a login now."""
    before, after, pairing = sides
    former = {pairing.key(state.route.key): state for state in before.topology.routes}
    guarded: frozenset[ResourceKey] | None = None
    for state in after.topology.routes:
        was = former.get(state.route.key)
        if was is None or was.route.body is state.route.body:
            continue
        proxies = _through(was, before.world)
        past = next((each for each in _backends(state) if not _is_proxy(after.world, each.wanted)), None)
        if not proxies or past is None:
            continue
        guarded = with_login(after) if guarded is None else guarded
        if state.route.key not in guarded:
            yield Finding(
                RULE,
                "error",
                f"{state.route.key} leads past {proxies[0]}, which asked for a login, to {past.wanted}",
                state.route.location(*past.pointer),
                resources=(state.route.key, past.wanted, *proxies),
                label="no policy asks for a login there",
                environments=(after.world.name,),
                confidence="assumed",
                ground=f"{proxies[0]} is called as a proxy is that asks for a login",
            )


def _backends(state: RouteState) -> list[BackendState]:
    return [each for each in state.backends if each.role == "backend" and each.wanted.name]


def _through(state: RouteState, world: World) -> list[ResourceKey]:
    """Return the proxies that a route leads to, none where it leads anywhere else as well."""
    wanted = list(dict.fromkeys(each.wanted for each in _backends(state)))
    return wanted if all(_is_proxy(world, key) for key in wanted) else []


def _is_proxy(world: World, key: ResourceKey) -> bool:
    """Tell whether a backend is such a proxy, by its own name or by what its pods run."""
    known = access()
    if known.is_proxy(key.name):
        return True
    service = world.get(key)
    if service is None or key.kind != "Service":
        return False
    return any(known.is_proxy(_program(workload)) for workload in workloads_selected(world, service))


def _program(workload: Resource) -> str:
    """Return what the pods of a workload run, the name of its image, where they have one container; else ""."""
    containers = sequence(mapping(pod_template(workload).get("spec")).get("containers"))
    return image_of(mapping(containers[0]))[0].rpartition("/")[2] if len(containers) == 1 else ""


__all__ = ["logins_bypassed"]
