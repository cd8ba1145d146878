"""A graph as one html page that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from policylint.report.graph.details import details
from policylint.report.graph.svg import escape
from policylint.report.kit.secrets import masked

if TYPE_CHECKING:
    from policylint.report.graph import Drawing

_STYLE = "page.css"
_SCRIPTS = {
    "/*DAGRE*/": "dagre.min.js",
    "/*LAYOUT*/": "layout.js",
    "/*REQUEST*/": "request.js",
    "/*TABLES*/": "tables.js",
    "/*OVERVIEW*/": "overview.js",
    "/*SCRIPT*/": "page.js",
}
"""Place in the page → asset, in the order of the page."""


def write(drawing: Drawing) -> str:
    """Write the page: data, style, script and the layout library in one document."""
    parts = {
        "/*STYLES*/": allowed_styles(),
        "/*SCRIPTS*/": allowed_scripts(),
        "/*CSS*/": _asset(_STYLE),
        "<!--LICENSE-->": "\n".join(map(escape, _asset("dagre.LICENSE.txt").splitlines())),
        **{place: _asset(name) for place, name in _SCRIPTS.items()},
        "/*DATA*/": embedded(details(drawing)),
    }
    pieces = []
    rest = _asset("page.html")
    while rest:  # what is put in is never searched for further places: it may hold their names
        place, name = min(((rest.find(name), name) for name in parts if name in rest), default=(-1, ""))
        if place < 0:
            break
        pieces += [rest[:place], parts[name]]
        rest = rest[place + len(name) :]
    return "".join([*pieces, rest])


def allowed_styles() -> str:
    """Return the hash of the style: what a Content-Security-Policy has to allow where the page is framed."""
    return _hashes(_asset(_STYLE))


def allowed_scripts() -> str:
    """Return the hashes of the scripts of the page, as `allowed_styles`."""
    return _hashes(*map(_asset, _SCRIPTS.values()))


def _asset(name: str) -> str:
    text = (files("policylint.report.graph") / "assets" / name).read_text(encoding="utf-8")
    if name.endswith(".min.js"):
        text = "\n".join(line for line in text.splitlines() if "sourceMappingURL" not in line)
    return text


def _hashes(*texts: str) -> str:
    """Return the texts of script or style elements as a Content-Security-Policy names them: nothing else runs."""
    from base64 import b64encode
    from hashlib import sha256

    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def embedded(value: object) -> str:
    """Return JSON that cannot end the script element around it, nor be read as markup."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return masked(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
