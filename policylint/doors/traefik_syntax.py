"""Rules in the syntax of Traefik 2 where Traefik 3 reads them: of some it makes no router, others take no request.

Source: doc.traefik.io/traefik/migrate/v2-to-v3-details, «Router Rule Matchers»; traefik/traefik pkg/muxer/http:
matcher.go (each matcher with its number of values), matcher_v2.go, read where `core.defaultRuleSyntax`, or `syntax` of
a route, is v2. Charts: traefik/traefik-helm-chart, Changelog: 28.0.0 is the first one of Traefik 3.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors.traefik_rules import alternatives
from policylint.implementations.generic.containers import containers
from policylint.load.charts import values_of
from policylint.load.images import image_of
from policylint.model import Resource, World, mapping, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_CHART = "traefik"
_FIRST_CHART = 28
_SYNTAX = "defaultrulesyntax"
_MAJOR = Pattern(r"[v^~]?(\d+)(?:\.|$)")
_NAMED_PART = Pattern(r"\{[A-Za-z_]\w*(?::(?:[^{}]|\{[^{}]*\})*)?\}")
_CALLED = Pattern(r"([A-Za-z]\w*)\s*\(((?:[^()`\"]|`[^`]*`|\"(?:[^\"\\]|\\.)*\")*)\)")
_TEXT = Pattern(r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"")
_RENAMED = {"headers": "Header", "headersregexp": "HeaderRegexp", "hostheader": "Host"}
_OF_ONE = frozenset({"host", "hostregexp", "path", "pathprefix", "method"})
_TEMPLATED = {"host": "HostRegexp", "hostregexp": "HostRegexp", "path": "PathRegexp", "pathprefix": "PathRegexp"}


class Outdated(NamedTuple):
    """What Traefik 3 makes of a rule in the syntax of Traefik 2.

    Args:
        is_made: whether it makes a router of it, which no request meets.
    """

    does: str
    fix: str
    is_made: bool = False


def is_third(world: World) -> bool:
    """Return whether whatever tells a release of Traefik tells 3, and nothing speaks of the syntax of rules."""
    return world.once(_is_third)


def _is_third(world: World) -> bool:
    told = list(_majors(world))
    return bool(told) and min(told) > 2 and not _speaks_of_syntax(world)


def _majors(world: World) -> Iterator[int]:
    for _, container in containers(world):
        name, tag = image_of(container)
        if name.rpartition("/")[2] == _CHART and (found := _MAJOR.match(tag)):
            yield int(found[1])
    for holder, values, _ in values_of(world, _CHART):
        pinned = _MAJOR.match(text(mapping(values.get("image")).get("tag")))
        if pinned:
            yield int(pinned[1])
            continue
        for version in _versions(holder):
            if found := _MAJOR.match(version):
                yield 3 if int(found[1]) >= _FIRST_CHART else 2


def _versions(holder: Resource) -> Iterator[str]:
    """Yield the versions of the chart that something installs."""
    yield text(mapping(mapping(holder.spec.get("chart")).get("spec")).get("version"))
    yield text(holder.spec.get("version"))
    sources = [holder.spec.get("source"), *(holder.spec.get("sources") or ())]
    yield from (text(mapping(each).get("targetRevision")) for each in sources if mapping(each).get("chart") == _CHART)


def _speaks_of_syntax(world: World) -> bool:
    configured = (str(each.body.get("data")) for each in world.of_kind("", "ConfigMap"))
    started = (str(container) for _, container in containers(world))
    charts = (str(values) for _, values, _ in values_of(world, _CHART))
    return any(_SYNTAX in written.lower().replace("_", "") for written in (*configured, *started, *charts))


def outdated(rule: str) -> Outdated | None:
    """Return what is outdated in a rule that Traefik 2 parses, what Traefik makes no router of first."""
    if alternatives(rule) is None:
        return None
    lost: Outdated | None = None
    for called in _CALLED.finditer(rule):
        name, values = called[1].lower(), [each[0] for each in _TEXT.finditer(called[2])]
        if name in _RENAMED:
            return Outdated(f"has a rule with {called[1]}, which is a matcher of Traefik 2", f"write {_RENAMED[name]}")
        if name in _OF_ONE and len(values) > 1:
            one = f"{called[1]}({values[0]}) || {called[1]}({values[1]})"
            return Outdated(f"has a rule with {len(values)} values of {called[1]}, which takes one", f"write {one}")
        part = next((found[0] for each in values if name in _TEMPLATED and (found := _NAMED_PART.search(each))), None)
        if part is not None and lost is None:
            fix = f"write {_TEMPLATED[name]} with an expression that begins with ^"
            lost = Outdated(f"has a rule with {part}, which Traefik 3 takes letter by letter", fix, is_made=True)
    return lost
