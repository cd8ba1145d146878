"""Write the kubectl plugin for Windows: `python .ci/windows.py kubectl-policylint.exe`.

krew starts nothing but an .exe there. It is the launcher that pip puts before every script (distlib's, in
requirements-ci.lock), which starts the Python of PATH, with a script that hands over to policylint.
"""

from __future__ import annotations

import io
import sys
import zipfile
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

SCRIPT = """
import os, subprocess, sys

# By PATH alone: Windows itself looks into the folder that one stands in, which may be anybody's.
folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
program = next(filter(os.path.isfile, (os.path.join(folder, "policylint.exe") for folder in folders)), None)
if program is None:
    sys.exit("policylint is not installed: pipx install policylint, or uv tool install policylint")
sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
"""


def plugin() -> bytes:
    """Return the program: the launcher, the interpreter, the script; the same bytes whenever it is built."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(zipfile.ZipInfo("__main__.py"), SCRIPT.lstrip())
        licence = next(file for file in distribution("distlib").files or () if file.name == "LICENSE.txt")
        packed.writestr(zipfile.ZipInfo("LICENSE.distlib"), licence.read_text(encoding="utf-8"))
    return files("distlib").joinpath("t64.exe").read_bytes() + b"#!/usr/bin/env python\n" + archive.getvalue()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(plugin())
