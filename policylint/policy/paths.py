"""The contexts of a group: paths of nodes, which are spelled out only when somebody asks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from policylint.model import Node

Path = tuple[Node, ...]
"""From the least to the most specific node; there is one at least."""


class Paths(ABC):
    """Some contexts, in their order."""

    __slots__ = ()

    @abstractmethod
    def __call__(self) -> Iterator[Path]:
        """Yield all of them: there can be very many."""

    @abstractmethod
    def ending(self, end: Node, nodes: set[Node]) -> Iterator[Path]:
        """Yield those that end with a node and lie within some nodes: what else there is makes no work."""

    @abstractmethod
    def ends(self) -> Iterable[Node]:
        """Return the nodes with which some may end; with no other ones any does."""

    @abstractmethod
    def common(self) -> Path:
        """Return nodes that all of them pass, perhaps not all such nodes: who misses one is on none of them."""


class ListedPaths(Paths):
    """Paths that are all known."""

    __slots__ = ("_by_end", "_paths")

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths: Sequence[Path] = tuple(paths)
        self._by_end: dict[Node, list[Path]] | None = None

    def __call__(self) -> Iterator[Path]:
        return iter(self._paths)

    def ending(self, end: Node, nodes: set[Node]) -> Iterator[Path]:
        return filter(nodes.issuperset, self._at_ends.get(end, ()))

    def ends(self) -> Iterable[Node]:
        return self._at_ends

    def common(self) -> Path:
        return (
            tuple(node for node in self._paths[0] if all(node in path for path in self._paths)) if self._paths else ()
        )

    @property
    def _at_ends(self) -> dict[Node, list[Path]]:
        if self._by_end is None:
            self._by_end = {}
            for path in self._paths:
                self._by_end.setdefault(path[-1], []).append(path)
        return self._by_end


class ChosenPaths(Paths):
    """Those of other paths that have a property."""

    __slots__ = ("_chosen", "_paths")

    def __init__(self, paths: Paths, chosen: Callable[[Path], bool]) -> None:
        self._paths = paths
        self._chosen = chosen

    def __call__(self) -> Iterator[Path]:
        return filter(self._chosen, self._paths())

    def ending(self, end: Node, nodes: set[Node]) -> Iterator[Path]:
        return filter(self._chosen, self._paths.ending(end, nodes))

    def ends(self) -> Iterable[Node]:
        return self._paths.ends()

    def common(self) -> Path:
        return self._paths.common()
