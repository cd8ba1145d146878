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


def write(drawing: Drawing) -> str:
    """Write the page: data, style, script and the layout library in one document."""
    assets = files("policylint.report.graph") / "assets"

    def asset(name: str) -> str:
        return (assets / name).read_text(encoding="utf-8")

    library = "\n".join(line for line in asset("dagre.min.js").splitlines() if "sourceMappingURL" not in line)
    style, layout, request = asset("page.css"), asset("layout.js"), asset("request.js")
    tables, overview, script = asset("tables.js"), asset("overview.js"), asset("page.js")
    parts = {
        "/*STYLES*/": _hashes(style),
        "/*SCRIPTS*/": _hashes(library, layout, request, tables, overview, script),
        "/*CSS*/": style,
        "<!--LICENSE-->": "\n".join(map(escape, asset("dagre.LICENSE.txt").splitlines())),
        "/*DAGRE*/": library,
        "/*LAYOUT*/": layout,
        "/*REQUEST*/": request,
        "/*TABLES*/": tables,
        "/*OVERVIEW*/": overview,
        "/*SCRIPT*/": script,
        "/*DATA*/": embedded(details(drawing)),
    }
    pieces = []
    rest = asset("page.html")
    while rest:  # what is put in is never searched for further places: it may hold their names
        place, name = min(((rest.find(name), name) for name in parts if name in rest), default=(-1, ""))
        if place < 0:
            break
        pieces += [rest[:place], parts[name]]
        rest = rest[place + len(name) :]
    return "".join([*pieces, rest])


def _hashes(*texts: str) -> str:
    """Return the texts of script or style elements as a Content-Security-Policy names them: nothing else runs."""
    from base64 import b64encode
    from hashlib import sha256

    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def embedded(value: object) -> str:
    """Return JSON that cannot end the script element around it, nor be read as markup."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return masked(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
