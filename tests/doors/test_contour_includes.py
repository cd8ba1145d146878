"""What Contour leaves out of an HTTPProxy, and what it answers with 502 instead of what cannot be included.

Predicted from projectcontour/contour, internal/dag/httpproxy_processor.go: computeRoutes, addStatusBadGatewayRoute.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated

API = "projectcontour.io/v1"
HOST = "virtualhost: {fqdn: shop.example.com}"
OWN = "routes: [{conditions: [{prefix: /own}], services: [{name: web, port: 80}]}]"
CHILD = manifest(API, "HTTPProxy", "child", "shop", "spec: {routes: [{services: [{name: next, port: 80}]}]}")
ROOT = manifest(
    API,
    "HTTPProxy",
    "root",
    "shop",
    "spec: {virtualhost: {fqdn: other.example.com}, routes: [{services: [{name: next, port: 80}]}]}",
)


def proxy(includes: str = "", routes: str = OWN) -> str:
    fields = ", ".join(filter(None, (HOST, includes and f"includes: [{includes}]", routes)))
    return manifest(API, "HTTPProxy", "front", "shop", f"spec: {{{fields}}}")


def including(name: str, conditions: str) -> str:
    return f"{{name: {name}, conditions: [{conditions}]}}"


@pytest.mark.parametrize(
    ("includes", "path", "end"),
    [
        (including("child", "{prefix: /x}"), "/x/y", "next"),
        (including("none", "{prefix: /x}"), "/x/y", "502"),
        (including("none", "{prefix: /x}"), "/own", "web"),
        (including("none", "{prefix: /x}"), "/z", "404"),
        ("{name: none}", "/x", "404"),
        (including("root", "{prefix: /x}"), "/x", "502"),
        (including("child", "{exact: /x}"), "/x", "404"),
        (including("child", "{prefix: /x}, {prefix: /y}"), "/x/y", "404"),
        (including("child", "{prefix: /x}") + ", " + including("root", "{prefix: /x}"), "/x", "next"),
    ],
)
def test_includes(includes: str, path: str, end: str) -> None:
    simulation = simulated(service("web"), service("next"), proxy(includes), CHILD, ROOT)
    assert answer(simulation, f"http://shop.example.com{path}")[0] == end


FIRST = including("child", "{prefix: /x}")


@pytest.mark.parametrize(
    ("includes", "routes", "words"),
    [
        (f"{FIRST}, {FIRST}", OWN, "include 1 has the conditions of include 0"),
        (f"{FIRST}, " + including("child", "{prefix: /x}, {header: {name: a, exact: b}}"), OWN, ""),
        ("{name: child}, {name: child}", OWN, ""),
        (including("child", "{exact: /x}"), OWN, "takes no `exact`"),
        (including("child", "{prefix: x}"), OWN, "does not begin with a slash"),
        ("", OWN.replace("{prefix: /own}", "{prefix: /own}, {prefix: /two}"), "more than one path"),
        ("", OWN.replace("{prefix: /own}", "{prefix: /own}, {exact: /two}"), "more than one path"),
        ("", OWN, ""),
    ],
)
def test_what_is_invalid_is_told(includes: str, routes: str, words: str, tmp_path: Path) -> None:
    written = (service("web"), service("next"), proxy(includes, routes), CHILD)
    (tmp_path / "all.yaml").write_text("\n---\n".join(written), encoding="utf-8")
    found = [each.message for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP415"]
    assert [words in each for each in found] == ([True] if words else []), found
