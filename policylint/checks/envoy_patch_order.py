"""GWP521: an EnvoyFilter that leans on what is there already, and does not say when it applies (IST0151, IST0155)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.envoy_patch_ignored import why_ignored
from policylint.checks.kit.envoy_patches import Patch, patches
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP521"
_RELATIVE = ("INSERT_AFTER", "INSERT_BEFORE", "MERGE", "REMOVE", "REPLACE")


def check(world: Simulation) -> Iterator[Finding]:
    for of_filter in patches(world):
        leaning = [each for each in of_filter if each.operation in _RELATIVE and not why_ignored(each)]
        if leaning and not leaning[0].holder.spec.get("priority"):
            first = next((each for each in leaning if each.versioned), leaning[0])
            yield _finding(first, len(leaning))


def _finding(patch: Patch, count: int) -> Finding:
    """A note, as most such patches lean on what istiod itself puts there; a warning where an upgrade of the proxies
    takes the patch away."""
    more = f" (and {count - 1} more)" if count > 1 else ""
    key = patch.holder.key
    if patch.versioned:
        message = (
            f"{key} may be lost in an upgrade: {patch.operation}{more} for some versions of the proxy, no priority"
        )
        label = "for some versions of the proxy only, relative to what others put there"
    else:
        message = f"{key} has {patch.operation}{more} but no priority: what it is relative to may come later"
        label = "relative to what is there when it applies"
    return Finding(
        RULE,
        "warning" if patch.versioned else "note",
        message,
        patch.holder.location(*patch.pointer),
        resources=(key,),
        label=label,
        help=("fix: set `priority`, or use INSERT_FIRST or ADD",),
    )
