"""What is asked on a way, purpose by purpose, with three answers: something, nothing, not known."""

from __future__ import annotations

from typing import Final, Literal

from policylint.checks.kit.unseen_authentication import may_have_unseen
from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import Ask, setters
from policylint.policy.results import Group
from policylint.reach.ways import WayIn
from policylint.simulation import Simulation

PURPOSES: Final = ("authentication", "authorization")
_WORDS: Final = {"open": "nothing", "unknown": "not known", "optional": "not required", "asked": ""}
State = Literal["asked", "optional", "open", "unknown"]
"""Whether every request is asked; may be, but passes without; is not; or whether that is not known."""


class Asker(NamedTuple):
    """A setting that serves a purpose, and who set it."""

    setting: str
    policy: ResourceKey | None
    must: bool = True

    def __str__(self) -> str:
        """Return `jwt by shop/login`."""
        return self.setting if self.policy is None else f"{self.setting} by {self.policy.path}"


class Asked(NamedTuple):
    """What is asked for one purpose; `why` says what is not known."""

    state: State
    demands: tuple[Asker, ...] = ()
    why: str = ""


def asked(
    simulation: Simulation,
    way: WayIn,
    purpose: str,
    doubtful: dict[ResourceKey, bool] | None = None,
    *,
    unread: bool = True,
) -> Asked:
    """Return what is asked of the requests of a way.

    Args:
        purpose: one of PURPOSES, or the name of a setting (`jwt`, `rateLimit`): one that asks for nothing need only be
            in force.
        unread: whether what nobody reads may ask, too (`Trace.may_ask`).
        doubtful: keeps for many ways whether something that was not seen may ask the requests of a route.
    """
    trace = way.trace
    demands = []
    backends = set(trace.outcome.backends)
    covered: set[ResourceKey] = set()
    for met in trace.policies:
        if purpose in PURPOSES:
            own = [_demand(met.group, ask) for ask in met.asks if ask.purpose == purpose]
        else:
            own = [_demand(met.group, ask) for ask in met.asks if purpose in (ask.name, ask.path)]
            if not own and purpose in met.spec:
                own = [_in_force(met.group, purpose)]
        demands += own
        if any(demand.must for demand in own):
            covered |= backends if met.backend is None else {met.backend}
    names = {"authentication": trace.filters_asking}.get(purpose, (purpose,) if purpose in trace.filters_asking else ())
    if names and trace.route is not None:
        demands += [Asker(name, trace.route.key) for name in names]
        covered = backends
    for binding in trace.extensions:
        named = {"authentication": binding.authenticates, "authorization": binding.authorizes}.get(purpose, {})
        demands += [Asker(name, binding.wanted, must) for name, must in named.items()]
        if any(named.values()):
            covered |= {binding.node.key} if binding.node.key in backends else backends
    if purpose == "authentication" and way.certificate:
        certificate = Asker("client certificate", way.entry.gateway)
        demands.insert(0, Asker("identity in the mesh", None) if way.entry.inside else certificate)
        covered = backends
    told = tuple(dict.fromkeys(demands))
    if any(demand.must for demand in told) and covered >= backends:
        return Asked("asked", told)
    why = _unknown(simulation, way, {} if doubtful is None else doubtful)
    if unread and not why and way.trace.may_ask:
        why = f"{way.trace.may_ask[0]} may ask for it"
    if why:
        return Asked("unknown", told, why)
    return Asked("optional" if told else "open", told)


def asked_in_words(given: Asked) -> str:
    """Return `jwt by shop/login`, `jwt by shop/login (not required)`, `nothing` or `not known`."""
    words = " and ".join(map(str, given.demands))
    state = _WORDS[given.state]
    return f"{words} ({state})" if words and state else words or state


def _demand(group: Group, ask: Ask) -> Asker:
    return Asker(ask.name, _owner(group, ask.asking), ask.must)


def _in_force(group: Group, setting: str) -> Asker:
    return Asker(setting, _owner(group, setting))


def _owner(group: Group, path: str) -> ResourceKey | None:
    """Return who set the first field of a setting."""
    return next(iter(setters(group.effective, path)), None)


def _unknown(simulation: Simulation, way: WayIn, doubtful: dict[ResourceKey, bool]) -> str:
    """Return why something that was not seen may ask all the same."""
    if way.entry.gateway in simulation.topology.unseen:
        return f"{way.entry.gateway} was not seen"
    if way.trace.outcome.unknown:
        return way.trace.outcome.reason
    if way.undecided:
        return f"not decided: {way.undecided[0]}"
    state = None if way.trace.route is None else simulation.topology.route(way.trace.route.key)
    if state is None:
        return ""
    if state.route.key not in doubtful:
        doubtful[state.route.key] = may_have_unseen(simulation, state)
    return "a policy that was not seen may ask for it" if doubtful[state.route.key] else ""
