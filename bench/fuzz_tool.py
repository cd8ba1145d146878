"""The whole tool over mutated worlds: every command, every format, in one process."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from campaign import SlowError, Tried, WrongError
from mutations import Mutator, copied, places, write

from policylint.model import faults

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"^```yaml (?:bad|good)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOST_FILES = 25
"""Files of a world: of larger trees, folders are worlds."""
MOST_BYTES = 60_000
LINT = ("text", "concise", "json-v1", "sarif", "markdown", "github", "junit", "codeclimate")
DIFF = (*LINT, "summary")
GRAPH = ("mermaid", "dot", "svg", "html")
LISTED = ("policies", "routes", "gateways", "listeners", "backends")
SHOWING = (0, 2)
JUDGING = (0, 1)


class World(NamedTuple):
    """File name → documents."""

    name: str
    files: dict[str, list[Any]]


def worlds(shared: Path | None) -> list[list[World]]:
    """Return small worlds by where they come from, each source as likely to be mutated as the others.

    They are the examples of the rules, the fixtures, what once failed, and folders of real trees and CRDs where given.
    """
    examples = [
        World(f"{page.stem}-{number}", {"world.yaml": documents})
        for page in sorted((ROOT / "rules").glob("GWP*.md"))
        for number, text in enumerate(EXAMPLE.findall(page.read_text(encoding="utf-8")))
        if (documents := documents_of(text))
    ]
    found = [
        examples,
        [world for fixture in sorted((ROOT / "fixtures").iterdir()) for world in from_directory(fixture)],
    ]
    corpus = sorted((ROOT / "tests" / "hostile" / "corpus").glob("*.yaml"))
    found.append([world for path in corpus for world in _world(path.stem, [path], path.parent)])
    for top in ("crds", "worlds", "trees", "wild"):
        if shared is not None and (shared / top).is_dir():
            found.append([world for tree in sorted((shared / top).iterdir()) for world in from_directory(tree)])
    return found


def from_directory(directory: Path) -> Iterator[World]:
    """Yield a directory as a world where it is small enough, else what its directories hold."""
    if not directory.is_dir():
        return
    paths = [path for path in sorted(directory.rglob("*.y*ml")) if path.is_file() and ".git" not in path.parts]
    if not paths:
        return
    if len(paths) > MOST_FILES or sum(path.stat().st_size for path in paths) > MOST_BYTES:
        for inner in sorted(directory.iterdir()):
            yield from from_directory(inner)
        for path in paths:
            if path.parent == directory and path.stat().st_size < MOST_BYTES:
                yield from _world(path.stem, [path], directory)
        return
    yield from _world(directory.name, paths, directory)


def _world(name: str, paths: list[Path], directory: Path) -> Iterator[World]:
    files = {str(path.relative_to(directory)): documents_of(path.read_text("utf-8", "replace")) for path in paths}
    files = {file: documents for file, documents in files.items() if documents}
    if not files:
        return
    kinds = {str(document.get("kind")) for documents in files.values() for document in documents}
    if any(
        kind.endswith(("Route", "Policy", "Gateway", "CustomResourceDefinition", "Kustomization")) for kind in kinds
    ):
        yield World(name, files)


def documents_of(text: str) -> list[Any]:
    """Return the documents of a file that are objects; none where PyYAML does not read it."""
    try:
        return [
            one for one in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if isinstance(one, dict)
        ]
    except (yaml.YAMLError, ValueError):
        return []


class ToolFuzz:
    """Tries the tool over mutations of worlds, in a directory of its own."""

    def __init__(self, shared: Path | None = None) -> None:
        self.worlds = worlds(shared)
        known = [world for source in self.worlds for world in source]
        self.stock = [document for world in known for documents in world.files.values() for document in documents]
        memory = Path("/dev/shm")
        self.place = Path(tempfile.mkdtemp(prefix="policylint-fuzz-", dir=memory if memory.is_dir() else None))
        os.environ.update(POLICYLINT_DEBUG="1", NO_COLOR="1", HOME=str(self.place), XDG_CONFIG_HOME=str(self.place))
        for name in ("GITHUB_ACTIONS", "GITLAB_CI", "CI"):
            os.environ.pop(name, None)
        faults.described = _raised  # no guard hides an error of ours
        self.run("lint", os.devnull)  # what is imported here, no child imports again

    def close(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self.place, ignore_errors=True)

    def __call__(self, random: Random) -> Tried:
        """Make a world and run a few commands over it."""
        world = random.choice(random.choice(self.worlds))
        before = {file: copied(documents) for file, documents in world.files.items()}
        after = {file: copied(documents) for file, documents in world.files.items()}
        self.mutate(random, after)
        texts = {file: write(documents) for file, documents in after.items()}
        sides = {"before": {file: write(documents) for file, documents in before.items()}, "after": texts}
        shutil.rmtree(self.place / "world", ignore_errors=True)
        for side, files in sides.items():
            (self.place / "world" / side).mkdir(parents=True)
            for file, text in {"README.md": "", **files}.items():  # a directory that git would keep, at least
                path = self.place / "world" / side / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="replace")
        runs = list(self.commands(random, after))
        failures: list[tuple[BaseException, dict[str, str]]] = []
        for arguments, codes in runs:
            os.chdir(self.place / "world")
            try:
                self._one(arguments, codes)
            except (Exception, SlowError) as error:
                files = {f"{side}/{file}": text for side, files in sides.items() for file, text in files.items()}
                failures.append((error, {**files, "command": " ".join(arguments)}))
        return Tried(len(runs), failures)

    def mutate(self, random: Random, files: dict[str, list[Any]]) -> None:
        """Change the documents of one or two files in place."""
        for _ in range(random.choice((1, 1, 2))):
            if file := random.choice([*filter(files.get, files)] or [""]):
                Mutator(random, self.stock).mutate(files[file])

    def _one(self, arguments: tuple[str, ...], codes: tuple[int, ...]) -> None:
        code, error = self.run(*arguments)
        if code not in codes:
            said = re.sub(r"[\d'\"]+|/\S+", "…", error.partition("\n")[0])[:120]
            raise WrongError(f"{arguments[0]} ends with {code}: {said}")

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command in this process; return its exit code and what it says on stderr.

        Raises:
            Exception: what the tool raised.
        """
        from policylint.cli import main

        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main(list(arguments))
            except SystemExit as ending:
                code = ending.code
            out.flush()
            err.flush()
        said = err.buffer.getvalue().decode("utf-8", "replace")
        if "Traceback (most recent call last)" in said:
            raise WrongError(f"a traceback: {said[-300:]}")
        return code if isinstance(code, int) else 0, said

    def commands(
        self, random: Random, files: dict[str, list[Any]]
    ) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Yield commands and the exit codes that each may end with: lint always, three of the others."""
        form = random.choice(LINT)
        outputs = [f"--output={name}={self.place}/out.{name}" for name in LINT if name != form]
        render = random.choice(("builtin", "builtin", "off"))
        yield ("lint", "after", "-o", form, "--render", render, "--show-unknown", "--show-orphans", *outputs), JUDGING
        others = list(self._others(random, files))
        yield from random.sample(others, 3)

    def _others(self, random: Random, files: dict[str, list[Any]]) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        name = name_of(random, files)
        form = random.choice(DIFF)
        outputs = [f"--output={other}={self.place}/diff.{other}" for other in DIFF if other != form]
        sides = ["before", "after"]
        random.shuffle(sides)
        yield (
            (
                "diff",
                "--rendered-before",
                sides[0],
                "--rendered-after",
                sides[1],
                "-o",
                form,
                "--show-unknown",
                *outputs,
            ),
            JUDGING,
        )
        yield ("explain", name, "after", "-o", random.choice(("text", "json", "yaml", "markdown"))), SHOWING
        yield ("explain", name, "after", "--without", "-o", random.choice(("text", "json"))), SHOWING
        yield ("trace", "GET", url_of(random, files), "after", "-o", random.choice(("text", "json"))), SHOWING
        drawn = [f"--output={one}={self.place}/graph.{one}" for one in GRAPH]
        yield ("graph", *random.choice(((), (name,))), "after", *drawn), SHOWING
        yield ("list", random.choice(LISTED), "after", "-o", random.choice(("text", "wide", "json"))), SHOWING
        shown = random.choice(("simulation", "status"))
        yield ("simulate", "after", "--as", shown, "-o", random.choice(("text", "json", "yaml"))), SHOWING
        yield ("lint", "after", "--diff", "--unsafe-fixes"), JUDGING
        yield ("lint", "after", "--strict", "--semantics", "gep-713-2023"), (0, 1, 3)
        yield ("lint", *[f"after/{file}" for file in files][:3]), JUDGING
        yield ("baseline", "after", "--file", f"{self.place}/baseline.json"), SHOWING
        yield ("init", "-C", "after", "--stdout"), SHOWING


def _raised(error: Exception) -> tuple[str, str]:
    raise error


def name_of(random: Random, files: dict[str, list[Any]]) -> str:
    """Return an object as explain wants it named."""
    document = random.choice([one for documents in files.values() for one in documents] or [None])
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict) or not isinstance(document, dict):
        return "HTTPRoute/x"
    words = [document.get("kind"), metadata.get("namespace"), metadata.get("name")]
    return "/".join(word for word in words if isinstance(word, str) and word and "\0" not in word) or "x"


def url_of(random: Random, files: dict[str, list[Any]]) -> str:
    """Return a URL that the world may serve: one of its hostnames, and a path of a match."""
    hosts, paths = ["example.com"], ["/", "/a/b"]
    for documents in files.values():
        for container, key in places(documents):
            value = container[key]
            if not isinstance(value, str) or len(value) > 80:
                continue
            if "." in value and re.fullmatch(r"[\w.*-]+", value):
                hosts.append(value.replace("*", "a"))
            elif re.fullmatch(r"/[\w./-]*", value):
                paths.append(value)
    return f"{random.choice(('http', 'https', 'grpc'))}://{random.choice(hosts)}{random.choice(paths)}"
