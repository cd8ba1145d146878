"""GWP304: what asks stays, and asks for less: effective settings that became weaker on ways that stay.

Which changes weaken, the catalog says (`weaker`). What is asked for no longer at all is GWP302's to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from policylint.checks.kit.locations import path, target_at, value_at
from policylint.compare.change import ContextChange, Setting
from policylint.compare.contexts import identity
from policylint.compare.protection.cause import Behind, Cause, Path, Reach, Weaker, finding, is_unseen
from policylint.compare.protection.extensions import named_weakened
from policylint.compare.protection.guards import asking, purposes
from policylint.compare.protection.istio import asking_for_tokens, authorization_weakened
from policylint.compare.protection.spec import Weakened, weakened
from policylint.compare.settings import settings
from policylint.compare.sides import Sides
from policylint.documents import Pointer
from policylint.model import Finding, Location, Node, PolicyKind, Resource, ResourceKey, mapping, sequence
from policylint.policy.results import Attachment, Effective, holds
from policylint.simulation import Simulation
from policylint.topology.routes import rules

_OF_TOKENS = ("security.istio.io", "RequestAuthentication")


def protection_weakened(sides: Sides, contexts: Iterable[ContextChange]) -> Iterator[Finding]:
    """One finding per cause, sorted."""
    behind, idle = Behind(sides.after), _Idle(sides.after)
    apart: dict[tuple[int, str], tuple[Cause, str, Reach]] = {}
    for cause, void, way in chain(_weakened(sides, contexts), authorization_weakened(sides), named_weakened(sides)):
        if not idle.lies_on(way):
            apart.setdefault((id(cause), void), (cause, void, Reach()))[2].add(behind, way)
    reached: dict[Cause, Reach] = defaultdict(Reach)
    for cause, void, reach in apart.values():
        reached[cause._replace(void=void)].join(reach)
    yield from (finding(sides, cause, reach) for cause, reach in reached.items())


def _weakened(sides: Sides, contexts: Iterable[ContextChange]) -> Iterator[Weaker]:
    others = _Others(sides.after)
    memo: dict[tuple[int, int], list[tuple[Cause, str]]] = {}
    needed: frozenset[Path] | None = None
    for each in contexts:
        if each.standing != "both" or not (each.kind.weaker or any(purposes(each.kind))):
            continue
        if (each.kind.group, each.kind.kind) == _OF_TOKENS:
            needed = asking_for_tokens(sides.after) if needed is None else needed
            if identity(each.path) not in needed:
                continue  # a request passes without any
        pair = (id(each.before), id(each.after))
        if pair not in memo:
            memo[pair] = list(_causes(sides, each))
        if each.after is None and memo[pair] and others.serve(each.path, each.kind):
            continue  # another kind of policy takes over
        for cause, purpose in memo[pair]:
            yield cause, "" if purpose and others.serve(each.path, each.kind, purpose) else purpose, each.path


def _causes(sides: Sides, change: ContextChange) -> Iterator[tuple[Cause, str]]:
    """What is weaker between the two effective policies of a context, each with the purpose it leaves unserved."""
    before = {} if change.before is None else change.before.spec
    after = {} if change.after is None else change.after.spec
    if is_unseen(sides, _keys(change.before), _keys(change.after)):
        return
    told: set[str] = set()
    for _, fields in purposes(change.kind):
        asked, still = set(asking(before, fields)), set(asking(after, fields))
        told |= asked - still
        if still and still < asked:
            yield _fewer(sides, change, sorted(asked - still), sorted(still)), ""
    words = [each for each in change.kind.weaker if before or each.without is not None]
    for each in weakened(words, before, after):
        if each.weak.path.split(".")[0] not in told:
            yield _cause(sides, change, each), each.weak.opens if each.opens else ""


def _keys(effective: Effective | None) -> list[ResourceKey]:
    return [] if effective is None else [each.key for each in effective.stack]


def _fewer(sides: Sides, change: ContextChange, gone: list[str], still: list[str]) -> Cause:
    """Some of the settings that asked are gone, others still ask."""
    listed = [each for each in settings(change.kind, change.before, change.after, *sides) if each.name in gone]
    sources = [source for each in listed for source in each.sources_before]
    winners = tuple(dict.fromkeys(each.policy for setting in listed for each in setting.by))
    names = ", ".join(gone)
    return Cause(
        names,
        "is gone" if len(gone) == 1 else "are gone",
        f"{' and '.join(still)} alone {'asks' if len(still) == 1 else 'ask'}",
        tuple(dict.fromkeys(each.policy for each in sources)),
        winners,
        _place(sides, listed[0]),
        next((each.location for each in sources), None),
        f"keep {', '.join(f'`{each}:`' for each in gone)} for what needs it, here or in another policy",
    )


def _place(sides: Sides, setting: Setting) -> Location | None:
    """Where a person would edit to bring a setting back."""
    places = [each.location for each in (*setting.by, *setting.sources_after) if each.location is not None]
    if places:
        return places[0]
    return next((at for each in setting.sources_before if (at := _left(sides, each.policy)) is not None), None)


def _left(sides: Sides, policy: ResourceKey) -> Location | None:
    """The target of a policy of before, if it is still there."""
    state = sides.after.policies.get(sides.pairing.key(policy))
    if state is None:
        return None
    return target_at(state.policy, state.targets[0]) if state.targets else state.policy.name_location


def _cause(sides: Sides, change: ContextChange, each: Weakened) -> Cause:
    was = None if change.before is None else written(change.before, each.before)
    now = None if change.after is None else written(change.after, each.after)
    stands = now is not None and now[2] == len(each.after)
    owners = [found[0] for found in (now if stands else was, now, was) if found is not None][:1]
    if not owners:
        stack = (change.after or change.before).stack  # type: ignore[union-attr]
        owners = [stack[-1].key]
    winners: tuple[ResourceKey, ...] = ()
    location = None if now is None else now[1]
    if not stands and was is not None:
        listed = settings(change.kind, change.before, change.after, *sides)
        setting = next((one for one in listed if one.name == each.before[0]), None)
        if setting is not None:
            winners = tuple(one.policy for one in setting.by)
            location = location or _place(sides, setting)
        elif location is None:
            location = _left(sides, was[0])
        if now is not None and now[0] != sides.pairing.key(was[0]):
            winners = (now[0],)
    shown = each.after if stands or not each.before else each.before
    return Cause(
        path(shown if not each.weak.list else each.after[: _depth(each)]),
        each.change,
        each.weak.says,
        tuple(owners),
        winners,
        location,
        None if was is None else was[1],
        _fix(each),
        each.weak.severity,
    )


def _depth(each: Weakened) -> int:
    return len(each.weak.path.split("."))


def _fix(each: Weakened) -> str:
    field = f"`{path(each.after[: _depth(each)])}`"
    if each.was:
        return f"keep {field} at {each.was}"
    if "demands" in (each.weak.presence, each.weak.list):
        return f"keep what {field} asked for, here or in another policy"
    return f"take back what {field} gains, or keep it to what needs it"


def written(effective: Effective, pointer: Pointer) -> tuple[ResourceKey, Location, int] | None:
    """Who says what stands at a pointer of an effective spec, or nearest above it, where, and how deep that is."""
    for depth in range(len(pointer), 0, -1):
        part = pointer[:depth]
        owners = sorted(
            {owner for at, owner in effective.owners.items() if at[:depth] == part or part[: len(at)] == at}
        )
        for attachment in (each for owner in owners for each in effective.stack if each.key == owner):
            location = _in(attachment, part, value_at(effective.spec, part))
            if location is not None:
                return attachment.key, location, depth
    return None


def _in(attachment: Attachment, pointer: Pointer, value: Any) -> Location | None:
    """Where a policy writes a value of the effective spec; a list that was merged may have it at another place."""
    *above, last = pointer
    for declared in attachment.declared:
        places = [pointer]
        if isinstance(last, int):
            beside = sequence(value_at(declared.proper, tuple(above)))
            places = [(*above, number) for number, each in enumerate(beside) if each == value]
        for place in places:
            if holds(declared.proper, place):
                return attachment.policy.location(*declared.prefix, *place, key=isinstance(last, str))
    return None


class _Others:
    """What kinds of policy ask for what on which rules and routes after the change."""

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._nodes: dict[tuple[Node, str], set[tuple[str, str]]] | None = None

    def serve(self, way: Path, kind: PolicyKind, purpose: str = "") -> bool:
        """Whether policies of another kind ask on a way, for a purpose or any."""
        if self._nodes is None:
            self._nodes = defaultdict(set)
            for group in self._after.groups:
                for served, fields in purposes(group.kind):
                    if asking(group.effective.spec, fields):
                        for node in group.nodes:
                            self._nodes[node, served].add((group.kind.group, group.kind.kind))
        wanted = (purpose,) if purpose else ("authentication", "authorization")
        asked = set().union(*(self._nodes.get((way[-1], each), ()) for each in wanted))
        return bool(asked - {(kind.group, kind.kind)})


class _Idle:
    """Rules that only redirect: what is asked there keeps nobody out."""

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._found: dict[Node, bool] = {}

    def lies_on(self, way: Path) -> bool:
        rule = next((node for node in way if node.role.endswith("Rule")), None)
        if rule is None:
            return False
        if rule not in self._found:
            state = self._after.topology.route(rule.key)
            self._found[rule] = state is not None and _redirects(state.route, rule)
        return self._found[rule]


def _redirects(route: Resource, rule: Node) -> bool:
    number = next((each.number for each in rules(route) if each.node == rule), None)
    if number is None:
        return False
    body = mapping(sequence(route.spec.get("rules"))[number])
    return any(mapping(each).get("type") == "RequestRedirect" for each in sequence(body.get("filters")))
