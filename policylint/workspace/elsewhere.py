"""Pods that no manifest shows though the tree names what makes them: its charts that nothing of it installs, operators.

A chart that a pipeline or a person installs has templates of workloads; what they are called stands in these, or is the
chart's own name. And where the tree has resources of `cert-manager.io`, cert-manager runs somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from policylint.model import mapping
from policylint.patterns import Pattern
from policylint.sources import Source, SourceError
from policylint.sources.skipping import HELM_TEMPLATE

_MOST_READ: Final = 1_000
"""Templates that are looked into."""
_MAKES_PODS: Final = Pattern(r"(?m)^kind:[ \t]*[\"']?(?:Deployment|StatefulSet|DaemonSet|ReplicaSet|CronJob|Job|Pod)\b")
_VALUE: Final = Pattern(r"(?m):[ \t]+[\"']?([A-Za-z0-9][\w.-]*)[\"']?[ \t]*\r?$")
_INSTANCE: Final = "app.kubernetes.io/instance"
"""A label that says how a release is called, which no chart knows."""


class PodsElsewhere:
    """The makers of pods that a tree names and does not show.

    Args:
        source: the tree.
        charts: whether those of charts are among them.
        groups: the API groups of the objects of the tree.
    """

    def __init__(self, source: Source, *, charts: bool, groups: Callable[[], Iterable[str]]) -> None:
        self._source, self._charts, self._groups = source, charts, groups
        self._words: dict[str, set[str]] | None = None
        self._products: frozenset[str] | None = None

    def reason(self, selector: Mapping[str, Any], namespace: str) -> str:
        """Return why pods with the labels of a selector may be in a namespace (in some, where it is "") though no
        manifest shows them; "" where nothing that the tree names would make them."""
        labels = {str(key): str(value) for key, value in mapping(selector.get("matchLabels")).items()}
        wanted = {value for key, value in labels.items() if key != _INSTANCE} or set(labels.values())
        if not wanted:
            return ""
        if self._products is None:
            self._products = frozenset(group.split(".")[-2] for group in self._groups() if group.count("."))
        for product in sorted(self._products):
            is_its_own = not namespace or product in namespace
            if is_its_own and any(value == product or value.startswith(f"{product}-") for value in wanted):
                return f"the tree has resources of {product}, whose own pods are not among these manifests"
        if self._words is None:
            self._words = self._read() if self._charts else {}
        for chart, words in self._words.items():
            if wanted <= words:
                return f"chart {chart} was not rendered, and may make it"
        return ""

    def _read(self) -> dict[str, set[str]]:
        """Return the words that may be labels of the pods of a chart, by its directory."""
        found: dict[str, set[str]] = {}
        for path in self._source.skipped.get(HELM_TEMPLATE, ())[:_MOST_READ]:
            chart, _, _ = path.rpartition("/templates/")
            try:
                template = self._source.file(path).read().decode("utf-8", "replace")
            except SourceError:
                continue
            if chart and _MAKES_PODS.search(template):
                words = found.setdefault(chart, {chart.rpartition("/")[2]})
                words.update(_VALUE.findall(template))
        return found
