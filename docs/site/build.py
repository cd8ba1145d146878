"""Build the documentation site with mkdocs-material, from the files that are read in the repository anyway.

    python docs/site/build.py [--playground playground.html] OUT

README, docs/ and rules/ become pages; links between them are those of the files. A link to any other file leads to
the project's home, or is plain text while that is not known (`policylint.model.home`). Each rule page opens its example
in the playground, if that is given. mkdocs is strict: a link that leads nowhere fails the build.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from policylint.model.home import home

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index.md", "bench/README.md": "bench.md"}
PAGES.update((f"{name}.md", f"{name.lower()}.md") for name in ("CHANGELOG", "CONTRIBUTING", "RELEASING", "SECURITY"))
NAVIGATION: Mapping[str, tuple[str, ...]] = {
    "Use it": ("getting-started", "lint", "diff", "explain", "trace", "reach", "graph", "network", "clusters", "fixes"),
    "Tasks": ("tasks/roll-out", "tasks/remote-charts", "tasks/from-other-linters", "guardrails", "tasks/comment"),
    "Where it runs": ("github-action", "comment", "ci", "editors", "kubectl", "python", "mcp", "playground"),
    "Reference": (
        "configuration", "suppressing", "severity-and-confidence", "verdicts", "policy-kinds", "implementations",
        "rendering", "status", "json", "speed", "dependencies",
    ),
}  # fmt: skip
"""Heading → pages of docs/, those that are there; the rules, the design and the rest follow."""
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
_LABEL = re.compile(r"^```yaml (bad|good)[ \t]*$", re.MULTILINE)
_OWN = re.compile(r"^https://github\.com/[\w.-]+/policylint/(?:blob|raw)/main/")
_CODE = re.compile(r"^```.*?^```[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Stage the pages and build the site into the folder that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--playground", type=Path, help="the page that docs/playground/build.py wrote")
    parser.add_argument("out", type=Path, help="folder of the site")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        stage(Path(work), chosen.playground)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        command += ["-f", f"{work}/mkdocs.yml", "-d", str(chosen.out.resolve())]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        sys.exit(subprocess.run(command, check=False, env=environment).returncode)


def stage(work: Path, playground: Path | None) -> None:
    """Write the pages and `mkdocs.yml` into a folder."""
    pages = staged()
    docs = work / "docs"
    for source, page in pages.items():
        target = docs / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".md"):
            text = linked((ROOT / source).read_text(encoding="utf-8"), source, pages)
            if page.startswith("rules/"):
                text = _headed(text, title(source), "" if playground is None else Path(source).name[:6])
            target.write_text(text, encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, target)
    if playground is not None:
        shutil.copyfile(playground, docs / "playground.html")
    (work / "mkdocs.yml").write_text(yaml.safe_dump(configuration(pages), sort_keys=False), encoding="utf-8")


def staged() -> dict[str, str]:
    """Return the files that become pages or stand in them, by path in the repository: where they are in the site."""
    pages = {source: page for source, page in PAGES.items() if (ROOT / source).is_file()}
    for folder, below in (("docs", ""), ("rules", "rules/")):
        for path in sorted((ROOT / folder).rglob("*")):
            inner = path.relative_to(ROOT / folder)
            if path.suffix in (".md", ".png", ".svg") and inner.parts[0] not in ("site",):
                pages[f"{folder}/{inner}"] = below + str(inner)
    for source in pages:
        if (ROOT / source).resolve() != ROOT / source:
            sys.exit(f"{source} is a link: what it leads to would be published")
    return pages


def linked(text: str, source: str, pages: Mapping[str, str]) -> str:
    """Return the text of a page with its links as the site has them; code stays as it is."""

    def replaced(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if "](" in words:  # a picture that is a link
            words = f"[{_LINK.sub(replaced, words[1:-1])}]"
        target = _OWN.sub("", target) if source == "README.md" else target  # PyPI shows it, too, so its links are whole
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, fragment = target.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        place = next((name for name in (place, f"{place}/README.md") if name in pages), place)
        if place in pages:
            return (
                f"{words}({posixpath.relpath(pages[place], posixpath.dirname(pages[source]) or '.')}{mark}{fragment})"
            )
        return f"{words}({home()}/blob/main/{place}{mark}{fragment})" if home() else words.strip("![]")

    code: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        code.append(match[0])
        return f"\0{len(code) - 1}\0"

    return re.sub(r"\0(\d+)\0", lambda place: code[int(place[1])], _LINK.sub(replaced, _CODE.sub(hidden, text)))


def title(source: str) -> str:
    """Return what a rule page is called: `GWP101: Missing target`."""
    stated = re.search(r"^title: (.*)$", (ROOT / source).read_text(encoding="utf-8"), re.MULTILINE)
    return f"{Path(source).name[:6]}: {stated[1] if stated else ''}"


def _headed(text: str, heading: str, example: str) -> str:
    """Return a rule page with its heading, and a link to an example in the playground if there is one."""
    head, mark, body = text.partition("\n---\n")
    body = re.sub(
        r"^```yaml (bad|good)[ \t]*$", lambda mark: f"*{mark[1].capitalize()}:*\n\n```yaml", body, flags=re.MULTILINE
    )
    link = f"\n[Open the example in the playground](../playground.html#example={example})\n" if example else ""
    return f"{head}{mark}\n# {heading}\n{link}{body}"


def configuration(pages: Mapping[str, str]) -> dict[str, object]:
    """Return the content of `mkdocs.yml`: no font, script or picture comes from another host."""
    there = set(pages.values())
    navigation: list[object] = [{"policylint": "index.md"}]
    for heading, names in NAVIGATION.items():
        navigation.append({heading: [f"{name}.md" for name in names if f"{name}.md" in there]})
    rules = sorted(page for page in there if page.startswith("rules/") and page.endswith(".md"))
    navigation.append({"Rules": ["rules.md", *({title(page): page} for page in rules)]})
    known = {page for page in there if page.endswith(".md")}
    placed = {"index.md", "rules.md", *rules, *(f"{name}.md" for names in NAVIGATION.values() for name in names)}
    design = sorted(page for page in known - placed if page.startswith("design/"))
    navigation.append({"How it works": design})
    navigation.append({"The project": sorted(known - placed - set(design))})
    return {
        "site_name": "policylint",
        **({"site_url": home(), "repo_url": home()} if home() else {}),
        "nav": navigation,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "navigation.top", "search.highlight", "content.code.copy"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": ["tables", "toc", "md_in_html", "pymdownx.superfences", "pymdownx.highlight"],
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}, "nav": {"omitted_files": "warn"}},
    }


if __name__ == "__main__":
    main()
