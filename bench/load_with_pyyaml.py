"""The process that lint is compared with: load every YAML file below the paths with PyYAML's CSafeLoader, no more.

usage: python -I bench/load_with_pyyaml.py PATH...

What was loaded is kept until the end, as anything that relates documents to each other must. A file that PyYAML cannot
load (a Helm template) costs its attempt and is passed over.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml


def main() -> None:
    """Load everything; say how much on standard error."""
    kept = []
    for root in map(Path, sys.argv[1:]):
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.suffix not in (".yaml", ".yml") or not path.is_file():
                continue
            try:
                kept.append(list(yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader)))
            except (yaml.YAMLError, ValueError):
                continue
    print(f"{sum(map(len, kept))} documents of {len(kept)} files", file=sys.stderr)


if __name__ == "__main__":
    main()
