"""The fields of a kgateway policy, as the merge of several policies counts them.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, §2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence

_IN_PARTS = {
    ("TrafficPolicy", "rateLimit"): ("local", "global"),
    ("TrafficPolicy", "compression"): ("responseCompression", "requestDecompression"),
    ("BackendConfigPolicy", "dns"): ("refreshRate", "jitter", "respectTTL"),
}
"""Top-level fields that are several fields to the merge ({trafficpolicy,backendconfigpolicy}/merge.go)."""
_NO_LIMIT = ("maxRequestsPerConnection", 0)
"""A setting that counts as unset (listenerpolicy/http.go)."""
VALIDATION = "clientCertificateValidation"
"""A field of a ListenerPolicy."""
DEEP: frozenset[Pointer] = frozenset({("extAuth",), ("extProc",), ("transformation",), ("acl",)})
"""Fields that the priorities DeepMergePreferChild and DeepMergePreferParent merge deeply."""
PROVIDERS: frozenset[Pointer] = frozenset(
    {("extAuth",), ("extProc",), ("jwtAuth",), ("oauth2",), ("rateLimit", "global")}
)
"""Fields that hold one provider per policy, each of which is a filter of its own: joined, they are a list of them."""
SIDE_BY_SIDE = PROVIDERS | {("headerModifiers",)}
"""Fields that act from each place where Envoy gets settings, its routes, its virtual hosts and all of them."""
ACL: Pointer = ("acl",)


def fields(kind: str, proper: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """Yield the fields that a spec sets, with their values; null is not set."""
    if kind == "ListenerPolicy":
        yield from _listener(proper)
        return
    for name, value in proper.items():
        parts = _IN_PARTS.get((kind, name), ())
        if parts and isinstance(value, dict):
            yield from (((name, part), inner) for part, inner in value.items() if inner is not None)
        elif value is not None:
            yield (name,), value


def _listener(proper: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    """Yield `default` for all ports and `perPort`, each field by field, httpSettings too."""
    for name, value in proper.items():
        if name == "default":
            yield from _settings(("default",), mapping(value))
        elif name == "perPort":
            for entry in map(mapping, sequence(value)):
                yield from _settings(("perPort", str(entry.get("port")), "listener"), mapping(entry.get("listener")))
        else:
            yield from _settings((), {name: value})


def _settings(prefix: Pointer, settings: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    for name, value in settings.items():
        if name == "httpSettings" and isinstance(value, dict):
            set_here = [pair for pair in value.items() if pair[1] is not None and pair != _NO_LIMIT]
            yield from (((*prefix, name, inner), setting) for inner, setting in set_here)
        elif value is not None:
            yield (*prefix, name), value


def acl_conflict(one: Any, other: Any) -> bool:
    """Tell whether two `acl` differ in a scalar: then they are not merged at all."""
    first, second = mapping(one), mapping(other)
    return any(
        not isinstance(value, (list, dict)) and name in second and second[name] != value
        for name, value in first.items()
    )
