"""Workloads of an app-template release: the labels and container ports of their Pods, and their ServiceAccounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import size_of
from policylint.model import mapping, sequence, text
from policylint.render.helm.app_template.release import (
    Item,
    Release,
    as_number,
    enabled_keys,
    filled_in,
    full_name,
    global_labels,
    is_enabled,
    items,
    made,
    selector_labels,
)
from policylint.render.provenance import Manifest, Provenance

_KINDS = {
    "deployment": ("apps/v1", "Deployment"),
    "statefulset": ("apps/v1", "StatefulSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "cronjob": ("batch/v1", "CronJob"),
    "job": ("batch/v1", "Job"),
}
_ONCE = ("cronjob", "job")
"""Types of controllers whose pods are started again where that is stated alone (templates/lib/pod/_spec.tpl)."""
_SCALED = ("Deployment", "StatefulSet")


def only_controller(release: Release, services: Mapping[str, Item]) -> Item | None:
    """Return the controller of a release of version 1, whose container has a port for each port of a Service; None
    where it is off (templates/lib/container/_ports.tpl of that version)."""
    values = mapping(release.values.get("controller"))
    if not is_enabled({**values}):
        return None
    ports: dict[str, Any] = {}
    for item in services.values():
        for key in enabled_keys(item.values.get("ports")):
            port = item.values["ports"][key]
            ports[key] = port.get("targetPort") or port.get("port")
    release.budget.spend(size_of(ports)[0])
    name = full_name(release)
    pod = {"labels": release.values.get("podLabels"), "hostNetwork": release.values.get("hostNetwork")}
    made_values = {**values, "pod": pod, "containers": {name: {"ports": ports}}}
    return Item("", made_values, release.origin.child("controller"), name.lower())


def workload(release: Release, item: Item, accounts: Mapping[str, Item]) -> Iterator[Manifest]:
    """Yield the workload of an entry of `controllers`, none where its type is not one that the chart knows.

    Source: templates/classes/_deployment.tpl and the like, templates/lib/pod/_spec.tpl.
    """
    api_version, kind = _KINDS.get(text(item.values.get("type"), "deployment"), ("", ""))
    if not kind:
        return
    selector = selector_labels(release, item.key)
    template, place = _pod_template(release, item, selector, accounts)
    spec: dict[str, Any] = {"template": template}
    places = {"template": place}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
        places = {"jobTemplate": item.origin.with_children({"spec": item.origin.with_children(places)})}
    elif kind != "Job":
        spec["selector"] = {"matchLabels": selector}
        places["selector"] = item.origin
    if kind in _SCALED and item.values.get("replicas", 1) is not None:
        spec["replicas"] = as_number(item.values.get("replicas", 1))
    yield made(release, item, api_version, kind, {"spec": spec}, places)


def _pod_template(
    release: Release, item: Item, selector: Mapping[str, Any], accounts: Mapping[str, Item]
) -> tuple[dict[str, Any], Provenance]:
    """Return the Pod template of a controller, and where its parts are written."""
    labels = global_labels(release) if _propagates(release) else {}
    labels |= {str(filled_in(name, release)): value for name, value in _option(release, item, "labels").items()}
    metadata = {"labels": {**filled_in(labels, release), **selector}}
    annotations = filled_in(_option(release, item, "annotations"), release)
    if annotations:
        metadata["annotations"] = annotations
    spec: dict[str, Any] = {}
    origins: dict[Any, Provenance] = {}
    for field in ("initContainers", "containers"):
        containers = [_container(release, item, field, key) for key in enabled_keys(item.values.get(field))]
        if containers:
            spec[field] = [container for container, _ in containers]
            origins[field] = item.origin.child(field).with_items(place for _, place in containers)
    if _setting(release, item, "hostNetwork") is True:
        spec["hostNetwork"] = True
    restarts = text(_setting(release, item, "restartPolicy"))
    if restarts or text(item.values.get("type")) in _ONCE:
        spec["restartPolicy"] = restarts or "Never"
    account = _account(release, item, accounts)
    if account:
        spec["serviceAccountName"] = account
    pod = item.origin.child("pod")
    place = item.origin.with_children({"metadata": pod, "spec": item.origin.with_children(origins)})
    return {"metadata": metadata, "spec": spec}, place


def _propagates(release: Release) -> bool:
    return mapping(release.values.get("global")).get("propagateGlobalMetadataToPods") is True


def _setting(release: Release, item: Item, name: str) -> Any:
    """Return an option of a Pod that is no mapping: its own, else the default one."""
    own = mapping(item.values.get("pod")).get(name)
    return mapping(release.values.get("defaultPodOptions")).get(name) if own is None else own


def _option(release: Release, item: Item, name: str) -> dict[str, Any]:
    """Return a mapping among the options of a Pod: its own instead of the default one, or over it
    (templates/lib/pod/_getOption.tpl)."""
    default = mapping(mapping(release.values.get("defaultPodOptions")).get(name))
    own = mapping(item.values.get("pod")).get(name)
    merges = release.major <= 3 or release.values.get("defaultPodOptionsStrategy") == "merge"
    return {**(default if merges or not isinstance(own, dict) else {}), **mapping(own)}


def _container(release: Release, item: Item, field: str, key: str) -> tuple[dict[str, Any], Provenance]:
    """Return a container with its name and ports (templates/lib/container/fields/_ports.tpl)."""
    values = item.values[field][key]
    place = item.origin.at(field, key)
    container: dict[str, Any] = {"name": filled_in(text(values.get("nameOverride")) or key, release)}
    if text(values.get("restartPolicy")):
        container["restartPolicy"] = values["restartPolicy"]
    written = values.get("ports")
    ports: list[dict[str, Any]] = []
    origins: list[Provenance] = []
    named = written.items() if isinstance(written, dict) else enumerate(sequence(written))
    for step, port in named:
        body = {"name": step} if isinstance(written, dict) else {}
        body |= port if isinstance(port, dict) else {"containerPort": port}
        if body.get("containerPort"):
            body = filled_in(body, release)
            ports.append({**body, "containerPort": as_number(body["containerPort"])})
            origins.append(place.at("ports", step))
    if ports:
        container["ports"] = ports
    return container, place.with_child("name", place).with_child("ports", place.child("ports").with_items(origins))


def service_accounts(release: Release) -> dict[str, Item]:
    """Return the enabled ServiceAccounts; from version 5 on there is one by default (templates/values/_init.tpl)."""
    if release.major < 4:
        return {}
    default = mapping(release.values.get("global")).get("createDefaultServiceAccount", True) is True
    if "serviceAccount" in release.values or release.major < 5 or not default:
        return items(release, "serviceAccount")
    return {release.name: Item(release.name, {}, release.origin, full_name(release).lower())}


def _account(release: Release, item: Item, accounts: Mapping[str, Item]) -> str:
    """Return the name of the ServiceAccount of a controller's Pods; "" for `default`
    (templates/lib/pod/fields/_serviceAccountName.tpl)."""
    asked = item.values.get("serviceAccount")
    if asked is None:
        return next(iter(accounts.values())).name if len(accounts) == 1 and release.major >= 5 else ""
    account = accounts.get(text(mapping(asked).get("identifier")))
    return account.name if account is not None else text(filled_in(text(mapping(asked).get("name")), release))
