"""Rules of VirtualServices that others delegate to: what they take of the rule in whose place they stand.

Source: istio/istio, pilot/pkg/model/virtualservice.go, mergeHTTPRoute, mergeHTTPMatchRequests, hasConflict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.model import is_symbolic, mapping, sequence, text, texts

_INHERITED = (
    *("rewrite", "directResponse", "timeout", "retries", "fault", "mirror", "mirrorPercent", "mirrorPercentage"),
    *("corsPolicy", "mirrors", "headers"),
)
"""What a delegate's rule has of the rule that delegates, where it does not say it itself."""
_TEXTS = ("uri", "scheme", "method", "authority")
_MAPS = ("headers", "withoutHeaders", "queryParams")


def merged(root: Mapping[str, Any], delegate: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return a rule of a delegate as it stands in the place of the one that delegates; None where it is left out, since
    a match of it lies within none of that rule's."""
    own, above = (list(map(mapping, sequence(each.get("match")))) for each in (delegate, root))
    matches: Sequence[Mapping[str, Any]] = own or above
    if own and above:
        found = [[_together(outer, inner) for outer in above if not _conflict(outer, inner)] for inner in own]
        if not all(found):
            return None
        matches = [match for each in found for match in each]
    inherited = {name: root[name] for name in _INHERITED if name in root}
    stated = mapping(delegate)
    return {**inherited, **stated, **({"match": matches} if matches else {})}


def _together(root: Mapping[str, Any], leaf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a match of what both take."""
    maps = {name: {**mapping(root.get(name)), **mapping(leaf.get(name))} for name in (*_MAPS, "sourceLabels")}
    return {**root, **leaf, **{name: each for name, each in maps.items() if each}}


def _conflict(root: Mapping[str, Any], leaf: Mapping[str, Any]) -> bool:
    """Tell whether a match of a delegate is not one within a match of the rule that delegates."""
    if any(_differ(root.get(name), leaf.get(name)) for name in _TEXTS):
        return True
    for name in _MAPS:
        outer, inner = mapping(root.get(name)), mapping(leaf.get(name))
        if any(_differ(outer.get(key), value) for key, value in inner.items()):
            return True
    if (root.get("ignoreUriCase") is True) is not (leaf.get("ignoreUriCase") is True):
        return True
    if root.get("port") and leaf.get("port") and root["port"] != leaf["port"]:
        return True
    if root.get("sourceNamespace") and leaf.get("sourceNamespace") != root["sourceNamespace"]:
        return True
    labels, wanted = mapping(root.get("sourceLabels")), mapping(leaf.get("sourceLabels"))
    gateways, named = set(texts(root.get("gateways"))), set(texts(leaf.get("gateways")))
    return any(labels.get(key, value) != value for key, value in wanted.items()) or (
        bool(gateways and named) and not named <= gateways
    )


def _differ(root: object, leaf: object) -> bool:
    """Tell whether a condition on a text is not one within another: expressions, and `{}`, are compared to nothing."""
    outer, inner = mapping(root), mapping(leaf)
    if root is None or leaf is None or any(map(is_symbolic, (*outer.values(), *inner.values()))):
        return False
    if outer.get("regex") or inner.get("regex"):
        return True
    if exact := text(outer.get("exact")):
        return inner.get("exact") != exact
    prefix = text(outer.get("prefix"))
    return not prefix or not (text(inner.get("prefix")) or text(inner.get("exact"))).startswith(prefix)
