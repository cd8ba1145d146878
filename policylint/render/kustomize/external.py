"""The user's own `kubectl kustomize` or `kustomize build`, for kustomizations that are not covered here.

Bounded in time and without network; what it cannot build stays as the built-in renderer has it, and noted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Final

TIMEOUT: Final = 30.0
_NOWHERE: Final = "http://127.0.0.1:9"
_COMMANDS: Final = (("kubectl", "kustomize"), ("kustomize", "build"))
External = Callable[[str], bytes | None]
"""A directory below the root in, the objects it makes as YAML out; None where that cannot be had."""


def external(root: str | None) -> External | None:
    """What renders directories below a root with an installed program; looked for when first needed."""
    return None if root is None else partial(_render, root)


def _render(root: str, directory: str) -> bytes | None:
    from shutil import which

    for program, verb in _COMMANDS:
        found = which(program)
        if found is not None:
            command = (found, verb, "--load-restrictor", "LoadRestrictionsNone")
            return _run(command, os.path.join(root, directory))  # noqa: PTH118 - sources/ keep paths as strings
    return None


def _run(command: tuple[str, ...], directory: str) -> bytes | None:
    """What the program prints; None if it fails, or takes too long."""
    import subprocess

    # Remote bases are fetched by git and over HTTP; neither gets out.
    environment = {
        **os.environ,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
        "NO_PROXY": "",
        "no_proxy": "",
    }
    try:
        done = subprocess.run(
            [*command, directory],
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
