"""Pods that no manifest shows though the tree speaks of what makes them.

A chart that a pipeline or a person installs has templates of workloads; what they are called stands in these, or is the
chart's own name. Where the tree has resources of `cert-manager.io`, cert-manager runs somewhere. And a repository of
policies has few of the workloads that it speaks of. Others are of a kind that nothing reads (OpenKruise's CloneSet, one
of an old API version), or in a namespace that a script fills in.
"""

from __future__ import annotations

from codecs import BOM_UTF8 as BOM
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from policylint.catalog.content import selectors_of
from policylint.documents.problem import Unread
from policylint.model import World, is_symbolic, mapping
from policylint.patterns import Pattern
from policylint.sources import Source, SourceError
from policylint.sources.skipping import HELM_TEMPLATE

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint

_MOST_READ: Final = 1_000
"""Templates that are looked into."""
_MOST_UNREAD: Final = 5_000
"""Documents of kinds that nothing reads which are looked into."""
_MAKES_PODS: Final = Pattern(r"(?m)^kind:[ \t]*[\"']?(?:Deployment|StatefulSet|DaemonSet|ReplicaSet|CronJob|Job|Pod)\b")
_OF_PODS: Final = Pattern(rb"(?m)^[ \t]*(?:- )?containers:|[{,][ \t]*containers:")
"""What the description of pods has, whatever the kind that it is a part of."""
_PAIR: Final = Pattern(
    r"""\b([A-Za-z0-9][\w./-]*)["']?:[ \t]*"""
    r"""(?:"([A-Za-z0-9][^"\n]*)"|'([A-Za-z0-9][^'\n]*)'|([A-Za-z0-9][\w.-]*))"""
)
_VALUE: Final = Pattern(r"(?m):[ \t]+[\"']?([A-Za-z0-9][\w.-]*)[\"']?[ \t]*\r?$")
_TO_FILL_IN: Final = Pattern(r"[A-Z]{2,}(?:[_-][A-Z]{2,})+")
_INSTANCE: Final = "app.kubernetes.io/instance"
"""A label that says how a release is called, which no chart knows."""


class PodsElsewhere:
    """The makers of pods that a tree speaks of and does not show.

    Args:
        source: the tree.
        charts: whether those of charts are among them.
        groups: the API groups of the objects of the tree.
        started: script and labels of the pods that scripts start by hand.
        unread: the documents of kinds that nothing reads.
    """

    def __init__(
        self,
        source: Source,
        *,
        charts: bool,
        groups: Callable[[], Iterable[str]],
        started: Callable[[], Iterable[tuple[str, Mapping[str, str]]]],
        unread: Iterable[Unread],
    ) -> None:
        self._source, self._charts, self._groups, self._started = source, charts, groups, started
        self._unread = unread
        self._of_others: list[tuple[Unread, frozenset[tuple[str, str]]]] | None = None
        self._words: dict[str, set[str]] | None = None
        self._products: frozenset[str] | None = None

    def of(self, world: World) -> Callable[[Mapping[str, Any], str], str]:
        """Return what says why pods with the labels of a selector may be in a namespace (in some, where it is "") of an
        environment though no manifest shows them; "" where nothing that the tree speaks of would make them."""
        scattered = cache(lambda: _scattered(world))
        to_be_placed = cache(lambda: _to_be_placed(world))

        def reason(selector: Mapping[str, Any], namespace: str) -> str:
            labels = {str(key): str(value) for key, value in mapping(selector.get("matchLabels")).items()}
            wanted = {value for key, value in labels.items() if key != _INSTANCE} or set(labels.values())
            if not wanted:
                return ""
            if namespace in scattered():
                return f"most pods that policies of namespace {namespace} mean are not among these manifests"
            if script := next((script for script, own in self._started() if labels.items() <= own.items()), ""):
                return f"{script} starts it"
            if to_be_placed():
                from policylint.model.selectors import matches
            if end := next((end for end in to_be_placed() if matches(selector, end.labels)), None):
                return f"{end.key} is for a namespace that is to be filled in"
            return self._of_another_kind(labels) or self._made(wanted, {*wanted, *labels}, namespace)

        return reason

    def _of_another_kind(self, labels: Mapping[str, str]) -> str:
        """Return which object of a kind that nothing reads describes pods and has some labels in it."""
        if self._of_others is None:
            self._of_others = [*self._describing_pods()]
        for document, pairs in self._of_others:
            if labels.items() <= pairs:
                return f"{document.kind} in {document.file} may make it"
        return ""

    def _describing_pods(self) -> Iterator[tuple[Unread, frozenset[tuple[str, str]]]]:
        """Yield such objects with all their pairs of a key and a plain value."""
        read: dict[str, bytes] = {}
        for document in islice(self._unread, _MOST_UNREAD):
            if document.kind == "CustomResourceDefinition":
                continue
            if document.file not in read:
                try:
                    read[document.file] = self._source.file(document.file).read().removeprefix(BOM)
                except SourceError:
                    read[document.file] = b""
            content = read[document.file][document.start : document.end]
            if b"containers:" in content and _OF_PODS.search(content):  # the former takes a hundredth of the latter
                found = _PAIR.findall(content.decode("utf-8", "replace"))
                yield document, frozenset((key, double or single or plain) for key, double, single, plain in found)

    def _made(self, wanted: set[str], words: set[str], namespace: str) -> str:
        """Return what in the tree may make pods with some values of labels; `words` are these and their keys."""
        if word := next((value for value in sorted(wanted) if _TO_FILL_IN.fullmatch(value)), ""):
            return f"{word} is to be filled in"
        if self._products is None:
            self._products = frozenset(group.split(".")[-2] for group in self._groups() if group.count("."))
        for product in sorted(self._products):
            is_its_own = not namespace or product in namespace
            if is_its_own and any(word == product or word.startswith(f"{product}-") for word in words):
                return f"the tree has resources of {product}, whose own pods are not among these manifests"
        if self._words is None:
            self._words = self._read() if self._charts else {}
        for chart, known in self._words.items():
            if wanted <= known:
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


def _to_be_placed(world: World) -> list[Endpoint]:
    """Return the workloads of which the namespace is to be filled in."""
    from policylint.network.endpoints import workloads

    return [end for end in workloads(world) if is_symbolic(end.namespace)]


def _scattered(world: World) -> frozenset[str]:
    """Return the namespaces of which the tree shows some workloads, but not those that most of its policies mean. Where
    one is called as a selector says, the labels are the mistake."""
    from policylint.network.endpoints import workloads

    meant: dict[str, set[frozenset[tuple[str, str]]]] = defaultdict(set)
    for group, kind in world.kinds():
        for field in selectors_of(group, kind):
            for policy in world.of_kind(group, kind):
                labels = mapping(mapping(policy.spec.get(field)).get("matchLabels"))
                if labels and policy.key.namespace:
                    selector = frozenset((str(key), str(value)) for key, value in labels.items())
                    meant[policy.key.namespace].add(selector)
    found = set()
    ends = workloads(world) if any(len(selectors) > 1 for selectors in meant.values()) else []
    for namespace, selectors in meant.items():
        around = [end for end in ends if end.namespace == namespace]
        lost = [selector for selector in selectors if not any(selector <= end.labels.items() for end in around)]
        names = " ".join(end.key.name for end in around)
        is_near = any(value in names for selector in lost for _, value in selector)
        if len(lost) > 1 and 2 * len(lost) > len(selectors) and not is_near:
            found.add(namespace)
    return frozenset(found)
