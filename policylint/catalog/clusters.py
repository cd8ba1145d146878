"""What clusters bring that no manifest shows: schemas/clusters.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple


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
    known = mapping(_table().get("managed-cluster-labels"))
    return label in sequence(known.get("names")) or label.startswith(tuple(sequence(known.get("prefixes"))))


@lru_cache(maxsize=1)
def served_versions() -> tuple[str, ...]:
    """Return the API versions, and kinds of them (`security.istio.io/v1/PeerAuthentication`), that clusters with
    policies serve."""
    served = mapping(_table().get("served")).items()
    return tuple(each for version, kinds in served for each in (version, *(f"{version}/{kind}" for kind in kinds)))


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "clusters.yaml"), "clusters.yaml").documents[0].value)
