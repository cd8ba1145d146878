"""AWS: the Gateway API Controller for VPC Lattice and its policies, the Load Balancer Controller and its objects."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_LATTICE = "github.com/aws/aws-application-networking-k8s"
_GUIDE = "github.com/kubernetes-sigs/aws-load-balancer-controller docs/guide/gateway"
SOURCES = {
    "handler": f"{_LATTICE} @ 086bcb0e pkg/k8s/policyhelper/policy.go, ValidateTargetRef and conflictResolutionSort",
    "logs": f"{_LATTICE} @ 8f60845d pkg/controllers/accesslogpolicy_controller.go",
    "iam": "docs.aws.amazon.com/vpc-lattice/latest/ug/auth-policies.html, «How auth policies work»",
    "target groups": f"{_LATTICE} @ 112b6b0c docs/api-types/target-group-policy.md",
    "classes": f"{_LATTICE} pkg/config/controller_config.go: the class amazon-vpc-lattice",
    "configurations": f"{_GUIDE}/targetgroupconfig.md @ 121ef16b",
    "rules": f"{_GUIDE}/listenerruleconfig.md @ 209f713b",
    "authentication": "docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html",
    "customization": f"{_GUIDE}/customization.md @ 185f8653",
}
REQUEST = {"host": "shop.example"}
LATTICE, BALANCER = "application-networking.k8s.aws", "gateway.k8s.aws"
PLAIN = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def base(route: str = PLAIN, controller: str = f"{LATTICE}/gateway-api-controller", *more: str) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route(more=route),
        worlds.service(more="type: NodePort"),
        *more,
    )


def balanced(route: str = PLAIN) -> tuple[str, ...]:
    """A route through an Application Load Balancer."""
    return base(route, f"{BALANCER}/alb")


def secured(route: str) -> tuple[str, ...]:
    """The same through an HTTPS listener: others take no logins."""
    listener = "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}"
    edge = worlds.gateway(listeners=f"[{listener}, allowedRoutes: {{namespaces: {{from: All}}}}}}]")
    return (balanced()[0], edge, *balanced(route)[2:])


BASE = base()
ROUTE, EDGE, SERVICE = "HTTPRoute/checkout", "Gateway/edge", "Service/checkout"


def of(kind: str, name: str, target: str, spec: str, created: str = "", namespace: str = "shop") -> str:
    return worlds.policy(f"{LATTICE}/v1alpha1", kind, name, target, spec, namespace, created, field="targetRef")


def iam(name: str, *statements: str, target: str = ROUTE, created: str = "", namespace: str = "shop") -> str:
    document = f'{{"Version": "2012-10-17", "Statement": [{", ".join(statements)}]}}'
    return of("IAMAuthPolicy", name, target, f"policy: '{document}'", created, namespace)


def statement(effect: str, principal: str = '"*"', more: str = "", action: str = "vpc-lattice-svcs:Invoke") -> str:
    fields = f'"Effect": "{effect}", "Principal": {principal}, "Action": "{action}", "Resource": "*"'
    return f"{{{fields}{more and ', ' + more}}}"


ALLOW, DENY = statement("Allow"), statement("Deny")
ACCOUNT = statement("Allow", '"123456789012"')
OF_HEADER = statement(
    "Allow", more='"Condition": {"StringEquals": {"vpc-lattice-svcs:RequestHeader/x-team": "red"}}')  # fmt: skip
EXPORT = worlds.manifest(f"{LATTICE}/v1alpha1", "ServiceExport", "checkout", "shop")
ELSEWHERE = "{group: gateway.networking.k8s.io, kind: %s, name: %s, namespace: nowhere}"


def crossing(kind: str, of_kind: str, name: str, spec: str, namespace: str = "shop") -> str:
    """A policy whose reference names another namespace."""
    body = f"spec: {{targetRef: {ELSEWHERE % (of_kind, name)}, {spec}}}"
    return worlds.manifest(f"{LATTICE}/v1alpha1", kind, "p", namespace, body)


def filtering(backends: str = ", backendRefs: [{name: checkout, port: 80}]") -> str:
    named = f"extensionRef: {{group: {BALANCER}, kind: ListenerRuleConfiguration, name: login}}"
    return f"rules: [{{filters: [{{type: ExtensionRef, {named}}}]{backends}}}]"


def rule(spec: str, namespace: str = "shop") -> str:
    return worlds.manifest(f"{BALANCER}/v1beta1", "ListenerRuleConfiguration", "login", namespace, f"spec: {{{spec}}}")


def oidc(unauthenticated: str = "") -> str:
    more = unauthenticated and f", onUnauthenticatedRequest: {unauthenticated}"
    ends = ", ".join(f"{name}Endpoint: https://id/{name}" for name in ("authorization", "token", "userInfo"))
    config = f"{{issuer: https://id, {ends}, secret: {{name: s}}{more}}}"
    return rule(f"actions: [{{type: authenticate-oidc, authenticateOIDCConfig: {config}}}]")


def groups(name: str, target: str, namespace: str = "shop") -> str:
    spec = f"{target and f'targetReference: {{{target}}}, '}defaultConfiguration: {{targetType: ip}}"
    return worlds.manifest(f"{BALANCER}/v1beta1", "TargetGroupConfiguration", name, namespace, f"spec: {{{spec}}}")


FILTERED, HTTPS = secured(filtering()), {"scheme": "https", "port": 443}
BALANCERS = worlds.manifest(
    f"{BALANCER}/v1beta1", "LoadBalancerConfiguration", "own", "infra",
    "spec: {scheme: internal, defaultTargetGroupConfiguration: {name: p}}",
)  # fmt: skip
WITH_PARAMETERS = (
    worlds.gateway_class("any", f"{BALANCER}/alb"),
    worlds.gateway(
        more=f"infrastructure: {{parametersRef: {{group: {BALANCER}, kind: LoadBalancerConfiguration, name: own}}}}"
    ),
    *balanced()[2:],
)
OF_CLASS = (worlds.gateway(of_class="amazon-vpc-lattice"), *base()[2:])

WORLDS = {
    # VPC Lattice
    "everybody may": Predicted("iam", (iam("p", ALLOW),), "allowed", {"p": "Enforced"}),
    "nobody may": Predicted("iam", (iam("p", DENY),), "403", {"p": "Enforced"}),
    "Deny goes before Allow": Predicted("iam", (iam("p", ALLOW, DENY),), "403", {"p": "Enforced"}),
    "an account may, and requests may be signed": Predicted(
        "iam", (iam("p", ACCOUNT),), "depends", {"p": "Enforced"}),
    "a condition": Predicted("iam", (iam("p", OF_HEADER),), "depends", {"p": "Enforced"}),
    "no statement for requests": Predicted(
        "iam", (iam("p", statement("Allow", action="vpc-lattice-svcs:Connect")),), "403", {"p": "Enforced"}),
    "those of the Gateway and of the route are both asked": Predicted(
        "iam", (iam("p", ALLOW), iam("q", DENY, target=EDGE, namespace="infra")), "403",
        {"p": "Enforced", "q": "Enforced"}),
    "of the same age the first by name": Predicted(
        "handler", (iam("p", DENY, created=OLD), iam("q", ALLOW, created=OLD)), "403",
        {"p": "Enforced", "q": "Conflicted"}),
    "the older one": Predicted(
        "handler", (iam("p", DENY, created=NEW), iam("q", ALLOW, created=OLD)), "allowed",
        {"p": "Conflicted", "q": "Enforced"}),
    "a namespace in the reference is not read": Predicted(
        "handler", (crossing("IAMAuthPolicy", "HTTPRoute", "checkout", "policy: '{Statement: []}'"),), "depends",
        {"p": "Enforced"}),
    "but that of access logs is": Predicted(
        "logs", (crossing("AccessLogPolicy", "Gateway", "edge", "destinationArn: a", "infra"),), "allowed",
        {"p": "Invalid"}, ("GWP104",)),
    "IAM of a TLSRoute": Predicted(
        "handler", (iam("p", DENY, target="TLSRoute/checkout"),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "IAM whose target is a variable": Predicted(
        "handler", (iam("p", DENY, target="HTTPRoute/NAME").replace("NAME", "'${ROUTE}'"),), "allowed",
        {"p": "Unknown"}),
    "IAM at another controller's Gateway": Predicted(
        "handler", (iam("p", DENY),), "allowed", {"p": "NoEffect"}, ("GWP108",), base=balanced()),
    "the class of the controller": Predicted("classes", (iam("p", DENY),), "403", {"p": "Enforced"}, base=OF_CLASS),
    "logs of the route beside logs of the Gateway": Predicted(
        "logs",
        (of("AccessLogPolicy", "p", ROUTE, "destinationArn: a"),
         of("AccessLogPolicy", "q", EDGE, "destinationArn: b", namespace="infra")),
        "allowed", {"p": "Enforced", "q": "Enforced"}),
    "a Service that no route names": Predicted(
        "target groups", (of("TargetGroupPolicy", "p", "Service/other", "protocol: HTTPS"),), "allowed",
        {"p": "NoEffect"}, ("GWP106",), base=base(PLAIN, f"{LATTICE}/gateway-api-controller", worlds.service("other"))),
    "an exported Service": Predicted(
        "target groups", (of("TargetGroupPolicy", "p", f"ServiceExport.{LATTICE}/checkout", "protocol: HTTPS"),),
        "allowed", {"p": "Enforced"}, base=base(PLAIN, f"{LATTICE}/gateway-api-controller", EXPORT)),
    "sections are nothing": Predicted(
        "target groups", (of("TargetGroupPolicy", "p", f"{SERVICE}#http", "protocol: HTTPS"),), "allowed",
        {"p": "Invalid"}, ("GWP103",)),
    "of two associations of a VPC the older": Predicted(
        "handler",
        (of("VpcAssociationPolicy", "p", EDGE, "associateWithVpc: true", NEW, "infra"),
         of("VpcAssociationPolicy", "q", EDGE, "associateWithVpc: false", OLD, "infra")),
        "allowed", {"p": "Conflicted", "q": "Enforced"}),
    "the association of a route": Predicted(
        "handler", (of("VpcAssociationPolicy", "p", ROUTE, "associateWithVpc: true"),), "allowed", {"p": "Invalid"},
        ("GWP102",)),
    # Load Balancer Controller
    "a target group, whose kind may be left out": Predicted(
        "configurations", (groups("p", "name: checkout"),), "allowed", {"p": "Enforced"}, base=balanced()),
    "a target group of another namespace": Predicted(
        "configurations", (groups("p", "name: checkout", "infra"),), "allowed", {"p": "TargetNotFound"}, ("GWP101",),
        base=balanced()),
    "the default that a load balancer names": Predicted(
        "configurations", (groups("p", "", "infra"), BALANCERS), "allowed", base=WITH_PARAMETERS),
    "a login": Predicted(
        "authentication", (oidc(),), "allowed, authenticate-oidc required", base=FILTERED, request=HTTPS),
    "a login or 401": Predicted(
        "authentication", (oidc("deny"),), "allowed, authenticate-oidc required", base=FILTERED, request=HTTPS),
    "whoever does not log in passes": Predicted(
        "authentication", (oidc("allow"),), "allowed, authenticate-oidc not required", base=FILTERED, request=HTTPS),
    "tokens": Predicted(
        "rules", (rule("actions: [{type: jwt-validation, jwtValidationConfig: {issuer: a, jwksEndpoint: b}}]"),),
        "allowed, jwt-validation required", base=FILTERED, request=HTTPS),
    "sticky sessions ask nothing": Predicted(
        "rules", (rule("actions: [{type: forward, forwardConfig: {}}]"),), "allowed", base=FILTERED, request=HTTPS),
    "addresses from which the rule is for": Predicted(
        "rules", (rule("conditions: [{field: source-ip, sourceIPConfig: {values: [10.0.0.0/8]}}]"),), "allowed",
        base=FILTERED, request=HTTPS),
    "hosts keep nobody out": Predicted(
        "rules", (rule("conditions: [{field: host-header, hostHeaderConfig: {values: [a.example]}}]"),), "allowed",
        base=FILTERED, request=HTTPS),
    "an answer": Predicted(
        "rules", (rule("actions: [{type: fixed-response, fixedResponseConfig: {statusCode: 410}}]"),), "410",
        base=balanced(filtering(""))),
    "a configuration of another namespace": Predicted(
        "customization", (rule("actions: []", "infra"),), "500", lint=("GWP406",), base=FILTERED, request=HTTPS),
}  # fmt: skip
