"""GWP114: what is to take pods into a mesh, where no mesh reads it (linkerd/linkerd2#4856, #4125)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated


def namespace(metadata: str) -> str:
    return manifest("v1", "Namespace", "shop", more=metadata)


def workload(own: str, pods: str, kind: str = "apps/v1/Deployment") -> str:
    group, _, name = kind.rpartition("/")
    pod = f"template: {{metadata: {{{pods}}}, spec: {{containers: [{{name: web}}]}}}}"
    spec = f"spec: {{jobTemplate: {{spec: {{{pod}}}}}}}" if name == "CronJob" else f"spec: {{{pod}}}"
    return manifest(group, name, "web", "shop", spec, more=own)


LINKERD, ISTIO = "linkerd.io/inject: enabled", "istio-injection: enabled"
AMBIENT, SIDECAR = "istio.io/dataplane-mode: ambient", "sidecar.istio.io/inject: 'false'"
PORTS = "config.linkerd.io/skip-outbound-ports: '3306'"


@pytest.mark.parametrize(
    ("manifests", "told"),
    [
        ((namespace(f"labels: {{{LINKERD}}}"),), ["label linkerd.io/inject does nothing on Namespace shop"]),
        ((namespace(f"annotations: {{{LINKERD}}}"),), []),
        ((namespace(f"annotations: {{{LINKERD}}}, labels: {{{LINKERD}}}"),), []),
        ((namespace(f"annotations: {{{ISTIO}}}"),), ["annotation istio-injection does nothing on Namespace shop"]),
        ((namespace(f"labels: {{{ISTIO}}}"),), []),
        (
            (namespace(f"annotations: {{{AMBIENT}}}"),),
            ["annotation istio.io/dataplane-mode does nothing on Namespace shop"],
        ),
        ((namespace("labels: {config.linkerd.io/admission-webhooks: disabled}"),), []),
        (
            (workload(f"annotations: {{{LINKERD}}}", ""),),
            ["annotation linkerd.io/inject does nothing on Deployment shop/web"],
        ),
        ((workload("", f"annotations: {{{LINKERD}}}"),), []),
        ((workload("", f"labels: {{{LINKERD}}}"),), []),  # of pods it may be anybody's
        ((workload(f"annotations: {{{PORTS}}}", f"annotations: {{{PORTS}}}"),), []),
        (
            (workload(f"annotations: {{{PORTS}}}", "", "apps/v1/StatefulSet"),),
            ["annotation config.linkerd.io/skip-outbound-ports does nothing on StatefulSet shop/web"],
        ),
        (
            (workload(f"labels: {{{SIDECAR}}}", "", "batch/v1/CronJob"),),
            ["label sidecar.istio.io/inject does nothing on CronJob shop/web"],
        ),
        ((workload(f"labels: {{{SIDECAR}}}", f"labels: {{{SIDECAR}}}", "batch/v1/CronJob"),), []),
        (
            (workload(f"annotations: {{{LINKERD}}}", "", "argoproj.io/v1alpha1/Rollout"),),
            ["annotation linkerd.io/inject does nothing on Rollout shop/web"],
        ),
        (
            (workload(f"annotations: {{{LINKERD}}}", "", "v1/ReplicationController"),),
            ["annotation linkerd.io/inject does nothing on ReplicationController shop/web"],
        ),
        ((manifest("v1", "Pod", "web", "shop", "spec: {}", more=f"annotations: {{{LINKERD}}}"),), []),
        ((manifest("v1", "Service", "web", "shop", "spec: {}", more=f"annotations: {{{PORTS}}}"),), []),
    ],
)
def test_what_no_mesh_reads(manifests: tuple[str, ...], told: list[str]) -> None:
    assert [each.message for each in run(simulated(*manifests), select={"GWP114"})] == told


@pytest.mark.parametrize("beside", [(), (namespace(""),)], ids=["alone", "beside a Namespace"])
@pytest.mark.parametrize(("written", "told"), [("edge.example", 1), ("[edge.example]", 0)])
def test_an_object_that_is_refused_has_no_annotations(beside: tuple[str, ...], written: str, told: int) -> None:
    """It is not there: that it is refused is another finding, whatever else is in the tree."""
    route = manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        "web",
        "shop",
        "spec: {parentRefs: [{name: edge}]}",
        more=f"annotations: {{external-dns.alpha.kubernetes.io/target: {written}}}",
    )
    assert len(list(run(simulated(route, *beside), select={"GWP114"}))) == told
