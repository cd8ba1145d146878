"""Go templates: certain where every value is known, refused where Go refuses them, and symbolic where neither is known.

Each case is what Go itself makes (tests/witness/go_templates.py asks it 20,000 more).
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.budget import Budget, ExhaustedError
from policylint.render.argo.templates import filled_in
from policylint.render.go_template.functions import Open
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import UncertainError
from policylint.render.go_template.running import of_json
from policylint.render.go_template.semver import SemverError, compared

PARAMETERS: dict[str, Any] = of_json(
    {
        "name": "Shop",
        "count": 3,
        "large": 1_000_000,
        "on": True,
        "off": False,
        "empty": "",
        "null": None,
        "labels": {"env": "prod", "x-y": "dashed"},
        "list": ["one", "two"],
        "path": {"path": "apps/shop", "basename": "shop", "segments": ["apps", "shop"]},
    }
)
CERTAIN = {
    "{{ .name }}": "Shop",
    "{{ .count }} {{ .large }} {{ .on }}": "3 1e+06 true",
    "{{ .none }} {{ .none.deeper }} {{ .null }}": "<no value> <no value> <no value>",
    '{{ .labels.env }}-{{ index .labels "x-y" }}': "prod-dashed",
    "{{ .labels }} {{ .list }}": "map[env:prod x-y:dashed] [one two]",
    "{{ index .path.segments 1 }}": "shop",
    '{{ .name | lower | replace "s" "z" }}': "zhop",
    '{{ default "x" .none }} {{ .none | default "y" }} {{ .name | default "y" }}': "x y Shop",
    '{{ .path.path | trimPrefix "apps/" | quote }}': '"shop"',
    "{{- if .on }} a {{- else }} b {{ end -}} !": " a!",
    '{{ if .off }}a{{ else if eq .name "Shop" }}b{{ else }}c{{ end }}': "b",
    '{{ if and .on (not .off) (hasKey . "name") }}a{{ end }}': "a",
    "{{ if or .empty .none }}a{{ else }}b{{ end }}": "b",
    "{{ range .list }}<{{ . }}{{ $.name }}>{{ end }}": "<oneShop><twoShop>",
    "{{ range $i, $each := .list }}{{ if $i }},{{ end }}{{ $each }}{{ end }}": "one,two",
    '{{ range .list }}{{ if eq . "two" }}{{ break }}{{ end }}{{ . }}{{ end }}': "one",
    "{{ range .none }}a{{ else }}b{{ end }}": "b",
    "{{ with .labels }}{{ .env }}{{ end }}": "prod",
    "{{ $x := .name }}{{ $x = lower $x }}{{ $x }}": "shop",
    '{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" .name }}': "<Shop>",
    "{{/* a comment */}}a": "a",
    "{{ toJson .list }}": '["one","two"]',
    "a:{{ .labels | toYaml | nindent 2 }}": "a:\n  env: prod\n  x-y: dashed",
    '{{ printf "%s-%d-%v" .name 3 .on }}': "Shop-3-true",
    '{{ regexReplaceAll "(S)h" .name "${1}t" }}': "Stop",
    '{{ semverCompare ">=1.2, <2" "1.10.0" }}': "true",
    '{{ ternary "a" "b" .on }} {{ dig "env" "none" .labels }} {{ list 1 2 | has 2 }}': "a prod true",
    '{{ (dict "a" (list 1 2)).a | join "-" }}': "1-2",
    '{{ normalize "Shop_Web." }} {{ slugify "Shop Web_x" }}': "shop-web shop-web-x",
    "no template": "no template",
}
NOT_KNOWN = ["{{ uuidv4 }}", '{{ now | date "2006" }}', '{{ genCA "a" 1 }}']
REFUSED = [
    "{{ server }}",
    "{{ .name",
    "{{ lower .none }}",
    "{{ eq .count 3 }}",
    "{{ .name.first }}",
    "{{ .null.deeper }}",
    "{{ range .name }}{{ end }}",
    "{{ if .on }}a",
    "a{{ end }}",
    "{{ else }}",
    "{{}}",
    "{{ if (eq .name }}a{{ end }}",
    '{{ template "x" . }}',
    "{{ $none }}",
    '{{ fail "no" }}',
    "{{ if .on }}" * 100 + "{{ end }}" * 100,
]


@pytest.mark.parametrize(("template", "expected"), CERTAIN.items())
def test_what_is_certain_is_filled_in(template: str, expected: str) -> None:
    assert filled_in(template, PARAMETERS, Budget()) == expected


@pytest.mark.parametrize("template", NOT_KNOWN)
def test_what_is_not_known_stays_as_it_is_written(template: str) -> None:
    assert filled_in(f"a {template} b", PARAMETERS, Budget()) == f"a {template} b"
    with pytest.raises(UncertainError):
        filled_in(f"{{{{ if {template[2:-2]} }}}}a{{{{ end }}}}", PARAMETERS, Budget())


def test_the_order_of_keys_is_not_known_and_their_number_is() -> None:
    assert filled_in("{{ keys .labels }}", PARAMETERS, Budget()) == "{{ keys .labels }}"
    assert filled_in('{{ keys .labels | sortAlpha | join "-" }} {{ keys .labels | len }}', PARAMETERS, Budget()) == (
        "env-x-y 2"
    )


@pytest.mark.parametrize("template", REFUSED)
def test_what_go_refuses_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        filled_in(template, PARAMETERS, Budget())


@pytest.mark.parametrize(
    ("option", "expected"), [("missingkey=default", "<no value>"), ("missingkey=zero", "<no value>")]
)
def test_options_say_what_a_key_is_that_is_not_there(option: str, expected: str) -> None:
    assert filled_in("{{ .none }}", PARAMETERS, Budget(), [option]) == expected
    with pytest.raises(TemplateError):
        filled_in("{{ .none }}", PARAMETERS, Budget(), ["missingkey=error"])
    with pytest.raises(TemplateError):
        filled_in("{{ .name }}", PARAMETERS, Budget(), ["missingkey=no"])


def test_what_was_not_seen_stays_symbolic_and_what_was_seen_does_not() -> None:
    known = Open({"name": "shop"})
    assert filled_in("{{ .name }}.{{ .server }}", known, Budget()) == "shop.{{ .server }}"
    assert filled_in('{{ default "x" .metadata.labels.env }}', known, Budget(), ["missingkey=error"]).startswith("{{")
    with pytest.raises(UncertainError):
        filled_in("{{ if .server }}a{{ end }}", known, Budget())


@pytest.mark.parametrize(
    ("constraint", "version", "expected"),
    [
        ("^1.2.3", "1.9.0", True),
        ("^0.3.1", "0.4.0", False),
        ("~1.2", "1.2.9", True),
        ("1.x || >=3", "2.0.0", False),
        ("1.2 - 1.4", "1.4.0", True),
        (">=1.30", "1.30.0-rc.1", False),
        (">=1.30-0", "1.30.0-rc.1", True),
        ("!=1.2.3", "1.2.3", False),
        ("*", "0.0.1", True),
    ],
)
def test_constraints_on_versions(constraint: str, version: str, expected: bool) -> None:
    assert compared(constraint, version) is expected


def test_what_is_no_constraint() -> None:
    with pytest.raises(SemverError):
        compared("newest", "1.0.0")


@pytest.mark.parametrize(
    "template",
    [
        '{{ repeat 100000 (repeat 100000 "a") }}',
        "{{ range until 200000 }}{{ range until 200000 }}a{{ end }}{{ end }}",
        '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
        '{{ $a := dict }}{{ $b := set $a "a" $a }}{{ $a }}',
        "{{ range 1000000000 }}a{{ end }}",
    ],
)
def test_a_template_cannot_ask_for_more_than_any_machine_has(template: str) -> None:
    try:
        made = filled_in(template, PARAMETERS, Budget())
    except (UncertainError, ExhaustedError):
        return
    assert made == template


@given(st.text(alphabet='{}-. ()|"`$abifendrgxl1[]:=/*\n', max_size=60))
def test_any_text_is_survived(text: str) -> None:
    with contextlib.suppress(UncertainError, TemplateError):
        filled_in(text, PARAMETERS, Budget())
