"""`policylint --version`: read from file names alone, since scripts call it in loops."""

# pathlib takes milliseconds to import.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH208

from __future__ import annotations

import os

from policylint import __version__

GATEWAY_API = "1.6"
"""The release of the Gateway API whose rules the topology follows."""


def versions() -> str:
    """Return `policylint 0.1.0`, then one line per set of rules."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    data = os.path.join(package, "_data")
    if not os.path.isdir(data):
        data = os.path.dirname(package)
    rules = _count(os.path.join(data, "rules"), "GWP", ".md")
    catalogs = _count(os.path.join(data, "schemas", "policy-kinds"), "", ".yaml")
    return (
        f"policylint {__version__}\n"
        f"rules: {rules} · Gateway API: {GATEWAY_API} · GEP-713: gep-713 (default), gep-713-2023 · "
        f"implementations in the catalog: {catalogs}"
    )


def _count(directory: str, prefix: str, suffix: str) -> int:
    try:
        return sum(name.startswith(prefix) and name.endswith(suffix) for name in os.listdir(directory))
    except OSError:
        return 0
