"""What scripts of the tree do: `kubectl apply -f`, of files, URLs and what they hold themselves, `flux push artifact
--path`, and `helm install`.

A bootstrap applies what no deployer of the tree takes in: the Gateway that Argo CD's own route hangs on. A pipeline
pushes a directory as the artifact that a cluster then pulls. And a Makefile installs the charts beside one's manifests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from policylint.documents.written import WrittenDocument, written
from policylint.model import GATEWAY_GROUP, is_symbolic
from policylint.model.unseen import OPERATED, Custom
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.scripts import Scripts, ScriptText, is_prose
from policylint.render.tree import Tree, directories_above, join

_KUBECTL = r"(?:k(?<=\bk)ubectl|K(?<=\bK)UBECTL|o(?<=\bo)c)"
"""The program that asks a cluster, as scripts and Makefiles call it, tried at its first letters alone."""
_APPLIES = Pattern(_KUBECTL + r"\b[^\n|;&#]{0,200}?\b(?:apply|create|replace)\b([^\n|;&#]{0,400})")
_BUILDS = Pattern(r"k(?<=\bk)(?:ustomize\s+build|ubectl\s+kustomize)\b([^\n|;&#]{0,400})\|[^\n]*\bapply\b")
_BEARINGS = 8
"""From how many directories a move is followed."""
_AFTER = r"(?<![^\s;&|(@].)"
"""What stands behind the first letter of a command: the letter starts a word of a shell, or of a Makefile."""
_MOVES = Pattern(
    rf"(?:(?:c{_AFTER}d|p{_AFTER}ushd|m{_AFTER}ake\s+-C)\s+|w{_AFTER}orking-directory:\s*)[\"']?([^\s\"';&|)]+)"
)
"""Commands that say as seen from where the paths after them are."""
_MOST_STARTS = 600
"""Directories as seen from which the files of one script are looked for, at most."""
HOME = Pattern(r"^(?:\$(?:\w+|\{\w+\}|\(\w+\))|/\w+)/")
"""A variable at the start of a path, or where a machine of one's own mounts the tree: the directory that the script is
in, one above that, or the top."""
_EDITS = Pattern(
    r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(?:patch|delete|label|annotate)\b[^\n|;&#]{0,120}?"
    r"(?:polic|auth|role|binding|gateway|route|ingress|namespace|\bns\b|\bcrd|webhook|constraint)[^\n|;&#]{0,400}"
)
"""Commands that change what stands between requests and pods."""
_PATCHES = Pattern(_KUBECTL + r"\b[^\n|;&#]{0,200}?\bpatch\s+(?:-\S+\s+)*([a-zA-Z][\w.]*)(?:\s+|/)[\"']?([^\s\"';|&]+)")
"""Commands that change an object of the cluster: its kind as kubectl takes it, and its name."""
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
    r"|github(?:usercontent)?\.com/[^\s\"'/]+/([^\s\"'/]*(?:demo|sample|example)[^\s\"'/]*/[^\s\"']*\.ya?ml)"
)
"""Manifests of applications to try something with: those of controllers and CRDs make no Services of one's own."""
_SAMPLE = Pattern(r"quickstart|bookinfo|httpbin|demo|sample|example")
_REMOTE = Pattern(
    r"https?://(?:raw\.)?github(?:usercontent)?\.com/([\w.-]+/[\w.-]+)/(?:[^\s\"']+/)?([^\s\"'/]+)\.ya?ml"
)
"""Manifests of another repository: which one, and what the file is called."""
_CALLED = {
    "gateway": frozenset({(GATEWAY_GROUP, "Gateway")}),
    "httproute": frozenset({(GATEWAY_GROUP, "HTTPRoute")}),
    "inferencepool": frozenset({(f"inference.networking.{end}", "InferencePool") for end in ("k8s.io", "x-k8s.io")}),
}
"""Kinds that a file is called by in which such an object is."""
_OF_CONTROLLERS = frozenset({"api", "controller", "crd", "install", "operator"})
"""Words in the names of files that install what reads such objects."""

_OF_ANY = frozenset(
    {
        "all",
        "app",
        "base",
        "cluster",
        "config",
        "configmap",
        "deploy",
        "deployment",
        "gateway",
        "ingres",
        "issuer",
        "job",
    }
    | {"manifest", "namespace", "pod", "policy", "pvc", "resource", "route", "secret", "service", "svc", "value"}
)
"""What files are called by the kinds that they hold, or by nothing: that names no object."""
_OF_YAML = ("yaml", "yml")
_WORDS = Pattern(r"[-_.]")

_INSTALLS = Pattern(r"(?:h(?<=\bh)elm|H(?<=\bH)ELM)[)}]?\s+(?:install|upgrade)\s([^\n|;&#`]{0,600})")
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
_LABELS = Pattern(_KUBECTL + r"\b[^\n|;&#]{0,200}?\blabel\s+(?:--\S+\s+)*(?:ns|namespaces?)[\s/]+([^\n|;&#]{0,400})")
_STARTS = Pattern(r"\b(?:kubectl|oc)\b[^\n|;&#]{0,200}?\b(run|create\s+(?:deployment|deploy))\s([^\n|;&#]{0,400})")
_OF_RUN = frozenset(
    {"--image", "--labels", "-l", "--port", "--env", "--restart", "--overrides", "--replicas", "--context"}
)
"""Options of `kubectl run` that take the next word, beside some of helm's."""
_OF_BUILD = frozenset({"--load-restrictor", "--output", "-o", "--env", "-e", "--helm-command"})
"""Options of `kustomize build` that take the next word."""
_RELEASED = Pattern(
    r"github\.com/([\w.-]+/[\w.-]+)/(?:releases/download/([\w.${}()-]+)/|[\w./-]*\?(?:[\w=&]*&)?ref=([\w.${}()-]+))"
)
"""Manifests of a release: a file of it, or a directory for kustomize."""
_BRINGS = Pattern(r"\b(\w+) install((?:[ \t]+-[^\n|;&#`]*)?)[ \t]--crds\b([^\n|;&#`]*)")
"""Commands that write CRDs for kubectl, with their options."""
_UNPACKED = Pattern(
    r"(?:^|[\s/])([a-z][a-z-]*-|[A-Z][A-Z0-9_]*_VERSION=|--[a-z-]+-version[= ]|kindest/node:|rancher/k3s:)"
    r"[\"']?v?(\d+\.\d+(?:\.\d+)?)(?:[+-]k3s\d+)?(?=[/@\s\"'`;&]|$)"
)
"""Archives of a release that are unpacked, and variables and options that say which one is fetched."""
_REFERENCE = Pattern(r"\$[({]?(\w+)[)}]?")
_NAME = Pattern(r"[a-z0-9][a-z0-9.-]*")
_INTO = Pattern(r"(?:^|\s)(?:-n\s*|--namespace[\s=]\s*)[\"']?([^\s\"']+)")
_DECLARES = r"(?m)^[ \t]*(?:(?:export|declare|readonly|local|typeset)[ \t]+(?:-\w+[ \t]+)*)?"
"""What may stand before the name of a variable that a line of a script or Makefile assigns."""
_PATHS_ASSIGNED = Pattern(_DECLARES + r"(\w+)[ \t]*[:?]?=[ \t]*[\"']?((?:\$[({]\w+[)}]/)?[\w./-]*\w)[\"']?[ \t]*$")
_YAML_ASSIGNED = Pattern(_DECLARES + r"\w+[ \t]*[:?]?=[ \t]*[\"']?([^\s\"']+/[\w.-]+\.ya?ml)[\"']?[ \t]*$")
_DEEPEST = 3
"""Variables that stand for variables, and how often."""
_ASSIGNED = Pattern(_DECLARES + r"(\w+)[ \t]*[:?]?=[ \t]*[\"']?(?:\$\{\w+:-)?([a-z0-9][a-z0-9-]*)")
_VERSION_ASSIGNED = Pattern(_DECLARES + r"(\w+)[ \t]*[:?]?=[ \t]*[\"']?(?:\$\{\w+:-)?(v?\d[\w.+-]*)")


def installed(scripts: Scripts) -> Iterator[Custom]:
    """Yield the releases that scripts install, where they say into which namespace, and what else they apply."""
    called = {path.rstrip("/").rpartition("/")[2] for paths in (scripts.files, scripts.directories) for path in paths}
    for script, text in scripts.naming(b"kubectl", b"oc "):
        yield from _held(script, text)
        assigned = () if is_prose(script) else text.all(_YAML_ASSIGNED)
        yield from _brought(script, (each[1] for each in assigned), "", called)
        for match in text.all(_APPLIES):
            for named, of_repository in _SAMPLES.findall(match[1]):
                yield Custom("", "", "", maker=f"{script}, which applies {named or of_repository},")
            stated = _INTO.search(match[0])
            into = _meant(stated[1], text) if stated else ""
            yield from _brought(script, named_files(match[1], text), into, called)
            for repository, file in _REMOTE.findall(match[1]):
                if into:
                    yield Custom("", into, "", maker=f"{script}, which applies manifests of {repository} there,")
                words = {each.removesuffix("s") for each in _WORDS.split(file.lower())}
                for kind in sorted(words & _CALLED.keys()) if words.isdisjoint(_OF_CONTROLLERS) else ():
                    yield Custom("", "", "", _CALLED[kind], f"{script}, which applies {file}.yaml of {repository},")
    for install in installs(scripts):
        namespace = install.options.get("-n") or install.options.get("--namespace")
        namespace = "default" if namespace is None else _meant(namespace, install.text)
        if namespace and _NAME.fullmatch(install.name):
            maker = f"{install.script}, which installs the chart {install.chart},"
            yield Custom("", namespace, install.name, maker=maker)


def _brought(script: str, files: Iterable[str], into: str, called: Collection[str]) -> Iterator[Custom]:
    """Yield what may come of files that a script names and that are not in the tree: the samples of another
    distribution (`samples/helloworld/helloworld.yaml`), or of another repository, hold what they are called by.

    Args:
        called: what the files and directories of the tree are called.
    """
    for each in files:
        directory, _, file = each.rstrip("/").rpartition("/")
        stem, dot, ending = file.rpartition(".")
        name = stem if dot else file
        words = {word.removesuffix("s") for word in _WORDS.split(name)}
        if (dot and ending not in _OF_YAML) or not _NAME.fullmatch(name) or not words.isdisjoint(_OF_CONTROLLERS):
            continue
        is_remote = "://" in each
        is_elsewhere = bool(dot) if is_remote else bool(directory.strip("./")) and file not in called
        if is_elsewhere and not words <= _OF_ANY:
            kinds = OPERATED.union(*(_CALLED[word] for word in words & _CALLED.keys()))
            yield Custom("", into, "", kinds, f"{script}, which applies {each},", name)
            if not is_remote and _SAMPLE.search(name):
                yield Custom("", into, "", maker=f"{script}, which applies the sample {each},")


def charts(scripts: Scripts) -> Iterator[tuple[str, str, str]]:
    """Yield script, chart and version of each chart that scripts install in a version that they state, or a file of
    variables beside them, script, repository and version of the manifests that they apply from GitHub, script and
    command of what a program brings itself (`linkerd install --crds`), with no version, and script, name and version
    of what they unpacked (`cd istio-1.2.2`) or have a program fetch (`ISTIO_VERSION=1.2.2`, `--cluster-version 1.14`).
    """
    for install in installs(scripts):
        if stated := _version(install.options.get("--version", ""), install.text, scripts):
            yield install.script, install.chart, stated
    for script, text in scripts.naming(b"kubectl", b"oc "):
        for repository, *tags in (each.groups("") for each in text.all(_RELEASED)):
            if stated := _version("".join(tags), text, scripts):
                yield script, repository, stated
        # What an option switches off may be those CRDs.
        brings = (each[1] for each in text.all(_BRINGS) if "=false" not in each[2] + each[3])
        for program in dict.fromkeys(brings):
            yield script, f"{program} install --crds", ""
        for name, stated in dict.fromkeys(each.groups() for each in text.all(_UNPACKED)):
            yield script, name.rstrip("= "), stated


def _version(stated: str, text: ScriptText, scripts: Scripts) -> str:
    """Return a version that a command states, or the one that its variable has at first, there or in a file that the
    script takes in; "" where nothing says it."""
    reference = _REFERENCE.fullmatch(stated.removeprefix("v"))
    if reference is None:
        return stated
    own = text.first(_VERSION_ASSIGNED, reference[1])
    return (scripts.variables.first(_VERSION_ASSIGNED, reference[1]) or "") if own is None else own


def started(scripts: Scripts) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield script and labels of the pods that scripts start by hand (`kubectl run`, `kubectl create deployment`)."""
    for script, text in scripts.naming(b"kubectl", b"oc "):
        for what, command in (each.groups() for each in text.all(_STARTS)):
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
    text: ScriptText
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


def installs(scripts: Scripts) -> Iterator[Install]:
    """Yield what scripts install with helm."""
    for script, text in scripts.naming(b"helm"):
        for command in (each[1] for each in text.all(_INSTALLS)):
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


def _held(script: str, text: ScriptText) -> Iterator[Custom]:
    """Yield the objects that stand in a script itself, which applies them."""
    for each in _applied_by(text):
        kind = each.kinds[0]
        if each.group is not None and _NAME.fullmatch(each.name) and not ACTS.search(kind):
            maker = f"{script}, which applies {kind} {each.name},"
            namespace = each.namespace if _NAME.fullmatch(each.namespace) else ""
            yield Custom("", namespace, "", frozenset({(each.group, kind)}), maker, each.name)


def _applied_by(text: ScriptText) -> Iterator[WrittenDocument]:
    """Yield the objects that stand in a script itself and that a command of it takes in."""
    for match in text.all(_HELD):
        if _PIPED.search(match[0].partition("\n")[0]):
            yield from written(match["text"])


def edits(path: str, content: bytes) -> list[tuple[int, str]]:
    """Return the commands of a file that change objects of a cluster beside its manifests, each with its line."""
    found = []
    for _, script in Scripts(lambda: (path,), lambda _: content).naming(b"kubectl", b"oc "):
        for match in script.all(_EDITS):
            line = script.text.count("\n", 0, match.start()) + 1
            found.append((line, " ".join(match[0].split())))
    return found


def _meant(word: str, script: ScriptText) -> str:
    """Return a name that stands in a script, or the one that its variable has at first; "" where nothing says it."""
    reference = _REFERENCE.fullmatch(word)
    if reference is not None:
        return script.first(_ASSIGNED, reference[1]) or ""
    return word if _NAME.fullmatch(word) else ""


def applied(tree: Tree) -> dict[str, str]:
    """Return the files and directories that scripts apply, each with the script: paths as seen from where these are, or
    go, or from the top of the tree."""
    found: dict[str, str] = {}
    for script, text in tree.scripts.naming(b"kubectl", b"oc "):
        start = starts(script, text)
        for command in (each[1] for each in text.all(_APPLIES)):
            for each in named_files(command, text):
                found.update((path, script) for path in places(start, each) if path not in found)
        for command in (each[1] for each in text.all(_BUILDS)):
            names, _ = _words(command, _OF_BUILD)
            found.update((path, script) for path in places(start, *names[:1]) if path not in found)
    return found


def namespaces(scripts: Scripts) -> dict[str, str]:
    """Return the files and directories that scripts apply into a namespace that they state, each with it. Of several it
    is the one into which most of what lies beside it goes; none where two are equal."""
    found: dict[str, set[str]] = {}
    for script, text in scripts.naming(b"kubectl", b"oc "):
        start = starts(script, text)
        for match in text.all(_APPLIES):
            stated = _INTO.search(match[0])
            namespace = _meant(stated[1], text) if stated else "default"
            for each in named_files(match[1], text):
                for path in places(start, each):
                    found.setdefault(path, set()).add(namespace)
    counted: dict[str, Counter[str]] = {}
    for path, known in found.items():
        counted.setdefault(path.rpartition("/")[0], Counter()).update(known)
    chosen = {}
    for path, known in found.items():
        beside = counted[path.rpartition("/")[0]]
        first, *others = sorted(known, key=lambda name: -beside[name])
        if first and all(beside[first] > beside[other] for other in others):
            chosen[path] = first
    return chosen


def named_files(command: str, script: ScriptText) -> Iterator[str]:
    """Yield the files and directories that a command of a script names with `-f` and `-k`, variables filled in."""
    for named in _FILE.findall(command):
        for each in named.split(","):
            yield _filled_in(each, script)


def labelled(scripts: Scripts) -> dict[str, dict[str, str]]:
    """Return the labels that scripts give to namespaces, by namespace: those with one value in all scripts."""
    found: dict[str, dict[str, set[str]]] = {}
    for _, text in scripts.naming(b" label "):
        for command in (each[1] for each in text.all(_LABELS)):
            words, _ = _words(command, _WITH_VALUE)
            labels = [word.split("=") for word in words if word.count("=") == 1]
            for name in (_meant(word, text) for word in words if "=" not in word and not word.endswith("-")):
                for key, value in labels:
                    found.setdefault(name, {}).setdefault(key, set()).add(_meant(value, text))
    return {
        name: {key: next(iter(values)) for key, values in labels.items() if len(values) == 1 and "" not in values}
        for name, labels in found.items()
        if name
    }


def patched(scripts: Scripts) -> dict[tuple[str, str], str]:
    """Return the objects that scripts patch, or write themselves, by kind (in lower case, in the singular) and name,
    each with the script. A text for people shows how one could."""
    found: dict[tuple[str, str], str] = {}
    for script, text in scripts.naming(b"kubectl", b"oc "):
        for each in () if is_prose(script) else text.all(_PATCHES):
            found.update(((kind, _meant(each[2], text)), script) for kind in singular(each[1]))
        for one in () if is_prose(script) else _applied_by(text):
            found[one.kinds[0].lower(), _meant(one.name, text)] = script
    return found


def singular(kind: str) -> tuple[str, ...]:
    """Return what a kind may be called in the singular that a command names: `httproutes`, `Kind.group`."""
    kind = kind.partition(".")[0].lower()
    return (kind, kind.removesuffix("s"), kind.removesuffix("es"), f"{kind.removesuffix('ies')}y")


def _filled_in(path: str, script: ScriptText) -> str:
    """Return a path with what its variables have at first in a script."""
    for _ in range(_DEEPEST if "$" in path else 0):
        path = _REFERENCE.sub(lambda found: script.first(_PATHS_ASSIGNED, found[1]) or found[0], path)
    return path


def starts(script: str, text: ScriptText | None = None) -> tuple[str, ...]:
    """Return the directories as seen from which a script names files: its own, the top, and those that it goes to, from
    there or from where it went before."""
    home = tuple(dict.fromkeys((script.rpartition("/")[0], "")))
    known, here = dict.fromkeys(home), home
    for move in () if text is None else dict.fromkeys(move[1] for move in text.all(_MOVES)):
        if len(known) > _MOST_STARTS:
            break
        # Not from everywhere that it ever was: a guide that changes directory thirty times would be at 2^30 places.
        here = tuple(dict.fromkeys(places((*home, *here), move)))[:_BEARINGS]
        known.update(dict.fromkeys(here))
    return tuple(known)


def places(start: Collection[str], *named: str) -> Iterator[str]:
    """Yield what a path may be that a script names: below a directory that a variable stands for, too, most often one
    above the script."""
    for each in named:
        plain = HOME.sub("", each)
        begins = [*start, *directories_above(next(iter(start), ""))] if plain != each else start
        plain = plain.rpartition("/")[0] if "*" in plain.rpartition("/")[2] else plain
        for place in () if is_symbolic(plain) or "://" in plain else begins:
            path = join(place, plain)
            if path:
                yield path


def pushed(tree: Tree) -> dict[str, str]:
    """Return the directories that scripts push as artifacts of OCI, by the name of the artifact; what several
    directories are pushed as, or a variable names, is left out."""
    found: dict[str, set[str]] = {}
    for script, text in tree.scripts.naming(b"flux "):
        for command in (each[1] for each in text.all(_PUSHES)):
            artifact, held = _ARTIFACT.search(command), _PATH.search(command)
            if artifact is not None and held is not None and not is_symbolic(held[1]):
                places = (join(place, held[1]) for place in ("", script.rpartition("/")[0]))
                path = next((place for place in places if place and tree.is_directory(place)), None)
                if path is not None and not is_symbolic(artifact[1]):
                    found.setdefault(artifact[1], set()).add(path)
    return {name: next(iter(paths)) for name, paths in found.items() if len(paths) == 1}
