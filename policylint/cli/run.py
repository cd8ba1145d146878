"""The skeleton of every command that reads manifests: where it runs, what it goes by, how long it took, how it ends."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from functools import wraps
from time import perf_counter

import click

from policylint.cli.commands import INCOMPLETE, complain_internally, say
from policylint.cli.options import showing, together, what_is_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from policylint.cli.options import Decorated
    from policylint.model.coverage import Coverage
    from policylint.session.diff import DiffSides
    from policylint.session.open import Listing
    from policylint.session.revisions import DiffRequest
    from policylint.session.settings import RunOptions, Setup
    from policylint.workspace import Workspace


MOST_FAULTS = 5
"""Internal errors that are said one by one."""
WORTH_A_LINE = 0.0005
"""Seconds: rules below would show as 0.000; --timing counts them together."""


class Run:
    """One run of a command, with the options of `reading` and `showing` as attributes; subclasses have those of their
    commands, too.

    With -C, all of it is as seen from there, and that directory is read where no PATH is given.
    """

    paths: tuple[str, ...]
    directory: str | None
    isolated: bool
    config: str | None
    no_config: bool
    env: tuple[str, ...]
    render: str | None
    rendered: tuple[str, ...]
    semantics: str | None
    snapshot: str | None
    live: bool
    context: str
    color: str
    verbose: bool
    timing: bool
    has_files = False
    """Whether --live without PATH means the files of the git root beside the cluster, not the cluster alone."""
    says_releases = True
    """Whether the releases by which objects are judged are said on stderr: no report of the command has them."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)
        self.live = self.live or self._means_cluster()
        self._start = self._last = perf_counter()
        self._parts: list[tuple[str, float]] = []
        self._notified = False
        self._opened: list[Workspace] = []
        if self.directory:
            os.chdir(self.directory)

    def _means_cluster(self) -> bool:
        """Tell whether kubectl was asked to run it, and nothing says that files or revisions alone are meant."""
        context = click.get_current_context(silent=True)
        if context is None or (context.find_root().info_name or "").split() != ["kubectl", "policylint"]:
            return False
        named = ("snapshot", "revision", "revisions", "staged", "rendered_before", "from_json")
        given = context.params
        return not any(given.get(name) for name in named) and all(map(os.path.lexists, self.paths))

    @property
    def of_cluster(self) -> tuple[str, ...]:
        """The options by which another command asks the same cluster."""
        return ("--live", *(("--context", self.context) if self.context else ())) if self.live else ()

    @classmethod
    def fields(cls) -> list[str]:
        """Return the names of the options that a run has."""
        return [name for kind in cls.__mro__ for name in getattr(kind, "__annotations__", ())]

    def options(self, **more: Any) -> RunOptions:
        """Return the options of the run, with those that only some commands have, or with other values."""
        from policylint.cli.progress import progress
        from policylint.session.settings import RunOptions

        values: dict[str, Any] = {
            "paths": self.paths,
            "whole": not self.directory,
            "isolated": self.isolated,
            "config": self.config,
            "no_config": self.no_config,
            "environments": self.env,
            "render": self.render,
            "rendered": self.rendered,
            "semantics": self.semantics,
            "snapshot": self.snapshot,
            "progress": progress,
        }
        values |= more
        if self.live and not values["paths"] and not self.config and not self.has_files:
            values["no_config"] = True  # the cluster alone, which has none
        return RunOptions(**values)

    def setup(self, **more: Any) -> Setup:
        """Return the options of the run and the configuration that holds; arguments as of `options`."""
        from policylint.session.settings import Setup

        return Setup.of(self.options(**more))

    def open(self, setup: Setup, revision: str = "", listing: Listing | None = None) -> Workspace:
        """Read and simulate the paths of a setup, as a revision has them or what else lists them."""
        from policylint.session.open import open_at, open_tree

        with self._simulating(setup):
            if self.live:
                workspace = self._open_live(setup, revision)
            else:
                workspace = open_at(setup, revision) if listing is None else open_tree(setup, listing=listing)
            self._opened.append(workspace)
            return workspace

    def _open_live(self, setup: Setup, revision: str) -> Workspace:
        """Read the cluster alone, or beside the paths that are named."""
        from policylint.session.live import beside, cluster
        from policylint.session.open import open_at, open_tree
        from policylint.sources.kubectl import by_object
        from policylint.sources.text import Text

        data = self.objects(setup)
        if setup.options.paths:
            return open_at(beside(setup, data), revision)
        if revision:
            raise click.UsageError("--at needs a PATH: a cluster has no revisions")
        return open_tree(cluster(setup), source=Text(by_object(data)))

    def objects(self, setup: Setup) -> bytes:
        """Return what the cluster holds, as the user's kubectl prints it."""
        from policylint.session.live import objects
        from policylint.sources.kubectl import PROGRAM, Kubectl

        if self.snapshot:
            raise click.UsageError("--live and --snapshot cannot be used together")
        with setup.options.progress("asking the cluster"):
            return objects(setup, Kubectl(os.environ.get("POLICYLINT_KUBECTL") or PROGRAM, self.context))

    def open_sides(self, request: DiffRequest) -> DiffSides:
        """Read and simulate both sides of a diff."""
        from policylint.session.diff import open_sides

        with self._simulating(request.setup):
            sides = open_sides(request)
            self._opened += [sides.before, sides.after]
            return sides

    def code(self, code: int) -> int:
        """Return the exit code: 3 after errors of our own, which are said on stderr, each with what it stopped."""
        faults = list({str(fault): fault for workspace in self._opened for fault in workspace.faults}.values())
        for fault in faults[:MOST_FAULTS]:
            complain_internally(str(fault), fault.traceback)
        if len(faults) > MOST_FAULTS:
            say(f"and {len(faults) - MOST_FAULTS} more internal errors")
        return INCOMPLETE if faults else code

    @contextmanager
    def _simulating(self, setup: Setup) -> Iterator[None]:
        """Say once which setting is not heeded; afterwards collect garbage again, but not what was simulated.

        It stays to the end, and looking at it again and again would find none (cli/commands.py).
        """
        if setup.notice and not self._notified:
            self._notified = True
            say(setup.notice)
        try:
            yield
        finally:
            gc.freeze()
            gc.enable()

    def lap(self, part: str) -> None:
        """End a part of the run, for --timing."""
        now = perf_counter()
        self._parts.append((part, now - self._last))
        self._last = now

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return perf_counter() - self._start

    def end(self, coverage: Coverage, spent: Mapping[str, float] | None = None, more: Iterable[str] = ()) -> None:
        """Say what --verbose and --timing ask for, and where what was shown is not the whole.

        Args:
            spent: the seconds that each rule took.
            more: lines of --verbose after those of what was read.
        """
        if coverage.cut_off:
            say("this is not the whole: something was left out (GWP911 of `lint` says where)")
        if self.verbose:
            for line in (*_coverage_in_words(coverage), *more):
                say(line)
        elif self.says_releases:
            for release in coverage.releases:
                say(f"judged by: {release}")
        if self.timing:
            for part, seconds in (*self._parts, ("all", self.seconds)):
                say(f"{seconds:8.3f} s  {part}")
            for line in by_rule(spent or {}):
                say(line)


def gather(kind: type[Run]) -> Callable[[Decorated], Decorated]:
    """Hand the options of a run on as one value, before those of the command's own arguments.

    Options that a command does not have are as the class of its runs says.
    """

    def decorate(function: Decorated) -> Decorated:
        @wraps(function)
        def call(*arguments: Any, **values: Any) -> Any:
            is_repeated = values.pop("watch", False)
            fields = {name: values.pop(name) for name in kind.fields() if name in values}

            def once() -> int:
                run = kind(**fields)
                return run.code(function(*arguments, run, **values))

            if not is_repeated:
                return once()
            from policylint.cli.watching import repeatedly

            return repeatedly(once, {**fields, **values})

        return call  # type: ignore[return-value]

    return decorate


reading = together(what_is_read, gather(Run))
"""PATH… and the options of every command that reads manifests; with those of `showing`, it is handed a `Run`."""


def by_rule(spent: Mapping[str, float]) -> Iterator[str]:
    """Yield `0.012 s    GWP501 schema-violation` for each rule that took noticeable time, the slowest first, then one
    line for the others.

    Args:
        spent: seconds by rule, over all environments, the import of the rule's module included.
    """
    from policylint.checks import name_of
    from policylint.model.words import count

    slowest = sorted(spent.items(), key=lambda rule: (-rule[1], rule[0]))
    shown = [(rule, seconds) for rule, seconds in slowest if seconds >= WORTH_A_LINE]
    for rule, seconds in shown:
        yield f"{seconds:8.3f} s    {rule} {name_of(rule)}"
    rest = slowest[len(shown) :]
    if rest:
        rules = count(len(rest), "other rule" if shown else "rule")
        yield f"{sum(seconds for _, seconds in rest):8.3f} s    {rules}"


def _coverage_in_words(coverage: Coverage) -> Iterator[str]:
    """Say what was read and what was skipped, a line each."""
    from policylint.model.words import count

    unread = f" ({coverage.unread} of other kinds left unread)" if coverage.unread else ""
    yield f"read {coverage.files} files, {coverage.documents} documents{unread}, {coverage.resources} objects"
    for reason, number in sorted(coverage.skipped.items()):
        yield f"skipped {count(number, 'file')}: {reason}"
    for release in coverage.releases:
        yield f"judged by: {release}"
    for entry in coverage.left_out:
        yield f"not checked: {entry}"
    for sentence in coverage.not_rendered:
        yield f"not seen: {sentence}"


def is_empty(coverage: Coverage, *, told: bool = False) -> bool:
    """Tell whether there was nothing to check, or more lies in files that nothing deploys; say so if it was.

    Args:
        told: whether something is said of what is here all the same: that the API server takes none of it.
    """
    if coverage.checked and coverage.orphans <= coverage.checked:
        return False
    from policylint.model.words import count, series

    if coverage.orphans:
        how, what = "most was not" if coverage.checked else "nothing was", "them" if coverage.orphans > 1 else "it"
        click.echo(f"{how} checked: {coverage.left_out[0]} (--show-orphans lists {what})", err=True)
        return True
    ways = [str(entry).partition(" (")[0] for entry in coverage.left_out if entry.sort == "other ways in"]
    if ways:
        click.echo(
            f"no Gateways, routes or policies in {count(coverage.files, 'file')}, but {series(ways)}: what these name "
            "is checked (Services, middlewares, certificates), and no policy of their own",
            err=True,
        )
        return False
    if told:
        return True
    nothing = f"no Gateway API manifests in {count(coverage.files, 'file')}"
    templates = coverage.skipped.get("Helm template")
    if templates:
        nothing += f"; {count(templates, 'Helm template')} left out (--render helm has your helm render charts)"
    else:
        nothing += "; run it in the repository's root, or pipe: helm template … | policylint lint -"
    click.echo(nothing, err=True)
    return True


__all__ = ["Run", "gather", "is_empty", "reading", "showing"]
