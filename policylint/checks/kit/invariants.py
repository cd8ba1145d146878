"""What Gateway API demands of its objects beyond types and limits, and the API server refuses.

The CRDs of its releases say these things in CEL. Evaluating that would take a library: the one in Python needs 0.6 s
to be imported and to compile these rules, the compiled one is a wheel of 50 MB that lacks Kubernetes' own functions. So
the demands that manifests break in practice are stated here, as they hold for both channels since release 1.0, with the
values that the API server fills in. What a variable (`${PATH}`) may still put right is no breach.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policylint.model import GATEWAY_GROUP, Resource, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.documents import Pointer
    from policylint.simulation import Simulation

_FILTERS = {
    "RequestHeaderModifier": "requestHeaderModifier",
    "ResponseHeaderModifier": "responseHeaderModifier",
    "RequestMirror": "requestMirror",
    "RequestRedirect": "requestRedirect",
    "URLRewrite": "urlRewrite",
    "ExtensionRef": "extensionRef",
    "CORS": "cors",
    "ExternalAuth": "externalAuth",
}
"""Type of a filter → the field that holds it."""
_ONCE = ("RequestHeaderModifier", "ResponseHeaderModifier", "RequestRedirect", "URLRewrite", "CORS")
_MODIFIERS = {"ReplaceFullPath": "replaceFullPath", "ReplacePrefixMatch": "replacePrefixMatch"}
_NEVER_IN_A_PATH = ("//", "/./", "/../", "%2f", "%2F", "#")
_PATH = r"(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+"
_DURATION = r"([0-9]{1,5})(h|ms|m|s)"
"""Texts, compiled when needed: most runs never do."""
_UNITS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


class Breach(NamedTuple):
    """One demand that an object does not meet.

    Args:
        pointer: the value that a person would change, or with `key` the field.
        says: what is wrong, to follow the object's name.
        label: what stands under the caret.
    """

    resource: Resource
    pointer: Pointer
    key: bool
    says: str
    label: str


_Found = Iterator[tuple["Pointer", bool, str, str]]


@lru_cache(maxsize=1)
def breaches(simulation: Simulation) -> tuple[Breach, ...]:
    """Every breach in an environment; the last one's answer is kept.

    Where the tree holds the CRD of a kind, that one's own rules count, which may be of another release.
    """
    world = simulation.world
    found: list[Breach] = []
    for kind, demands in _DEMANDS.items():
        objects = world.of_kind(GATEWAY_GROUP, kind)
        if not objects or world.definitions(GATEWAY_GROUP, kind):
            continue
        for resource in objects:
            found += resource.once(_of_object, demands)
    return tuple(found)


def _of_object(resource: Resource, demands: tuple[_Demand, ...]) -> list[Breach]:
    spec = resource.spec
    return [Breach(resource, *each) for demand in demands for each in demand(spec)]


def _known(value: object) -> bool:
    """Whether a value is what it will be."""
    return not (isinstance(value, str) and is_symbolic(value))


def _entries(holder: Mapping[str, Any], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The mappings of a list, with their number."""
    for number, each in enumerate(sequence(holder.get(name))):
        if isinstance(each, dict):
            yield number, each


def _listeners(spec: Mapping[str, Any]) -> _Found:
    names: set[str] = set()
    for number, listener in _entries(spec, "listeners"):
        here = ("spec", "listeners", number)
        name, protocol = text(listener.get("name")), text(listener.get("protocol"))
        if name and name in names and _known(name):
            yield (*here, "name"), False, f"has two listeners called {name}", "another listener has this name"
        names.add(name)
        tls = listener.get("tls")
        if protocol in ("HTTP", "TCP", "UDP") and isinstance(tls, Mapping):
            yield (*here, "tls"), True, f"has tls in a listener of protocol {protocol}", _only("HTTPS and TLS", "tls")
        elif protocol == "HTTPS" and mapping(tls).get("mode") == "Passthrough":
            says = "hands TLS through in a listener of protocol HTTPS"
            yield (*here, "tls", "mode"), False, says, "HTTPS is terminated here; protocol TLS can hand it through"
        elif protocol == "TLS" and tls is None:
            yield (*here, "protocol"), False, "lacks tls in a listener of protocol TLS", "this protocol needs `tls:`"
        if protocol in ("HTTPS", "TLS") and isinstance(tls, Mapping) and _lacks_certificate(tls):
            says = "terminates TLS without a certificate"
            yield (*here, "tls"), True, says, "needs `certificateRefs` (or `options`) unless `mode: Passthrough`"
        if protocol in ("TCP", "UDP") and listener.get("hostname"):
            yield (
                (*here, "hostname"),
                True,
                f"has a hostname in a listener of protocol {protocol}",
                (_only("HTTP, HTTPS and TLS", "a hostname")),
            )


def _lacks_certificate(tls: Mapping[str, Any]) -> bool:
    given = sequence(tls.get("certificateRefs")) or mapping(tls.get("options"))
    return tls.get("mode", "Terminate") == "Terminate" and not given


def _only(protocols: str, what: str) -> str:
    return f"only listeners of {protocols} have {what}"


def _parents(spec: Mapping[str, Any]) -> _Found:
    """References to one parent name different sections of it, all of them."""
    if len(sequence(spec.get("parentRefs"))) < 2:
        return
    seen: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for number, parent in _entries(spec, "parentRefs"):
        values = [text(parent.get(each)) for each in ("group", "kind", "namespace", "name", "sectionName")]
        if not all(map(_known, values)):
            continue
        identity = (values[0] or GATEWAY_GROUP, values[1] or "Gateway", values[2], values[3])
        section, port = values[4], str(parent.get("port") or "")
        here = ("spec", "parentRefs", number)
        for other, other_port in seen.get(identity, ()):
            if (section, port) == (other, other_port):
                yield (*here, "name"), False, f"names parent {values[3]} twice", "another entry names this parent, too"
                break
            if bool(section) != bool(other):
                says = f"names parent {values[3]} twice, once without a section"
                yield (*here, "name"), False, says, "each of several references to one parent needs a `sectionName`"
                break
        seen.setdefault(identity, []).append((section, port))


def _rule_names(spec: Mapping[str, Any]) -> _Found:
    names: set[str] = set()
    for number, rule in _entries(spec, "rules"):
        name = text(rule.get("name"))
        if name and name in names and _known(name):
            yield ("spec", "rules", number, "name"), False, f"has two rules called {name}", "another rule has this name"
        names.add(name)


def _filters(spec: Mapping[str, Any]) -> _Found:
    for number, rule in _entries(spec, "rules"):
        here = ("spec", "rules", number)
        if "filters" in rule:
            yield from _filter_list(rule, here)
        for backend, each in _entries(rule, "backendRefs"):
            if "filters" in each:
                yield from _filter_list(each, (*here, "backendRefs", backend))


def _filter_list(holder: Mapping[str, Any], here: Pointer) -> _Found:
    seen: set[str] = set()
    for number, each in _entries(holder, "filters"):
        place = (*here, "filters", number)
        kind = text(each.get("type"))
        field = _FILTERS.get(kind)
        if field and field not in each:
            yield (
                (*place, "type"),
                False,
                f"has a filter of type {kind} without {field}",
                f"the filter lacks `{field}:`",
            )
        for other in _FILTERS.values():
            if field and other in each and other != field and each[other] is not None:
                yield (*place, other), True, f"has {other} in a filter of type {kind}", f"type {kind} takes `{field}:`"
        if kind in seen and kind in _ONCE:
            yield (*place, "type"), False, f"has two filters of type {kind}", "one rule has this filter once"
        other = {"RequestRedirect": "URLRewrite", "URLRewrite": "RequestRedirect"}.get(kind, "")
        if other in seen:
            yield (*place, "type"), False, f"has filters of types {other} and {kind}", "one rule has one of the two"
        seen.add(kind)
        for name in ("requestRedirect", "urlRewrite"):
            yield from _modifier(mapping(mapping(each.get(name)).get("path")), (*place, name, "path"))


def _modifier(modifier: Mapping[str, Any], place: Pointer) -> _Found:
    kind = text(modifier.get("type"))
    field = _MODIFIERS.get(kind)
    if field and field not in modifier:
        yield (*place, "type"), False, f"replaces a path by type {kind} without {field}", f"lacks `{field}:`"
    for other in _MODIFIERS.values():
        if field and other in modifier and other != field:
            yield (*place, other), True, f"has {other} where the type is {kind}", f"type {kind} takes `{field}:`"


def _redirects(spec: Mapping[str, Any]) -> _Found:
    """A redirect has no backend; the prefix that is replaced is that of the only match."""
    for number, rule in _entries(spec, "rules"):
        if "filters" not in rule:
            continue
        here = ("spec", "rules", number)
        for at, each in _entries(rule, "filters"):
            if "requestRedirect" in each and sequence(rule.get("backendRefs")):
                says = "redirects and has backendRefs in one rule"
                yield (*here, "backendRefs"), True, says, "a rule that redirects sends nothing to a backend"
            for name in ("requestRedirect", "urlRewrite"):
                path = mapping(mapping(each.get(name)).get("path"))
                if path.get("type") == "ReplacePrefixMatch" and "replacePrefixMatch" in path and not _one_prefix(rule):
                    says = "replaces the matched prefix where not exactly one PathPrefix is matched"
                    label = "the rule needs exactly one match, of type PathPrefix"
                    yield (*here, "filters", at, name, "path", "replacePrefixMatch"), True, says, label


def _one_prefix(rule: Mapping[str, Any]) -> bool:
    if rule.get("matches") is None:
        return True  # the API server fills in PathPrefix /
    matches = sequence(rule.get("matches"))
    kind = mapping(mapping(matches[0]).get("path")).get("type", "PathPrefix") if len(matches) == 1 else ""
    return kind == "PathPrefix" or (bool(kind) and not _known(kind))


def _paths(spec: Mapping[str, Any]) -> _Found:
    for number, rule in _entries(spec, "rules"):
        for at, match in _entries(rule, "matches"):
            path = mapping(match.get("path"))
            value = path.get("value", "/")
            if path.get("type", "PathPrefix") not in ("Exact", "PathPrefix") or not isinstance(value, str):
                continue
            wrong = "" if _is_plain(value) or not _known(value) else _wrong_in_path(value)
            if wrong:
                place = ("spec", "rules", number, "matches", at, "path", "value")
                yield place, False, f'matches the path "{value[:60]}", which {wrong}', f"a path that is matched {wrong}"


def _is_plain(path: str) -> bool:
    """Whether a path is as most are, so that there is nothing wrong with it."""
    letters = path.replace("/", "").replace("-", "").replace("_", "")
    return path == "/" or (path[:1] == "/" and "//" not in path and letters.isascii() and letters.isalnum())


def _wrong_in_path(value: str) -> str:
    if not value.startswith("/"):
        return "must begin with /"
    for each in _NEVER_IN_A_PATH:
        if each in value:
            return f"must not contain {each}"
    if value.endswith(("/..", "/.")):
        return "must not end with /. or /.."
    return "" if re.fullmatch(_PATH, value) else "must not contain such characters (write them as %20 and so on)"


def _timeouts(spec: Mapping[str, Any]) -> _Found:
    for number, rule in _entries(spec, "rules"):
        if "timeouts" not in rule:
            continue
        timeouts = mapping(rule["timeouts"])
        whole, one = _milliseconds(timeouts.get("request")), _milliseconds(timeouts.get("backendRequest"))
        if whole and one is not None and one > whole:
            place = ("spec", "rules", number, "timeouts", "backendRequest")
            says = "waits longer for the backend than for the whole request"
            yield place, False, says, f"request is {timeouts['request']} for all attempts together"


def _milliseconds(value: object) -> int | None:
    if not isinstance(value, str) or not re.fullmatch(f"(?:{_DURATION}){{1,4}}", value):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(_DURATION, value))


def _methods(spec: Mapping[str, Any]) -> _Found:
    for number, rule in _entries(spec, "rules"):
        for at, match in _entries(rule, "matches"):
            method = match.get("method")
            if isinstance(method, Mapping) and not {"service", "method"} & method.keys():
                place = ("spec", "rules", number, "matches", at, "method")
                yield place, True, "matches a method without service and method", "needs `service:` or `method:`"


def _certificates(spec: Mapping[str, Any]) -> _Found:
    validation = spec.get("validation")
    if not isinstance(validation, Mapping):
        return
    own, known = sequence(validation.get("caCertificateRefs")), validation.get("wellKnownCACertificates")
    if own and known:
        says = "trusts certificates of its own and well-known ones"
        yield ("spec", "validation", "wellKnownCACertificates"), True, says, "`caCertificateRefs` or this, not both"
    elif not own and not known:
        says = "does not say which certificates it trusts"
        yield ("spec", "validation"), True, says, "needs `caCertificateRefs` or `wellKnownCACertificates: System`"


_Demand = Callable[[Mapping[str, Any]], _Found]
_DEMANDS: dict[str, tuple[_Demand, ...]] = {
    "Gateway": (_listeners,),
    "ListenerSet": (_listeners,),
    "HTTPRoute": (_parents, _rule_names, _filters, _redirects, _paths, _timeouts),
    "GRPCRoute": (_parents, _rule_names, _filters, _methods),
    "TLSRoute": (_parents,),
    "TCPRoute": (_parents,),
    "UDPRoute": (_parents,),
    "BackendTLSPolicy": (_certificates,),
}
