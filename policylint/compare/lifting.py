"""Text for a proxy that may take away what policies ask, by its words: configuration of NGINX, of Envoy."""

from __future__ import annotations

import json

from policylint.model import mapping

_LIFTING = {
    "snippets": (
        "satisfy any",
        "allow all",
        "off;",
        "auth_request",
        "proxy_pass",
        "rewrite",
        "alias ",
        "root ",
        "try_files",
    ),
    "*": (
        *(
            "per_filter_config",
            "perfilterconfig",
            "disabled",
            "rbac",
            "jwt",
            "ext_authz",
            "oauth",
            "basic_auth",
            "api_key",
        ),
        *("use_remote_address", "useremoteaddress", "xff_num", "xffnum", "normaliz", "merge_slashes", "mergeslashes"),
        *("escaped_slashes", "escapedslashes", "client_cert", "clientcert", "allow_missing", "failure_mode_allow"),
        *("failuremodeallow", "virtual_hosts", "virtualhosts", "routes", "domains", "filter_enabled", "filterenabled"),
        *("direct_response", "directresponse", "redirect", "prefix_rewrite", "transport_socket", "transportsocket"),
    ),
}
"""By setting the words of which text may take away what policies ask: configuration of NGINX, of Envoy."""
_TAKES = frozenset({"remove", "replace", "move"})
_PLAIN = (
    "access_log",
    "accesslog",
    "stat",
    "timeout",
    "buffer",
    "http2",
    "tracing",
    "compress",
    "keepalive",
    "server_name",
)
"""Words of places in Envoy's configuration at which something may be taken away, and everybody is asked as before."""


def may_lift(path: str, value: object) -> bool:
    """Return whether text for a proxy may take away what policies ask, by its words; Lua runs behind what they ask."""
    if path not in _LIFTING:
        return False
    for entry in value if isinstance(value, list) else [value]:
        said = mapping(entry)
        patch = mapping(said.get("operation")) or mapping(said.get("patch")) or said
        operation = str(patch.get("op") or patch.get("operation") or "").lower()
        at = str(patch.get("path") or "").lower() or str(said.get("applyTo") or "").lower()
        if operation in _TAKES and not any(word in at for word in _PLAIN):
            return True
        written = json.dumps({**patch, "match": None}, default=str).lower()
        if any(word in written for word in _LIFTING[path]):
            return True
    return False
