"""Carry the project's address from pyproject.toml into every text that names it.

usage: python .ci/home.py [--write]

pyproject.toml states it (`Homepage`), and the program reads it there. What cannot read is rewritten by this: README,
pages, workflows, schemas, the other addresses of pyproject.toml. Without --write the lines that name another one are
printed, and the exit code is 1 if there are any. Tests, the changelog and the history name what they like.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = [
    *("*.*", "Dockerfile", ".github/**/*.yml", "docs/**/*.md", "rules/*.md", "schemas/**/*.json", "deploy/*.yaml"),
    "deploy/vscode/package.json",
]
NAMED = re.compile(r"(?<![\w.-])(?P<before>github\.com/|ghcr\.io/|uses: )(?P<owner>[\w.-]+)/policylint(?![\w-])")
"""What names a repository of this name, whoever owns it."""


def owner() -> str:
    """Return the owner that pyproject.toml states.

    Raises:
        SystemExit: it states an address of another form.
    """
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    stated = re.fullmatch(r"https://github\.com/([\w.-]+)/policylint", urls["Homepage"])
    if stated is None:
        sys.exit(f"Homepage of pyproject.toml is {urls['Homepage']}, not https://github.com/OWNER/policylint")
    return stated[1]


def differing(name: str) -> list[tuple[Path, str, str]]:
    """Return the files in which another owner than `name` stands: path, text, and the text as it should be."""
    files = sorted({file for place in PLACES for file in ROOT.glob(place) if file.is_file()} - {ROOT / "CHANGELOG.md"})
    texts = ((file, file.read_text(encoding="utf-8")) for file in files)
    changed = ((file, text, NAMED.sub(rf"\g<before>{name}/policylint", text)) for file, text in texts)
    return [(file, text, right) for file, text, right in changed if text != right]


def main() -> int:
    """Print or rewrite, and return the exit code."""
    found = differing(owner())
    for file, text, right in found:
        for number, (line, better) in enumerate(zip(text.splitlines(), right.splitlines(), strict=True), 1):
            if line != better:
                print(f"{file.relative_to(ROOT)}:{number}: {better.strip()}")
        if "--write" in sys.argv[1:]:
            file.write_text(right, encoding="utf-8")
    return 1 if found and "--write" not in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
