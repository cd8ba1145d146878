"""Print what a diff in JSON comes to, as the outputs of a step: `new-findings=1`, one per line."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    found = json.loads(Path(sys.argv[1]).read_bytes())
    summary = found["summary"]
    routes = summary["routes"]
    content = (
        found["routes"] or found["policies"] or [each for each in found["findings"] if each["state"] != "unchanged"]
    )
    content = content or any(found.get(part) for part in ("configuration", "suppressed", "connections", "placements"))
    content = content or any(entry["changes"] or entry["unknown"] for entry in found.get("requests", ()))
    content = content or any(entry["change"] != "changed" for entry in found["objects"])
    print(f"new-findings={sum(summary['new'].values())}")
    print(f"fixed-findings={summary['fixed']}")
    print(f"routes-changed={routes['changed'] + routes['added'] + routes['removed']}")
    print(f"has-content={'true' if content else 'false'}")


if __name__ == "__main__":
    main()
