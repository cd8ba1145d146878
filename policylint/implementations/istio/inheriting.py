"""Kinds that a narrower scope refines: PeerAuthentication and ProxyConfig.

Source: docs/design/implementations/istio.md §3 and §7.
"""

from __future__ import annotations

from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.labels import is_wide
from policylint.implementations.istio.mesh import is_own
from policylint.implementations.istio.provenance import ProvenanceLedger, nested, singletons, sorted_lost
from policylint.model import PolicyKind, ResourceKey, mapping, text
from policylint.policy import strategies
from policylint.policy.folding import Stack
from policylint.policy.results import Attachment, Effective

_MODE = ("mtls", "mode")
_PERMISSIVE = "PERMISSIVE"


def peer_authentication(stack: tuple[Attachment, ...]) -> Effective:
    """Return the mode of the narrowest of mesh, namespace and workload that sets one; ports from the workload's policy.

    One policy counts at each level, the oldest (ComposePeerAuthentication). A port whose mode is UNSET takes the
    workload's.
    """
    counting, younger = _one_per_level(stack)
    ledger = ProvenanceLedger(younger)
    inheriting: list[str] = []
    for attachment in counting:
        mode = text(mapping(attachment.policy.spec.get("mtls")).get("mode"))
        if mode not in ("", "UNSET"):
            ledger.put(_MODE, mode, attachment, _MODE)
        if is_wide(attachment.policy):
            continue
        for port, value in mapping(attachment.policy.spec.get("portLevelMtls")).items():
            mode = text(mapping(value).get("mode"))
            if mode in ("", "UNSET"):
                inheriting.append(str(port))
            else:
                ledger.put(("portLevelMtls", str(port), "mode"), mode, attachment, ("portLevelMtls", port, "mode"))
    leaves: dict[tuple[str, ...], Any] = {_MODE: ledger.get(_MODE) or _PERMISSIVE, **ledger.below(())}
    owners: dict[Pointer, ResourceKey] = dict(ledger.owners_below(()).items())
    for port in inheriting:
        slot = ("portLevelMtls", port, "mode")
        leaves[slot] = leaves[_MODE]
        if _MODE in ledger:
            owners[slot] = owners[_MODE]
    return Effective(nested(leaves), owners, ledger.lost(), stack)


def proxy_config(stack: tuple[Attachment, ...], kind: PolicyKind) -> Effective:
    """Merge mesh, namespace, the pods' own annotation and workload, field by field; of each level the oldest.

    The workload itself owns what its annotation says, and is not listed as having lost anything (proxy_config.go).
    """
    policies = tuple(each for each in stack if not is_own(each))
    counting, younger = _one_per_level(policies)
    selecting = [attachment for attachment in counting if not is_wide(attachment.policy)]
    wide = [attachment for attachment in counting if is_wide(attachment.policy)]
    merged = strategies.merge(Stack(kind, (*wide, *filter(is_own, stack), *selecting)))
    reported = {attachment.key for attachment in policies}
    lost = [leaf for leaf in merged.lost if leaf.policy in reported]
    return Effective(merged.spec, merged.owners, sorted_lost((*lost, *ProvenanceLedger(younger).lost())), policies)


def _one_per_level(stack: tuple[Attachment, ...]) -> tuple[list[Attachment], list[tuple[Attachment, Attachment]]]:
    """Return what `singletons` does, and of several policies that select the workload the first alone."""
    counting, younger = singletons(stack)
    selecting = [each for each in counting if not is_wide(each.policy)]
    for attachment in selecting[1:]:
        counting.remove(attachment)
        younger.append((attachment, selecting[0]))
    return counting, younger
