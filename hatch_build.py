"""Build the quick reader of YAML (policylint/documents/_reader.c) where a compiler and libyaml are at hand.

An editable install tries to, and goes without it where that fails. A wheel is pure Python, the same bytes on every
machine, unless POLICYLINT_READER names the platform that it is for; that one has libyaml in it. `.ci/release reader`
makes those beside the pure one, so nobody who installs needs a compiler. POLICYLINT_READER=python: never.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "policylint/documents/_reader.c"
BUILT = "policylint/documents/_reader.abi3.so"


class Reader(BuildHookInterface[Any]):
    """Compile the reader, and put it into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        asked = os.environ.get("POLICYLINT_READER", "")
        editable = version == "editable"
        if self.target_name != "wheel" or asked == "python" or not (asked or editable):
            return
        built = Path(self.root, BUILT)
        command = compiler(Path(self.root, SOURCE), built, static=not editable)
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode:
            built.unlink(missing_ok=True)
            if asked:
                raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")
            return
        if not editable:
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{asked}"
            build_data["force_include"][str(built)] = BUILT


def compiler(source: Path, built: Path, *, static: bool) -> list[str]:
    """Return the command that compiles: no paths, dates or debug information end up in what it makes."""
    words = shlex.split(os.environ.get("CC") or "cc")
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    library = "-l:libyaml.a" if static and sys.platform != "darwin" else "-lyaml"
    flags = ["-O2", "-g0", "-fPIC", *shared, f"-I{sysconfig.get_path('include')}"]
    return [*words, *flags, str(source), "-o", str(built), library]
