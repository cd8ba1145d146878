"""The names that a certificate is for: the DNS names among its subject alternative names.

Source: RFC 5280, 4.1 and 4.2.1.6; X.690, 8.1 (identifiers and lengths of DER).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from policylint.topology.certificates import BLOCK

_OBJECT, _OCTETS, _DNS_NAME, _EXTENSIONS = 0x06, 0x04, 0x82, 0xA3
_ALTERNATIVE_NAMES = b"\x55\x1d\x11"
_LONG = 0x80
_LARGEST = 1 << 16


def names_in(pem: str) -> frozenset[str] | None:
    """Return the DNS names of the first certificate of a chain, in lower case; None where they cannot be read."""
    block = next((each for each in BLOCK.finditer(pem) if each[1] == "CERTIFICATE"), None)
    if block is None or len(block[2]) > _LARGEST:
        return None
    try:
        return _names(b64decode("".join(block[2].split()), validate=True))
    except ValueError:
        return None


def _names(der: bytes) -> frozenset[str] | None:
    [(_, certificate)] = list(_values(der))[:1] or [(0, b"")]
    _, signed = next(_values(certificate), (0, b""))
    listed = next((value for tag, value in _values(signed) if tag == _EXTENSIONS), b"")
    _, extensions = next(_values(listed), (0, b""))
    for _, extension in _values(extensions):
        parts = list(_values(extension))
        if parts and parts[0] == (_OBJECT, _ALTERNATIVE_NAMES) and parts[-1][0] == _OCTETS:
            _, names = next(_values(parts[-1][1]), (0, b""))
            return frozenset(value.decode("ascii").lower() for tag, value in _values(names) if tag == _DNS_NAME)
    return None


def _values(der: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of values that follow each other.

    Raises:
        ValueError: this is no DER.
    """
    at = 0
    while at < len(der):
        if at + 2 > len(der):
            raise ValueError("cut off")
        tag, length = der[at], der[at + 1]
        at += 2
        if length >= _LONG:
            size = length - _LONG
            if not size or at + size > len(der):
                raise ValueError("no length")
            length, at = int.from_bytes(der[at : at + size], "big"), at + size
        if at + length > len(der):
            raise ValueError("cut off")
        yield tag, der[at : at + length]
        at += length
