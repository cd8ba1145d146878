"""Output: results to stdout or files, everything else to stderr; always UTF-8, whatever the locale."""

from __future__ import annotations

import os
import stat
import sys

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WIDEST = 100
NARROWEST = 60
COLOURED_LOGS = ("GITHUB_ACTIONS", "GITLAB_CI")
HEEDING_LOGS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Variables of systems that take commands from the log: GitHub Actions, Azure Pipelines, TeamCity."""


def put(text: str, *, commands: bool = False) -> None:
    """Write a result to stdout; unless it is `commands`, the log of a CI system takes nothing in it for one."""
    if not commands and any(os.environ.get(name) for name in HEEDING_LOGS) and _into_log():
        from policylint.report.kit.display import inert

        text = inert(text)
    click.echo(text.encode("utf-8", "replace"), nl=False)


def save(file: str, content: str | bytes) -> None:
    """Write a result to a file, whole or not at all: what stood there before stays until all of it is written.

    Raises:
        click.UsageError: it cannot be written.
    """
    from pathlib import Path

    from policylint.outside import goes_through_link

    if goes_through_link(file):
        raise click.UsageError(f"cannot write {file!r}: its path goes through a symbolic link in the repository")
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    try:
        _replace(Path(os.path.realpath(file)), data)
    except OSError as error:
        raise click.UsageError(f"cannot write {file!r}: {(error.strerror or str(error)).lower()}") from None


def _replace(place: Path, content: bytes) -> None:
    """Write a file beside the one that is there, and put it in its place; devices and pipes are written as they are."""
    mode = place.stat().st_mode if place.exists() else 0
    if mode and not (stat.S_ISREG(mode) and os.access(place, os.W_OK) and os.access(place.parent, os.W_OK)):
        place.write_bytes(content)
        return
    beside = place.with_name(f"{place.name[:200]}.{os.getpid()}.tmp")
    try:
        with beside.open("xb") as part:
            part.write(content)
        if mode:
            beside.chmod(stat.S_IMODE(mode))
        beside.replace(place)
    except BaseException as error:
        if not isinstance(error, FileExistsError):
            beside.unlink(missing_ok=True)
        raise


def wants_color(choice: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether stdout gets colours: as --color says, else NO_COLOR, FORCE_COLOR, else on a terminal that has them.

    The logs of GitHub and GitLab show colours though they are no terminals; files that output is sent to do not.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    if _on_terminal():
        return environment.get("TERM") != "dumb"
    return any(environment.get(name) == "true" for name in COLOURED_LOGS) and _into_log()


def wants_links(choice: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether links are wanted (OSC 8): where FORCE_HYPERLINK says so, else on a terminal that gets colours."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    return _on_terminal() and wants_color(choice, environment)


def wants_addresses(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether addresses of rule pages are written out: in the log of a CI system, which makes them links."""
    return environment.get("CI", "") not in ("", "0", "false") and not _on_terminal()


def page_width(*, widest: int = WIDEST) -> int:
    """Return the columns for text: 100, on a terminal as many as it has, up to `widest`."""
    if not _on_terminal():
        return WIDEST
    from shutil import get_terminal_size

    return max(NARROWEST, min(widest, get_terminal_size((WIDEST, 24)).columns))


def table_width() -> int:
    """Return the columns that a table may have: those of the terminal; 0, for any, where stdout is none."""
    if not _on_terminal():
        return 0
    from shutil import get_terminal_size

    return max(NARROWEST, get_terminal_size((WIDEST, 24)).columns)


def _into_log() -> bool:
    """Tell whether stdout is a pipe, as CI systems give to what they run, and not a file."""
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode) if sys.stdout else False
    except (OSError, ValueError):
        return False


def _on_terminal() -> bool:
    """Tell whether stdout is a terminal; it is None where the caller closed it."""
    return bool(sys.stdout) and sys.stdout.isatty()
