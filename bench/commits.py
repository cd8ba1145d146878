"""What `policylint diff` says of commits that people made: of clones, those that touch what policies are about.

    python bench/commits.py CLONE... --commits 8 --seed 1 --keep DIR

Writes what was said of each commit to a file in DIR, begun with the exit code and the seconds; what is there already is
not asked again. Who reads them judges: whether each finding at warning or above is true, and whether anything that the
commit opens is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ABOUT = (
    "(SecurityPolicy|HTTPRoute|AuthorizationPolicy|PeerAuthentication|RequestAuthentication|NetworkPolicy|TrafficPolicy"
    "|ReferenceGrant|kind: Gateway|IngressRoute|Middleware|parentRefs|sectionName|targetRef|auth-url"
    "|whitelist-source|ingressClassName|allowedRoutes|AuthPolicy|RateLimitPolicy|VirtualService|fromEntities"
    "|podSelector|namespaceSelector)"
)
"""Words of the lines that a commit must touch."""
_SECONDS = 300
_MOST = 5_000


def commits(clone: Path, since: str) -> list[str]:
    """Return the commits of a clone that touch a line with such a word and have one parent, the newest first."""
    options = ["--no-merges", f"--since={since}", f"--max-count={_MOST}", "--format=%h", "--min-parents=1", "-G", ABOUT]
    listed = subprocess.run(
        ["git", "-C", str(clone), "log", *options, "--", "*.yaml", "*.yml"], capture_output=True, text=True, check=False
    )
    return listed.stdout.split()


def chosen(clones: list[Path], number: int, seed: int, since: str) -> Iterator[tuple[Path, str]]:
    """Yield clones and commits, one of each clone after the other, so that a run may be ended at any time."""
    shuffled = []
    for clone in clones:
        found = commits(clone, since)
        random.Random(f"{seed} {clone.name}").shuffle(found)
        shuffled.append((clone, found))
    for turn in range(number):
        yield from ((clone, found[turn]) for clone, found in shuffled if turn < len(found))


def main() -> int:
    """Run the search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=8, help="how many of each clone (8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since", default="3 years ago", help="as `git log` takes it")
    parser.add_argument("--keep", type=Path, required=True, metavar="DIR")
    parser.add_argument("--tool", default="policylint", help="the command to run")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    for clone, commit in chosen(options.clones, options.commits, options.seed, options.since):
        kept = options.keep / f"{clone.name}@{commit}"
        if kept.exists():
            continue
        start = time.monotonic()
        command = [options.tool, "diff", f"{commit}^..{commit}", "-C", str(clone)]
        try:
            ended = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
                env={**os.environ, "NO_COLOR": "1"},
            )
            code, said = str(ended.returncode), ended.stdout + ended.stderr
        except subprocess.TimeoutExpired:
            code, said = "none", f"not done in {_SECONDS} s\n"
        kept.write_text(f"exit {code}, {time.monotonic() - start:.1f} s\n{said}", encoding="utf-8")
        print(code, kept.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
