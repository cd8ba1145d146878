"""What an editor offers to whoever writes: a session per kind of reference, and the outline of what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types

from policylint.editor.surroundings import surroundings
from tests.editor.client import Editor, edit

WORLD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
  - {name: web, port: 80, protocol: HTTP}
  - {name: secure, port: 443, protocol: HTTPS, hostname: shop.example.com}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  rules:
  - name: pay
    backendRefs: [{name: app, port: 8080}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: elsewhere, namespace: other}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  rules: [{}]
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec:
  ports: [{name: http, port: 8080}, {name: admin, port: 9090}]
---
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: infra}
type: kubernetes.io/tls
"""
POLICY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: own, namespace: shop}
spec:
  targetRefs:
  - group: gateway.networking.k8s.io
    kind: HTTPRoute
    name: checkout
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: new
  namespace: shop
spec:
  parentRefs:
    - name: edge
      namespace: infra
      sectionName: web
  rules:
    - matches:
        - path:
            type: Exact
      backendRefs:
        - name: app
          port: 8080
"""
GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: two, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
    - name: web
      port: 443
      protocol: HTTPS
      tls:
        certificateRefs:
          - name: cert
"""


def offered(tmp_path: Path, text: str, *places: tuple[str, str]) -> list[list[types.CompletionItem]]:
    """What is offered at the end of a line that is written instead of another one: (line, written)."""
    (tmp_path / "world.yaml").write_text(WORLD)
    (tmp_path / "new.yaml").write_text(text)
    found: list[list[types.CompletionItem]] = []

    async def session(editor: Editor) -> None:
        editor.open("new.yaml")
        for line, written in places:
            assert f"{line}\n" in text
            now = text.replace(f"{line}\n", f"{written}\n", 1)
            editor.change("new.yaml", now)
            where = editor.at("new.yaml", f"{written}\n", len(written), now)
            answer = await editor.client.text_document_completion_async(types.CompletionParams(**where))
            assert isinstance(answer, list)
            found.append(answer)

    edit(tmp_path, session)
    return found


def words(items: list[types.CompletionItem]) -> list[str]:
    return [item.label for item in items]


def test_targets_of_a_policy(tmp_path: Path) -> None:
    names, kinds, groups, flow = offered(
        tmp_path,
        POLICY,
        ("    name: checkout", "    name: "),
        ("    kind: HTTPRoute", "    kind: "),
        ("  - group: gateway.networking.k8s.io", "  - group: "),
        ("    name: checkout", "  - {kind: HTTPRoute, name: ch"),
    )
    assert words(names) == ["checkout"]  # not of another namespace: the kind may not target it
    assert names[0].detail == "HTTPRoute shop/checkout"
    assert names[0].documentation == "world.yaml:17"
    assert words(kinds) == ["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute"]
    assert words(groups) == ["gateway.networking.k8s.io"]
    assert words(flow) == ["checkout"]
    assert flow[0].text_edit is not None and isinstance(flow[0].text_edit, types.TextEdit)
    assert flow[0].text_edit.range.start.character == len("  - {kind: HTTPRoute, name: ")


def test_parents_sections_backends_and_ports(tmp_path: Path) -> None:
    parents, sections, backends, ports, namespaces = offered(
        tmp_path,
        ROUTE,
        ("    - name: edge", "    - name: "),
        ("      sectionName: web", "      sectionName: "),
        ("        - name: app", "        - name: "),
        ("          port: 8080", "          port: "),
        ("      namespace: infra", "      namespace: "),
    )
    assert words(parents) == ["edge"]
    assert words(sections) == ["web", "secure"]
    assert sections[1].detail == "port: 443, protocol: HTTPS, hostname: shop.example.com"
    assert words(backends) == ["app"]
    assert words(ports) == ["8080", "9090"]
    assert words(namespaces) == ["infra"]


def test_classes_and_certificates(tmp_path: Path) -> None:
    classes, certificates = offered(
        tmp_path,
        GATEWAY,
        ("  gatewayClassName: envoy", "  gatewayClassName: "),
        ("          - name: cert", "          - name: "),
    )
    assert words(classes) == ["envoy"]
    assert classes[0].detail == "gateway.envoyproxy.io/gatewayclass-controller"
    assert words(certificates) == ["cert"]


def test_settings_and_their_values(tmp_path: Path) -> None:
    settings, kinds, matches, protocols = [
        *offered(
            tmp_path,
            POLICY,
            ("    name: checkout", "    name: checkout\n  j"),
            ("kind: SecurityPolicy", "kind: Sec"),
        ),
        *offered(tmp_path, ROUTE, ("            type: Exact", "            type: ")),
        *offered(tmp_path, GATEWAY, ("      protocol: HTTPS", "      tls: {mode: ")),
    ]
    by_word = {item.label: item for item in settings}
    assert {"jwt", "oidc", "cors", "mergeType"} < by_word.keys()
    assert "targetRefs" not in by_word  # it is there already
    assert by_word["jwt"].documentation == "A setting of authentication: its loss is reported."
    merge = by_word["mergeType"].documentation
    assert isinstance(merge, str) and merge.startswith("It decides how this policy is merged")
    assert {"Gateway", "HTTPRoute", "SecurityPolicy", "AuthPolicy"} < set(words(kinds))
    assert words(matches) == ["Exact", "PathPrefix", "RegularExpression"]
    assert [item.detail for item in matches] == [None, "default", None]
    assert words(protocols) == ["Terminate", "Passthrough"]


def test_outline_and_symbols(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(WORLD)

    async def session(editor: Editor) -> None:
        await editor.until(lambda: bool(editor.diagnostics) or True)
        editor.open("world.yaml")
        asked = types.DocumentSymbolParams(editor.document("world.yaml"))
        outline = await editor.client.text_document_document_symbol_async(asked)
        assert outline is not None
        parts = {one.name: [part.name for part in getattr(one, "children", None) or ()] for one in outline}
        assert parts["Gateway infra/edge"] == ["web", "secure"]
        assert parts["HTTPRoute shop/checkout"] == ["pay"]
        symbols = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("rtcheck"))
        assert symbols is not None
        assert [one.name for one in symbols] == ["HTTPRoute shop/checkout"]

    edit(tmp_path, session)


@pytest.mark.parametrize(
    ("text", "path", "key", "prefix", "siblings"),
    [
        ("spec:\n  targetRefs:\n  - kind: A\n    name: x|", ("spec", "targetRefs"), "name", "x", {"kind": "A"}),
        ("spec:\n  a:\n    - b: 1\n    - c: |", ("spec", "a"), "c", "", {}),
        ("spec:\n- - x: 1\n    y: |", ("spec",), "y", "", {"x": "1"}),
        ("a:\n  b: {c: 1, d: '|', e: 2}", ("a", "b"), "d", "", {"c": "1", "e": "2"}),
        ("a:\n  b: 1\n  |\n  c: 2", ("a",), "", "", {"b": "1", "c": "2"}),
        ("a: 1\n---\nb:\n  c|", ("b",), "", "c", {}),
    ],
)
def test_what_surrounds_a_place(text: str, path: tuple[str, ...], key: str, prefix: str, siblings: object) -> None:
    line = text[: text.index("|")].count("\n")
    column = len(text[: text.index("|")].rpartition("\n")[2])
    found = surroundings(text.replace("|", "").split("\n"), line, column)
    assert found is not None
    assert (found.path, found.key, found.prefix, found.siblings) == (path, key, prefix, siblings)


def test_the_line_after_the_last_break_is_a_place() -> None:
    found = surroundings("kind: A\nspec:\n".splitlines(), 2, 0)
    assert found is not None
    assert (found.path, found.key, found.prefix, found.siblings) == ((), "", "", {"kind": "A", "spec": ""})
    assert surroundings([], 0, 0) is not None
    assert surroundings(["kind: A"], 10**9, 3) is not None


def test_nothing_is_offered_in_a_comment() -> None:
    assert surroundings(["a: 1 # name: "], 0, 13) is None
