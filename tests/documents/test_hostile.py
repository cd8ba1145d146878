"""Hostile input: always an answer, never an exception, always soon."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from policylint.documents import MAX_BYTES, MAX_DEPTH, MAX_NODES, exact, read
from policylint.documents.events import binding
from policylint.documents.problem import MAX_PROBLEMS


def answer(data: bytes) -> list[tuple[str, int]]:
    start = time.process_time()
    reading = read(data, "f.yaml")
    assert time.process_time() - start < 5
    return [(problem.code, problem.line) for problem in reading.problems]


def laughs(levels: int, width: int) -> bytes:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"[" * 10_000, "too-deep", 1),
        (b"[" * 10_000 + b"]" * 10_000, "too-deep", 1),
        (b"{a: " * 10_000, "too-deep", 1),
        (b"- " * 10_000 + b"x", "too-deep", 1),
        ("\n".join(" " * depth + "a:" for depth in range(3_000)).encode(), "too-deep", MAX_DEPTH + 1),
        (laughs(10, 10), "alias-bomb", 7),
        (b"a: \xff\xfe\n", "not-utf8", 1),
        (b"a: 1\nb: \xc3\x28\n", "not-utf8", 2),
        (b"a: 1\n\0\n", "binary", 2),
        (b"\x7fELF\x02\x01\x01\0\0\0", "binary", 1),
        (b"a: {b: [1, 'x", "yaml-syntax", 1),
    ],
)
def test_one_problem(data: bytes, code: str, line: int) -> None:
    assert answer(data) == [(code, line)]


def test_merge_bomb() -> None:
    lines = ["a0: &a0 {k0: 1, k1: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 20)}]}}" for n in range(1, 12)]
    assert [code for code, _ in answer("\n".join(lines).encode())] == ["alias-bomb"]


def test_aliases_cannot_nest_past_the_depth_bound() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, MAX_DEPTH + 50))]
    assert [code for code, _ in answer("\n".join(lines).encode())] == ["too-deep"]


def test_honest_use_of_aliases_is_fine() -> None:
    data = b"a: &a {k: [1, 2, 3]}\nb:\n" + b"- *a\n" * 10_000
    assert answer(data) == []


def test_depth_below_the_bound_is_fine() -> None:
    depth = MAX_DEPTH - 1
    reading = read(b"[" * depth + b"]" * depth, "f.yaml")
    assert not reading.problems
    assert reading.documents[0].position((0,) * depth).column == depth
    assert read(b"&a " + b"[" * depth + b"]" * depth, "f.yaml").documents[0].value is not None


def test_too_large_is_not_looked_at() -> None:
    data = bytes(MAX_BYTES + 1)
    tracemalloc.start()
    assert answer(data) == [("too-large", 1)]
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("piece", [b"---\n", b"1,"])
def test_endless_pieces_are_not_read(piece: bytes) -> None:
    assert answer(piece * (MAX_BYTES // len(piece))) == [("too-large", 1)]


def test_long_documents_without_aliases_are_not_bombs() -> None:
    assert answer(b"&x a: [" + b"1," * (MAX_NODES // 4) + b"1]\n") == []


def test_many_separators() -> None:
    assert answer(b"---\n" * 200_000) == []


def test_a_file_of_broken_documents_is_given_up() -> None:
    assert len(answer(b"--- [\n" * 5_000)) == MAX_PROBLEMS + 1


def test_template_marks_never_closed_take_no_quadratic_time() -> None:
    assert answer(b"a: [\n" + b"  {{ x\n" * 100_000 + b"  {% %{ <% {#\n" * 10_000) == []


def test_merging_over_and_over_takes_no_quadratic_time() -> None:
    keys = b", ".join(b"k%d: 1" % number for number in range(20_000))
    assert answer(b"a: &a {" + keys + b"}\nb: &b {x: 1}\nc:\n  <<: *a\n" + b"  <<: *b\n" * 20_000) == []


def test_without_libyaml_the_same_code_runs_over_the_pure_parser() -> None:
    pure = binding(pure=True)
    assert pure.parser is not binding().parser
    text = "a: &x {b: 'yes', c: on}\nd: *x\n"
    result = exact.load(text.encode(), text, pure)
    assert result.documents[0][0] == {"a": {"b": "yes", "c": True}, "d": {"b": "yes", "c": True}}
    assert exact.load(b"a: [", "a: [", pure).refused is not None


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\n   \x0bover", 2),
        (b"\n\x0c", 2),
        (b"--- \n\xef\xbb\xbf!!null xa: v1\n", 2),
        (b"---\n\xef\xbb\xbf!!int a: v1\n", 2),
    ],
)
def test_what_libyaml_or_kubernetes_refuses_is_refused(data: bytes, line: int) -> None:
    assert answer(data) == [("yaml-syntax", line)]


def test_a_number_is_no_version_by_which_a_document_stays_unread() -> None:
    data = b"apiVersion: 0o7\nkind: Deployment\n---\napiVersion: 3scale.net/v1\nkind: Product\n"
    reading = read(data, "f.yaml", wanted=lambda *_: False)
    assert [document.value for document in reading.documents] == [{"apiVersion": 7, "kind": "Deployment"}]
    assert [(unread.api_version, unread.kind) for unread in reading.unread] == [("3scale.net/v1", "Product")]
