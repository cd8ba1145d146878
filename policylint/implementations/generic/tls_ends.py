"""Where proxies end TLS with a certificate, for hosts that they serve apart from others."""

from __future__ import annotations

from collections.abc import Sequence

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple
from policylint.topology.certificates import CERT_MANAGER

_ACME = "kubernetes.io/tls-acme"


class TlsEnd(NamedTuple):
    """Hosts that proxies serve with a certificate, apart from others by the name that a client asks for.

    Args:
        proxies: which, with the port: of equal ones a client may reuse a connection.
        certificate: its Secret, in words.
        status: what a request for another host of these proxies gets on such a connection.
    """

    holder: Resource
    pointer: Pointer
    proxies: tuple[object, ...]
    certificate: str
    hosts: frozenset[str]
    status: int


class End(NamedTuple):
    """A place at which TLS ends, with certificates of Secrets.

    Args:
        what: what ends it, as a sentence has it.
        hosts: in lower case, without patterns for all; none where it is for all of the holder's.
        secrets: those whose certificates are shown there, each for the names that it has; none where it is not known
            in which namespace they are.
        certain: whether clients see the certificates of these alone, and nobody makes them from the hosts.
        asks: who holds the certificate against one name, of several, where it is no client of the host.
    """

    what: str
    holder: Resource
    pointer: Pointer
    hosts: Sequence[str]
    secrets: Sequence[ResourceKey]
    certain: bool = True
    asks: str = ""

    @property
    def is_issued(self) -> bool:
        """Whether cert-manager makes the Secrets, from the hosts of an Ingress."""
        return self.holder.key[:2] == INGRESS and any(map(self.holder.annotations.get, (*CERT_MANAGER, _ACME)))


def written(hosts: Sequence[str]) -> list[str]:
    """Return hosts in lower case, without those that are all."""
    return [host.lower() for host in hosts if host not in ("", "*")]
