"""What a second tree takes over from the first one is what it would have built itself, whatever the two hold."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.load.cache import Remembered
from policylint.load.reading import load
from policylint.render import recording
from policylint.render.kustomize import build
from policylint.render.kustomize.build import Built, Kustomizer
from policylint.render.provenance import Trace
from policylint.render.recording import Reusing
from policylint.render.shared import Shared
from policylint.render.tree import Tree
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.render.trees import written

Files = dict[str, str]
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: NAME}
spec: {parentRefs: [{name: edge}]}
"""
UNREAD = "apiVersion: example.org/v1\nkind: KIND\nmetadata: {name: x}\n"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec: {group: example.org, names: {kind: KIND}, scope: Cluster}
"""


def said(built: Built) -> Any:
    """All that can be seen of something built."""
    return (
        [(repr(each.body), traced(each.trace), each.names, each.hashed) for each in built.manifests],
        [(note.code, note.message, note.location.file, note.location.pointer) for note in built.journal.notes],
        built.journal.gaps,
        sorted(built.reached),
    )  # fmt: skip


def traced(trace: Trace) -> Any:
    place = trace.document.position(trace.pointer)
    return trace.document.file, trace.pointer, place, {step: traced(each) for step, each in trace.children.items()}


class Side:
    """A tree as it lies in a directory now, and its kustomizers with and without another tree."""

    def __init__(self, directory: Path, remembered: Remembered, shared: Shared) -> None:
        def tree(part: Shared | None) -> tuple[Tree, Any]:
            source = open_source([str(directory)])
            loaded = load(source, known_groups(), remembered=remembered if part else None)
            unread = frozenset((each.api_version.rpartition("/")[0], each.kind) for each in loaded.unread)
            return Tree(source, loaded, loaded.cluster_scoped, part), (loaded.cluster_scoped, unread, None, None)

        with_shared, arguments = tree(shared)
        self.kustomizer = shared.kustomizer(with_shared, *arguments)
        alone, arguments = tree(None)
        self.alone = Kustomizer(alone, *arguments)

    def build(self, directory: str, components: list[str]) -> tuple[Any, Any]:
        """What both make of a directory, as it is or with more components."""
        return tuple(said(_build(each, directory, components)) for each in (self.kustomizer, self.alone))  # type: ignore[return-value]


def _build(kustomizer: Kustomizer, directory: str, components: list[str]) -> Built:
    own = kustomizer.tree.kustomization(directory)
    if not components or own is None:
        return kustomizer.build(directory)
    body, trace = own
    return kustomizer.build(directory, ({**body, "components": [*body.get("components", []), *components]}, trace))


NAMES = ("a", "b", "c", "d", "e")
FOLDERS = [f"../{each}" for each in NAMES]
RESOURCES = [*FOLDERS, "../one.yaml", "../two.yaml", "../late.txt", "../x"]
kustomizations = st.fixed_dictionaries(
    {"resources": st.lists(st.sampled_from(RESOURCES), max_size=4)},
    optional={
        "components": st.lists(st.sampled_from(FOLDERS), max_size=2),
        "namespace": st.sampled_from(["shop", "infra"]),
        "namePrefix": st.just("p-"),
        "patches": st.just([{"path": "../patch.yaml"}]),
        "configMapGenerator": st.just([{"name": "m", "files": ["../late.txt", "../gone.txt"]}]),
        "replacements": st.just([{"path": "../replacement.yaml"}]),
        "configurations": st.just(["../configuration.yaml"]),
        "generators": st.just(["../generator.yaml"]),
    },
)  # fmt: skip
others = st.fixed_dictionaries(
    {},
    optional={
        "one.yaml": st.sampled_from([ROUTE, ROUTE + "---" + UNREAD, ROUTE.replace("NAME", "other")]),
        "two.yaml": st.sampled_from([ROUTE.replace("NAME", "two"), UNREAD, CRD]),
        "late.txt": st.sampled_from([ROUTE.replace("NAME", "late"), "text\n"]),
        "gone.txt": st.just("text\n"),
        "patch.yaml": st.sampled_from([ROUTE.replace("edge", "inner"), UNREAD]),
        "x/kustomization.yaml": st.just("namespace: x\n"),
        "x/y.yaml": st.just(ROUTE),
    },
)
trees = st.tuples(st.dictionaries(st.sampled_from(NAMES), kustomizations, max_size=5), others)
builds = st.lists(
    st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(FOLDERS), max_size=1)), min_size=1, max_size=6
)


def files_of(tree: tuple[dict[str, Any], Files]) -> Files:
    import json

    folders, more = tree
    return {**{f"{name}/kustomization.yaml": json.dumps(each) + "\n" for name, each in folders.items()}, **more}


@pytest.fixture(scope="module")
def bounds() -> Iterator[None]:
    """Bounds that small trees reach."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (build, recording):
            patch.setattr(module, "MAX_DEPTH", 4)
            patch.setattr(module, "MAX_RUNS", 14)
        yield


@pytest.mark.usefixtures("bounds")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees, builds, st.data())
def test_a_second_tree_has_what_it_would_have_built(
    tmp_path_factory: pytest.TempPathFactory, first: tuple[dict[str, Any], Files], order: list[Any], data: st.DataObject
) -> None:
    directory = tmp_path_factory.getbasetemp() / "recording"
    remembered, shared = Remembered(sharing=True), Shared()
    folders, more = first
    changed = data.draw(st.dictionaries(st.sampled_from(NAMES), kustomizations, max_size=2))
    second = ({**folders, **changed}, {**more, **data.draw(st.one_of(st.just({}), others))})
    for tree in (first, second):
        shutil.rmtree(directory, ignore_errors=True)
        written(directory, {".keep": "", **files_of(tree)})
        side = Side(directory, remembered, shared)
        for each in order if tree is first else data.draw(st.permutations(order)):
            made, alone = side.build(*each)
            assert made == alone
        assert side.kustomizer._runs == side.alone._runs


def kinds(*names: str) -> str:
    return "resources: [" + ", ".join(names) + "]\n"


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Builds directories in a first tree, then, with some of its files changed, in a second one; tells which of the
    kustomizations were run there. What they make is held against a build that knows of no other tree."""
    ran: list[str] = []
    run = Reusing._run

    def counted(self: Any, directory: str, *arguments: Any) -> Built:
        ran.append(directory)
        return run(self, directory, *arguments)

    monkeypatch.setattr(Reusing, "_run", counted)

    def build(files: Files, changes: dict[str, str | None], *wanted: Any) -> list[str]:
        remembered, shared = Remembered(sharing=True), Shared()
        for more in ({}, changes):
            for path, text in more.items():
                (tmp_path / path).unlink(missing_ok=True)
                files = {key: value for key, value in {**files, path: text}.items() if value is not None}  # type: ignore[dict-item]
            written(tmp_path, files)
            side = Side(tmp_path, remembered, shared)
            for each in wanted:
                first = isinstance(each, tuple)
                if not first or each[0] in ("", "second" if more is changes else "first"):
                    directory, components = (each[1], each[2]) if first else (each, [])
                    made, alone = side.build(directory, components)
                    assert made == alone
        return ran

    return build


ONE = {"a/kustomization.yaml": kinds("route.yaml"), "a/route.yaml": ROUTE}
BOTH = {
    **ONE,
    "b/kustomization.yaml": kinds("../base", "own.yaml"),
    "b/own.yaml": ROUTE.replace("NAME", "own"),
    "c/kustomization.yaml": kinds("../base"),
    "base/kustomization.yaml": kinds("base.yaml"),
    "base/base.yaml": ROUTE.replace("NAME", "base"),
}


def test_nothing_is_built_again_where_nothing_changed(both: Any) -> None:
    assert both(BOTH, {"README.yaml": "a: b\n"}, "a", "b", "c") == []


def test_only_what_changed_is_built_again(both: Any) -> None:
    assert both(BOTH, {"a/route.yaml": ROUTE.replace("edge", "inner")}, "a", "b", "c") == ["a"]


def test_a_base_that_changed_is_built_again_once_and_so_are_those_who_use_it(both: Any) -> None:
    assert both(BOTH, {"base/base.yaml": ROUTE.replace("edge", "inner")}, "a", "b", "c") == ["b", "base", "c"]


def test_a_base_that_is_the_same_is_taken_over_by_one_that_changed(both: Any) -> None:
    assert both(BOTH, {"b/own.yaml": ROUTE.replace("edge", "inner")}, "a", "b", "c") == ["b"]


@pytest.mark.parametrize(
    ("kustomization", "path", "content"),
    [
        (kinds("late.yaml"), "a/late.yaml", ROUTE),
        (kinds("../late"), "late/kustomization.yaml", "namespace: x\n"),
        (kinds("late.txt"), "a/late.txt", ROUTE),
        ("configMapGenerator: [{name: m, files: [late.txt]}]\n", "a/late.txt", "text\n"),
        ("patches: [{path: late.yaml}]\n", "a/late.yaml", ROUTE),
        ("components: [../late]\n", "late/kustomization.yaml", "kind: Component\nnamespace: x\n"),
        ("replacements: [{path: late.yaml}]\n", "a/late.yaml", "- source: {kind: A}\n"),
    ],
)
def test_what_appears_where_there_was_nothing_is_seen(both: Any, kustomization: str, path: str, content: str) -> None:
    files = {"a/kustomization.yaml": kustomization, "b/kustomization.yaml": kinds("b.yaml"), "b/b.yaml": ROUTE}
    assert both(files, {path: content}, "a", "b")[0] == "a"
    assert "b" not in both(files, {path: None}, "a", "b")


def test_a_generators_file_counts_by_its_bytes(both: Any) -> None:
    files = {"a/kustomization.yaml": "configMapGenerator: [{name: m, files: [x.txt]}]\n", "a/x.txt": "one\n"}
    assert both(files, {"a/x.txt": "two\n"}, "a") == ["a"]


def test_configurations_are_always_read_again(both: Any) -> None:
    """They work on what others make of the directory, too."""
    files = {**ONE, "a/kustomization.yaml": kinds("route.yaml") + "configurations: [c.yaml]\n", "a/c.yaml": "a: b\n"}
    assert both(files, {}, "a") == ["a"]


def test_a_kind_that_somebody_has_files_of_now_is_no_patch_without_target(both: Any) -> None:
    patch = "patches: [{patch: '{apiVersion: example.org/v1, kind: KIND, metadata: {name: x}}'}]\n"
    files = {**ONE, "a/kustomization.yaml": kinds("route.yaml") + patch}
    assert both(files, {"z.yaml": UNREAD.replace("{name: x}", "{name: z}")}, "a") == ["a"]


def test_a_kind_that_has_no_namespace_any_more_changes_everything(both: Any) -> None:
    assert both(BOTH, {"crd.yaml": CRD.replace("KIND", "Thing")}, "a", "c") in ([], ["a", "c", "base"])


def test_an_amended_kustomization_is_another_one(both: Any) -> None:
    files = {**BOTH, "comp/kustomization.yaml": "kind: Component\nnamespace: x\n"}
    assert both(files, {}, ("", "a", ["../comp"]), "a") == []
    assert both(files, {}, "a", ("second", "a", ["../comp"])) == ["a", "comp"]


def test_a_cycle_that_only_an_amendment_makes_is_found(both: Any) -> None:
    files = {
        "a/kustomization.yaml": kinds(),
        "x/kustomization.yaml": "kind: Component\n" + kinds("../y"),
        "y/kustomization.yaml": kinds("../a"),
    }
    assert both(files, {}, ("first", "y", []), ("second", "a", ["../x"])) == ["a", "x", "y"]


def test_bounds_on_depth_hold_for_what_is_taken_over(both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (build, recording):
        monkeypatch.setattr(module, "MAX_DEPTH", 3)
    files = {
        "a/kustomization.yaml": kinds(),
        "b/kustomization.yaml": kinds("../a"),
        "c/kustomization.yaml": kinds("../b"),
        "d/kustomization.yaml": kinds("../e"),
        "e/kustomization.yaml": kinds(),
    }
    assert both(files, {"e/kustomization.yaml": kinds("../c")}, "c", "d")[:2] == ["d", "e"]


def test_bounds_on_numbers_hold_for_what_is_taken_over(both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (build, recording):
        monkeypatch.setattr(module, "MAX_RUNS", 2)
    assert both(BOTH, {"a/kustomization.yaml": kinds("../b", "../c")}, "b", "a", "c") != []


def test_those_who_get_what_was_built_may_change_it(tmp_path: Path) -> None:
    remembered, shared = Remembered(sharing=True), Shared()
    written(tmp_path, BOTH)
    sides = [Side(tmp_path, remembered, shared) for _ in range(3)]
    for side in sides:
        built = side.kustomizer.build("b")
        assert said(built) == said(side.alone.build("b"))
        for each in built.manifests:
            each.put(("metadata", "name"), "changed", each.trace)
