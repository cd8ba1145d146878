"""Fuzz the tool: seeded, resumable, with a reproducer of every failure.

usage: python bench/fuzz.py WHAT [--seed 1] [--inputs N] [--minutes M] [--keep DIR] [--shared DIR] [--only N]

WHAT is `tool` (all of it), `network` (what reads network policies), `reader` (the reading of YAML), `requests` (what
every reader says of a request, a way and a change), `metamorphic` (what must be the same, or no more, after a change),
`edits` (what `diff` says of edits of real trees) or `editor` (the language server).

No input may make a traceback or an internal error, take 10 s of CPU time or 500 MB of memory, or end a command with an
exit code that is not documented. State and reproducers are kept in DIR; a second run goes on where the first ended.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

import yaml
from campaign import Campaign, Try

KEPT = Path(__file__).resolve().parent / "out" / "fuzz"


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("tool", "network", "reader", "requests", "metamorphic", "edits", "editor"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, help="how many more to try")
    parser.add_argument("--minutes", type=float, help="how long to go on")
    parser.add_argument("--keep", type=Path, default=KEPT, metavar="DIR", help="state and reproducers")
    parser.add_argument("--shared", type=Path, metavar="DIR", help="folder of real trees, worlds and CRDs to mutate")
    parser.add_argument(
        "--only", type=int, metavar="NUMBER", help="try this input in this process, and show what fails"
    )
    return parser.parse_args()


def main() -> int:
    """Run a campaign; exit with 1 when anything fails."""
    # Worlds are read and written with libyaml: as tests/conftest.py has it, whose worlds these are.
    yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[assignment, misc]
    yaml.SafeDumper = yaml.CSafeDumper  # type: ignore[assignment, misc]
    chosen = options()
    attempt = _attempt(chosen)
    try:
        campaign = Campaign(attempt, chosen.keep.resolve() / chosen.what, chosen.seed)
        if chosen.only is not None:
            tried = campaign.one(chosen.only)
            for error, files in tried.failures:
                traceback.print_exception(error)
                print(*(files[file] for file in ("command", "said.txt") if file in files), sep="\n")
            return 1 if tried.failures else 0
        failed = campaign.go(chosen.inputs, None if chosen.minutes is None else 60 * chosen.minutes)
        print(campaign.summary())
        return 1 if failed else 0
    finally:
        close = getattr(attempt, "close", None)
        if close is not None:
            close()


def _attempt(chosen: argparse.Namespace) -> Try:
    if chosen.what == "tool":
        from fuzz_tool import ToolFuzz

        return ToolFuzz(chosen.shared)
    if chosen.what == "network":
        from fuzz_network import NetworkFuzz

        return NetworkFuzz(chosen.shared)
    if chosen.what == "requests":
        from fuzz_requests import RequestFuzz

        return RequestFuzz(chosen.shared)
    if chosen.what == "metamorphic":
        from fuzz_metamorphic import MetamorphicFuzz

        return MetamorphicFuzz(chosen.shared)
    if chosen.what == "edits":
        from fuzz_edits import EditsFuzz

        return EditsFuzz(chosen.shared)
    if chosen.what == "editor":
        from fuzz_editor import EditorFuzz

        return EditorFuzz(chosen.shared)
    from fuzz_reader import ReaderFuzz

    return ReaderFuzz()


if __name__ == "__main__":
    sys.exit(main())
