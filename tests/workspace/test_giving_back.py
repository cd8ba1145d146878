"""What is given back when an environment is judged is computed again for whoever asks once more, and says the same."""

from __future__ import annotations

from pathlib import Path

from policylint.schema import broken
from policylint.workspace import open_workspace

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_it_is_computed_again() -> None:
    workspace = open_workspace([str(FIXTURES / "kustomize-two-clusters")])
    first, second = workspace.simulations[:2]
    found, verdicts = workspace.findings(), dict(first.hops.network.numbers)
    assert (first.kept_hops, second.kept_acting) != (None, None)
    assert workspace.findings(last=True) == found
    assert not broken._VALID
    assert [each.kept_hops for each in (first, second)] == [None, None]
    assert [each.kept_doors for each in (first, second)] == [None, None]
    assert workspace.findings() == found
    assert dict(first.hops.network.numbers) == verdicts
