"""A target in a namespace that a kind may not reach: whether the target was seen changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.kinds import shipped_catalog
from policylint.model import PolicyKind
from policylint.workspace import open_workspace
from tests.worlds import manifest, opened, state

CHART = manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "far", "far", "spec: {chart: {spec: {chart: far}}}")
"""What may bring anything along there."""
_NAMED = {"ref": "{}", "refs": "[{}]"}
KINDS = [
    kind
    for file in shipped_catalog()
    for kind in file.kinds()
    if kind.cross_namespace == "no"
    and kind.policy_class in ("Direct", "Inherited")
    and kind.targets
    and "*" not in (kind.kind, kind.targets[0].kind)
    and kind.references[0].form in _NAMED
    and "." not in kind.references[0].path
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.kind}.{kind.group}")
def test_a_policy_that_may_not_reach_its_target_is_refused_whether_that_was_seen_or_not(
    kind: PolicyKind, tmp_path: Path
) -> None:
    target, reference = kind.targets[0], kind.references[0]
    named = f"{{group: {target.group or chr(34) * 2}, kind: {target.kind}, name: it, namespace: far}}"
    spec = f"spec: {{{reference.path}: {_NAMED[reference.form].format(named)}}}"
    policy = manifest(f"{kind.group}/v1", kind.kind, "p", "shop", spec)
    version = f"{target.group}/v1" if target.group else "v1"
    seen = manifest(version, target.kind, "it", "far")
    assert _verdict(tmp_path, policy) == _verdict(tmp_path, policy, seen) != "Unknown"


def _verdict(directory: Path, *manifests: str) -> str:
    """Return what becomes of the policy in a directory, which may be one of several that make up a cluster."""
    opened(directory, CHART, *manifests)
    return state(open_workspace([str(directory)]).simulations[0], "p").verdict
