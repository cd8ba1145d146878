"""The formats of texts that the API server judges, in schemas (`format`) and in CEL (`format.NAME()`).

Source: k8s.io/kube-openapi pkg/validation/strfmt, k8s.io/apiserver pkg/cel/library/format.go, and the API server's own
answers (tests/witness).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from policylint.patterns import Pattern

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_1123: Final = Pattern(_LABEL)
_DNS_1035: Final = Pattern("[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = Pattern(rf"{_LABEL}(\.{_LABEL})*")
_QUALIFIED: Final = Pattern(_NAME)
_UUID: Final = Pattern("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_BASE64: Final = Pattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_DATE: Final = Pattern("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_FOUR: Final = Pattern(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")
_TIME: Final = Pattern("([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")
_GO_DURATION: Final = Pattern(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:h|ms|m|us|µs|μs|ns|s))+|[+-]?0")
_DURATION: Final = Pattern("([0-9]+)[ \t\n\f\r]*([A-Za-zµ]+)")
_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_BEGINNINGS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_label(value: str) -> bool:
    return len(value) <= 63 and _DNS_1123.fullmatch(value) is not None


def _is_label_of_1035(value: str) -> bool:
    return len(value) <= 63 and _DNS_1035.fullmatch(value) is not None


def _is_subdomain(value: str) -> bool:
    return len(value) <= 253 and _SUBDOMAIN.fullmatch(value) is not None


def _is_part(value: str) -> bool:
    return len(value) <= 63 and _QUALIFIED.fullmatch(value) is not None


def _is_qualified(value: str) -> bool:
    prefix, slash, name = value.rpartition("/")
    return _is_part(name) and (not slash or ("/" not in prefix and _is_subdomain(prefix)))


def _is_date(value: str) -> bool:
    import calendar

    found = _DATE.fullmatch(value)
    if not found or not 1 <= int(found[2]) <= 12:
        return False
    return 1 <= int(found[3]) <= calendar.monthrange(int(found[1]) or 4, int(found[2]))[1]


def _is_time(value: str) -> bool:
    date, separator, rest = value.lower().partition("t")
    found = _TIME.fullmatch(rest.partition("t")[0])
    return bool(separator and found and _is_date(date) and found[1] <= "23" and found[2] <= "59" and found[3] <= "59")


def _is_duration(value: str) -> bool:
    """Return whether Go reads a duration, or Scala would: `22 ns`, `2 days`."""
    units = [unit.lower() for _, unit in _DURATION.findall(value)]
    return bool(_GO_DURATION.fullmatch(value)) or any(unit in _UNITS or unit.startswith(_BEGINNINGS) for unit in units)


def _is_network(value: str) -> bool:
    """Return whether a text is a CIDR; numbers of IPv4 may begin with zeros."""
    address, slash, length = value.partition("/")
    if not length.isdecimal() or not length.isascii() or (length != "0" and length.startswith("0")):
        return False
    most = 32 if _is_four(address) else 128 if _is_six(address) else -1
    return bool(slash) and int(length[:4]) <= most


def _is_four(value: str) -> bool:
    return _FOUR.fullmatch(value) is not None and all(int(part) <= 255 for part in value.split("."))


def _is_six(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return "%" not in value


def _is_uri(value: str) -> bool:
    from policylint.cel.urls import read_url

    return read_url(value) is not None


def _of_prefix(judge: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return the judge of what names may begin with, so that it may end in a hyphen."""
    return lambda value: judge(f"{value[:-1]}a" if value.endswith("-") and len(value) > 1 else value)


OF_SCHEMAS: Final[Mapping[str, Callable[[str], bool]]] = {
    "byte": lambda value: _BASE64.fullmatch(value) is not None,
    "cidr": _is_network,
    "date": _is_date,
    "date-time": _is_time,
    "datetime": _is_time,
    "duration": _is_duration,
    "ipv4": _is_four,
    "ipv6": _is_six,
    "uri": _is_uri,
    "uuid": lambda value: _UUID.fullmatch(value) is not None,
}
OF_CEL: Final[Mapping[str, Callable[[str], bool]]] = {
    "byte": OF_SCHEMAS["byte"],
    "date": _is_date,
    "datetime": _is_time,
    "dns1035Label": _is_label_of_1035,
    "dns1035LabelPrefix": _of_prefix(_is_label_of_1035),
    "dns1123Label": _is_label,
    "dns1123LabelPrefix": _of_prefix(_is_label),
    "dns1123Subdomain": _is_subdomain,
    "dns1123SubdomainPrefix": _of_prefix(_is_subdomain),
    "labelValue": lambda value: not value or _is_part(value),
    "qualifiedName": _is_qualified,
    "uri": _is_uri,
    "uuid": OF_SCHEMAS["uuid"],
}
OTHER_TYPES = ("byte", "date", "date-time", "datetime", "duration")
"""Formats of texts that CEL takes for something else."""
