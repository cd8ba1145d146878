"""Files that a change moves: what was wrong in them before is not new, and what they hold goes with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.sources.renames import renames
from tests.diff.history import commit, run

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}
"""
BROKEN = ROUTE.replace("namespace: shop}", "namespace: shop")
TEMPLATE = ROUTE.replace("name: web,", "name: {{ .Values.name }},") + "{{ if .Values.more }}\nx: 1\n{{ end }}\n"
CHART = "apiVersion: v2\nname: web\nversion: 0.1.0\n"
BEFORE = {
    "apps/shop/kustomization.yaml": "resources: [route.yaml, missing.yaml, broken.yaml]\n",
    "apps/shop/route.yaml": ROUTE,
    "apps/shop/broken.yaml": BROKEN,
    "charts/web/Chart.yaml": CHART,
    "charts/web/templates/route.yaml": TEMPLATE,
}


def moved(files: dict[str, str], old: str, new: str) -> dict[str, str | None]:
    there = {f"{new}{path[len(old) :]}": text for path, text in files.items() if path.startswith(old)}
    return {**there, **{path: None for path in files if path.startswith(old)}}


@pytest.mark.parametrize(
    "change",
    [
        moved(BEFORE, "apps/shop/", "apps/store/"),
        moved(BEFORE, "apps/", "clusters/prod/apps/"),
        moved(BEFORE, "", "deploy/"),
        {**moved(BEFORE, "apps/shop/", "apps/store/"), "apps/store/broken.yaml": BROKEN.replace("80", "81")},
    ],
    ids=["a directory", "one above", "all", "and one is changed"],
)
def test_what_was_broken_before_is_not_new(tmp_path: Path, change: dict[str, str | None]) -> None:
    commit(tmp_path, dict(BEFORE))
    commit(tmp_path, change)
    status, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    findings = json.loads(out)["findings"]
    assert [each["message"] for each in findings if each["state"] in ("new", "fixed")] == []
    assert status == 0


def test_what_breaks_as_it_moves_is_new(tmp_path: Path) -> None:
    commit(tmp_path, {**BEFORE, "apps/shop/broken.yaml": ROUTE.replace("web,", "web2,")})
    commit(tmp_path, {**moved(BEFORE, "apps/shop/", "apps/store/")})
    status, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    assert [each["rule"] for each in json.loads(out)["findings"] if each["state"] == "new"] == ["GWP910"]
    assert status == 1


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a/x": "1"}, {"b/x": "1"}, {"a/x": "b/x"}),
        ({"a/x": "1", "a/y": "2"}, {"b/x": "1", "b/y": "3"}, {"a/x": "b/x", "a/y": "b/y"}),
        ({"a/x": "1", "b/x": "1"}, {"c/x": "1"}, {"a/x": "c/x"}),
        ({"a/x": "1"}, {"a/x": "1", "b/x": "1"}, {}),
        (
            {"a/one/x": "1", "a/two/x": "1"},
            {"b/two/x": "1", "b/one/x": "1"},
            {"a/one/x": "b/one/x", "a/two/x": "b/two/x"},
        ),
        ({"x": "same lines"}, {"y/x": "same lines, changed"}, {"x": "y/x"}),
        ({"x": "other"}, {"y/x": "words"}, {}),
    ],
)
def test_which_files_moved(before: dict[str, str], after: dict[str, str], expected: dict[str, str]) -> None:
    def read(side: int, path: str) -> bytes:
        return (before, after)[side][path].replace(" ", "\n").replace(",", "").encode()

    assert renames(before, after, read) == expected
