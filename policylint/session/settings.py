"""What a run goes by: the options of its caller and the configuration that holds, as one frozen value.

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
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from policylint.workspace.assumptions import Assumptions

    Progress = Callable[[str], AbstractContextManager[None]]


def silent(_doing: str) -> AbstractContextManager[None]:
    """Show no progress."""
    return nullcontext()


class RunOptions(NamedTuple):
    """What the caller says of one run, by options of a command or by arguments in Python.

    Args:
        paths: what is read, as seen from here; none leaves it to the configuration, then to the git root.
        start: the directory from which the configuration and the repository are looked for.
        whole: whether the git root is read where nothing names paths, not `start` alone.
        config: the configuration file; None for the one that is found.
        no_config: heed no configuration file.
        environments: only these, by name; none means all.
        render: how to find out what is deployed (`workspace.RENDERERS`); None leaves it to the configuration.
        semantics: the edition of the pattern; None leaves it to the configuration.
        snapshot: a dump of the cluster; None leaves it to the configuration.
        strict: read every document.
        select, ignore: ids, names and families of rules that run, and that do not.
        show_orphans: also run the rules that otherwise run only by name.
        progress: says what is being done until its block ends.
    """

    paths: tuple[str, ...] = ()
    start: str = "."
    whole: bool = True
    config: str | None = None
    no_config: bool = False
    environments: tuple[str, ...] = ()
    render: str | None = None
    semantics: str | None = None
    snapshot: str | None = None
    strict: bool = False
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    show_orphans: bool = False
    progress: Progress = silent


class Setup(NamedTuple):
    """The options of a run, and the settings that hold for it."""

    options: RunOptions
    settings: Settings

    @classmethod
    def of(cls, options: RunOptions) -> Setup:
        """Read the configuration that holds where the run starts.

        Raises:
            UsageError: the file cannot be read or is not as schemas/config.json wants it.
        """
        if options.no_config:
            if options.config:
                raise UsageError("--config and --no-config exclude each other")
            return cls(options, Settings())
        found = options.config or os.environ.get(VARIABLE) or discover(options.start)
        if found is None:
            return cls(options, Settings())
        from policylint.config import load

        return cls(options, load(found))

    @classmethod
    def among(
        cls, options: RunOptions, directory: str, content: Callable[[str], bytes | None], shown: Callable[[str], str]
    ) -> Setup:
        """Read the configuration that holds in a tree that is not on disk.

        What the caller names (--config, POLICYLINT_CONFIG, --no-config) is their word against that of any tree.

        Args:
            directory: where the run starts, below the top of the tree.
            content: the bytes of a file of the tree by its path below the top; None where there is none.
            shown: a path below the top → as seen from here.

        Raises:
            UsageError: as `of`.
        """
        if options.config or options.no_config or os.environ.get(VARIABLE):
            return cls.of(options)
        from policylint.config import discover_among, load

        found = discover_among(directory, content)
        return cls(options, Settings() if found is None else load(shown(found[0]), found[1]))

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
        from policylint.sources.listing import git_root

        return git_root(self.options.start)

    @property
    def top(self) -> str:
        """The git root as seen from here (`.`, `../..`), or where the run starts if there is none."""
        root = self.root
        return os.path.relpath(root, os.path.realpath(".")) if root else self.options.start

    @property
    def paths(self) -> list[str]:
        """What is read: the paths of the options, else of the configuration, else the git root."""
        if self.options.paths or self.settings.paths:
            return [*self.options.paths] or [*self.settings.paths]
        return [self.top if self.options.whole else self.options.start]

    @property
    def is_whole(self) -> bool:
        """Whether the run looks at everything there is: no single environments, no paths below the git root."""
        if self.options.environments:
            return False
        if not self.options.paths or self.root is None:
            return True
        root = os.path.realpath(self.top)
        return any(os.path.realpath(path) == root for path in self.options.paths)

    @property
    def assumptions(self) -> Assumptions | None:
        """What the configuration says of the world; None where it says nothing."""
        settings = self.settings
        if not (
            settings.exclude or settings.assume or settings.namespaces or settings.kinds or settings.implementations
        ):
            return None
        from policylint.workspace.assumptions import Assumptions

        return Assumptions(
            self._excluded(),
            settings.assume,
            settings.namespaces,
            settings.kinds,
            settings.places,
            settings.implementations,
        )

    @property
    def renderer(self) -> str | None:
        """How to find out what is deployed; None where nobody says.

        Which programs run is for the caller to say. The configuration file comes with the tree that is read, so
        programs that it asks for are not started (`notice` says so).
        """
        asked = self.settings.render
        return self.options.render or (None if asked in PROGRAMS else asked)

    @property
    def notice(self) -> str:
        """What to tell the user of a setting that is not heeded; "" where all of them are."""
        settings = self.settings
        if self.options.render or settings.render not in PROGRAMS:
            return ""
        return (
            f"{settings.at('render')}: a configuration file may not start programs: `{settings.render}` is not heeded "
            f"(--render {settings.render} or POLICYLINT_RENDER={settings.render} asks for it)"
        )

    @property
    def exclude(self) -> Callable[[str], bool] | Sequence[str]:
        """What sources leave out, as they take it."""
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
        if settings.snapshot and not os.path.isfile(settings.snapshot):
            raise ConfigError(f"{settings.at('snapshot')}: no such file: {settings.snapshot!r}")
        return settings.snapshot or None

    @property
    def environments(self) -> dict[str, list[str]] | None:
        """The environments that the configuration names, with their roots below the git root; None for those that the
        tree itself tells."""
        if not self.settings.environments:
            return None
        top = os.path.realpath(self.root or self.options.start)
        return {
            environment.name: [
                os.path.relpath(os.path.realpath(place), top).replace(os.sep, "/") for place in environment.roots
            ]
            for environment in self.settings.environments
        }


class below_directory:  # noqa: N801 - a function with a memory
    """`path as seen from here` → the path below the configuration's directory, as its patterns see it."""

    def __init__(self, directory: str) -> None:
        self._top = os.path.abspath(directory)
        self._here = os.path.abspath(".")

    def __call__(self, path: str) -> str:
        place = os.path.normpath(os.path.join(self._here, path))
        return os.path.relpath(place, self._top).replace(os.sep, "/")
