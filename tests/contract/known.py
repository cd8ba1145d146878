"""The contradictions that are known and not mended yet: a list that must shrink.

By the name of a world the questions that its readers answer differently there. The test fails where they do not any
more: take the question out with the mend. Elsewhere a question is not held as long as it stands here at all.
"""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, frozenset[str]] = {
    "the network policy that cuts a backend off is deleted": frozenset({"what is said of requests"}),
    "a path of a list of Istio takes what begins with it": frozenset({"does it let in who was kept out"}),
}
_OF_SHARED = frozenset({"what does it open"})
"""Questions that are answered differently in worlds of ../shared alone: a login that goes is seen by one reader."""
ELSEWHERE = _OF_SHARED.union(*KNOWN.values())
