"""Repositories as an attacker would make them, each a few files, links or settings on top of a sound one.

In texts, targets, settings and environments OUT is a directory outside, UP the way there from three directories down,
TOP the work tree, TRAP a program that leaves a trace, ADDRESS a listening port on loopback, SECRET what no output has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.diff.history import MAKE, commit
from tests.hostile.test_action import GATEWAY, POLICY
from tests.render.trees import KUSTOMIZATION, ROUTE

SECRET = "s3cret-token"
SOUND = {
    "gateway.yaml": GATEWAY,
    "policy.yaml": POLICY.replace("NAME", "edge"),
    "route.yaml": ROUTE.replace("  name: shop", "  name: shop\n  namespace: shop"),
}


class Place(NamedTuple):
    """Where a repository is made, and what its texts may name."""

    directory: Path
    address: str

    @property
    def tree(self) -> Path:
        return self.directory / "tree"

    @property
    def outside(self) -> Path:
        return self.directory / "outside"

    @property
    def trap(self) -> Path:
        return self.directory / "trap"

    @property
    def canary(self) -> Path:
        """What the trap writes to."""
        return self.directory / "sprung"

    def filled(self, text: str) -> str:
        """The text with the place's own names."""
        for name, value in (
            ("OUT", self.outside),
            ("UP", "../../../outside"),
            ("TOP", self.tree),
            ("TRAP", self.trap),
            ("ADDRESS", self.address),
            ("SECRET", SECRET),
        ):
            text = text.replace(name, str(value))
        return text


class Hostile(NamedTuple):
    """One repository."""

    files: Mapping[str, str] = {}
    links: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}
    """Of `.git/config`, set after everything is committed."""
    after: Callable[[Place], None] | None = None
    """What git cannot hold, done last."""
    environment: Mapping[str, str] = {}

    def make(self, place: Place) -> None:
        """Make it: a sound commit, then the hostile one."""
        place.outside.mkdir(parents=True)
        (place.directory / "home").mkdir()
        route = ROUTE.replace("name: shop", f"name: {SECRET}")
        for name, text in {
            "secret.yaml": route,
            "kustomization.yaml": f"{KUSTOMIZATION}resources: [secret.yaml]\n",
            "values.yaml": f"gateway: {SECRET}\n",
            "Chart.yaml": f"apiVersion: v2\nname: {SECRET}\nversion: 1.0.0\n",
            "templates/route.yaml": route,
            "policylint.yaml": f"assume: [Gateway {SECRET}/{SECRET}]\n",
        }.items():
            (place.outside / name).parent.mkdir(exist_ok=True)
            (place.outside / name).write_text(text)
        place.trap.write_text(f'#!/bin/sh\necho "$0 $@" >> "{place.canary}"\nexit 0\n')
        place.trap.chmod(0o755)
        commit(place.tree, SOUND)
        for path, target in self.links.items():
            (place.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (place.tree / path).symlink_to(place.filled(target))
        commit(place.tree, {path: place.filled(text) for path, text in self.files.items()})
        if self.after is not None:
            self.after(place)
        for name, value in self.settings.items():
            MAKE.git(place.tree, "config", name, place.filled(value))
