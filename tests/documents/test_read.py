"""What `read` makes of files: documents, problems, what it leaves unread, and what it recognises as something else."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from typing import Any

import pytest

from policylint.documents import FileReading, loading, read, read_unread


def values(text: str | bytes) -> list[Any]:
    reading = read(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    assert not reading.problems
    return [document.value for document in reading.documents]


def problems(reading: FileReading) -> list[tuple[str, int]]:
    return [(problem.code, problem.line) for problem in reading.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1", [{"a": 1}]),
        ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("---\n---\na: 1\n---\n", [{"a": 1}]),
        ("--- {a: 1}\n--- # c\n- 1\n", [{"a": 1}, [1]]),
        ("a: 1\n...\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("%YAML 1.2\n---\na: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("%TAG ! tag:example.com,2024:\n---\na: !x 1\n", [{"a": "1"}]),
        ("a: |\n  ---\n  b\n", [{"a": "---\nb\n"}]),
        ("a: 1\n---not: 2\n", [{"a": 1, "---not": 2}]),
        ('{"a": {"b": [1, 2.5, "x", null, true]}}', [{"a": {"b": [1, 2.5, "x", None, True]}}]),
        ('{\n\t"a": "\\ud83d\\ude00 \\/ \\ud83d"\n}', [{"a": "😀 / \ufffd"}]),
        ("a: ${VAR}\nb: x-${VAR:=y}\n", [{"a": "${VAR}", "b": "x-${VAR:=y}"}]),
        ("a: [http://x, b:c]\n", [{"a": ["http://x", "b:c"]}]),
        ("\ufeffa: 1\n", [{"a": 1}]),
        ("a:\t1\n", [{"a": 1}]),
        ("? a\n: 1\n", [{"a": 1}]),
        ("a: &x 1\nb: &x 2\nc: *x\n", [{"a": 1, "b": 2, "c": 2}]),
        ("a: &x k\n*x : 1\n", [{"a": "k", "k": 1}]),
        ("a: &x {k: 1}\nb: *x\n", [{"a": {"k": 1}, "b": {"k": 1}}]),
        ("a: {<<: {x: 1, y: 2}, y: 3}\n", [{"a": {"x": 1, "true": 3}}]),
        ("text\n", ["text"]),
        ("\ufeff\ufeff!!int 5", [5]),
        ("\ufeff\ufeff&a x", ["x"]),
        ("\u0085%YAML 1.1\n--- a\n--- b", ["a", "b"]),
        ("# x\r%YAML 1.1\n--- a\n--- b", ["a", "b"]),
    ],
)
def test_documents(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_byte_order_marks(encoding: str) -> None:
    assert values("a: é\n---\nb: 2\n".encode(encoding)) == [{"a": "é"}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", "empty"),
        ("# only\n---\n# comments\n", "empty"),
        ("a: 1\n", "yaml"),
        (' {"a": 1}', "json"),
        ("replicas: {{ .Values.replicas }}\n", "helm-template"),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "helm-template"),
        ("a:\n  {{- toYaml .Values.x | nindent 2 }}\nb: 1\n", "helm-template"),
        ("a: 1\n---\n{% if x %}\nb: 1\n{% endif %}\n", "jinja"),
        ("kind: Gateway\nspec:\n  gatewayClassName: a\n  ${ADDRESSES_YAML}\n  listeners: []\n", "envsubst-template"),
        ("kind: Gateway\nspec:\n  gatewayClassName: a\n$ADDRESSES\n  listeners: []\n", "envsubst-template"),
        ("\0GITCRYPT\0\1\2\0", "encrypted"),
        ("$ANSIBLE_VAULT;1.1;AES256\n6162\n", "encrypted"),
        ("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n", "encrypted"),
        ("-----BEGIN PGP MESSAGE-----\n\nhQE=\n-----END PGP MESSAGE-----\n", "encrypted"),
        ("a:\n%{ for x in y ~}\n- 1\n%{ endfor ~}\n", "terraform-template"),
        ("a:\n<#if mail.active?? && mail.active>\n  b: 1\n</#if>\nc: 2\n", "other-template"),
        ("a:\n  - b: 1\n  <#list x as y>\n  - b: ${y}\n  </#list>\n", "other-template"),
        ("a:\n% for x in y:\n  - ${x}\n% endfor\n", "other-template"),
        ("a:\n<?php foreach ($x as $y): ?>\n  - 1\n<?php endforeach ?>\n", "other-template"),
        ("a:\n<% if x %>\n  b: 1\n<% end %>\n", "erb-template"),
        ("a:\n  image: {images[web-1]}\n", "other-template"),
        ("a:\n  name: {self.path.k8s}-admin\n  b: {self.namespace!r}\n", "other-template"),
        ("a:\n  b: 1\n  {more}\n  c: 2\n", "other-template"),
        ("a:\n  - b: 1\n  - {more}\n  {rest}\n", "other-template"),
        ("a:\n  image: @IMAGE_TAG@\n", "other-template"),
        ("a:\n  image: {username}/web:v1\n", "other-template"),
        ("a:\n  - {registry}.example.com/web\n", "other-template"),
        ("metadata:\n  name: a\n  CURRENT_NAMESPACE\nspec: {}\n", "sed-template"),
        ("a:\n  - b: 1\n  __MORE_OF_B__\nc: 2\n", "sed-template"),
        ("metadata:\n  ROLE_BINDING\nsubjects:\n- kind: User\n  - NAME_OF_USER\n", "sed-template"),
    ],
)
def test_form(text: str, form: str) -> None:
    reading = read(text.encode(), "f.yaml")
    assert reading.form == form
    assert not reading.problems
    assert bool(reading.documents) == (form in ("yaml", "json"))


def test_documents_beside_one_that_envsubst_fills_in_are_read() -> None:
    text = "apiVersion: v1\nkind: {0}\n---\nb:\n  c: 1\n  ${{MORE}}\n  d: 2\n---\napiVersion: v1\nkind: {1}\n"
    reading = read(text.format("Service", "Pod").encode(), "f.yaml")
    assert [document.value["kind"] for document in reading.documents] == ["Service", "Pod"]
    assert reading.templated and not reading.problems


@pytest.mark.parametrize(
    "text",
    [
        "a: <#b>\n c: 1\n",
        "a:\n b: c\n  d: 100 % if\n",
        "<?xml version='1'?>\na: b\n c: d\n",
        "a: {b.c: 1}\n d: 1\n",
        "a: {b}\n d: 1\n",
        "a:\n  {b}\nc: d\n e: f\n",
        "a: @b@\n",
        "a: {b}\n c: {d}: e\n",
        "a: {b}\n/c\nd: e\n",
        "a: B_C\n d: e\n",
        "a:\n  b: c\n  NAME\nd: e\n",
        "a: b\n  NAME_OF_IT\n c: d\n",
    ],
)
def test_what_only_looks_like_a_tag_excuses_no_mistake(text: str) -> None:
    assert [problem.code for problem in read(text.encode(), "f.yaml").problems] == ["yaml-syntax"]


def test_a_line_of_variables_excuses_no_other_mistake() -> None:
    reading = read(b"kind: List\nitems:\n  - a: b\n   c: d\n${MORE}\n", "f.yaml")
    assert [problem.code for problem in reading.problems] == ["yaml-syntax"] and not reading.templated


@pytest.mark.parametrize(
    "text",
    [
        "a: '{{ .x }}'\n",
        'a: "{% if x %}"\n',
        "a: |\n  {{ if x }}\n  {{ end }}\n",
        "a: 1 # {{ x }}\n",
        "a: x-{{ y }}\n",
    ],
)
def test_template_marks_in_good_yaml_are_text(text: str) -> None:
    assert len(values(text)) == 1


def test_a_mistake_elsewhere_is_not_excused_by_template_marks_in_a_string() -> None:
    reading = read(b"a: '{{ x }}'\nb: |\n  {{ y }}\nc: [1\nd: 2\n", "f.yaml")
    assert problems(reading) == [("yaml-syntax", 5)]


def test_one_broken_document_is_one_problem_and_the_others_come_out() -> None:
    reading = read(b"a: 1\n---\nb: [1, 2\nc: 3\n---\nd: 4\n---\ne: 'x\n", "f.yaml")
    assert [(document.number, document.line) for document in reading.documents] == [(1, 1), (3, 6)]
    assert [problem.code for problem in reading.problems] == ["yaml-syntax", "yaml-syntax"]
    assert reading.problems[0].line in (3, 4)
    assert "line 3" in reading.problems[0].message
    assert "line 8" in reading.problems[1].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: *x\n", 1, "alias *x has no anchor"),
        ("a: &x 1\n---\nb: *x\n", 3, "alias *x has no anchor"),
        ("a: &x [*x]\n", 1, "contains itself"),
        ("a: 1\n? {b: 1}\n: 2\n", 2, "cannot be a key"),
        ("a: 1\n? [b]\n: 2\n", 2, "cannot be a key"),
        ("a:\n  <<: 5\n", 2, "`<<` takes a mapping"),
        ("a: 1\n\tb: 2\n", 2, "tab"),
        ("a: @x\n", 1, "cannot start any token"),
        ("a: 'x\n", 2, "end of stream"),
        ("a: \x01\n", 1, "control characters"),
    ],
)
def test_problem_says_what_and_where(text: str, line: int, words: str) -> None:
    reading = read(text.encode(), "f.yaml")
    (problem,) = reading.problems
    assert (problem.code, problem.line) == ("yaml-syntax", line)
    assert words in problem.message or words == "tab"


def test_duplicate_key_last_wins_and_is_reported_where_it_stands() -> None:
    reading = read(b"a: 0\n---\nspec:\n- rules:\n    k: 1\n    'k': 2\n    k: {x: 3}\n", "f.yaml")
    assert reading.documents[1].value == {"spec": [{"rules": {"k": {"x": 3}}}]}
    assert [(p.code, p.line, p.column, p.pointer) for p in reading.problems] == [
        ("duplicate-key", 6, 5, ("spec", 0, "rules", "k")),
        ("duplicate-key", 7, 5, ("spec", 0, "rules", "k")),
    ]
    assert all("line 5" in problem.message for problem in reading.problems)
    assert reading.documents[1].position(("spec", 0, "rules", "k"), key=True).line == 7


def test_keys_that_become_the_same_string_are_duplicates() -> None:
    assert problems(read(b"y: 1\non: 2\n", "f.yaml")) == [("duplicate-key", 2)]


def test_merge_follows_the_order_written_as_goyaml_v2_does() -> None:
    base = "base: &b {k: base}\n"
    assert values(base + "x: {<<: *b, k: own}\n")[0]["x"] == {"k": "own"}
    assert values(base + "x: {k: own, <<: *b}\n")[0]["x"] == {"k": "base"}
    assert values("a: &a {k: 1}\nb: &b {k: 2, j: 2}\nx: {<<: [*a, *b]}\n")[0]["x"] == {"k": 1, "j": 2}


MANY = b"""\
apiVersion: v1
kind: ConfigMap
data: [
---
# comment
apiVersion: "apps/v1" # comment
kind: 'Deployment'
---
kind: List
apiVersion: v1
items: []
---
"kind": ConfigMap
apiVersion: v1
---
{"kind": "ConfigMap", "apiVersion": "v1"}
---
kind: ConfigMap
kind: ConfigMap
apiVersion: v1
---
metadata: {}
---
kind: Config#Map
apiVersion: v1
"""


def test_kinds_that_are_not_wanted_stay_unread_and_in_doubt_everything_is_parsed() -> None:
    asked: list[tuple[str, str]] = []
    reading = read(MANY, "f.yaml", wanted=lambda version, kind: bool(asked.append((version, kind))))
    assert asked == [("v1", "ConfigMap"), ("apps/v1", "Deployment")]
    assert [(unread.kind, unread.api_version, unread.line, unread.number) for unread in reading.unread] == [
        ("ConfigMap", "v1", 1, 1),
        ("Deployment", "apps/v1", 6, 2),
    ]
    assert [document.number for document in reading.documents] == [3, 4, 5, 6, 7, 8]


def test_what_stands_above_a_template_is_read_later_too() -> None:
    data = b"apiVersion: v1\nkind: A\n...\na: {{ b }}\n"
    (unread,) = read(data, "f.yaml", wanted=lambda *_: False).unread
    assert [document.value["kind"] for document in read(data, "f.yaml").documents] == ["A"]
    assert [document.value["kind"] for document in read_unread(data, unread).documents] == ["A"]


def test_unread_documents_can_be_read_later_with_the_same_positions() -> None:
    unread = read(MANY, "f.yaml", wanted=lambda *_: False).unread
    (document,) = read_unread(MANY, unread[1]).documents
    assert document.value == {"apiVersion": "apps/v1", "kind": "Deployment"}
    assert (document.number, document.line, document.position(("kind",)).line) == (2, 6, 7)
    assert problems(read_unread(MANY, unread[0]))[0][0] == "yaml-syntax"


def test_loading_keeps_the_collector_off_and_puts_it_back() -> None:
    assert gc.isenabled()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_importing_the_package_does_not_import_a_yaml_parser() -> None:
    code = "import sys, policylint.documents; print([m for m in sys.modules if 'yaml' in m.partition('.')[0]])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []
