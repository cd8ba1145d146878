"""A diff read back from its `json-v1`, so that a job that trusts nobody's Markdown can write its own.

The document may come from anybody: it is held to its schema, and to bounds that no schema states. What Markdown does
not show (contexts) is not restored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from policylint.compare.change import (
    AttachmentChange,
    Comparison,
    EnvironmentChange,
    FindingChange,
    ObjectChange,
    Part,
    PolicyChange,
    Responsible,
    SettingChange,
    SubjectChange,
)
from policylint.compare.connections import ConnectionChange
from policylint.compare.placements import PlacementChange
from policylint.compare.requests import Demands, RequestChange, RequestChanges, RequestSet, Said
from policylint.model import Finding, Location, Node, PolicyKind, ResourceKey
from policylint.model.coverage import Coverage, LeftOut
from policylint.model.policy_kind import Merge, SettingPurposes
from policylint.model.resource import Spot
from policylint.model.suppression import Suppression
from policylint.namedtuple import NamedTuple
from policylint.report.diff.report import DiffReport
from policylint.report.findings import Report
from policylint.report.rule_page import page_of
from policylint.trace import Request
from policylint.triage.apply import Suppressed

if TYPE_CHECKING:
    from policylint.session.judge import ConfigurationChange

MOST_BYTES = 20_000_000
MOST_DEPTH = 100
Entry = Mapping[str, Any]


class _Configuration(NamedTuple):
    """What a change does to the configuration, in the words of whoever compared."""

    file: str
    line: int
    message: str


class NotADiffError(ValueError):
    """A document is not what `policylint diff -o json-v1` writes; the message says why."""


def read(data: bytes) -> DiffReport:
    """Return the report that a document holds.

    Raises:
        NotADiffError: it is too large, no JSON, or not as the schema wants it.
    """
    return _report(_checked(data))


def _checked(data: bytes) -> Entry:
    import json

    from jsonschema import Draft202012Validator

    from policylint.model.shipped import shipped

    if len(data) > MOST_BYTES:
        raise NotADiffError(f"more than {MOST_BYTES:,} bytes")
    try:
        document = json.loads(data, parse_constant=_refused)
    except RecursionError:
        raise NotADiffError("nested too deep") from None
    except ValueError as error:
        raise NotADiffError(f"not JSON: {error}") from None
    if not _is_shallow(document):
        raise NotADiffError("nested too deep")
    schema = json.loads(shipped("schemas", "output", "diff-json-v1.json").read_bytes())
    for problem in Draft202012Validator(schema).iter_errors(document):
        where = "/".join(map(str, problem.absolute_path))
        raise NotADiffError(f"not as schemas/output/diff-json-v1.json wants it, at /{where[:200]}")
    checked: Entry = document
    return checked


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _is_shallow(document: object) -> bool:
    level = [document]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for value in level
            if isinstance(value, (dict, list))
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
    return not level


def _report(document: Entry) -> DiffReport:
    from policylint import __version__
    from policylint.model.home import home

    routes = document["summary"]["routes_after"]
    environments = tuple(_environment(document, name, routes.get(name, 0)) for name in document["environments"])
    findings = tuple(FindingChange(_finding(entry), entry["state"]) for entry in document["findings"])
    pages = {rule: page for rule in {entry["rule"] for entry in document["findings"]} if (page := page_of(rule))}
    coverage = document["coverage"]
    report = Report(
        [change.finding for change in findings if change.state == "new"],
        Coverage(
            0,
            coverage["documents"],
            coverage["unread"],
            {},
            tuple(coverage["not_rendered"]),
            0,
            0,
            0,
            0,
            left_out=tuple(_left_out(entry) for entry in coverage.get("left_out", [])),
            releases=tuple(coverage.get("releases", [])),
        ),
        environments=tuple(document["environments"]),
        names={rule: page.name for rule, page in pages.items()},
        pages=pages,
        version=__version__,
        home=home(),
        relative=_inside,
    )
    return DiffReport(
        Comparison(environments, findings),
        report,
        before_relative=_inside,
        again=document["command"],
        span=document["compared"],
        readers=document.get("revisions", ""),
        files_differ=coverage["files_differ"],
        diagrams={entry["environment"]: entry["mermaid"] for entry in document.get("diagrams", ())},
        silenced=tuple(map(_silenced, document.get("suppressed", ()))),
        configuration=_configuration(document.get("configuration")),
    )


def _configuration(entry: Entry | None) -> ConfigurationChange | None:
    if entry is None:
        return None
    place = entry["location"] or {"file": "", "line": 1}
    return cast("ConfigurationChange", _Configuration(place["file"], place["line"], entry["message"]))


def _silenced(entry: Entry) -> Suppressed:
    by = entry["by"]
    finding = Finding(entry["rule"], entry["severity"], entry["message"], _spot(entry["location"]))
    return Suppressed(finding, Suppression(by["form"], (entry["rule"],), by["reason"], _spot(by["location"])))


def _spot(entry: Entry) -> Location:
    return Location(Spot(entry["file"], entry["line"], entry["column"]))


def _inside(file: str) -> str | None:
    """Return a path that leads nowhere but down, None for any other: it becomes part of an address."""
    return file if file and "\\" not in file and not {"", ".", ".."}.intersection(file.split("/")) else None


def _environment(document: Entry, name: str, routes: int) -> EnvironmentChange:
    def own(section: str) -> Iterable[Entry]:
        return (entry for entry in document.get(section, ()) if entry["environment"] == name)

    return EnvironmentChange(
        name,
        "",
        routes,
        subjects=tuple(map(_subject, own("routes"))),
        policies=tuple(
            PolicyChange(
                name,
                _key(entry["policy"]),
                entry["before"] or "",
                entry["after"] or "",
                _keys(entry["by"]),
                _place(entry["location"]) or Location(Spot("")),
            )
            for entry in own("policies")
        ),
        connections=tuple(
            ConnectionChange(
                name,
                tuple(entry["from"]),
                tuple(entry["to"]),
                entry["before"],
                entry["after"],
                entry["change"],
                _keys(entry["by"]),
                entry["because"],
                exposed=False,  # they come in their order
                ground=entry.get("ground", ""),
            )
            for entry in own("connections")
        ),
        requests=next(map(_requests, own("requests")), None) if "requests" in document else None,
        objects=tuple(
            ObjectChange(
                name, _key(entry["object"]), entry["change"], was=_key(entry["was"]) if "was" in entry else None
            )
            for entry in own("objects")
        ),
        placements=tuple(
            PlacementChange(
                name,
                _key(entry["policy"]),
                tuple(entry["clusters"]),
                entry["before"],
                entry["after"],
                entry["change"],
                _keys(entry["by"]),
                _place(entry["location"]) or Location(Spot("")),
            )
            for entry in own("placements")
        ),
    )


def _requests(entry: Entry) -> RequestChanges:
    return RequestChanges(
        tuple(_request_change(entry["environment"], change) for change in entry["changes"]),
        entry["hosts"],
        tuple((each["because"], each["hosts"]) for each in entry["unknown"]),
        entry["as_before"],
    )


def _request_change(environment: str, entry: Entry) -> RequestChange:
    example = entry["example"]
    claims = example.get("claims")
    token = None if claims is None else tuple((name, value) for name, values in claims.items() for value in values)
    request = Request(**{**example, "headers": tuple(example["headers"].items()), "claims": token})
    return RequestChange(
        environment,
        entry["change"],
        entry["purpose"] or "",
        entry["before"],
        entry["after"],
        tuple(entry["settings"]),
        tuple(Responsible(_key(who["object"]), _place(who["location"])) for who in entry["by"]),
        tuple(
            RequestSet(
                _key(each["gateway"]),
                each["scheme"],
                each["port"],
                tuple(each["hosts"]),
                each["requests"],
                _said(each["before"]),
                _said(each["after"]),
            )
            for each in entry["requests"]
        ),
        request,
        _keys(entry["routes"]),
        entry["partly"],
    )


def _said(entry: Entry) -> Said:
    login, authorization = (
        Demands(**entry[purpose]) if purpose in entry else Demands() for purpose in ("login", "authorization")
    )
    return Said(entry["end"] or "", login, authorization)


def _subject(entry: Entry) -> SubjectChange:
    key = _key(entry["object"])
    parts: dict[tuple[tuple[str, ...], bool, tuple[str, ...]], tuple[list[SettingChange], list[SettingChange]]] = {}
    for number, section in enumerate(("settings", "does_not_apply")):
        for setting in entry[section]:
            scope = tuple(setting["rules"]), setting["all_rules"], tuple(setting["gateways"])
            parts.setdefault(scope, ([], []))[number].append(_setting(setting, lost=number == 1))
    return SubjectChange(
        entry["environment"],
        key,
        entry["change"],
        _place(entry["location"]),
        parts=tuple(
            Part(tuple(Node(key, rule) for rule in rules), all_rules, _keys(gateways), tuple(settings), tuple(lost))
            for (rules, all_rules, gateways), (settings, lost) in parts.items()
        ),
        reach=tuple(AttachmentChange(**reach) for reach in entry["reach"]),
        was=_key(entry["was"]) if "was" in entry else None,
        reason=entry.get("reason", ""),
    )


def _setting(entry: Entry, *, lost: bool) -> SettingChange:
    name = entry["setting"]
    purposes = SettingPurposes(
        authorization=(name,) if entry.get("asks") else (), protection=(name,) if entry.get("protects") else ()
    )
    kind, _, group = entry["kind"].partition(".")
    origins = {side: tuple(map(_responsible, listed)) for side, listed in entry["origins"].items()}
    return SettingChange(
        PolicyKind(group, kind, "", "Other", Merge("none", {}), (), (), settings=purposes),
        name,
        "removed" if lost else entry["change"],
        entry.get("before"),
        entry.get("after"),
        origins.get("before", ()),
        origins.get("after", ()),
        origins.get("by", ()),
        entry.get("because", ""),
        entry.get("weaker", False),
    )


def _responsible(entry: Entry) -> Responsible:
    return Responsible(_key(entry["policy"]), _place(entry["location"]))


def _left_out(entry: Entry) -> LeftOut:
    words = entry["words"].partition(" ")[2]
    return LeftOut(entry["sort"], entry["number"], words, words)


def _finding(entry: Entry) -> Finding:
    return Finding(
        entry["rule"],
        entry["severity"],
        entry["message"],
        _spot(entry["location"]),
        resources=_keys(entry["resources"]),
        label=entry["label"],
        help=tuple(entry["help"]),
        confidence=entry["confidence"],
        field=entry.get("field", ""),
        environments=tuple(entry["environments"]),
    )


def _place(entry: Entry | None) -> Location | None:
    return None if entry is None else Location(Spot(entry["file"], entry["line"]))


def _keys(names: Iterable[str]) -> tuple[ResourceKey, ...]:
    return tuple(map(_key, names))


def _key(name: str) -> ResourceKey:
    """Return the key that prints as the name: `HTTPRoute shop/checkout`, `GatewayClass envoy`."""
    kind, _, path = name.partition(" ")
    kind, _, group = kind.partition(".")
    namespace, slash, rest = path.partition("/")
    return ResourceKey(group, kind, namespace if slash else "", rest if slash else path)
