"""The Python interface of policylint: open a tree and ask it, lint it at once, or compare two states of one.

Findings are those that `policylint lint` reports: suppressed ones are not among them, severities are as configured.
Everything that is handed out is read-only. Nothing is printed, and nothing is written.
"""

# ruff: noqa: PTH112, PTH120 - strings as seen from here; pathlib is not imported for most runs

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from policylint.errors import UsageError
from policylint.session.lint import LintResult
from policylint.session.lint import lint as lint_workspace
from policylint.session.open import open_at, open_tree
from policylint.session.rules import chosen
from policylint.session.settings import RunOptions, Setup

if TYPE_CHECKING:
    from policylint.explain.explanation import Explanation
    from policylint.model.coverage import Coverage
    from policylint.report.trace.environments import TracedRequest
    from policylint.session.diff import DiffResult
    from policylint.simulation import Simulation
    from policylint.workspace import Workspace

    Path = str | os.PathLike[str]


class Session:
    """An open tree: everything in it is read and simulated, and questions cost little. Made by `open`.

    Attributes:
        setup: the options and the configuration that hold.
    """

    __slots__ = ("_lint", "_workspace", "setup")

    def __init__(self, setup: Setup, workspace: Workspace) -> None:
        self.setup = setup
        self._workspace = workspace
        self._lint: LintResult | None = None

    @property
    def simulations(self) -> Sequence[Simulation]:
        """The computed state of each environment, sorted by name."""
        return tuple(self._workspace.simulations)

    @property
    def coverage(self) -> Coverage:
        """How much was read, and what could not be."""
        return self._workspace.coverage

    def lint(self) -> LintResult:
        """Return the findings, those of the configured baseline and suppressed ones left out.

        Raises:
            UsageError: a name that is no rule, or a baseline that cannot be read.
        """
        if self._lint is None:
            self._lint = lint_workspace(self.setup, self._workspace, chosen(self.setup))
        return self._lint

    def explain(self, resource: str, *, rule: str = "") -> list[Explanation]:
        """Return what acts on an object, and for a policy where it acts: one explanation per environment that has it.

        Args:
            resource: `Kind/namespace/name`, `Kind/name`, `Kind.group/namespace/name`, or an unambiguous name;
                `#section` names a listener.
            rule: only this rule of a route, by its name or its number from 1.

        Raises:
            UsageError: it names no object, or several.
        """
        from policylint.explain.explanation import explain
        from policylint.explain.subject import subjects

        known = subjects(resource, self._workspace.simulations, rule)
        findings = self.lint().findings
        return [explain(subject, findings) for subject in known]

    def trace(
        self,
        method: str,
        url: str,
        *,
        headers: Iterable[str] = (),
        gateway: str = "",
        client: str = "",
        service: str = "",
    ) -> list[TracedRequest]:
        """Return what a request meets in each environment: listener, route, rule, policies, filters, backend.

        Args:
            url: a scheme `grpc` or `grpcs` asks for gRPC.
            headers: each as `name: value`.
            gateway: only this one, as `Kind/namespace/name` or a name; none means all that listen for the host.
            client: mesh traffic of this workload (`Kind/namespace/name`).
            service: the Service that mesh traffic is for; none means that of the URL's host.

        Raises:
            UsageError: a request that cannot be asked anywhere.
        """
        from policylint.report.trace.environments import trace_requests
        from policylint.trace import from_url

        request = from_url(method, url, headers, gateway=gateway, client=client, service=service)
        return trace_requests(self._workspace.simulations, [(request, {})])


def open(  # noqa: A001 - as `policylint.open`
    *paths: Path,
    text: str | bytes | None = None,
    revision: str = "",
    config: Path | None = None,
    no_config: bool = False,
    environments: Sequence[str] = (),
    render: str | None = None,
    semantics: str | None = None,
    snapshot: Path | None = None,
    strict: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    isolated: bool = False,
) -> Session:
    """Read and simulate manifests.

    Args:
        paths: directories and files to report on; none means the git root around the working directory. The repository
            around them is read as well.
        text: manifests as text or bytes instead of paths; no configuration holds for them but `config`.
        revision: a git revision as of which the paths are read; the configuration is the work tree's.
        config: the configuration file; none means the one found from the first path upward, never past the git root.
        no_config: heed no configuration.
        environments: only these, by name; none means all.
        render: how to find out what is deployed: auto, builtin, kubectl, helm or off.
        semantics: the edition of GEP-713 for kinds that do not say which one they follow.
        snapshot: a `kubectl get -o yaml` dump: creation times, and objects that are not in the files.
        strict: read every document.
        select, ignore: ids, names and families of the rules that run, and that do not.
        isolated: read nothing but the paths and what they refer to.

    Raises:
        UsageError: a path, the revision, the snapshot or the configuration cannot be used.
    """
    if text is not None and (paths or revision):
        raise UsageError("text cannot be combined with paths or revisions")
    places = tuple(os.fspath(path) for path in paths)
    options = RunOptions(
        paths=places,
        start=_directory_of(places[0]) if places else ".",
        config=_path(config),
        no_config=no_config or (text is not None and config is None),
        environments=tuple(environments),
        render=render,
        semantics=semantics,
        snapshot=_path(snapshot),
        strict=strict,
        select=tuple(select),
        ignore=tuple(ignore),
        isolated=isolated,
    )
    setup = Setup.of(options)
    if text is None:
        return Session(setup, open_at(setup, revision))
    from policylint.sources.text import Text

    return Session(setup, open_tree(setup, source=Text(text.encode() if isinstance(text, str) else text)))


def lint(
    *paths: Path,
    text: str | bytes | None = None,
    revision: str = "",
    config: Path | None = None,
    no_config: bool = False,
    environments: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> LintResult:
    """Open a tree and return what lint says of it; arguments as of `open`.

    Raises:
        UsageError: as `open` and `Session.lint`.
    """
    return open(
        *paths,
        text=text,
        revision=revision,
        config=config,
        no_config=no_config,
        environments=environments,
        select=select,
        ignore=ignore,
    ).lint()


def diff(
    revisions: str = "HEAD",
    *paths: Path,
    repository: Path = ".",
    staged: bool = False,
    rendered: tuple[Path, Path] | None = None,
    config: Path | None = None,
    no_config: bool = False,
    environments: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> DiffResult:
    """Return what a change does to effective policy, and which findings it brings and does away with.

    Args:
        revisions: `A..B`, `A...B` (from the merge base), or `A` alone, compared with the work tree.
        paths: what to report on.
        repository: a directory in the repository; the configuration is looked for from there, on the side before.
        staged: compare with the index instead of the work tree.
        rendered: directories of rendered manifests, before and after, instead of revisions.

    Raises:
        UsageError: a revision, a path or the configuration cannot be used.
    """
    from policylint.session.diff import open_sides, run_diff
    from policylint.session.revisions import DiffOptions, resolve

    before, after = (None, None) if rendered is None else (os.fspath(rendered[0]), os.fspath(rendered[1]))
    options = RunOptions(
        paths=() if rendered is not None else (revisions, *(os.fspath(path) for path in paths)),
        start=os.fspath(repository),
        config=_path(config),
        no_config=no_config,
        environments=tuple(environments),
        select=tuple(select),
        ignore=tuple(ignore),
    )
    request = resolve(options, DiffOptions(staged, before, after))
    rules = chosen(request.setup)
    return run_diff(open_sides(request), rules)


def _path(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _directory_of(path: str) -> str:
    """Return the directory that a path is, or is in; for a path that only a revision has, the nearest one."""
    directory = path
    while directory and not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    return directory or "."
