"""Canaries of Ingresses without a main one: their controller takes the share of nothing, and leaves them out.

Source: kubernetes/ingress-nginx internal/ingress/controller/controller.go, mergeAlternativeBackends and createServers:
a canary makes no server and no location, and is put beside the backend of a location with its host, path and pathType.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.annotations import served
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, World, holds_variable, mapping, sequence, text
from policylint.model.kinds import INGRESS

_ANYWHERE = ""
"""The host of rules that name none."""


def without_main(world: World) -> Iterator[DeadEnd]:
    """Yield the paths of canaries that no other Ingress has."""
    canaries = [
        each
        for each in served(world)
        if each.certain and each.vendor.list("ofCanaries") and each.vendor.value(each.ingress, "canary") == "true"
    ]
    if not canaries:
        return
    left_out = {each.ingress.key for each in canaries}
    others = (*world.of_kind(*INGRESS), *world.beside(*INGRESS))
    mains: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for ingress in others:
        for host, path, _ in _paths(ingress) if ingress.key not in left_out else ():
            mains[host][_name(path)].add(text(path.get("pathType")))
    if any(holds_variable(host) for host in mains):
        return  # which hosts they have is not known
    ground = "another Ingress may come from what was not rendered" if world.unseen else ""
    for canary, vendor, _ in canaries:
        for host, path, place in _paths(canary):
            same = mains[host].get(_name(path), set()) if host in mains else set()
            if holds_variable(host) or holds_variable(_name(path)) or text(path.get("pathType")) in same:
                continue
            of = f"host {host}" if host else "all hosts"
            lacking = f"path {_name(path)} of {of}" if host in mains else of
            if same:
                lacking += f" as {text(path.get('pathType'))} ({' and '.join(sorted(same))} is there)"
            yield DeadEnd(
                canary,
                place,
                f"is a canary without an Ingress for {lacking}",
                "add the Ingress that it is a canary of, with the same host, path and pathType",
                ground=ground,
                then=f"{vendor.name} leaves it out: no request gets there",
            )
            break


def _name(path: Mapping[str, Any]) -> str:
    return text(path.get("path")) or "/"


def _paths(ingress: Resource) -> Iterator[tuple[str, Mapping[str, Any], Pointer]]:
    """Yield the hosts and paths of an Ingress, each with where it is written."""
    for number, rule in enumerate(map(mapping, sequence(ingress.spec.get("rules")))):
        for index, path in enumerate(map(mapping, sequence(mapping(rule.get("http")).get("paths")))):
            place: Pointer = ("spec", "rules", number, "http", "paths", index, "path")
            yield text(rule.get("host")) or _ANYWHERE, path, place
