"""ServiceProfiles that no client finds: they are looked up by the whole name of a Service.

Source: linkerd.io, «Service Profiles»; linkerd/linkerd2, controller/api/destination/watcher/profile_watcher.go and
server.go (getProfile): by `name.namespace.svc.` and the domain of the cluster, in the client's namespace and in that of
the Service; linkerd/website#183.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import ResourceKey, World, is_symbolic

_PROFILE = ("linkerd.io", "ServiceProfile")
_OF_SERVICES = "svc"
_THEN = "its routes, timeouts and retries hold for no request"


def unasked(world: World) -> Iterator[DeadEnd]:
    """Yield the profiles that are called after no Service."""
    for profile in world.of_kind(*_PROFILE):
        name, *rest = profile.key.name.split(".")
        here = profile.key.namespace
        place = ("metadata", "name")
        if is_symbolic(profile.key.name) or not here:
            continue
        if rest[1:2] == [_OF_SERVICES]:
            service = ResourceKey("", "Service", rest[0], name)
            beside = ResourceKey("", "Service", here, name)
            mistaken = service.namespace != here and world.get(beside) is not None and world.get(service) is None
            missing = world.resolve(service).missing and not world.elsewhere(service)
            if mistaken or missing:
                does = f"is called after {service}, which is {'missing' if missing else 'not here'}"
                fix = f"call it {name}.{here}.svc.cluster.local" if mistaken else "name a Service that is there"
                ground = "" if missing else f"{service} was not seen"
                yield DeadEnd(profile, place, does, fix, (service,), ground, _THEN, "warning")
            continue
        service = ResourceKey("", "Service", rest[0] if rest else here, name)
        if len(rest) < 2 and world.get(service) is not None:
            does = f"is called {profile.key.name}, and is looked for by the whole name of {service}"
            fix = f"call it {name}.{service.namespace}.svc.cluster.local"
            yield DeadEnd(profile, place, does, fix, (service,), then=_THEN, severity="warning")
