"""Values that pass kgateway's CRDs but not its controller; they make a policy Invalid.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2; trafficpolicy/{http_acl_plugin,rbac}.go,
listenerpolicy/http.go, backendconfigpolicy/tls.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.cel.syntax import is_expression
from policylint.documents import Pointer
from policylint.implementations.generic import walk
from policylint.implementations.kgateway.extensions import Fault
from policylint.model import Resource, ResourceKey, World, holds_variable, mapping, sequence, text
from policylint.model.quantities import number_of_bytes
from policylint.policy.declared import Reading
from policylint.topology.secret_data import contents

_WINDOW = range(65535, 2147483648)
_WINDOWS = ("initialStreamWindowSize", "initialConnectionWindowSize")
_BRACKETS = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"))


def refused_value(policy: Resource, world: World) -> Reading:
    """Return the first value that the controller refuses; a Reading without code for none."""
    judge = {"TrafficPolicy": _traffic, "ListenerPolicy": _listener, "BackendConfigPolicy": _backend}
    kind = policy.key.kind
    fault = next(judge[kind](policy, world), None) if kind in judge else None
    return Reading() if fault is None else Reading(code="value", reason=fault[1], pointer=fault[0])


def broken_template(policy: Resource) -> Reading:
    """Return the first template of a transformation that Envoy would not load: its brackets do not close."""
    for pointer, value in walk(policy.spec.get("transformation"), ("spec", "transformation")):
        for opening, closing in _BRACKETS if isinstance(value, str) else ():
            if value.count(opening) > value.count(closing):
                reason = f"`{opening}` without `{closing}` in a template"
                return Reading(code="template", reason=reason, pointer=pointer)
    return Reading()


def _traffic(policy: Resource, world: World) -> Iterator[Fault]:  # noqa: ARG001 - one of three of one shape
    for number, rule in enumerate(map(mapping, sequence(mapping(policy.spec.get("acl")).get("rules")))):
        for index, cidr in enumerate(sequence(rule.get("cidrs"))):
            if "/" in text(cidr) and (fault := _network(text(cidr), strict=True)):
                yield ("spec", "acl", "rules", number, "cidrs", index), fault
    rules = mapping(mapping(policy.spec.get("rbac")).get("policy"))
    for index, expression in enumerate(sequence(rules.get("matchExpressions"))):
        if not is_expression(text(expression)) and not holds_variable(text(expression)):
            yield ("spec", "rbac", "policy", "matchExpressions", index), f"{expression!r} is not a valid CEL expression"


def _network(value: str, *, strict: bool) -> str:
    """Return why a text is no network, "" if it is one; `strict` forbids host bits."""
    from ipaddress import ip_interface

    if holds_variable(value):
        return ""
    try:
        interface = ip_interface(value)
    except ValueError:
        return f"{value!r} is no network"
    if strict and interface.ip != interface.network.network_address:
        return f"{value!r} has bits of the host set; the network is {interface.network}"
    return ""


def _listener(policy: Resource, world: World) -> Iterator[Fault]:  # noqa: ARG001
    places: list[tuple[Pointer, Any]] = [(("spec", "default"), policy.spec.get("default"))]
    for index, entry in enumerate(map(mapping, sequence(policy.spec.get("perPort")))):
        places.append((("spec", "perPort", index, "listener"), entry.get("listener")))
    for pointer, settings in places:
        place = (*pointer, "httpSettings")
        http = mapping(mapping(settings).get("httpSettings"))
        options = mapping(http.get("http2ProtocolOptions"))
        for name in _WINDOWS:
            size = number_of_bytes(options.get(name))
            if size is not None and size not in _WINDOW:
                limits = f"{_WINDOW[0]} and {_WINDOW[-1]}"
                yield (*place, "http2ProtocolOptions", name), f"{name} must be between {limits} bytes, not {size}"
        if http.get("useRemoteAddress") is False:
            for index, cidr in enumerate(sequence(http.get("xffTrustedCIDRs"))):
                fault = _network(text(cidr), strict=False) if "/" in text(cidr) else f"{cidr!r} is no network"
                if fault:
                    yield (*place, "xffTrustedCIDRs", index), fault


def _backend(policy: Resource, world: World) -> Iterator[Fault]:
    """Check that names to verify come with a CA, a certificate with its key, and that a CA is PEM."""
    tls = mapping(policy.spec.get("tls"))
    if not tls or tls.get("insecureSkipVerify") is True:
        return
    held = _held(policy, tls, world)
    if held is None:
        return
    root, certificate, key = held
    if root and not tls.get("files") and "-----BEGIN" not in root and not holds_variable(root):
        yield ("spec", "tls", "secretRef"), "`ca.crt` of its Secret holds no PEM"
    if tls.get("simpleTLS") is not True and bool(certificate) != bool(key):
        yield ("spec", "tls"), "a client certificate needs both certificate and key"
    if tls.get("verifySubjectAltNames") and not root and not tls.get("wellKnownCACertificates"):
        yield ("spec", "tls", "verifySubjectAltNames"), "names can be verified only with a CA"


def _held(policy: Resource, tls: Mapping[str, Any], world: World) -> tuple[str, str, str] | None:
    """Return CA, certificate and key, from the Secret or the files; None where the Secret's content is not known."""
    name = text(mapping(tls.get("secretRef")).get("name"))
    if name:
        data = contents(world.get(ResourceKey("", "Secret", policy.key.namespace, name)), world)
        return None if data is None else (data.get("ca.crt", ""), data.get("tls.crt", ""), data.get("tls.key", ""))
    files = mapping(tls.get("files"))
    return text(files.get("rootCA")), text(files.get("tlsCertificate")), text(files.get("tlsKey"))
