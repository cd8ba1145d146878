"""A checkout in which everything that a program may load from its working directory, or start, leaves a trace."""

from __future__ import annotations

from pathlib import Path

MODULES = (
    "_policylint_editable", "argparse", "click", "colorama", "ensurepip", "json", "logging", "pip", "pkgutil",
    "policylint", "secrets", "shutil", "sitecustomize", "subprocess", "sysconfig", "tempfile", "types", "usercustomize",
    "venv", "yaml",
)  # fmt: skip
"""Modules of the standard library and of policylint's own, as a pull request may bring them."""
PROGRAMS = (
    "bash",
    "cksum",
    "env",
    "git",
    "grep",
    "head",
    "helm",
    "kubectl",
    "kustomize",
    "pip",
    "python",
    "python3",
    "rm",
    "uv",
    "wc",
)


def trapped(directory: Path, canary: Path) -> Path:
    """Lay the traps; whichever is sprung writes its name to the canary.

    Returns:
        The directory of the programs, below the checkout.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        text = f"from builtins import open\nwith open({str(canary)!r}, 'a') as file:\n    file.write('{name}\\n')\n"
        (directory / f"{name}.py").write_text(text)
    programs = directory / "bin"
    programs.mkdir(exist_ok=True)
    for place in (directory, programs):
        for name in PROGRAMS:
            (place / name).write_text(f"#!/bin/sh\necho {name} >> '{canary}'\nexit 1\n")
            (place / name).chmod(0o755)
    return programs


def sprung(canary: Path) -> list[str]:
    """The traps that something walked into."""
    return canary.read_text().split() if canary.exists() else []


def hostile_environment(environment: dict[str, str], directory: Path, programs: Path) -> dict[str, str]:
    """An environment that points into the checkout wherever one can."""
    path = f".:{programs}::{environment.get('PATH', '')}"
    return environment | {"PATH": path, "PYTHONPATH": f".:{directory}", "PYTHONSTARTUP": str(directory / "json.py")}
