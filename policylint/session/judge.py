"""The configuration as a revision has it: that of the side before judges a diff, which says how the change alters it.

A change cannot choose its judge: what it excludes, ignores, assumes or states about the world counts once it is merged.
So the files that a configuration names (the snapshot, the baseline) are those of its revision, too
(docs/design/decisions/0015-the-base-judges.md).
"""

# Paths stay strings, as everywhere on the way to the sources.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import Literal

from policylint.config import ConfigError, Settings, discover_among, load
from policylint.config.discovery import candidates
from policylint.config.show import values
from policylint.model.words import series
from policylint.namedtuple import NamedTuple
from policylint.session.settings import RunOptions, Setup
from policylint.sources import SourceError
from policylint.sources.git import LINK, Repository, RevisionError
from policylint.sources.revision import Revision, at_revision, staged
from policylint.sources.source import NOT_FOUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ConfigurationChange(NamedTuple):
    """What a change does to the configuration, by which it is not judged.

    Args:
        change: what happens to it; `moved`: another file counts.
        file, line: where it is written after the change; of one that is gone, where it was.
        keys: the keys whose value differs, in the order of schemas/config.json.
        was: the file before, "" for none.
        base: how to call the revision before.
    """

    change: Literal["added", "removed", "changed", "moved"]
    file: str
    line: int
    keys: tuple[str, ...]
    was: str
    base: str

    @property
    def message(self) -> str:
        """`.policylint.yaml` changes `exclude` and `fail-on`; this diff is judged by the configuration of `main`."""
        keys = series(f"`{key}`" for key in self.keys)
        said = {
            "added": "is new" + (f" and sets {keys}" if keys else ""),
            "removed": "is gone" + (f", and with it {keys}" if keys else ""),
            "changed": f"changes {keys}",
            "moved": f"takes the place of `{self.was}`" + (f" and changes {keys}" if keys else ""),
        }[self.change]
        judge = f"the configuration of {self.base}" if self.was else f"the defaults, since {self.base} has none"
        return f"`{self.file}` {said}; this diff is judged by {judge}"


def judge_of(
    repository: Repository, start: str, end: str | None, options: RunOptions, *, index: bool, base: str
) -> tuple[Setup, ConfigurationChange | None]:
    """Return the setup with the configuration of the side before, and what the other side does to that.

    Args:
        start: the revision before.
        end: the one after; None for the index or the work tree.
        index: whether it is the index.
        base: how to call the revision before.

    Raises:
        UsageError: no such revision, or a configuration that cannot be used, on either side.
        AbsentError: a partial clone lacks it.
    """
    tree = _configurations(repository, start, options)
    before = _settings(tree, options, base)
    if end is not None:
        after = _settings(_configurations(repository, end, options), options, end)
    elif index:
        after = _settings(staged(repository), options, "the index")
    else:
        after = Setup.of(options).settings

    def is_brought(path: str) -> bool:
        later = at_revision(repository, end) if end is not None else staged(repository)
        return later.holds(path)

    files = {}
    if before.snapshot and not options.snapshot:
        files = _named_files({"snapshot": before.snapshot}, before, at_revision(repository, start), base, is_brought)
    setup = Setup(options, before, start, files)
    return setup, _change(before, after, base)


def setup_of_named(options: RunOptions, name: str) -> Setup | None:
    """Return the setup where the caller names a file of a revision (`main:.policylint.yaml`), None where it is none.

    Raises:
        UsageError: the revision has no such file, or it cannot be used.
        AbsentError: a partial clone lacks it.
    """
    revision, _, path = name.partition(":")
    if not path or os.path.lexists(name):
        return None
    try:
        repository = Repository(options.start)
    except RevisionError:
        return None
    if not repository.knows(revision):
        return None
    tree = at_revision(repository, revision)
    try:
        data = tree.at(tree.below(path), path).read()
    except SourceError as error:
        raise ConfigError(f"cannot read configuration {name!r}: {error.message}") from None
    settings = _loaded(path, data, revision)

    def is_brought(named: str) -> bool:
        return repository.top is not None and staged(repository).holds(named)

    named = {"snapshot": "" if options.snapshot else settings.snapshot, "baseline": settings.baseline}
    return Setup(options, settings, revision, _named_files(named, settings, tree, revision, is_brought))


def _configurations(repository: Repository, revision: str, options: RunOptions) -> Revision:
    """Return a revision with only the files that can configure this run, or the whole of it where one of them, or a
    directory on the way, is a symbolic link."""
    tree = repository.tree(revision)
    paths = candidates(_below(Revision(repository, ()), options.start))
    above = [path.rpartition("/")[0] for path in paths]
    entries = repository.entries_at(tree, dict.fromkeys((*paths, *filter(None, above))))
    if any(entry.mode == LINK for entry in entries):
        return at_revision(repository, revision)
    return Revision(repository, entries)


def _settings(tree: Revision, options: RunOptions, name: str) -> Settings:
    """Return the settings that hold in a tree where a run starts; `name` says in complaints whose they are."""

    def content(path: str) -> bytes | None:
        try:
            return tree.at(path, shown(path)).read()
        except SourceError as error:
            if error.code == NOT_FOUND:
                return None
            raise ConfigError(f"cannot read configuration {shown(path)!r} of {name}: {error.message}") from None

    def shown(path: str) -> str:
        return os.path.relpath(os.path.join(str(tree.root), path)).replace(os.sep, "/")

    found = discover_among(_below(tree, options.start), content)
    return Settings() if found is None else _loaded(shown(found[0]), found[1], name)


def _loaded(file: str, data: bytes, name: str) -> Settings:
    try:
        return load(file, data)
    except ConfigError as error:
        raise ConfigError(f"{error} (the configuration of {name})") from None


def _below(tree: Revision, directory: str) -> str:
    """Return where a directory is below the top of a tree; "" for one outside."""
    place = tree.below(directory)
    return "" if place.startswith("..") else place


def _named_files(
    named: Mapping[str, str], settings: Settings, tree: Revision, name: str, is_brought: Callable[[str], bool]
) -> dict[str, bytes]:
    """Return the contents of the files that a configuration names, as its revision has them. What git does not know, a
    dump that was made for this run say, is read where it lies.

    Args:
        named: the paths, by key; "" for none.
        is_brought: whether the change brings a file that the revision does not have.
    """
    files = {}
    for key, path in named.items():
        if not path:
            continue
        try:
            files[path] = tree.at(tree.below(path), path).read()
        except SourceError as error:
            if error.code != NOT_FOUND or is_brought(path):
                why = "what judges a change cannot come with it" if error.code == NOT_FOUND else error.message
                raise ConfigError(f"{settings.at(key)}: {path!r} is not in {name}: {why}") from None
    return files


def _change(before: Settings, after: Settings, base: str) -> ConfigurationChange | None:
    """Return the difference of two configurations; None where they say the same in the same place."""
    was = dict(values(before))
    keys = tuple(key for key, value in values(after) if value != was[key])
    if not keys and before.file == after.file:
        return None
    here = after if after.file else before
    change: Literal["added", "removed", "changed", "moved"] = "changed"
    if not before.file or not after.file:
        change = "removed" if before.file else "added"
    elif before.file != after.file:
        change = "moved"
    line = 1
    if here.places is not None and keys:
        line = here.places.position((keys[0],), key=True).line
    return ConfigurationChange(change, here.file, line, keys, before.file, base)
