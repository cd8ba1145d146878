"""The user's own kustomize over a kustomization that a stranger wrote: nothing is fetched, nothing outside is read."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from policylint.render.kustomize import external
from policylint.render.sandbox import run, without_network
from policylint.workspace import Workspace, open_workspace
from tests.diff.history import commit
from tests.diff.history import run as command
from tests.render.test_charts import FLUX
from tests.render.trees import ROUTE, deployed, written

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
PREFIX = (
    "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: x}\nprefix: z-\n"
    "fieldSpecs: [{path: metadata/name}]\n"
)


class Listener:
    """A server on loopback that counts who connects."""

    def __init__(self) -> None:
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


UNCOVERED = "resources: [r.yaml]\ntransformers: [t.yaml]\n"
REMOTE = {
    "a resource": {"kustomization.yaml": UNCOVERED.replace("r.yaml", "r.yaml, 'http://ADDRESS/r.yaml'")},
    "a base in git": {"kustomization.yaml": UNCOVERED.replace("r.yaml", "r.yaml, 'http://ADDRESS/a.git//b?ref=main'")},
    "a transformer": {"kustomization.yaml": UNCOVERED.replace("t.yaml", "t.yaml, 'http://ADDRESS/t.yaml'")},
    "a generator": {"kustomization.yaml": UNCOVERED + "generators: ['http://ADDRESS/g']\n"},
    "a patch": {"kustomization.yaml": UNCOVERED + "patches: [{path: 'http://ADDRESS/p.yaml'}]\n"},
    "a file of a ConfigMap": {
        "kustomization.yaml": UNCOVERED + "configMapGenerator: [{name: c, files: ['a=http://ADDRESS/f']}]\n"
    },
    "a configuration": {"kustomization.yaml": UNCOVERED + "configurations: ['http://ADDRESS/c.yaml']\n"},
    "an OpenAPI schema": {"kustomization.yaml": UNCOVERED + "openapi: {path: 'http://ADDRESS/o.json'}\n"},
    "a base of a base": {
        "kustomization.yaml": UNCOVERED.replace("r.yaml", "base"),
        "base/kustomization.yaml": "resources: ['http://ADDRESS/r.yaml']\n",
    },
    "what a transformer names": {
        "t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\n"
        'path: "http:\\u002f/ADDRESS/p.yaml"\n'
    },
    "what a transformer in the kustomization names": {
        "kustomization.yaml": "resources: [r.yaml]\ntransformers:\n- |\n"
        "  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: http://ADDRESS/p.yaml\n"
    },
    "what a directory of transformers names": {
        "kustomization.yaml": UNCOVERED.replace("t.yaml", "more"),
        "more/kustomization.yaml": "resources: [t.yaml]\n",
        "more/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: http://ADDRESS/p.yaml\n",
    },
}


def world(files: dict[str, str]) -> dict[str, str]:
    return {"kustomization.yaml": UNCOVERED, "r.yaml": ROUTE, "t.yaml": PREFIX, **files}


@needs_kubectl
@pytest.mark.parametrize("files", REMOTE.values(), ids=REMOTE)
@pytest.mark.parametrize("render", ["builtin", "external", "helm", ""])
def test_nothing_connects(tmp_path: Path, listener: Listener, files: dict[str, str], render: str) -> None:
    there = {path: text.replace("ADDRESS", listener.address) for path, text in world(files).items()}
    written(tmp_path, there)
    found = open_workspace([str(tmp_path)], render=render) if render else open_workspace([str(tmp_path)])
    assert listener.connections == 0
    assert {each.code for each in found.simulations[0].world.notes} & {"not-covered", "remote-base"}


@needs_kubectl
def test_an_address_is_said_not_to_be_seen(tmp_path: Path) -> None:
    address = "https://169.254.169.254/latest/meta-data"
    files = world({"kustomization.yaml": UNCOVERED.replace("t.yaml", f"t.yaml, '{address}'")})
    found = open_workspace([str(written(tmp_path, files))], render="external")
    messages = [each.message for each in found.simulations[0].world.notes]
    assert f"{address} is in another repository, which was not read" in messages


def test_a_program_has_no_network(listener: Listener, tmp_path: Path) -> None:
    """Should something be overlooked: where the platform can take it away, there is not even loopback."""
    if not without_network():
        pytest.skip("this platform takes no network away: unshare(1) is not there, or not allowed")
    host, port = listener.address.split(":")
    code = f"import socket; socket.create_connection(('{host}', {port}), 5)"
    ended = run([sys.executable, "-I", "-c", code], str(tmp_path), timeout=30, most=2**20)
    assert ended.code != 0
    assert b"Network is unreachable" in ended.errors
    assert listener.connections == 0


def test_a_program_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "KUBECONFIG", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "PATH"):
        monkeypatch.setenv(name, f"{os.environ.get('PATH', '')}:/s3cret")
    ended = run(["/usr/bin/env"], str(tmp_path), timeout=30, most=2**20)
    assert ended.code == 0
    assert b"s3cret" not in ended.output
    assert f"HOME={tmp_path}/home\n".encode() in ended.output


def test_a_program_that_leaves_others_behind_is_ended_with_them(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    script = f"(/bin/sleep 1; echo late > {trace}) & exec /bin/sleep 60"
    with pytest.raises(TimeoutError):
        run(["/bin/sh", "-c", script], str(tmp_path), timeout=0.3, most=2**20)
    threading.Event().wait(1.5)
    assert not trace.exists()


def test_a_program_that_prints_without_end_fills_no_disk(tmp_path: Path) -> None:
    ended = run(["/bin/sh", "-c", "/bin/cat /dev/zero"], str(tmp_path), timeout=30, most=2**20)
    assert ended.cut
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 2**20 + 4096


OUTSIDE = {
    "a file of a ConfigMap": "configMapGenerator: [{name: c, files: [PATH]}]\n",
    "an environment file": "configMapGenerator: [{name: c, envs: [PATH]}]\n",
    "a secret": "secretGenerator: [{name: c, files: [PATH]}]\n",
    "a patch": "patches: [{path: PATH, target: {kind: HTTPRoute}}]\n",
    "a resource": "components: []\nbases: [PATH]\n",
}


@needs_kubectl
@pytest.mark.parametrize("path", ["../outside/secret.yaml", "ABSOLUTE", "link.yaml", "linked/secret.yaml"])
@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE)
def test_nothing_outside_of_the_tree_is_read(tmp_path: Path, text: str, path: str) -> None:
    secret = tmp_path / "outside" / "secret.yaml"
    written(tmp_path / "outside", {"secret.yaml": ROUTE.replace("name: shop", "name: s3cret")})
    text = UNCOVERED + text.replace("PATH", path.replace("ABSOLUTE", str(secret)))
    tree = written(tmp_path / "tree", world({"kustomization.yaml": text}))
    (tree / "link.yaml").symlink_to(secret)
    (tree / "linked").symlink_to(secret.parent)
    found = open_workspace([str(tree)], render="external")
    bodies = [str(each.body) for simulation in found.simulations for each in simulation.world.resources.values()]
    assert bodies and not any("s3cret" in body for body in bodies)
    assert not any("s3cret" in name for names in deployed(found).values() for name in names)


@needs_kubectl
def test_the_copy_holds_what_it_may_read_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a revision, nothing of which is on disk."""
    listing = tmp_path / "listing"
    (tmp_path / "bin").mkdir()
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nfor last; do :; done\ncd "$last/.."; /usr/bin/find . -type f > {listing}\nexit 1\n')
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{kubectl.parent}:{os.environ['PATH']}")
    overlay = UNCOVERED.replace("r.yaml", "../base")
    files = {
        "overlay/kustomization.yaml": overlay, "overlay/t.yaml": PREFIX,
        "base/kustomization.yaml": "resources: [r.yaml]\n", "base/r.yaml": ROUTE, "other/secret.yaml": ROUTE,
    }  # fmt: skip
    tree = tmp_path / "repository"
    commit(tree, dict(files))
    expected = sorted(f"./{path}" for path in files if not path.startswith("other"))
    open_workspace([str(tree)], render="external")
    assert sorted(listing.read_text().split()) == expected
    listing.unlink()
    commit(tree, {path: None for path in files if not path.startswith("other")} | {"x.yaml": ROUTE})
    assert command(tree, "diff", "HEAD^1..HEAD", "--render", "external")[0] in (0, 1)
    assert sorted(listing.read_text().split()) == expected


def test_a_kustomization_too_large_to_copy_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\n/bin/touch {tmp_path}/started\n")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(external, "MAX_FILES", 2)
    found = open_workspace([str(written(tmp_path / "tree", world({})))], render="external")
    assert deployed(found) == {"default": ["HTTPRoute default/shop"]}
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("arguments", [(), ("--render", "builtin"), ("--render", "off")])
def test_no_program_but_git_is_started_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    for name in ("kubectl", "kustomize", "helm", "unshare"):
        (tmp_path / "bin" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n/bin/touch {tmp_path}/{name}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    written(tmp_path / "tree", {**FLUX, "clusters/prod/kustomization.yaml": UNCOVERED, **world({})})
    assert command(tmp_path / "tree", "lint", ".", *arguments)[0] in (0, 1)
    assert not [name for name in ("kubectl", "kustomize", "helm", "unshare") if (tmp_path / name).exists()]


def test_temporary_files_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def opened() -> Workspace:
        return open_workspace([str(written(tmp_path / "tree", world({})))], render="external")

    opened()
    assert list((tmp_path / "temporary").iterdir()) == []
