"""What Linkerd's policies refer to: it reads group and kind in any case, and `core` for no group.

Source: linkerd/linkerd2 policy-controller/k8s/api/src/policy.rs, targets_kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from policylint.model import text
from policylint.model.kinds import group_of

_POLICY = "policy.linkerd.io"
AUTHENTICATIONS = {
    (_POLICY, "MeshTLSAuthentication"): "identity",
    ("", "ServiceAccount"): "identity",
    (_POLICY, "NetworkAuthentication"): "network",
}
"""The references of an authorization and their sorts, of which it takes one each."""
IDENTITIES = (("", "ServiceAccount"), ("", "Namespace"))
"""What a MeshTLSAuthentication refers to."""


def referred(
    reference: Mapping[str, Any], kinds: Collection[tuple[str, str]] = tuple(AUTHENTICATIONS)
) -> tuple[str, str]:
    """Return the group and the kind that a reference means, as they are spelled; two empty strings for none of them."""
    group, kind = text(reference.get("group")).lower(), text(reference.get("kind")).lower()
    wanted = (group_of(group), kind)
    return next((each for each in kinds if (each[0], each[1].lower()) == wanted), ("", ""))
