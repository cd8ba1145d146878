"""GWP325 for the names of hosts that network policies open: which pods may call which hosts now, and could not before.

Asked is the engine of one request (`trace --from WORKLOAD`), on both sides, with the names, and one name of each
pattern, that the policies of either side state. What the words of the catalog tell of such names is dropped where no
host is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Weakened
from policylint.digits import whole_number
from policylint.model import Finding, ResourceKey, Severity, is_symbolic
from policylint.model.spelling import spelled
from policylint.model.words import leading, listing
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import has_policies
from policylint.network.rules import PolicySpec
from policylint.simulation import Simulation
from policylint.trace import RequestError, Tracer, from_url

RULE = "GWP325"
NAMING = ("toFQDNs", "serverNames", "domainNames", "domains")
"""The fields in which network policies state names of hosts."""
_OF_DNS = 53
_OTHER = "other.invalid"
"""A name that no policy states."""
_MOST = 400
"""Connections that are asked about for one change."""


class Called(NamedTuple):
    """The hosts, with their ports, that pods may call after a change and could not before, or the other way round.

    Args:
        policy: that the change touches.
    """

    policy: ResourceKey
    opened: Mapping[str, Sequence[ResourceKey]]
    closed: Mapping[str, Sequence[ResourceKey]]


@lru_cache(maxsize=1)
def hosts_called(sides: Sides) -> tuple[Called, ...]:
    """Return what a change does to the hosts that pods may call, by policies whose names of hosts it touches."""
    if not any(has_policies(side.world) for side in (sides.before, sides.after)):
        return ()
    before, after = (_policies(side) for side in (sides.before, sides.after))
    changed = [
        key
        for key in before.keys() & after.keys()
        if [each[1:] for each in before[key]] != [each[1:] for each in after[key]]
    ]
    tracers: list[Tracer] = []
    found = []
    for key in sorted(changed):
        said = [_stated(listed[0].resource.body) for listed in (before[key], after[key])]
        if any(map(is_symbolic, (name for names, _ in said for name in names))):
            continue
        ends = _subjects(sides.before, key) & _subjects(sides.after, key)
        names = {_OTHER: "any other host"} | {_sample(name): name for each, _ in said for name in sorted(each)}
        ports = sorted({port for _, each in said for port in each} or {443})
        asked = list(product(sorted(ends), names, ports)) if len(names) > 1 else []
        if not asked or len(asked) > _MOST:
            continue
        tracers = tracers or [Tracer(side, nearest=False) for side in (sides.before, sides.after)]
        opened: dict[str, list[ResourceKey]] = {}
        closed: dict[str, list[ResourceKey]] = {}
        unknown = False
        for end, host, port in asked:
            was, now = (_may_call(tracer, end, host, port) for tracer in tracers)
            unknown = unknown or was is None or now is None
            if was is False and now:
                opened.setdefault(f"{names[host]}:{port}", []).append(end)
            elif was and now is False:
                closed.setdefault(f"{names[host]}:{port}", []).append(end)
        if not unknown:
            found.append(Called(key, opened, closed))
    return tuple(found)


def hosts_found(sides: Sides, called: Iterable[Called], told: Iterable[Weakened]) -> Iterator[Finding]:
    """Yield what is opened and is not told in the words of the catalog, and what is closed."""
    known = {owner for each in told if _is_of_names(each) for owner in each.cause.owners}
    for each in called:
        if each.opened and each.policy not in known:
            yield _finding(sides, each.policy, each.opened, "may call", "warning")
        if each.closed:
            yield _finding(sides, each.policy, each.closed, "can no longer call", "note")


def without_names(weaker: Iterable[Weakened], called: Iterable[Called]) -> list[Weakened]:
    """Leave out what words say of names of hosts where it is known that no host is opened."""
    judged = {each.policy for each in called if not each.opened}
    return [each for each in weaker if not (_is_of_names(each) and judged.issuperset(each.cause.owners))]


def _is_of_names(weakened: Weakened) -> bool:
    return any(field in weakened.cause.field for field in NAMING)


def _policies(side: Simulation) -> dict[ResourceKey, list[PolicySpec]]:
    """Return the network policies by their objects, of which one may hold several."""
    found: dict[ResourceKey, list[PolicySpec]] = {}
    for policy in side.network.policies if has_policies(side.world) else ():
        found.setdefault(policy.key, []).append(policy)
    return found


def _stated(body: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """Return the names of hosts that a policy states, and its ports but that of DNS."""
    names: list[str] = []
    ports: list[int] = []
    stack: list[tuple[str, Any]] = [(name, body.get(name)) for name in ("spec", "specs")]
    while stack:
        field, value = stack.pop()
        if isinstance(value, dict):
            stack += [(field if field in NAMING else str(name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            stack += [(field, inner) for inner in value]
        elif field in NAMING:
            names.append(str(value))
        elif field in ("port", "ports", "number") and (number := whole_number(str(value))) not in (None, 0, _OF_DNS):
            ports += [] if number is None else [number]
    return names, ports


def _sample(name: str) -> str:
    """Return a name that a pattern takes."""
    return name.lower().rstrip(".").replace("**.", "x.").replace("*", "x")


def _subjects(side: Simulation, policy: ResourceKey) -> set[ResourceKey]:
    """Return the workloads that a policy certainly selects."""
    from policylint.network.selecting import numbers_of

    network = side.network
    ends = network.universe.endpoints
    chosen = (
        selected.sure for each, selected in zip(network.policies, network.subjects, strict=True) if each.key == policy
    )
    return {
        ends[number].key
        for sure in chosen
        for number in numbers_of(sure)
        if number < len(ends) and ends[number].role == "workload"
    }


def _may_call(tracer: Tracer, end: ResourceKey, host: str, port: int) -> bool | None:
    """Return whether network policies let pods of a workload call a host; None where that is not known."""
    scheme = "http" if port in (80, 8080) else "https"
    try:
        trace = tracer.trace(from_url("GET", f"{scheme}://{host}:{port}/", client=spelled(end)))
    except RequestError:
        return None
    if trace.network is None:
        return True
    if trace.outcome.refused:
        return False
    return True if trace.network.verdict == "allowed" else None


def _finding(
    sides: Sides, policy: ResourceKey, hosts: Mapping[str, Sequence[ResourceKey]], may: str, severity: Severity
) -> Finding:
    ends = list(dict.fromkeys(end for each in hosts.values() for end in each))
    resource = sides.after.world.resources[policy]
    spread = listing(sorted(hosts), most=4)
    return Finding(
        RULE,
        severity,
        f"{leading(ends, 3)} {may} {spread}: {policy} names other hosts, or other ports of them",
        resource.name_location,
        resources=(policy, *ends[:10]),
        label="this decides which names may be called",
        field=f"hosts {may}",
        environments=(sides.after.world.name,),
    )
