"""GWP527: items of lists that Argo CD leaves as they are in the cluster, because it is told to ignore parts of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Finding, Resource, World, mapping, sequence, text, texts
from policylint.patterns import Pattern
from policylint.simulation import Simulation

RULE = "GWP527"
_GROUP = "argoproj.io"
_OPTION = "RespectIgnoreDifferences=true"
_ITEM = Pattern(r"(?:\[[^\[\]]*\]|/\d+)(?=[./|])")
"""A step of a path to the items of a list, in jq or as a JSON pointer, with more of the path behind it."""


def check(simulation: Simulation) -> Iterator[Finding]:
    for application, at, spec in _applications(simulation.world):
        options = texts(mapping(spec.get("syncPolicy")).get("syncOptions"))
        if _OPTION not in (option.replace(" ", "") for option in options):
            continue
        found: dict[tuple[str, str], Finding] = {}
        for number, entry in enumerate(map(mapping, sequence(spec.get("ignoreDifferences")))):
            group, kind = text(entry.get("group")), text(entry.get("kind"))
            if not _is_ours(group, kind, simulation):
                continue
            for field in ("jqPathExpressions", "jsonPointers"):
                for index, path in enumerate(texts(entry.get(field))):
                    match = _ITEM.search(path)
                    if match is not None:
                        place: Pointer = (*at, "ignoreDifferences", number, field, index)
                        kept = path[: match.start()], _meant(entry, kind)  # once, whatever else of it is ignored
                        found.setdefault(kept, _finding(application, place, path, *kept))
        yield from found.values()


def _applications(world: World) -> Iterator[tuple[Resource, Pointer, Mapping[str, Any]]]:
    """Yield what says how something is synced, with where: Applications, and the templates of sets of them."""
    for application in world.of_kind(_GROUP, "Application"):
        yield application, ("spec",), application.spec
    for template in world.of_kind(_GROUP, "ApplicationSet"):
        yield template, ("spec", "template", "spec"), mapping(mapping(template.spec.get("template")).get("spec"))


def _is_ours(group: str, kind: str, simulation: Simulation) -> bool:
    """Return whether an entry is about routes, Gateways or policies."""
    return group in (GATEWAY_GROUP, "*") or kind == "*" or simulation.catalog.get(group, kind) is not None


def _meant(entry: Mapping[str, Any], kind: str) -> str:
    """Return the objects that an entry is about: those of a kind, or of a namespace, or a single one."""
    namespace, name = text(entry.get("namespace")), text(entry.get("name"))
    if name:
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
    every = "every object" if kind == "*" else f"every {kind}"
    return f"{every} in {namespace}" if namespace else every


def _finding(application: Resource, place: Pointer, ignored: str, of_list: str, of_objects: str) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{application.key} keeps the items of {of_list} of {of_objects} as they are in the cluster",
        application.location(*place),
        resources=(application.key,),
        label=f"with {_OPTION}, where a part of an item is ignored, the whole item is taken from the cluster",
        help=(
            f"fix: write the defaults out and remove {ignored}, or leave {_OPTION} out",
            "note: Argo CD goes on showing a change of them as OutOfSync, and its syncs succeed (argo-cd#25284)",
        ),
        field=".".join(map(str, place)),
    )
