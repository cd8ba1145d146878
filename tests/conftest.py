"""What all tests share: golden files, and the flag that writes them anew (`pytest --update-golden`; read the diff)."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Time limits per example say nothing on a shared machine. In CI the examples are the same in every run, so that a
# failure can be had again; at a desk they are new each time, which is where they find something.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# Never the user's own: every run of the tests has a cache of its own, and tests of it name another.
os.environ["POLICYLINT_CACHE_DIR"] = tempfile.mkdtemp(prefix="policylint-tests-")
atexit.register(shutil.rmtree, os.environ["POLICYLINT_CACHE_DIR"], ignore_errors=True)
os.environ.pop("POLICYLINT_NO_CACHE", None)
os.environ.pop("POLICYLINT_CACHE_KEY", None)

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


@pytest.fixture(autouse=True, scope="session")
def at_a_desk() -> Iterator[None]:
    """What commands print in the log of a CI system is tested where it is meant; elsewhere it must not hang on this."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(name, text)`: the text must be what `golden/NAME` beside the test holds, byte for byte."""
    directory = Path(request.path).parent / "golden"

    def compare(name: str, text: str) -> None:
        place = directory / name
        if request.config.getoption("--update-golden"):
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(text.encode())
        assert place.exists(), f"no golden file {place}: run pytest --update-golden"
        assert text == place.read_bytes().decode(), f"{place.name} differs: pytest --update-golden, then read the diff"

    return compare
