"""GWP406: what a filter names and nothing of its kind is in the tree, by how much of its namespace is."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, labelled, route, service

OF_ENVOY = "gateway.envoyproxy.io, kind: HTTPRouteFilter"
OF_NOBODY = "filters.example.com, kind: Rewrite"


@pytest.mark.parametrize(
    ("kind", "files", "said"),
    [
        (OF_ENVOY, [labelled("shop")], ("warning", "assumed")),
        ("gateway.kgateway.dev, kind: TrafficPolicy", [labelled("shop")], ("warning", "assumed")),
        (OF_ENVOY, [], ("note", "unknown")),  # nothing says that the namespace comes from here
        (OF_ENVOY, [labelled("shop"), "kind: ["], ("note", "unknown")),  # a file that cannot be read may have it
        (OF_NOBODY, [labelled("shop")], ("note", "unknown")),
    ],
)
def test_it_is_presumed_missing_where_its_namespace_is_here(
    tmp_path: Path, kind: str, files: list[str], said: tuple[str, str]
) -> None:
    named = f"{{type: ExtensionRef, extensionRef: {{group: {kind}, name: rewrite}}}}"
    to_web = f"rules: [{{filters: [{named}], backendRefs: [{{name: web, port: 80}}]}}]"
    objects = "---".join((gateway_class(), gateway(), route("shop", more=to_web), service("web")))
    for number, written in enumerate([objects, *files]):
        (tmp_path / f"{number}.yaml").write_text(written, encoding="utf-8")
    (found,) = run(open_workspace([str(tmp_path)]).simulations[0], select={"GWP406"})
    assert (found.severity, found.confidence) == said
