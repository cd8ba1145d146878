"""Build the playground: one HTML page that holds policylint, Python for browsers (Pyodide) and examples.

    python docs/playground/build.py --modules .venv-ci/node/node_modules playground.html

The page asks no network for anything: its Content-Security-Policy allows no connection, and no script but its own. It
works from a file as from any static host. Two compiled libraries have no build for browsers in a public index:
google-re2 is replaced by RE2JS, which has the same syntax and takes linear time too, and rpds by plain Python. What the
page imports is compiled here, by the Python that will run it (compile.mjs, in node).
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import files
from pathlib import Path

from policylint.report.graph import html

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARIES = (
    "attrs",
    "click",
    "jsonpatch",
    "jsonpointer",
    "jsonschema",
    "jsonschema-specifications",
    "PyYAML",
    "referencing",
    "ruamel.yaml",
)
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
ARCHIVES = ("python_stdlib.zip", "libraries.zip", "policylint.zip")
EXAMPLES = {
    "A CORS policy that takes the login away": ("envoy-gateway-shop", {"request": "GET http://shop.example.com/cart"}),
    "Network policies under a Gateway": ("network-shop", {"tab": "trace"}),
    "Defaults and overrides of a platform": ("kuadrant-platform", {"tab": "explain"}),
    "A policy kind of one's own": ("own-policy", {"tab": "explain"}),
}
"""Title → folder of fixtures/, and how the page starts."""
_BAD = re.compile(r"^```yaml bad[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_UNUSED = re.compile(
    r"(multiprocessing|unittest|xmlrpc|wsgiref|_pyrepl|http/(cookie|server)|xml/(dom|sax)|logging/(config|handlers))"
    r"|asyncio/(proactor|windows)_|concurrent/futures/process"
    r"|(_pyio|bdb|cProfile|doctest|ftplib|imaplib|mailbox|modulefinder|optparse|pdb|pickletools|plistlib|profile|pstats|pydoc"
    r"|smtplib|socketserver|trace)\.py"
    r"|encodings/(big5|cp(?!437)|euc|gb|hz|iso|johab|koi8|mac_|mbcs|oem|ptcp|shift|tis|uu|bz2|quopri|rot|kz1048|palmos|hp_)"
)
"""Modules of the standard library that policylint has no use for: servers, mail, debuggers, tests, old codecs."""
_ROOMS_ELSEWHERE = frozenset({"policylint/assistant", "policylint/editor", "policylint/forges", "schemas/output"})
"""What serves editors, assistants and forges, and the schemas of outputs: no visitor of the page asks for them."""
_ELSEWHERE = re.compile(
    r"policylint/(?:(?:report|session|cli)/(?:export|upgrade)|cli/(?:comment|man|mcp))(?:\.py$|/)"
    r"|\.(?:so|c)$|/__pycache__/"
)
"""Nor for some of their commands, tables, and plans of upgrades; the reader in C is for the machine that builds it."""
_LICENCES = re.compile(r"(?i)(^|/)(licen[sc]e|copying|notice|authors)[^/]*$")


def main() -> None:
    """Write the page to the path that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", type=Path, required=True, help="node_modules with pyodide and re2js")
    parser.add_argument("page", type=Path, help="where the page is written")
    chosen = parser.parse_args()
    missing = [name for name in ("pyodide", "re2js") if not (chosen.modules / name).is_dir()]
    if missing:
        sys.exit(f"{chosen.modules} lacks {' and '.join(missing)}: npm ci --prefix .ci/npm --ignore-scripts")
    text = page(chosen.modules)
    chosen.page.write_text(text, encoding="utf-8")
    print(f"{chosen.page}: {len(text) / 2**20:.1f} MiB")


def page(modules: Path) -> str:
    """Return the page.

    Args:
        modules: the node_modules folder with the packages pyodide and re2js.
    """
    parts = {name: (modules / "pyodide" / name).read_bytes() for name in RUNTIME}
    parts["re2js.js"] = (modules / "re2js" / "build" / "index.js").read_bytes()
    standard = {name: data for name, data in unzipped(parts["python_stdlib.zip"]).items() if not _UNUSED.match(name)}
    parts |= compiled(modules, standard, dict(libraries()), dict(own()))
    style, script = _text("page.css"), _text("page.js")
    blocks = [_part(name, content) for name, content in parts.items()]
    put = {
        "/*SCRIPTS*/": f"{_hash(script)} {html.allowed_scripts()}",
        "/*STYLES*/": f"{_hash(style)} {html.allowed_styles()}",
        "/*CSS*/": style,
        "/*EXAMPLES*/": json.dumps(examples()).replace("<", "\\u003c"),
        "/*WORKER*/": _text("worker.js"),
        "/*PARTS*/": "\n".join(blocks),
        "/*SCRIPT*/": script,
    }
    pieces = re.split(f"({'|'.join(map(re.escape, put))})", _text("page.html"))
    return "".join(put.get(piece, piece) for piece in pieces)


def compiled(modules: Path, *contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the archives ARCHIVES, the modules that the page imports compiled by the Python that will run them.

    Args:
        contents: path → content for each of them.

    Raises:
        subprocess.CalledProcessError: node or Pyodide failed, or policylint did.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, content in zip(ARCHIVES, contents, strict=True):
            (folder / name).write_bytes(zipped(content))
        (folder / "questions.json").write_text(json.dumps(list(questions())), encoding="utf-8")
        subprocess.run(["node", str(HERE / "compile.mjs"), str(modules.resolve()), place], check=True)
        return {name: (folder / name).read_bytes() for name in ARCHIVES}


def questions() -> Iterator[dict[str, object]]:
    """Yield what `bridge.answer` is asked to see which modules a visitor needs: every tab, over an example or two."""
    texts = examples()
    shop, change = texts[next(iter(EXAMPLES))], texts["A change under review"]
    network = texts["Network policies under a Gateway"]
    lint = ["lint", "-o", "text", "--output", "json-v1=/findings.json", "."]
    for example, command in (
        (shop, lint),
        (shop, ["explain", "HTTPRoute/shop/checkout", "."]),
        (shop, ["trace", "GET", "https://shop.example.com/checkout", "."]),
        (shop, ["reach", "."]),
        (shop, ["graph", "--format", "html", "."]),
        (change, ["diff", "--rendered-before", "../before", "--rendered-after", "."]),
        (network, lint),
        (network, ["trace", "GET", "http://shop.example.com/", "."]),
    ):
        yield {"after": example["after"], "before": example.get("before", ""), "command": command, "columns": 100}


def examples() -> dict[str, dict[str, str]]:
    """Return what the page can start with, by title: folders of fixtures/, and the first example of each rule page."""
    found: dict[str, dict[str, str]] = {}
    for title, (folder, start) in EXAMPLES.items():
        found[title] = {"after": _files(ROOT / "fixtures" / folder), **start}
    sides = {side: _files(ROOT / "fixtures" / "diff-example" / side) for side in ("before", "after")}
    found["A change under review"] = {**sides, "tab": "diff"}
    for rule in sorted((ROOT / "rules").glob("GWP*.md")):
        example = _BAD.search(rule.read_text(encoding="utf-8"))
        if example is not None:
            found[rule.name[:6]] = {"after": example[1]}
    return found


def _files(folder: Path) -> str:
    manifests = sorted(folder.rglob("*.yaml"))
    return "".join(f"# file: {path.relative_to(folder)}\n{path.read_text(encoding='utf-8')}" for path in manifests)


def own() -> Iterator[tuple[str, bytes]]:
    """Yield policylint as a checkout has it, and what the page adds to Python, as (path, content)."""
    yield "pyproject.toml", (ROOT / "pyproject.toml").read_bytes()
    for folder, suffixes in (("policylint", ()), ("schemas", (".json", ".yaml")), ("rules", (".md",))):
        for path in sorted((ROOT / folder).rglob("*")):
            place = path.relative_to(ROOT)
            is_used = "/".join(place.parts[:2]) not in _ROOMS_ELSEWHERE and not _ELSEWHERE.search(place.as_posix())
            if path.is_file() and is_used and (not suffixes or path.suffix in suffixes):
                yield str(place), path.read_bytes()
    for path in sorted((HERE / "runtime").glob("*.py")):
        yield f"runtime/{path.name}", path.read_bytes()


def libraries() -> Iterator[tuple[str, bytes]]:
    """Yield the libraries that are installed beside this Python, without what is compiled, with their licences."""
    for name in LIBRARIES:
        for file in files(name) or ():
            parts = file.parts
            if ".." in parts or "tests" in parts or "__pycache__" in parts:
                continue
            if file.suffix in (".py", ".json") or _LICENCES.search(str(file)) or file.name == "METADATA":
                yield str(file), Path(str(file.locate())).read_bytes()


def unzipped(archive: bytes) -> dict[str, bytes]:
    """Return path → content of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist() if not name.endswith("/")}


def zipped(content: Mapping[str, bytes]) -> bytes:
    """Return an archive that is the same however often it is made."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:  # the page is compressed as a whole
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    return written.getvalue()


def _part(name: str, content: bytes) -> str:
    """Return an element that holds some bytes and is never run."""
    packed = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    return f'<script type="text/plain" data-part="{name}">{packed}</script>'


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the text of an element as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


if __name__ == "__main__":
    main()
