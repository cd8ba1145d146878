"""What clusters bring that no manifest shows: schemas/clusters.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from string import digits
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text, texts
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple

_DEMANDS = ("In", "Exists")
_SHORT = 2
"""Letters that longer words begin with by chance."""
_LEAST = 0.75
"""How alike two words are (difflib's ratio) of which one is the other misspelt."""


class DnsPods(NamedTuple):
    """Pods that answer for names.

    Args:
        port: on which they listen, which policies see.
        of: the product that has another port than DNS; "" for others.
    """

    namespace: str
    port: int
    of: str


@lru_cache(maxsize=1)
def dns_pods() -> tuple[DnsPods, ...]:
    """Return who may answer for names in a cluster, the usual ones first."""
    entries = map(mapping, sequence(_table().get("dns")))
    return tuple(DnsPods(entry["namespace"], entry["port"], text(entry.get("of"))) for entry in entries)


@lru_cache(maxsize=256)
def is_set_by_controllers(label: str) -> bool:
    """Return whether controllers put a label on ManagedClusters, which manifests then need not show."""
    return _is_among("managed-cluster-labels", label)


@lru_cache(maxsize=1024)
def is_put_on_pods(label: str) -> bool:
    """Return whether pods get a label when they are made or injected, which templates then need not show."""
    return _is_among("pod-labels", label)


def _is_among(field: str, label: str) -> bool:
    known = mapping(_table().get(field))
    return label in sequence(known.get("names")) or label.startswith(tuple(sequence(known.get("prefixes"))))


def is_nearly_met(selector: Mapping[str, Any], labelled: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether labels of something are nearly what a LabelSelector asks for: a label is misspelt then, and not
    one that is set by hand."""
    stated = {(key, text(value)) for labels in labelled for key, value in labels.items()}
    keys = {key for key, _ in stated}
    expressions = map(mapping, sequence(selector.get("matchExpressions")))
    wanted = [
        (text(each.get("key")), texts(each.get("values"))) for each in expressions if each.get("operator") in _DEMANDS
    ]
    wanted += [(key, [text(value)]) for key, value in mapping(selector.get("matchLabels")).items()]
    return any(
        (key not in keys and any(_is_nearly(key, other) for other in keys))
        or any(_is_nearly(value, other) for value in values for name, other in stated if name == key)
        for key, values in wanted
    )


def _is_nearly(word: str, other: str) -> bool:
    """Return whether two words were probably meant as one: `prod` and `production`, `Prod`, `prdo`; numbers are not."""
    from difflib import SequenceMatcher

    shorter, longer = sorted((word.lower(), other.lower()), key=len)
    if word == other or shorter.rstrip(digits) == longer.rstrip(digits) != shorter:
        return False
    is_begun = len(shorter) > _SHORT and longer.startswith(shorter)
    return is_begun or SequenceMatcher(None, shorter, longer).ratio() >= _LEAST


@lru_cache(maxsize=1)
def served_versions() -> tuple[str, ...]:
    """Return the API versions, and kinds of them (`security.istio.io/v1/PeerAuthentication`), that clusters with
    policies serve."""
    served = mapping(_table().get("served")).items()
    return tuple(each for version, kinds in served for each in (version, *(f"{version}/{kind}" for kind in kinds)))


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "clusters.yaml"), "clusters.yaml").documents[0].value)
