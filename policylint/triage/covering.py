"""Which suppressions of a rule cover which findings, without trying each with each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from policylint.model import Finding, ResourceKey
from policylint.model.suppression import Suppression
from policylint.triage.config_entries import is_meant

Place = tuple[str, int]
"""A file and a line of it."""
_WILDCARDS = frozenset("*?[")


class Covering:
    """The suppressions of one rule, by what they cover.

    Args:
        suppressions: those that count, in the order in which they are to be named.
        places: every place at which a finding of the rule can be suppressed.
        below: returns the path of a file, given as shown, as the patterns of the configuration see it.

    Attributes:
        used: the numbers of those that cover a place, or a finding that `first` was asked about.
    """

    def __init__(
        self, suppressions: Sequence[Suppression], places: Iterable[Place], below: Callable[[str], str]
    ) -> None:
        self.used: set[int] = set()
        self._below = below
        self._by_place: dict[Place, int] = {}
        self._by_key: dict[ResourceKey, list[int]] = defaultdict(list)
        self._by_name: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        self._elsewhere: dict[tuple[str, str], None] = {}
        self._entries: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._matching: dict[tuple[str, str], bool] = {}
        comments: dict[str, list[int]] = defaultdict(list)
        for number, suppression in enumerate(suppressions):
            if suppression.form == "comment":
                comments[suppression.file].append(number)
            elif suppression.form == "annotation":
                for key in suppression.keys:
                    self._by_key[key].append(number)
            else:
                entry = (suppression.resource, suppression.path)
                self._entries[entry].append(number)
                name = suppression.resource.rpartition("/")[2]
                by_name = self._by_name[name] if name and _WILDCARDS.isdisjoint(name) else self._elsewhere
                by_name[entry] = None
        lines: dict[str, set[int]] = defaultdict(set)
        for file, line in places if comments else ():
            lines[file].add(line)
        for file, numbers in comments.items():
            self._paint(file, sorted(lines[file]), [(number, suppressions[number]) for number in numbers])

    def first(self, finding: Finding, places: set[Place]) -> int | None:
        """Return the number of the first suppression that covers a finding with these places, None without one."""
        covering = [self._by_place[place] for place in places if place in self._by_place]
        for key in finding.resources:
            covering += self._by_key.get(key, ())
            self.used.update(self._by_key.get(key, ()))
        files = {file for file, _ in places}
        for entry in self._entries_for(finding):
            resource, path = entry
            if (not resource or is_meant(resource, finding.resources)) and (
                not path or any(self._matches(path, file) for file in files)
            ):
                covering.append(self._entries[entry][0])
                self.used.update(self._entries[entry])
        return min(covering, default=None)

    def _entries_for(self, finding: Finding) -> Iterator[tuple[str, str]]:
        """Yield the resource and path of the configuration's entries that may mean a finding."""
        yield from self._elsewhere
        for name in {key.name for key in finding.resources}:
            yield from self._by_name.get(name, ())

    def _matches(self, pattern: str, file: str) -> bool:
        known = self._matching.get((pattern, file))
        if known is None:
            from policylint.config.globs import matcher

            known = self._matching[pattern, file] = matcher([pattern])(self._below(file))
        return known

    def _paint(self, file: str, lines: Sequence[int], comments: Iterable[tuple[int, Suppression]]) -> None:
        """Give every line to the first comment that covers it; a line that was given away is stepped over."""
        following = list(range(len(lines) + 1))
        for number, comment in comments:
            start, stop = bisect_left(lines, comment.first), bisect_right(lines, comment.last)
            if start < stop:
                self.used.add(number)
            position = _free(following, start)
            while position < stop:
                self._by_place[file, lines[position]] = number
                following[position] = position + 1
                position = _free(following, position)


def _free(following: list[int], position: int) -> int:
    """Return the first position from here on that was not given away, shortening the way for the next."""
    while following[position] != position:
        following[position] = following[following[position]]
        position = following[position]
    return position
