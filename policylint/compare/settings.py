"""Two effective policies of one context compared setting by setting: what is gone, what is new, and who did it."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.checks.kit.locations import target_at
from policylint.compare.change import Responsible, SettingChange, SettingChangeKind
from policylint.compare.pairing import Sides
from policylint.compare.protection.spec import weakenings
from policylint.compare.sameness import same_value
from policylint.model import ROUTE_KINDS, PolicyKind, ResourceKey
from policylint.policy.results import Effective

ORDER: tuple[SettingChangeKind, ...] = ("removed", "changed", "added", "moved", "unchanged")


def settings(kind: PolicyKind, before: Effective | None, after: Effective | None, sides: Sides) -> list[SettingChange]:
    """Return every top-level setting of either side, lost ones first."""
    was = {} if before is None else before.spec
    now = {} if after is None else after.spec
    changes = []
    for name in sorted(was.keys() | now.keys()):
        old_value, new_value = was.get(name), now.get(name)
        sources_before, sources_after = sources(before, name), sources(after, name)
        if (name in was) != (name in now) and _stands(sources_before or sources_after, sides):
            value, whose = (old_value, sources_before) if name in was else (new_value, sources_after)
            changes.append(SettingChange(kind, name, "unchanged", value, value, whose, whose))
        elif name not in now:
            by, because = _why(name, before, after, sides)
            changes.append(SettingChange(kind, name, "removed", old_value, None, sources_before, (), by, because))
        elif name not in was:
            changes.append(SettingChange(kind, name, "added", None, new_value, (), sources_after))
        else:
            change: SettingChangeKind = "unchanged"
            former = {sides.pairing.key(source.policy) for source in sources_before}
            if not same_value(old_value, new_value, name):
                change = "changed"
            elif former != {source.policy for source in sources_after}:
                change = "moved"
            weaker = change == "changed" and any(weakenings(kind.weaker, {name: old_value}, {name: new_value}))
            changes.append(
                SettingChange(kind, name, change, old_value, new_value, sources_before, sources_after, weaker=weaker)
            )
    changes.sort(key=lambda change: (ORDER.index(change.change), change.name))
    return changes


def _stands(given: Iterable[Responsible], sides: Sides) -> bool:
    """Tell whether a route itself gives a setting, on both sides: it does so whether or not a policy gives it, too."""
    for key in (source.policy for source in given):
        was, now = sides.before.world.get(sides.pairing.was(key)), sides.after.world.get(sides.pairing.key(key))
        if was is None or now is None or was.key.kind not in ROUTE_KINDS or was.spec != now.spec:
            return False
    return True


def sources(effective: Effective | None, name: str) -> tuple[Responsible, ...]:
    """Return the policies that a top-level setting comes from, each with the place of its key."""
    if effective is None:
        return ()
    owners = sorted({owner for pointer, owner in effective.owners.items() if pointer and pointer[0] == name})
    return tuple(_source(effective, owner, name) for owner in owners)


def _source(effective: Effective, owner: ResourceKey, name: str) -> Responsible:
    """Return a policy with the place where it sets a top-level setting."""
    for attachment in effective.stack:
        if attachment.key == owner:
            for declared in attachment.declared:
                if name in declared.proper:
                    return Responsible(owner, attachment.policy.location(*declared.prefix, name, key=True))
            return Responsible(owner, attachment.policy.name_location)
    return Responsible(owner, None)


def _why(
    name: str, before: Effective | None, after: Effective | None, sides: Sides
) -> tuple[tuple[Responsible, ...], str]:
    """Return the policies that prevail over a setting that is gone, else what became of those that gave it."""
    given = (source.policy for source in sources(before, name))
    keys = {sides.pairing.key(policy) for policy in given if policy.kind not in ROUTE_KINDS}
    losses = () if after is None else after.lost
    lost = [loss for loss in losses if loss.pointer and loss.pointer[0] == name and loss.policy in keys]
    winners = {winner for loss in lost for winner in loss.by}
    if after is not None and winners:
        return with_targets(after, sorted(winners)), ""
    return (), "; ".join(dict.fromkeys(fate(key, after, sides) for key in sorted(keys)))


def with_targets(effective: Effective, policies: Iterable[ResourceKey]) -> tuple[Responsible, ...]:
    """Return policies of a stack, each with the place where it names its target."""
    last = {attachment.key: attachment for attachment in effective.stack}
    return tuple(
        Responsible(policy, target_at(last[policy].policy, last[policy].target) if policy in last else None)
        for policy in policies
    )


def fate(key: ResourceKey, after: Effective | None, sides: Sides) -> str:
    """Return why a policy (by its identity after) no longer gives what it gave, in words."""
    old, new, pairing = sides
    state = new.policies.get(key)
    if state is None:
        if new.world.get(key) is not None:
            return "no longer a policy of a known kind"
        return "no longer deployed" if key in new.world.orphans else "deleted"
    was = old.policies.get(pairing.was(key))
    if state.invalid_code and (was is None or not was.invalid_code):
        return f"now invalid: {state.invalid}"
    if after is not None and any(attachment.key == key for attachment in after.stack):
        told = {fault.message for fault in was.faults} if was is not None else set()
        fault = next((fault.message for fault in state.faults if fault.message not in told), "")
        return f"does nothing now: {fault}" if fault else "no longer sets it"
    if state.refused:
        return f"refused, {state.refused[0].by.path} claims the same target"
    if any(target.selector is not None for target in state.targets):
        return "its selector no longer matches"
    if state.verdict == "TargetNotFound":
        return "its target is gone" if was is None or was.verdict != "TargetNotFound" else "its target is not there"
    return "no longer reaches it"
