"""Whether Linkerd's inbound proxy lets a request in: a Server denies whatever no authorization lets in.

Source: linkerd.io/2.19/reference/authorization-policy: Server, `accessPolicy`, default policies, HTTPRoute,
AuthorizationPolicy (all authentications of one, any one policy), MeshTLSAuthentication, NetworkAuthentication,
ServerAuthorization; proxy-configuration: the annotations of pods and Namespaces; linkerd2 pkg/inject/report.go: pods
that get no proxy; inbound/index.rs: probes, ports that require an identity; linkerd2-proxy server-policy/src/lib.rs:
which protocols have routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.implementations.linkerd.references import IDENTITIES, referred
from policylint.load.charts import at, values_of
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts, value_at
from policylint.model.kinds import SERVER
from policylint.model.selectors import matches
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Checkpoint,
    Decision,
    RequestFacts,
    first_match,
    in_brief,
    otherwise,
)
from policylint.policy.results import Attachment
from policylint.spaces.predicates import Predicate
from policylint.topology.workloads import (
    container_port,
    container_ports,
    pod_spec,
    pod_template,
    server_routes,
    servers_selecting,
    service_account,
)

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint

_CHART = "linkerd-control-plane"
_CONTROLLER = "linkerd-destination"
_DEFAULT = "config.linkerd.io/default-inbound-policy"
_DEFAULT_FLAG = "--default-policy="
_DEFAULT_VALUE = ("spec", "values", "proxy", "defaultInboundPolicy")
INJECT = "linkerd.io/inject"
_INJECTING = ("enabled", "ingress")
_OPEN = ("all-unauthenticated", "audit")
"""Default policies that let everybody in."""
_OPAQUE = "config.linkerd.io/opaque-ports"
_REQUIRE_IDENTITY = "config.linkerd.io/proxy-require-identity-inbound-ports"
_SKIP_INBOUND = "config.linkerd.io/skip-inbound-ports"
_SKIP_OUTBOUND = "config.linkerd.io/skip-outbound-ports"
_POLICY = "policy.linkerd.io"
_CLIENT = "who the client is"
_OF_ACCOUNT, _DOMAIN = ".serviceaccount.identity.linkerd.", "cluster.local"
_OPEN_IDENTITY = "${NAMESPACE}/${ACCOUNT}"
"""That of a client of which a variable says nothing."""
_PROBES = ("liveness", "readiness", "startup")
_PROBE = "whether it comes from the networks of probes"


def admit(call: RequestFacts, hop: Checkpoint, policies: Sequence[Attachment], world: World) -> Decision | None:
    """Return the answer of the proxy beside a workload; None where it has none, or no policy is stated.

    Args:
        policies: all AuthorizationPolicies, by what they target.
    """
    proxied = False if _names(_SKIP_INBOUND, hop.resource, call.port, world) else injected(hop.resource, world)
    decision = None if proxied is False else _answer(call, hop, policies, world)
    if proxied is None and decision is not None and decision.answer == "denied":
        return decision.if_so("whether its pods are in the mesh")
    return decision


def may_refuse(call: RequestFacts, service: Resource, world: World) -> bool:
    """Tell whether the proxy of pods that no manifest shows may turn a request away: those behind a Service have at
    least the labels that it selects, if any, and what their Namespace says."""
    home = service.key.namespace
    namespace = world.get(ResourceKey("", "Namespace", "", home))
    around = namespace.annotations if namespace is not None else {}
    mode = text(around.get(INJECT))
    if mode and mode not in _INJECTING:
        return False
    selected = mapping(service.spec.get("selector"))
    if any(_may_select(server, selected) for server in world.in_namespace(*SERVER, home)):
        return True
    policy = text(around.get(_DEFAULT)) or _of_cluster(world)[2]
    meshed = bool(policy) and policy.endswith("-authenticated") and _meshed(call, world) is True
    return bool(policy) and not meshed and policy not in _OPEN


def _may_select(server: Resource, labels: Mapping[str, Any]) -> bool:
    """Tell whether a Server that turns requests away may select pods with some labels; of none it is known that one of
    all pods does."""
    wanted = mapping(mapping(server.spec.get("podSelector")).get("matchLabels"))
    differs = any(labels.get(name, value) != value for name, value in wanted.items()) if labels else wanted
    return "podSelector" in server.spec and not differs and text(server.spec.get("accessPolicy")) not in _OPEN


def _answer(call: RequestFacts, hop: Checkpoint, policies: Sequence[Attachment], world: World) -> Decision | None:
    """Return the answer of a proxy beside a workload, None where no policy is stated."""
    workload = hop.resource
    servers = [
        server for server in servers_selecting(world, workload) if _has_port(server, workload, call) is not False
    ]
    if not servers:
        return _default(call, hop, world)
    if call.port is None:
        return Decision("depends", ("spec", "port"), "the port", by=servers[0])
    answers = [_at_server(server, call, hop, policies, world) for server in servers]
    if any(answer.answer != answers[0].answer for answer in answers):
        return Decision("depends", ("spec",), f"which of {len(servers)} Servers counts at the port", by=servers[0])
    return answers[0]


def _at_server(
    server: Resource, call: RequestFacts, hop: Checkpoint, policies: Sequence[Attachment], world: World
) -> Decision:
    """Return the answer of the Server of a port. Streams have no routes, and HTTPRoutes are not read for gRPC."""
    targets = {server.key, ResourceKey("", "Namespace", "", server.key.namespace)}
    protocol = text(server.spec.get("proxyProtocol"))
    opaque = call.stream or protocol in ("opaque", "TLS")
    routes = [] if opaque or protocol == "gRPC" else server_routes(world, server)
    if routes:
        route, certain = call.taker(routes)
        if not certain:
            return Decision("depends", ("spec",), f"which HTTPRoute of {server.key} takes it", by=server)
        if route is None:
            return Decision("denied", ("spec",), "no HTTPRoute of it takes the request", 404, server)
        targets.add(route.key)
    asked = {policy.key: policy.policy for policy in policies if policy.node.key in targets}
    answers = [(policy, _lets_in(policy, call, world)) for policy in asked.values()]
    answers += [(policy, _lets_in_old(policy, call, world)) for policy in _server_authorizations(server, world)]
    doubt = "who the client is, or its address"
    allowing = [_rule(policy, answer, doubt, call, world) for policy, answer in answers]
    others = f"none of its {len(answers)} authorizations lets it in" if len(answers) > 1 else ""
    why = others or ("its authorization does not let it in" if answers else "no authorization is for it")
    decision = first_match(allowing, otherwise(("spec",), why, server, allows=False))
    if decision.answer != "denied":
        return decision
    decision = decision._replace(resets=opaque)
    decision = _by_default(text(server.spec.get("accessPolicy")) or "deny", call, decision, world)
    probed = not opaque and not routes and protocol != "gRPC" and _is_probe(call, hop.resource)
    return decision._replace(answer="depends", why=_PROBE) if probed and decision.answer == "denied" else decision


def _default(call: RequestFacts, hop: Checkpoint, world: World) -> Decision | None:
    """Return the answer without a Server: that of the default policy, where an annotation or the cluster states one."""
    owner, policy = stated(_DEFAULT, hop.resource, world)
    place: Pointer = ("metadata", "annotations")
    if not policy:
        owner, place, policy = _of_cluster(world)
    demanding, _ = stated(_REQUIRE_IDENTITY, hop.resource, world)
    if _names(_REQUIRE_IDENTITY, hop.resource, call.port, world) and policy != "deny":
        why, owner, place = f"port {call.port} requires an identity", demanding, ("metadata", "annotations")
        policy = "cluster-authenticated" if policy.startswith("cluster-") else "all-authenticated"
    elif policy:
        why = f"the default policy of {owner.key if owner else 'it'} is {policy}"
    else:
        return None
    resets = call.stream or _names(_OPAQUE, hop.resource, call.port, world)
    denied = Decision("denied", place, why, by=owner, resets=resets)
    if not resets and _is_probe(call, hop.resource):
        denied = denied._replace(answer="depends", why=_PROBE)
    return _by_default(policy, call, denied, world)


def stated(annotation: str, workload: Resource, world: World) -> tuple[Resource | None, str]:
    """Return the value of an annotation of pods, else of their Namespace, and whose it is; the injector copies it."""
    annotations = mapping(mapping(pod_template(workload).get("metadata")).get("annotations"))
    namespace = world.get(ResourceKey("", "Namespace", "", workload.key.namespace))
    for owner, found in ((workload, annotations), (namespace, namespace.annotations if namespace else {})):
        if found.get(annotation) not in (None, ""):
            return owner, str(found[annotation])
    return None, ""


def _of_cluster(world: World) -> tuple[Resource | None, Pointer, str]:
    """Return what installs the control plane with a default policy of its own, the place of it there, and the policy.

    The chart's values `proxy.defaultInboundPolicy`, or the flag of the policy controller that is made of it.
    """
    for release, values, _ in values_of(world, _CHART):
        policy = text(at(values, "proxy.defaultInboundPolicy"))
        if policy and not is_symbolic(policy):
            return release, _DEFAULT_VALUE if value_at(release.body, _DEFAULT_VALUE) else ("spec",), policy
    for deployment in world.of_kind("apps", "Deployment"):
        if deployment.key.name == _CONTROLLER:
            for container in sequence(pod_spec(deployment).get("containers")):
                for flag in texts(mapping(container).get("args")):
                    if flag.startswith(_DEFAULT_FLAG):
                        return deployment, ("spec", "template", "spec", "containers"), flag.removeprefix(_DEFAULT_FLAG)
    return None, (), ""


def _names(annotation: str, workload: Resource, port: int | None, world: World) -> bool:
    """Return whether an annotation names a port, among others and ranges of them: `25,8000-8100`."""
    if port is None:
        return False
    for entry in stated(annotation, workload, world)[1].split(","):
        first, _, last = (part.strip() for part in entry.partition("-"))
        numbers = [number for part in (first, last or first) if (number := whole_number(part)) is not None]
        if len(numbers) == 2 and numbers[0] <= port <= numbers[1]:
            return True
    return False


def _is_probe(call: RequestFacts, workload: Resource) -> bool:
    """Return whether a request is one that a probe of the pods makes, which no route of a Server needs to let in."""
    containers = map(mapping, sequence(pod_spec(workload).get("containers")))
    probes = (mapping(container.get(f"{name}Probe")) for container in containers for name in _PROBES)
    gets = [mapping(probe.get("httpGet")) for probe in probes if probe.get("httpGet")]
    here = [get for get in gets if container_port(workload, get.get("port")) == call.port]
    # A path without its slash is none to the policy controller, although the kubelet sends it with one; it leaves the
    # query out (k8s/index/src/inbound/workload.rs, container_http_probe_paths).
    paths = [(text(get.get("path")) or "/").partition("?")[0] for get in here]
    asked = [Predicate("Exact", path) for path in paths if path.startswith("/")]
    return bool(asked) and bool(every((call.has_method(Predicate("Exact", "GET")), call.has_path(*asked))))


def _by_default(policy: str, call: RequestFacts, denied: Decision, world: World) -> Decision:
    """Return what a default policy, or `accessPolicy`, makes of a request that nothing else decides."""
    if policy == "deny":
        return denied
    if policy in _OPEN:
        return denied._replace(answer="allowed", why="")
    if policy in ("all-authenticated", "cluster-authenticated"):
        meshed = _meshed(call, world)
        if meshed is not None:
            return denied if not meshed else denied._replace(answer="allowed", why="")
    sender = call.sender.workload
    return denied._replace(answer="depends", why=_CLIENT if sender is None else f"whether {sender.key} is in the mesh")


def _rule(policy: Resource, answer: bool | None, doubt: str, call: RequestFacts, world: World) -> AuthorizationRule:
    """Return an authorization as a rule: all authentications that it refers to must hold."""
    if answer is not False:
        return AuthorizationRule(answer, True, ("spec",), doubt, policy)
    references = [mapping(each) for each in sequence(policy.spec.get("requiredAuthenticationRefs"))]
    home = policy.key.namespace
    met = [_authenticates(each, home, call, world) is not False for each in references]
    unmet = partial(_asks, policy, references[met.index(False)] if False in met else {}, world)
    return AuthorizationRule(False, True, ("spec",), doubt, policy, unmet=unmet, met=sum(met))


def _asks(policy: Resource, reference: Mapping[str, Any], world: World) -> str:
    """Return what an authentication of a policy, or a ServerAuthorization, asks of clients, in brief."""
    if not reference:
        return f"client: {in_brief(policy.spec.get('client'))}"
    kind, name = referred(reference)[1] or text(reference.get("kind")), text(reference.get("name"))
    place = ResourceKey(_POLICY, kind, text(reference.get("namespace")) or policy.key.namespace, name)
    found = world.get(place)
    if kind != "ServiceAccount" and found is None:
        return f"{kind} {place.path}, which does not exist"
    said = "" if found is None else in_brief(found.spec)
    return f"{kind} {place.path}" + (f": {said}" if said else "")


def _lets_in(policy: Resource, call: RequestFacts, world: World) -> bool | None:
    """Return whether a request meets all authentications of an AuthorizationPolicy; without any everybody does."""
    references = _listed(policy.spec.get("requiredAuthenticationRefs"))
    home = policy.key.namespace
    return every(None if each is None else _authenticates(each, home, call, world) for each in references)


def _listed(value: object) -> Iterator[Mapping[str, Any] | None]:
    """Yield the entries of a list; None for what a variable stands for."""
    for entry in [value] if is_symbolic(value) else sequence(value):
        yield None if is_symbolic(entry) else mapping(entry)


def _authenticates(reference: Mapping[str, Any], home: str, call: RequestFacts, world: World) -> bool | None:
    kind, name = referred(reference)[1], text(reference.get("name"))
    namespace = text(reference.get("namespace")) or home
    if kind == "ServiceAccount":
        return _is_one_of([f"{namespace}/{name}"], call, world)
    resolution = world.resolve_inner(ResourceKey(_POLICY, kind, namespace, name))
    if resolution.resource is None:
        return None if resolution.unknown else False
    spec = resolution.resource.spec
    if kind == "NetworkAuthentication":
        return _from_networks(spec.get("networks"), call)
    return some(_identified(spec, namespace, call, world))


def _identified(spec: Mapping[str, Any], home: str, call: RequestFacts, world: World) -> Iterator[bool | None]:
    """Yield whether the client has each of the identities of a MeshTLSAuthentication."""
    yield _is_one_of(_pairs(spec.get("identities")), call, world)
    for reference in _listed(spec.get("identityRefs")):
        if reference is None:
            yield None
            continue
        name, namespace = text(reference.get("name")), text(reference.get("namespace")) or home
        if referred(reference, IDENTITIES)[1] == "Namespace":
            namespace, name = name or home, "*"
        if name:  # an identity of no name is that of nobody
            yield _is_one_of([f"{namespace}/{name}"], call, world)


def _lets_in_old(policy: Resource, call: RequestFacts, world: World) -> bool | None:
    """Return whether a ServerAuthorization lets a client in."""
    stated = policy.spec.get("client")
    client = mapping(stated)
    asked = client.get("meshTLS")
    tls = mapping(asked)
    if client.get("unauthenticated") is True:
        identified: bool | None = True
    elif any(map(is_symbolic, (stated, asked, client.get("unauthenticated"), tls.get("unauthenticatedTLS")))):
        identified = None
    elif tls.get("unauthenticatedTLS") is True:
        identified = _meshed(call, world)
    else:
        accounts = (_account(each, policy.key.namespace) for each in _listed(tls.get("serviceAccounts")))
        identified = _is_one_of([*_pairs(tls.get("identities")), *filter(None, accounts)], call, world)
    networks = client.get("networks")
    return every((identified, _from_networks(networks, call))) if networks else identified


def _account(stated: Mapping[str, Any] | None, home: str) -> str:
    """Return an account as an identity of the mesh; "" for one of no name."""
    if stated is None:
        return _OPEN_IDENTITY
    name = text(stated.get("name"))
    return name and f"{text(stated.get('namespace')) or home}/{name}"


def _server_authorizations(server: Resource, world: World) -> Iterator[Resource]:
    for policy in world.in_namespace(_POLICY, "ServerAuthorization", server.key.namespace):
        named = mapping(policy.spec.get("server"))
        selector = named.get("selector")
        by_name = text(named.get("name")) == server.key.name
        if by_name or (isinstance(selector, dict) and matches(selector, server.labels)):
            yield policy


def _from_networks(networks: object, call: RequestFacts) -> bool | None:
    """Return whether a client is of one of some networks."""
    return some(None if network is None else _from_network(network, call) for network in _listed(networks))


def _from_network(network: Mapping[str, Any], call: RequestFacts) -> bool | None:
    """Return whether a client is of a network, and not of what is excepted from it."""
    stated = network.get("except")
    excepted = [text(stated)] if is_symbolic(stated) else texts(stated)
    return every((call.is_from([text(network.get("cidr"))]), negated(call.is_from(excepted) if excepted else False)))


def _pairs(identities: object) -> list[str]:
    """Return the identities of the mesh, `shop/web`, that those of MeshTLSAuthentication stand for."""
    return list(chain.from_iterable(map(_pair, [text(identities)] if is_symbolic(identities) else texts(identities))))


def _pair(identity: str) -> Iterator[str]:
    """Yield the identity that one stands for: `*` is every meshed one, `*.suffix` those of a domain."""
    suffix = identity.startswith("*.")
    rest = identity[2:] if suffix else identity
    named, sign, domain = rest.partition(_OF_ACCOUNT)
    account, _, namespace = named.rpartition(".")
    if identity == "*" or (suffix and f"{_OF_ACCOUNT}{_DOMAIN}".endswith(f".{rest}")):
        yield "*/*"
    elif sign and (domain == _DOMAIN or is_symbolic(domain)) and (account or suffix) and "{{" not in named:
        of_domain = domain if domain != _DOMAIN else ""  # a variable in it leaves open whether it is that of the mesh
        yield f"{namespace}/{'*' if suffix else ''}{'.' if suffix and account else ''}{account}{of_domain}"
    elif is_symbolic(identity):
        yield _OPEN_IDENTITY


def _is_one_of(pairs: list[str], call: RequestFacts, world: World) -> bool | None:
    """Return whether the client has one of some identities, each `shop/web` or `shop/*`."""
    workload = call.sender.workload
    if workload is None or workload.key.kind == "Gateway":
        strangers = call.sender.callers and all(injected(each, world) is False for each in call.sender.callers)
        return call.is_principal("" if call.sender.namespace == "" or strangers else call.sender.account, pairs)
    skipped = _names(_SKIP_OUTBOUND, workload, call.dialled, world)
    meshed = False if skipped else injected(workload, world)
    account = service_account(workload)
    fits = call.is_principal("" if meshed is False else f"{workload.key.namespace}/{account}", pairs)
    return meshed if fits else fits


def _meshed(call: RequestFacts, world: World) -> bool | None:
    """Return whether the client is in the mesh, and its proxy in between; None where it is not in the tree."""
    return _is_one_of(["*/*"], call, world)


def injected(workload: Resource, world: World) -> bool | None:
    """Return whether the pods of a workload get a proxy; None without an annotation, which may be set by hand."""
    spec = pod_spec(workload)
    if spec.get("hostNetwork") is True or spec.get("automountServiceAccountToken") is False:
        return False
    mode = stated(INJECT, workload, world)[1]
    return mode in _INJECTING if mode else None


def wrapped(end: Endpoint, world: World) -> bool:
    """Return whether the pods at an end certainly get a proxy; of those that were not seen their Namespace tells."""
    if end.resource is not None:
        return end.is_pod and injected(end.resource, world) is True
    namespace = world.get(ResourceKey("", "Namespace", "", end.namespace))
    return end.is_pod and not end.host and namespace is not None and namespace.annotations.get(INJECT) in _INJECTING


def skips(source: Endpoint, target: Endpoint, ports: tuple[int | None, int | None], world: World) -> bool:
    """Return whether connections of one end to another may go past a proxy (`ports`: the Service's, and the pods')."""
    asked = ((source, _SKIP_OUTBOUND, ports[0]), (target, _SKIP_INBOUND, ports[1]))
    return any(end.resource is not None and _names(name, end.resource, port, world) for end, name, port in asked)


def _has_port(server: Resource, workload: Resource, call: RequestFacts) -> bool | None:
    """Return whether a Server is for the port of a request; None where that is not known."""
    if call.port is None:
        return None
    port = server.spec.get("port")
    number = container_port(workload, (whole_number(port) or port) if isinstance(port, str) else port)
    return None if number is None and not container_ports(workload) else number == call.port
