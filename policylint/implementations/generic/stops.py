"""Settings for which nothing more becomes of the configuration of a proxy: it goes on with the one that it has."""

from __future__ import annotations

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import FaultyPart


class Stop(NamedTuple):
    """A setting that stops a proxy, or one of its ports.

    Args:
        policy: the one that it is of.
        part: the setting, below the policy's spec.
        listeners: those that get no new configuration.
    """

    policy: ResourceKey
    part: FaultyPart
    listeners: tuple[Node, ...]

    @property
    def consequence(self) -> str:
        return f"{self.part.message}: a proxy that runs stays as it was, a new one serves nothing"
