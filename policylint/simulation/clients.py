"""Who calls from inside, by the names that people give clients: whether it is in a mesh, and which pods it may be.

A client is a workload, all that run as a ServiceAccount, a namespace, or nobody of a mesh. The identity of an account
is shown by those of its workloads that may be in a mesh; where none of those that were seen is, nobody shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from policylint.model import Resource, World
from policylint.model.spelling import find, same_kind, spelling
from policylint.policy.authorizing import Client
from policylint.simulation.meshes import Meshes
from policylint.topology.workloads import WORKLOADS, is_workload, service_account

UNMESHED = "unmeshed"
"""A client that is not in the mesh: nobody there knows who it is."""


class KnownClients:
    """The clients of an environment.

    Args:
        unseen: accounts that count as those of no workload that was seen.
    """

    def __init__(self, world: World, meshes: Meshes, unseen: Collection[str] = ()) -> None:
        self._world, self._meshes, self._unseen = world, meshes, unseen
        self._named: dict[str, Client | None] = {}

    @cached_property
    def by_account(self) -> Mapping[str, Sequence[Resource]]:
        """The workloads that have an identity, by that: `shop/web`."""
        found: dict[str, list[Resource]] = defaultdict(list)
        for kind in WORKLOADS:
            for workload in self._world.of_kind(*kind):
                account = f"{workload.key.namespace}/{service_account(workload)}"
                if account not in self._unseen:
                    found[account].append(workload)
        return found

    def named(self, name: str) -> Client | None:
        """Return who is meant by a name: nothing is known of who has none; None where it names no client."""
        if name not in self._named:
            self._named[name] = self._found(name)
        return self._named[name]

    def _found(self, name: str) -> Client | None:
        if name in ("", UNMESHED):
            return Client(None, "", "", original=True) if name else Client(original=True)
        parsed = spelling(name)
        if parsed.kind and same_kind(parsed.kind, "ServiceAccount") and parsed.namespace:
            account = f"{parsed.namespace}/{parsed.name}"
            client = Client(None, parsed.namespace, account, original=True)
            return self._placed(client, self.by_account.get(account, ()))
        if parsed.kind and same_kind(parsed.kind, "Namespace"):
            inside = [each for kind in WORKLOADS for each in self._world.in_namespace(*kind, parsed.name)]
            return self._placed(Client(None, parsed.name, original=True), inside)
        keys = [key for key in find(name, self._world.resources) if is_workload(key.group, key.kind)]
        workloads = [self._world.resources[key] for key in keys]
        spaces = {key.namespace for key in keys}
        namespace = spaces.pop() if len(spaces) == 1 else None
        client = Client(workloads[0] if len(workloads) == 1 else None, namespace, original=True)
        return self._placed(client, workloads) if workloads else None

    def outside(self, client: Client) -> tuple[str, ...]:
        """Return the meshes of which none of the workloads is that a client may be."""
        callers, meshes = client.callers, self._meshes.all
        proxied = {mesh.name: [mesh.proxied(each, self._world) for each in callers] for mesh in meshes if callers}
        return tuple(name for name, answers in proxied.items() if all(each is False for each in answers))

    def identities(self, name: str) -> list[str]:
        """Return the identities that a client has or may have, `shop/*` for any of a namespace, "" for none."""
        client = self.named(name)
        if client is None or client.account is not None:
            return [] if client is None else [client.account or ""]
        if same_kind(spelling(name).kind, "Namespace"):
            strangers = any(self._meshes.proxied(each) is False for each in client.callers)
            return [f"{client.namespace}/*", *([""] if strangers else [])]
        return list(dict.fromkeys(each for workload in client.callers for each in self.shown_by(workload)))

    def shown_by(self, workload: Resource) -> list[str]:
        """Return the identity of the pods of a workload, "" for none; both where either may be."""
        proxied = self._meshes.proxied(workload)
        account = f"{workload.key.namespace}/{service_account(workload)}"
        return [*([account] if proxied is not False else []), *([] if proxied else [""])]

    def _placed(self, client: Client, workloads: Sequence[Resource]) -> Client:
        """Return a client with the workloads that it may be; one that certainly is in no mesh has no identity."""
        meshed = [each for each in workloads if self._meshes.proxied(each) is not False]
        if workloads and not meshed:
            return client._replace(namespace="", account="", callers=tuple(workloads))
        return client._replace(callers=tuple(meshed if client.account else workloads))
