"""Decide which namespaces may attach: `namespaces.from` of allowedRoutes and allowedListeners.

Three-valued: a selector cannot be evaluated where no Namespace object states the labels of a namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Resource, World, is_symbolic, mapping, selectors, sequence, text
from policylint.model.kinds import RELABELLING
from policylint.namedtuple import NamedTuple
from policylint.topology.references import same_namespace

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label that the API server puts on every Namespace."""


class Admission(NamedTuple):
    """Whether a namespace is admitted (None: unknown), and why not."""

    allowed: bool | None
    message: str = ""


def admits(world: World, rule: Mapping[str, Any], default: str, home: str, namespace: str) -> Admission:
    """Return whether `namespaces: {from, selector}` of an object in `home` admits `namespace` (RouteNamespaces)."""
    match text(rule.get("from")) or default:
        case "All":
            return Admission(True)
        case "Same":
            same = same_namespace(home, namespace)
            return Admission(same, "" if same else f"allows only its own namespace {home}")
        case "Selector":
            return _selected(world, rule.get("selector"), namespace)
        case "None":
            return Admission(False, "allows no namespace")
        case other if is_symbolic(other):
            return Admission(None, f"`from: {other}` holds a variable")
        case other:
            return Admission(False, f"`from: {other}` is not known")


def _selected(world: World, selector: object, namespace: str) -> Admission:
    if not isinstance(selector, dict):
        return Admission(False, "`from: Selector` has no selector")
    if selectors.is_empty(selector):
        return Admission(True)
    if same_namespace(namespace, "") is None:
        return Admission(None, "the namespace is not known")
    labels = world.namespace_labels(namespace)
    if labels is not None:
        verdict = _verdict(selector, labels, namespace)
        giver = None if verdict.allowed else relabelled_by(world, selector)
        return verdict if giver is None else Admission(None, f"{giver.key} may give namespaces such labels")
    known, rest = _by_name(selector)
    verdict = _verdict(known, {NAME_LABEL: namespace}, namespace)
    if rest and verdict.allowed:
        return Admission(None, f"no Namespace {namespace} is in the tree, so its labels are not known")
    return verdict


def relabelled_by(world: World, selector: Mapping[str, Any]) -> Resource | None:
    """Return what gives Namespaces, as they are admitted, a label that a selector asks for; None where nothing does."""
    written = [(each, str(each.body)) for kind in RELABELLING for each in world.of_kind(*kind)]
    asked = mapping(selector.get("matchLabels")), sequence(selector.get("matchExpressions"))
    keys = {*asked[0], *(text(mapping(each).get("key")) for each in asked[1])} - {NAME_LABEL, ""}
    return next((each for each, said in written if "amespace" in said and any(key in said for key in keys)), None)


def _verdict(selector: Mapping[str, Any], labels: Mapping[str, Any], namespace: str) -> Admission:
    if selectors.matches(selector, labels):
        return Admission(True)
    return Admission(False, f"namespace {namespace} lacks {', '.join(selectors.unmet(selector, labels))}")


def _by_name(selector: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the part of a selector that a namespace's name decides, and whether there is more."""
    labels, expressions = mapping(selector.get("matchLabels")), sequence(selector.get("matchExpressions"))
    named = [requirement for requirement in expressions if mapping(requirement).get("key") == NAME_LABEL]
    known = {"matchLabels": {k: v for k, v in labels.items() if k == NAME_LABEL}, "matchExpressions": named}
    return known, len(named) < len(expressions) or any(label != NAME_LABEL for label in labels)
