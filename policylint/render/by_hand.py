"""What scripts of the tree do: `kubectl apply -f`, of files, URLs and what they hold themselves, `flux push artifact
--path`, and `helm install`.

A bootstrap applies what no deployer of the tree takes in: the Gateway that Argo CD's own route hangs on. A pipeline
pushes a directory as the artifact that a cluster then pulls. And a Makefile installs the charts beside one's manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from policylint.documents.written import written
from policylint.model import is_symbolic
from policylint.model.unseen import Custom
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.tree import Tree, join

_SCRIPTS = (".sh", ".bash", ".md", "Makefile", "justfile", "Justfile", ".just", "Taskfile.yml", "Taskfile.yaml", ".mk")
_WORKFLOWS = (".github/workflows/", ".gitlab-ci")
_LONGEST = 200_000
"""Bytes of a script that are looked through."""
_CONTINUED = Pattern(r"\\\r?\n\s*")
_APPLIES = Pattern(r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(?:apply|create|replace)\b([^\n|;&#]{0,400})")
_EDITS = Pattern(
    r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(?:patch|delete|label|annotate)\b[^\n|;&#]{0,120}?"
    r"(?:polic|auth|role|binding|gateway|route|ingress|namespace|\bns\b|\bcrd|webhook|constraint)[^\n|;&#]{0,400}"
)
"""Commands that change what stands between requests and pods."""
_PUSHES = Pattern(r"\bflux\s+push\s+artifact\b([^\n|;&#]{0,800})")
_ARTIFACT = Pattern(r"oci://[^\s\"']*?([^\s\"'/:@]+)(?:[:@][^\s\"'/]*)?[\"']?(?:\s|$)")
_PATH = Pattern(r"(?:^|\s)(?:--path|-f)(?:\s+|=)[\"']?([^\s\"']+)")
_FILE = Pattern(r"(?:^|\s)(?:-f|-k|--filename|--kustomize|-[a-zA-Z]*[fk])(?:\s+|=)[\"']?([^\s\"']+)")

_HELD = Pattern(r"(?m)^[^\n#]*<<-?[ \t]*[\"']?(?P<end>\w+)[^\n]*\n(?P<text>(?:(?![ \t]*(?P=end)[ \t]*$).*\n){1,400})")
"""Text that a command takes in: `cat <<EOF | kubectl apply -f -`."""
_PIPED = Pattern(r"\b(?:kubectl|oc)\b[^\n]*\b(?:apply|create|replace)\b")
ACTS = Pattern(r"(?:Policy|Authentication)$")
"""Kinds of objects that act on others by what they say; nobody refers to them."""
_SAMPLES = Pattern(
    r"https?://[^\s\"']*/([^\s\"'/]*(?:quickstart|bookinfo|httpbin|demo|sample|example)[^\s\"'/]*\.ya?ml)"
)
"""Manifests of applications to try something with: those of controllers and CRDs make no Services of one's own."""

_INSTALLS = Pattern(r"\bhelm\s+(?:install|upgrade)\s([^\n|;&#`]{0,600})")
_WITH_VALUE = frozenset(
    {
        *(
            "-n",
            "--namespace",
            "-f",
            "--values",
            "--version",
            "--repo",
            "--timeout",
            "--description",
            "--post-renderer",
        ),
        *("--set", "--set-string", "--set-file", "--set-json", "--kube-context", "--kubeconfig", "--history-max"),
    }
)
"""Options of helm that take the next word."""
_STARTS = Pattern(r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(run|create\s+(?:deployment|deploy))\s([^\n|;&#]{0,400})")
_OF_RUN = frozenset(
    {"--image", "--labels", "-l", "--port", "--env", "--restart", "--overrides", "--replicas", "--context"}
)
"""Options of `kubectl run` that take the next word, beside some of helm's."""
_REFERENCE = Pattern(r"\$[({]?(\w+)[)}]?")
_NAME = Pattern(r"[a-z0-9][a-z0-9.-]*")
_ASSIGNED = Pattern(r"(?m)^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[:?]?=[ \t]*[\"']?(?:\$\{\w+:-)?([a-z0-9][a-z0-9-]*)")
_VERSION_ASSIGNED = Pattern(r"(?m)^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[:?]?=[ \t]*[\"']?(?:\$\{\w+:-)?(v?\d[\w.+-]*)")


def installed(files: Iterable[str], read: Callable[[str], bytes | None]) -> Iterator[Custom]:
    """Yield the releases that scripts install, where they say into which namespace, and what else they apply."""
    files = list(files)
    for script, text in _scripts(files, read, b"kubectl", b"oc "):
        yield from _held(script, text)
        for command in _APPLIES.findall(text):
            for sample in _SAMPLES.findall(command):
                yield Custom("", "", "", maker=f"{script}, which applies {sample},")
    for install in installs(files, read):
        namespace = install.options.get("-n") or install.options.get("--namespace")
        namespace = "default" if namespace is None else _meant(namespace, install.text)
        if namespace and _NAME.fullmatch(install.name):
            maker = f"{install.script}, which installs the chart {install.chart},"
            yield Custom("", namespace, install.name, maker=maker)


def charts(files: Iterable[str], read: Callable[[str], bytes | None]) -> Iterator[tuple[str, str, str]]:
    """Yield script, chart and version of each chart that scripts install in a version that they state."""
    for install in installs(files, read):
        stated = install.options.get("--version", "")
        reference = _REFERENCE.fullmatch(stated)
        assigned = () if reference is None else _VERSION_ASSIGNED.findall(install.text)
        stated = next((value for name, value in assigned if name == reference[1]), "") if reference else stated
        if stated:
            yield install.script, install.chart, stated


def started(files: Iterable[str], read: Callable[[str], bytes | None]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield script and labels of the pods that scripts start by hand (`kubectl run`, `kubectl create deployment`)."""
    for script, text in _scripts(files, read, b"kubectl", b"oc "):
        for what, command in _STARTS.findall(text):
            names, options = _words(command, _WITH_VALUE | _OF_RUN)
            if names and what == "run":
                stated = options.get("-l") or options.get("--labels") or f"run={names[0]}"
                yield script, dict(each.partition("=")[::2] for each in stated.split(","))
            elif names:
                yield script, {"app": names[0]}


class Install(NamedTuple):
    """One `helm install` or `helm upgrade` of a script, with the text of both.

    Args:
        reference: the chart, as the script names it.
        options: those that take a value; of one that is given twice the last one.
    """

    script: str
    text: str
    command: str
    name: str
    reference: str
    options: Mapping[str, str]

    @property
    def chart(self) -> str:
        """The name of the chart."""
        return self.reference.rstrip("/").rpartition("/")[2]

    def meant(self, word: str) -> str:
        """Return a word of the command, or what its variable stands for, as far as the script says it."""
        return _meant(word, self.text) or word


def installs(files: Iterable[str], read: Callable[[str], bytes | None]) -> Iterator[Install]:
    """Yield what scripts install with helm."""
    for script, text in _scripts(files, read, b"helm"):
        for command in _INSTALLS.findall(text):
            names, options = _words(command, _WITH_VALUE)
            if len(names) > 1:
                yield Install(script, text, command, names[0], names[1], options)


def _words(command: str, with_value: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Return the words of a command that are no options, and what options are given that take a value."""
    words = iter(word.strip("\"'\\") for word in command.split())
    names: list[str] = []
    options: dict[str, str] = {}
    for word in words:
        option, mark, value = word.partition("=")
        if option in with_value:
            options[option] = value.strip("\"'") if mark else next(words, "")
        elif not word.startswith("-"):
            names.append(word)
    return names, options


def _held(script: str, text: str) -> Iterator[Custom]:
    """Yield the objects that stand in a script itself, which applies them."""
    for match in _HELD.finditer(text):
        if not _PIPED.search(match[0].partition("\n")[0]):
            continue
        for each in written(match["text"]):
            kind = each.kinds[0]
            if each.group is not None and _NAME.fullmatch(each.name) and not ACTS.search(kind):
                maker = f"{script}, which applies {kind} {each.name},"
                namespace = each.namespace if _NAME.fullmatch(each.namespace) else ""
                yield Custom("", namespace, "", frozenset({(each.group, kind)}), maker, each.name)


def edits(path: str, content: bytes) -> list[tuple[int, str]]:
    """Return the commands of a file that change objects of a cluster beside its manifests, each with its line."""
    found = []
    for _, text in _scripts((path,), lambda _: content, b"kubectl", b"oc "):
        for match in _EDITS.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append((line, " ".join(match[0].split())))
    return found


def _meant(word: str, script: str) -> str:
    """Return a name that stands in a script, or the one that its variable has at first; "" where nothing says it."""
    reference = _REFERENCE.fullmatch(word)
    if reference is not None:
        return next((value for name, value in _ASSIGNED.findall(script) if name == reference[1]), "")
    return word if _NAME.fullmatch(word) else ""


def applied(tree: Tree) -> dict[str, str]:
    """Return the files and directories that scripts apply, each with the script: paths as seen from the script, or from
    the top of the tree."""
    found: dict[str, str] = {}
    for script, text in _scripts(tree.files_below(""), tree.read, b"kubectl", b"oc "):
        for command in _APPLIES.findall(text):
            for named in _FILE.findall(command):
                for place in (script.rpartition("/")[0], ""):
                    path = join(place, named)
                    if path:
                        found.setdefault(path, script)
    return found


def pushed(tree: Tree) -> dict[str, str]:
    """Return the directories that scripts push as artifacts of OCI, by the name of the artifact; what several
    directories are pushed as, or a variable names, is left out."""
    found: dict[str, set[str]] = {}
    for script, text in _scripts(tree.files_below(""), tree.read, b"flux "):
        for command in _PUSHES.findall(text):
            artifact, held = _ARTIFACT.search(command), _PATH.search(command)
            if artifact is not None and held is not None and not is_symbolic(held[1]):
                places = (join(place, held[1]) for place in ("", script.rpartition("/")[0]))
                path = next((place for place in places if place and tree.is_directory(place)), None)
                if path is not None and not is_symbolic(artifact[1]):
                    found.setdefault(artifact[1], set()).add(path)
    return {name: next(iter(paths)) for name, paths in found.items() if len(paths) == 1}


def is_script(path: str) -> bool:
    """Tell whether a file, by path below the root, may hold commands."""
    if path.startswith(_WORKFLOWS):
        return True
    return path.endswith(_SCRIPTS) and "/." not in f"/{path}" and "node_modules/" not in path


def _scripts(files: Iterable[str], read: Callable[[str], bytes | None], *tools: bytes) -> Iterator[tuple[str, str]]:
    """Yield the scripts that name one of some tools, continued lines joined."""
    for path in files:
        if not is_script(path):
            continue
        content = read(path)
        if content is not None and any(tool in content for tool in tools):
            yield path, _CONTINUED.sub(" ", content[:_LONGEST].decode("utf-8", "replace"))
