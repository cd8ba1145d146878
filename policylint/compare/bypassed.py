"""GWP325 for proxies that ask for a login: a route that sent all requests through one, and sends some past it now.

No policy asks there: what such a proxy asks is not known, so that comparing requests shows no lost login.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.compare.ends import with_login
from policylint.compare.pairing import Sides
from policylint.model import Finding, ResourceKey, World
from policylint.topology import BackendState, RouteState
from policylint.topology.login_proxies import is_proxy

RULE = "GWP325"


def logins_bypassed(sides: Sides) -> Iterator[Finding]:
    """Yield the routes that led to such proxies alone, and of which no policy asks for a login now."""
    before, after, pairing = sides
    former = {pairing.key(state.route.key): state for state in before.topology.routes}
    guarded: frozenset[ResourceKey] | None = None
    for state in after.topology.routes:
        was = former.get(state.route.key)
        if was is None or was.route.body is state.route.body:
            continue
        proxies = _through(was, before.world)
        past = next((each for each in _backends(state) if not is_proxy(after.world, each.wanted, each.port)), None)
        if not proxies or past is None:
            continue
        guarded = with_login(after) if guarded is None else guarded
        if state.route.key not in guarded:
            yield Finding(
                RULE,
                "error",
                f"{state.route.key} leads past {proxies[0]}, which asked for a login, to {past.wanted}",
                state.route.location(*past.pointer),
                resources=(state.route.key, past.wanted, *proxies),
                label="no policy asks for a login there",
                environments=(after.world.name,),
                confidence="assumed",
                ground=f"{proxies[0]} is called as a proxy is that asks for a login",
            )


def _backends(state: RouteState) -> list[BackendState]:
    return [each for each in state.backends if each.role == "backend" and each.wanted.name]


def _through(state: RouteState, world: World) -> list[ResourceKey]:
    """Return the proxies that a route leads to, none where it leads anywhere else as well."""
    wanted = dict.fromkeys((each.wanted, each.port) for each in _backends(state))
    return list(dict.fromkeys(key for key, _ in wanted)) if all(is_proxy(world, *end) for end in wanted) else []


__all__ = ["logins_bypassed"]
