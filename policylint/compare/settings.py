"""Two effective policies of one context, setting by setting: what is gone, what is new, and who did it."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.checks.kit.locations import target_at
from policylint.compare.change import Responsible, Setting, SettingChange
from policylint.compare.contexts import same_value
from policylint.compare.pairing import Pairing
from policylint.model import PolicyKind, ResourceKey
from policylint.policy.results import Effective
from policylint.simulation import Simulation

ORDER: tuple[SettingChange, ...] = ("removed", "changed", "added", "moved", "unchanged")


def settings(
    kind: PolicyKind,
    before: Effective | None,
    after: Effective | None,
    old: Simulation,
    new: Simulation,
    pairing: Pairing,
) -> list[Setting]:
    """Every top-level setting of either side, lost ones first."""
    was = {} if before is None else before.spec
    now = {} if after is None else after.spec
    found = []
    for name in sorted(was.keys() | now.keys()):
        one, other = was.get(name), now.get(name)
        sources_before, sources_after = sources(before, name), sources(after, name)
        if name not in now:
            by, because = _why(name, before, after, old, new, pairing)
            found.append(Setting(kind, name, "removed", one, None, sources_before, (), by, because))
        elif name not in was:
            found.append(Setting(kind, name, "added", None, other, (), sources_after))
        else:
            change: SettingChange = "unchanged"
            if not same_value(one, other):
                change = "changed"
            elif {pairing.key(each.policy) for each in sources_before} != {each.policy for each in sources_after}:
                change = "moved"
            found.append(Setting(kind, name, change, one, other, sources_before, sources_after))
    found.sort(key=lambda each: (ORDER.index(each.change), each.name))
    return found


def sources(effective: Effective | None, name: str) -> tuple[Responsible, ...]:
    """The policies that a top-level setting comes from, each with the line of its key."""
    if effective is None:
        return ()
    owners = sorted({owner for pointer, owner in effective.owners.items() if pointer and pointer[0] == name})
    return tuple(_source(effective, owner, name) for owner in owners)


def _source(effective: Effective, owner: ResourceKey, name: str) -> Responsible:
    for attachment in effective.stack:
        if attachment.key == owner:
            for declared in attachment.declared:
                if name in declared.proper:
                    return Responsible(owner, attachment.policy.location(*declared.prefix, name, key=True))
            return Responsible(owner, attachment.policy.name_location)
    return Responsible(owner, None)


def _why(
    name: str,
    before: Effective | None,
    after: Effective | None,
    old: Simulation,
    new: Simulation,
    pairing: Pairing,
) -> tuple[tuple[Responsible, ...], str]:
    """Who prevails over a setting that is gone, or what became of the policy that gave it."""
    owners = () if before is None else sources(before, name)
    keys = {pairing.key(each.policy) for each in owners}
    if after is not None:
        winners = {
            winner
            for lost in after.lost
            if lost.pointer and lost.pointer[0] == name and lost.policy in keys
            for winner in lost.by
        }
        if winners:
            return tuple(aims(after, sorted(winners))), ""
    return (), "; ".join(dict.fromkeys(_fate(key, after, old, new, pairing) for key in sorted(keys)))


def aims(effective: Effective, winners: Iterable[ResourceKey]) -> Iterable[Responsible]:
    """Policies of a stack, each with the place where it names its target."""
    for winner in winners:
        attachment = next((each for each in reversed(effective.stack) if each.key == winner), None)
        location = None if attachment is None else target_at(attachment.policy, attachment.target)
        yield Responsible(winner, location)


def _fate(key: ResourceKey, after: Effective | None, old: Simulation, new: Simulation, pairing: Pairing) -> str:
    """Why a policy (by its identity after) no longer gives what it gave."""
    state = new.policies.get(key)
    if state is None:
        return "deleted" if new.world.get(key) is None else "no longer a policy of a known kind"
    if after is not None and any(each.key == key for each in after.stack):
        return "taken out of it"
    was = old.policies.get(pairing.was(key))
    if state.invalid_code and (was is None or not was.invalid_code):
        return f"now invalid: {state.invalid}"
    refused = next((each for each in state.refused), None)
    if refused is not None:
        return f"refused, {refused.by.path} claims the same target"
    if any(target.selector is not None for target in state.targets):
        return "its selector no longer matches"
    if state.verdict == "TargetNotFound":
        return "its target is gone" if was is None or was.verdict != "TargetNotFound" else "its target is not there"
    return "no longer reaches it"
