"""A wider grammar for Envoy Gateway: the fields and kinds that the first one never writes, beside those that it does.

Worlds of seeds that begin with `wider` are of this grammar, all others of the first, whose records stay as they are.
"""

from __future__ import annotations

from typing import Any

from tests.witness.envoy_gateway_worlds import CERTIFICATE, GATEWAY_API, GROUP, JWKS, Builder
from tests.witness.grammar import Draw, Manifest, manifest

_SEEDS = "wider"
_SHARE = 0.6
"""How often a choice is one that the first grammar does not know."""
_ORIGINS = ("https://pay.example", "https://*.shop.example", "http://api.shop.example:8080", "https://*", "*")


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world of Envoy Gateway."""
    draw = Draw("envoy-gateway", seed, number)
    return (Wider(draw) if str(seed).rpartition("/")[2].startswith(_SEEDS) else Builder(draw)).build()


class Wider(Builder):
    """Makes worlds with more kinds of everything."""

    # Material

    def _material(self) -> None:
        super()._material()
        draw = self.draw
        data = {"ca.crt": CERTIFICATE, "jwks": JWKS, "body": "sorry"}
        if draw.often(0.9):
            self.objects.append(manifest("v1", "ConfigMap", "whole", draw.one("shop", "pay"), data=data))
        for name, namespace, held in (
            ("id", "shop", {"client-id": "shop"}),
            ("token", "shop", {"credential": "Basic c2hvcA=="}),
            ("ca", "infra", {"ca.crt": CERTIFICATE}),
            ("ca", "shop", {"ca.crt": CERTIFICATE}),
            ("keys", "pay", {"pay": "k-3"}),
            ("users", "pay", {".htpasswd": "me:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=\n"}),
        ):
            if draw.often(0.85):
                self.objects.append(manifest("v1", "Secret", name, namespace, stringData=held))

    def _backend(self) -> None:
        draw = self.draw
        for name in draw.some(("up", "spare", "far"), 2):
            namespace = draw.one("shop", "pay")
            spec: dict[str, Any] = draw.one(
                {"endpoints": [{"ip": {"address": "192.0.2.9", "port": 3000}}]},
                {"endpoints": [{"ip": {"address": f"192.0.2.{each}", "port": 3000}} for each in (9, 10)]},
                {"endpoints": [{"ip": {"address": "192.0.2.9", "port": 3000}, "hostname": "up.example"}]},
                {"endpoints": [{"fqdn": {"hostname": "up.example", "port": 443}}]},
                {"endpoints": [{"fqdn": {"hostname": "up.example.", "port": 443}}]},
                {"endpoints": [{"fqdn": {"hostname": "localhost", "port": 443}}]},
                {"endpoints": [{"ip": {"address": "127.0.0.1", "port": 80}}]},
                {"endpoints": [{"unix": {"path": "/run/up.sock"}}]},
                {
                    "endpoints": [
                        {"fqdn": {"hostname": "up.example", "port": 443}},
                        {"ip": {"address": "192.0.2.9", "port": 80}},
                    ]
                },
                {"endpoints": [{"unix": {"path": "/run/up.sock"}}, {"ip": {"address": "192.0.2.9", "port": 80}}]},
                {"type": "DynamicResolver"},
                {"type": "Endpoints"},
            )
            spec |= draw.maybe(0.25, "fallback", True)
            spec |= draw.maybe(0.15, "appProtocols", [f"{GROUP}/{draw.one('h2c', 'ws')}"])
            if draw.often(0.35):
                spec["tls"] = self._backend_side()
            self._add("Backend", name, namespace, spec)
            self.backends += [("Backend", namespace, name, 0)] * 2

    def _backend_side(self) -> dict[str, Any]:
        draw = self.draw
        made: dict[str, Any] = draw.one(
            {"wellKnownCACertificates": "System"},
            {"insecureSkipVerify": True},
            {"caCertificateRefs": [self._text("whole", "ca")]},
            {"caCertificateRefs": [{"group": "", "kind": "Secret", "name": draw.one("ca", "cert", "gone")}]},
            {},
        )
        made |= draw.maybe(0.4, "sni", "inside.example")
        made |= draw.maybe(0.15, "autoSNIFromEndpointHostname", True)
        made |= draw.maybe(0.2, "clientCertificateRef", self._secret("cert"))
        made |= draw.maybe(0.15, "minVersion", draw.one("1.2", "1.3"))
        return made | draw.maybe(0.1, "alpnProtocols", ["h2"])

    def _text(self, *names: str) -> dict[str, Any]:
        return {"group": "", "kind": "ConfigMap", "name": self.draw.one(*names, *names, "gone")}

    def _secret(self, name: str) -> dict[str, Any]:
        """Return a reference to a Secret, often of this name, sometimes of another namespace or kind."""
        draw = self.draw
        made: dict[str, Any] = {"name": name if draw.often(0.85) else "gone"}
        made |= draw.maybe(0.2, "namespace", draw.one("shop", "infra", "pay"))
        return made | ({"kind": "ConfigMap"} if draw.often(0.04) else {})

    # Gateways

    def _proxy(self) -> dict[str, Any]:
        draw = self.draw
        for name, namespace in (("own", "infra"), ("own", "shop")):
            if draw.often(0.6):
                spec: dict[str, Any] = {}
                for each in draw.some(self._proxy_settings(), 2, 0):
                    spec |= each
                self.objects.append(manifest(f"{GROUP}/v1alpha1", "EnvoyProxy", name, namespace, spec=spec))
        return super()._proxy()

    def _proxy_settings(self) -> list[dict[str, Any]]:
        draw = self.draw
        return [
            {"concurrency": 2},
            {"logging": {"level": {"default": draw.one("warn", "error")}}},
            {"filterOrder": [{"name": "envoy.filters.http.rbac", "before": "envoy.filters.http.jwt_authn"}]},
            {"filterOrder": [{"name": "envoy.filters.http.lua", "after": "envoy.filters.http.ext_authz"}]},
            {"routingType": draw.one("Service", "Endpoint")},
            {"mergeGateways": draw.one(True, False)},
            {"preserveRouteOrder": True},
            {"ipFamily": draw.one("IPv4", "IPv6", "DualStack")},
            {"backendTLS": {"clientCertificateRef": self._secret("cert")}},
            {"backendTLS": {"minVersion": "1.3", "maxVersion": draw.one("1.2", "1.3")}},
            {"telemetry": {"accessLog": {"disable": True}}},
            {"telemetry": {"metrics": {"prometheus": {}}}},
            {"provider": {"type": "Kubernetes", "kubernetes": {"envoyDeployment": {"replicas": 2}}}},
            {"luaValidation": draw.one("Strict", "Disabled", "Syntax")},
            {"shutdown": {"drainTimeout": "30s"}},
        ]

    def _gateway(self, name: str) -> None:
        super()._gateway(name)
        draw, spec = self.draw, self.holders[-1]["spec"]
        if draw.often(0.25):
            kind = "EnvoyProxy" if draw.often(0.93) else draw.one("ConfigMap", "Unheard")
            reference = {
                "group": GROUP if kind == "EnvoyProxy" else "",
                "kind": kind,
                "name": draw.one("own", "own", "own", "gone"),
            }
            spec["infrastructure"] = {"parametersRef": reference}
        elif draw.often(0.1):
            spec["infrastructure"] = {"labels": {"team": "edge"}}
        if draw.often(0.1):
            spec["tls"] = draw.one(
                {"backend": {"clientCertificateRef": self._secret("cert")}},
                {"frontend": {"default": {"validation": {"caCertificateRefs": [self._text("ca")]}}}},
                {
                    "frontend": {
                        "default": {
                            "validation": {
                                "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": "ca"}],
                                "mode": "AllowInsecureFallback",
                            }
                        }
                    }
                },
            )
        if draw.often(0.05):
            spec["addresses"] = [{"type": "IPAddress", "value": draw.one("192.0.2.77", "", "2001:db8::7")}]

    def _listener(self, name: str) -> dict[str, Any]:
        draw = self.draw
        made = super()._listener(name)
        if "tls" in made and draw.often(0.1):
            made["tls"]["options"] = {"example.net/own": "yes"}
        if made.get("tls", {}).get("certificateRefs") and draw.often(0.15):  # all Secrets hold the same certificate
            made["tls"]["certificateRefs"].append({"name": "missing"})
        if draw.often(0.04):
            made["protocol"] = draw.one("example.net/own", "HTTP", "HTTPS", "TLS")
        return made

    # Routes

    def _route(self, name: str) -> None:
        super()._route(name)
        draw, route = self.draw, self.routes[-1]
        if route["kind"] in ("TCPRoute", "UDPRoute", "TLSRoute") and draw.often(0.1):
            route["spec"]["rules"].append(self._rule(route["kind"], "rest", route["metadata"]["namespace"]))

    def _rule(self, kind: str, name: str, namespace: str) -> dict[str, Any]:
        draw = self.draw
        made = super()._rule(kind, name, namespace)
        if kind == "GRPCRoute":
            if draw.often(0.2):
                header = {"name": "x-canary", "value": draw.one("yes", "no")}
                made["matches"] = [{"headers": [header | draw.maybe(0.3, "type", "RegularExpression")]}]
            if draw.often(0.2):
                made["filters"] = self._call_filters(namespace)
        if kind == "HTTPRoute":
            if draw.often(0.1):
                made["timeouts"] = {"request": "9s", "backendRequest": draw.one("3s", "9s", "20s")}
            if draw.often(0.1):
                made["retry"] = {
                    "attempts": draw.number(1, 4),
                    **draw.maybe(0.5, "codes", [draw.one(500, 503, 404)]),
                    **draw.maybe(0.5, "backoff", draw.one("100ms", "2s")),
                }
            if draw.often(0.1):
                made["sessionPersistence"] = {
                    "type": draw.one("Cookie", "Header"),
                    "sessionName": "a",
                    **draw.maybe(0.3, "absoluteTimeout", "1h"),
                }
            if made.get("backendRefs") and draw.often(0.1):
                made["backendRefs"][0]["filters"] = self._backend_filters(namespace)
        return made

    def _match(self) -> dict[str, Any]:
        draw = self.draw
        match = super()._match()
        if draw.often(0.1):
            match["headers"] = [
                {
                    "name": "x-user",
                    "value": draw.one("me", "m.*", "m.*", "m.+", "y.*", "["),
                    "type": "RegularExpression",
                }
            ]
        if draw.often(0.05):
            match["path"] = {
                "type": "RegularExpression",
                "value": draw.one("/a(?=b)", "/(a|b)", "/c.*", "/[ab]", "/v[12]"),
            }
        if draw.often(0.1):
            match["queryParams"] = [
                {
                    "name": "v",
                    "type": "RegularExpression",
                    "value": draw.one("[0-9]", "[0-9]+", "1|2", "(1|3)", "2.*", "("),
                }
            ]
        return match

    def _call_filters(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        return draw.some(
            (
                {"type": "RequestHeaderModifier", "requestHeaderModifier": {"add": [{"name": "x-a", "value": "1"}]}},
                {"type": "ResponseHeaderModifier", "responseHeaderModifier": {"remove": ["server"]}},
                {"type": "RequestMirror", "requestMirror": {"backendRef": self._backend_ref(namespace)}},
                self._extension_ref(namespace),
            ),
            2,
        )

    def _backend_filters(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        return [
            draw.one(
                {"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [{"name": "x-b", "value": "1"}]}},
                {"type": "ResponseHeaderModifier", "responseHeaderModifier": {"remove": ["x-b"]}},
                {"type": "URLRewrite", "urlRewrite": {"hostname": "inside.example"}},
                self._extension_ref(namespace),
            )
        ]

    def _filters(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        if not draw.often(_SHARE):
            return super()._filters(namespace)
        headers = draw.one(
            {"add": [{"name": "x-by", "value": "edge"}]},
            {"remove": ["x-by", "x-more"]},
            {"set": [{"name": "x-by", "value": "%REQ(host)%"}], "remove": ["x-by"]},
            {"set": [{"name": "Host", "value": "inside.example"}]},
            {"set": [{"name": "x by", "value": "edge"}]},
            {"add": [{"name": "x-by", "value": "1"}, {"name": "X-By", "value": "2"}]},
            {},
        )
        where = draw.one(
            {"type": "ReplaceFullPath", "replaceFullPath": "/new"},
            {"type": "ReplacePrefixMatch", "replacePrefixMatch": draw.one("/new", "/", "")},
        )
        share = draw.one({"percent": 10}, {"fraction": {"numerator": 1, "denominator": 4}}, {})
        redirect = draw.one({"hostname": "pay.example"}, {"port": 8443}, {"path": where, "statusCode": 302}, {})
        return draw.some(
            (
                {"type": "RequestHeaderModifier", "requestHeaderModifier": headers},
                {"type": "ResponseHeaderModifier", "responseHeaderModifier": headers},
                {"type": "RequestRedirect", "requestRedirect": redirect},
                {"type": "URLRewrite", "urlRewrite": {"path": where}},
                {"type": "URLRewrite", "urlRewrite": {"hostname": "inside.example", "path": where}},
                {"type": "RequestMirror", "requestMirror": {"backendRef": self._backend_ref(namespace), **share}},
                {"type": "CORS", "cors": {"allowOrigins": [draw.one("https://www.example", "https://*", "*")]}},
                self._extension_ref(namespace),
                self._extension_ref(namespace),
            ),
            1 if draw.often(0.6) else 2,
        )

    def _extension_ref(self, namespace: str) -> dict[str, Any]:
        """Return a filter that names an HTTPRouteFilter, which is made here, or another object, or none."""
        draw = self.draw
        name = draw.one("teapot", "away", "inject", "rewrite")
        if draw.often(0.85) and not any(
            (each["kind"], each["metadata"]["name"]) == ("HTTPRouteFilter", name) for each in self.objects
        ):
            self._add("HTTPRouteFilter", name, namespace, self._filter_of(name))
        reference = {"group": GROUP, "kind": "HTTPRouteFilter", "name": name}
        if draw.often(0.06):
            reference |= draw.one({"kind": "Backend", "name": "up"}, {"group": "example.net", "kind": "Own"})
        return {"type": "ExtensionRef", "extensionRef": reference}

    def _filter_of(self, name: str) -> dict[str, Any]:
        draw = self.draw
        if name == "teapot":
            body = draw.one(
                {"type": "Inline", "inline": "short"},
                {"type": "ValueRef", "valueRef": self._text("whole")},
                {"type": "ValueRef", "valueRef": self._text("text", "ca")},
            )
            return {"directResponse": {"statusCode": 418, **draw.maybe(0.7, "body", body)}}
        if name == "inject":
            credential = {"valueRef": self._secret(draw.one("token", "token", "cert"))}
            return {"credentialInjection": {"credential": credential, **draw.maybe(0.4, "overwrite", True)}}
        if name == "rewrite":
            pattern = draw.one("^/v1/(.*)$", "^/v1/(.*)$", "(?=a)", "[")
            path = {"replaceRegexMatch": {"pattern": pattern, "substitution": "/\\1"}, "type": "ReplaceRegexMatch"}
            return {"urlRewrite": {"path": path}}
        return {
            "urlRewrite": {
                "hostname": draw.one(
                    {"type": "Header", "header": "x-host"},
                    {"type": "Backend"},
                    {"type": "PathRegex", "pathRegex": {"pattern": "^/([a-z]+)/.*", "substitution": "\\1.example"}},
                    {"type": "Header"},
                )
            }
        }

    # Policies

    def _settings(self, kind: str, namespace: str) -> dict[str, Any]:
        draw = self.draw
        settings = super()._settings(kind, namespace) if not draw.often(_SHARE) else {}
        options = {
            "SecurityPolicy": self._more_security,
            "BackendTrafficPolicy": self._more_traffic,
            "ClientTrafficPolicy": self._more_client,
            "EnvoyExtensionPolicy": self._more_extension,
        }[kind](namespace)
        for each in draw.some(options, 2, 0 if settings else 1):
            settings |= each
        return settings

    def _service_ref(self, namespace: str) -> dict[str, Any]:
        """Return a reference to what a filter asks, with what is special about such references."""
        return self._backend_ref(namespace) | self.draw.maybe(0.1, "fallback", True)

    def _principal(self) -> dict[str, Any]:
        draw = self.draw
        claim = draw.one(
            {"name": "sub", "values": ["me"]},
            {"name": "role", "values": ["admin", "owner"]},
            {"name": "realm.roles", "valueType": "StringArray", "values": ["admin"]},
            {"name": "sub", "values": ["you"]},
        )
        return draw.one(
            {"clientCIDRs": [draw.one("127.0.0.0/30", "10.0.0.0/8", "0.0.0.0/0")]},
            {"headers": [{"name": draw.one("x-canary", "x-user"), "values": [draw.one("yes", "no")]}]},
            {"headers": [{"name": "x-canary", "values": ["yes", "no"]}]},
            {"jwt": {"provider": draw.one("id", "id", "other"), "claims": [claim]}},
            {"jwt": {"provider": "id", "scopes": [draw.one("read", "write")]}},
            {"jwt": {"provider": "id", "scopes": ["read"], "claims": [claim]}},
            {"clientCIDRs": ["127.0.0.0/30"], "headers": [{"name": "x-canary", "values": ["yes"]}]},
        )

    def _authorization(self) -> dict[str, Any]:
        draw = self.draw
        rules = []
        for number in range(draw.number(1, 3)):
            rule: dict[str, Any] = {"action": draw.one("Allow", "Deny"), "principal": self._principal()}
            rule |= draw.maybe(0.3, "name", f"rule-{number}")
            if draw.often(0.45):
                methods = {"methods": draw.some(("GET", "POST", "DELETE", "PUT"), 2)}
                kind = draw.one("Exact", "PathPrefix", "PathPrefix", "RegularExpression")
                path = {"type": kind, "value": draw.one("/admin", "/api", "/cart")} | draw.maybe(0.2, "invert", True)
                rule["operation"] = draw.one(methods, methods, {"path": path}, {**methods, "path": path})
            if draw.often(0.1):
                rule["cel"] = draw.one("request.method == 'GET'", "request.path.startsWith('/admin')", "request.")
            rules.append(rule)
        return {"rules": rules, **draw.maybe(0.8, "defaultAction", draw.one("Allow", "Deny", "Deny"))}

    def _provider(self, namespace: str) -> dict[str, Any]:
        draw = self.draw
        made: dict[str, Any] = {"name": draw.one("id", "id", "id", "other"), "issuer": "https://id.example"}
        made |= draw.one(
            {"localJWKS": {"type": "Inline", "inline": JWKS}},
            {"localJWKS": {"type": "Inline", "inline": draw.one(JWKS, "{", "{}")}},
            {"localJWKS": {"type": "ValueRef", "valueRef": self._text("whole")}},
            {
                "remoteJWKS": {
                    "uri": "https://id.example/jwks",
                    "backendRefs": [self._service_ref(namespace)],
                    **draw.maybe(0.3, "cacheDuration", "300s"),
                }
            },
        )
        made |= draw.maybe(0.3, "audiences", [draw.one("shop", "pay")])
        made |= draw.maybe(0.3, "claimToHeaders", [{"claim": "sub", "header": "x-sub"}])
        made |= draw.maybe(0.1, "recomputeRoute", True)
        return made | draw.maybe(
            0.2,
            "extractFrom",
            draw.one(
                {"headers": [{"name": "authorization", "valuePrefix": "Bearer "}]},
                {"headers": [{"name": "x-token"}]},
                {"cookies": ["token"]},
                {"params": ["token"]},
            ),
        )

    def _more_security(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        keys = [self._secret("keys") for _ in range(draw.number(1, 2))]
        provider: dict[str, Any] = {
            "issuer": draw.one("https://id.example", "https://id.example/realm"),
            "authorizationEndpoint": "https://id.example/auth",
            "tokenEndpoint": draw.one("https://id.example/token", "https://id.example:8443/token"),
            **draw.maybe(0.3, "backendRefs", [self._service_ref(namespace)]),
            **draw.maybe(0.2, "endSessionEndpoint", "https://id.example/out"),
        }
        oidc = {
            "provider": provider,
            **draw.one({"clientID": "shop"}, {"clientID": "shop"}, {"clientIDRef": self._secret("id")}),
            "clientSecret": self._secret("client"),
            **draw.maybe(0.3, "scopes", [draw.one("openid", "profile")]),
            **draw.maybe(0.2, "resources", ["https://shop.example"]),
            **draw.maybe(0.2, "logoutPath", draw.one("/logout", "logout")),
            **draw.maybe(0.2, "redirectURL", "https://shop.example/back"),
            **draw.maybe(0.2, "forwardAccessToken", True),
            **draw.maybe(0.2, "refreshToken", draw.one(True, False)),
            **draw.maybe(0.2, "defaultTokenTTL", "30m"),
            **draw.maybe(0.2, "cookieNames", {"accessToken": "a", "idToken": "b"}),
            **draw.maybe(0.2, "cookieConfig", {"sameSite": "Strict"}),
            **draw.maybe(0.1, "cookieDomain", "example.com"),
            **draw.maybe(0.1, "passThroughAuthHeader", True),
            **draw.maybe(0.15, "denyRedirect", {"headers": [{"name": "x-requested-with", "value": "XMLHttpRequest"}]}),
        }
        context = draw.one(
            {"name": "a", "type": "Value", "value": "1"},
            {"name": "a", "type": "ValueRef", "valueRef": {**self._text("whole"), "key": "body"}},
            {"name": "a", "type": "ValueRef", "valueRef": {**self._text("text"), "key": "body"}},
        )
        asked = [self._service_ref(namespace)]
        http = {
            "backendRefs": asked,
            **draw.maybe(0.3, "path", "/check"),
            **draw.maybe(0.3, "headersToBackend", ["x-who"]),
            **draw.maybe(0.1, "pathOverride", "/check"),
        }
        return [
            {"authorization": self._authorization()},
            {"authorization": self._authorization(), "jwt": {"providers": [self._provider(namespace)]}},
            {
                "authorization": self._authorization(),
                "jwt": {"providers": [self._provider(namespace)], **draw.maybe(0.3, "optional", True)},
            },
            {"jwt": {"providers": [self._provider(namespace) for _ in range(draw.number(1, 2))]}},
            {
                "apiKeyAuth": {
                    "credentialRefs": keys,
                    "extractFrom": [draw.one({"headers": ["x-key"]}, {"cookies": ["k"]}, {"params": ["k"]})],
                    **draw.maybe(0.2, "forwardClientIDHeader", "x-client"),
                    **draw.maybe(0.2, "sanitize", True),
                }
            },
            {
                "basicAuth": {
                    "users": self._secret("users"),
                    **draw.maybe(0.2, "forwardUsernameHeader", draw.one("x-me", "x me")),
                }
            },
            {"oidc": oidc},
            {
                "extAuth": {
                    **draw.one({"http": http}, {"grpc": {"backendRefs": asked}}, {"grpc": {"backendRef": asked[0]}}),
                    **draw.maybe(0.3, "headersToExtAuth", ["x-a"]),
                    **draw.maybe(0.2, "bodyToExtAuth", {"maxRequestBytes": 4096}),
                    **draw.maybe(0.2, "contextExtensions", [context]),
                    **draw.maybe(0.2, "recomputeRoute", True),
                    **draw.maybe(0.1, "timeout", "2s"),
                }
            },
            {
                "cors": {
                    "allowOrigins": [draw.one("https://*.example", "*", "http://a.example:8080")],
                    **draw.maybe(0.5, "allowMethods", ["GET", draw.one("POST", "*")]),
                    **draw.maybe(0.5, "allowHeaders", ["x-a"]),
                    **draw.maybe(0.5, "allowCredentials", True),
                    **draw.maybe(0.3, "maxAge", "1h"),
                }
            },
            {
                "csrf": {
                    **draw.maybe(0.6, "additionalOrigins", draw.some(_ORIGINS, 2)),
                    **draw.maybe(0.3, "shadowFraction", {"numerator": draw.one(0, 40, 100)}),
                }
            },
        ]

    def _more_traffic(self, namespace: str) -> list[dict[str, Any]]:
        del namespace
        draw = self.draw
        limit = {"requests": draw.number(1, 50), "unit": draw.one("Second", "Minute", "Hour", "Day", "Month", "Year")}
        selectors = draw.one(
            [{"methods": [{"value": "GET"}]}],
            [{"path": {"type": draw.one("Exact", "PathPrefix", "RegularExpression"), "value": "/api"}}],
            [{"queryParams": [{"name": "v", "value": "1"}]}],
            [{"queryParams": [{"name": "v", "type": "Distinct"}]}],
            [{"sourceCIDR": {"value": draw.one("10.0.0.0/8", "10.0.0.0/99"), "type": draw.one("Exact", "Distinct")}}],
            [{"headers": [{"name": "x-user", "value": "me", "invert": True}]}],
            [
                {
                    "headers": [{"name": "x-user", "type": "Distinct"}],
                    "sourceCIDR": {"value": "::/0", "type": "Distinct"},
                }
            ],
            [{"headers": [{"name": "x-user", "value": "me"}]}, {"headers": [{"name": "x-team", "value": "a"}]}],
        )
        rule = {"clientSelectors": selectors, "limit": limit}
        rule |= draw.maybe(0.15, "shared", True) | draw.maybe(0.1, "shadowMode", True)
        rule |= draw.maybe(0.15, "cost", {"request": {"from": "Number", "number": draw.one(0, 2)}})
        of_type = draw.one("Local", "Global")
        probe = draw.one(
            {"type": "HTTP", "http": {"path": "/ready", **draw.maybe(0.4, "expectedStatuses", [200, 204])}},
            {"type": "TCP", "tcp": {}},
            {"type": "GRPC", "grpc": {"service": "shop.Cart"}},
            {"type": "HTTP"},
            {"type": "HTTP", "http": {"path": "/", "hostname": "up.example", "method": "HEAD"}},
        )
        text = draw.one(
            {"type": "Inline", "inline": "sorry"},
            {"type": "ValueRef", "valueRef": self._text("whole")},
            {"type": "ValueRef", "valueRef": self._text("ca", "text")},
        )
        told = draw.one(
            {"response": {"body": text, "contentType": "text/plain"}},
            {"response": {"statusCode": 503, "body": text}},
            {"redirect": {"hostname": "sorry.example", "statusCode": 302}},
        )
        balanced = draw.one(
            {"type": "Cookie", "cookie": {"name": "a", **draw.maybe(0.5, "ttl", "60s")}},
            {"type": "Header", "header": {"name": "x-user"}},
            {"type": "Headers", "headers": [{"name": "x-user"}]},
            {"type": "QueryParams", "queryParams": [{"name": "v"}]},
            {"type": "Cookie"},
        )
        status = draw.one({"value": 500}, {"type": "Range", "range": {"start": 500, "end": draw.one(599, 400)}})
        return [
            {"rateLimit": {"type": of_type, of_type.lower(): {"rules": [rule]}}},
            {"rateLimit": {"type": of_type, of_type.lower(): {"rules": [rule, {"limit": limit}]}}},
            {"rateLimit": {of_type.lower(): {"rules": [rule]}}},
            {"healthCheck": {"active": probe}},
            {"healthCheck": {"passive": {"consecutive5XxErrors": 5, "maxEjectionPercent": draw.one(10, 100)}}},
            {"healthCheck": {"panicThreshold": draw.one(0, 50)}},
            {
                "retry": {
                    "numRetries": 2,
                    "retryOn": draw.one(
                        {"triggers": ["5xx"]},
                        {"triggers": ["retriable-status-codes"], "httpStatusCodes": [503]},
                        {"httpStatusCodes": [503]},
                        {"triggers": ["retriable-status-codes"]},
                    ),
                }
            },
            {"retry": {"perRetry": {"timeout": "2s"}}},
            {"retry": {"perRetry": {"backOff": {"maxInterval": "9s"}}}},
            {"httpUpgrade": [{"type": draw.one("websocket", "CONNECT", "spdy/3.1")}]},
            {"loadBalancer": {"type": "ConsistentHash", "consistentHash": balanced}},
            {"loadBalancer": {"type": draw.one("RoundRobin", "Random"), "slowStart": {"window": "30s"}}},
            {"loadBalancer": {"type": "LeastRequest", "zoneAware": {"preferLocal": {"minEndpointsThreshold": 3}}}},
            {"loadBalancer": {"type": "RoundRobin", "endpointOverride": {"extractFrom": [{"header": "x-to"}]}}},
            {"loadBalancer": {"type": "BackendUtilization", **draw.maybe(0.7, "backendUtilization", {})}},
            {"proxyProtocol": {"version": draw.one("V1", "V2")}},
            {"tcpKeepalive": {"probes": 3, "idleTime": draw.one("20s", "20m")}},
            {"timeout": {"http": {"connectionIdleTimeout": "9s", "maxConnectionDuration": draw.one("9s", "1h")}}},
            {"timeout": {"http": {"maxStreamDuration": "9s", "streamIdleTimeout": "9s"}}},
            {"requestBuffer": {"limit": draw.one("32Ki", 1024, "5Gi")}},
            {"responseOverride": [{"match": {"statusCodes": [{"type": "Value", **status}]}, **told}]},
            {"responseOverride": [{"match": {"statusCodes": [{"value": 404}]}, **told}]},
            {"faultInjection": {"delay": {"fixedDelay": "10ms", "percentage": 5}}},
            {"faultInjection": {"abort": {"grpcStatus": 14, "percentage": 5}}},
            {"circuitBreaker": {"maxParallelRequests": 9, "perEndpoint": {"maxConnections": 2}}},
            {"dns": {"dnsRefreshRate": "30s", "lookupFamily": "IPv4"}},
            {"useClientProtocol": True},
            {"routingType": draw.one("Service", "Endpoint")},
            {"bandwidthLimit": {"request": {"limit": {"value": "1Mi", "unit": "Second"}}}},
            {"admissionControl": {"minSuccessRate": draw.one(90, 95)}},
            {"http2": {"maxConcurrentStreams": 50, "initialConnectionWindowSize": draw.one("1Mi", "1Ki")}},
            {"connection": {"preconnect": {"perEndpointPercent": 150, **draw.maybe(0.5, "predictivePercent", 120)}}},
            {"connection": {"socketBufferLimit": draw.one("32Ki", "5Gi")}},
            {"telemetry": {"tracing": {"samplingFraction": {"numerator": draw.one(1, 200)}}}},
            {"compressor": [{"type": "Gzip", "gzip": {}}, {"type": draw.one("Zstd", "Gzip")}]},
        ]

    def _more_client(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        ca: dict[str, Any] = draw.one(
            {"kind": "ConfigMap", "group": "", "name": "ca"},
            {"kind": "Secret", "group": "", "name": "ca"},
            {"name": draw.one("ca", "gone")},
            {"kind": "ConfigMap", "name": "ca", "namespace": draw.one("shop", "pay", namespace)},
            {"kind": "ConfigMap", "name": "whole", "namespace": draw.one("shop", namespace)},
        )
        validation: dict[str, Any] = {"caCertificateRefs": [ca]}
        validation |= draw.maybe(0.4, "mode", draw.one("Request", "RequireAny", "VerifyIfGiven", "RequireAndVerify"))
        validation |= draw.maybe(0.15, "allowExpiredCertificate", True)
        validation |= draw.maybe(0.2, "subjectAltNames", {"dnsNames": [{"type": "Exact", "value": "me.example"}]})
        validation |= draw.maybe(0.15, "crl", {"refs": [{"name": draw.one("ca", "gone")}]})
        if draw.often(0.15):
            validation |= {"spkiHashes": ["NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A="]}
            del validation["caCertificateRefs"]
        header = {"name": "x-by", "value": "client"}
        changes = draw.one(
            {"add": [header]},
            {"set": [header], "remove": ["x-old"]},
            {"addIfAbsent": [header]},
            {"add": [header], "set": [header]},
            {"removeOnMatch": [{"type": "Prefix", "value": "x-internal-"}]},
            {"add": [{"name": "x/by", "value": "a"}]},
            {},
        )
        return [
            {"tls": {"clientValidation": validation}},
            {"tls": {"clientValidation": validation, "minVersion": "1.2"}},
            {"tls": {"ciphers": ["ECDHE-RSA-AES128-GCM-SHA256"], **draw.maybe(0.3, "minVersion", "1.3")}},
            {"tls": {"alpnProtocols": draw.one(["h2"], ["http/1.1"], [])}},
            {"tls": {"session": {"resumption": draw.one({"stateless": {}}, {"stateful": {}})}}},
            {"tls": {"fingerprints": ["JA3"]}},
            {"clientIPDetection": {"customHeader": {"name": "x-real-ip", **draw.maybe(0.4, "failClosed", True)}}},
            {"clientIPDetection": {"directSourceIP": {}}},
            {"clientIPDetection": {"xForwardedFor": {"trustedCIDRs": [draw.one("127.0.0.0/8", "10.0.0.0/8")]}}},
            {"headers": {"earlyRequestHeaders": changes}},
            {"headers": {"lateResponseHeaders": changes}},
            {"headers": {"withUnderscoresAction": draw.one("Allow", "DropHeader")}},
            {"headers": {"requestID": draw.one("Preserve", "Generate"), **draw.maybe(0.3, "preserveXRequestID", True)}},
            {
                "headers": {
                    "xForwardedClientCert": {
                        "mode": draw.one("Sanitize", "AppendForward"),
                        **draw.maybe(0.5, "certDetailsToAdd", ["Subject"]),
                    }
                }
            },
            {"headers": {"maxRequestHeaderLimit": draw.one("64Ki", "16Mi")}},
            {"proxyProtocol": {"optional": draw.one(True, False)}},
            {"proxyProtocol": {"optional": True}, "enableProxyProtocol": True},
            {"path": {"disableMergeSlashes": True}},
            {"http1": {"http10": draw.one({}, {"useDefaultHost": True})}},
            {"http1": {"enableTrailers": True}},
            {
                "http2": {
                    "maxConcurrentStreams": 50,
                    **draw.maybe(0.5, "initialStreamWindowSize", draw.one("64Ki", "1Ki")),
                }
            },
            {"timeout": {"http": {"idleTimeout": "9s", "streamIdleTimeout": "9s"}}},
            {"timeout": {"tcp": {"idleTimeout": "9s"}}},
            {"healthCheck": {"path": "/ready"}},
            {"tcpKeepalive": {"probes": 3}},
            {"connection": {"connectionLimit": {"value": 9, "closeDelay": "1s"}}},
            {"connection": {"connectionLimit": {"closeDelay": "1s"}}},
            {"connection": {"socketBufferLimit": draw.one("32Ki", "5Gi"), "maxAcceptPerSocketEvent": 1}},
            {"scheme": {"transformation": "MatchBackend"}},
        ]

    def _more_extension(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        mode = {
            "request": {"body": draw.one("Buffered", "Streamed", "FullDuplexStreamed"), "attributes": ["request.path"]},
            **draw.maybe(0.4, "response", {}),
        }
        return [
            {
                "extProc": [
                    {
                        "backendRefs": [self._service_ref(namespace)],
                        "processingMode": mode,
                        **draw.maybe(0.3, "failOpen", draw.one(True, False)),
                        **draw.maybe(0.3, "messageTimeout", "2s"),
                    }
                ]
            },
            {"extProc": [{"backendRefs": [self._service_ref(namespace), self._service_ref(namespace)]}]},
            {"extProc": [{"backendRefs": [self._service_ref(namespace)], "metadata": {"writableNamespaces": ["a"]}}]},
            {"lua": [{"type": "ValueRef", "valueRef": self._text("whole", "text")}]},
            {"lua": [{"type": "Inline", "inline": "function envoy_on_response(h) end"}] * draw.number(1, 2)},
            {"lua": [{"type": "Inline", "inline": "local x = 1"}]},
            {"dynamicModule": [{"name": "own", "filterName": "f"}]},
        ]

    def _backend_tls(self, name: str) -> None:
        super()._backend_tls(name)
        draw, made = self.draw, self.objects[-1]["spec"]
        if draw.often(0.4):
            kind, _, backend, _ = draw.of(self.backends)
            made["targetRefs"].append({"group": GROUP if kind == "Backend" else "", "kind": kind, "name": backend})
        if draw.often(0.3):
            made["validation"]["subjectAltNames"] = [
                draw.one({"type": "Hostname", "hostname": "a.example"}, {"type": "URI", "uri": "spiffe://a/b"})
            ]
        if draw.often(0.15) and "caCertificateRefs" in made["validation"]:
            made["validation"]["caCertificateRefs"].append({"group": "", "kind": "ConfigMap", "name": "whole"})
        if draw.often(0.1):
            made["options"] = {"example.net/own": "yes"}

    def _grants(self) -> None:
        super()._grants()
        draw = self.draw
        for kind, to in draw.some(
            (
                ("SecurityPolicy", "Secret"),
                ("SecurityPolicy", "Backend"),
                ("ClientTrafficPolicy", "ConfigMap"),
                ("EnvoyExtensionPolicy", "Service"),
                ("EnvoyExtensionPolicy", "Backend"),
                ("GRPCRoute", "Service"),
                ("HTTPRoute", "Backend"),
                ("Backend", "Secret"),
            ),
            2,
        ):
            source = {
                "group": GATEWAY_API if kind.endswith("Route") else GROUP,
                "kind": kind,
                "namespace": draw.one("shop", "pay", "infra"),
            }
            target = {"group": GROUP if to == "Backend" else "", "kind": to}
            name, namespace = f"{kind.lower()}-{to.lower()}", draw.one("shop", "pay", "infra")
            self._add("ReferenceGrant", name, namespace, {"from": [source], "to": [target]})
