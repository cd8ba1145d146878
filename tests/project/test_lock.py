"""The locks cover pyproject.toml, are hashed, and tied to no machine.

requirements-ci.lock is for this project's own CI, requirements.lock its part that the GitHub Action installs.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements-ci.lock").read_text(encoding="utf-8")
OF_THE_ACTION = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = [Requirement(line.removesuffix("\\").strip()) for line in LOCK.splitlines() if re.match(r"[a-z]", line)]
ASKED = [Requirement(line) for line in PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_every_dependency_is_pinned_within_its_bounds(asked: Requirement) -> None:
    pins = [pin for pin in PINS if canonicalize_name(pin.name) == canonicalize_name(asked.name)]
    assert pins, "renew the lock: docs/ci.md"
    for pin in pins:
        (exact,) = pin.specifier
        assert exact.operator == "=="
        assert Version(exact.version) in asked.specifier


def test_every_pin_has_a_hash() -> None:
    blocks = re.split(r"(?m)^(?=[a-z])", LOCK)[1:]
    assert len(blocks) == len(PINS)
    assert all("--hash=sha256:" in block for block in blocks)


def test_it_names_no_index_and_no_path() -> None:
    assert not re.search(r"https?:|file:|index-url|find-links|(?m:^|\s)/", LOCK + OF_THE_ACTION)


def test_the_lock_of_the_action_is_a_part_of_it() -> None:
    blocks = [re.sub(r" ; [^\\]*", " ", text) for text in (LOCK, OF_THE_ACTION)]
    whole, part = (re.split(r"(?m)^(?=[a-z])", text.partition("\n# ")[2])[1:] for text in blocks)
    assert set(map(str.strip, part)) <= set(map(str.strip, whole))
    names = {canonicalize_name(re.split("=", block)[0]) for block in part}
    assert {canonicalize_name(Requirement(line).name) for line in PROJECT["project"]["dependencies"]} <= names
    assert not names & {canonicalize_name(Requirement(line).name) for line in PROJECT["dependency-groups"]["dev"]}
