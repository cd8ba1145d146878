"""Gateway API's rules for its objects beyond types and limits, which the API server enforces.

The CRDs of its releases state these rules in CEL. Evaluating that would take a library: the one in Python needs 0.6 s
to be imported and to compile these rules, the compiled one is a wheel of 50 MB that lacks Kubernetes' own functions. So
the rules that manifests break in practice are stated here, as they hold for both channels since release 1.0, with the
values that the API server fills in. What a variable (`${PATH}`) may still put right is no breach.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Resource, is_symbolic, mapping, sequence, text
from policylint.model.resource import deepest_written
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import has_policies
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
"""Type of a filter → the field that holds its settings."""
_ONCE = ("RequestHeaderModifier", "ResponseHeaderModifier", "RequestRedirect", "URLRewrite", "CORS")
_MODIFIERS = {"ReplaceFullPath": "replaceFullPath", "ReplacePrefixMatch": "replacePrefixMatch"}
_NEVER_IN_A_PATH = ("//", "/./", "/../", "%2f", "%2F", "#")
_PATH = r"(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+"
_DURATION = r"([0-9]{1,5})(h|ms|m|s)"
"""Regular expressions as texts: most runs never compile them."""
_UNITS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


class Breach(NamedTuple):
    """A rule that an object breaks.

    Args:
        pointer: the value that a person would change, or with `key` the field.
        says: what is wrong, to follow the object's name.
        label: the words under the caret.
    """

    resource: Resource
    pointer: Pointer
    key: bool
    says: str
    label: str


_Breaches = Iterator[tuple["Pointer", bool, str, str]]


@lru_cache(maxsize=1)
def breaches(simulation: Simulation) -> tuple[Breach, ...]:
    """Return every breach in an environment; cached for the latest one.

    Where the tree holds the CRD of a kind, its own rules count, which may be of another release.
    """
    world = simulation.world
    breaches: list[Breach] = []
    for kind, demands in _DEMANDS.items():
        objects = world.of_kind(GATEWAY_GROUP, kind)
        if not objects or world.definitions(GATEWAY_GROUP, kind):
            continue
        for resource in objects:
            breaches += resource.once(_of_object, demands)
    if has_policies(world):
        breaches += _of_network_policies(simulation)
    return tuple(breaches)


def _of_network_policies(simulation: Simulation) -> Iterator[Breach]:
    """Yield what the API server refuses network policies for; the room of networks reads them the same way."""
    for policy in simulation.network.policies:
        if policy.refused:
            pointer = deepest_written(policy.resource.body, policy.pointer)
            yield Breach(policy.resource, pointer, False, f"is refused: {policy.refused}", policy.refused)


def _of_object(resource: Resource, demands: tuple[_Demand, ...]) -> list[Breach]:
    spec = resource.spec
    return [Breach(resource, *breach) for demand in demands for breach in demand(spec)]


def _known(value: object) -> bool:
    """Return whether a value is final: no variable stands in it."""
    return not (isinstance(value, str) and is_symbolic(value))


def _entries(holder: Mapping[str, Any], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the mappings of a list after their index."""
    for number, entry in enumerate(sequence(holder.get(name))):
        if isinstance(entry, dict):
            yield number, entry


def _matches(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield the matches of all rules after their pointers."""
    for rule_number, rule in _entries(spec, "rules"):
        for number, match in _entries(rule, "matches"):
            yield ("spec", "rules", rule_number, "matches", number), match


def _unique_names(spec: Mapping[str, Any], field: str) -> _Breaches:
    """Yield the second of two entries with one name."""
    names: set[str] = set()
    for number, entry in _entries(spec, field):
        name = text(entry.get("name"))
        if name and name in names and _known(name):
            place = ("spec", field, number, "name")
            yield place, False, f"has two {field} called {name}", f"another {field[:-1]} has this name"
        names.add(name)


def _listeners(spec: Mapping[str, Any]) -> _Breaches:
    for number, listener in _entries(spec, "listeners"):
        place = ("spec", "listeners", number)
        protocol = text(listener.get("protocol"))
        tls = listener.get("tls")
        if protocol in ("HTTP", "TCP", "UDP") and isinstance(tls, Mapping):
            yield (*place, "tls"), True, f"has tls in a listener of protocol {protocol}", _only("HTTPS and TLS", "tls")
        elif protocol == "HTTPS" and mapping(tls).get("mode") == "Passthrough":
            says = "hands TLS through in a listener of protocol HTTPS"
            yield (*place, "tls", "mode"), False, says, "HTTPS is terminated place; protocol TLS can hand it through"
        elif protocol == "TLS" and tls is None:
            yield (*place, "protocol"), False, "lacks tls in a listener of protocol TLS", "this protocol needs `tls:`"
        if protocol in ("HTTPS", "TLS") and isinstance(tls, Mapping) and _lacks_certificate(tls):
            says = "terminates TLS without a certificate"
            yield (*place, "tls"), True, says, "needs `certificateRefs` (or `options`) unless `mode: Passthrough`"
        if protocol in ("TCP", "UDP") and listener.get("hostname"):
            says = f"has a hostname in a listener of protocol {protocol}"
            yield (*place, "hostname"), True, says, _only("HTTP, HTTPS and TLS", "a hostname")


def _lacks_certificate(tls: Mapping[str, Any]) -> bool:
    certified = sequence(tls.get("certificateRefs")) or mapping(tls.get("options"))
    return tls.get("mode", "Terminate") == "Terminate" and not certified


def _only(protocols: str, field: str) -> str:
    return f"only listeners of {protocols} have {field}"


def _parents(spec: Mapping[str, Any]) -> _Breaches:
    """Yield references to one parent that do not each name a section of their own."""
    if len(sequence(spec.get("parentRefs"))) < 2:
        return
    seen: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for number, parent in _entries(spec, "parentRefs"):
        values = [text(parent.get(field)) for field in ("group", "kind", "namespace", "name", "sectionName")]
        if not all(map(_known, values)):
            continue
        identity = (values[0] or GATEWAY_GROUP, values[1] or "Gateway", values[2], values[3])
        section, port = values[4], str(parent.get("port") or "")
        place = ("spec", "parentRefs", number)
        for other_section, other_port in seen.get(identity, ()):
            if (section, port) == (other_section, other_port):
                yield (*place, "name"), False, f"names parent {values[3]} twice", "another entry names this parent, too"
                break
            if bool(section) != bool(other_section):
                says = f"names parent {values[3]} twice, once without a section"
                yield (*place, "name"), False, says, "each of several references to one parent needs a `sectionName`"
                break
        seen.setdefault(identity, []).append((section, port))


def _filters(spec: Mapping[str, Any]) -> _Breaches:
    for number, rule in _entries(spec, "rules"):
        pointer = ("spec", "rules", number)
        if "filters" in rule:
            yield from _filter_list(rule, pointer)
        for index, backend in _entries(rule, "backendRefs"):
            if "filters" in backend:
                yield from _filter_list(backend, (*pointer, "backendRefs", index))


def _filter_list(holder: Mapping[str, Any], pointer: Pointer) -> _Breaches:
    seen: set[str] = set()
    for number, entry in _entries(holder, "filters"):
        place = (*pointer, "filters", number)
        kind = text(entry.get("type"))
        field = _FILTERS.get(kind)
        if field and field not in entry:
            says = f"has a filter of type {kind} without {field}"
            yield (*place, "type"), False, says, f"the filter lacks `{field}:`"
        for name in _FILTERS.values():
            if field and name in entry and name != field and entry[name] is not None:
                yield (*place, name), True, f"has {name} in a filter of type {kind}", f"type {kind} takes `{field}:`"
        if kind in seen and kind in _ONCE:
            yield (*place, "type"), False, f"has two filters of type {kind}", "one rule has this filter once"
        rival = {"RequestRedirect": "URLRewrite", "URLRewrite": "RequestRedirect"}.get(kind, "")
        if rival in seen:
            yield (*place, "type"), False, f"has filters of types {rival} and {kind}", "one rule has one of the two"
        seen.add(kind)
        for name in ("requestRedirect", "urlRewrite"):
            yield from _modifier(mapping(mapping(entry.get(name)).get("path")), (*place, name, "path"))


def _modifier(modifier: Mapping[str, Any], place: Pointer) -> _Breaches:
    kind = text(modifier.get("type"))
    field = _MODIFIERS.get(kind)
    if field and field not in modifier:
        yield (*place, "type"), False, f"replaces a path by type {kind} without {field}", f"lacks `{field}:`"
    for name in _MODIFIERS.values():
        if field and name in modifier and name != field:
            yield (*place, name), True, f"has {name} where the type is {kind}", f"type {kind} takes `{field}:`"


def _redirects(spec: Mapping[str, Any]) -> _Breaches:
    """Yield redirects with a backend, and replaced prefixes without exactly one that is matched."""
    for number, rule in _entries(spec, "rules"):
        if "filters" not in rule:
            continue
        pointer = ("spec", "rules", number)
        for index, entry in _entries(rule, "filters"):
            if "requestRedirect" in entry and sequence(rule.get("backendRefs")):
                says = "redirects and has backendRefs in one rule"
                yield (*pointer, "backendRefs"), True, says, "a rule that redirects sends nothing to a backend"
            for name in ("requestRedirect", "urlRewrite"):
                path = mapping(mapping(entry.get(name)).get("path"))
                if path.get("type") == "ReplacePrefixMatch" and "replacePrefixMatch" in path and not _one_prefix(rule):
                    says = "replaces the matched prefix where not exactly one PathPrefix is matched"
                    label = "the rule needs exactly one match, of type PathPrefix"
                    yield (*pointer, "filters", index, name, "path", "replacePrefixMatch"), True, says, label


def _one_prefix(rule: Mapping[str, Any]) -> bool:
    if rule.get("matches") is None:
        return True  # the API server fills in PathPrefix /
    matches = sequence(rule.get("matches"))
    kind = mapping(mapping(matches[0]).get("path")).get("type", "PathPrefix") if len(matches) == 1 else ""
    return kind == "PathPrefix" or (bool(kind) and not _known(kind))


def _paths(spec: Mapping[str, Any]) -> _Breaches:
    for pointer, match in _matches(spec):
        path = mapping(match.get("path"))
        value = path.get("value", "/")
        if path.get("type", "PathPrefix") not in ("Exact", "PathPrefix") or not isinstance(value, str):
            continue
        wrong = "" if _is_plain(value) or not _known(value) else _wrong_in_path(value)
        if wrong:
            says = f'matches the path "{value[:60]}", which {wrong}'
            yield (*pointer, "path", "value"), False, says, f"a path that is matched {wrong}"


def _is_plain(path: str) -> bool:
    """Return whether a path is so simple, as most are, that nothing can be wrong with it."""
    letters = path.replace("/", "").replace("-", "").replace("_", "")
    return path == "/" or (path[:1] == "/" and "//" not in path and letters.isascii() and letters.isalnum())


def _wrong_in_path(value: str) -> str:
    if not value.startswith("/"):
        return "must begin with /"
    for forbidden in _NEVER_IN_A_PATH:
        if forbidden in value:
            return f"must not contain {forbidden}"
    if value.endswith(("/..", "/.")):
        return "must not end with /. or /.."
    return "" if re.fullmatch(_PATH, value) else "must not contain such characters (write them as %20 and so on)"


def _timeouts(spec: Mapping[str, Any]) -> _Breaches:
    for number, rule in _entries(spec, "rules"):
        if "timeouts" not in rule:
            continue
        timeouts = mapping(rule["timeouts"])
        whole, attempt = _milliseconds(timeouts.get("request")), _milliseconds(timeouts.get("backendRequest"))
        if whole and attempt is not None and attempt > whole:
            place = ("spec", "rules", number, "timeouts", "backendRequest")
            says = "waits longer for the backend than for the whole request"
            yield place, False, says, f"request is {timeouts['request']} for all attempts together"


def _milliseconds(value: object) -> int | None:
    if not isinstance(value, str) or not re.fullmatch(f"(?:{_DURATION}){{1,4}}", value):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(_DURATION, value))


def _methods(spec: Mapping[str, Any]) -> _Breaches:
    for pointer, match in _matches(spec):
        method = match.get("method")
        if isinstance(method, Mapping) and not {"service", "method"} & method.keys():
            says = "matches a method without service and method"
            yield (*pointer, "method"), True, says, "needs `service:` or `method:`"


def _certificates(spec: Mapping[str, Any]) -> _Breaches:
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


_Demand = Callable[[Mapping[str, Any]], _Breaches]
_listener_names: _Demand = partial(_unique_names, field="listeners")
_rule_names: _Demand = partial(_unique_names, field="rules")
_DEMANDS: dict[str, tuple[_Demand, ...]] = {
    "Gateway": (_listener_names, _listeners),
    "ListenerSet": (_listener_names, _listeners),
    "HTTPRoute": (_parents, _rule_names, _filters, _redirects, _paths, _timeouts),
    "GRPCRoute": (_parents, _rule_names, _filters, _methods),
    "TLSRoute": (_parents,),
    "TCPRoute": (_parents,),
    "UDPRoute": (_parents,),
    "BackendTLSPolicy": (_certificates,),
}
