"""Kong Ingress Controller: which plugins run for a request, by annotation, filter and label."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_STATE = "github.com/Kong/kubernetes-ingress-controller @ 5ac739ba6 internal/dataplane/kongstate/kongstate.go"
SOURCES = {
    "global": f"{_STATE}, globalKongClusterPlugins",
    "relations": f"{_STATE}, getPluginRelations",
    "missing": f"{_STATE}, buildPlugins: a plugin that cannot be fetched is logged, and the route stands",
    "filters": "the same, internal/dataplane/translator/subtranslator/httproute.go, generateExtensionRefKongPlugin",
    "alike": "the same, internal/dataplane/translator/ingressrules.go, collectInconsistentAnnotations",
    "classes": "developer.konghq.com/kubernetes-ingress-controller/class-annotations (3.5)",
    "precedence": "developer.konghq.com/gateway/entities/plugin, «Plugin precedence» (3.11)",
    "authentication": "developer.konghq.com/gateway/authentication, «Multiple authentication» (3.11)",
}
REQUEST = {"host": "shop.example"}
GROUP = "configuration.konghq.com"
CONTROLLER = "konghq.com/kic-gateway-controller"
PLUGINS = "konghq.com/plugins: "
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
PLAIN = f"rules: [{{{BACKENDS}}}]"


def filtering(kind: str = "KongPlugin") -> str:
    named = f"{{type: ExtensionRef, extensionRef: {{group: {GROUP}, kind: {kind}, name: login}}}}"
    return f"rules: [{{filters: [{named}], {BACKENDS}}}]"


def base(route: str = PLAIN, annotations: str = "", service: str = "", controller: str = CONTROLLER) -> tuple[str, ...]:
    """A route through a Gateway of Kong; `annotations` are the route's, `service` those of its Service."""
    annotated = service and f"annotations: {{{service}}}"
    return (
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route(more=route, annotations=annotations),
        worlds.manifest("v1", "Service", "checkout", "shop", "spec: {ports: [{name: http, port: 80}]}", more=annotated),
    )


BASE = base()


def plugin(name: str, does: str, more: str = "", namespace: str = "shop") -> str:
    return worlds.manifest(f"{GROUP}/v1", "KongPlugin", name, namespace, f"plugin: {does}\n{more}")


def cluster_plugin(name: str, does: str, *, everywhere: str = "", of_class: str = "kong") -> str:
    annotation = of_class and f"annotations: {{kubernetes.io/ingress.class: {of_class}}}"
    label = everywhere and f"labels: {{global: '{everywhere}'}}"
    more = ", ".join(filter(None, (annotation, label)))
    return worlds.manifest(f"{GROUP}/v1", "KongClusterPlugin", name, body=f"plugin: {does}", more=more)


EVERYWHERE = cluster_plugin("all", "key-auth", everywhere="true")
GRANT = worlds.grant(
    "back", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}", "{group: '', kind: Service}"
)
BEHIND = (
    worlds.gateway_class("any", CONTROLLER), worlds.gateway(),
    worlds.route(more="rules: [{backendRefs: [{name: checkout, namespace: back, port: 80}]}]"), GRANT,
    worlds.manifest("v1", "Service", "checkout", "back", "spec: {ports: [{port: 80}]}",
                    more=f"annotations: {{{PLUGINS}login}}"),
)  # fmt: skip
GATEWAY_NAMES_IT = (
    *base()[:1], worlds.gateway().replace("namespace: infra", f"namespace: infra, annotations: {{{PLUGINS}login}}"),
    *base()[2:],
)  # fmt: skip
TWO = "rules: [{backendRefs: [{name: checkout, port: 80}, {name: other, port: 80}]}]"


def two(first: str, second: str = "") -> tuple[str, ...]:
    """A rule with two Services and their annotations."""
    annotated = second and f"annotations: {{{second}}}"
    other = worlds.manifest("v1", "Service", "other", "shop", "spec: {ports: [{name: http, port: 80}]}", more=annotated)
    return (*base(TWO, service=first), other)


OPTIONAL = "config: {anonymous: guest}"
WORLDS = {
    "a global plugin runs for every request": Predicted("global", (EVERYWHERE,), "allowed, key-auth required"),
    "a label that says no": Predicted(
        "global", (cluster_plugin("all", "key-auth", everywhere="false"),), "allowed"),
    "of two global plugins of a sort none runs": Predicted(
        "global", (EVERYWHERE, cluster_plugin("again", "key-auth", everywhere="true")), "allowed"),
    "two global plugins of two sorts": Predicted(
        "global", (EVERYWHERE, cluster_plugin("again", "jwt", everywhere="true")),
        "allowed, jwt and key-auth required"),
    "the route's plugin before a global one of its sort": Predicted(
        "precedence", (EVERYWHERE, plugin("login", "key-auth", OPTIONAL)), "allowed, key-auth not required",
        base=base(annotations=f"{PLUGINS}login")),
    "the Service's plugin before a global one of its sort": Predicted(
        "precedence", (EVERYWHERE, plugin("login", "key-auth", OPTIONAL)), "allowed, key-auth not required",
        base=base(service=f"{PLUGINS}login")),
    "a global plugin beside one of another sort": Predicted(
        "precedence", (EVERYWHERE, plugin("limit", "rate-limiting")), "allowed, key-auth required",
        base=base(annotations=f"{PLUGINS}limit")),
    "a global plugin at another controller's Gateway": Predicted(
        "global", (EVERYWHERE,), "allowed", base=base(controller="traefik.io/gateway-controller")),
    "a KongPlugin is not global": Predicted(
        "global", (plugin("all", "key-auth").replace("namespace: shop", "namespace: shop, labels: {global: 'true'}"),),
        "allowed"),
    "whether a cluster plugin without a class is read is not known": Predicted(
        "classes", (cluster_plugin("login", "key-auth", of_class=""),), "allowed",
        base=base(annotations=f"{PLUGINS}login")),
    "nor whether a global one is": Predicted(
        "classes", (cluster_plugin("all", "key-auth", everywhere="true", of_class=""),), "allowed"),
    "a filter that names no plugin is left out": Predicted(
        "missing", (plugin("other", "cors"), cluster_plugin("all", "cors")), "allowed", lint=("GWP406",),
        base=base(filtering())),
    "a filter may name a cluster plugin": Predicted(
        "filters", (cluster_plugin("login", "key-auth"),), "allowed, key-auth required", base=base(filtering())),
    "filter and annotation together": Predicted(
        "filters", (plugin("login", "key-auth"), plugin("limit", "jwt")), "allowed, jwt and key-auth required",
        base=base(filtering(), f"{PLUGINS}limit")),
    "a plugin of the Service's namespace": Predicted(
        "relations", (plugin("login", "key-auth", namespace="back"),), "allowed, key-auth required", base=BEHIND),
    "and not of the route's": Predicted(
        "relations", (plugin("login", "key-auth"), plugin("other", "cors", namespace="back")), "allowed", base=BEHIND),
    "an annotation of a Gateway": Predicted(
        "relations", (plugin("login", "key-auth", namespace="infra"),), "allowed", base=GATEWAY_NAMES_IT),
    "two ways to log in": Predicted(
        "authentication", (plugin("a", "key-auth"), plugin("b", "basic-auth")),
        "allowed, basic-auth and key-auth required", base=base(annotations=f"{PLUGINS}'a,b'")),
    "Services of one rule with different annotations": Predicted(
        "alike", (plugin("login", "key-auth"),), "404", base=two(f"{PLUGINS}login"), loses=True),
    "of which one names another plugin": Predicted(
        "alike", (plugin("login", "key-auth"), plugin("again", "key-auth")), "404",
        base=two(f"{PLUGINS}login", f"{PLUGINS}again"), loses=True),
    "with the same annotations": Predicted(
        "alike", (plugin("login", "key-auth"),), "allowed, key-auth required",
        base=two(f"{PLUGINS}login", f"{PLUGINS}login")),
    "with different annotations of somebody else": Predicted("alike", (), "allowed", base=two("example.com/a: b")),
    "who may come in": Predicted(
        "relations", (plugin("groups", "acl"),), "allowed", loses=True, base=base(annotations=f"{PLUGINS}groups")),
}  # fmt: skip
