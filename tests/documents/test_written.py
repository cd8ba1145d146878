"""Documents that nobody parses say what they are: in templates, in scripts, between other texts."""

from __future__ import annotations

from textwrap import indent

import pytest

from policylint.documents.written import written

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1  # as of 1.0
kind: HTTPRoute
metadata:
  labels:
    app: web

  name: "web"  # the shop
  namespace: shop
spec:
  parentRefs:
  - kind: Gateway
    name: edge
"""
TEMPLATE = """\
{{- if .Values.daemon }}
kind: DaemonSet
{{- else }}
kind: Deployment
{{- end }}
metadata:
  name: {{ .Release.Name }}-web
"""


def told(text: str) -> list[tuple[str | None, tuple[str, ...], str, str, int]]:
    return [(each.group, each.kinds, each.name, each.namespace, each.line) for each in written(text)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ROUTE, [("gateway.networking.k8s.io", ("HTTPRoute",), "web", "shop", 2)]),
        (ROUTE.replace("\n", "\r\n"), [("gateway.networking.k8s.io", ("HTTPRoute",), "web", "shop", 2)]),
        (indent(ROUTE, "    "), [("gateway.networking.k8s.io", ("HTTPRoute",), "web", "shop", 2)]),
        (TEMPLATE, [(None, ("DaemonSet", "Deployment"), "{{ .Release.Name }}-web", "", 2)]),
        ("kind: Namespace\napiVersion: v1\nmetadata: {name: shop}", [("", ("Namespace",), "", "", 1)]),
        ("spec:\n  template:\n    kind: Pod\n", [(None, ("Pod",), "", "", 3)]),
        ("# kind: Pod\nno: kind\n", []),
    ],
)  # fmt: skip
def test_what_a_document_says_that_it_is(text: str, says: list[object]) -> None:
    assert told(text) == says


def test_documents_are_told_apart_and_counted() -> None:
    first, second = written(f"---\n{ROUTE}--- # another one\n{TEMPLATE}")
    assert (first.line, second.line) == (3, 16)
    assert first.text.startswith("\napiVersion:")
