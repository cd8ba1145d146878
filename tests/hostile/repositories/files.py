"""Links of every kind, files that are none, and names that are not plain."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress

from tests.diff.history import MAKE
from tests.hostile.repositories.hostile import Hostile, Place
from tests.hostile.test_action import POLICY
from tests.render.trees import KUSTOMIZATION


def _special(place: Place) -> None:
    os.mkfifo(place.tree / "fifo.yaml")
    os.mkfifo(place.tree / ".policylint.yml")
    os.mkfifo(place.tree / "kustomization.yml")
    with socket.socket(socket.AF_UNIX) as made:
        directory = os.open(place.tree, os.O_DIRECTORY)
        made.bind(f"/proc/self/fd/{directory}/socket.yaml")
        os.close(directory)
    with suppress(PermissionError):
        os.mknod(place.tree / "zero.yaml", 0o644 | stat.S_IFCHR, os.makedev(1, 5))


def _sparse(place: Place) -> None:
    for name in ("huge.yaml", "huge.json", "deep/kustomization.yaml", "pyproject.toml"):
        (place.tree / name).parent.mkdir(exist_ok=True)
        with (place.tree / name).open("wb") as file:
            file.truncate(1 << 36)


def _unreadable(place: Place) -> None:
    (place.tree / "closed.yaml").write_text(POLICY)
    (place.tree / "closed.yaml").chmod(0)
    (place.tree / "closed").mkdir(mode=0)


def _names(place: Place) -> None:
    for name in (
        b"\xff\xfe.yaml",
        b"a\nb.yaml",
        b"-o",
        b"--output=x.yaml",
        b"a\x1b]0;x\x07.yaml",
        b"a b\t.yaml",
        b"*.yaml",
        b":(top)x.yaml",
        b":!x.yaml",
        b"$(touch pwned).yaml",
        b"`x`.yaml",
        "\u202ea.yaml".encode(),
        b"a" * 240 + b".yaml",
        b"\\\\server\\share.yaml",
        b"CON.yaml",
        b"...",
        b"a\r.yaml",
    ):
        (place.tree / os.fsdecode(name)).write_text(POLICY.replace("NAME", "egde"))
    MAKE.git(place.tree, "add", "-A")
    MAKE.git(place.tree, "commit", "-q", "-m", "names")


LINKS = {
    "links to files outside": Hostile(
        links={
            "link.yaml": "OUT/secret.yaml",
            "up.yaml": "../outside/secret.yaml",
            "passwd.yaml": "/etc/passwd",
            "hosts.json": "/etc/hosts",
        }
    ),
    "links to directories outside": Hostile(
        links={"linked": "OUT", "up": "..", "root": "/", "etc": "/etc", "home": "../home"}
    ),
    "links to devices": Hostile(
        links={
            "zero.yaml": "/dev/zero",
            "random.yaml": "/dev/urandom",
            "tty.yaml": "/dev/tty",
            "full.json": "/dev/full",
        }
    ),
    "links into proc": Hostile(
        links={
            "environ.yaml": "/proc/self/environ",
            "input.yaml": "/proc/self/fd/0",
            "memory.yaml": "/proc/self/mem",
            "cwd": "/proc/self/cwd",
            "above": "/proc/self/cwd/../outside",
        }
    ),
    "links in circles": Hostile(
        links={"self.yaml": "self.yaml", "a.yaml": "b.yaml", "b.yaml": "a.yaml", "deep/up": "..", "deep/here": "."}
    ),
    "chains of links": Hostile(
        links={f"{number}.yaml": f"{number + 1}.yaml" for number in range(60)} | {"60.yaml": "OUT/secret.yaml"}
    ),
    "links to git's own files": Hostile(
        links={"config.yaml": ".git/config", "git": ".git", "gits": "./././.git/../.git"}
    ),
    "the configuration a link": Hostile(links={".policylint.yaml": "OUT/policylint.yaml"}),
    "a kustomization a link": Hostile(
        links={"apps/kustomization.yaml": "OUT/kustomization.yaml", "other": "OUT"},
        files={"kustomization.yaml": KUSTOMIZATION + "resources: [apps, other, gateway.yaml]\n"},
    ),
    "a chart of links": Hostile(
        links={
            "charts/a/Chart.yaml": "OUT/Chart.yaml",
            "charts/a/values.yaml": "OUT/values.yaml",
            "charts/a/templates": "OUT/templates",
            "charts/b": "OUT",
        }
    ),
    "pipes, sockets and devices": Hostile(after=_special),
    "files without an end": Hostile(after=_sparse),
    "files that nobody may read": Hostile(after=_unreadable),
    "names that are not plain": Hostile(after=_names),
    "names that differ in case": Hostile(
        {
            "A.yaml": POLICY.replace("NAME", "edge"),
            "a.yaml": POLICY.replace("NAME", "egde"),
            "a.YAML": POLICY,
            "Kustomization": KUSTOMIZATION,
            "KUSTOMIZATION.yaml": KUSTOMIZATION,
        }
    ),
    "directories of great depth": Hostile({"/".join(["d"] * 400) + "/policy.yaml": POLICY.replace("NAME", "egde")}),
    "many files": Hostile(
        {
            f"many/{number}.yaml": f"kind: ConfigMap\napiVersion: v1\nmetadata: {{name: c{number}}}\n"
            for number in range(2000)
        }
    ),
}
