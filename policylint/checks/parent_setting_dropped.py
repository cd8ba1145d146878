"""GWP201: a more specific policy replaces another one completely, and settings are lost that nobody replaces."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.fixes import insert
from policylint.checks.kit.locations import target_at
from policylint.checks.kit.losses import Drop, drops
from policylint.model import ROUTE_KINDS, Finding, Related, ResourceKey
from policylint.model.fix import Fix
from policylint.model.words import count, listing
from policylint.simulation import Simulation

RULE = "GWP201"


def check(simulation: Simulation) -> Iterator[Finding]:
    for drop in drops(simulation).values():
        if not drop.empty:  # an empty winner is GWP205
            yield _finding(simulation, drop)


def _finding(simulation: Simulation, drop: Drop) -> Finding:
    fields = list(drop.fields)
    subject, plural_subject = _subject(drop)
    verbs, how = ("loses", "lose"), ""
    if drop.deliberate:
        verbs, how = ("opts out of", "opt out of"), "lets everyone pass: it "
    parent = _parent(drop) if not plural_subject else str(drop.loser.node)
    return Finding(
        RULE,
        drop.severity,
        f"{subject} {verbs[plural_subject]} the {listing(fields)} of {parent}",
        target_at(drop.winner.policy, drop.winner.target),
        resources=(drop.winner.key, drop.winner.node.key, drop.loser.key),
        label=f"this policy {how}replaces {drop.loser.key} completely",
        related=(*_lost(drop), *_routes(simulation, drop)),
        help=() if drop.deliberate else (_fix(drop, fields),),
        field=",".join(fields),
        fixes=() if drop.deliberate else _add_directive(drop),
    )


def _add_directive(drop: Drop) -> tuple[Fix, ...]:
    """Return the fix that adds the directive by which the winner asks to be merged."""
    word = _directive(drop).removeprefix("add `").partition("`")[0]
    field, colon, value = word.partition(": ")
    directive = drop.kind.merge.directive
    if not colon or directive is None or directive.on != "challenger" or field in drop.winner.policy.spec:
        return ()
    return insert(drop.winner.policy.location("spec"), field, value)


def _subject(drop: Drop) -> tuple[str, bool]:
    """Return what loses settings (the route, or its rule if only that), and whether it is several routes."""
    node = drop.winner.node
    if node.section and node.key.kind in ROUTE_KINDS:
        return str(node), False
    if len(drop.routes) == 1:
        return str(next(iter(drop.routes))), False
    return (count(len(drop.routes), "route"), True) if drop.routes else (str(node), False)


def _parent(drop: Drop) -> str:
    """Return `its Gateway`, for a loser that can be no other."""
    node = drop.loser.node
    if node.section:
        return "its listener" if node.key.kind not in ROUTE_KINDS else "its rule"
    return f"its {'route' if node.key.kind in ROUTE_KINDS else node.key.kind}"


def _lost(drop: Drop) -> Iterator[Related]:
    where = _reach(drop)
    for location in list(drop.fields.values())[:4]:
        yield Related(f"this no longer applies to {where}", location)


def _reach(drop: Drop) -> str:
    """Return `3 rules of shop/checkout`, `2 routes`."""
    if not drop.routes:
        return str(drop.winner.node)
    if len(drop.routes) > 1:
        return count(len(drop.routes), "route")
    route, rules = next(iter(drop.routes.items()))
    return f"{count(len(rules), 'rule')} of {route.path}" if rules else route.path


def _routes(simulation: Simulation, drop: Drop) -> Iterator[Related]:
    """Yield the routes themselves where the policy does not name them."""
    if drop.winner.node.key.kind in ROUTE_KINDS:
        return
    for route in sorted(drop.routes)[:3]:
        resource = simulation.world.get(route)
        if resource is not None:
            yield Related(f"{route} is one of them", resource.name_location)


def _fix(drop: Drop, fields: list[str]) -> str:
    repeat = f"repeat {listing([f'`{field}:`' for field in fields], most=3)} here"
    directive = _directive(drop)
    return f"fix: {directive}, or {repeat}" if directive else f"fix: {repeat}"


def _directive(drop: Drop) -> str:
    """Return the advice to choose a merging strategy: the kind's entry in the catalog says who does so, and how."""
    kind = drop.kind
    directive = kind.merge.directive
    if directive is None:
        return ""
    value = next(
        (word for word, strategy in directive.values.items() if strategy in ("strategic", "patch", "units")), ""
    )
    if not value:
        return ""
    if directive.on == "challenger":
        routes = drop.winner.node.key.kind in ROUTE_KINDS
        since = f" ({directive.since}+)" if directive.since else ""
        return f"add `{directive.field}: {value}`{since}" if routes else ""
    return f"set `{directive.field}: {value}` in {_holder(drop.loser.key, drop)}"


def _holder(key: ResourceKey, drop: Drop) -> str:
    prefix = drop.loser.declared[0].prefix if drop.loser.declared else ("spec",)
    return f"`{prefix[-1]}` of {key}" if len(prefix) > 1 else str(key)
