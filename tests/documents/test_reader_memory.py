"""The reader in C under AddressSanitizer: no text makes it touch memory that is not its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import module_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "policylint" / "documents" / "_reader.c"
INPUTS = 8
"""Of bench/fuzz.py reader: a hundred texts each."""
RUN = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("policylint.documents._reader", sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
sys.modules[spec.name] = reader
sys.path.insert(0, sys.argv[2])
from random import Random
from fuzz_reader import ReaderFuzz
from policylint.documents import fast
assert fast._compiled() is not None and sys.modules[spec.name].read is reader.read
fast.load(b"".join(b"k%d: [v, {a: b}]\\n" % number for number in range(9000)))
fuzz = ReaderFuzz()
for number in range(int(sys.argv[3])):
    for error, files in fuzz(Random(f"{sys.argv[4]}/{number}")).failures:
        raise error
print("read")
"""


@pytest.fixture(scope="module")
def watched() -> list[str]:
    """The words of a compiler that watches memory, and the environment in which Python loads what it makes."""
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    library = found.stdout.strip()
    if found.returncode or not Path(library).is_file():
        pytest.skip("needs a compiler with AddressSanitizer")
    return [library]


def read(watched: list[str], source: Path, place: Path, inputs: int = INPUTS) -> subprocess.CompletedProcess[str]:
    """Compile a source, and have it read what a campaign makes."""
    built = place / "_reader.abi3.so"
    command = module_of(ROOT / "hatch_build.py").compiler(source, built, static=False)
    subprocess.run(
        [*command, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"], check=True, cwd=place
    )
    environment = os.environ | {
        "LD_PRELOAD": watched[0], "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc", "PYTHONPATH": str(ROOT)
    }  # fmt: skip
    words = [sys.executable, "-c", RUN, str(built), str(ROOT / "bench"), str(inputs), "713"]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def test_memory_that_is_not_its_own_is_left_alone(watched: list[str], tmp_path: Path) -> None:
    done = read(watched, SOURCE, tmp_path)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-3000:]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("PyMem_Realloc(self->places, size * sizeof *places)", "PyMem_Realloc(self->places, size)"),
        ("self->size = size;", "self->size = 2 * size;"),
    ],
)
def test_a_fault_in_it_would_be_found(watched: list[str], tmp_path: Path, right: str, wrong: str) -> None:
    text = SOURCE.read_text()
    assert text.count(right) == 1
    broken = tmp_path / "broken.c"
    broken.write_text(text.replace(right, wrong))
    done = read(watched, broken, tmp_path, inputs=2)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr, done.stderr[-3000:]
