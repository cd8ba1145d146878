"""policylint: an offline linter and simulator for Kubernetes policy attachment (GEP-713).

From Python (docs/python.md):

    import policylint

    tree = policylint.open("clusters/prod")
    for finding in tree.lint().known:
        print(finding.location, finding.rule, finding.message)

Everything but the version is imported when it is first asked for: a command line that prints it starts at once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.errors import AbsentError, UsageError
    from policylint.model import Finding
    from policylint.session.diff import DiffResult
    from policylint.session.lint import LintResult
    from policylint.session.session import Session, diff, lint, open  # noqa: A004

__version__ = "0.1.0"
__all__ = [
    "AbsentError",
    "DiffResult",
    "Finding",
    "LintResult",
    "Session",
    "UsageError",
    "__version__",
    "diff",
    "lint",
    "open",
]

_HOMES = {
    "AbsentError": "errors",
    "DiffResult": "session.diff",
    "Finding": "model",
    "LintResult": "session.lint",
    "Session": "session.session",
    "UsageError": "errors",
    "diff": "session.session",
    "lint": "session.session",
    "open": "session.session",
}
"""Name → the module below `policylint` that holds it."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
