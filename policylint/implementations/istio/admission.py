"""Whether a proxy of Istio lets a request in: CUSTOM before DENY before ALLOW, and nothing without a match.

Sender: istio.io/docs/concepts/security, «Authorization policies»; pilot/pkg/security/authz/builder and matcher;
for ztunnel docs/design/implementations/istio.md §1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from policylint.implementations.istio import labels
from policylint.implementations.istio.mesh import Mesh, Proxy, pod_place
from policylint.implementations.istio.ztunnel import HTTP, L4_CONDITIONS
from policylint.model import Resource, mapping, sequence, text, texts
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Checkpoint,
    Decision,
    RequestFacts,
    first_match,
    otherwise,
    with_start,
)
from policylint.policy.results import Group
from policylint.spaces import Predicate

_PRINCIPAL = "principal"


class Sender:
    """The client as the proxy at a hop knows it.

    Attributes:
        namespace, account: of its identity; "" where it has none, None where it is not known.
        token: False where nobody checks tokens, so that it has none.
    """

    __slots__ = ("account", "namespace", "token")

    def __init__(self, call: RequestFacts, mesh: Mesh, *, checked: bool) -> None:
        self.namespace: str | None = call.namespace
        self.account: str | None = None
        self.token: bool | None = None if checked else False
        client = call.client
        if call.namespace == "":
            self.account = ""
        elif client is None:
            return
        elif client.key.kind == "Gateway":
            self.account = _gateway_account(client)
        else:
            proxies = mesh.by_namespace.get(client.key.namespace, ())
            proxy = next((proxy for proxy in proxies if proxy.node.key == client.key), None)
            if proxy is None:
                self.namespace = self.account = ""
            elif proxy.sure:
                self.account = _account(client)

    @property
    def principal(self) -> str | None:
        """Return the SPIFFE identity without its scheme, "" for none, None where it is not known."""
        if self.account == "" or self.namespace == "":
            return ""
        if self.account is None or self.namespace is None:
            return None
        return f"cluster.local/ns/{self.namespace}/sa/{self.account}"


def admit(call: RequestFacts, hop: Checkpoint, group: Group, mesh: Mesh, *, checked: bool) -> Decision:
    """Return what the AuthorizationPolicies of a context make of a request.

    Args:
        checked: whether a RequestAuthentication checks tokens there.
    """
    proxy = next((proxy for proxy in mesh.proxies if proxy.node == hop.path[0]), None)
    ambient = proxy is not None and proxy.ambient
    judge = _Judge(call, Sender(call, mesh, checked=checked), ambient=ambient)
    by_action: dict[str, list[Resource]] = {}
    for attachment in group.effective.stack:
        by_action.setdefault(text(attachment.policy.spec.get("action")) or "ALLOW", []).append(attachment.policy)
    denying = (rule for policy in by_action.get("DENY", ()) for rule in judge.rules(policy, deny=True))
    asking = (rule for policy in by_action.get("CUSTOM", ()) for rule in judge.rules(policy, deny=False))
    allowing = by_action.get("ALLOW", [])
    allowed = (rule for policy in allowing for rule in judge.rules(policy, deny=False))
    default = otherwise((), allows=True)
    if allowing:
        words = "no ALLOW policy lets it in" if len(allowing) > 1 else "it lets in other requests only"
        words = words if any(sequence(policy.spec.get("rules")) for policy in allowing) else "it lets nothing in"
        default = otherwise(("spec",), words, allowing[-1], allows=False)
    decision = first_match(chain(denying, map(_of_provider, asking), allowed), default)
    if proxy is not None and not proxy.sure and decision.answer == "denied":
        return decision._replace(answer="depends", why="whether its pods are in the mesh")
    return decision._replace(resets=ambient or call.stream)


def _of_provider(rule: AuthorizationRule) -> AuthorizationRule:
    """Return a rule of CUSTOM, whose provider decides on what it matches."""
    if rule.matches is False or rule.by is None:
        return rule
    provider = text(mapping(rule.by.spec.get("provider")).get("name"))
    return rule._replace(matches=None, allows=False, on=f"the answer of {provider or 'its provider'}")


class _Judge:
    """Matches rules against one request; what it could not know last is in `unknown`."""

    __slots__ = ("_ambient", "_call", "_home", "_source", "unknown")

    def __init__(self, call: RequestFacts, source: Sender, *, ambient: bool) -> None:
        self._call, self._source, self._ambient = call, source, ambient
        self.unknown = ""
        self._home = ""

    def rules(self, policy: Resource, *, deny: bool) -> Iterator[AuthorizationRule]:
        """Yield each rule of a policy, judged."""
        self._home = policy.key.namespace
        for index, rule in enumerate(sequence(policy.spec.get("rules"))):
            self.unknown = ""
            matches = every(self._clauses(mapping(rule), deny=deny))
            on = self.unknown if matches is None else "it denies such requests" if deny else ""
            yield AuthorizationRule(matches, not deny, ("spec", "rules", index), on, policy)

    def _clauses(self, rule: Mapping[str, Any], *, deny: bool) -> Iterator[bool | None]:
        """Yield whether each of `from`, `to` and the conditions holds; a rule without any matches everything."""
        for field, inner in (("from", "source"), ("to", "operation")):
            entries = [mapping(mapping(entry).get(inner)) for entry in sequence(rule.get(field))]
            if entries:
                yield some(self._entry(entry, deny=deny) for entry in entries)
        for condition in map(mapping, sequence(rule.get("when"))):
            key = text(condition.get("key"))
            if self._ambient and key not in L4_CONDITIONS:
                yield False  # in ALLOW the rule is left out; in DENY a clause of which nothing is left never matches
                continue
            values, excluded = texts(condition.get("values")), texts(condition.get("notValues"))
            if values:
                yield self._attribute(key, values)
            if excluded:
                yield negated(self._attribute(key, excluded))

    def _entry(self, entry: Mapping[str, Any], *, deny: bool) -> bool | None:
        """Return whether a source or an operation fits: all of its attributes must."""
        names = [name for name, values in entry.items() if texts(values)]
        if self._ambient:
            known = [name for name in names if name not in HTTP]
            if len(known) < len(names) and not (deny and known):
                return False
            names = known
        return every(
            negated(self._attribute(name[3].lower() + name[4:], texts(entry[name])))
            if name.startswith("not")
            else self._attribute(name, texts(entry[name]))
            for name in names
        )

    def _attribute(self, name: str, wanted: list[str]) -> bool | None:
        """Return whether one attribute of the request has any of the values."""
        call, source = self._call, self._source
        match name:
            case "principals" | "source.principal":
                return self._known(source.principal, wanted, "who the client is")
            case "serviceAccounts" | "source.serviceAccount":
                wanted = [each if "/" in each else f"{self._home}/{each}" for each in wanted]
                return self._known(_place(source), wanted, "who the client is")
            case "namespaces" | "source.namespace":
                identity = source.namespace if source.account != "" else ""
                answer = self._known(identity, wanted, "the namespace of the client")
                if answer and source.account is None:
                    return self._unknown("whether the client is in the mesh")
                return answer
            case "requestPrincipals" | "request.auth.principal":
                return self._of_token(_known_claims(call), "", wanted)
            case "request.auth.audiences" | "request.auth.presenter":
                return self._of_token(call, "aud" if name.endswith("audiences") else "azp", wanted)
            case "hosts":
                host = call.host.partition(":")[0] if not call.host.startswith("[") else call.host
                return not call.stream and call.has(
                    "host", host.lower(), *(_predicate(each.lower()) for each in wanted)
                )
            case "methods":
                return not call.stream and call.has_method(*map(_predicate, wanted))
            case "paths":
                return not call.stream and call.has_path(*map(_path_predicate, wanted))
            case "ports" | "destination.port":
                return self._known(None if call.port is None else str(call.port), wanted, "the port")
            case "ipBlocks" | "remoteIpBlocks" | "source.ip" | "remote.ip":
                answer = call.is_from(wanted)
                return self._unknown("the client's address") if answer is None else answer
        if name.startswith("request.headers["):
            return call.has_header(name[len("request.headers[") :].rstrip("]"), *map(_predicate, wanted))
        if name.startswith("request.auth.claims["):
            return self._of_token(call, name[len("request.auth.claims[") :].rstrip("]").replace("][", "."), wanted)
        return self._unknown(name)

    def _of_token(self, call: RequestFacts, claim: str, wanted: list[str]) -> bool | None:
        """Return whether the token has one of some values in a claim; "" is its principal, `issuer/subject`."""
        if self._source.token is False:
            return False
        answer = call.has_claim(claim or _PRINCIPAL, *map(_predicate, wanted))
        if answer is None and call.claims is None and not call.blank and "authorization" not in call.headers:
            return False
        return self._unknown("the token that it brings") if answer is None else answer

    def _known(self, value: str | None, wanted: list[str], what: str) -> bool | None:
        """Return whether a value is among those wanted; one that is "" is not there, and None is not known."""
        if value is None:
            return self._unknown(what)
        return bool(value) and any(_matches(each, value) for each in wanted)

    def _unknown(self, what: str) -> bool | None:
        """Keep what it is that decides and is not known."""
        self.unknown = self.unknown or what
        return None


def _matches(wanted: str, value: str) -> bool:
    """Compare as Istio does: `*` is any value, `x*` a prefix, `*x` a suffix."""
    if wanted == "*":
        return value != ""
    if wanted.endswith("*"):
        return value.startswith(wanted[:-1])
    if wanted.startswith("*"):
        return value.endswith(wanted[1:])
    return value == wanted


def _predicate(wanted: str) -> Predicate:
    """Return what Istio compares: `*` is any value, `x*` a prefix, `*x` a suffix."""
    if wanted == "*":
        return Predicate("Present")
    if wanted.endswith("*"):
        return with_start(wanted[:-1])
    if wanted.startswith("*"):
        return Predicate("RegularExpression", f".*{re.escape(wanted[1:])}")
    return Predicate("Exact", wanted)


def _path_predicate(wanted: str) -> Predicate:
    """Return what a path is compared with: `{*}` is one segment and `{**}` any number of them (MatchOneTemplate)."""
    if "{*}" not in wanted and "{**}" not in wanted:
        return _predicate(wanted)
    operators = {"{*}": "[^/]+", "{**}": ".*"}
    steps = (operators.get(step) or re.escape(step) for step in wanted.split("/"))
    return Predicate("RegularExpression", "/".join(steps))


def _known_claims(call: RequestFacts) -> RequestFacts:
    """Return a request with the principal that follows from its token's issuer and subject."""
    if call.claims is None or any(name == _PRINCIPAL for name, _ in call.claims):
        return call
    claims = dict(call.claims)
    if "iss" not in claims or "sub" not in claims:
        return call
    return call._replace(claims=(*call.claims, (_PRINCIPAL, f"{claims['iss']}/{claims['sub']}")))


def _place(source: Sender) -> str | None:
    """Return `namespace/account`, "" without an identity, None where it is not known."""
    if source.principal in ("", None):
        return source.principal
    return f"{source.namespace}/{source.account}"


def _account(workload: Resource) -> str:
    """Return the ServiceAccount of the pods of a workload."""
    body: Any = workload.body
    for step in pod_place(workload):
        body = mapping(body).get(str(step))
    spec = mapping(mapping(body).get("spec"))
    return text(spec.get("serviceAccountName")) or text(spec.get("serviceAccount")) or "default"


def _gateway_account(gateway: Resource) -> str:
    """Return the ServiceAccount of the proxy that istiod deploys for a Gateway (deploymentcontroller.go)."""
    of_class = text(gateway.spec.get("gatewayClassName"))
    return gateway.key.name if of_class == labels.WAYPOINT_CLASS else f"{gateway.key.name}-{of_class}"


def fronts(service: Resource, mesh: Mesh) -> Proxy | None:
    """Return the waypoint in front of a Service."""
    bound = mesh.waypoints.binding(service).waypoint
    return next((proxy for proxy in mesh.proxies if bound is not None and proxy.node.key == bound), None)
