"""Where proxies end TLS with a certificate, for hosts that they serve apart from others."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Resource
from policylint.namedtuple import NamedTuple


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
