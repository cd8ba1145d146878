"""What kubectl deploys is read, however it is written: whoever could hide a policy from a linter would."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.documents import read

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: hidden, namespace: shop}
spec: {parentRefs: [{name: nowhere}]}
"""


def kinds(data: bytes) -> list[str]:
    """Return the kinds of the documents that a reader finds who wants HTTPRoutes alone."""
    reading = read(data, "f.yaml", wanted=lambda _, kind: kind == "HTTPRoute")
    return [document.value["kind"] for document in reading.documents]


@pytest.mark.parametrize(
    "data",
    [
        "# a comment\r" + ROUTE.replace("\n", "\r"),
        "kind: ConfigMap # no\rkind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\n",
        "kind: ConfigMap # no\u0085kind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\n",
        '"kind": HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: "\nkind: ConfigMap\n"\n',
        "'kind': HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "? kind\n: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "!!str kind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "kind : HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        '{"kind": HTTPRoute,\napiVersion: gateway.networking.k8s.io/v1, note: {\nkind: ConfigMap\n}}\n',
        "--- {kind: HTTPRoute, apiVersion: gateway.networking.k8s.io/v1, no: '\nkind: ConfigMap\napiVersion: v1\n'}\n",
    ],
)
def test_an_object_whose_kind_is_in_disguise_is_read(data: str) -> None:
    assert "HTTPRoute" in kinds(data.encode())


def test_a_plain_object_of_another_kind_is_left_unread() -> None:
    assert kinds(b"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n") == []
    assert kinds(b"apiVersion: v1\r\nkind: ConfigMap\r\ndata:\r\n  a: b\r\n") == []


def rules(directory: Path) -> set[str]:
    return {finding.rule for finding in policylint.lint(directory).findings}


def test_items_of_any_object_are_objects_as_kubectl_sees_it(tmp_path: Path) -> None:
    item = "\n".join(f"  {line}" for line in ROUTE.splitlines()).replace("  apiVersion", "- apiVersion", 1)
    (tmp_path / "bundle.yaml").write_text(f"apiVersion: example.com/v1\nkind: Bundle\nitems:\n{item}\n")
    assert "GWP401" in rules(tmp_path)


def test_what_stands_above_a_trailer_that_looks_like_a_template_is_read(tmp_path: Path) -> None:
    (tmp_path / "route.yaml").write_text(f"{ROUTE}---\n{{% trailer\n")
    assert {"GWP401", "GWP910"} <= rules(tmp_path)


def test_a_file_that_begins_as_a_template_is_none(tmp_path: Path) -> None:
    (tmp_path / "route.yaml").write_text(f"{{% if x %}}\n---\n{ROUTE}")
    assert rules(tmp_path) == set()


def test_a_long_pattern_of_a_patch_is_a_pattern(tmp_path: Path) -> None:
    names = "|".join(f"other-{number:03}" for number in range(40))
    (tmp_path / "route.yaml").write_text(ROUTE)
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [route.yaml]\n"
        f"patches: [{{target: {{kind: HTTPRoute, name: {names}|hidden}},"
        ' patch: "[{op: replace, path: /spec/parentRefs/0/name, value: elsewhere}]"}]\n'
    )
    (finding,) = [each for each in policylint.lint(tmp_path).findings if each.rule == "GWP401"]
    assert "elsewhere" in finding.message
