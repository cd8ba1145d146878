"""Label selectors as Kubernetes evaluates them: matchLabels, matchExpressions with all four operators."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from policylint.model.resource import mapping, sequence, text
from policylint.namedtuple import NamedTuple

_T = TypeVar("_T")


class Labelled(Generic[_T]):
    """Things with labels, for many selectors: each looks only at those that have the rarest label it asks for.

    Equal selectors share one answer.

    Args:
        things: in the order in which they are to be found.
        labels: returns the labels of one of them.
    """

    __slots__ = ("_answers", "_keys", "_labels", "_pairs", "_things")

    def __init__(self, things: Iterable[_T], labels: Callable[[_T], Mapping[str, Any]]) -> None:
        self._things = tuple(things)
        self._labels = labels
        self._answers: dict[str, tuple[_T, ...]] = {}
        self._keys: dict[str, list[_T]] = {}
        self._pairs: dict[tuple[str, Hashable], list[_T]] = {}
        for thing in self._things:
            for name, value in labels(thing).items():
                self._keys.setdefault(name, []).append(thing)
                if isinstance(value, Hashable):
                    self._pairs.setdefault((name, value), []).append(thing)

    def matching(self, selector: Mapping[str, Any]) -> tuple[_T, ...]:
        """Return the things whose labels satisfy a LabelSelector."""
        asked = repr(selector)
        found = self._answers.get(asked)
        if found is None:
            candidates = min(self._candidates(selector), key=len, default=self._things)
            found = tuple(thing for thing in candidates if matches(selector, self._labels(thing)))
            self._answers[asked] = found
        return found

    def _candidates(self, selector: Mapping[str, Any]) -> Iterable[Sequence[_T]]:
        """Yield, for each requirement that only labelled things meet, those that can meet it."""
        for name, value in mapping(selector.get("matchLabels")).items():
            yield self._pairs.get((name, value), ()) if isinstance(value, Hashable) else self._keys.get(name, ())
        for expression in map(mapping, sequence(selector.get("matchExpressions"))):
            if expression.get("operator") in ("In", "Exists"):
                name, values = text(expression.get("key")), sequence(expression.get("values"))
                one = len(values) == 1 and expression.get("operator") == "In" and isinstance(values[0], Hashable)
                yield self._pairs.get((name, values[0]), ()) if one else self._keys.get(name, ())


def matches(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether labels satisfy a LabelSelector; an empty selector selects everything.

    An operator that Kubernetes does not know selects nothing, since the API server would refuse it.
    """
    for name, value in mapping(selector.get("matchLabels")).items():
        if name not in labels or labels[name] != value:
            return False
    return all(_holds(mapping(expression), labels) for expression in sequence(selector.get("matchExpressions")))


def is_empty(selector: Mapping[str, Any]) -> bool:
    """Return whether a selector has no requirement at all."""
    return not mapping(selector.get("matchLabels")) and not sequence(selector.get("matchExpressions"))


def within(selector: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether all labels that satisfy a selector satisfy another one."""
    own, wanted = _by_label(selector), _by_label(other)
    if any(not each.inverted and not each.values for each in own.values()):
        return True  # it selects nothing
    return all(own.get(name, _ANYTHING).within(values) for name, values in wanted.items())


class _Values(NamedTuple):
    """What a label may be: one of some values or, inverted, none of them; None stands for a label that is not there."""

    inverted: bool
    values: frozenset[Any]

    def __and__(self, other: _Values) -> _Values:
        if self.inverted and other.inverted:
            return _Values(True, self.values | other.values)
        if self.inverted or other.inverted:
            chosen, left_out = (other, self) if self.inverted else (self, other)
            return _Values(False, chosen.values - left_out.values)
        return _Values(False, self.values & other.values)

    def within(self, other: _Values) -> bool:
        if self.inverted:
            return other.inverted and other.values <= self.values
        return not self.values & other.values if other.inverted else self.values <= other.values


_ANYTHING = _Values(True, frozenset())
_SOMETHING = _Values(True, frozenset({None}))


def _by_label(selector: Mapping[str, Any]) -> dict[str, _Values]:
    """Return what a selector asks of each label that it names."""
    found: dict[str, _Values] = {}
    labels = mapping(selector.get("matchLabels")).items()
    asked = [(text(name), _Values(False, frozenset({value}))) for name, value in labels if isinstance(value, Hashable)]
    for expression in map(mapping, sequence(selector.get("matchExpressions"))):
        values = frozenset(value for value in sequence(expression.get("values")) if isinstance(value, Hashable))
        by_operator = {
            "In": _Values(False, values),
            "NotIn": _Values(True, values),
            "Exists": _SOMETHING,
            "DoesNotExist": _Values(False, frozenset({None})),
        }
        operator = by_operator.get(text(expression.get("operator")), _Values(False, frozenset()))
        asked.append((text(expression.get("key")), operator))
    for name, values_of_label in asked:
        found[name] = found.get(name, _ANYTHING) & values_of_label
    return found


def unmet(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> list[str]:
    """Return the requirements that labels do not meet, as a reader would write them: `tier=web (is tier=db)`."""
    missing = []
    for name, value in mapping(selector.get("matchLabels")).items():
        if name not in labels:
            missing.append(f"{name}={value}")
        elif labels[name] != value:
            missing.append(f"{name}={value} (is {name}={labels[name]})")
    for entry in sequence(selector.get("matchExpressions")):
        expression = mapping(entry)
        if not _holds(expression, labels):
            values = ", ".join(map(str, sequence(expression.get("values"))))
            missing.append(f"{expression.get('key')} {expression.get('operator')} {values}".rstrip())
    return missing


def _holds(expression: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether labels satisfy one matchExpression."""
    key, values = text(expression.get("key")), sequence(expression.get("values"))
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
