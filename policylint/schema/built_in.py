"""What every API server refuses of kinds of Kubernetes itself, whatever the release, that no metadata tells.

Source: Kubernetes, staging/src/k8s.io/api (the types of fields: what does not unmarshal is an error),
pkg/apis/apps/validation (ValidateDeploymentSpec and its like: `selector` does not match template `labels`; DaemonSets
and their like restart always), pkg/apis/batch/validation (validateJobSpec: a Job does never), pkg/apis/core/validation
(ValidateService, validateServicePort, validateContainers, ValidateVolumes) and pkg/apis/networking/validation
(validateHTTPIngressPath, validateIngressBackend, ValidateIngressClass).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from policylint.catalog.content import places
from policylint.cel.nodes import Fuel
from policylint.documents import Pointer
from policylint.model import Resource, is_symbolic, mapping, sequence, text, value_at
from policylint.model.keys import is_no_host_yet
from policylint.model.kinds import INGRESS
from policylint.schema.known import ManifestChecker
from policylint.schema.names import fits, is_word_to_replace, stands_for_another
from policylint.schema.object_meta import OBJECT_META, TEXTS

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

Checkers = Mapping[tuple[str, str], ManifestChecker]
_Fault = tuple[Pointer, str, str, str]
"""Where something is wrong, what the API server says of it, a clause about the object, and what to write."""
_CLASS = ("networking.k8s.io", "IngressClass")
SHAPED = frozenset({INGRESS, _CLASS})
"""Kinds of which shapes are refused beside those whose names are looked at (names.py)."""
_CONTAINERS = ("containers", "initContainers")
_LONGEST_PORT_NAME = 15
_TEMPLATED = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_PORTS = range(1, 65_536)
_Schema = Mapping[str, Any]
_TEXT: Final[_Schema] = {"type": "string"}


def _of(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties}


def _list_of(items: _Schema) -> _Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> _Schema:
    return {"type": "string", "enum": ["", *words]}


_NUMBER: Final = {"type": "integer", "minimum": 0, "maximum": 65_535}
"""The number of a port; 0 is none."""
_PROTOCOL: Final = _one_of("TCP", "UDP", "SCTP")
_CONTAINER: Final = _of(
    name=_TEXT,
    image=_TEXT,
    command=_list_of(_TEXT),
    args=_list_of(_TEXT),
    env=_list_of(_of(name=_TEXT, value=_TEXT)),
    imagePullPolicy=_one_of("Always", "IfNotPresent", "Never"),
    ports=_list_of(_of(name=_TEXT, containerPort=_NUMBER, hostPort=_NUMBER, protocol=_PROTOCOL)),
)
_TEMPLATE: Final = _of(
    metadata=OBJECT_META,
    spec=_of(
        nodeSelector=TEXTS,
        serviceAccountName=_TEXT,
        dnsPolicy=_one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
        containers=_list_of(_CONTAINER),
        initContainers=_list_of(_CONTAINER),
    ),
)
_WORKLOAD: Final = _of(spec=_of(selector=_of(matchLabels=TEXTS), template=_TEMPLATE))
_TYPES: Final[Mapping[tuple[str, str], _Schema]] = {
    ("", "ConfigMap"): _of(data=TEXTS, binaryData=TEXTS),
    ("", "Secret"): _of(data=TEXTS, stringData=TEXTS, type=_TEXT),
    ("", "Pod"): _TEMPLATE,
    ("", "Service"): _of(
        spec=_of(
            selector=TEXTS,
            type=_one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
            externalName=_TEXT,
            externalTrafficPolicy=_one_of("Cluster", "Local"),
            internalTrafficPolicy=_one_of("Cluster", "Local"),
            sessionAffinity=_one_of("ClientIP", "None"),
            ipFamilyPolicy=_one_of("SingleStack", "PreferDualStack", "RequireDualStack"),
            ports=_list_of(_of(name=_TEXT, nodePort=_NUMBER, protocol=_PROTOCOL)),
        )
    ),
    **dict.fromkeys((("apps", kind) for kind in _TEMPLATED), _WORKLOAD),
    ("batch", "Job"): _WORKLOAD,
    ("batch", "CronJob"): _of(spec=_of(jobTemplate=_WORKLOAD)),
    ("networking.k8s.io", "NetworkPolicy"): _of(spec=_of(podSelector=_of(matchLabels=TEXTS))),
    INGRESS: _of(
        spec=_of(
            rules=_list_of(
                _of(http=_of(paths=_list_of(_of(pathType=_one_of("Exact", "Prefix", "ImplementationSpecific")))))
            )
        )
    ),
    _CLASS: _of(spec=_of()),
}
"""The types of fields that matter to requests, the words that they take, and in which manifests err."""
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = frozenset({"exec", "httpGet", "tcpSocket", "grpc"})
_NO_PATH = re.compile(r"//|/\.\.?(/|$)|%2[fF]")
"""What no path of an Ingress has that is matched by its steps."""
_PORT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+\]?")


def types_of(group: str, kind: str) -> Mapping[str, Any]:
    """Return the types of the fields of a kind of Kubernetes itself that are stated here; empty for others."""
    return _TYPES.get((group, kind), {})


@lru_cache(maxsize=1)
def checkers_of_types() -> Checkers:
    """Return a checker of the types of fields for each kind that has some here."""
    return {kind: ManifestChecker(schema, Fuel()) for kind, schema in _TYPES.items()}


def refused(resource: Resource) -> Violation | None:
    """Return for what an API server refuses an object of a kind of Kubernetes itself, None where nothing is seen."""
    kind, checkers = resource.key[:2], checkers_of_types()
    if kind in checkers and not checkers[kind].is_valid(resource.body):
        from policylint.schema.explain import explain

        if violations := explain(_TYPES[kind], resource.body):
            return violations[0]
    found: Violation | None = None
    if resource.key.group == "apps" and resource.key.kind in _TEMPLATED:
        found = _misfit(resource) or _restarting(resource, ("Always",))
    elif resource.key[:2] in (("batch", "Job"), ("batch", "CronJob")):
        found = _restarting(resource, ("Never", "OnFailure"))
    elif resource.key[:2] == ("", "Service"):
        found = _without_number(resource)
    if found is None and (fault := next(_faults(resource), None)) is not None:
        from policylint.schema.explain import Violation

        pointer, said, says, label = fault
        return Violation("rule", pointer, (said,), says, label)
    return found


def _faults(resource: Resource) -> Iterator[_Fault]:
    """Yield what is wrong with the shape of an object."""
    kind = resource.key[:2]
    if kind == ("", "Service"):
        yield from _of_service(resource.spec)
        yield from _of_exposure(resource.spec)
    elif kind == INGRESS and resource.version == "v1":
        yield from _of_ingress(resource.spec)
        yield from _of_hosts(resource.spec)
    elif kind == _CLASS:
        yield from _of_parameters(mapping(resource.spec.get("parameters")))
    elif kind == ("", "Pod") or resource.key.group in ("apps", "batch"):
        within = () if kind == ("", "Pod") else _template(resource)
        yield from _of_pods(mapping(value_at(resource.spec, within)), ("spec", *within))


def _is_open(value: str) -> bool:
    """Tell whether a text may become another one: a variable, or a template that nobody filled in."""
    return is_symbolic(value) or "{{" in value


def _of_exposure(spec: Mapping[str, Any]) -> Iterator[_Fault]:
    """Yield what does not go with the type of a Service."""
    of_type = text(spec.get("type"), "ClusterIP")
    if spec.get("clusterIP") == "None" and of_type in ("LoadBalancer", "NodePort"):
        said = f"may not be set to 'None' for {of_type} services"
        yield ("spec", "clusterIP"), said, f"has no address of the cluster, and is a {of_type}", "leave `clusterIP` out"
    inside = of_type in ("ClusterIP", "ExternalName") and not spec.get("externalIPs")
    if inside and spec.get("externalTrafficPolicy") in ("Cluster", "Local"):
        said = "may only be set for externally-accessible services"
        says = f"states how traffic from outside is treated, and is a {of_type}"
        yield ("spec", "externalTrafficPolicy"), said, says, "set `type`, or leave it out"
    for number, port in enumerate(map(mapping, sequence(spec.get("ports")))):
        at: Pointer = ("spec", "ports", number)
        target = port.get("targetPort")
        if type(target) is int and target and target not in _PORTS:
            says, label = f"has the target port {target}", "ports are numbers from 1 to 65535"
            yield (*at, "targetPort"), "must be between 1 and 65535, inclusive", says, label
        if isinstance(target, str) and target and not _stands_for_port(target) and not _is_port_name(target):
            wanted = f"at most {_LONGEST_PORT_NAME} lower case letters, digits and -, one letter at least"
            says = f"has the target port {target!r}, which is no name of a port"
            yield (*at, "targetPort"), f"{target!r}: must be {wanted}", says, wanted


def _stands_for_port(name: str) -> bool:
    """Tell whether somebody is to write a port in its place: `HTTP` is a mistake, `PORT` is none."""
    return _is_open(name) or (is_word_to_replace(name) and "PORT" in name)


def _is_port_name(name: str) -> bool:
    """Source: k8s.io/apimachinery/pkg/util/validation, IsValidPortName."""
    is_formed = _PORT_NAME.fullmatch(name) is not None and "--" not in name and any(map(str.isalpha, name))
    return is_formed and len(name) <= _LONGEST_PORT_NAME


def _stands_for_host(value: str) -> bool:
    return is_no_host_yet(value) or "{{" in value or stands_for_another(value)


def _of_hosts(spec: Mapping[str, Any]) -> Iterator[_Fault]:
    """Yield the hosts of an Ingress that are none: with a port, an address, capitals."""
    for path in ("rules.*.host", "tls.*.hosts.*"):
        for pointer, value in places(spec, path, ("spec",)):
            if isinstance(value, str) and value and not _stands_for_host(value):
                if path.startswith("rules") and _ADDRESS.fullmatch(value):
                    yield pointer, "must be a DNS name, not an IP address", f"has the host {value!r}", "a name of DNS"
                elif not fits(value.removeprefix("*."), is_label=False):
                    said = f"{value!r}: must be a name of DNS in lower case, without a port"
                    yield pointer, said, f"has the host {value!r}", "a name of DNS in lower case, without a port"


def _of_probes(container: Mapping[str, Any], at: Pointer) -> Iterator[_Fault]:
    """Yield the probes that ask in two ways at once."""
    for name in _PROBES:
        ways = sorted(_HANDLERS & {key for key, value in mapping(container.get(name)).items() if value is not None})
        if len(ways) > 1:
            says = f"has a {name} that asks in several ways: {', '.join(ways)}"
            yield (*at, name), "may not specify more than 1 handler type", says, f"one of {', '.join(ways)}"


def _of_service(spec: Mapping[str, Any]) -> Iterator[_Fault]:
    place: Pointer = ("spec", "ports")
    ports = [mapping(each) for each in sequence(spec.get("ports"))]
    bare = next((number for number, port in enumerate(ports) if "name" not in port), None)
    if len(ports) > 1 and bare is not None:
        yield (*place, bare), "name: Required value", "has several ports, and one without a name", "give each a name"
    yield from _twice([("name", port.get("name")) for port in ports], place, "name")
    pairs = [("port", f"{port.get('protocol', 'TCP')}/{port['port']}" if "port" in port else None) for port in ports]
    yield from _twice(pairs, place, "protocol and port")
    if spec.get("type", "ClusterIP") == "ClusterIP":
        for number, port in enumerate(ports):
            if port.get("nodePort"):
                said = "may not be used when `type` is 'ClusterIP'"
                yield (*place, number, "nodePort"), said, "states a node port, and is no NodePort", "set `type`"
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield ("spec", "type"), "externalName: Required value", "has no `externalName`", "`externalName` is required"


def _of_ingress(spec: Mapping[str, Any]) -> Iterator[_Fault]:
    for number, rule in enumerate(map(mapping, sequence(spec.get("rules")))):
        for index, written in enumerate(sequence(mapping(rule.get("http")).get("paths"))):
            entry, at = mapping(written), ("spec", "rules", number, "http", "paths", index)
            path, kind = text(entry.get("path")), entry.get("pathType")
            is_kept = is_symbolic(path) or is_symbolic(text(kind)) or "{{" in path
            is_kept = is_kept or (not path and kind == "ImplementationSpecific")
            if is_symbolic(written):
                continue
            if kind is None:
                yield at, "pathType: Required value", "has a path without `pathType`", "`pathType` is required"
            elif not is_kept and not path.startswith("/"):
                said = f"{path!r}: must be an absolute path"
                yield (*at, "path"), said, f"has the path {path!r}", "a path begins with a slash"
            elif not is_kept and kind in ("Exact", "Prefix") and (found := _NO_PATH.search(path)):
                said = f"{path!r}: must not contain {found[0]!r}"
                yield (*at, "path"), said, f"has the path {path!r}", f"no path has {found[0]!r} in it"
            if not is_symbolic(entry.get("backend")):
                yield from _of_backend(mapping(entry.get("backend")), (*at, "backend"))
    if "defaultBackend" in spec and not is_symbolic(spec["defaultBackend"]):
        yield from _of_backend(mapping(spec["defaultBackend"]), ("spec", "defaultBackend"))


def _of_backend(backend: Mapping[str, Any], at: Pointer) -> Iterator[_Fault]:
    held = [name for name in ("service", "resource") if backend.get(name)]
    if is_symbolic(mapping(backend.get("service")).get("port")) or any(is_symbolic(backend[name]) for name in held):
        return
    port = mapping(mapping(backend.get("service")).get("port"))
    if len(held) != 1:
        says = f"has a backend with {' and '.join(held) or 'neither service nor resource'}"
        yield at, "a service or a resource is wanted", says, "one of `service` and `resource`"
    elif held == ["service"] and len([name for name in ("name", "number") if port.get(name)]) != 1:
        yield (*at, "service"), "port name or number is required", "has a backend without one port", "name one port"


def _of_parameters(parameters: Mapping[str, Any]) -> Iterator[_Fault]:
    """Yield what is wrong with the parameters of an IngressClass."""
    at: Pointer = ("spec", "parameters")
    is_inner = parameters.get("scope") == "Namespace"
    if is_inner and not parameters.get("namespace"):
        said = "namespace: `parameters.scope` is set to 'Namespace'"
        yield at, said, "has parameters of a namespace, and states none", "`namespace` is required"
    elif parameters.get("namespace") and not is_inner and not is_symbolic(text(parameters.get("scope"))):
        said = "`parameters.scope` is set to 'Cluster'"
        yield (*at, "namespace"), said, "states a namespace for parameters of the cluster", "set `scope: Namespace`"


def _of_pods(pod: Mapping[str, Any], at: Pointer) -> Iterator[_Fault]:
    placed = [
        ((*at, field, number), mapping(each))
        for field in _CONTAINERS
        for number, each in enumerate(sequence(pod.get(field)))
    ]
    seen: set[str] = set()
    for place, container in placed:
        name = text(container.get("name"))
        if name and name in seen and not is_symbolic(name):
            yield (*place, "name"), f'Duplicate value: "{name}"', f"has two containers called {name}", "one name each"
        seen.add(name)
        yield from _of_probes(container, place)
        ports = [mapping(each) for each in sequence(container.get("ports"))]
        for number, port in enumerate(ports):
            called = text(port.get("name"))
            if len(called) > _LONGEST_PORT_NAME and not is_symbolic(called) and "{{" not in called:
                said = f'"{called}": must be no more than {_LONGEST_PORT_NAME} characters'
                yield (*place, "ports", number, "name"), said, f"has a port called {called}", said.partition(": ")[2]
        yield from _twice([("name", port.get("name")) for port in ports], (*place, "ports"), "name")
    volumes = [("name", mapping(each).get("name")) for each in sequence(pod.get("volumes"))]
    yield from _twice(volumes, (*at, "volumes"), "name")


def _twice(values: Sequence[tuple[str, Any]], at: Pointer, what: str) -> Iterator[_Fault]:
    """Yield the second entry of a list with one value, at the field that has it."""
    seen: set[str] = set()
    for number, (field, value) in enumerate(values):
        if isinstance(value, str) and value and value in seen and not is_symbolic(value):
            yield (*at, number, field), f'Duplicate value: "{value}"', f"has {what} {value} twice", "each has its own"
        seen.add(text(value))


def _template(workload: Resource) -> Pointer:
    """Return where a workload describes its pods, below its spec."""
    return ("jobTemplate", "spec", "template", "spec") if workload.key.kind == "CronJob" else ("template", "spec")


def _misfit(workload: Resource) -> Violation | None:
    from policylint.model.selectors import matches

    selector = mapping(workload.spec.get("selector"))
    labels = mapping(mapping(mapping(workload.spec.get("template")).get("metadata")).get("labels"))
    wanted = mapping(selector.get("matchLabels"))
    if not selector or not labels or any(is_symbolic(str(each)) for each in (*wanted.values(), *labels.values())):
        return None
    if matches(selector, labels):
        return None
    from policylint.schema.explain import Violation

    says, label = "has a selector that does not fit the labels of its template", "its own pods do not have these labels"
    return Violation("rule", ("spec", "selector"), ("`selector` does not match template `labels`",), says, label)


def _restarting(workload: Resource, allowed: tuple[str, ...]) -> Violation | None:
    """Return what is wrong with a policy that is stated: charts that are rendered here may leave theirs out."""
    within = _template(workload)
    policy = text(mapping(value_at(workload.spec, within)).get("restartPolicy"))
    if not policy or policy in allowed or is_symbolic(policy):
        return None
    from policylint.schema.explain import Violation

    says, label = f"restarts its pods {policy!r}", f"{' or '.join(allowed)} is wanted"
    return Violation("enum", ("spec", *within, "restartPolicy"), allowed, says, label, policy)


def _without_number(service: Resource) -> Violation | None:
    for number, port in enumerate(sequence(service.spec.get("ports"))):
        given = port.get("port") if isinstance(port, dict) else None
        if isinstance(port, dict) and (given is None or (type(given) is int and given not in _PORTS)):
            from policylint.schema.explain import Violation

            place = ("spec", "ports", number)
            if given is None:
                return Violation(
                    "required", (*place, "port"), (), f"lacks spec.ports[{number}].port", "`port` is required"
                )
            says, label = f"has the port {given}", "ports are numbers from 1 to 65535"
            return Violation("range", (*place, "port"), (), says, label, given)
    return None
