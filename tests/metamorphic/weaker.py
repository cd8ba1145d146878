"""Changes after which a policy asks for less and for nothing more, by kind.

Each is sure in the semantics of its implementation, wherever the object stands and whatever is beside it: an entry more
where one of several suffices, a condition less where all count, a denial less. What gives way to a parent's policy or
shadows one (a policy that goes as a whole, where one replaces another) is not among them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

Body = dict[str, Any]
ANOTHER_NETWORK = "198.51.100.0/24"
_ISTIO = ("security.istio.io", "AuthorizationPolicy")
_SOURCES = {
    "principals": "cluster.local/ns/far-away/sa/somebody",
    "requestPrincipals": "https://far-away.example/*",
    "namespaces": "far-away",
    "ipBlocks": ANOTHER_NETWORK,
    "remoteIpBlocks": ANOTHER_NETWORK,
}
_OPERATIONS = {"hosts": "far-away.example", "methods": "TRACE", "paths": "/far-away", "ports": "65000"}


def weaker(body: Body) -> Iterator[tuple[str, Body | None]]:
    """Yield in words what is done to an object, and how it is afterwards: None where it is gone."""
    group = str(body.get("apiVersion", "")).rpartition("/")[0]
    for change in _CHANGES.get((group, str(body.get("kind"))), ()):
        for words, place in change(body):
            other = copy.deepcopy(body)
            if place is None:
                yield words, None
            else:
                place(other)
                yield words, other


Edit = Callable[[Body], Any]
Offered = Iterator[tuple[str, Edit | None]]


def _at(body: Any, *steps: str | int) -> Any:
    for step in steps:
        if isinstance(step, str):
            body = body.get(step) if isinstance(body, dict) else None
        else:
            body = body[step] if isinstance(body, list) and step < len(body) else None
    return body


def _entries(body: Any, *steps: str | int) -> list[Any]:
    found = _at(body, *steps)
    return found if isinstance(found, list) else []


def _envoy_gateway(body: Body) -> Offered:
    rules = _entries(body, "spec", "authorization", "rules")
    for number, rule in enumerate(rules):
        if _at(rule, "action") == "Allow" and _entries(rule, "principal", "clientCIDRs"):
            yield (
                "one more network",
                lambda it, n=number: _at(it, "spec", "authorization", "rules", n)["principal"]["clientCIDRs"].append(
                    ANOTHER_NETWORK
                ),
            )
        if _at(rule, "action") == "Deny":
            yield "a denial less", lambda it, n=number: _at(it, "spec", "authorization", "rules").pop(n)
    if _at(body, "spec", "authorization", "defaultAction") == "Deny":
        yield "passes by default", lambda it: it["spec"]["authorization"].update(defaultAction="Allow")
    asked = [name for name in ("basicAuth", "apiKeyAuth", "extAuth", "jwt", "oidc") if _at(body, "spec", name)]
    if len(asked) > 1 or (asked and _at(body, "spec", "cors")):
        for name in asked:
            if name != "jwt":
                yield f"{name} goes", lambda it, n=name: it["spec"].pop(n)
    for number, rule in enumerate(rules):
        for place, claim in enumerate(_entries(rule, "principal", "jwt", "claims")):
            if _at(rule, "action") == "Allow" and _entries(claim, "values"):
                yield (
                    "one value of a claim more",
                    lambda it, n=number, p=place: _at(it, "spec", "authorization", "rules", n, "principal", "jwt")[
                        "claims"
                    ][p]["values"].append("far-away"),
                )
    if isinstance(_at(body, "spec", "jwt"), dict) and not _at(body, "spec", "jwt", "optional"):
        yield "the token is optional", lambda it: it["spec"]["jwt"].update(optional=True)


def _istio(body: Body) -> Offered:
    action = _at(body, "spec", "action") or "ALLOW"
    rules = _entries(body, "spec", "rules")
    if action == "DENY":
        yield "the denial goes", None
        if rules:
            yield "it is tried only", lambda it: it["spec"].update(action="AUDIT")
        for number in range(len(rules) if len(rules) > 1 else 0):
            yield "a rule less denies", lambda it, n=number: it["spec"]["rules"].pop(n)
    if action == "CUSTOM":
        yield "nobody else decides", None
    if action != "ALLOW":
        return
    for number, rule in enumerate(rules):
        for field, inner, values in (("from", "source", _SOURCES), ("to", "operation", _OPERATIONS)):
            for place, entry in enumerate(_entries(rule, field)):
                for name, value in values.items():
                    if _entries(entry, inner, name):
                        yield (
                            f"one of {name} more",
                            lambda it, n=number, f=field, p=place, i=inner, m=name, v=value: it["spec"]["rules"][n][f][
                                p
                            ][i][m].append(v),
                        )
        if _entries(rule, "when"):
            yield "a rule without its conditions", lambda it, n=number: it["spec"]["rules"][n].pop("when")


def _clients(body: Body) -> Offered:
    validation = _at(body, "spec", "tls", "clientValidation")
    if isinstance(validation, dict) and not validation.get("optional"):
        yield (
            "a certificate is optional",
            lambda it: it["spec"]["tls"]["clientValidation"].update(optional=True),
        )


def _issuers(body: Body) -> Offered:
    if _entries(body, "spec", "jwtRules"):
        rule = {"issuer": "https://far-away.example", "jwksUri": "https://far-away.example/keys"}
        yield "one issuer more", lambda it: it["spec"]["jwtRules"].append(rule)


def _peers(body: Body) -> Offered:
    if _at(body, "spec", "mtls", "mode") == "STRICT":
        yield "plain text passes", lambda it: it["spec"]["mtls"].update(mode="PERMISSIVE")


def _kuadrant(body: Body) -> Offered:
    for above in ((), ("defaults",), ("overrides",)):
        listed = _at(body, "spec", *above, "rules", "authorization")
        for name in listed if isinstance(listed, dict) and len(listed) > 1 else ():
            yield (
                "one step of authorization less",
                lambda it, a=above, n=name: _at(it, "spec", *a, "rules", "authorization").pop(n),
            )

    if _entries(body, "spec", "when"):  # a first one would take the place of those of a parent
        one = {"predicate": "request.path == '/far-away'"}
        yield "asked of one path alone", lambda it: it["spec"]["when"].append(one)


def _network(body: Body) -> Offered:
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for number, rule in enumerate(_entries(body, "spec", field)):
            if _entries(rule, "ports"):
                yield "every port", lambda it, f=field, n=number: it["spec"][f][n].pop("ports")
            if _entries(rule, peers):
                yield "everybody", lambda it, f=field, n=number, p=peers: it["spec"][f][n].pop(p)
                more = {"ipBlock": {"cidr": ANOTHER_NETWORK}}
                yield (
                    "one peer more",
                    lambda it, f=field, n=number, p=peers, m=more: it["spec"][f][n][p].append(m),
                )


def _admin_network(body: Body) -> Offered:
    for field in ("ingress", "egress"):
        for number, rule in enumerate(_entries(body, "spec", field)):
            if _at(rule, "action") == "Deny":
                yield "a denial less", lambda it, f=field, n=number: it["spec"][f].pop(n)


def _cilium(body: Body) -> Offered:
    for field in ("ingressDeny", "egressDeny"):
        if _entries(body, "spec", field) and _entries(body, "spec", field.removesuffix("Deny")):
            yield f"no {field}", lambda it, f=field: it["spec"].pop(f)
    for field, peers in (("ingress", "fromEndpoints"), ("egress", "toEndpoints")):
        for number, rule in enumerate(_entries(body, "spec", field)):
            if _entries(rule, "toPorts") and _entries(rule, peers):  # a rule that is empty then lets nobody in
                yield "every port", lambda it, f=field, n=number: it["spec"][f][n].pop("toPorts")
            if _entries(rule, peers):
                yield (
                    "pods more",
                    lambda it, f=field, n=number, p=peers: it["spec"][f][n][p].append({"matchLabels": {"far": "away"}}),
                )


def _expressions(*steps: str) -> Callable[[Body], Offered]:
    def offered(body: Body) -> Offered:
        at = _at(body, *steps)
        if _at(at, "action") in (None, "Allow") and _entries(at, "policy", "matchExpressions"):
            yield "one expression that holds", lambda it: _at(it, *steps)["policy"]["matchExpressions"].append("true")

    return offered


def _traefik(body: Body) -> Offered:
    if _entries(body, "spec", "ipAllowList", "sourceRange"):
        yield "one more network", lambda it: it["spec"]["ipAllowList"]["sourceRange"].append(ANOTHER_NETWORK)


def _kong(body: Body) -> Offered:
    more = {"ip-restriction": ANOTHER_NETWORK, "acl": "far-away"}.get(str(body.get("plugin")))
    if more and _entries(body, "config", "allow"):
        yield "one of its list more", lambda it: it["config"]["allow"].append(more)
    if more and len(_entries(body, "config", "deny")) > 1:
        yield "a denial less", lambda it: it["config"]["deny"].pop()


def _linkerd(body: Body) -> Offered:
    if _entries(body, "spec", "identities"):
        yield "one identity more", lambda it: it["spec"]["identities"].append("far.away.serviceaccount.identity")
    if _entries(body, "spec", "networks"):
        yield "one more network", lambda it: it["spec"]["networks"].append({"cidr": ANOTHER_NETWORK})
    for number in range(len(_entries(body, "spec", "requiredAuthenticationRefs"))):
        yield "one authentication less", lambda it, n=number: it["spec"]["requiredAuthenticationRefs"].pop(n)
    if body.get("kind") == "Server" and _at(body, "spec", "accessPolicy") in (None, "deny"):
        yield "passes by default", lambda it: it["spec"].update(accessPolicy="all-unauthenticated")
    if isinstance(_at(body, "spec", "client"), dict) and not _at(body, "spec", "client", "unauthenticated"):
        yield "anybody of its networks", lambda it: it["spec"]["client"].update(unauthenticated=True)


_LOGINS = ("jwtAuthentication", "basicAuthentication", "apiKeyAuthentication")


def _optional_logins(body: Body) -> Offered:
    for name in _LOGINS:
        login = _at(body, "spec", "traffic", name)
        if isinstance(login, dict) and login.get("mode") in (None, "Strict"):
            yield f"{name} is optional", lambda it, n=name: it["spec"]["traffic"][n].update(mode="Optional")


def _iap(body: Body) -> Offered:
    if _at(body, "spec", "default", "iap", "enabled") is True:
        yield "no login", lambda it: it["spec"]["default"]["iap"].update(enabled=False)


_NETWORKS = ("nginx.ingress.kubernetes.io/whitelist-source-range", "haproxy.org/allow-list")


def _ingress(body: Body) -> Offered:
    for name in _NETWORKS:
        listed = _at(body, "metadata", "annotations", name)
        if isinstance(listed, str) and listed.strip():
            yield (
                "one more network",
                lambda it, n=name, was=listed: it["metadata"]["annotations"].update({n: f"{was},{ANOTHER_NETWORK}"}),
            )


def _contour(body: Body) -> Offered:
    more = {"cidr": ANOTHER_NETWORK, "source": "Remote"}
    if _entries(body, "spec", "virtualhost", "ipAllowPolicy"):
        yield "one more network", lambda it: it["spec"]["virtualhost"]["ipAllowPolicy"].append(more)
    for number, each in enumerate(_entries(body, "spec", "routes")):
        if _entries(each, "ipAllowPolicy"):
            yield "one more network", lambda it, n=number: it["spec"]["routes"][n]["ipAllowPolicy"].append(more)


_STRICT = (None, "REQUIRE_VALID", "Strict")
"""How implementations call it that a token must be there; each does so by default."""


def _tokens(*places: tuple[str, ...], mode: str, missing: str) -> Callable[[Body], Offered]:
    """Return what weakens the tokens that are asked for in some places: one may be missing, one more signs them."""

    def offered(body: Body) -> Offered:
        for steps in places:
            login = _at(body, *steps)
            providers = _at(login, "providers")
            if not providers:
                continue
            if _at(login, mode) in _STRICT:
                yield "the token may be missing", lambda it, s=steps: _at(it, *s).update({mode: missing})
            if isinstance(providers, dict):
                one = copy.deepcopy(next(iter(providers.values())))
                yield "one provider more", lambda it, s=steps, o=one: _at(it, *s, "providers").update(far=o)
            elif isinstance(providers, list):
                one = {**providers[0], "name": "far-away"}
                yield "one provider more", lambda it, s=steps, o=one: _at(it, *s, "providers").append(o)

    return offered


_OF_GLOO = [
    ("spec", "options", *each) for each in (("jwt",), ("jwtStaged", "beforeExtAuth"), ("jwtStaged", "afterExtAuth"))
]


def _gloo(body: Body) -> Offered:
    if _at(body, "spec", "options", "extauth", "configRef"):
        yield "it is switched off", lambda it: it["spec"]["options"].update(extauth={"disable": True})


def _kgateway(body: Body) -> Offered:
    for name in ("extAuth", "jwtAuth", "basicAuth", "apiKeyAuth"):
        login = _at(body, "spec", name)
        if isinstance(login, dict) and "disable" not in login:
            yield f"{name} is switched off", lambda it, n=name: it["spec"].update({n: {"disable": {}}})


def _login_filters(body: Body) -> Offered:
    for number, rule in enumerate(_entries(body, "spec", "rules")):
        for place, each in enumerate(_entries(rule, "filters")):
            if _at(each, "extensionRef", "kind") == "AuthenticationFilter":
                yield "no login", lambda it, n=number, p=place: it["spec"]["rules"][n]["filters"].pop(p)


def _firewall(body: Body) -> Offered:
    target = _at(body, "spec", "targetRef")
    if _at(target, "kind") == "Gateway" and not _at(target, "sectionNames"):
        yield "no firewall", None


def _statements(body: Body) -> Offered:
    written = _at(body, "spec", "policy")
    try:
        document = json.loads(written) if isinstance(written, str) else {}
    except ValueError:
        return
    listed = _entries(document, "Statement")

    def saying(statements: list[Any]) -> Edit:
        return lambda it: it["spec"].update(policy=json.dumps({**document, "Statement": statements}))

    for number, statement in enumerate(listed):
        if _at(statement, "Effect") == "Deny":
            yield "a denial less", saying([*listed[:number], *listed[number + 1 :]])
    if listed:
        more = {"Effect": "Allow", "Principal": "210987654321", "Action": "vpc-lattice-svcs:Invoke", "Resource": "*"}
        yield "an account more", saying([*listed, more])


_AGENTGATEWAY = "agentgateway.dev"
_CHANGES: dict[tuple[str, str], tuple[Callable[[Body], Offered], ...]] = {
    ("gateway.envoyproxy.io", "SecurityPolicy"): (_envoy_gateway,),
    _ISTIO: (_istio,),
    ("security.istio.io", "PeerAuthentication"): (_peers,),
    ("kuadrant.io", "AuthPolicy"): (_kuadrant,),
    ("networking.k8s.io", "NetworkPolicy"): (_network,),
    ("policy.networking.k8s.io", "AdminNetworkPolicy"): (_admin_network,),
    ("policy.networking.k8s.io", "ClusterNetworkPolicy"): (_admin_network,),
    ("cilium.io", "CiliumNetworkPolicy"): (_cilium,),
    ("cilium.io", "CiliumClusterwideNetworkPolicy"): (_cilium,),
    ("gateway.kgateway.dev", "TrafficPolicy"): (_expressions("spec", "rbac"), _kgateway),
    ("gateway.kgateway.dev", "GatewayExtension"): (
        _tokens(("spec", "jwt"), mode="validationMode", missing="AllowMissing"),
    ),
    ("gateway.solo.io", "RouteOption"): (_gloo,),
    ("gateway.solo.io", "VirtualHostOption"): (
        _gloo,
        _tokens(*_OF_GLOO, mode="validationPolicy", missing="ALLOW_MISSING"),
    ),
    ("gateway.networking.k8s.io", "HTTPRoute"): (_login_filters,),
    ("alb.networking.azure.io", "WebApplicationFirewallPolicy"): (_firewall,),
    ("application-networking.k8s.aws", "IAMAuthPolicy"): (_statements,),
    (_AGENTGATEWAY, "AgentgatewayPolicy"): (_expressions("spec", "traffic", "authorization"), _optional_logins),
    ("traefik.io", "Middleware"): (_traefik,),
    ("configuration.konghq.com", "KongClusterPlugin"): (_kong,),
    ("configuration.konghq.com", "KongPlugin"): (_kong,),
    ("gateway.envoyproxy.io", "ClientTrafficPolicy"): (_clients,),
    ("networking.gke.io", "GCPBackendPolicy"): (_iap,),
    ("networking.k8s.io", "Ingress"): (_ingress,),
    ("projectcontour.io", "HTTPProxy"): (_contour,),
    ("security.istio.io", "RequestAuthentication"): (_issuers,),
    ("policy.linkerd.io", "AuthorizationPolicy"): (_linkerd,),
    ("policy.linkerd.io", "Server"): (_linkerd,),
    ("policy.linkerd.io", "ServerAuthorization"): (_linkerd,),
    ("policy.linkerd.io", "MeshTLSAuthentication"): (_linkerd,),
    ("policy.linkerd.io", "NetworkAuthentication"): (_linkerd,),
}
