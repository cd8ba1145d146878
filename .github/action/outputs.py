"""Print what a diff in JSON comes to, as the outputs of a step: `new-findings=1`, one per line."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    found = json.loads(Path(sys.argv[1]).read_bytes())
    summary = found["summary"]
    routes = summary["routes"]
    print(f"new-findings={sum(summary['new'].values())}")
    print(f"fixed-findings={summary['fixed']}")
    print(f"routes-changed={routes['changed'] + routes['added'] + routes['removed']}")


if __name__ == "__main__":
    main()
