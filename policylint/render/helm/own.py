"""`helm template` of a chart in the tree without helm, as far as what it makes is certain.

Source: helm v3, `pkg/engine`, `pkg/chartutil`; tests/witness/helm.py asks helm itself.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from policylint.budget import Budget
from policylint.documents import read
from policylint.documents.problem import YAML_SYNTAX
from policylint.documents.written import written
from policylint.load.charts import over
from policylint.model import GATEWAY_GROUP, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.globs import glob
from policylint.render.go_template.functions import Function, Int64, WithMethods, is_true
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import NO_VALUE, UncertainError, as_json, as_yaml
from policylint.render.go_template.running import FUNCTIONS, Engine, of_json
from policylint.render.go_template.semver import SemverError, compared
from policylint.render.helm.packed import Room, unpacked
from policylint.render.helm.program import MAX_OUTPUT, HelmError, LeftTemplate, Rendered, api_versions
from policylint.render.journal import WITHOUT_HELM

STEPS: Final = 5_000_000
"""Steps of work that rendering one chart may cost where nobody says how many."""
KUBERNETES: Final = ("1", "37", "0")
"""The version of Kubernetes that helm takes for the cluster's where it is not told of one."""
HELM: Final = "v3.22.0"
_DOCUMENTS: Final = Pattern(r"(?:\A|\n)---[ \t\n\f\r]*")
"""Where helm parts what a template prints (`releaseutil.SplitManifests`): at `---apiVersion: …` as well, which is what
`{{-` leaves of a line with three dashes above it."""
_NOTES: Final = "NOTES.txt"
_SETTING: Final = Pattern(r"([\w-]+(?:\.[\w-]+)*)=([^,{}\[\]\\]*)")
_INTEGER: Final = Pattern(r"-?(?:0|[1-9][0-9]{0,17})")
_TEST_HOOK: Final = "test"
_CHANGES: Final = Pattern(r"\b(?:un)?set\b|\bm(?:ustM)?erge(?:Overwrite)?\b")
"""What changes a mapping that templates share."""
_PRINTS: Final = Pattern(
    r"(?m)^\{\{-?\s*(?!(?:if|else|end|with|range|define|break|continue)\b|/\*|\$\w*\s*:?=)|^[ \t]*kind:[ \t]*[\"']?\{\{"
)
"""What may print whole objects, or a kind that is no word."""
_MAX_CHARTS: Final = 50
_LEFT: Final = ("_", ".")
"""With which the names of charts begin that helm does not load."""


class _Source(NamedTuple):
    """A template: its text, what is `.` to all templates of its chart, and where these are."""

    written: str
    scope: dict[str, Any]
    base: str


class _Chart(NamedTuple):
    """A chart, with those in it.

    Args:
        name: as its parent knows it.
        about: its Chart.yaml.
        values: its own.
        files: what is no template, by path below it.
        templates: their texts, by path below it.
        charts: those that it depends on and that are switched on.
    """

    name: str
    about: Any
    values: dict[str, Any]
    files: dict[str, bytes]
    templates: dict[str, str]
    charts: list[_Chart]


def template(
    files: Mapping[str, bytes],
    chart: str,
    release: str,
    namespace: str,
    values: Sequence[Any],
    settings: Iterable[tuple[str, str]] = (),
    budget: Budget | None = None,
) -> Rendered:
    """Return what `helm template` prints, in no order of kinds; arguments as of `program.template`.

    A template that asks for what nobody knows (chance, the time, keys) is left out, and the others are what they are:
    unless some template changes values, which those after it would see.

    Raises:
        HelmError: helm refuses the chart, or what it makes is not known here.
        ExhaustedError: that takes more than the budget allows.
    """
    budget = budget or Budget(steps=STEPS)
    try:
        left: list[LeftTemplate] = []
        lacking: dict[str, tuple[str, ...]] = {}
        output = "".join(_printed(files, chart, release, namespace, values, settings, budget, left, lacking))
        return Rendered(output, tuple(left), tuple(lacking.items()))
    except TemplateError as error:
        raise HelmError(str(error)) from None
    except UncertainError as error:
        raise HelmError(f"{WITHOUT_HELM}: {error}") from None
    except RecursionError:
        raise HelmError(f"{WITHOUT_HELM}: it nests too deep") from None


def _printed(
    files: Mapping[str, bytes],
    chart: str,
    release: str,
    namespace: str,
    values: Sequence[Any],
    settings: Iterable[tuple[str, str]],
    budget: Budget,
    left: list[LeftTemplate],
    lacking: dict[str, tuple[str, ...]],
) -> Iterator[str]:
    start = f"{chart}/" if chart else ""
    own = {path[len(start) :]: data for path, data in files.items() if path.startswith(start)}
    root = _loaded(own, [0], Room())
    if root.about.get("type") == "library":
        raise HelmError("library charts are not installable")
    given: dict[str, Any] = {}
    for layer in values:
        given = over(given, of_json(layer))
    for flag, pair in settings:
        _set(given, flag, pair)
    root = _with_values(_enabled(root, given, ""))
    top = {
        "Release": {
            "Name": release, "Namespace": namespace, "IsUpgrade": False, "IsInstall": True, "Revision": 1,
            "Service": "Helm",
        },
        "Capabilities": _capabilities(),
        "Values": _coalesced(root, copy.deepcopy(given)),
    }  # fmt: skip
    engine = _engine(budget)
    sources = dict(_sources(root, top, root.name, is_root=True))
    order = sorted(sources, key=lambda path: (path.count("/"), path), reverse=True)
    for path in order:
        nodes = engine.parsed(sources[path].written)
        if path not in engine.defined or nodes:
            engine.defined[path] = nodes
    for path, kept in _definitions(root):
        yield f"---\n# Source: {path}\n{kept}\n"
    made: dict[str, str] = {}
    for path in order:
        if not path.rpartition("/")[2].startswith("_"):
            source = sources[path]
            source.scope["Template"] = {"Name": path, "BasePath": source.base}
            engine.lacking.clear()
            try:
                made[path] = engine.text(engine.defined[path], source.scope).replace(NO_VALUE, "")
            except UncertainError as error:
                if any(_CHANGES.search(each.written) for each in sources.values()):
                    raise
                left.append(LeftTemplate(path, str(error), _kinds(source.written)))
            if engine.lacking:
                lacking[path] = tuple(engine.lacking)
    if left and not made:
        raise UncertainError(left[0].reason)
    for path in sorted(made):
        if not path.endswith(_NOTES):
            yield from _manifests(path, made[path])


def _kinds(template: str) -> frozenset[tuple[str, str]] | None:
    """Return the kinds of the objects that a template makes, by its text; None where that does not say them all."""
    if _PRINTS.search(template):
        return None
    documents = list(written(template))
    if not documents or any(document.group is None for document in documents):
        return None
    return frozenset((document.group or "", kind) for document in documents for kind in document.kinds)


def _manifests(path: str, made: str) -> Iterator[str]:
    """Yield the documents of a file, but for empty ones and tests."""
    for part in _DOCUMENTS.split(made.strip()):
        if not part.strip():
            continue
        reading = read(part.encode("utf-8", "replace"), path)
        for problem in reading.problems:
            if problem.code == YAML_SYNTAX:
                raise TemplateError(f"{path}: {problem.message}")
        value = next((each.value for each in reading.documents), None)
        if value is None:
            continue
        annotations = mapping(mapping(mapping(value).get("metadata")).get("annotations"))
        if _TEST_HOOK not in text(annotations.get("helm.sh/hook")):
            yield f"---\n# Source: {path}\n{part.strip()}\n"


def _loaded(files: Mapping[str, bytes], count: list[int], room: Room) -> _Chart:
    """Return the chart that some files are, and what is packed in them."""
    count[0] += 1
    if count[0] > _MAX_CHARTS:
        raise HelmError("too many charts in it")
    about = mapping(_yaml(files.get("Chart.yaml", b""), "Chart.yaml"))
    name = text(about.get("name"))
    if not name or not about.get("version"):
        raise HelmError("Chart.yaml has no name, or no version")
    if "requirements.yaml" in files and about.get("apiVersion") == "v1":
        stated = mapping(_yaml(files["requirements.yaml"], "requirements.yaml"))
        about = {**about, "dependencies": sequence(stated.get("dependencies"))}
    wanted = text(about.get("kubeVersion"))
    if wanted and not is_compatible(wanted, ".".join(KUBERNETES)):
        raise HelmError(f"chart requires kubeVersion: {wanted}")
    ignored = files.get(".helmignore", b"").decode("utf-8", "replace")
    files = {path: data for path, data in files.items() if not _is_ignored(path, f"{ignored}\ntemplates/.?*")}
    inner: dict[str, dict[str, bytes]] = {}
    others: dict[str, bytes] = {}
    templates: dict[str, str] = {}
    for path, data in files.items():
        first, _, rest = path.partition("/")
        if path.startswith("templates/"):
            templates[path] = data.decode("utf-8", "replace").removeprefix("\ufeff")
        elif first == "charts" and "/" in rest:
            inner.setdefault(rest.partition("/")[0], {})[rest.partition("/")[2]] = data
        elif first == "charts" and rest.endswith(".tgz") and not rest.startswith(_LEFT):
            inner[rest] = unpacked(data, path, room)
        else:
            others[path] = data
    charts = [
        _loaded(below, count, room)
        for name, below in sorted(inner.items())
        if not name.startswith(_LEFT) and "Chart.yaml" in below
    ]
    known = {chart.name for chart in charts}
    for dependency in map(mapping, sequence(about.get("dependencies"))):
        if text(dependency.get("name")) not in known:
            raise HelmError(f"found in Chart.yaml, but missing in charts/ directory: {text(dependency.get('name'))}")
    values = of_json(mapping(_yaml(files.get("values.yaml", b""), "values.yaml")))
    return _Chart(name, about, values, others, templates, charts)


def _is_ignored(path: str, rules: str) -> bool:
    """Return whether lines of a `.helmignore` leave out a file, or a directory that it is in."""
    steps = path.split("/")
    for rule in (line.strip() for line in rules.splitlines()):
        if not rule or rule.startswith("#"):
            continue
        if rule.startswith("!") or "**" in rule:
            raise UncertainError(f".helmignore: {rule}")
        plain = rule.removesuffix("/")
        for depth in range(1, len(steps) + 1):
            if rule.endswith("/") and depth == len(steps):
                continue
            asked = "/".join(steps[:depth]) if "/" in plain else steps[depth - 1]
            if glob(plain.lstrip("/"), slashes=False).is_whole(asked):
                return True
    return False


def _yaml(data: bytes, path: str) -> Any:
    reading = read(data, path)
    if any(each.code == YAML_SYNTAX for each in reading.problems) or len(reading.documents) > 1:
        raise UncertainError(f"{path} cannot be read")
    return reading.documents[0].value if reading.documents else None


def _set(values: dict[str, Any], flag: str, pair: str) -> None:
    """Set what `--set` says, in its plain form."""
    match = _SETTING.fullmatch(pair)
    if match is None:
        raise UncertainError(f"{flag} {pair[:40]!r}")
    written: Any = match[2]
    if flag == "--set" and _INTEGER.fullmatch(written):
        written = Int64(int(written))
    elif flag == "--set" and written in ("true", "false", "null"):
        written = {"true": True, "false": False, "null": None}[written]
    *steps, last = match[1].split(".")
    for step in steps:
        if not isinstance(values.get(step), dict):
            values[step] = {}
        values = values[step]
    values[last] = written


def is_compatible(wanted: str, version: str) -> bool:
    """Return whether a version is among those that a chart asks for."""
    try:
        return compared(wanted, version) if wanted else True
    except SemverError:
        return False


def _enabled(chart: _Chart, given: dict[str, Any], path: str) -> _Chart:
    """Return a chart with those of its charts that tags and conditions switch on, by the names it gives them."""
    stated = [mapping(each) for each in sequence(chart.about.get("dependencies"))]
    if not stated:
        return chart
    charts = [
        each
        for each in chart.charts
        if not any(
            text(entry.get("name")) == each.name
            and is_compatible(text(entry.get("version")), str(each.about["version"]))
            for entry in stated
        )
    ]
    entries: dict[str, Any] = {}
    for entry in stated:
        name = text(entry.get("alias")) or text(entry.get("name"))
        entries[name] = entry
        fitting = (
            each
            for each in chart.charts
            if each.name == entry.get("name") and is_compatible(text(entry.get("version")), str(each.about["version"]))
        )
        found = next(fitting, None)
        if found is not None:
            charts.append(found._replace(name=name, about={**found.about, "name": name}))
    chart = chart._replace(charts=charts)
    values = _coalesced(chart, copy.deepcopy(given))
    kept = [each for each in charts if each.name not in entries or is_on(entries[each.name], values, path)]
    return chart._replace(charts=[_enabled(each, values, f"{path}{each.name}.") for each in kept])


def is_on(entry: Any, values: dict[str, Any], path: str) -> bool:
    """Return whether tags and conditions switch a dependency on.

    Args:
        values: of the topmost chart.
        path: by which these hold those of the chart that depends on it, with a dot at its end.
    """
    tags = mapping(values.get("tags"))
    stated = [tags[tag] for tag in map(text, sequence(entry.get("tags"))) if isinstance(tags.get(tag), bool)]
    is_on = any(stated) or not stated
    for condition in filter(None, text(entry.get("condition")).strip().split(",")):
        value: Any = values
        for step in f"{path}{condition}".split("."):
            value = mapping(value).get(step)
        if isinstance(value, bool):
            return value
    return is_on


def _with_values(chart: _Chart) -> _Chart:
    """Return a chart whose values hold those of the charts in it, as helm leaves them when it looks for imports."""
    chart = chart._replace(charts=[_with_values(each) for each in chart.charts])
    names = {each.name for each in chart.charts}
    stated = [mapping(each) for each in sequence(chart.about.get("dependencies"))]
    kept = [each for each in stated if (text(each.get("alias")) or text(each.get("name"))) in names]
    if any(each.get("import-values") for each in kept):
        raise UncertainError("import-values")
    return chart._replace(values=_coalesced(chart, {}, merge=True)) if kept else chart


def _coalesced(chart: _Chart, values: dict[str, Any], *, merge: bool = False) -> dict[str, Any]:
    """Return values over those of a chart, and of those in it; what is null takes a key away unless they are merged."""
    for key, own in copy.deepcopy(chart.values).items():
        if key not in values:
            values[key] = own
        elif values[key] is None:
            if not merge:
                del values[key]
        elif isinstance(values[key], dict) and isinstance(own, dict):
            is_child = any(each.name == key for each in chart.charts)
            _tables(values[key], own, merge=merge or is_child)
    for each in chart.charts:
        inner = values.setdefault(each.name, {})
        if not isinstance(inner, dict):
            raise TemplateError(f"type mismatch on {each.name}")
        _globals(inner, values)
        values[each.name] = _coalesced(each, inner, merge=merge)
    return values


def _tables(over: dict[str, Any], own: dict[str, Any], *, merge: bool) -> dict[str, Any]:
    stated = {key for key, value in own.items() if value is not None}
    own |= {key: None for key, value in over.items() if value is None}
    for key, value in own.items():
        if key not in over:
            over[key] = value
        elif over[key] is None and not merge and key in stated:
            del over[key]
        elif isinstance(value, dict) and isinstance(over[key], dict):
            _tables(over[key], value, merge=merge)
    return over


def _globals(inner: dict[str, Any], outer: dict[str, Any]) -> None:
    """Hand the globals of a chart down to one in it."""
    own, given = inner.get("global", {}), outer.get("global", {})
    if not isinstance(own, dict) or not isinstance(given, dict):
        return
    for key, value in given.items():
        if isinstance(value, dict):
            made = copy.deepcopy(value)
            if key not in own:
                own[key] = made
            elif isinstance(own[key], dict):
                own[key] = _tables(made, own[key], merge=True)
        elif not isinstance(own.get(key), dict):
            own[key] = value
    inner["global"] = own


def _sources(chart: _Chart, top: dict[str, Any], path: str, *, is_root: bool) -> Iterator[tuple[str, _Source]]:
    """Yield the templates of a chart and of those in it, by their names."""
    scope: dict[str, Any] = {
        "Chart": _about(chart, is_root=is_root),
        "Files": _files(chart.files),
        "Release": top["Release"],
        "Capabilities": top["Capabilities"],
        "Values": top["Values"] if is_root else mapping(mapping(top["Values"]).get(chart.name)),
        "Subcharts": {},
    }
    for each in chart.charts:
        yield from _sources(each, scope, f"{path}/charts/{each.name}", is_root=False)
    is_library = chart.about.get("type") == "library"
    for name, template_text in chart.templates.items():
        if is_library and not name.rpartition("/")[2].startswith("_"):
            continue
        yield f"{path}/{name}", _Source(template_text, scope, f"{path}/templates")


def _about(chart: _Chart, *, is_root: bool) -> dict[str, Any]:
    fields = (
        "Name",
        "Version",
        "AppVersion",
        "Description",
        "Type",
        "Home",
        "Icon",
        "KubeVersion",
        "Condition",
        "Tags",
    )
    stated = {field: text(chart.about.get(field[0].lower() + field[1:])) for field in fields}
    stated |= {field: str(chart.about.get(field[0].lower() + field[1:], "")) for field in ("Version", "AppVersion")}
    lists = {field: sequence(chart.about.get(field.lower())) for field in ("Keywords", "Sources", "Maintainers")}
    annotations = mapping(chart.about.get("annotations"))
    return {**stated, **lists, "Annotations": annotations, "APIVersion": text(chart.about.get("apiVersion")),
            "Deprecated": chart.about.get("deprecated") is True, "IsRoot": is_root}  # fmt: skip


def _capabilities() -> dict[str, Any]:
    major, minor, _ = KUBERNETES
    version = f"v{'.'.join(KUBERNETES)}"
    return {
        "KubeVersion": {"Version": version, "GitVersion": version, "Major": major, "Minor": minor},
        "APIVersions": WithMethods({}, {"Has": Function("s", _has_version)}),
        "HelmVersion": {"Version": HELM},
    }


_BUILT_IN: Final = frozenset(
    {
        "v1", "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1", "apps/v1",
        "authentication.k8s.io/v1", "authorization.k8s.io/v1", "autoscaling/v1", "autoscaling/v2", "batch/v1",
        "certificates.k8s.io/v1", "coordination.k8s.io/v1", "discovery.k8s.io/v1", "events.k8s.io/v1",
        "networking.k8s.io/v1", "node.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1",
        "storage.k8s.io/v1",
    }
)  # fmt: skip


def _has_version(version: str) -> bool:
    """Return whether helm takes the cluster to serve an API version, or a kind of one."""
    if version in _BUILT_IN or version in api_versions():
        return True
    group = version.partition("/")[0]
    if group == GATEWAY_GROUP or ("." in group and not group.endswith(".k8s.io")):
        return False
    raise UncertainError(f"whether {version} is served")


def _files(files: Mapping[str, bytes]) -> dict[str, Any]:
    def content(path: str) -> str:
        try:
            return files.get(path, b"").decode()
        except UnicodeDecodeError:
            raise UncertainError(f"{path} is no text") from None

    def chosen(pattern: str) -> dict[str, Any]:
        expression = glob(pattern, braces=True, slashes=False)
        return _files({path: data for path, data in files.items() if expression.is_whole(path)})

    def as_config() -> str:
        return as_yaml({path.rpartition("/")[2]: content(path) for path in files}) if files else ""

    def as_secrets() -> str:
        import base64

        encoded = {path.rpartition("/")[2]: base64.b64encode(data).decode() for path, data in files.items()}
        return as_yaml(encoded) if encoded else ""

    methods = {
        "Get": Function("s", content),
        "GetBytes": Function("s", content),
        "Lines": Function("s", lambda path: content(path).split("\n") if content(path) else []),
        "Glob": Function("s", chosen),
        "AsConfig": Function("", as_config),
        "AsSecrets": Function("", as_secrets),
    }
    return WithMethods({path: data.decode("utf-8", "replace") for path, data in files.items()}, methods)


def _definitions(chart: _Chart) -> Iterator[tuple[str, str]]:
    """Yield the files of CRDs, which helm hands on as they are."""
    for path, data in sorted(chart.files.items()):
        if path.startswith("crds/") and path.endswith((".yaml", ".yml", ".json")):
            yield f"{chart.name}/{path}", data.decode("utf-8", "replace")
    for each in chart.charts:
        for path, kept in _definitions(each):
            yield f"{chart.name}/charts/{path}", kept


def _engine(budget: Budget) -> Engine:
    """Return an engine with the functions of helm, some of which run templates themselves."""

    def include(name: str, value: Any) -> str:
        if name not in engine.defined:
            raise TemplateError(f"no template {name!r}")
        return engine.text(engine.defined[name], value)

    def filled(written: str, value: Any) -> str:
        known = dict(engine.defined)
        made = engine.text(engine.parsed(written), value).replace(NO_VALUE, "")
        engine.defined.clear()
        engine.defined.update(known)
        return made

    functions = {
        **FUNCTIONS,
        "include": Function("sa", include),
        "tpl": Function("sa", filled),
        "required": Function("sa", _required),
        "lookup": Function("ssss", lambda *_: {}),
        "toYaml": Function("a", as_yaml),
        "mustToYaml": Function("a", as_yaml),
        "toYamlPretty": None,
        "toToml": None,
        "mustToToml": None,
        "fromToml": None,
        "fromYaml": Function("s", lambda written: _of_yaml(written, dict)),
        "fromYamlArray": Function("s", lambda written: _of_yaml(written, list)),
        "fromJson": Function("s", lambda written: _of_yaml(written, dict)),
        "fromJsonArray": Function("s", lambda written: _of_yaml(written, list)),
        "toJson": Function("a", as_json),
        "getHostByName": Function("s", lambda _: ""),
    }
    engine = Engine(budget, functions, missing="zero", symbolic=False, most=MAX_OUTPUT)
    return engine


def _required(message: str, value: Any) -> Any:
    if value is None or value == "":
        raise TemplateError(message)
    return value


def _of_yaml(written: str, kind: type) -> Any:
    value = _yaml(written.encode(), "a text")
    if value is not None and not isinstance(value, kind):
        raise UncertainError("a text of another shape")
    return of_json(value) if is_true(value) else kind()
