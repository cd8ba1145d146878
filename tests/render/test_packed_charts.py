"""Charts that are packed in `charts/` of another one: what helm makes of them, without helm, whoever packed them.

Predicted from helm v3.16.4, `pkg/chart/loader/archive.go` and `load.go`; archives are written by Python's tarfile.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from policylint.documents import read
from policylint.render.helm.own import template
from policylint.render.helm.packed import MOST_BYTES, Room, unpacked
from policylint.render.helm.program import HelmError
from policylint.workspace import open_workspace
from tests.diff.history import commit, run

DEEP = "/".join(["deeper"] * 30)
"""More than the 100 bytes, and than the 255, that a plain header has room for."""
SHOP = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
EDGE = {
    "Chart.yaml": "apiVersion: v2\nname: edge\nversion: 2.1.0\n",
    "values.yaml": "host: edge.example.com\n",
    "templates/_names.tpl": "{{- define \"edge.name\" }}{{ .Release.Name }}-edge{{ end }}",
    "templates/route.yaml": """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: {{ include "edge.name" . }}}
spec:
  hostnames: [{{ .Values.host }}]
  parentRefs: [{name: edge, namespace: infra}]
  rules: [{backendRefs: [{name: edge, port: 80}]}]
""",
    f"files/{DEEP}/note.txt": "far down",
    "templates/note.yaml": f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: note}}
data: {{note: "{{{{ .Files.Get "files/{DEEP}/note.txt" }}}}"}}
""",
}  # fmt: skip


def packed(files: Mapping[str, str | bytes], style: int = tarfile.GNU_FORMAT, directory: str = "edge") -> bytes:
    """Files as `helm package` writes them: below a directory, gzipped."""
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w:gz", format=style) as archive:
        for path, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(f"{directory}/{path}" if directory else path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return kept.getvalue()


def made(files: Mapping[str, str | bytes], about: str = SHOP, values: object = None) -> list[tuple[str, str]]:
    """The kinds and names of what a chart makes, without helm."""
    held = {f"c/{path}": text.encode() if isinstance(text, str) else text for path, text in files.items()}
    rendered = template({"c/Chart.yaml": about.encode(), **held}, "c", "web", "prod", [values or {}])
    bodies = [each.value for each in read(rendered.output.encode(), "").documents if each.value is not None]
    return sorted((body["kind"], body["metadata"]["name"]) for body in bodies)


BOTH = [("ConfigMap", "note"), ("HTTPRoute", "web-edge")]


@pytest.mark.parametrize("style", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_packed_chart_is_rendered_as_the_directory_is(style: int) -> None:
    short = {path: text for path, text in EDGE.items() if style != tarfile.USTAR_FORMAT or "note" not in path}
    as_directory = {f"charts/edge/{path}": text for path, text in short.items()}
    assert made({"charts/edge-2.1.0.tgz": packed(short, style)}) == made(as_directory) != []


@pytest.mark.parametrize("style", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_and_names_of_any_language_are_read(style: int) -> None:
    named = {**EDGE, "files/żółć-日本.txt": "here", f"files/{'x' * 250}": "here"}
    assert unpacked(packed(named, style), "x.tgz", Room()) == {path: text.encode() for path, text in named.items()}


def test_conditions_aliases_and_values_of_the_parent_hold_for_it() -> None:
    files = {"charts/edge-2.1.0.tgz": packed(EDGE)}
    listed = f"{SHOP}dependencies: [{{name: edge, version: 2.x.x, condition: front.enabled, alias: front}}]\n"
    assert made(files, listed, {"front": {"enabled": False}}) == []
    assert made(files, listed, {"front": {"enabled": True}}) == BOTH
    with pytest.raises(HelmError, match="missing in charts/ directory: other"):
        made(files, f"{SHOP}dependencies: [{{name: other, version: 1.0.0}}]\n")


def test_a_packed_chart_may_hold_packed_ones() -> None:
    outer = {"Chart.yaml": "apiVersion: v2\nname: outer\nversion: 1.0.0\n", "charts/edge.tgz": packed(EDGE)}
    assert made({"charts/outer-1.0.0.tgz": packed(outer, directory="outer")}) == BOTH


@pytest.mark.parametrize("name", ["_edge.tgz", ".edge.tgz", "edge.tgz.prov"])
def test_what_helm_does_not_load_is_left(name: str) -> None:
    assert made({f"charts/{name}": b"nothing that could be read"}) == []


def test_what_a_directory_ignores_an_archive_does_not() -> None:
    files = {**EDGE, ".helmignore": "templates/note.yaml\n"}
    assert made({"charts/edge.tgz": packed(files)}) == BOTH
    assert made({f"charts/edge/{path}": text for path, text in files.items()}) == BOTH[1:]


def _with(tar: bytes) -> bytes:
    return gzip.compress(tar)


def _header(name: bytes = b"edge/x", size: bytes = b"00000000000", kind: bytes = b"0", content: bytes = b"") -> bytes:
    """An entry whose sum is right, whatever else it says."""
    block = name.ljust(100, b"\0") + b"0000644\0" * 3 + size.ljust(12, b"\0") + b"0" * 12 + b" " * 8 + kind
    block = block.ljust(512, b"\0")
    return (
        block[:148]
        + f"{sum(block):06o}\0 ".encode()
        + block[156:]
        + content.ljust(-(-len(content) // 512) * 512, b"\0")
    )


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (b"", "Chart.yaml file is missing"),
        (b"no archive", "is no packed chart"),
        (packed(EDGE)[:200], "ends too soon"),
        (_with(b"x" * 1024), "a header in it is broken"),
        (_with(_header()[:300]), "a header in it is broken"),
        (_with(_header(size=b"77777777777")), "ends too soon"),
        (_with(_header(size=b"-0000000512")), "a header in it is broken"),
        (_with(_header(size=b"\x80" + b"\xff" * 11)), "a header in it is broken"),
        (_with(_header(size=b"00000000012", kind=b"x", content=b"0 path=a\n ")), "an extended header in it is broken"),
        (_with(_header(size=b"00000000015", kind=b"x", content=b"13 size=9999\n")), "of an extended size"),
        (packed({"Chart.yaml": "a: b"}, directory=""), "outside of the chart's directory"),
        (packed({"../../Chart.yaml": "a: b"}), "outside of the chart's directory"),
        (packed({"/etc/passwd": "a: b"}), "outside of the chart's directory"),
        (packed({"values.yaml": "a: b"}), "Chart.yaml file is missing"),
        (packed({**EDGE, "files/zeros": b"\0" * (MOST_BYTES + 1)}), "hold more than 16 MiB"),
    ],
    ids=lambda given: given if isinstance(given, str) else "archive",  # whose bytes hold the time
)  # fmt: skip
def test_what_is_no_packed_chart_is_said(archive: bytes, words: str) -> None:
    with pytest.raises(HelmError, match=words):
        made({"charts/edge.tgz": archive})


def test_all_that_is_packed_in_a_chart_has_one_limit() -> None:
    half = packed({**EDGE, "files/zeros": b"\0" * (MOST_BYTES * 2 // 3)})
    assert made({"charts/edge.tgz": half}) == BOTH
    with pytest.raises(HelmError, match="hold more than 16 MiB"):
        made({"charts/edge.tgz": half, "charts/other.tgz": half})


@given(some.binary(max_size=2000), some.integers(0, 3000), some.binary(min_size=1, max_size=40))
def test_no_archive_fails_otherwise(noise: bytes, place: int, patch: bytes) -> None:
    plain = bytearray(gzip.decompress(packed(EDGE, tarfile.PAX_FORMAT)))
    plain[place : place + len(patch)] = patch
    for archive in (noise, gzip.compress(noise), gzip.compress(bytes(plain))):
        try:
            unpacked(archive, "x.tgz", Room())
        except HelmError as error:
            assert "\n" not in str(error)


def test_a_commit_that_vendors_a_chart_shows_its_routes_where_the_chart_is_named(tmp_path: Path) -> None:
    gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: {{ .Release.Name }}}\n"
    commit(tmp_path, {"charts/shop/Chart.yaml": SHOP, "charts/shop/templates/gateway.yaml": gateway})
    vendored = tmp_path / "charts" / "shop" / "charts" / "edge-2.1.0.tgz"
    vendored.parent.mkdir()
    vendored.write_bytes(packed(EDGE))
    commit(tmp_path, {"charts/shop/Chart.yaml": f"{SHOP}dependencies: [{{name: edge, version: 2.1.0}}]\n"})
    code, said, _ = run(tmp_path, "diff", "HEAD^..HEAD")
    assert code == 0
    assert "+ HTTPRoute" in said
    (route,) = [
        resource
        for simulation in open_workspace([str(tmp_path)]).simulations
        for resource in simulation.world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    ]
    assert str(route.name_location.file).endswith("shop/Chart.yaml")
