"""No measure but a search: random requests of which `reach` and `trace` say different things.

usage: python bench/agreement.py [--requests 100000] [--seed 1] [--shared ../shared]

The worlds are the fixtures, and of SHARED the cases and the real trees; the requests are drawn from the atoms of each
entry, of another entry of its world, and of matches that nobody states (tests/reach/test_agreement.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main() -> int:
    """Search until enough requests were tried; end with 1 where one is told apart."""
    from policylint.workspace import open_workspace
    from tests.reach.test_agreement import disagreements

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    chosen = parser.parse_args()
    cases = (file.parent for file in chosen.shared.glob("cases/*/*/manifests.yaml"))
    places = (*(ROOT / "fixtures").iterdir(), *chosen.shared.glob("trees/*"), *chosen.shared.glob("wild/*"), *cases)
    worlds = sorted(place for place in places if place.is_dir())
    tried, wrong, seed = 0, 0, chosen.seed
    simulations = [simulation for world in worlds for simulation in open_workspace([str(world)]).simulations]
    while tried < chosen.requests and (tried or seed == chosen.seed):
        for simulation in simulations:
            number, different = disagreements(simulation, 40, seed, mixed=True)
            tried += number
            wrong += len(different)
            for line in different[:3]:
                print(f"{simulation.world.name or 'world'}: {line}", flush=True)
        seed += 1
    print(f"{tried:,} requests, {len(simulations)} environments of {len(worlds)} worlds: {wrong} disagree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
