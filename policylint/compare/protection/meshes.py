"""GWP304 where the proxy beside a workload lets in who is not of the mesh, and turned them away before.

For meshes whose rules are no settings to be compared: each port of the workload is asked on both sides
(`Implementation.admit`).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay
from policylint.implementations import implementation
from policylint.model import Resource, mapping, sequence, text
from policylint.policy.authorizing import Checkpoint, Client, Decision, RequestFacts
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import WORKLOADS, container_port, pod_spec, server_routes, servers_selecting
from policylint.trace.admissions import taker
from policylint.trace.request import Request


def strangers_let_in(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield a cause per policy, or default, that turned strangers away, with the workloads that let them in now."""
    world = sides.before.world
    kinds = (sides.before.catalog.get(group, name) for group, name in world.kinds())
    causes: dict[object, Cause] = {}
    for name in sorted({kind.implementation for kind in kinds if kind is not None}):
        behaviour = implementation(name, sides.before.catalog.settings(name))
        if not behaviour.asked_by_requests:
            continue
        groups, groups_now = (
            [group for group in side.groups if group.kind.implementation == name]
            for side in (sides.before, sides.after)
        )
        for workload in (workload for kind in WORKLOADS for workload in world.of_kind(*kind)):
            now = sides.after.world.get(sides.pairing.key(workload.key))
            if now is None:
                continue
            for call in _requests(sides.before, workload):
                denied = behaviour.admit(call, _at(workload), groups, world)
                if denied is None or denied.answer != "denied":
                    continue
                after = behaviour.admit(call, _at(now), groups_now, sides.after.world)
                if after is not None and after.answer != "allowed":
                    continue
                by = denied.by or workload
                cause = causes.setdefault(by.key, _cause(sides, denied, by, call, after))
                yield cause, "", (whole(now.key),)
                break


def _at(workload: Resource) -> Checkpoint:
    return Checkpoint((whole(workload.key),), workload)


def _requests(before: Simulation, workload: Resource) -> Iterator[RequestFacts]:
    """Yield requests of nobody in the mesh to each port of a workload's pods, to paths that routes of it take."""
    servers = servers_selecting(before.world, workload)
    containers = map(mapping, sequence(pod_spec(workload).get("containers")))
    named = [
        mapping(port).get("containerPort") for container in containers for port in sequence(container.get("ports"))
    ]
    wanted = [container_port(workload, port) for port in (*named, *(server.spec.get("port") for server in servers))]
    routes = (route for server in servers for route in server_routes(before.world, server))
    rules = (mapping(rule) for route in routes for rule in sequence(route.spec.get("rules")))
    matches = (mapping(match) for rule in rules for match in sequence(rule.get("matches")))
    paths = dict.fromkeys(text(mapping(match.get("path")).get("value")) or "/" for match in matches)
    for port in sorted({port for port in wanted if port is not None}):
        for place in paths or ("/",):
            request = Request(host=workload.key.name, path=place)
            yield RequestFacts("GET", request.host, place, {}, port, False, Client(None, ""), taker(request, []))


def _cause(sides: Sides, denied: Decision, by: Resource, call: RequestFacts, after: Decision | None) -> Cause:
    key = sides.pairing.key(by.key)
    now = sides.after.world.get(key)
    owner = after.by.key if after is not None and after.by is not None else key
    return Cause(
        path(denied.pointer),
        "turns fewer requests away" if now is not None else "is gone",
        f"whoever is not of the mesh is let in at port {call.port}",
        (owner,),
        location=None if now is None else now.location(*denied.pointer),
        before=by.location(*denied.pointer),
        fix=f"keep {by.key}, or let another policy ask for an identity",
    )
