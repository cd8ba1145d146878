"""Rules that a controller does not serve as they are written, as its catalog file states it (`filters`, `alike`)."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.catalog.kinds import Catalog
from policylint.implementations import implementation as behaviour
from policylint.implementations.generic.supported import unsupported_filters
from policylint.model import Resource, ResourceKey, World
from policylint.trace.precedence import RuleCandidate
from policylint.trace.result import Outcome, Share


def unserved(
    winner: RuleCandidate, shares: Iterable[Share], implementation: str | None, catalog: Catalog, world: World
) -> Outcome | None:
    """Return how a controller answers the requests of a rule that it does not serve; None where it does, or may."""
    if implementation is None:
        return None
    refused = behaviour(implementation).refuses(winner.route)
    if refused:
        return Outcome(status=404, reason=f"{implementation} does not accept {winner.route.key}: {refused}")
    for _, name in unsupported_filters(winner.route.key.kind, winner.rule.body, implementation, catalog):
        status = catalog.limits(implementation).unsupported
        return Outcome(status=status, reason=f"{implementation} supports no filter {name}")
    alike = catalog.limits(implementation).alike
    services = [share.key for share in shares] if alike else []
    differing = _differing(services, alike, world) if len(services) > 1 else ""
    if differing:
        reason = f"its Services differ in annotation {differing}, and {implementation} leaves the rule out"
        return Outcome(status=404, reason=reason)
    return None


def _differing(services: list[ResourceKey], prefix: str, world: World) -> str:
    """Return the first annotation with a prefix that some of the Services lack, or have with another value."""
    seen: list[Resource] = [resource for key in services if (resource := world.get(key)) is not None]
    names = sorted({str(name) for service in seen for name in service.annotations if str(name).startswith(prefix)})
    return next((name for name in names if len({service.annotations.get(name) for service in seen}) > 1), "")
