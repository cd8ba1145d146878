"""The settings as values, with the place that each of them comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.config.toml_positions import Positions

PROGRAMS = frozenset({"external", "helm"})
"""Ways to find out what is deployed that start programs beside git. A file may name them, and is not heeded."""


class EnvironmentSettings(NamedTuple):
    """One simulated cluster: its name, and the directories (relative to the current one) that are deployed to it."""

    name: str
    roots: tuple[str, ...]


class Ignore(NamedTuple):
    """A suppression of the configuration.

    Args:
        rules: ids or names, as written.
        resource: `Kind[.group]/namespace/name` with wildcards, "" for any.
        path: gitignore pattern below the configuration's directory, "" for any.
        reason: why.
        expires: `2027-01-31`, "" for never.
        number: the index of its entry in `ignore`, from 0.
    """

    rules: tuple[str, ...]
    resource: str
    path: str
    reason: str
    expires: str
    number: int


class Settings(NamedTuple):
    """The settings of a configuration file, defaults where there is none; paths are relative to the current directory.

    Args:
        file: the configuration file, "" for none.
        directory: the directory at which its paths and patterns start.
        paths: what is linted when the command names nothing.
        exclude: gitignore patterns below `directory`.
        select, ignore: rules that run and that do not: ids, names, families.
        suppressions: the entries of `ignore` that name a resource or path.
        severity: by rule, as written.
        assume: objects that exist elsewhere: `Kind[.group] [namespace/]name`, or a mapping with more about it.
        complete: kinds of which every object is in the tree, and what charts make.
        namespaces: labels of namespaces that the tree does not show.
        clusters: the clusters of a hub that the tree does not show: `set`, `labels`, `claims`, `taints` by name.
        kinds: policy kinds as in schemas/policy-kinds/.
        implementations: settings of controllers that no manifest states, by implementation and name.
        releases: the releases in use, by product, as written.
        network: what is known of the cluster's network beside its policies.
        locked: rules that files cannot suppress.
        baseline: its file, "" for none.
        render: how to find out what is deployed, "" for the default.
        snapshot: a dump of the cluster, "" for none.
        require: guardrails, what must hold for all requests and connections.
        places: the positions of values in the file; None without a file.
    """

    file: str = ""
    directory: str = "."
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    suppressions: tuple[Ignore, ...] = ()
    severity: Mapping[str, str] = {}
    fail_on: str = "error"
    min_severity: str | None = None
    semantics: str = "gep-713"
    environments: tuple[EnvironmentSettings, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    clusters: Mapping[str, Mapping[str, Any]] = {}
    assume: tuple[str | Mapping[str, Any], ...] = ()
    complete: tuple[str | Mapping[str, Any], ...] = ()
    kinds: tuple[Mapping[str, Any], ...] = ()
    implementations: Mapping[str, Mapping[str, Any]] = {}
    releases: Mapping[str, str] = {}
    network: Mapping[str, Any] = {}
    locked: tuple[str, ...] = ()
    baseline: str = ""
    render: str = ""
    snapshot: str = ""
    require: tuple[Mapping[str, Any], ...] = ()
    places: Positions | None = None

    def at(self, *pointer: str | int) -> str:
        """Return the place of a value, for messages: `.policylint.yaml:7:3`."""
        if self.places is None:
            return self.file
        line, column = self.places.position(pointer)
        return f"{self.file}:{line}:{column}"
