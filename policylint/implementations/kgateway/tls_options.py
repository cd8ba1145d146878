"""Options of a listener's TLS (`tls.options`) as kgateway takes them: each must be one of its own.

Source: pkg/kgateway/translator: sslutils/ssl_utils.go, ApplyTLSExtensionOptions, and listener/
gateway_listener_translator.go, translateTLSConfig @ v2.4.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from policylint.model import is_symbolic, mapping

_DOMAIN = "kgateway.dev/"
_NAMES = "verify-subject-alt-names"
_LEAST, _MOST = "min-tls-version", "max-tls-version"
_HASHES = "verify-certificate-hash"
_FREE = ("alpn-protocols", "cipher-suites", "ecdh-curves", "signature-algorithms", _NAMES)
"""Options that take any text."""
_VERSIONS = ("1.0", "1.1", "1.2", "1.3")
_HASH = re.compile(r"[0-9a-fA-F]{64}|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){31}")


def wrong_option(tls: Mapping[str, object], *, with_cas: bool) -> str:
    """Return what is wrong with the options of a listener's TLS, "" for nothing.

    Args:
        with_cas: whether clients are asked for certificates of certain CAs, as names of clients need it.
    """
    options = {name: str(value) for name, value in mapping(tls.get("options")).items() if not is_symbolic(value)}
    for name, value in options.items():
        short = name.removeprefix(_DOMAIN) if name.startswith(_DOMAIN) else ""
        if short in (_LEAST, _MOST):
            if value not in _VERSIONS:
                return f"{name}: {value} is no version of TLS"
        elif short == _HASHES:
            hashes = (each.strip() for each in re.split("[,-]", value))
            if wrong := next((each for each in hashes if each and not _HASH.fullmatch(each)), ""):
                return f"{name}: {wrong} is no hash of a certificate"
        elif short not in _FREE:
            return f"{name} is no option of TLS that kgateway knows"
    least, most = (options.get(f"{_DOMAIN}{short}") for short in (_LEAST, _MOST))
    if least and most and _VERSIONS.index(most) < _VERSIONS.index(least):
        return f"the highest version of TLS, {most}, is below the lowest, {least}"
    if f"{_DOMAIN}{_NAMES}" in options and not with_cas:
        return f"{_DOMAIN}{_NAMES} needs CAs that clients' certificates are checked with"
    return ""
