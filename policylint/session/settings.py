"""The setup of a run: the options of its caller and the configuration that holds, as one frozen value.

RunOptions win over the file, the file over the defaults.
"""

# ruff: noqa: PTH100, PTH113, PTH118 - strings as seen from here; pathlib is not imported for most runs

from __future__ import annotations

import os
from contextlib import nullcontext

from policylint.config import PROGRAMS, ConfigError, Settings, discover
from policylint.config.discovery import VARIABLE
from policylint.errors import UsageError
from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from policylint.workspace.assumptions import Assumptions

    Progress = Callable[[str], AbstractContextManager[None]]


def silent(_doing: str) -> AbstractContextManager[None]:
    """Show no progress."""
    return nullcontext()


class RunOptions(NamedTuple):
    """The options of one run, from a command line or from arguments in Python.

    Args:
        paths: what is read, as seen from here; none leaves it to the configuration, then to the git root.
        start: the directory from which the configuration and the repository are looked for.
        whole: whether the git root is read where nothing names paths, not `start` alone.
        isolated: whether nothing is read but what is named, and what that refers to.
        config: the configuration file, or one of a revision (`main:.policylint.yaml`); None for the one that is found.
        no_config: heed no configuration file.
        environments: only these, by name; none means all.
        render: how to find out what is deployed (`workspace.RENDERERS`); None leaves it to the configuration.
        semantics: the edition of the pattern; None leaves it to the configuration.
        snapshot: a dump of the cluster; None leaves it to the configuration.
        rendered: directories of charts that were rendered before; of two the second is for the side after of a diff.
        strict: read every document.
        select, ignore: ids, names and families of rules that run, and that do not.
        show_orphans: also run the rules that otherwise run only by name.
        progress: says what is being done until its block ends.
    """

    paths: tuple[str, ...] = ()
    start: str = "."
    whole: bool = True
    isolated: bool = False
    config: str | None = None
    no_config: bool = False
    environments: tuple[str, ...] = ()
    render: str | None = None
    semantics: str | None = None
    snapshot: str | None = None
    rendered: tuple[str, ...] = ()
    strict: bool = False
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    show_orphans: bool = False
    progress: Progress = silent


class Setup(NamedTuple):
    """The options of a run, and the settings that hold for it.

    Args:
        revision: the one whose configuration it is; "" where that is on disk.
        files: the contents of the files that the configuration names, as the revision has them.
    """

    options: RunOptions
    settings: Settings
    revision: str = ""
    files: Mapping[str, bytes] = {}

    @classmethod
    def of(cls, options: RunOptions) -> Setup:
        """Read the configuration that holds where the run starts.

        Raises:
            UsageError: the file cannot be read or is not as schemas/config.json wants it.
        """
        if options.no_config:
            if options.config:
                raise UsageError("--config and --no-config cannot be used together")
            return cls(options, Settings())
        file = options.config or os.environ.get(VARIABLE)
        if file and ":" in file:
            from policylint.session.judge import setup_of_named

            if (named := setup_of_named(options, file)) is not None:
                return named
        file = file or discover(options.start)
        if file is None:
            return cls(options, Settings())
        from policylint.config import load

        return cls(options, load(file))

    @staticmethod
    def is_named(options: RunOptions) -> bool:
        """Tell whether the caller says which configuration holds, whatever lies in the tree."""
        return bool(options.config or options.no_config or os.environ.get(VARIABLE))

    @property
    def origin(self) -> str:
        """Why it is this file: `--config`, `POLICYLINT_CONFIG`, or "" for the one that was found or none."""
        if not self.settings.file:
            return ""
        if self.options.config:
            return "--config"
        return VARIABLE if os.environ.get(VARIABLE) else ""

    @property
    def root(self) -> str | None:
        """The git root around where the run starts; None outside of a repository."""
        from policylint.outside import git_root

        return git_root(self.options.start)

    @property
    def top(self) -> str:
        """The git root as seen from here (`.`, `../..`), or where the run starts if there is none."""
        root = self.root
        return os.path.relpath(root, os.path.realpath(".")) if root else self.options.start

    @property
    def paths(self) -> list[str]:
        """The paths that are asked for: those of the options, else of the configuration, else the git root."""
        if self.options.paths or self.settings.paths:
            return [*self.options.paths] or [*self.settings.paths]
        return [self.top if self.options.whole else self.options.start]

    @property
    def asked(self) -> list[str] | None:
        """The same, None where it is the git root."""
        options, settings = self.options, self.settings
        return [*options.paths] or [*settings.paths] or (None if options.whole else [options.start])

    @property
    def alone(self) -> Setup:
        """The same setup, in which nothing is read but what is named."""
        return self._replace(options=self.options._replace(isolated=True))

    @property
    def is_whole(self) -> bool:
        """Whether the run reads everything there is: no single environments, no paths below the git root."""
        if self.options.environments:
            return False
        if not self.options.paths or self.root is None:
            return True
        root = os.path.realpath(self.top)
        return any(os.path.realpath(path) == root for path in self.options.paths)

    @property
    def assumptions(self) -> Assumptions:
        """The assumptions that the configuration states."""
        from policylint.workspace.assumptions import Assumptions

        settings = self.settings
        return Assumptions(
            self._excluded(),
            settings.assume,
            settings.namespaces,
            settings.kinds,
            settings.places,
            settings.implementations,
            settings.clusters,
            settings.network,
            settings.releases,
            settings.complete,
        )

    @property
    def renderer(self) -> str | None:
        """The way to find out what is deployed; None where neither options nor configuration say.

        Only the caller can have programs started: the configuration file comes with the tree that is read, so those
        that it asks for are not (`notice` says so).
        """
        configured = self.settings.render
        return self.options.render or (None if configured in PROGRAMS else configured)

    @property
    def notice(self) -> str:
        """A warning about a setting that is not heeded; "" where all of them are."""
        settings = self.settings
        if self.options.render or settings.render not in PROGRAMS:
            return ""
        return (
            f"{settings.at('render')}: a configuration file may not start programs: `{settings.render}` is not heeded "
            f"(--render {settings.render} or POLICYLINT_RENDER={settings.render} asks for it)"
        )

    @property
    def exclude(self) -> Callable[[str], bool] | Sequence[str]:
        """The files that sources leave out: a predicate, or no patterns."""
        return self._excluded() or ()

    def _excluded(self) -> Callable[[str], bool] | None:
        if not self.settings.exclude:
            return None
        from policylint.config.globs import matcher

        matches = matcher(self.settings.exclude)
        below = below_directory(self.settings.directory)
        return lambda path: matches(below(path))

    @property
    def snapshot(self) -> str | None:
        """The dump of the cluster that the options or the file name.

        Raises:
            ConfigError: the one of the file is not there.
        """
        settings = self.settings
        if self.options.snapshot:
            return self.options.snapshot
        if settings.snapshot and settings.snapshot not in self.files and not os.path.isfile(settings.snapshot):
            raise ConfigError(f"{settings.at('snapshot')}: no such file: {settings.snapshot!r}")
        return settings.snapshot or None

    @property
    def environments(self) -> dict[str, list[str]] | None:
        """The environments that the configuration names, with their roots below the git root; None for those that the
        tree itself tells."""
        if not self.settings.environments:
            return None
        top, here = os.path.realpath(self.root or self.options.start), os.path.realpath(".")

        def below(root: str) -> str:
            place = os.path.join(here, root)
            # What is a link in the work tree says nothing of a revision.
            return os.path.relpath(os.path.normpath(place) if self.revision else os.path.realpath(place), top)

        return {
            environment.name: [below(root).replace(os.sep, "/") for root in environment.roots]
            for environment in self.settings.environments
        }


def below_directory(directory: str) -> Callable[[str], str]:
    """Return a function from a path as seen from here to the path below the configuration's directory, as its patterns
    see it."""
    top, here = os.path.abspath(directory), os.path.abspath(".")

    def below(path: str) -> str:
        return os.path.relpath(os.path.normpath(os.path.join(here, path)), top).replace(os.sep, "/")

    return below
