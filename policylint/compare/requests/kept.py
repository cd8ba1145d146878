"""What kept requests out before and lets them in after: settings that asked for something, policies that refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path
from policylint.compare.change import ContextChange, Responsible, SettingChange
from policylint.compare.pairing import Sides
from policylint.compare.requests.answers import Difference, RequestAnswer
from policylint.compare.settings import fate, settings
from policylint.model import Location, ResourceKey, Severity
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import SEVERITY_OF_LOSS, Ask, TurnedAway, asks, strongest
from policylint.policy.results import Effective, Group
from policylint.simulation.certificates import CertificateDemands
from policylint.trace import PURPOSES, Asker

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint

CERTIFICATE = "client certificate"
"""How a demand is called that is made of connections, by whichever setting."""


class Kept(NamedTuple):
    """What kept requests out before.

    Args:
        names: the settings, as a person would look for them.
        owners: who set them, as they were called before, with the place.
        turned_away: who was turned away by them.
        by: who prevails over them now.
        because: what became of the owners, in words.
        stands: whether the setting is still asked about these requests, and lets more of them in.
        at: the workload or proxy of a mesh that asked, None where a Gateway did for its routes.
    """

    purpose: str
    names: tuple[str, ...]
    owners: tuple[Responsible, ...]
    turned_away: TurnedAway = "without"
    by: tuple[Responsible, ...] = ()
    because: str = ""
    stands: bool = False
    at: ResourceKey | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is that whoever was kept out by it gets in."""
        return SEVERITY_OF_LOSS[self.turned_away]


def kept(sides: Sides, difference: Difference, before: RequestAnswer, after: RequestAnswer) -> Iterator[Kept]:
    """Yield what asked of a request, or refused it, and does so no longer."""
    if difference.purpose:
        yield from _asked(sides, difference.purpose, before, after)
    elif (before.denied or before.withheld) and (after.serves or difference.change == "less-asked"):
        yield from _refused(sides, before, after)
    elif before.trace.failed_by is not None and after.serves:
        yield from _failed(sides, before.trace.failed_by, after)


def _failed(sides: Sides, policy: ResourceKey, after: RequestAnswer) -> Iterator[Kept]:
    """Yield what a refused policy, for which all requests were answered with an error, meant to ask, where nobody asks
    for it now."""
    state = sides.before.policies[policy]
    asked = list(asks(state.kind, state.policy.spec))
    for purpose in PURPOSES:
        own = [ask for ask in asked if ask.purpose == purpose]
        if own and not any(asker.must for asker in after.asked[purpose].demands):
            names = tuple(dict.fromkeys(ask.path.partition(".")[0] for ask in own))
            owner = Responsible(policy, state.policy.location("spec", names[0]))
            because = fate(sides.pairing.key(policy), None, sides)
            yield Kept(purpose, names, (owner,), strongest(own), because=because)


def asking(sides: Sides, purpose: str, answer: RequestAnswer) -> Iterator[Kept]:
    """Yield what asks of a request of the side before for a purpose."""
    for demand in answer.demands[purpose].values():
        listed = settings(demand.group.kind, demand.group.effective, None, sides)
        yield from _gone(purpose, [each for each in listed if _is_of(each, demand.path)], _turned(answer, purpose))
    if purpose in answer.asked:
        yield from (_of_asker(sides, answer, purpose, asker) for asker in _beside(answer, purpose))
    if answer.denied and purpose == "authorization":
        yield from _refused(sides, answer, None)


def gone(sides: Sides, context: ContextChange, purpose: str, own: Sequence[Ask]) -> Kept:
    """Return what a context is not asked any more."""
    listed = settings(context.kind, context.before, context.after, sides)
    of_purpose = [each for each in listed if any(_is_of(each, ask.path) for ask in own)]
    return next(_gone(purpose, of_purpose, strongest(own)))


def _asked(sides: Sides, purpose: str, before: RequestAnswer, after: RequestAnswer) -> Iterator[Kept]:
    old, new = before.demands[purpose], after.demands[purpose]
    turned_away = _turned(before, purpose)
    for key, demand in old.items():
        if key in new:
            owners = tuple(Responsible(owner, None) for owner in _owners(demand.group.effective, demand.path))
            yield Kept(purpose, (demand.path,), owners, turned_away, stands=True)
            continue
        now = _met(after, demand.group)
        listed = settings(demand.group.kind, demand.group.effective, now, sides)
        yield from _gone(purpose, [each for each in listed if _is_of(each, demand.path)], turned_away)
    left = {(asker.setting, asker.policy): asker.must for asker in after.asked[purpose].demands}
    for asker in _beside(before, purpose):
        stays = left.get((asker.setting, _after(sides, asker.policy)))
        if stays is None or (asker.must and not stays):
            yield _of_asker(sides, before, purpose, asker, stands=stays is not None)


def _beside(answer: RequestAnswer, purpose: str) -> Iterator[Asker]:
    """Yield what asks of a request and is no setting of a policy that was met: certificates, filters, annotations."""
    demands = answer.demands[purpose].values()
    policies = {owner for demand in demands for owner in demand.group.effective.owners.values()}
    yield from (asker for asker in answer.asked[purpose].demands if asker.policy not in policies)


def _of_asker(sides: Sides, before: RequestAnswer, purpose: str, asker: Asker, *, stands: bool = False) -> Kept:
    place = Responsible(asker.policy, _named(before, asker)) if asker.policy is not None else None
    place = _demanding(sides, before) or place if asker.setting == CERTIFICATE else place
    owners = () if place is None else (place,)
    because = _fate_of_named(sides, before, asker.policy)
    turned: TurnedAway = "without" if asker.must else "false"
    return Kept(purpose, (asker.setting,), owners, turned, because=because, stands=stands)


def _fate_of_named(sides: Sides, before: RequestAnswer, wanted: ResourceKey | None) -> str:
    """Return what became of an object that a filter or an annotation named, in words; "" where it acts as it did."""
    binding = next((each for each in before.trace.extensions if each.wanted == wanted), None)
    if binding is None:
        return ""
    key = sides.pairing.key(binding.wanted)
    if sides.after.world.get(key) is None:
        return fate(key, None, sides)
    still = {(each.node, each.wanted) for each in sides.after.bindings}
    return "" if (sides.pairing.node(binding.node), key) in still else f"no longer named by {binding.by}"


def _refused(sides: Sides, before: RequestAnswer, after: RequestAnswer | None) -> Iterator[Kept]:
    """Yield the policies that turned a request away, and do not turn it away after."""
    for judged in before.trace.judged:
        if judged.decision.answer == "denied" and not judged.decision.direct:
            name = str(judged.decision.pointer[0]) if judged.decision.pointer else ""
            if judged.decision.is_fault and after is not None and _asks_instead(sides, name, before, after):
                continue
            if judged.met is None:
                yield Kept("authorization", (name,), (Responsible(judged.policy, judged.location),))
                continue
            group = judged.met.group
            # What protects without asking who comes keeps out nobody who means to get in.
            turned: TurnedAway = "false" if name in group.kind.settings.protection else "without"
            now = None if after is None else _met(after, group)
            if now is not None and name in now.spec:
                owners = (Responsible(judged.policy, judged.location),)
                yield Kept("authorization", (name,), owners, turned, stands=True)
                continue
            listed = settings(group.kind, group.effective, now, sides)
            of_name = [each for each in listed if each.name == name]
            yield from _gone("authorization", of_name, turned)
            if not of_name:
                yield Kept("authorization", (name,), (Responsible(judged.policy, judged.location),), turned)
    yield from _cut_off(sides, before, after)
    for admission in before.refusals:
        decision = admission.decision
        by = decision.by or admission.at.resource
        stays = sides.after.world.get(sides.pairing.key(by.key)) is not None
        at = sides.pairing.key(admission.at.path[0].key)
        owner = Responsible(by.key, by.location(*decision.pointer))
        yield Kept("authorization", (path(decision.pointer),), (owner,), stands=stays, at=at)


def _asks_instead(sides: Sides, name: str, before: RequestAnswer, after: RequestAnswer) -> bool:
    """Return whether a setting that turned everybody away, as it could not do its work, asks now, or something new does
    in its place: who gets in has proved who they are, which is what was meant."""
    was = {(asker.setting, _after(sides, asker.policy)) for asked in before.asked.values() for asker in asked.demands}
    now = [asker for asked in after.asked.values() for asker in asked.demands if asker.must]
    return any((each.setting, each.policy) not in was or each.setting.partition(".")[0] == name for each in now)


def _cut_off(sides: Sides, before: RequestAnswer, after: RequestAnswer | None) -> Iterator[Kept]:
    """Yield the network policy that cut off who sent a request on, where somebody else sends it to the same pods after,
    or these were not seen before: what a change of policies or of pods opens else is told by connections."""
    stopped = None if before.trace.network is None else before.trace.network.stopped
    step = None if stopped is None else stopped.deciding
    if stopped is None or step is None or step.policy is None or after is None:
        return
    target = (stopped.target.key, stopped.target.labels)
    hops = () if after.trace.network is None else after.trace.network.hops
    reaching = [hop for hop in hops if (hop.target.key, hop.target.labels) == target]
    came = stopped.target.role == "pods" and any(map(sides.after.acting.workloads, after.trace.outcome.backends))
    if came or any(_is_another(hop.source, stopped.source) for hop in reaching):
        pointer = (step.policy.pointer if step.rule is None else step.rule.pointer) or ("metadata", "name")
        owner = Responsible(step.policy.key, step.policy.resource.location(*pointer))
        stays = sides.after.world.get(sides.pairing.key(step.policy.key)) is not None
        yield Kept("authorization", (path(pointer),), (owner,), stands=stays)


def _is_another(sender: Endpoint | None, former: Endpoint | None) -> bool:
    """Return whether two ends that send requests on are of other sorts, as the proxies of two implementations are."""
    return sender is not None and former is not None and (sender.role, sender.key) != (former.role, former.key)


def _gone(purpose: str, listed: list[SettingChange], turned_away: TurnedAway) -> Iterator[Kept]:
    if not listed:
        return
    first = next((setting for setting in listed if setting.by), listed[0])
    # A setting that is still there has been switched off: whoever sets it now prevails.
    by = first.sources_after if first.change != "removed" else first.by
    owners = tuple(dict.fromkeys(source for setting in listed for source in setting.sources_before))
    yield Kept(purpose, tuple(each.name for each in listed), owners, turned_away, by, first.because)


def _turned(answer: RequestAnswer, purpose: str) -> TurnedAway:
    """Return who is turned away by all that asks a request for a purpose."""
    found = strongest(ask for met in answer.trace.policies for ask in met.asks if ask.purpose == purpose)
    beside = any(asker.must for asker in answer.asked[purpose].demands) if purpose in answer.asked else False
    return "without" if beside else found


def _met(answer: RequestAnswer, group: Group) -> Effective | None:
    """Return what policies of the kind of a group are in effect for a request."""
    kind = group.kind.group, group.kind.kind
    found = (met.group.effective for met in answer.trace.policies)
    return next(
        (each for met, each in zip(answer.trace.policies, found, strict=True)
         if (met.group.kind.group, met.group.kind.kind) == kind), None,
    )  # fmt: skip


def _is_of(setting: SettingChange, path: str) -> bool:
    return setting.name == path.partition(".")[0]


def _owners(effective: Effective, path: str) -> list[ResourceKey]:
    top = path.partition(".")[0]
    return sorted({owner for pointer, owner in effective.owners.items() if pointer and pointer[0] == top})


def _after(sides: Sides, key: ResourceKey | None) -> ResourceKey | None:
    return None if key is None else sides.pairing.key(key)


def _demanding(sides: Sides, before: RequestAnswer) -> Responsible | None:
    """Return who demands a client certificate of a request, and where."""
    topology, trace = sides.before.topology, before.trace
    gateway = None if trace.gateway is None else topology.gateway(trace.gateway)
    if gateway is None or trace.listener is None:
        return None
    found = CertificateDemands(sides.before).at(gateway, trace.listener)
    return Responsible(found[0].holder, found[0].location) if found else None


def _named(before: RequestAnswer, asker: Asker) -> Location | None:
    """Return where a filter or an annotation names what asked."""
    places = (each.holder.location(*each.pointer) for each in before.trace.extensions if each.wanted == asker.policy)
    return next(places, None)
