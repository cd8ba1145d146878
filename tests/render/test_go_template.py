"""Go templates: what is certain is filled in, the rest stays as it is written, and an uncertain course is refused."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.budget import Budget
from policylint.render.argo.go_template import UncertainError, filled_in

PARAMETERS: dict[str, Any] = {
    "name": "Shop",
    "count": 3,
    "on": True,
    "off": False,
    "empty": "",
    "a.b": "dotted",
    "labels": {"env": "prod", "x-y": "dashed"},
    "list": ["one", "two"],
    "path": {"path": "apps/shop", "basename": "shop", "segments": ["apps", "shop"]},
}
CERTAIN = {
    "{{ .name }}": "Shop",
    "{{name}}": "Shop",
    "{{ .count }} {{ .on }}": "3 true",
    '{{ .labels.env }}-{{ index .labels "x-y" }}': "prod-dashed",
    "{{ a.b }}": "dotted",
    "{{ path }} {{ .path.path }} {{ path.basename }} {{ path[1] }}": "apps/shop apps/shop shop shop",
    "{{ index .path.segments 1 }}": "shop",
    '{{ .name | lower | replace "s" "z" }}': "zhop",
    '{{ default "x" .none }} {{ .none | default "y" }} {{ .name | default "y" }}': "x y Shop",
    '{{ .path.path | trimPrefix "apps/" | quote }}': '"shop"',
    "{{- if .on }} a {{- else }} b {{ end -}} !": " a!",
    '{{ if .off }}a{{ else if eq .name "Shop" }}b{{ else }}c{{ end }}': "b",
    '{{ if and .on (not .off) (hasKey . "name") }}a{{ end }}': "a",
    "{{ if or .empty .none }}a{{ else }}b{{ end }}": "b",
    "{{ range .list }}<{{ . }}{{ $.name }}>{{ end }}": "<oneShop><twoShop>",
    "{{ range .none }}a{{ else }}b{{ end }}": "b",
    "{{ with .labels }}{{ .env }}{{ end }}": "prod",
    "{{/* a comment */}}a": "a",
    "{{ toJson .list }}": '["one","two"]',
    "a: {{ .labels | toYaml | nindent 2 }}": 'a: \n  {"env": "prod", "x-y": "dashed"}',
    "no template": "no template",
}
SYMBOLIC = ["{{ .none }}", "{{ server }}", "{{ .name | sha256sum }}", '{{ printf "%s" .name }}', "{{ .labels }}"]
REFUSED = [
    '{{ if genCA "x" 1 }}a{{ end }}',
    "{{ if lower .none }}a{{ end }}",
    "{{ range .name }}{{ end }}",
    "{{ $x := .name }}{{ $x }}",
    "{{ if .on }}a",
    "a{{ end }}",
    "{{ else }}",
    "{{}}",
    "{{ if (eq .name }}a{{ end }}",
    '{{ template "x" . }}',
    "{{ if .on }}" * 100 + "{{ end }}" * 100,
]


@pytest.mark.parametrize(("template", "expected"), CERTAIN.items())
def test_what_is_certain_is_filled_in(template: str, expected: str) -> None:
    assert filled_in(template, PARAMETERS, Budget()) == expected


@pytest.mark.parametrize("template", SYMBOLIC)
def test_what_is_not_known_stays_as_it_is_written(template: str) -> None:
    assert filled_in(f"a {template} b", PARAMETERS, Budget()) == f"a {template} b"


@pytest.mark.parametrize("template", REFUSED)
def test_an_uncertain_course_is_refused(template: str) -> None:
    with pytest.raises(UncertainError):
        filled_in(template, PARAMETERS, Budget())


@given(st.text(alphabet='{}-. ()|"`$abifendrgxl1[]:=/*\n', max_size=60))
def test_any_text_is_survived(text: str) -> None:
    with contextlib.suppress(UncertainError):
        filled_in(text, PARAMETERS, Budget())
