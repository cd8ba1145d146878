"""The objects that a target may mean, found by kind and name: many patches on many objects are no product of both."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from policylint.budget import Budget
from policylint.patterns import Pattern
from policylint.render.kustomize.selectors import selects
from policylint.render.provenance import Manifest

_PLAIN: Final = Pattern(r"[\w-]+")
"""A regular expression that matches nothing but itself."""
_STEPS: Final = 5
"""What it costs to ask whether a target selects an object."""


class Targets:
    """The objects of one kustomization in their order, by their kinds and by all names they have had.

    Whoever changes one that was found says so (`changed`), so that it is found by its new name, too.
    """

    def __init__(self, manifests: Iterable[Manifest], budget: Budget) -> None:
        self._manifests: list[Manifest | None] = list(manifests)
        self._budget = budget
        self._by_kind: dict[str, list[int]] = defaultdict(list)
        self._by_name: dict[str, list[int]] = defaultdict(list)
        budget.spend(len(self._manifests))
        for number, manifest in enumerate(self._manifests):
            if manifest is not None:
                self._add(number, manifest)

    def manifests(self) -> list[Manifest]:
        """Return the objects that have not been removed."""
        return [manifest for manifest in self._manifests if manifest is not None]

    def selected(self, target: dict[str, Any], *, together: bool = False) -> list[tuple[int, Manifest]]:
        """Return the objects that a target selects, each with its number.

        Args:
            together: as `selects`.
        """
        kind, name = target.get("kind"), target.get("name")
        if isinstance(name, str) and _PLAIN.fullmatch(name):
            candidates = self._named(name)
        elif isinstance(kind, str) and _PLAIN.fullmatch(kind):
            candidates = self._of(self._by_kind.get(kind, ()))
        else:
            candidates = self._of(range(len(self._manifests)))
        return [(number, manifest) for number, manifest in candidates if selects(target, manifest, together=together)]

    def named(self, name: object) -> list[tuple[int, Manifest]]:
        """Return the objects that have, or have had, a name."""
        return self._named(name) if isinstance(name, str) else []

    def changed(self, number: int, manifest: Manifest) -> None:
        """Say that an object may have got another kind or name."""
        self._add(number, manifest)

    def remove(self, number: int) -> None:
        """Take an object out."""
        self._manifests[number] = None

    def _named(self, name: str) -> list[tuple[int, Manifest]]:
        return self._of(self._by_name.get(name, ()))

    def _of(self, numbers: Iterable[int]) -> list[tuple[int, Manifest]]:
        found = [(number, manifest) for number in numbers if (manifest := self._manifests[number]) is not None]
        self._budget.spend(1 + _STEPS * len(found))
        return found

    def _add(self, number: int, manifest: Manifest) -> None:
        for index, text in ((self._by_kind, manifest.kind), *((self._by_name, name) for name in _names(manifest))):
            numbers = index[text]
            place = bisect_left(numbers, number)
            if place == len(numbers) or numbers[place] != number:
                numbers.insert(place, number)


def _names(manifest: Manifest) -> Iterable[str]:
    return {manifest.name, *(name for _, name in manifest.names)}
