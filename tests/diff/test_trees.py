"""What must hold of any two states of any tree: a real one of ../shared/trees, and the same after careless edits."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from policylint.compare import Sides, compare, pair_sides
from policylint.compare.contexts import identity
from policylint.workspace import Workspace, open_workspace
from tests.diff.history import SHARED, run
from tests.diff.test_history import effective
from tests.nightly import sampled

TREES = sorted(each for each in (SHARED / "trees").iterdir() if each.is_dir()) if (SHARED / "trees").is_dir() else []
pytestmark = pytest.mark.skipif(not TREES, reason="no ../shared/trees")
_RELEVANT = re.compile(
    r"parentRefs|targetRefs?:|targetSelectors|kind: (?:Gateway|Namespace|ReferenceGrant|Kustomization)\b"
)
_MOST_EDITED = 24


def _longer(text: str) -> str:
    return re.sub(r"\b(\d+)(s|m)\b", lambda found: f"{int(found[1]) + 1}{found[2]}", text)


def _elsewhere(text: str) -> str:
    return re.sub(r"sectionName: \S+", "sectionName: nowhere", text)


def _renamed(text: str) -> str:
    return re.sub(r"(?m)^(  name: )(&\w+ )?([\w-]+)$", r"\1\2\3-new", text, count=1)


def _shorter(text: str) -> str:
    """Without the last document, or the last lines of the only one."""
    head, mark, _ = text.rstrip().rstrip("-").rpartition("\n---\n")
    return head + "\n" if mark else "".join(text.splitlines(keepends=True)[:-3])


EDITS: tuple[Callable[[str], str] | None, ...] = (None, _longer, _elsewhere, _renamed, _shorter)
"""None removes the file."""


def edited(tree: Path, place: Path, seed: int) -> Path:
    """A copy of a tree in which some of the files that matter are edited; the same for the same seed."""
    shutil.copytree(tree, place, symlinks=True)
    chosen = [
        each
        for each in sorted(place.rglob("*.y*ml"))
        if each.is_file() and not each.is_symlink() and _RELEVANT.search(each.read_text(encoding="utf-8"))
    ]
    order = sorted(chosen, key=lambda each: zlib.crc32(f"{seed}{each.relative_to(place)}".encode()))
    for number, each in enumerate(order[:_MOST_EDITED]):
        edit = EDITS[(number + seed) % len(EDITS)]
        if edit is None:
            each.unlink()
        else:
            each.write_text(edit(each.read_text(encoding="utf-8")), encoding="utf-8")
    return place


@pytest.fixture(scope="module", params=sampled([(tree, seed) for tree in TREES for seed in (0, 1)], "pairs"),
                ids=lambda each: f"{each[0].name}-{each[1]}")  # fmt: skip
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    tree, seed = request.param
    return tree, edited(tree, tmp_path_factory.mktemp("edited") / tree.name, seed)


def opened(place: Path) -> Workspace:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        return open_workspace(["."])


def states(sides: list[Sides]) -> list[str]:
    """What changes, without who did it: contexts as (kind, length, specs), verdicts, routes."""
    found = []
    for environment in compare(sides):
        for each in environment.contexts:
            specs = [each.before and each.before.spec, each.after and each.after.spec]
            found.append(
                json.dumps([environment.name, str(each.kind), len(each.path), specs], sort_keys=True, default=str)
            )
        found += [f"{each.policy.kind} {each.before}>{each.after}" for each in environment.policies]
        found += [f"{each.key.kind} {each.change}" for each in environment.known if each.is_route]
    return sorted(found)


def turned(text: str) -> str:
    if text.startswith("["):
        name, kind, length, specs = json.loads(text)
        return json.dumps([name, kind, length, specs[::-1]], sort_keys=True)
    if ">" in text:
        kind, _, verdicts = text.partition(" ")
        before, _, after = verdicts.partition(">")
        return f"{kind} {after}>{before}"
    kind, _, change = text.partition(" ")
    return f"{kind} {({'added': 'removed', 'removed': 'added'}).get(change, change)}"


def test_there_and_back_mirror_each_other(pair: tuple[Path, Path]) -> None:
    before, after = (opened(each).simulations for each in pair)
    assert sorted(map(turned, states(pair_sides(before, after)))) == states(pair_sides(after, before))


def test_applying_what_changes_to_before_gives_after(pair: tuple[Path, Path]) -> None:
    before, after = (opened(each).simulations for each in pair)
    told: Any = json.loads(
        run(pair[1], "diff", "--rendered-before", str(pair[0]), "--rendered-after", ".", "-o", "json-v1")[1]
    )
    changes = iter(told["changes"])
    for sides in pair_sides(before, after):
        (environment,) = compare([sides])
        assert not environment.truncated
        specs = effective(sides.before, sides)
        for each in environment.contexts:
            entry = next(changes)
            assert (entry["environment"], len(entry["path"])) == (environment.name, len(each.path))
            place = identity(each.path)
            key = (str(each.kind), sides.pairing.path(place) if each.standing == "gone" else place)
            was = specs.pop(key, {})
            made = jsonpatch.apply_patch(was, entry["patch"])
            if made:
                specs[key] = made
        assert specs == effective(sides.after)
    assert next(changes, None) is None


@pytest.mark.parametrize("tree", sampled(TREES, "edits"), ids=lambda each: each.name)
def test_edits_are_seen(tree: Path, tmp_path: Path) -> None:
    """Else the two properties above would hold of nothing; and nobody gets a traceback."""
    seen = set()
    for seed in (0, 1):
        place = edited(tree, tmp_path / str(seed), seed)
        _, out, err = run(place, "diff", "--rendered-before", str(tree), "--rendered-after", ".", "-o", "concise")
        assert "Traceback" not in err
        seen.update(out.splitlines()[:-1])
    assert seen
