"""What is known of a cluster's network beside its policies: from the configuration, and how its plugin is installed."""

from __future__ import annotations

from policylint.model import Resource, World, text, texts
from policylint.namedtuple import NamedTuple
from policylint.network.cilium_installed import AUDITS, PLUGIN, installed
from policylint.network.kinds import MATCHING_ADDRESSES, MATCHING_PODS
from policylint.spaces.addresses import Range, cidr


class NetworkFacts(NamedTuple):
    """What is known of the network of one world.

    Args:
        pods, nodes: where their addresses lie; empty where that is not known.
        plugin: the network plugin by name; "" where it is not known.
        idle: why no network policy drops anything, "" where they are taken to be enforced.
        matches_nodes: whether the plugin lets CIDRs match nodes where policies speak of identities.
    """

    pods: tuple[Range, ...] = ()
    nodes: tuple[Range, ...] = ()
    plugin: str = ""
    idle: str = ""
    matches_nodes: bool = False

    @property
    def block_is_addresses(self) -> bool:
        """Whether an ipBlock never matches a pod."""
        return self.plugin in MATCHING_ADDRESSES

    @property
    def block_is_pods(self) -> bool:
        """Whether an ipBlock matches the pods whose addresses it holds."""
        return self.plugin in MATCHING_PODS


def facts_of(world: World) -> NetworkFacts:
    """Return what the configuration and the manifests say of a world's network."""
    stated = world.network
    plugin, idle, matches_nodes = text(stated.get("plugin")), _idle(text(stated.get("enforcement")), ""), False
    for settings in installed(world):
        plugin = plugin or PLUGIN
        idle = idle or _idle("audit" if settings.audits else settings.mode, str(settings.resource.key))
        matches_nodes |= settings.matches_nodes
    pods, nodes = (tuple(filter(None, map(cidr, texts(stated.get(name))))) for name in ("pods", "nodes"))
    return NetworkFacts(pods, nodes, plugin, idle, matches_nodes)


def closing(world: World) -> tuple[Resource, bool] | None:
    """Return what sets the mode `always`, in which pods that no policy selects are closed, too.

    With it comes whether that is certain; None where nothing sets it, or the configuration says otherwise.
    """
    if world.network.get("enforcement") is not None:
        return None
    stated = list(installed(world))
    modes = [settings.mode == "always" for settings in stated]
    if not any(modes):
        return None
    return stated[modes.index(True)].resource, all(modes) and all(settings.is_whole for settings in stated)


def _idle(mode: str, where: str) -> str:
    by = f" ({where})" if where else ""
    if mode == "audit":
        return f"{AUDITS}{by}"
    return f"the network plugin is told not to enforce policies{by}" if mode == "never" else ""
