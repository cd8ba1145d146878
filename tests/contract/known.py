"""The contradictions that are known and not mended yet: a list that must shrink.

By the name of a world the questions that its readers answer differently there. The test fails where they do not any
more: take the question out with the mend. Elsewhere a question is not held as long as it stands here at all.
"""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, frozenset[str]] = {
    "the standard login of Istio": frozenset({"on which routes does it act"}),
    "external authorization of Istio": frozenset({"on which routes does it act"}),
    "addresses of clients on TCP and TLS of Istio": frozenset({"on which routes does it act"}),
    "policies of an Istio Gateway whose class is here": frozenset({"on which routes does it act"}),
    "the network policy that cuts a backend off is deleted": frozenset({"what is said of requests"}),
    "a login goes and a client certificate comes": frozenset({"what takes the place of a login"}),
    "a path of a list of Istio takes what begins with it": frozenset(
        {"does it let in who was kept out", "what does it open"}
    ),
    "envoy-gateway: nothing to tell an authoriser that fails open": frozenset({"on which routes does it act"}),
    "envoy-gateway: a patch of a class whose Gateways are not merged": frozenset({"on which routes does it act"}),
    "istio: a path that is a variable": frozenset({"does it depend on who authorizes"}),
    "istio: STRICT keeps those out that are in no mesh": frozenset({"on which routes does it act"}),
}
ELSEWHERE = frozenset(question for questions in KNOWN.values() for question in questions)
