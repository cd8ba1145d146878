"""A grammar of worlds for Envoy Gateway: Gateways, listeners, routes of every kind, policies in every way to attach."""

from __future__ import annotations

from typing import Any

from tests.witness.grammar import Draw, Manifest, manifest

GATEWAY_API = "gateway.networking.k8s.io"
GROUP = "gateway.envoyproxy.io"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n"
"""What stands for a certificate in a world; a live run puts one of its own in its place, as it does with the key."""
PRIVATE_KEY = CERTIFICATE.replace("CERTIFICATE", "PRIVATE KEY").replace("TUlJQg", "TUlJRQ")
KEY = "c2hvcC1zaG9wLXNob3Atc2hvcC1zaG9wLXNob3AtMTI"
"""What signs the tokens of the requests: a key for these worlds alone, `shop-shop-shop-shop-shop-shop-12`."""
JWKS = '{"keys": [{"kty": "oct", "alg": "HS256", "kid": "one", "k": "' + KEY + '"}]}'
NAMESPACES = {"infra": {"team": "platform"}, "shop": {"team": "shop", "open": "yes"}, "pay": {"team": "pay"}}
HOSTS = ("shop.example", "api.shop.example", "*.shop.example", "pay.example", "*.example")
PORTS = {"HTTP": (80, 8080), "HTTPS": (443, 8443), "TLS": (443, 6443), "TCP": (9000, 9001), "UDP": (5300, 9000)}
KINDS = {
    "HTTP": ("HTTPRoute", "GRPCRoute"),
    "HTTPS": ("HTTPRoute", "GRPCRoute"),
    "TLS": ("TLSRoute", "TCPRoute"),
    "TCP": ("TCPRoute",),
    "UDP": ("UDPRoute",),
}
ROUTES = ("HTTPRoute", "HTTPRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
RULE_NAMES = ("main", "admin", "rest")
PATHS = ("/", "/admin", "/api", "/api/v1", "/cart")


class Builder:
    """What was made so far, which later objects name; and the choices."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.objects: list[Manifest] = []
        self.holders: list[Manifest] = []
        self.routes: list[Manifest] = []
        self.backends: list[tuple[str, str, str, int]] = []
        """Kind, namespace, name and port of what a rule may name."""

    def build(self) -> list[Manifest]:
        draw = self.draw
        for name, labels in NAMESPACES.items():
            self.objects.append(manifest("v1", "Namespace", name, labels=labels))
        self.objects.append(
            manifest(f"{GATEWAY_API}/v1", "GatewayClass", "eg", spec={"controllerName": CONTROLLER, **self._proxy()})
        )
        self._material()
        for name in draw.some(("edge", "inner", "third"), 2):
            self._gateway(name)
        for name in draw.some(("more", "extra"), 2, 0) if draw.often(0.4) else []:
            self._listener_set(name)
        for name in draw.some(("alpha", "beta", "gamma", "delta", "omega"), 4):
            self._route(name)
        for name in draw.some(("p1", "p2", "p3", "p4", "p5", "p6", "p7"), 6):
            self._policy(name)
        for name in draw.some(("t1", "t2", "t3"), 2, 0):
            self._backend_tls(name)
        if draw.often(0.5):
            self._grants()
        return self.objects

    def _proxy(self) -> dict[str, Any]:
        if not self.draw.often(0.1):
            return {}
        spec = {"mergeGateways": self.draw.often(0.8)}
        self.objects.append(manifest(f"{GROUP}/v1alpha1", "EnvoyProxy", "proxy", "infra", spec=spec))
        reference = {"group": GROUP, "kind": "EnvoyProxy", "name": "proxy", "namespace": "infra"}
        return {"parametersRef": reference}

    def _add(self, kind: str, name: str, namespace: str, spec: Any, labels: Any = None) -> Manifest:
        version = {"BackendTLSPolicy": "v1", "ReferenceGrant": "v1beta1"}.get(kind, "v1")
        policies = kind.endswith("Policy") and kind != "BackendTLSPolicy"
        api = f"{GROUP}/v1alpha1" if policies or kind in ("Backend", "HTTPRouteFilter") else f"{GATEWAY_API}/{version}"
        made = manifest(api, kind, name, namespace, self.draw.age(), labels, spec=spec)
        self.objects.append(made)
        return made

    def _material(self) -> None:
        """Services, Backends, Secrets and ConfigMaps; some of what is named later is not here."""
        draw = self.draw
        for namespace in NAMESPACES:  # so that nothing of their kinds is out of sight
            self.objects.append(manifest("v1", "Secret", "filler", namespace, stringData={"a": "b"}))
            self.objects.append(manifest("v1", "ConfigMap", "filler", namespace, data={"a": "b"}))
            self.objects.append(manifest("v1", "Service", "filler", namespace, spec={"ports": [{"port": 1}]}))
        for namespace in ("shop", "pay"):
            for name in ("web", "api"):
                if draw.often(0.85):
                    ports = [{"name": "http", "port": 80}, {"name": "grpc", "port": 9090}][: draw.number(1, 2)]
                    if draw.often(0.2):
                        ports.append({"name": "dns", "port": 53, "protocol": "UDP"})
                    cluster = f"10.9.{len(namespace)}.{len(self.backends) + 1}"
                    spec = {"ports": ports, "clusterIP": cluster}
                    self.objects.append(manifest("v1", "Service", name, namespace, spec=spec))
                for port in (80, 9090, 81):
                    self.backends.append(("Service", namespace, name, port))
        if draw.often(0.4):
            self._backend()
        tls = {"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY}
        for name, namespace, data in (
            ("cert", "infra", tls),
            ("cert", "shop", tls),
            ("users", "shop", {".htpasswd": "me:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=\n"}),
            ("users", "infra", {".htpasswd": "me:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=\n"}),
            ("wrong", "shop", {".htpasswd": "me:plain\n"}),
            ("keys", "shop", {"me": "k-1", "you": "k-2"}),
            ("client", "shop", {"client-secret": "s3cret"}),
        ):
            if draw.often(0.9):
                kind = {"type": "kubernetes.io/tls"} if "tls.crt" in data else {}
                self.objects.append(manifest("v1", "Secret", name, namespace, stringData=data, **kind))
        for namespace in ("shop", "pay"):
            if draw.often(0.8):
                data = {"ca.crt": CERTIFICATE} if draw.often(0.8) else {"other": "x", "more": "y"}
                self.objects.append(manifest("v1", "ConfigMap", "ca", namespace, data=data))
        if draw.often(0.7):
            data = {"jwks": JWKS, "lua": "function envoy_on_request(h) end"}
            self.objects.append(manifest("v1", "ConfigMap", "text", "shop", data=data))

    def _backend(self) -> None:
        namespace, form = self.draw.one("shop", "pay"), self.draw.one("ip", "fqdn", "unix", "dynamic")
        endpoints: dict[str, Any] = {
            "ip": {"endpoints": [{"ip": {"address": "192.0.2.9", "port": 3000}}]},
            "fqdn": {"endpoints": [{"fqdn": {"hostname": "up.example", "port": 443}}]},
            "unix": {"endpoints": [{"unix": {"path": "/run/up.sock"}}]},
            "dynamic": {"type": "DynamicResolver"},
        }[form]
        tls = self.draw.maybe(0.2, "tls", {"insecureSkipVerify": True})
        self._add("Backend", "up", namespace, {**endpoints, **tls})
        self.backends += [("Backend", namespace, "up", 0)] * 3

    # Gateways and what they hold

    def _gateway(self, name: str) -> None:
        draw = self.draw
        listeners = [self._listener(each) for each in draw.some(("web", "tls", "tcp", "udp", "alt"), 4)]
        spec = {"gatewayClassName": "eg" if draw.often(0.95) else "other", "listeners": listeners}
        if draw.often(0.75):
            spec["allowedListeners"] = {"namespaces": draw.one({"from": "All"}, {"from": "Same"}, *self._selecting())}
        if draw.often(0.05):
            spec["addresses"] = [{"type": "example.net/own", "value": "one"}]
        labels = draw.one(None, {"tier": "front"}, {"tier": "back"})
        self.holders.append(self._add("Gateway", name, "infra" if draw.often(0.8) else "shop", spec, labels))

    def _listener_set(self, name: str) -> None:
        draw = self.draw
        gateway = draw.of(self.holders)["metadata"]
        wanted = gateway["name"] if draw.often(0.9) else "missing"
        listeners = [self._listener(each) for each in draw.some(("web", "own", "late"), 2)]
        parent = {"name": wanted, "namespace": gateway["namespace"]}
        spec = {"parentRef": parent, "listeners": listeners}
        labels = draw.one(None, {"tier": "front"})
        self.holders.append(self._add("ListenerSet", name, draw.one("shop", "infra", "pay"), spec, labels))

    def _selecting(self) -> list[dict[str, Any]]:
        label = {"matchLabels": {"open": "yes"}}
        expression = {"matchExpressions": [{"key": "team", "operator": "In", "values": ["shop", "pay"]}]}
        return [{"from": "Selector", "selector": label}, {"from": "Selector", "selector": expression}]

    def _listener(self, name: str) -> dict[str, Any]:
        draw = self.draw
        fitting = {"tls": ("HTTPS", "TLS"), "tcp": ("TCP",), "udp": ("UDP",)}.get(name, ("HTTP", "HTTP", "HTTPS"))
        protocol = draw.of(fitting)
        made: dict[str, Any] = {"name": name, "port": draw.of(PORTS[protocol]), "protocol": protocol}
        if protocol in ("HTTP", "HTTPS", "TLS") and draw.often(0.5):
            made["hostname"] = draw.of(HOSTS)
        if protocol in ("HTTPS", "TLS"):
            mode = "Passthrough" if protocol == "TLS" and draw.often(0.6) else draw.one("Terminate", None)
            made["tls"] = {
                **({"mode": mode} if mode else {}),
                **({"certificateRefs": [self._certificate()]} if mode != "Passthrough" else {}),
            }
        allowed: dict[str, Any] = {}
        if draw.often(0.8):
            allowed["namespaces"] = draw.one(
                {"from": "All"}, {"from": "All"}, {"from": "All"}, {"from": "Same"}, *self._selecting()
            )
        if draw.often(0.2):
            allowed["kinds"] = [{"kind": kind} for kind in draw.some((*KINDS[protocol], "HTTPRoute", "TLSRoute"), 2)]
        return {**made, **({"allowedRoutes": allowed} if allowed else {})}

    def _certificate(self) -> dict[str, Any]:
        draw = self.draw
        reference: dict[str, Any] = {"name": "cert" if draw.often(0.9) else "missing"}
        if draw.often(0.2):
            reference["namespace"] = draw.one("shop", "infra")
        return reference

    # Routes

    def _route(self, name: str) -> None:
        draw = self.draw
        kind = draw.of(ROUTES)
        namespace = draw.one("shop", "shop", "infra", "pay")
        parents = [self._parent(namespace, holder) for holder in draw.some(self.holders, 2)]
        if draw.often(0.1):
            parents.append(self._parent(namespace, draw.of(self.holders)))
        spec: dict[str, Any] = {"parentRefs": parents}
        if kind in ("HTTPRoute", "GRPCRoute", "TLSRoute") and (kind == "TLSRoute" or draw.often(0.5)):
            spec["hostnames"] = draw.some(HOSTS, 2)
        names = draw.some(RULE_NAMES, 3 if kind in ("HTTPRoute", "GRPCRoute") else 1)
        spec["rules"] = [self._rule(kind, each, namespace) for each in names]
        labels = draw.one(None, {"tier": "front"}, {"tier": "back"})
        self.routes.append(self._add(kind, name, namespace, spec, labels))

    def _parent(self, namespace: str, holder: Manifest) -> dict[str, Any]:
        draw = self.draw
        parent: dict[str, Any] = {"name": holder["metadata"]["name"] if draw.often(0.93) else "missing"}
        if holder["kind"] == "ListenerSet":
            parent |= {"group": GATEWAY_API, "kind": "ListenerSet"}
        if holder["metadata"]["namespace"] != namespace or draw.often(0.2):
            parent["namespace"] = holder["metadata"]["namespace"]
        listener = draw.of(holder["spec"]["listeners"])
        if draw.often(0.4):
            parent["sectionName"] = listener["name"] if draw.often(0.9) else "nowhere"
        if draw.often(0.1):
            parent["port"] = listener["port"] if draw.often(0.7) else 81
        return parent

    def _rule(self, kind: str, name: str, namespace: str) -> dict[str, Any]:
        draw = self.draw
        made: dict[str, Any] = {"name": name} if draw.often(0.85) else {}
        if kind == "HTTPRoute" and draw.often(0.8):
            made["matches"] = [self._match() for _ in range(draw.number(1, 2))]
        if kind == "GRPCRoute" and draw.often(0.6):
            method = draw.one({"service": "shop.Cart"}, {"service": "shop.Cart", "method": "Add"}, {"method": "Get"})
            made["matches"] = [{"method": {"type": draw.one("Exact", "RegularExpression"), **method}}]
        references = [self._backend_ref(namespace, kind) for _ in range(draw.one(1, 1, 1, 2, 0))]
        if kind == "HTTPRoute" and draw.often(0.25):
            filters = self._filters(namespace)
            made["filters"] = filters
            if any(each["type"] == "RequestRedirect" for each in filters):
                references = []
        if kind == "HTTPRoute" and draw.often(0.15):
            made["timeouts"] = {"request": f"{draw.number(1, 20)}s"}
        if references:
            made["backendRefs"] = references
        return made

    def _match(self) -> dict[str, Any]:
        draw = self.draw
        match: dict[str, Any] = {}
        if draw.often(0.8):
            match["path"] = {"type": draw.one("PathPrefix", "PathPrefix", "Exact"), "value": draw.of(PATHS)}
            if draw.often(0.1):
                match["path"] = {"type": "RegularExpression", "value": "/v[0-9]+/.*"}
        if draw.often(0.2):
            match["method"] = draw.one("GET", "POST", "DELETE")
        if draw.often(0.25):
            match["headers"] = [{"name": "x-canary", "value": draw.one("yes", "no")}]
            if draw.often(0.3):
                match["headers"][0]["type"] = "RegularExpression"
        if draw.often(0.15):
            match["queryParams"] = [{"name": "v", "value": draw.one("1", "2")}]
        return match

    def _backend_ref(self, namespace: str, kind: str = "") -> dict[str, Any]:
        draw = self.draw
        local = [each for each in self.backends if each[1] == namespace]
        of_kind, there, name, port = draw.of(local if local and draw.often(0.75) else self.backends)
        reference: dict[str, Any] = {"name": name if draw.often(0.95) else "gone"}
        if of_kind == "Backend":
            reference |= {"group": GROUP, "kind": "Backend"}
        else:
            if port == 81 and draw.often(0.7):
                port = 80
            if kind == "UDPRoute" and draw.often(0.7):
                port = 53
            reference["port"] = port
            if draw.often(0.02):
                reference["kind"] = "Unheard"
        if there != namespace:
            reference["namespace"] = there
        if draw.often(0.15):
            reference["weight"] = draw.one(0, 1, 5)
        return reference

    def _filters(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        header = {"set": [{"name": "x-by", "value": "edge"}]}
        direct = {"type": "ExtensionRef", "extensionRef": {"group": GROUP, "kind": "HTTPRouteFilter", "name": "teapot"}}
        if draw.often(0.7) and not any(each["kind"] == "HTTPRouteFilter" for each in self.objects):
            self._add("HTTPRouteFilter", "teapot", namespace, {"directResponse": {"statusCode": 418}})
        return draw.some(
            (
                {"type": "RequestHeaderModifier", "requestHeaderModifier": header},
                {"type": "ResponseHeaderModifier", "responseHeaderModifier": header},
                {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}},
                {"type": "URLRewrite", "urlRewrite": {"hostname": "inside.example"}},
                {"type": "RequestMirror", "requestMirror": {"backendRef": self._backend_ref(namespace)}},
                {"type": "CORS", "cors": {"allowOrigins": ["https://www.example"]}},
                direct,
            ),
            1 if draw.often(0.7) else 2,
        )

    # Policies

    def _policy(self, name: str) -> None:
        draw = self.draw
        kind = draw.one(
            "SecurityPolicy",
            "SecurityPolicy",
            "BackendTrafficPolicy",
            "BackendTrafficPolicy",
            "ClientTrafficPolicy",
            "EnvoyExtensionPolicy",
            "EnvoyPatchPolicy",
        )
        if kind == "EnvoyPatchPolicy" and not draw.often(0.4):
            kind = "SecurityPolicy"
        if kind == "EnvoyPatchPolicy":
            self._patch(name)
            return
        pool = self.holders if kind == "ClientTrafficPolicy" or draw.often(0.4) else self.routes
        if kind == "ClientTrafficPolicy" and draw.often(0.03):
            pool = self.routes
        aimed = draw.of(pool)
        namespace = aimed["metadata"]["namespace"] if draw.often(0.93) else draw.one("infra", "shop", "pay")
        spec = self._targets(aimed, pool) | self._settings(kind, namespace)
        if draw.often(0.3) and kind != "ClientTrafficPolicy" and (pool is self.routes or draw.often(0.05)):
            spec["mergeType"] = draw.one("StrategicMerge", "JSONMerge")
        self._add(kind, name, namespace, spec)

    def _targets(self, aimed: Manifest, pool: list[Manifest]) -> dict[str, Any]:
        draw = self.draw
        if draw.often(0.15):
            selector: dict[str, Any] = {"kind": aimed["kind"], "group": GATEWAY_API}
            selector |= draw.one(
                {"matchLabels": {"tier": "front"}},
                {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                {"matchLabels": {"tier": "back"}},
            )
            if draw.often(0.3):
                selector["namespaces"] = draw.one(
                    {"from": "All"},
                    {"from": "Same"},
                    {"from": "Selector", "selector": {"matchLabels": {"open": "yes"}}},
                )
            return {"targetSelectors": [selector]}
        references = [self._target(aimed)]
        near = [each for each in pool if each["metadata"]["namespace"] == aimed["metadata"]["namespace"]]
        if draw.often(0.2):
            references.append(self._target(draw.of(near)))
        if draw.often(0.1):
            return {"targetRef": references[0]}
        return {"targetRefs": references}

    def _target(self, aimed: Manifest) -> dict[str, Any]:
        draw = self.draw
        name = aimed["metadata"]["name"] if draw.often(0.95) else "missing"
        reference = {"group": GATEWAY_API, "kind": aimed["kind"], "name": name}
        if draw.often(0.35):
            parts = aimed["spec"].get("listeners") or aimed["spec"]["rules"]
            reference["sectionName"] = draw.of(parts).get("name", "main") if draw.often(0.9) else "nowhere"
        return reference

    def _patch(self, name: str) -> None:
        draw = self.draw
        holder = draw.of(self.holders)["metadata"]
        target = draw.one(
            {"group": GATEWAY_API, "kind": "Gateway", "name": holder["name"]},
            {"group": GATEWAY_API, "kind": "Gateway", "name": holder["name"]},
            {"group": GATEWAY_API, "kind": "GatewayClass", "name": "eg"},
        )
        operation = {"op": "add", "path": "/per_connection_buffer_limit_bytes", "value": 1024}
        patch = {
            "type": "type.googleapis.com/envoy.config.listener.v3.Listener",
            "name": f"{holder['namespace']}/{holder['name']}/web",
            "operation": operation,
        }
        spec = {"type": "JSONPatch", "targetRef": target, "priority": draw.number(0, 2), "jsonPatches": [patch]}
        self._add("EnvoyPatchPolicy", name, holder["namespace"], spec)

    def _settings(self, kind: str, namespace: str) -> dict[str, Any]:
        options = {
            "SecurityPolicy": self._security,
            "BackendTrafficPolicy": self._traffic,
            "ClientTrafficPolicy": self._client,
            "EnvoyExtensionPolicy": self._extension,
        }[kind](namespace)
        settings: dict[str, Any] = {}
        for each in self.draw.some(options, 2):
            settings |= each
        return settings

    def _security(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        remote = {"uri": draw.one("https://id.example/jwks", "https://id.example/jwks", "id.example")}
        local = {"type": "ValueRef", "valueRef": {"group": "", "kind": "ConfigMap", "name": draw.one("text", "gone")}}
        inline = {"type": "Inline", "inline": JWKS}
        provider: dict[str, Any] = {"name": draw.one("id", "id", "a b")}
        provider |= draw.one({"remoteJWKS": remote}, {"localJWKS": local}, {"localJWKS": inline})
        provider |= draw.maybe(0.4, "issuer", draw.one("https://id.example", "not:a url"))
        keys = {"name": draw.one("keys", "keys", "gone")}
        reached = [self._backend_ref(namespace)]
        rule: dict[str, Any] = {
            "action": draw.one("Allow", "Deny"),
            "principal": {"clientCIDRs": [draw.one("127.0.0.0/30", "10.0.0.0/8")]},
        }
        if draw.often(0.2):
            rule["principal"] = {"jwt": {"provider": "id", "claims": [{"name": "sub", "values": ["me"]}]}}
        oidc = {
            "provider": {
                "issuer": "https://id.example",
                "authorizationEndpoint": "https://id.example/auth",
                "tokenEndpoint": draw.one("https://id.example/token", "https://192.0.2.1/token"),
            },
            "clientID": "shop",
            "clientSecret": {"name": draw.one("client", "client", "gone")},
            **draw.maybe(0.3, "redirectURL", draw.one("https://shop.example/back", "https://shop.example/", "/back")),
            **draw.maybe(0.1, "passThroughAuthHeader", True),
        }
        ext_auth: dict[str, Any] = draw.one({"http": {"backendRefs": reached}}, {"grpc": {"backendRefs": reached}})
        return [
            {"cors": {"allowOrigins": [draw.one("https://www.example", "https://*.example", "*")]}},
            {"jwt": {"providers": [provider] * (2 if draw.often(0.05) else 1), **draw.maybe(0.2, "optional", True)}},
            {"basicAuth": {"users": {"name": draw.one("users", "users", "wrong", "gone")}}},
            {
                "apiKeyAuth": {
                    "credentialRefs": [keys] * (2 if draw.often(0.2) else 1),
                    "extractFrom": [
                        draw.one({"headers": ["x-key"]}, {"params": ["k"]}, {"headers": ["x-key"], "params": ["k"]})
                    ],
                }
            },
            {"oidc": oidc},
            {"extAuth": {**ext_auth, **draw.maybe(0.3, "failOpen", draw.one(True, False))}},
            {
                "authorization": {
                    **draw.maybe(0.7, "defaultAction", draw.one("Allow", "Deny")),
                    **draw.maybe(0.85, "rules", [rule]),
                }
            },
            {"authorization": {"defaultAction": "Deny", "rules": [rule]}},
        ]

    def _traffic(self, namespace: str) -> list[dict[str, Any]]:
        del namespace
        draw = self.draw
        limit = {"requests": draw.number(1, 50), "unit": draw.one("Second", "Minute", "Hour")}
        selector: dict[str, Any] = draw.one(
            {"headers": [{"name": "x-user", "value": "me"}]},
            {"headers": [{"name": "x-user", "type": "Distinct"}]},
            {"headers": [{"name": "x-user", "type": "RegularExpression", "value": draw.one("a.*", "(?!a)")}]},
            {"sourceCIDR": {"value": "10.0.0.0/8"}},
            {},
        )
        chosen = [{"limit": limit, **draw.maybe(0.7, "clientSelectors", [selector])} for _ in range(draw.number(1, 2))]
        of_type = draw.one("Local", "Global")
        return [
            {"timeout": {"http": {"requestTimeout": f"{draw.number(1, 60)}s"}}},
            {"timeout": {"tcp": {"connectTimeout": f"{draw.number(1, 60)}s"}}},
            {"retry": {"numRetries": draw.number(1, 9)}},
            {
                "retry": {
                    "numRetries": 2,
                    "perRetry": {"backOff": {"baseInterval": "2s", "maxInterval": draw.one("1s", "9s")}},
                }
            },
            {"loadBalancer": {"type": draw.one("Random", "RoundRobin", "LeastRequest")}},
            {
                "loadBalancer": {
                    "type": "ConsistentHash",
                    "consistentHash": {"type": "SourceIP", **draw.maybe(0.5, "tableSize", draw.one(1021, 1000))},
                }
            },
            {"circuitBreaker": {"maxConnections": draw.number(1, 99)}},
            {"faultInjection": {"abort": {"httpStatus": 503, "percentage": 5}}},
            {"connection": {"bufferLimit": draw.one("32Ki", "5Gi")}},
            {"http2": {"initialStreamWindowSize": draw.one("64Ki", "1Ki")}},
            {"compression": [{"type": draw.one("Gzip", "Brotli")}]},
            {"compressor": [{"type": draw.one("Gzip", "Brotli")}]},
            {"rateLimit": {"type": of_type, of_type.lower(): {"rules": chosen}}},
            {"responseOverride": [{"match": {"statusCodes": [{"value": 404}]}, "response": {"statusCode": 200}}]},
        ]

    def _client(self, namespace: str) -> list[dict[str, Any]]:
        del namespace
        draw = self.draw
        ca = {"kind": "ConfigMap", "group": "", "name": draw.one("ca", "gone")}
        validation = {"caCertificateRefs": [ca], **draw.maybe(0.3, "optional", True)}
        return [
            {"timeout": {"http": {"requestReceivedTimeout": f"{draw.number(1, 60)}s"}}},
            {"enableProxyProtocol": True},
            {"headers": {"preserveXRequestID": True}},
            {"headers": {"enableEnvoyHeaders": True}},
            {"path": {"escapedSlashesAction": draw.one("UnescapeAndForward", "RejectRequest")}},
            {"clientIPDetection": {"xForwardedFor": {"numTrustedHops": draw.number(1, 2)}}},
            {"connection": {"connectionLimit": {"value": draw.number(1, 99)}}},
            {"connection": {"bufferLimit": draw.one("32Ki", "5Gi")}},
            {"http1": {"preserveHeaderCase": True}},
            {"http3": {}},
            {"tls": {"minVersion": draw.one("1.2", "1.3")}},
            {"tls": {"clientValidation": validation}},
            {"tls": {"minVersion": "1.3", "maxVersion": "1.2"}},
        ]

    def _extension(self, namespace: str) -> list[dict[str, Any]]:
        draw = self.draw
        reached = [self._backend_ref(namespace)]
        lua = "function envoy_on_request(h) end"
        text = {"kind": "ConfigMap", "group": "", "name": draw.one("text", "gone", "ca")}
        return [
            {"extProc": [{"backendRefs": reached, **draw.maybe(0.3, "failOpen", draw.one(True, False))}]},
            {"lua": [{"type": "Inline", "inline": draw.one(lua, lua, "function (")}]},
            {"lua": [{"type": "ValueRef", "valueRef": text}]},
        ]

    def _backend_tls(self, name: str) -> None:
        draw = self.draw
        kind, namespace, backend, _ = draw.of(self.backends)
        target = {"group": GROUP if kind == "Backend" else "", "kind": kind, "name": backend}
        if kind == "Service" and draw.often(0.4):
            target["sectionName"] = draw.one("http", "grpc", "nowhere")
        ca: dict[str, Any] = draw.one(
            {"wellKnownCACertificates": "System"},
            {"caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": draw.one("ca", "gone")}]},
            {"caCertificateRefs": [{"group": "", "kind": draw.one("Secret", "Unheard"), "name": "cert"}]},
        )
        spec = {"targetRefs": [target], "validation": {"hostname": "inside.example", **ca}}
        self._add("BackendTLSPolicy", name, namespace if draw.often(0.95) else "infra", spec)

    def _grants(self) -> None:
        draw = self.draw
        for namespace in draw.some(("shop", "pay", "infra"), 2):
            kind = draw.one("HTTPRoute", "TCPRoute", "Gateway", "SecurityPolicy", "BackendTrafficPolicy")
            source = {
                "group": GROUP if kind.endswith("Policy") else GATEWAY_API,
                "kind": kind,
                "namespace": draw.one("shop", "pay", "infra"),
            }
            to = draw.one(
                {"group": "", "kind": "Service"},
                {"group": "", "kind": "Secret"},
                {"group": GATEWAY_API, "kind": "HTTPRoute"},
                {"group": GROUP, "kind": "Backend"},
            )
            self._add("ReferenceGrant", f"grant-{namespace}", namespace, {"from": [source], "to": [to]})
