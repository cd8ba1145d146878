"""GWP521: an EnvoyFilter that leans on what is there already, and does not say when it applies (IST0151, IST0155)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.envoy_patch_ignored import why_ignored
from policylint.checks.kit.proxy_patches import ProxyPatch, patches
from policylint.model import Finding, Resource
from policylint.patterns import Pattern
from policylint.simulation import Simulation

RULE = "GWP521"
_OF_ISTIO = Pattern(r"(?:(?:tcp-)?(?:metadata-exchange|stats-filter)|stackdriver-filter)-\d[\w.]*(?:-.*)?")
"""What Istio's own installation applies per version of the proxies, and replaces in an upgrade: `stats-filter-1.12`,
with its revision behind it where it has one."""
_RELATIVE = ("INSERT_AFTER", "INSERT_BEFORE", "MERGE", "REMOVE", "REPLACE")


def check(simulation: Simulation) -> Iterator[Finding]:
    for of_filter in patches(simulation):
        relative = [patch for patch in of_filter if patch.operation in _RELATIVE and not why_ignored(patch)]
        if relative and not relative[0].holder.spec.get("priority") and not _is_of_istio(relative[0].holder):
            lasting = {(each.applies_to, each.operation): each for each in relative if not each.versioned}
            other = (each for each in relative if each.versioned and (each.applies_to, each.operation) not in lasting)
            yield _finding(next(other, None) or next(iter(lasting.values())), len(relative))


def _is_of_istio(holder: Resource) -> bool:
    return _OF_ISTIO.fullmatch(holder.key.name) is not None


def _finding(patch: ProxyPatch, count: int) -> Finding:
    """Return a note, as most such patches lean on what istiod itself puts there; a warning where an upgrade of the
    proxies takes the patch away."""
    more = f" (and {count - 1} more)" if count > 1 else ""
    key = patch.holder.key
    if patch.versioned:
        message = (
            f"{key} may stop applying in an upgrade: {patch.operation}{more} for some proxy versions, without priority"
        )
        label = "only for some proxy versions, and relative to what other patches add"
    else:
        message = f"{key} has {patch.operation}{more} but no priority: what it refers to may be added later"
        label = "relative to whatever is there when it is applied"
    return Finding(
        RULE,
        "warning" if patch.versioned else "note",
        message,
        patch.holder.location(*patch.pointer),
        resources=(key,),
        label=label,
        help=("fix: set `priority`, or use INSERT_FIRST or ADD",),
    )
