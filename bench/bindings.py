"""Compare the two C bindings of libyaml: the figures of docs/dependencies.md.

usage: python bench/bindings.py [--rounds 9] PATH...

ruamel.yaml's `_ruamel_yaml.CParser` and PyYAML's `yaml._yaml.CParser` read the same bytes in interleaved rounds with
the garbage collector off: once as raw events (no Python objects), once as event objects. CPU time, medians.
"""

from __future__ import annotations

import argparse
import gc
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import _ruamel_yaml
from yaml import _yaml
from yaml_files import accepts, yaml_files

BINDINGS: dict[str, Any] = {"PyYAML": _yaml, "ruamel.yaml": _ruamel_yaml}


def raw_events(binding: Any, data: bytes) -> None:
    """Parse without making Python objects."""
    binding.CParser(data).raw_parse()


def event_objects(binding: Any, data: bytes) -> None:
    """Parse into event objects, each dropped at once."""
    get = binding.CParser(data).get_event
    while get() is not None:
        pass


def main() -> None:
    """Print versions, refused files and medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    files = yaml_files(arguments.paths)
    taken = {
        name: {path for path, data in files if accepts(partial(raw_events, binding), data)}
        for name, binding in BINDINGS.items()
    }
    common = [data for path, data in files if all(path in paths for paths in taken.values())]
    for name, binding in BINDINGS.items():
        print(f"{name}: libyaml {binding.get_version_string()}, takes {len(taken[name])} of {len(files)} files")
    times: dict[tuple[str, str], list[float]] = {}
    gc.disable()
    for _ in range(arguments.rounds):
        for work in (raw_events, event_objects):
            for name, binding in BINDINGS.items():
                start = time.process_time()
                for data in common:
                    work(binding, data)
                times.setdefault((work.__name__, name), []).append(time.process_time() - start)
    for (work_name, name), spent in times.items():
        print(f"{work_name:14} {name:12} {median(spent) * 1000:7.1f} ms")


if __name__ == "__main__":
    main()
