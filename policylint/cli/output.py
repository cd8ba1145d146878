"""Where output goes: results to stdout or files, everything else to stderr; always UTF-8, whatever the locale."""

from __future__ import annotations

import os
import stat
import sys

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from policylint.model import Finding
    from policylint.model.rule_page import RulePage
    from policylint.report.findings import Options, Report
    from policylint.workspace import Workspace

WIDEST = 100
NARROWEST = 60
COLOURED_LOGS = ("GITHUB_ACTIONS", "GITLAB_CI")


def put(text: str, *, commands: bool = False) -> None:
    """A result to stdout; in the log of GitHub's runner nothing in it is a workflow command but for `commands`."""
    if not commands and os.environ.get("GITHUB_ACTIONS") == "true" and _into_log():
        from policylint.report.kit.display import inert

        text = inert(text)
    click.echo(text.encode("utf-8", "replace"), nl=False)


def save(file: str, text: str) -> None:
    """A result to a file.

    Raises:
        click.UsageError: it cannot be written.
    """
    from pathlib import Path

    from policylint.boundary import leads_out

    if leads_out(file):
        raise click.UsageError(f"cannot write {file!r}: it is a symbolic link out of the repository")
    try:
        Path(file).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise click.UsageError(f"cannot write {file!r}: {(error.strerror or str(error)).lower()}") from None


def wants_color(choice: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether stdout is to have colours: as asked for, else NO_COLOR, FORCE_COLOR, else on a terminal that has them.

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
    """Whether links are wanted (OSC 8): where FORCE_HYPERLINK says so, else on a terminal that gets colours."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    return _on_terminal() and wants_color(choice, environment)


def wants_addresses(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the addresses of rule pages are written out: in the log of a CI system, which makes them links."""
    return environment.get("CI", "") not in ("", "0", "false") and not _on_terminal()


def page_width() -> int:
    """Columns for text: 100, on a terminal no more than it has."""
    if not _on_terminal():
        return WIDEST
    from shutil import get_terminal_size

    return max(NARROWEST, min(WIDEST, get_terminal_size((WIDEST, 24)).columns))


def automatic(form: str) -> str:
    """`auto` is `github` inside GitHub Actions, else text."""
    if form == "auto":
        return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    return form


def styled(options: Options, color: str) -> Options:
    """The options of a report with what suits stdout; `color` is as --color says."""
    return options._replace(
        color=wants_color(color), links=wants_links(color), addresses=wants_addresses(), width=page_width()
    )


def report_of(
    workspace: Workspace,
    findings: Sequence[Finding],
    paths: Sequence[str],
    chosen: set[str] | None,
    formats: set[str],
    options: Options,
    seconds: float,
) -> Report:
    """The report of findings in a workspace, with what the formats need of rules.

    Args:
        paths: what was asked for, as given.
        chosen: the ids of the rules that ran, None for all.
    """
    from functools import lru_cache, partial

    from policylint import __version__
    from policylint.checks import RULES, name_of
    from policylint.report.findings import Report
    from policylint.session.open import below_root

    rules = {finding.rule for finding in findings}
    return Report(
        findings,
        workspace.coverage,
        environments=tuple(simulation.world.name for simulation in workspace.simulations),
        names={rule: name_of(rule) for rule in sorted(rules) if rule in RULES},
        pages=_pages(formats, chosen, rules),
        seconds=seconds,
        version=__version__,
        source_lines=lru_cache(maxsize=64)(workspace.source_lines),
        relative=lru_cache(maxsize=None)(partial(below_root, workspace.root)),
        options=options,
        paths=tuple(path for given in paths if (path := below_root(workspace.root, given))),
    )


def _pages(formats: set[str], chosen: set[str] | None, rules: set[str]) -> dict[str, RulePage]:
    """The pages that writers need: of all enabled rules for SARIF, of those that found something for the others."""
    if not formats & {"sarif", "markdown", "summary", "codeclimate"}:
        return {}
    from policylint.model.rule_page import all_pages

    enabled = {page.id: page for page in all_pages() if chosen is None or page.id in chosen or page.id in rules}
    return enabled if "sarif" in formats else {rule: page for rule, page in enabled.items() if rule in rules}


def _into_log() -> bool:
    """Whether stdout is a pipe, as CI systems give to what they run, and not a file."""
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode) if sys.stdout else False
    except (OSError, ValueError):
        return False


def _on_terminal() -> bool:
    """stdout is None where the caller closed it."""
    return bool(sys.stdout) and sys.stdout.isatty()
