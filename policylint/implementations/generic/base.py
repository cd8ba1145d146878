"""What every protocol of an implementation rests on: its name, its settings, and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.model import PolicyKind, ResourceKey
from policylint.topology import Topology
from policylint.topology.ancestry import foreign


class Behaviour:
    """One implementation in one environment; an instance evaluates one kind.

    Attributes:
        name: the implementation's name in the catalog.
        settings: of the controller, by the names of the catalog; what is not in it has its default.
        release: of the controller, None where it is not known.
        names_core: whether `group: core` is the group of Services to it, whose name is "".
        topology, catalog: of the environment, from `begin` on.
    """

    name = "generic"
    settings: Mapping[str, Any] = {}
    release: tuple[int, ...] | None = None
    names_core = False
    topology: Topology
    catalog: Catalog

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """Keep what later stages need; an instance evaluates one kind of one environment."""
        self.topology = topology
        self.catalog = catalog

    def is_foreign(self, key: ResourceKey) -> bool:
        """Tell whether an object stands below Gateways, and all of them are served by other implementations."""
        return foreign(self.topology, key, self.name, self.catalog)
