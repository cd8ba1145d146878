"""What the page asks of policylint: commands over the manifests in the editor, answered as the command line does."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

HOME = Path("/work")
FINDINGS = Path("/findings.json")


def write(name: str, text: str) -> None:
    """Write the text of an editor into a folder: one file, or those that lines `# file: PATH` begin.

    Lines keep their numbers, so that a finding's line is the editor's.
    """
    folder = HOME / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# file: ")]
    if not starts or any(line.strip() for line in lines[: starts[0]]):
        starts = []
        (folder / "manifests.yaml").write_text(text)
    for start, end in pairwise([*starts, len(lines)]):
        path = os.path.normpath("/" + lines[start].removeprefix("# file: ").strip()).lstrip("/")
        file = folder / (path or "manifests.yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n" * (start + 1) + "\n".join(lines[start + 1 : end]) + "\n")


class Screen(io.TextIOWrapper):
    """What stdout is to a command that is asked by the page: a terminal as wide as COLUMNS says."""

    buffer: io.BytesIO

    def isatty(self) -> bool:
        return True


def ran(arguments: list[str]) -> dict[str, Any]:
    """Run one command of policylint in the folder of the manifests; return what it printed, and how long it took.

    The findings are those that it wrote to FINDINGS, in json-v1.
    """
    from policylint.cli import main

    os.chdir(HOME / "manifests")
    FINDINGS.write_text('{"findings": []}')
    start = time.perf_counter()
    out, err, code, failure = Screen(io.BytesIO(), encoding="utf-8"), io.StringIO(), 0, ""
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main.main(arguments, prog_name="policylint")
        except SystemExit as end:
            code = int(end.code or 0)
        except Exception as error:
            code, failure = 1, f"\n{error!r}"
    out.flush()
    return {
        "command": arguments,
        "code": code,
        "out": out.buffer.getvalue().decode(),
        "err": err.getvalue() + failure,
        "findings": json.loads(FINDINGS.read_text())["findings"],
        "milliseconds": round((time.perf_counter() - start) * 1000),
    }


def objects() -> list[str]:
    """Return the objects of the manifests, as `explain` takes them."""
    from policylint.documents import read

    names = set()
    for file in sorted((HOME / "manifests").rglob("*.yaml")):
        for document in read(file.read_bytes(), file.name).documents:
            metadata = document.value.get("metadata")
            if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
                place = [document.value.get("kind"), metadata.get("namespace"), metadata["name"]]
                names.add("/".join(part for part in place if isinstance(part, str)))
    return sorted(names)


def answer(question: str) -> str:
    """Answer a question of the page.

    Args:
        question: JSON with `before` and `after`, the texts of the editors, `command`, its arguments or null, and
            `columns`, how wide the place for text is.

    Returns:
        JSON with the `answer` (`ran`) and the `objects`.
    """
    asked = json.loads(question)
    os.environ["COLUMNS"] = str(asked["columns"])
    os.chdir("/")  # the folder that one is in cannot be written anew
    write("manifests", asked["after"])
    write("before", asked["before"])
    return json.dumps({"answer": asked["command"] and ran(asked["command"]), "objects": objects()})
