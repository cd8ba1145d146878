"""The environments of 38 real repositories, each checked by hand against what its own files say: worlds.toml.

An environment is given with its routes and Gateways, which is what an environment lost or merged with another would
change. Of the long lists of independent overlays, catalogs and collections of examples, only the number is held.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import policylint
from tests.wild.test_judgements import TREES

WORLDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("worlds.toml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not TREES, reason="../shared is not there")


@pytest.mark.slow
@pytest.mark.parametrize("tree", [tree for tree in TREES if tree.name in WORLDS], ids=lambda tree: tree.name)
def test_the_environments_are_those_that_the_repository_has(tree: Path) -> None:
    known = {
        simulation.world.name: [len(simulation.topology.routes), len(simulation.topology.gateways)]
        for simulation in policylint.open(tree, no_config=True).simulations
    }
    expected = WORLDS[tree.name]
    if "number" in expected:
        assert len(known) == expected["number"]
        known = {name: counted for name, counted in known.items() if name in expected["worlds"] or any(counted)}
    assert known == expected["worlds"]
