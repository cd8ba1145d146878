"""GWP304 for filters of routes: headers that clients may send, paths that are made of others, copies of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.catalog.content import known_object
from policylint.checks.kit.locations import path
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Resource, mapping, sequence, text, texts
from policylint.model.kinds import MESH_ROUTE
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.topology import whole
from policylint.topology.routes import Rule, rules

_ENDLESS = ("", "0s", "0ms", "0m", "0h")
"""Timeouts of a request that bound nothing."""
_KINDS = ((GATEWAY_GROUP, "HTTPRoute"), (GATEWAY_GROUP, "GRPCRoute"), MESH_ROUTE)
_SAFEGUARDS = frozenset(
    {
        "content-security-policy",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
        "permissions-policy",
        "referrer-policy",
        "strict-transport-security",
        "x-content-type-options",
        "x-frame-options",
    }
)
"""Headers of responses by which browsers protect visitors."""


class _Filters(NamedTuple):
    """What the filters of a rule do, by what concerns protection; names of headers in lower case."""

    removed: frozenset[str]
    written: frozenset[str]
    safeguards: frozenset[str]
    mirrors: frozenset[str]
    rewrites: frozenset[str]


def filters_weakened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the rules that both sides have and whose filters keep less of what clients send."""
    for kind in _KINDS:
        for old, new in sides.edited(*kind):
            for was, now in _pairs(rules(old), rules(new)):
                limit, left = (text(mapping(each.body.get("timeouts")).get("request")) for each in (was, now))
                if limit not in _ENDLESS and left in _ENDLESS:
                    change, says = f"goes from {limit} to {left or 'none'}", "slow requests hold connections for ever"
                    cause = _cause(old, was, new, now, "request", change, says, "timeouts")
                    yield cause, "", (whole(new.key), now.node)
                if was.body.get("filters") != now.body.get("filters"):
                    causes = [*_causes(old, was, new, now), *_unknown_filters_gone(sides, old, was, new, now)]
                    yield from ((cause, "", (whole(new.key), now.node)) for cause in causes)


def _pairs(old: list[Rule], new: list[Rule]) -> Iterator[tuple[Rule, Rule]]:
    """Yield the rules with the same matches, else with the same name."""
    by_matches = {repr(rule.body.get("matches")): rule for rule in old}
    by_name = {rule.node.section: rule for rule in old}
    for rule in new:
        was = by_matches.get(repr(rule.body.get("matches"))) or by_name.get(rule.node.section)
        if was is not None:
            yield was, rule


def _causes(old: Resource, was: Rule, new: Resource, now: Rule) -> Iterator[Cause]:
    before, after = _filters(was.body), _filters(now.body)
    kept = after.removed | after.written
    for lost, says in (
        (before.removed - kept, "clients may send such a header"),
        (before.written - kept, "what clients send in such a header stays"),
    ):
        if lost:
            yield _cause(old, was, new, now, "requestHeaderModifier", f"lets {listing(sorted(lost))} pass", says)
    if before.safeguards - after.safeguards:
        lost = before.safeguards - after.safeguards
        said = "browsers protect visitors less"
        yield _cause(old, was, new, now, "responseHeaderModifier", f"no longer sends {listing(sorted(lost))}", said)
    if after.mirrors - before.mirrors:
        gained = listing(sorted(after.mirrors - before.mirrors))
        yield _cause(
            old, was, new, now, "requestMirror", f"copies requests to {gained}", "with all credentials in them"
        )
    if before.rewrites != after.rewrites and after.rewrites:
        gained = listing(sorted(after.rewrites - before.rewrites)) or "others"
        says = "policies for the former path do not act there"
        yield _cause(old, was, new, now, "urlRewrite", f"asks for {gained} now", says)


def _unknown_filters_gone(sides: Sides, old: Resource, was: Rule, new: Resource, now: Rule) -> Iterator[Cause]:
    """Yield that a rule goes no longer through a filter of a kind of which nothing is known, but by its name."""
    before, after = (set(_extensions(sides, each)) for each in (was, now))
    for kind, name in sorted(before - after) if len(after) < len(before) else ():
        yield _cause(
            old, was, new, now, "extensionRef", f"no longer names {kind} {name}", "what that did is done no longer"
        )


def _extensions(sides: Sides, rule: Rule) -> Iterator[tuple[str, str]]:
    for each in map(mapping, sequence(rule.body.get("filters"))):
        reference = mapping(each.get("extensionRef"))
        group, kind = text(reference.get("group")), text(reference.get("kind"))
        if kind and sides.after.catalog.is_unstated(group, kind) and known_object(group, kind) is None:
            yield kind, text(reference.get("name"))


def _cause(
    old: Resource, was: Rule, new: Resource, now: Rule, name: str, change: str, says: str, within: str = "filters"
) -> Cause:
    place: Pointer = ("spec", "rules", now.number, within)
    former: Pointer = ("spec", "rules", was.number, within)
    return Cause(
        f"{name} in {path(place)}",
        change,
        says,
        (new.key,),
        location=new.location(*place) if within in now.body else new.name_location,
        before=old.location(*former) if within in was.body else None,
        fix=f"keep `{name}` as it was, or give those who need it a rule of their own",
        severity="note",
    )


def _filters(rule: Any) -> _Filters:
    removed: set[str] = set()
    written: set[str] = set()
    safeguards: set[str] = set()
    mirrors: set[str] = set()
    rewrites: set[str] = set()
    for each in map(mapping, sequence(mapping(rule).get("filters"))):
        request, response = mapping(each.get("requestHeaderModifier")), mapping(each.get("responseHeaderModifier"))
        removed.update(name.lower() for name in texts(request.get("remove")))
        written.update(_names(request.get("set")))
        safeguards.update(_SAFEGUARDS.intersection((*_names(response.get("set")), *_names(response.get("add")))))
        backend = mapping(mapping(each.get("requestMirror")).get("backendRef"))
        if text(backend.get("name")):
            kind = text(backend.get("kind")) or "Service"
            mirrors.add(f"{kind} {'/'.join(filter(None, (text(backend.get('namespace')), text(backend['name']))))}")
        rewrite = mapping(mapping(each.get("urlRewrite")).get("path"))
        rewrites.update(
            text(rewrite.get(field)) for field in ("replaceFullPath", "replacePrefixMatch") if field in rewrite
        )
    return _Filters(*map(frozenset, (removed, written, safeguards, mirrors, rewrites)))


def _names(listed: Any) -> Iterator[str]:
    return (text(mapping(entry).get("name")).lower() for entry in sequence(listed))


__all__ = ["filters_weakened"]
