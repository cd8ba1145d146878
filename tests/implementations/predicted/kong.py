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
    "combined": "github.com/Kong/kubernetes-ingress-controller @ 0720c3169 internal/util/relations.go, GetCombinations:"
    " what a consumer and a route name runs for the two together",
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


ROUTE_AND = f"{PLUGINS}office"
OFFICE = plugin("office", "ip-restriction", "config: {allow: [10.0.0.0/8]}")


def consumer(
    name: str, *plugins: str, kind: str = "KongConsumer", namespace: str = "shop", of_class: str = "kong"
) -> str:
    """A consumer, or a group of them, and the plugins that its annotation names."""
    entries = [of_class and f"kubernetes.io/ingress.class: {of_class}", plugins and f"{PLUGINS}'{','.join(plugins)}'"]
    more = f"annotations: {{{', '.join(filter(None, entries))}}}"
    version, body = ("v1", f"username: {name}") if kind == "KongConsumer" else ("v1beta1", "")
    return worlds.manifest(f"{GROUP}/{version}", kind, name, namespace, body, more=more)


GUESTS = plugin("login", "key-auth", "config: {anonymous: guest}")
STOP = plugin("stop", "request-termination", "config: {status_code: 403}")
BY_LOGIN, BY_OFFICE = base(annotations=f"{PLUGINS}login"), base(annotations=ROUTE_AND)
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
        "classes", (cluster_plugin("login", "key-auth", of_class=""),), "allowed", lint=("GWP114",),
        base=base(annotations=f"{PLUGINS}login")),
    "nor whether a global one is": Predicted(
        "classes", (cluster_plugin("all", "key-auth", everywhere="true", of_class=""),), "allowed",
        lint=("GWP114",)),
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
        "relations", (plugin("login", "key-auth"), plugin("other", "cors", namespace="back")), "allowed",
        lint=("GWP406",), base=BEHIND),
    "an annotation of a Gateway": Predicted(
        "relations", (plugin("login", "key-auth", namespace="infra"),), "allowed", lint=("GWP114",),
        base=GATEWAY_NAMES_IT),
    "two ways to log in": Predicted(
        "authentication", (plugin("a", "key-auth"), plugin("b", "basic-auth")),
        "allowed, basic-auth and key-auth required", base=base(annotations=f"{PLUGINS}'a,b'")),
    "Services of one rule with different annotations": Predicted(
        "alike", (plugin("login", "key-auth"),), "404", base=two(f"{PLUGINS}login")),
    "of which one names another plugin": Predicted(
        "alike", (plugin("login", "key-auth"), plugin("again", "key-auth")), "404",
        base=two(f"{PLUGINS}login", f"{PLUGINS}again")),
    "with the same annotations": Predicted(
        "alike", (plugin("login", "key-auth"),), "allowed, key-auth required",
        base=two(f"{PLUGINS}login", f"{PLUGINS}login")),
    "with different annotations of somebody else": Predicted("alike", (), "allowed", base=two("example.com/a: b")),
    "addresses that a route asks for": Predicted("combined", (OFFICE,), "depends", base=BY_OFFICE),
    "a route and a consumer name one plugin": Predicted(
        "combined", (OFFICE, consumer("staff", "office")), "allowed", base=BY_OFFICE),
    "a consumer of another namespace does": Predicted(
        "combined", (OFFICE, consumer("staff", "office", namespace="infra")), "depends",
        lint=("GWP406",), base=BY_OFFICE),  # there is no plugin of that name in its own namespace
    "a group of consumers does": Predicted(
        "combined", (OFFICE, consumer("staff", "office", kind="KongConsumerGroup")), "allowed", base=BY_OFFICE),
    "a Service and a consumer do": Predicted(
        "combined", (OFFICE, consumer("staff", "office")), "allowed", base=base(service=ROUTE_AND)),
    "what runs for some leaves the Service's to all others": Predicted(
        "combined", (OFFICE, plugin("all", "ip-restriction", "config: {deny: [9.9.9.9/32]}"),
                     consumer("staff", "office")), "depends",
        base=base(annotations=ROUTE_AND, service=f"{PLUGINS}all")),
    "a global plugin runs for all, whoever names it": Predicted(
        "combined", (cluster_plugin("all", "ip-restriction", everywhere="true"), consumer("staff", "all")), "allowed"),
    "a consumer has one of its own": Predicted(
        "precedence", (OFFICE, plugin("home", "ip-restriction"), consumer("staff", "home")), "depends",
        base=BY_OFFICE),
    "one that is switched off": Predicted(
        "precedence", (OFFICE, plugin("home", "ip-restriction", "disabled: true"), consumer("staff", "home")),
        "depends", base=BY_OFFICE),
    "a consumer has one of another sort": Predicted(
        "precedence", (OFFICE, plugin("home", "rate-limiting"), consumer("staff", "home")), "depends",
        base=BY_OFFICE),
    "guests are turned away": Predicted(
        "authentication", (GUESTS, STOP, consumer("guest", "stop")), "allowed, key-auth required", base=BY_LOGIN),
    "guests are not": Predicted(
        "authentication", (GUESTS, plugin("stop", "rate-limiting"), consumer("guest", "stop")),
        "allowed, key-auth not required", base=BY_LOGIN),
    "somebody else is": Predicted(
        "authentication", (GUESTS, STOP, consumer("other", "stop")), "allowed, key-auth not required", base=BY_LOGIN),
    "guests are turned away elsewhere": Predicted(
        "combined", (GUESTS, STOP, consumer("guest", "stop"),
                     worlds.manifest("v1", "Service", "away", "shop", "spec: {ports: [{port: 80}]}",
                                     more=f"annotations: {{{PLUGINS}stop}}")),
        "allowed, key-auth not required", base=BY_LOGIN),
    "whether a consumer without a class is read is not known": Predicted(
        "classes", (GUESTS, STOP, consumer("guest", "stop", of_class="")), "allowed, key-auth not required",
        base=BY_LOGIN, lint=("GWP114",)),
    "what turns guests away is switched off": Predicted(
        "authentication", (GUESTS, plugin("stop", "request-termination", "disabled: true"), consumer("guest", "stop")),
        "allowed, key-auth not required", base=BY_LOGIN),
    "who may come in": Predicted(
        "relations", (plugin("groups", "acl"),), "allowed", base=base(annotations=f"{PLUGINS}groups")),
}  # fmt: skip
