"""What every API server refuses of kinds of Kubernetes itself, whatever the release, that no name tells.

Source: Kubernetes, pkg/apis/apps/validation (ValidateDeploymentSpec and its like: `selector` does not match template
`labels`; DaemonSets and their like restart always), pkg/apis/batch/validation (validateJobSpec: a Job does never) and
pkg/apis/core/validation (validateServicePort).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.model import Resource, is_symbolic, mapping, sequence, text, value_at
from policylint.model.selectors import matches

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

_TEMPLATED = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_PORTS = range(1, 65_536)


def refused(resource: Resource) -> Violation | None:
    """Return for what an API server refuses an object of a kind of Kubernetes itself, None where nothing is seen."""
    if resource.key.group == "apps" and resource.key.kind in _TEMPLATED:
        return _misfit(resource) or _restarting(resource, ("Always",))
    if resource.key[:2] in (("batch", "Job"), ("batch", "CronJob")):
        return _restarting(resource, ("Never", "OnFailure"))
    return _without_number(resource) if resource.key[:2] == ("", "Service") else None


def _misfit(workload: Resource) -> Violation | None:
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
    within = ("jobTemplate", "spec", "template", "spec") if workload.key.kind == "CronJob" else ("template", "spec")
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
