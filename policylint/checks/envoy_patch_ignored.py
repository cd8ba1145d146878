"""GWP520: a patch of an EnvoyFilter whose operation does nothing to what it applies to (IST0152 to IST0154)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.proxy_patches import ProxyPatch, patches
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP520"
_REPLACEABLE = ("HTTP_FILTER", "NETWORK_FILTER", "VIRTUAL_HOST")
_FIXED = ("HTTP_ROUTE", "ROUTE_CONFIGURATION")


def check(simulation: Simulation) -> Iterator[Finding]:
    for of_filter in patches(simulation):
        for patch in of_filter:
            why = why_ignored(patch)
            if why:
                yield _finding(patch, why)


def why_ignored(patch: ProxyPatch) -> str:
    """Return why the operation of a patch does nothing, "" where it does something."""
    if patch.operation == "REPLACE" and patch.applies_to and patch.applies_to not in _REPLACEABLE:
        return f"REPLACE is only for {', '.join(_REPLACEABLE[:-1])} and {_REPLACEABLE[-1]}"
    if patch.operation in ("ADD", "REMOVE") and patch.applies_to in _FIXED:
        return f"{patch.operation} is ignored for {patch.applies_to}"
    return ""


def _finding(patch: ProxyPatch, why: str) -> Finding:
    return Finding(
        RULE,
        "error",
        f"{patch.holder.key} has a patch that is ignored: {patch.operation} of {patch.applies_to}",
        patch.holder.location(*patch.pointer),
        resources=(patch.holder.key,),
        label=why,
        help=(f"fix: use MERGE, or an operation that the reference of {patch.holder.key.kind} lists for it",),
        field=path(patch.pointer),
    )
