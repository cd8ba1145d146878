"""What the answers of `reach` rest on, in trees of others: how many of their ways are not known, and why.

python bench/grounds.py ../shared/wild/* ../shared/field/* [--reasons 10] [--program policylint]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

_TIMEOUT = 300


def ways(program: list[str], tree: Path) -> list[dict[str, object]]:
    """Return the ways of a tree, as `reach -o json` says them; none where it says nothing."""
    command = [*program, "reach", "-o", "json", "--no-config", str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    try:
        found = json.loads(done.stdout)["ways"]
    except (ValueError, KeyError):
        print(f"  {tree.name}: exit {done.returncode}: {done.stderr.strip()[-200:]}")
        return []
    return list(found)


def grounds(found: list[dict[str, object]]) -> tuple[Counter[str], Counter[str]]:
    """Count ways to a backend by the state of their login, and the reasons for which that is not known."""
    states: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for way in found:
        given = way.get("asked", {}).get("authentication")  # type: ignore[attr-defined]
        if given is None:
            continue
        state = given["state"]
        if given.get("ground") and state != "unknown":
            state += " as far as seen"
        states[state] += 1
        if state == "unknown":
            reasons[re.sub(r"\b[\w.-]+/[\w.-]+\b", "…", given.get("because", "?"))] += 1
    return states, reasons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--reasons", type=int, default=10, help="how many reasons are printed")
    parser.add_argument("--program", default="policylint", help="the command that is measured")
    asked = parser.parse_args()
    everywhere: Counter[str] = Counter()
    why: Counter[str] = Counter()
    for tree in sorted(tree for tree in asked.trees if tree.is_dir()):
        states, reasons = grounds(ways(asked.program.split(), tree))
        everywhere += states
        why += reasons
        if states:
            listed = ", ".join(f"{count} {state}" for state, count in states.most_common())
            print(f"{states['unknown'] / states.total():6.0%}  {tree.name}: {listed}")
    total = everywhere.total()
    print(f"{total} ways to a backend: " + ", ".join(f"{count} {state}" for state, count in everywhere.most_common()))
    print(f"not known: {everywhere['unknown'] / max(total, 1):.1%}")
    for reason, count in why.most_common(asked.reasons):
        print(f"{count:6}  {reason}")


if __name__ == "__main__":
    main()
