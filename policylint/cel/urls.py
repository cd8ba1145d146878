"""URLs as Go's url.ParseRequestURI reads them, which decides where the API server wants one.

Source: Go, src/net/url/url.go (parse, parseAuthority, parseHost, validOptionalPort, unescape).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from policylint.patterns import Pattern

_SCHEME: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.-]*")
_ESCAPED: Final = Pattern(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
_HOST: Final = Pattern(r"(?:[A-Za-z0-9_.~!$&'()*+,;=:\[\]<>\"-]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*")
_USER: Final = Pattern(r"(?:[A-Za-z0-9_.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*")
_PORT: Final = Pattern(r"(?::[0-9]*)?")


class Url(NamedTuple):
    """What CEL asks of a URL."""

    scheme: str
    hostname: str


def read_url(value: str) -> Url | None:
    """Return a URL that has a scheme or begins with a slash; None for a text that is none."""
    if any(letter < " " or letter == "\x7f" for letter in value):
        return None
    scheme, colon, rest = value.partition(":")
    if value[:1] == ":":
        return None
    if not (colon and _SCHEME.fullmatch(scheme)):
        scheme, rest = "", value
    rest = rest.partition("?")[0]
    if value == "*" or (scheme and not rest.startswith("/")):
        return Url(scheme.lower(), "")
    if not rest.startswith("/"):
        return None
    hostname = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, at, host = authority.rpartition("@")
        if at and not _USER.fullmatch(user):
            return None
        found = _hostname(host)
        if found is None:
            return None
        hostname = found
    return Url(scheme.lower(), hostname) if _ESCAPED.fullmatch(rest) else None


def _hostname(host: str) -> str | None:
    """Return a host without its port and brackets, None where it is not valid."""
    if not _HOST.fullmatch(host):
        return None
    if host.startswith("["):
        inner, bracket, port = host[1:].rpartition("]")
        return inner if bracket and _PORT.fullmatch(port) and _is_six(inner) else None
    name, colon, port = host.rpartition(":")
    if not colon:
        return host
    return name if _PORT.fullmatch(colon + port) and ":" not in name else None


def _is_six(text: str) -> bool:
    import ipaddress

    try:
        ipaddress.IPv6Address(text.partition("%25")[0])
    except ValueError:
        return False
    return True
