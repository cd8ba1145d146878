"""Make schemas/releases/ from the CRDs of the releases of Gateway API and its implementations.

usage: python schemas/make_releases.py RELEASES [--output DIR]
       python schemas/make_releases.py --table > docs/releases.md

RELEASES holds a folder per project, in it one per tag; gateway-api has the experimental channel, gateway-api-standard
the other one (config/crd/standard). One file per kind comes out, `PROJECT/KIND.GROUP.json`: by minor
release the versions that its CRD serves, each as in schemas/crds/ (make_crds.py), without prose. What the releases have
in common stands in a file once. The tags, and what changes beyond schemas, are in `PROJECT.yaml`, written by hand;
`--table` prints these changes as the page that shows them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_crds import definitions, parsed, shared, written

from policylint.catalog.releases import names, product, shown
from policylint.schema.structural import structural


def minor(tag: str) -> tuple[int, int]:
    """Return `1.9` of `v1.9.0`, as numbers."""
    first, second, *_ = tag.removeprefix("v").split(".")
    return int(first), int(second)


def served(crd: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of the versions that the API server serves."""
    return {
        version["name"]: parsed(structural(version["schema"]["openAPIV3Schema"]))
        for version in crd["spec"]["versions"]
        if version.get("served")
    }


def kinds(project: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what each kind of a project is in each release, oldest first."""
    tags = sorted((folder.name for folder in project.iterdir() if folder.name[-1].isdigit()), key=minor)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for tag in tags:
        for crd in definitions(project / tag):
            key = (crd["spec"]["group"], crd["spec"]["names"]["kind"])
            found.setdefault(key, {})[".".join(map(str, minor(tag)))] = shared(served(crd))
    return found


def table() -> Iterator[str]:
    """Yield the lines of docs/releases.md: what each release does otherwise."""
    yield "# What releases change"
    yield ""
    yield "What [`policylint upgrade`](upgrading.md) looks for beyond the schemas of the releases, and what of the"
    yield "notes on breaking changes the schemas show by themselves, or no manifest shows. Made by `python"
    yield "schemas/make_releases.py --table`."
    for name in names():
        about = product(name)
        tags = ", ".join(f"`{tag}`" for _, tag in sorted(about.releases.items()))
        yield from ("", f"## {about.title}", "", f"`{name}`: {tags}.")
        if missing := sorted(about.releases.keys() - about.with_schemas):
            yield f"There are no schemas of {', '.join(map(shown, missing))}."
        rows = [(change.release, f"`{change.name}`", change.effect, change.says) for change in about.changes]
        rows += [(release, "by schema", "refused", said) for release, said in about.by_schemas]
        rows += [(release, "no manifest shows it", "–", f"{said} ({why})") for release, said, why in about.hidden]
        if rows:
            yield from ("", "| since | change | effect | what becomes of it |", "|---|---|---|---|")
        for release, change, effect, said in sorted(rows, key=lambda row: row[0]):
            yield f"| {shown(release)} | {change} | {effect} | {said.replace('|', chr(92) + '|')} |"


def main() -> None:
    """Write the files, and remove those of kinds that are gone. Projects without a folder stay as they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("releases", type=Path, nargs="?")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "releases")
    chosen = parser.parse_args()
    if chosen.table or chosen.releases is None:
        print("\n".join(table()))
        return
    for project in sorted(folder for folder in chosen.releases.iterdir() if folder.is_dir()):
        made = set()
        for (group, kind), releases in kinds(project).items():
            path = chosen.output / project.name / f"{kind}.{group}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written({"group": group, "kind": kind, "releases": releases}), encoding="utf-8")
            made.add(path)
        for path in sorted((chosen.output / project.name).glob("*.json")):
            if path not in made:
                path.unlink()


if __name__ == "__main__":
    main()
