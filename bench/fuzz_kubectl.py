"""Manifests written in odd ways, read by kubectl and by policylint: what kubectl deploys, policylint must have seen.

    python bench/fuzz_kubectl.py --inputs 3000 --seed 1

Each input is a file: some objects, changed several times by what YAML, JSON, editors, template engines and attackers do
to texts. kubectl reads it without a server (`kubectl annotate --local`, the reader of `kubectl apply`), policylint as
`lint` does. An object that kubectl sees and policylint does not, or sees as another one, is printed with its file; a
file of which policylint reports that it could not be read in full counts as seen, since that is said.
"""

from __future__ import annotations

import argparse
import codecs
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from policylint.load.objects import resources
from policylint.load.reading import load
from policylint.sources import open_source
from policylint.workspace import known_groups

GROUP = "gateway.networking.k8s.io"
FORMAT = '-o=jsonpath={.apiVersion}|{.kind}|{.metadata.namespace}|{.metadata.name}{"\\n"}'
NAMES = (
    *("route.yaml", "route.yml", "route.json", "codecov.yaml", ".codecov.yml", "compose.yaml", "compose.prod.yaml"),
    *(
        "docker-compose.yml",
        "mkdocs.yaml",
        "package.json",
        "renovate.json",
        "taskfile.yml",
        "values.yaml",
        "a.lock.yaml",
    ),
    *("route.schema.json", "tsconfig.json", ".gitlab-ci.yml", "_config.yml", "pnpm-lock.yaml", "dependabot.yml"),
    *("templates/route.yaml", "tests/route.yaml", "route.tmpl.yaml"),
)
"""Names of files: half of the inputs are `route.yaml`."""


class Identity(NamedTuple):
    """What kubectl prints of an object; no namespace is ""."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def could_be(self) -> bool:
        """Whether the API server might take such an object."""
        return bool(re.fullmatch(r"[\w.-]+(?:/[\w.-]+)?\|\w+\|.+", f"{self.api_version}|{self.kind}|{self.name}"))


def route(name: str) -> str:
    return (
        f"apiVersion: {GROUP}/v1\nkind: HTTPRoute\nmetadata:\n  name: {name}\n  namespace: shop\n"
        "spec:\n  parentRefs:\n  - name: edge\n  hostnames: [a.example.com]\n"
    )


def gateway(name: str) -> str:
    return (
        f"apiVersion: {GROUP}/v1\nkind: Gateway\nmetadata: {{name: {name}, labels: {{a: b}}}}\nspec:\n"
        "  gatewayClassName: eg\n  listeners:\n  - {name: http, port: 80, protocol: HTTP}\n"
    )


def config_map(name: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: |\n    kind: HTTPRoute\n    ---x\n"


def crd_like(name: str) -> str:
    return f"apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: {name}\nspec: {{kind: HTTPRoute}}\n"


MAKERS = (route, route, gateway, config_map, crd_like)


def indented(text: str, by: str = "  ") -> str:
    return "".join(f"{by}{line}\n" if line else "\n" for line in text.splitlines())


def listed(random_: random.Random, text: str) -> str:
    """Return the documents of a text as items of a list or of something like it."""
    kind = random_.choice(["List", "List", "Bundle", "HTTPRouteList", "Widget", "GatewayList"])
    version = random_.choice(["v1", f"{GROUP}/v1", "example.com/v1"])
    items = [document for document in text.split("---\n") if document.strip()]
    body = "".join("- " + indented(item).lstrip() for item in items)
    head = [f"apiVersion: {version}\n", f"kind: {kind}\n", f"items:\n{body}"]
    random_.shuffle(head)
    if random_.random() < 0.3:
        head.append("metadata: {name: bundle}\n")
    return "".join(head)


def as_json(random_: random.Random, text: str) -> str:
    import yaml

    try:
        values = [value for value in yaml.safe_load_all(text) if value is not None]
    except yaml.YAMLError:
        return text
    written = [json.dumps(value, indent=random_.choice([None, 2]), default=str) for value in values]
    return random_.choice(["\n", "\n---\n", " ", ""]).join(written) + random_.choice(["", "\n"])


def replaced(pattern: str, *choices: str) -> Callable[[random.Random, str], str]:
    """Return a change that replaces one match of a pattern (constants of this file) by one of some texts."""
    compiled = re.compile(pattern, re.MULTILINE)

    def change(random_: random.Random, text: str) -> str:
        matches = list(compiled.finditer(text))
        if not matches:
            return text
        match = random_.choice(matches)
        return text[: match.start()] + match.expand(random_.choice(choices)) + text[match.end() :]

    return change


def line_ends(random_: random.Random, text: str) -> str:
    mark = random_.choice(["\r\n", "\r", "\n\n", "\u0085", "\u2028", "\n\r", "\r\n\r\n"])
    if random_.random() < 0.4:
        return text.replace("\n", mark)
    return "".join(mark if char == "\n" and random_.random() < 0.15 else char for char in text)


def noise(random_: random.Random, text: str) -> str:
    place = random_.randrange(len(text) + 1)
    inserted: str = random_.choice(
        [*"\t \n\r#:-?&*!|>'\"%@`{}[],\\\ufeff\u00a0\u0085", "\r\n", "---\n", "...\n", "# x\n", "x"]
    )
    return text[:place] + inserted + text[place + random_.randrange(3) :]


def moved(random_: random.Random, text: str) -> str:
    """Return the text with two lines exchanged, or one twice."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    first, second = random_.randrange(len(lines)), random_.randrange(len(lines))
    if random_.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines.insert(second, lines[first])
    return "".join(lines)


def hidden(random_: random.Random, text: str) -> str:
    """Return the text with another `kind:` inside of a string."""
    quote = random_.choice("'\"")
    decoy = random_.choice(["kind: ConfigMap", "apiVersion: v1", "---", "kind: Widget\napiVersion: v1", "items: []"])
    field = f"note: {quote}\n{decoy}\n{quote}\n"
    block = f"note: {random_.choice(['|', '>', '|-', '|+', '|2'])}\n  {decoy}\n"
    added = random_.choice([field, block])
    return added + text if random_.random() < 0.5 else text + added


CHANGES: tuple[Callable[[random.Random, str], str], ...] = (
    line_ends,
    noise,
    noise,
    moved,
    hidden,
    listed,
    as_json,
    replaced(
        "^kind:",
        '"kind":',
        "'kind':",
        "kind :",
        "? kind\n:",
        "!!str kind:",
        "&k kind:",
        '"\\\\x6bind":',
        "kind:\t",
        "kind:\n ",
    ),
    replaced(
        "^apiVersion:", '"apiVersion":', "apiVersion :", "? apiVersion\n:", '"api\\\\u0056ersion":', "apiVersion:\n   "
    ),
    replaced(
        "HTTPRoute",
        "'HTTPRoute'",
        '"HTTPRoute"',
        "!!str HTTPRoute",
        "&x HTTPRoute",
        '"HTTP\\\\x52oute"',
        "HTTPRoute # x",
    ),
    replaced(
        "^---$",
        "--- # x",
        "---\t",
        "---  ",
        "--- |",
        "...\n---",
        "---\n---",
        "--- !!map",
        "---\r",
        "----",
        " ---",
        "%YAML 1.1\n---",
    ),
    replaced("^(kind: .*)$", r"\1\n\1", r"\1 # no\rkind: ConfigMap", r"\1\nkind: ConfigMap", r"kind: ConfigMap\n\1"),
    replaced("^(metadata: *)$", r"metadata: &m", r"metadata: !!map", r"metadata: # x", "metadata:\n  <<: {a: b}"),
    replaced(
        "name: ([a-z0-9-]+)",
        r'name: "\1"',
        r"name: '\1'",
        r"name: >-\n    \1",
        r"name: !!str \1",
        r"name: \1 ",
    ),
    lambda _, text: "\ufeff" + text,
    lambda _, text: "---\n" + text,
    lambda _, text: "%YAML 1.2\n---\n" + text,
    lambda _, text: "%TAG ! tag:example.com,2000:\n---\n" + text,
    lambda _, text: "# a comment\n\n---\n# another\n" + text,
    lambda _, text: text + "...\n",
    lambda _, text: text + "---\n{% trailer %}\n",
    lambda _, text: text + "---\n{{ .Values.x }}\n",
    lambda _, text: "# {% if x %}\n" + text,
    lambda _, text: text + "---\n" + text,
    lambda _, text: text + "---\nnull\n---\n",
    lambda _, text: indented(text) if "---" not in text else text,
    lambda _, text: "base: &base {kind: HTTPRoute}\n<<: *base\n" + text,
    lambda _, text: text.rstrip("\n"),
    lambda _, text: text.replace("\n", "\n\ufeff", 1),
)


def written(random_: random.Random, number: int) -> tuple[str, bytes]:
    """Return name and bytes of an input."""
    count = random_.choice([1, 1, 1, 2, 3])
    text = "---\n".join(random_.choice(MAKERS)(f"o{number}-{index}") for index in range(count))
    for _ in range(random_.choice([1, 1, 2, 2, 3, 4])):
        text = random_.choice(CHANGES)(random_, text)
    data = text.encode("utf-8", "replace")
    if random_.random() < 0.05:
        mark, encoding = random_.choice(
            [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (b"", "latin-1")]
        )
        data = mark + text.encode(encoding, "replace")
    name = random_.choice(NAMES) if random_.random() < 0.5 else "route.yaml"
    if text.lstrip()[:1] == "{" and random_.random() < 0.5:
        name = "route.json"
    return name, data


def by_kubectl(directory: Path) -> list[Identity]:
    """Return what kubectl reads in the files below a directory."""
    command = ["kubectl", "annotate", "--local", "--overwrite", "-R", "-f", str(directory), "fuzz=y", FORMAT]
    output = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    parts = [line.split("|") for line in output.split("\n")]
    return [Identity(*part) for part in parts if len(part) == 4]


def by_policylint(directory: Path) -> tuple[set[Identity], bool, set[tuple[str, str]]]:
    """Return what policylint reads in the same files, whether it reports a problem, and what kinds it left unread."""
    loaded = load(open_source([str(directory)]), known_groups())
    objects = resources(loaded.documents, cluster_scoped=frozenset(), movable=False)
    seen = {
        Identity(f"{key.group}/{made.version}".lstrip("/"), key.kind, key.namespace, key.name)
        for made in objects
        for key in [made.key]
    }
    return seen, bool(loaded.problems), {(unread.api_version, unread.kind) for unread in loaded.unread}


def blind(directory: Path) -> Iterator[Identity]:
    """Yield the objects that kubectl sees in files below a directory and policylint does not."""
    seen, _, unread = by_policylint(directory)
    for identity in by_kubectl(directory):
        candidates = [identity._replace(namespace=identity.namespace or namespace) for namespace in ("", "default")]
        if not seen.intersection(candidates) and identity[:2] not in unread and identity.could_be:
            yield identity


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--inputs", type=int, default=3000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--batch", type=int, default=100, help="files that one kubectl reads")
    arguments.add_argument("--keep", type=Path, help="directory that gets the files of which something was not seen")
    options = arguments.parse_args()
    if shutil.which("kubectl") is None:
        print("kubectl is not installed", file=sys.stderr)
        return 2
    random_ = random.Random(options.seed)
    objects = failures = said = 0
    for first in range(0, options.inputs, options.batch):
        with tempfile.TemporaryDirectory() as created:
            top = Path(created)
            for number in range(first, min(first + options.batch, options.inputs)):
                name, data = written(random_, number)
                file = top / f"c{number}" / name
                file.parent.mkdir(parents=True)
                file.write_bytes(data)
            objects += len(by_kubectl(top))
            numbers = {re.sub(r"^o(\d+)-.*", r"c\1", identity.name) for identity in blind(top)}
            for directory in sorted(top.iterdir()):
                missed = list(blind(directory)) if directory.name in numbers else []
                if not missed:
                    continue
                if by_policylint(directory)[1]:
                    said += 1
                    continue
                failures += 1
                file = next(path for path in directory.rglob("*") if path.is_file())
                print(f"{file.relative_to(top)}: not seen: {', '.join('|'.join(identity) for identity in missed)}")
                print(f"  {file.read_bytes()!r}")
                if options.keep:
                    shutil.copytree(directory, options.keep / directory.name, dirs_exist_ok=True)
    print(
        f"{options.inputs} inputs, seed {options.seed}: kubectl read {objects} objects; {failures} files with objects "
        f"that policylint does not see, {said} more of which it says that they could not be read"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
