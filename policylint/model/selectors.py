"""Label selectors as Kubernetes evaluates them: matchLabels, matchExpressions with all four operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model.resource import mapping, sequence, text


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
