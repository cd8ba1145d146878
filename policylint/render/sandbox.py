"""Programs of the user's own over files that a stranger wrote: in a copy, bounded, without network and credentials."""

# Paths stay strings with os.path here, as in sources/.
# ruff: noqa: PTH103, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from policylint.namedtuple import NamedTuple
from policylint.outside import find_program

if TYPE_CHECKING:
    from subprocess import Popen

TREE: Final = "tree"
"""Directory of a sandbox that holds the copy."""
_HOME: Final = "home"
_NOWHERE: Final = "http://127.0.0.1:9"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_PROBE_SECONDS: Final = 5.0


class OutsideError(ValueError):
    """A path that leads out of the directory it is meant to lie in; the message is for users."""


class Ended(NamedTuple):
    """How a program ended.

    Args:
        code: its exit code, negative where a signal ended it.
        output, errors: what it printed.
        cut: whether it was ended because it printed too much.
    """

    code: int
    output: bytes
    errors: bytes
    cut: bool


def path_below(top: str, path: str) -> str:
    """Return where a posix path lies below a directory.

    Raises:
        OutsideError: it is absolute, or one of its steps is none.
    """
    steps = path.split("/")
    if os.sep != "/" and any(os.sep in step or ":" in step for step in steps):
        raise OutsideError(f"{path!r} is no path that can be copied")
    if any(step in ("", os.curdir, os.pardir) or "\0" in step for step in steps):
        raise OutsideError(f"{path!r} leads out of the tree")
    return os.path.join(top, *steps)


def write_below(top: str, path: str, content: bytes) -> str:
    """Write a file below a directory that nobody else writes to; return where.

    Raises:
        OutsideError: the path leads out of it.
        OSError: it cannot be written, as where a file stands in the way of a directory.
    """
    place = path_below(top, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(content)
    return place


def run(command: Sequence[str], top: str, *, timeout: float, most: int) -> Ended:
    """Run a program in a directory of its own, and wait for it.

    It has an empty home and search path, no kubeconfig, no network where the platform can take it away, and no
    variable of ours.

    Args:
        command: the program by its absolute path, and its arguments.
        top: the directory, in which it may write.
        timeout: seconds after which it is ended, with all that it started.
        most: bytes that any file it writes may have, what it prints included.

    Raises:
        TimeoutError: it was ended.
        OSError: it cannot be started.
    """
    import subprocess

    home = os.path.join(top, _HOME)
    os.makedirs(home, exist_ok=True)
    places = [os.path.join(top, name) for name in ("output", "errors")]
    with open(places[0], "wb") as output, open(places[1], "wb") as errors:
        process = subprocess.Popen(
            [*without_network(), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=top,
            env=_environment(home),
            start_new_session=True,
            preexec_fn=_limiting(most, timeout),
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"no answer in {timeout:.0f} s") from None
        finally:
            if process.returncode is None:
                _end(process)
    printed = [_content(place, most + 1) for place in places]
    return Ended(code, printed[0], printed[1], len(printed[0]) >= most)


def without_network() -> list[str]:
    """Return what goes before a command so that it has no network, not even loopback; nothing where that cannot be."""
    unshare, nothing = find_program("unshare"), find_program("true")
    if unshare is None or nothing is None:
        return []
    ways = [(unshare, "--net", "--"), (unshare, "--map-root-user", "--net", "--")]
    return next(([*way] for way in ways if _works((*way, nothing))), [])


@cache
def _works(command: tuple[str, ...]) -> bool:
    """Tell whether a command succeeds; tried once, for many charts may be rendered."""
    import subprocess

    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_PROBE_SECONDS, check=False, env={}, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _environment(home: str) -> dict[str, str]:
    """All that a program gets to know. Should it have a network: nothing there that it is to reach."""
    homes = ("HOME", "PATH", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    helm = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS")
    system = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {
        **system,
        **dict.fromkeys((*homes, *helm), home),
        **dict.fromkeys(_PROXIES, _NOWHERE),
        "NO_PROXY": "",
        "no_proxy": "",
        "KUBECONFIG": os.devnull,
        "KUBERC": "off",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _limiting(most: int, timeout: float) -> Callable[[], None] | None:
    """Return what the child does before it becomes the program: take its limits; None where a system has none."""
    try:
        import resource
    except ImportError:
        return None
    seconds = int(timeout) + 1

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return limit


def _end(process: Popen[bytes]) -> None:
    """End a program that runs, and all that it started."""
    import signal
    from contextlib import suppress

    if hasattr(os, "killpg"):
        with suppress(OSError):  # nothing of it runs any more
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _content(place: str, most: int) -> bytes:
    with open(place, "rb") as file:
        return file.read(most)
