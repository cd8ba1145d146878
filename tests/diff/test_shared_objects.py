"""What the sides of a diff find out once about objects that both have: it holds on the other side, or is found anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.documents import read
from policylint.load.objects import resources
from policylint.load.shared_facts import SharedFacts
from policylint.model import UNKNOWN_NAMESPACE, Resource, ResourceKey, Spot
from policylint.render.shared import Shared
from policylint.report.simulate.simulation_v1 import sections
from policylint.sources.git import Repository
from policylint.sources.revision import at_revision
from policylint.workspace import Workspace, open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route
from tests.diff.history import commit
from tests.worlds import gateway_class, grant

CLASS = gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
GRANT = grant(
    "pay", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}", "{group: '', kind: Service}"
)
TIMEOUT = 'timeout: {http: {requestTimeout: "5s"}}'
CONNECT = 'timeout: {tcp: {connectTimeout: "1s"}}'
CHECKOUT = "kind: HTTPRoute, name: checkout"
FILES = {
    "class": CLASS,
    "gateway": GATEWAY,
    "service": SERVICE,
    "pay": SERVICE.replace("namespace: shop", "namespace: pay"),
    "grant": GRANT,
    "route": route(),
    "crossing": route("crossing", backend="namespace: pay, port: 8080"),
    "mine": policy("BackendTrafficPolicy", "mine", CHECKOUT, f"{TIMEOUT}\n  mergeType: StrategicMerge"),
    "edge": policy("BackendTrafficPolicy", "edge", "kind: Gateway, name: edge", CONNECT, namespace="infra"),
    "odd": "apiVersion: v1\nkind: Service\nmetadata: {name: odd, namespace: shop, labels: {on: 1}}\n",
}


def written(directory: Path, files: dict[str, str]) -> Path:
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    for name, text in files.items():
        (directory / f"{name}.yaml").write_text(text, encoding="utf-8")
    return directory


def state(workspace: Workspace) -> tuple[Any, list[Any]]:
    """All that is computed, in words."""
    return {name: list(entries) for name, entries in sections(workspace.simulations)}, [
        (str(each), each.location.sort_key()) for each in workspace.findings()
    ]


CHANGES: list[dict[str, str]] = [
    {},
    {"service": SERVICE.replace("8080", "8081")},
    {"service": ""},
    {"pay": SERVICE.replace("namespace: shop", "namespace: pay").replace("8080", "8081")},
    {"grant": ""},
    {"grant": GRANT.replace("namespace: shop", "namespace: web")},
    {"route": route(backend="port: 8081")},
    {"gateway": GATEWAY.replace("{from: All}", "{from: Same}")},
    {"mine": FILES["mine"].replace("5s", "7s")},
    {"edge": FILES["edge"].replace("1s", "2s")},
    {"edge": FILES["edge"].replace("tcp: {connectTimeout", "http: {requestTimeout")},
    {"edge": ""},
    {"class": CLASS.replace("gateway.envoyproxy.io/gatewayclass-controller", "istio.io/gateway-controller")},
    {"odd": FILES["odd"].replace("on: 1", "'on': '1'")},
]


@pytest.mark.parametrize("changed", CHANGES, ids=str)
def test_the_later_side_is_what_it_is_by_itself(tmp_path: Path, changed: dict[str, str]) -> None:
    shared_facts, shared = SharedFacts(), Shared()

    def side(files: dict[str, str]) -> Workspace:
        place = str(written(tmp_path / "tree", files))
        return open_workspace([place], shared_facts=shared_facts, shared=shared)

    before = side(FILES)
    first = state(before)
    after = side({name: text for name, text in {**FILES, **changed}.items() if text})
    alone = open_workspace([str(tmp_path / "tree")])
    assert state(after) == state(alone)
    assert state(before)[0] == first[0]
    mine, theirs = (each.simulations[0].world.resources for each in (before, after))
    same = {key for key, each in mine.items() if theirs.get(key) is each}
    assert len(same) == len(FILES) - len(changed)


@pytest.mark.parametrize("changed", CHANGES, ids=str)
def test_the_later_revision_is_what_it_is_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commit(tmp_path, {f"{name}.yaml": text for name, text in FILES.items()})
    for name, text in changed.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    commit(tmp_path, {"note.txt": "second\n"})
    repository, shared_facts, shared = Repository("."), SharedFacts(), Shared()
    before, after = (
        open_workspace(source=at_revision(repository, each), shared_facts=shared_facts, shared=shared)
        for each in ("HEAD~1", "HEAD")
    )
    assert state(after) == state(open_workspace(source=at_revision(Repository("."), "HEAD")))
    mine, theirs = (each.simulations[0].world.resources for each in (before, after))
    assert len({key for key, each in mine.items() if theirs.get(key) is each}) == len(FILES) - len(changed)


def test_objects_of_a_document_are_made_again_where_they_land_elsewhere() -> None:
    shared = Shared()
    documents = read(b"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: one}\n", "apps/a.yaml").documents

    def made(cluster_scoped: frozenset[tuple[str, str]], movable: bool) -> Resource:
        known = shared.of_documents(cluster_scoped, movable)
        (found,) = resources(documents, cluster_scoped=cluster_scoped, movable=movable, known=known)
        return found

    things = frozenset({("example.com", "Thing")})
    ways = [(frozenset[tuple[str, str]](), False), (frozenset[tuple[str, str]](), True), (things, False)]
    assert [made(*each).key.namespace for each in ways] == ["default", f"{UNKNOWN_NAMESPACE}apps", ""]
    assert all(made(*each) is made(*each) for each in ways)


def resource(body: dict[str, Any], name: str = "one") -> Resource:
    return Resource(ResourceKey("", "Service", "shop", name), "v1", body, Spot("a.yaml"))


def test_objects_of_one_body_are_one_where_they_are_placed_alike() -> None:
    shared, body = Shared(), {"kind": "Service"}
    one, elsewhere = resource(body), resource(body, "two")
    (first,) = shared.resources([one])
    document = first.document
    again = Resource(first.key, "v1", body, document)
    other_file = Resource(first.key, "v1", body, Spot("b.yaml"))
    other_root = Resource(first.key, "v1", body, document, ("items", 0))
    other_body = Resource(first.key, "v1", dict(body), document)
    assert shared.resources([again, elsewhere]) == [first, elsewhere]
    assert shared.resources([other_file, other_root, other_body]) == [other_file, other_root, other_body]


def test_what_is_asked_once_is_asked_again_about_something_else() -> None:
    asked: list[object] = []

    def ask(each: Resource, about: dict[str, str]) -> int:
        asked.append((each, about))
        return len(asked)

    lone, here, there = resource({}), {"a": "b"}, {"a": "b"}
    assert [lone.once(ask, here), lone.once(ask, here)] == [1, 2]
    (both,) = Shared().resources([resource({})])
    assert [both.once(ask, here), both.once(ask, here), both.once(ask, there), both.once(ask, here)] == [3, 3, 4, 3]
