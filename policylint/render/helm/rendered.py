"""Charts that somebody rendered before: what `helm template` printed for a release, in a directory of their own."""

# ruff: noqa: PTH113, PTH118 - strings, as everywhere in render/

from __future__ import annotations

import os
from functools import cache

from policylint.documents import read
from policylint.outside import goes_through_link
from policylint.patterns import Pattern
from policylint.render.provenance import Manifest, manifests_of
from policylint.sources.regular_file import read_regular
from policylint.sources.source import SourceError

_NAME = Pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


class RenderedCharts:
    """The releases of a directory: `NAMESPACE/NAME.yaml` by the HelmRelease or Application, or, where they differ from
    one environment to the next, `ENVIRONMENT/NAMESPACE/NAME.yaml`.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.problems: list[str] = []

    def objects(self, namespace: str, name: str, environment: str = "") -> list[Manifest] | None:
        """Return what was rendered for a release; None where there is no file of it, or one that cannot be read."""
        places = ([environment, namespace, f"{name}.yaml"], [namespace, f"{name}.yaml"])
        for steps in places if environment else places[1:]:
            path = os.path.join(self._directory, *steps)
            if all(map(_NAME.fullmatch, steps)) and os.path.isfile(path):
                return self._read(path)
        return None

    @cache  # noqa: B019 - as long as the tree
    def _read(self, path: str) -> list[Manifest] | None:
        if goes_through_link(path):
            self.problems.append(f"{path} goes through a symbolic link")
            return None
        try:
            reading = read(read_regular(path, path), path)
        except SourceError as error:
            self.problems.append(str(error))
            return None
        if reading.problems:
            problem = reading.problems[0]
            self.problems.append(f"{path}:{problem.line}: {problem.message}")
            return None
        return manifests_of(reading.documents)
