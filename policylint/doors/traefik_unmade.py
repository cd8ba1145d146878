"""Rules of which Traefik makes no router, as they do not parse, or not in its release; and routers without TLS where
all clients come by TLS.

Source: traefik/traefik @ v3.7.13, pkg/rules/parser.go (expressions of Go: names stand in backticks or double quotes,
and a text in single quotes is none), pkg/muxer/http/mux.go, pkg/muxer/tcp/mux.go, pkg/server/router/router.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors.ended_before import plain_entry_points
from policylint.doors.traefik_options import is_for_tls
from policylint.doors.traefik_rules import MATCHERS, alternatives
from policylint.doors.traefik_syntax import is_third, outdated
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.entry_points import unsecured
from policylint.model import World, is_symbolic, mapping, sequence, text, texts
from policylint.patterns import Pattern

_GROUP = "traefik.io"
_OF_CONNECTIONS = frozenset({"alpn", "clientip", "hostsni", "hostsniregexp"})
_MATCHERS = {"IngressRoute": MATCHERS, "IngressRouteTCP": _OF_CONNECTIONS}
"""The matchers of all releases, of routers of both kinds."""
_QUOTED = Pattern(r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"")
_CALLED = Pattern(r"([A-Za-z]\w*)\s*\(")
_BARE = Pattern(r"[(,]\s*([^\s(),&|!'`\"]+)")
_UNROUTED = "Traefik logs an error and makes no router of it: what it is for gets 404"
_UNMET = "no request meets the rule: what it is for gets 404"
_WRITE = "write names in backticks: Host(`shop.example.com`)"


def unparsed(world: World) -> Iterator[DeadEnd]:
    """Yield the rules that no release of Traefik can read, or not the one that runs, and those for names that nothing
    tells without TLS."""
    for kind, matchers in _MATCHERS.items():
        for ingress in world.of_kind(_GROUP, kind):
            for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
                rule = text(route.get("match"))
                fault = _fault(rule, matchers) if rule and not is_symbolic(rule) else ("", "")
                if not fault[0] and kind == "IngressRouteTCP" and not isinstance(ingress.spec.get("tls"), dict):
                    fault = _without_tls(rule)
                place = ("spec", "routes", number, "match")
                if fault[0]:
                    yield DeadEnd(ingress, place, fault[0], fault[1], then=_UNROUTED)
                elif kind == "IngressRoute" and not is_symbolic(rule) and text(route.get("syntax")) != "v2":
                    old = outdated(rule) if is_third(world) else None
                    if old is not None:
                        yield DeadEnd(ingress, place, old.does, old.fix, then=_UNMET if old.is_made else _UNROUTED)


def _fault(rule: str, matchers: frozenset[str]) -> tuple[str, str]:
    """Return what is wrong with a rule, and what to write; "" for both where nothing is, as far as that is known."""
    bare = _QUOTED.sub("``", rule)
    if "'" in bare:
        return "has a rule with single quotes, in which no text of a rule stands", _WRITE
    if "`" in bare.replace("``", "") or bare.count("(") != bare.count(")"):
        return "has a rule with a quote or bracket that is not closed", "close it"
    for called in _CALLED.finditer(bare):
        if called[1].lower() not in matchers:
            names = "IngressRouteTCP" if matchers is MATCHERS and called[1].lower() in _OF_CONNECTIONS else ""
            fix = f"write an {names} for connections" if names else "name a matcher that Traefik knows"
            return f"has a rule with {called[1]}, which is no matcher of this kind", fix
    unquoted = _BARE.search(_CALLED.sub("(", bare))
    if unquoted is not None:
        return f"has a rule with {unquoted[1]} without quotes, which is no text", _WRITE
    return "", ""


def _without_tls(rule: str) -> tuple[str, str]:
    """Return that a rule of connections names a host where TLS is not asked for: nothing else tells which host."""
    read = [matcher for matchers in alternatives(rule) or () for matcher in matchers]
    names = [name for matcher in read if matcher.name.lower() == "hostsni" for name in matcher.arguments]
    if not names or names[0] == "*":
        return "", ""
    return f"is for {names[0]}, which TLS alone tells, and has no `tls`", "add `tls: {}`, or ask for HostSNI(`*`)"


def without_tls(world: World) -> Iterator[DeadEnd]:
    """Yield the routes without TLS at an entry point of TLS that does not end it for those that ask for none."""
    points = world.once(unsecured)
    plain = world.once(plain_entry_points) if points else {}
    for ingress in world.of_kind(_GROUP, "IngressRoute") if points else ():
        named = texts(ingress.spec.get("entryPoints"))
        if "tls" in ingress.spec or not named or any(map(is_symbolic, named)):
            continue
        lost = [name for name in named if name in points and is_for_tls(name) and name not in plain]
        if lost and len(lost) == len(named):
            does = f"has no `tls` at entry point {lost[0]}, which ends TLS for no router by itself"
            fix = f"add `tls: {{}}`, or --entrypoints.{lost[0]}.http.tls=true to the arguments of Traefik"
            ground = "something in front of Traefik may end TLS"
            then = "requests by https get 404"
            yield DeadEnd(ingress, ("spec", "entryPoints"), does, fix, (), ground, then, "warning")
