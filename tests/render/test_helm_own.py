"""Charts rendered without helm: what helm makes, as far as that is certain.

Each case is what helm makes (tests/witness/helm.py asks it about thousands of objects more).
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.budget import Budget, ExhaustedError
from policylint.documents import read
from policylint.render.helm.own import template
from policylint.render.helm.program import HelmError
from policylint.render.journal import WITHOUT_HELM

ABOUT = "apiVersion: v2\nname: shop\nversion: 0.1.0\nappVersion: '1'\n"


def made(
    written: str, values: Any = None, settings: tuple[tuple[str, str], ...] = (), **files: str
) -> list[dict[str, Any]]:
    """The objects of a chart with one template, or a few, given some values."""
    held = {"Chart.yaml": ABOUT, "templates/x.yaml": written, **files}
    rendered = template(
        {f"c/{path}": text.encode() for path, text in held.items()}, "c", "web", "prod", [values or {}], settings
    )
    return [each.value for each in read(rendered.output.encode(), "").documents if each.value is not None]


def printed(expression: str, values: Any = None, **files: str) -> Any:
    """What `a` of an object is that an expression fills in."""
    (body,) = made(f"a: {expression}\n", values, **files)
    return body["a"]


PRINTED = {
    "{{ .Release.Name }}-{{ .Release.Namespace }}-{{ .Chart.Name }}-{{ .Chart.AppVersion }}": "web-prod-shop-1",
    "{{ .Values.x | quote }}": 5,
    "{{ .Values.none }}": None,
    "{{ .Values.none | default 3 }}": 3,
    "{{ tpl .Values.t . }}": "web/5",
    "{{ include \"n\" (dict \"a\" .Release.Name) }}": "<web>",
    "{{ .Files.Get \"conf/a.txt\" | trim }}": "text",
    "{{ (.Files.Glob \"conf/*\").AsConfig | quote }}": "a.txt: |\n  text",
    "{{ range $path, $_ := .Files.Glob \"conf/*\" }}{{ $path }}{{ end }}": "conf/a.txt",
    "{{ .Capabilities.APIVersions.Has \"gateway.networking.k8s.io/v1/HTTPRoute\" }}": True,
    "{{ .Capabilities.APIVersions.Has \"example.com/v1\" }}": False,
    "{{ if lookup \"v1\" \"Secret\" \"a\" \"b\" }}old{{ else }}new{{ end }}": "new",
    "{{ .Template.Name }}": "shop/templates/x.yaml",
    "{{ (.Values.none).deeper }}": None,
    "{{ toYaml .Values.m | nindent 2 }}": {"b": ["c"]},
    "{{ required \"say x\" .Values.x }}": 5,
    "{{ int64 \"9223372036854775808\" }} {{ int64 \"-9223372036854775808\" }}": "0 -9223372036854775808",
    "{{ div -7 2 }} {{ mod -7 2 }} {{ div 9223372036854775807 3 }}": "-3 -1 3074457345618258602",
    "{{ mul 9223372036854775807 3 }} {{ add1 9223372036854775807 }}": "9223372036854775805 -9223372036854775808",
    "{{ $x := 10 }}{{ range until 60 }}{{ $x = mul $x $x }}{{ end }}{{ $x }}": 0,
    "{{ float64 (repeat 400 \"9\") }}": 0,
}  # fmt: skip
HELPERS = {
    "templates/_h.tpl": '{{- define "n" -}}<{{ .a }}>{{- end -}}',
    "conf/a.txt": "text\n",
    "values.yaml": "x: 5\nt: '{{ .Release.Name }}/{{ .Values.x }}'\nm: {b: [c]}\n",
}


@pytest.mark.parametrize(("expression", "expected"), PRINTED.items())
def test_what_templates_see(expression: str, expected: Any) -> None:
    found = printed(expression, **HELPERS)
    assert found == (str(expected) if "quote" in expression and expected == 5 else expected)


SUB = {"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
       "charts/sub/values.yaml": "a: own\nglobal: {g: own}\n",
       "charts/sub/templates/y.yaml": "sub: {{ .Values.a }}\ng: {{ .Values.global.g }}\n"}  # fmt: skip


def with_sub(entry: str, values: Any = None, own: str = "{}") -> list[dict[str, Any]]:
    about = f"{ABOUT}dependencies: [{{name: sub, version: ^1, repository: 'file://x'{entry}}}]\n"
    return made("top: 1\n", values, **{**SUB, "Chart.yaml": about, "values.yaml": own})


@pytest.mark.parametrize(
    ("entry", "values", "own", "expected"),
    [
        ("", {}, "{}", {"sub": "own", "g": "own"}),
        ("", {"sub": {"a": "given"}, "global": {"g": "all"}}, "{}", {"sub": "given", "g": "all"}),
        ("", {}, "sub: {a: above}\n", {"sub": "above", "g": "own"}),
        (", condition: sub.on", {"sub": {"on": False}}, "{}", None),
        (", condition: 'none.on,sub.on'", {}, "sub: {on: true}\n", {"sub": "own", "g": "own"}),
        (", tags: [t]", {"tags": {"t": False}}, "{}", None),
        (
            ", tags: [t], condition: sub.on",
            {"tags": {"t": False}, "sub": {"on": True}},
            "{}",
            {"sub": "own", "g": "own"},
        ),
        (", alias: other", {"other": {"a": "aliased"}}, "{}", {"sub": "aliased", "g": "own"}),
    ],
)
def test_charts_in_a_chart(entry: str, values: Any, own: str, expected: Any) -> None:
    found = [each for each in with_sub(entry, values, own) if "sub" in each]
    assert found == ([expected] if expected else [])


def test_null_takes_a_default_away() -> None:
    assert printed('{{ hasKey .Values.m "b" }}', {"m": {"b": None}}, **HELPERS) is False
    assert printed('{{ hasKey .Values "x" }}', {"x": None}, **HELPERS) is False


def test_settings_are_numbers_where_they_look_like_ones() -> None:
    settings = (("--set", "a.b=3"), ("--set-string", "c=3"), ("--set", "d=true"))
    (body,) = made("a: {{ kindOf .Values.a.b }} {{ kindOf .Values.c }} {{ kindOf .Values.d }}\n", {}, settings)
    assert body["a"] == "int64 string bool"


def test_tests_partials_and_notes_are_left_out_and_crds_are_not() -> None:
    files = {
        "templates/NOTES.txt": "{{ .Release.Name }}: notes",
        "templates/_p.yaml": "a: partial\n",
        "templates/t.yaml": "kind: Pod\nmetadata: {annotations: {helm.sh/hook: test}}\n",
        "templates/old.yaml": "a: ignored\n",
        ".helmignore": "# some\nold.yaml\n",
        "crds/c.yaml": "kind: CustomResourceDefinition\n",
    }
    assert made("a: kept\n", **files) == [{"kind": "CustomResourceDefinition"}, {"a": "kept"}]


@pytest.mark.parametrize("cut", ["---", "--- ", "---# more", "--- # more", "---   \n# more"])
def test_documents_are_taken_apart_at_dashes_whatever_stands_behind_them(cut: str) -> None:
    assert made(f"a: 1\n{cut}\nb: 2\n") == [{"a": 1}, {"b": 2}]


def test_what_stands_behind_the_dashes_is_of_the_document() -> None:
    assert made("a: 1\n---b: 2\n") == [{"a": 1}, {"b": 2}]
    assert made("a: 1\n--- \nb: |\n  ---\n  c\n") == [{"a": 1}, {"b": "---\nc\n"}]


def test_functions_that_look_at_their_arguments_alone_cost_little_of_large_values() -> None:
    values = {"large": {str(number): [number] * 50 for number in range(200)}}
    written = "{{ range until 300 }}{{ $_ := dict `all` $ }}{{ end }}a: {{ kindOf .Values.large }}\n"
    files = {"Chart.yaml": ABOUT, "templates/x.yaml": written}
    held = {f"c/{path}": text.encode() for path, text in files.items()}
    assert "map" in template(held, "c", "web", "prod", [values], budget=Budget(steps=20_000)).output
    files["templates/x.yaml"] = "{{ range until 300 }}{{ $_ := toJson $.Values }}{{ end }}\n"
    held = {f"c/{path}": text.encode() for path, text in files.items()}
    with pytest.raises(ExhaustedError):
        template(held, "c", "web", "prod", [values], budget=Budget(steps=20_000))


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{{ .Values.a.b.c }}", "nil pointer"),
        ("{{ fail `no gateway` }}", "no gateway"),
        ("{{ required `say it` .Values.a }}", "say it"),
        ("{{ include `none` . }}", "none"),
        ("{{ env `HOME` }}", "not defined"),
        ("{{ if }}", "without a value"),
        ("a: [", "did not find"),
        ("a: 1\n---\n---# more\nb: 2\n", "mapping values are not allowed"),
        ("a: 1\n----\nb: 1\n", "did not find expected node content"),
    ],
)
def test_what_helm_refuses(written: str, words: str) -> None:
    with pytest.raises(HelmError, match=words):
        made(written)


@pytest.mark.parametrize("about", ["type: library\n", "kubeVersion: <1.20\n", "dependencies: [{name: gone}]\n"])
def test_charts_that_cannot_be_installed(about: str) -> None:
    with pytest.raises(HelmError):
        made("a: b\n", **{"Chart.yaml": ABOUT + about})


@pytest.mark.parametrize(
    ("written", "files"),
    [
        ("{{ randAlpha 3 }}", {}),
        ("{{ now }}", {}),
        ("{{ keys .Values | first }}", {"values.yaml": "a: 1\nb: 2\n"}),
        ("{{ .Capabilities.APIVersions.Has \"policy/v1beta1\" }}", {}),
        ("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}", {}),
    ],
)  # fmt: skip
def test_what_is_not_known_without_helm(written: str, files: dict[str, str]) -> None:
    with pytest.raises(HelmError, match=WITHOUT_HELM):
        made(written, **files)


@pytest.mark.parametrize("constant", ["99999999999999999999", "9" * 5000, "0x" + "f" * 20])
def test_a_number_that_fits_nowhere_is_refused(constant: str) -> None:
    with pytest.raises(HelmError, match=r"fit|overflow"):
        made(f"a: {{{{ {constant} }}}}\n")


@pytest.mark.parametrize("expression", ["int64 1e30", "ceil .Values.none | int64 | add 1e300", "round 1e308 5"])
def test_what_no_number_of_go_holds_is_not_known(expression: str) -> None:
    with pytest.raises(HelmError, match=WITHOUT_HELM):
        made(f"a: {{{{ {expression} }}}}\n")


WORK = [
    "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}",
    "{{ range until 199999 }}{{ range until 199999 }}a{{ end }}{{ end }}",
    '{{ $x := "aaaaaaaaaa" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}{{ $x }}',
    "{{ $l := list 1 2 3 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}{{ len $l }}",
    "{{ $l := list 1 }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ toYaml $l }}",
    "{{ $l := list 1 }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ $l }}",
    "{{ $d := dict }}{{ range until 40 }}{{ $d = dict `a` $d `b` $d }}{{ end }}{{ quote $d }}",
    "{{ $d := dict }}{{ range until 40 }}{{ $d = dict `a` $d `b` $d }}{{ end }}{{ $d | deepCopy | len }}",
]


@pytest.mark.parametrize("written", WORK)
def test_a_chart_cannot_ask_for_more_work_than_there_is(written: str) -> None:
    files = {"c/Chart.yaml": ABOUT.encode(), "c/templates/x.yaml": written.encode()}
    with pytest.raises(ExhaustedError):
        template(files, "c", "web", "prod", [], budget=Budget(steps=50_000))


@pytest.mark.parametrize(
    "wrong", ["hasKey $l `a`", "index $l `a`", "$l.a", "index `a` $l", "dict $l 1", "ternary 1 2 $l"]
)
def test_what_is_wrong_with_a_huge_value_is_said_in_few_words(wrong: str) -> None:
    grown = "{{ $l := list 1 }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}"
    with pytest.raises(HelmError):
        made(f"{grown}a: {{{{ {wrong} }}}}\n")


def test_a_call_costs_nothing_for_the_values_that_it_passes_on() -> None:
    """Charts hand all their values to each of their templates: those of argo-cd, 4,000 lines, more than 1,000 times."""
    values = {"large": [{"a": number} for number in range(5_000)]}
    calls = (
        "{{- range until 500 }}{{ include `n` (dict `of` $ `x` .) }}{{ tpl `{{ .Values.none | default 1 }}` $ }}"
        "{{ end }}"
    )
    files = {
        "c/Chart.yaml": ABOUT,
        "c/templates/x.yaml": f"{{{{ define `n` }}}}{{{{ hasKey .of `a` }}}}{{{{ end }}}}{calls}",
    }
    encoded = {path: text.encode() for path, text in files.items()}
    template(encoded, "c", "web", "prod", [values], budget=Budget(steps=60_000))


@pytest.mark.parametrize(
    "written",
    [
        "a: 1\n---\n\n{{- if true }}\nb: 2\n{{- end }}\n",  # what is left is `---b: 2`
        "a: 1\n--- \nb: 2\n",
        "---\n---\na: 1\n---\nb: 2\n---",
        "a: 1\n\n\n---   b: 2\n",
    ],
)
def test_documents_are_parted_where_helm_parts_them(written: str) -> None:
    assert made(written) == [{"a": 1}, {"b": 2}]
