"""Objects as people spell them on a command line: `Kind/namespace/name`, `Kind ns/name#section`, or a bare name."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model.keys import GATEWAY_GROUP, ResourceKey
from policylint.namedtuple import NamedTuple

SHORT = {
    "gw": "Gateway",
    "gc": "GatewayClass",
    "ns": "Namespace",
    "svc": "Service",
    "deploy": "Deployment",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
    "po": "Pod",
    "route": "HTTPRoute",
    "btlspolicy": "BackendTLSPolicy",
}
"""Short names as kubectl has them; plurals and any case are understood without a table."""
_MOST_COMPARED = 20_000
"""Most objects that a misspelt name is compared with."""


class Spelling(NamedTuple):
    """The parts of a spelling, "" (namespace: None) for those left out."""

    kind: str
    group: str
    namespace: str | None
    name: str
    section: str

    def fits(self, key: ResourceKey) -> bool:
        """Return whether the spelling can mean an object."""
        return (
            key.name == self.name
            and (self.namespace is None or key.namespace == self.namespace or (key.unplaced and self.namespace == "?"))
            and (not self.kind or same_kind(self.kind, key.kind))
            and (not self.group or key.group == self.group)
        )


def spelling(text: str) -> Spelling:
    """Take a spelling apart. `shop/checkout` is read as Kind/name; `readings` gives the other way."""
    head, _, section = text.strip().partition("#")
    parts = [part.strip() for part in head.replace(" ", "/", 1).split("/") if part.strip()]
    if len(parts) > 2:
        kind, namespace, name = parts[0], parts[1], "/".join(parts[2:])
        return Spelling(*_kind(kind), namespace, name, section)
    if len(parts) == 2:
        return Spelling(*_kind(parts[0]), None, parts[1], section)
    return Spelling("", "", None, parts[0] if parts else "", section)


def readings(text: str) -> list[Spelling]:
    """Return the ways to read a spelling, the likeliest first: `shop/checkout` may also be namespace and name."""
    first = spelling(text)
    spellings = [first]
    if first.kind and first.namespace is None:
        holder = f"{first.kind}.{first.group}" if first.group else first.kind
        spellings.append(Spelling("", "", holder, first.name, first.section))
    if first.section and (holder := _holder(first.kind.lower())):  # as output writes them: `Listener infra/edge#https`
        spellings.append(first._replace(kind=holder))
    return spellings


def _holder(kind: str) -> str:
    """Return the kind whose objects have such sections: Gateway for a listener, HTTPRoute for an HTTPRouteRule."""
    if kind.endswith("routerule"):
        return kind.removesuffix("rule")
    return {"listener": "Gateway", "serviceport": "Service"}.get(kind, "")


def find(text: str, keys: Iterable[ResourceKey]) -> list[ResourceKey]:
    """Return the objects that a spelling can mean, sorted; those of the first reading that means any."""
    known = list(keys)
    for reading in readings(text):
        found = sorted(key for key in known if reading.fits(key))
        if found:
            return found
    return []


def alike(text: str, keys: Iterable[ResourceKey], most: int = 3) -> list[ResourceKey]:
    """Return at most `most` objects that a misspelt text may have meant, the nearest first."""
    from difflib import get_close_matches

    meant = spelling(text)
    known = sorted(keys)[:_MOST_COMPARED]
    near = [key for key in known if not meant.kind or same_kind(meant.kind, key.kind)]
    # The kind may be what is misspelt: an object of that name then.
    exact = [key for key in known if key.name == meant.name] if meant.kind else []
    names = sorted({key.name for key in near})
    close = get_close_matches(meant.name, names, n=most, cutoff=0.6)
    close += [name for name in names if len(meant.name) > 2 and meant.name in name and name not in close][:most]
    similar = [key for name in close for key in near if key.name == name]
    return list(dict.fromkeys([*similar, *exact]))[:most]


def spelled(key: ResourceKey, *, group: bool = False) -> str:
    """Return an object as the command line takes it: `HTTPRoute/shop/checkout`; Gateways of others with their group."""
    own = key.kind == "Gateway" and key.group != GATEWAY_GROUP
    kind = f"{key.kind}.{key.group}" if key.group and (group or own) else key.kind
    return f"{kind}/{key.path}"


def same_kind(name: str, kind: str) -> bool:
    """Return whether a spelling of a kind means it: any case, singular or plural, or kubectl's short name."""
    word, expected = name.lower(), kind.lower()
    if word == expected or SHORT.get(word, "").lower() == expected:
        return True
    return word in (f"{expected}s", f"{expected}es", f"{expected[:-1]}ies" if expected.endswith("y") else "")


def _kind(text: str) -> tuple[str, str]:
    """Return kind and group of `Kind.group`."""
    kind, _, group = text.partition(".")
    return kind, group
