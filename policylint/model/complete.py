"""What the configuration says is all here (`complete`): kinds that nothing unseen makes, and what charts make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policylint.model.resource import text, texts

if TYPE_CHECKING:
    from policylint.model.unseen import Kind

ALL, POLICIES = "all", "policies"


class Complete:
    """The kinds of which every object is in the input, so that one that is not there is missing.

    Args:
        entries: `all`, `policies`, `Kind[.group]`, or what a chart makes: `{chart: plex, makes: [HTTPRoute]}`.
        is_policy: whether a kind (group, kind) is one of policies.
    """

    __slots__ = ("_charts", "_is_policy", "_kinds", "everything")

    def __init__(
        self,
        entries: Iterable[str | Mapping[str, Any]] = (),
        is_policy: Callable[[str, str], bool] = lambda group, kind: False,  # noqa: ARG005
    ) -> None:
        written = [entry for entry in entries if isinstance(entry, str)]
        self.everything = ALL in written
        self._is_policy = is_policy if POLICIES in written else None
        self._kinds = [_kind(entry) for entry in written if entry not in (ALL, POLICIES)]
        charts = (entry for entry in entries if not isinstance(entry, str))
        self._charts = {
            text(entry.get("chart")): [_kind(kind) for kind in texts(entry.get("makes"))] for entry in charts
        }

    def __contains__(self, kind: Kind) -> bool:
        if self.everything or _is_among(self._kinds, kind):
            return True
        return self._is_policy is not None and self._is_policy(*kind)

    def __bool__(self) -> bool:
        return bool(self.everything or self._kinds or self._is_policy or self._charts)

    def may_make(self, chart: str, kind: Kind) -> bool | None:
        """Tell whether a chart may make objects of a kind, None where the configuration does not say."""
        makes = self._charts.get(chart) if chart else None
        return None if makes is None else _is_among(makes, kind)


def _kind(written: str) -> tuple[str | None, str]:
    """Return group and kind of `Kind[.group]`; None for a group that is not stated."""
    kind, dot, group = written.partition(".")
    return group if dot else None, kind


def _is_among(kinds: Iterable[tuple[str | None, str]], kind: Kind) -> bool:
    return any(name == kind[1] and group in (None, kind[0]) for group, name in kinds)
