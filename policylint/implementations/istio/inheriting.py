"""Kinds that a narrower scope refines: PeerAuthentication and ProxyConfig.

Source: docs/design/implementations/istio.md §3 and §7.
"""

from __future__ import annotations

from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.annotation import is_own
from policylint.implementations.istio.labels import is_wide
from policylint.implementations.istio.provenance import Ledger, nested, singletons, sorted_lost
from policylint.model import PolicyKind, ResourceKey, mapping, text
from policylint.policy import strategies
from policylint.policy.folding import Stack
from policylint.policy.results import Attachment, Effective

_MODE = ("mtls", "mode")
_PERMISSIVE = "PERMISSIVE"


def peer_authentication(stack: tuple[Attachment, ...]) -> Effective:
    """Mesh, namespace, workload: the narrowest mode that is set; ports only by the workload's policy.

    One policy counts at each level, the oldest (ComposePeerAuthentication). A port whose mode is UNSET takes the
    workload's.
    """
    ledger = Ledger()
    counting, younger = _one_per_level(stack)
    for each, older in younger:
        ledger.drop(each, older)
    inheriting: list[str] = []
    for each in counting:
        mode = text(mapping(each.policy.spec.get("mtls")).get("mode"))
        if mode not in ("", "UNSET"):
            ledger.put(_MODE, mode, each, _MODE)
        if is_wide(each.policy):
            continue
        for port, value in mapping(each.policy.spec.get("portLevelMtls")).items():
            mode = text(mapping(value).get("mode"))
            if mode in ("", "UNSET"):
                inheriting.append(str(port))
            else:
                ledger.put(("portLevelMtls", str(port), "mode"), mode, each, ("portLevelMtls", port, "mode"))
    leaves: dict[tuple[str, ...], Any] = {_MODE: ledger.get(_MODE) or _PERMISSIVE, **ledger.below(())}
    owners: dict[Pointer, ResourceKey] = dict(ledger.owners_below(()).items())
    for port in inheriting:
        slot = ("portLevelMtls", port, "mode")
        leaves[slot] = leaves[_MODE]
        if _MODE in ledger:
            owners[slot] = owners[_MODE]
    return Effective(nested(leaves), owners, ledger.lost(), stack)


def proxy_config(stack: tuple[Attachment, ...], kind: PolicyKind) -> Effective:
    """Mesh, namespace, the pods' own annotation, workload, field by field; the oldest of a level counts.

    The workload itself owns what its annotation says, and is not told of as one who lost (proxy_config.go).
    """
    policies = tuple(each for each in stack if not is_own(each))
    counting, younger = _one_per_level(policies)
    wide = [each for each in counting if is_wide(each.policy)]
    selecting = [each for each in counting if not is_wide(each.policy)]
    merged = strategies.merge(Stack(kind, (*wide, *filter(is_own, stack), *selecting)))
    ledger = Ledger()
    for each, older in younger:
        ledger.drop(each, older)
    told = {each.key for each in policies}
    lost = [each for each in merged.lost if each.policy in told]
    return Effective(merged.spec, merged.owners, sorted_lost((*lost, *ledger.lost())), policies)


def _one_per_level(stack: tuple[Attachment, ...]) -> tuple[list[Attachment], list[tuple[Attachment, Attachment]]]:
    """As `singletons`, and of several policies that select the workload the first alone."""
    counting, younger = singletons(stack)
    selecting = [each for each in counting if not is_wide(each.policy)]
    for each in selecting[1:]:
        counting.remove(each)
        younger.append((each, selecting[0]))
    return counting, younger
