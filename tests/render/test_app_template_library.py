"""What the templates of the app-template chart's library make of values, template by template.

Each case names the template (below charts/library/common/templates of bjw-s-labs/helm-charts) that its expectation was
read from, the values, an object by kind and name, a path into it, and what stands there. What is printed was held
against Helm itself: a chart whose only template is `{{ tpl $text $ }}`, rendered by Helm 4.2.3 (helm-python-sdk 0.2.2).
app_template.yaml holds what Helm made of whole values, and says how.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from policylint.budget import Budget
from policylint.documents import read
from policylint.render.helm.app_template import Release, objects
from policylint.render.helm.app_template.release import LATEST, filled_in, major_of
from policylint.render.provenance import Manifest, Provenance

ABSENT = "-"
POD = "template.spec.containers.0"
ONE = "controllers: {main: {containers: {app: {}}}}\nservice: {app: {ports: {http: {port: 80}}}}\n"
TWO = "controllers: {web: {}, db: {}}\n"
BASE = {"app.kubernetes.io/name": "plex", "app.kubernetes.io/instance": "plex"}
MAIN = {**BASE, "app.kubernetes.io/controller": "main"}


def release(values: str, name: str = "plex", chart: str = "app-template", major: int = LATEST) -> Release:
    document = read(values.encode(), "values.yaml").documents[0]
    return Release(name, "media", document.value, Provenance(document), Budget(), chart, major)


def found(values: str, what: str, **options: Any) -> Manifest:
    manifests = {f"{made.kind} {made.name}": made for made in objects(release(values, **options))}
    return manifests[what]


def at(manifest: Manifest, path: str) -> Any:
    value: Any = manifest.body if path.startswith("metadata") else manifest.spec
    for step in filter(None, path.split(".")):
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else ABSENT
        else:
            value = value.get(step.replace("|", "."), ABSENT)
    return value


LONG = f"global: {{nameOverride: {'x' * 70}}}\nservice: {{a: {{}}}}"
LONG_SERVICE = f"Service plex-{'x' * 58}"

NAMES = "lib/common/_determineResourceNameFromValues.tpl"
FULL = "lib/chart/_names.tpl"
SERVICE = "classes/_service.tpl"
ROUTE = "classes/_route.tpl"
GRANT = "classes/_referenceGrant.tpl"
LISTENERS = "classes/_listenerSet.tpl"
STATEFUL_SET = "classes/_statefulset.tpl"
DEPLOYMENT = "classes/_deployment.tpl"
LABELS = "lib/pod/metadata/_labels.tpl"
PORTS = "lib/container/fields/_ports.tpl"
POLICY = "classes/_networkpolicy.tpl"
CILIUM = "classes/_ciliumNetworkPolicy.tpl"
RAW = "classes/_rawResource.tpl"
ACCOUNT = "lib/pod/fields/_serviceAccountName.tpl"
OPTION = "lib/pod/_getOption.tpl"

CASES: list[tuple[str, str, str, str, Any]] = [
    # Names
    (NAMES, "service: {plex: {ports: {a: {port: 1}}}, b: {}}", "Service plex", "type", "ClusterIP"),
    (NAMES, "service: {a: {primary: true}, b: {}}", "Service plex-a", "type", "ClusterIP"),
    (NAMES, "service: {a: {enabled: false}, b: {}}", "Service plex", "type", "ClusterIP"),
    (NAMES, "controllers: {a: {}, b: {}}", "Deployment plex-b", "replicas", 1),
    (NAMES, "controllers: {a: {forceRename: Tv}, b: {}}", "Deployment tv", "replicas", 1),
    (NAMES, "controllers: {a: {prefix: x, suffix: z}}", "Deployment x-plex-z", "replicas", 1),
    (NAMES, "fullnameOverride: tv\ncontrollers: {a: {}}", "Deployment tv", "replicas", 1),
    (FULL, "global: {fullnameOverride: tv}\n" + ONE, "Service tv", "selector.app|kubernetes|io/name", "plex"),
    (FULL, "global: {nameOverride: tv}\n" + ONE, "Service plex-tv", "selector.app|kubernetes|io/name", "tv"),
    (FULL, LONG, LONG_SERVICE, "type", "ClusterIP"),
    # Services
    (SERVICE, ONE, "Service plex", "selector", MAIN),
    ("lib/service/_autoDetectController.tpl", TWO + "service: {a: {}}", "Service plex", "selector", ABSENT),
    (SERVICE, TWO + "service: {a: {controller: db}}", "Service plex", "selector.app|kubernetes|io/controller", "db"),
    (
        SERVICE,
        ("controllers: {main: {extraSelectorLabels: {x: '{{ .Release.Name }}'}}}\n"
        "service: {a: {extraSelectorLabels: {'{{ .Release.Name }}': 'y'}}}"),
        "Service plex",
        "selector",
        {**MAIN, "x": "plex", "plex": "y"},
    ),
    (SERVICE, ONE, "Service plex", "ports.0.targetPort", 80),
    (SERVICE, "service: {a: {ports: {x: {port: 80, targetPort: web}}}}", "Service plex", "ports.0.targetPort", "web"),
    (SERVICE, "service: {a: {ports: {x: {port: 80, protocol: HTTPS}}}}", "Service plex", "ports.0.protocol", "TCP"),
    (SERVICE, "service: {a: {ports: {x: {port: 80, protocol: UDP}}}}", "Service plex", "ports.0.protocol", "UDP"),
    (SERVICE, "service: {a: {ports: {x: {port: '80'}}}}", "Service plex", "ports.0.port", 80),
    (SERVICE, "service: {a: {ports: {x: {port: 8, appProtocol: h2c}}}}", "Service plex", "ports.0.appProtocol", "h2c"),
    (SERVICE, "service: {a: {ports: {z: {port: 1}, b: {port: 2}}}}", "Service plex", "ports.0.name", "b"),
    (SERVICE, "service: {a: {ports: {x: {}}}}", "Service plex", "ports", []),
    (
        SERVICE,
        "service: {a: {ports: {x: {portRange: {start: 7, end: 8}}}}}",
        "Service plex",
        "ports.1",
        {"name": "x-8", "port": 8, "targetPort": 8, "protocol": "TCP"},
    ),
    (SERVICE, "service: {a: {type: ExternalName, externalName: x.y}}", "Service plex", "externalName", "x.y"),
    (SERVICE, "service: {a: {labels: {x: 'y'}}}", "Service plex", "metadata.labels.x", "y"),
    (SERVICE, "global: {labels: {x: 'y'}}\nservice: {a: {}}", "Service plex", "metadata.labels.x", "y"),
    # Routes
    (ROUTE, ONE + "route: {r: {kind: TCPRoute, hostnames: [a]}}", "TCPRoute plex", "hostnames", ABSENT),
    (
        ROUTE,
        ONE + "route: {r: {kind: TLSRoute, rules: [{matches: [{}], filters: [{}], backendRefs: [{}]}]}}",
        "TLSRoute plex",
        "rules",
        [{"backendRefs": [{"name": "plex", "port": 80}]}],
    ),
    (ROUTE, "route: {r: {kind: GRPCRoute, rules: [{timeouts: {request: 1s}}]}}", "GRPCRoute plex", "rules", [{}]),
    (
        ROUTE,
        ONE + "route: {r: {rules: [{backendRefs: [{name: x, identifier: app, port: 1}]}]}}",
        "HTTPRoute plex",
        "rules.0.backendRefs.0",
        {"name": "x", "port": 1},
    ),
    (
        "lib/service/_getPortNumberByName.tpl",
        ONE + "route: {r: {rules: [{backendRefs: [{identifier: app, port: http}]}]}}",
        "HTTPRoute plex",
        "rules.0.backendRefs.0.port",
        80,
    ),
    (
        "lib/service/_primary_port.tpl",
        "service: {a: {ports: {b: {port: 2, primary: true}, c: {port: 3, primary: true}, d: {}}}}\nroute: {r: {}}",
        "HTTPRoute plex",
        "rules.0.backendRefs.0.port",
        3,
    ),
    (
        ROUTE,
        ONE + "route: {r: {namespaceOverride: tv}}",
        "HTTPRoute plex",
        "rules.0.backendRefs.0",
        {"namespace": "media", "name": "plex", "port": 80},
    ),
    (ROUTE, ONE + "route: {r: {namespaceOverride: tv}}", "HTTPRoute plex", "metadata.namespace", "tv"),
    (
        GRANT,
        ONE + "route: {r: {namespaceOverride: tv}}",
        "ReferenceGrant plex",
        "",
        {
            "from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "tv"}],
            "to": [{"group": "", "kind": "Service", "name": "plex"}],
        },
    ),
    (GRANT, ONE + "route: {r: {namespaceOverride: tv}}", "ReferenceGrant plex", "metadata.namespace", "media"),
    (
        ROUTE,
        ("listenerSets: {edge: {namespaceOverride: net, parentRef: {name: gw}, listeners: []}}\n"
        "route: {r: {parentRefs: [{identifier: edge, sectionName: web}]}}"),
        "HTTPRoute plex",
        "parentRefs.0",
        {
            "group": "gateway.networking.k8s.io",
            "kind": "ListenerSet",
            "name": "plex",
            "namespace": "net",
            "sectionName": "web",
        },
    ),
    (
        LISTENERS,
        "listenerSets: {a: {parentRef: {name: gw}, listeners: [{name: w, port: 80, protocol: HTTP}]}}",
        "ListenerSet plex",
        "listeners.0.port",
        80,
    ),
    # Pods
    (DEPLOYMENT, ONE, "Deployment plex", "selector.matchLabels", MAIN),
    (LABELS, ONE, "Deployment plex", "template.metadata.labels", MAIN),
    (
        LABELS,
        "controllers: {main: {pod: {labels: {x: 'y', app.kubernetes.io/name: no}}}}",
        "Deployment plex",
        "template.metadata.labels",
        {**MAIN, "x": "y"},
    ),
    (
        LABELS,
        "global: {labels: {g: h}, propagateGlobalMetadataToPods: true}\ncontrollers: {main: {}}",
        "Deployment plex",
        "template.metadata.labels.g",
        "h",
    ),
    (
        OPTION,
        "defaultPodOptions: {labels: {a: b}}\ncontrollers: {main: {pod: {labels: {x: 'y'}}}}",
        "Deployment plex",
        "template.metadata.labels.a",
        ABSENT,
    ),
    (
        OPTION,
        ("defaultPodOptionsStrategy: merge\ndefaultPodOptions: {labels: {a: b}}\n"
        "controllers: {main: {pod: {labels: {x: 'y'}}}}"),
        "Deployment plex",
        "template.metadata.labels.a",
        "b",
    ),
    (
        OPTION,
        "defaultPodOptions: {hostNetwork: true}\ncontrollers: {main: {}}",
        "Deployment plex",
        "template.spec.hostNetwork",
        True,
    ),
    (
        OPTION,
        "defaultPodOptions: {hostNetwork: true}\ncontrollers: {main: {pod: {hostNetwork: false}}}",
        "Deployment plex",
        "template.spec.hostNetwork",
        ABSENT,
    ),
    (
        PORTS,
        "controllers: {main: {containers: {app: {ports: [{name: http, containerPort: 80}]}}}}",
        "Deployment plex",
        f"{POD}.ports",
        [{"name": "http", "containerPort": 80}],
    ),
    (
        PORTS,
        "x: 81\ncontrollers: {main: {containers: {app: {ports: {a: '{{ .Values.x }}', b: {containerPort: 82}}}}}}",
        "Deployment plex",
        f"{POD}.ports",
        [{"name": "a", "containerPort": 81}, {"name": "b", "containerPort": 82}],
    ),
    (
        "lib/controller/_enabled_containers.tpl",
        "controllers: {main: {containers: {app: {enabled: false}, b: {nameOverride: c}}}}",
        "Deployment plex",
        "template.spec.containers",
        [{"name": "c"}],
    ),
    (
        "classes/_cronjob.tpl",
        "controllers: {main: {type: cronjob}}",
        "CronJob plex",
        "jobTemplate.spec.template.metadata.labels",
        MAIN,
    ),
    ("classes/_job.tpl", "controllers: {main: {type: job}}", "Job plex", "selector", ABSENT),
    *(
        ("lib/pod/_spec.tpl", values, kind, f"{of}template.spec.restartPolicy", wanted)
        for values, kind, of, wanted in (
            ("controllers: {main: {type: job}}", "Job plex", "", "Never"),
            ("controllers: {main: {type: cronjob}}", "CronJob plex", "jobTemplate.spec.", "Never"),
            ("controllers: {main: {type: job, pod: {restartPolicy: OnFailure}}}", "Job plex", "", "OnFailure"),
            ("defaultPodOptions: {restartPolicy: OnFailure}\n" + ONE, "Deployment plex", "", "OnFailure"),
            (ONE, "Deployment plex", "", ABSENT),
        )
    ),
    (STATEFUL_SET, "controllers: {m: {type: statefulset, replicas: 0}}", "StatefulSet plex", "replicas", 0),
    (DEPLOYMENT, "controllers: {m: {replicas: null}}", "Deployment plex", "replicas", ABSENT),
    ("classes/_daemonset.tpl", "controllers: {m: {type: daemonset}}", "DaemonSet plex", "replicas", ABSENT),
    (ACCOUNT, ONE, "Deployment plex", "template.spec.serviceAccountName", "plex"),
    (
        "values/_init.tpl",
        "global: {createDefaultServiceAccount: false}\n" + ONE,
        "Deployment plex",
        "template.spec.serviceAccountName",
        ABSENT,
    ),
    (
        ACCOUNT,
        "serviceAccount: {a: {}, b: {}}\ncontrollers: {main: {serviceAccount: {identifier: b}}}",
        "Deployment plex",
        "template.spec.serviceAccountName",
        "plex-b",
    ),
    (
        ACCOUNT,
        "controllers: {main: {serviceAccount: {name: mine}}}",
        "Deployment plex",
        "template.spec.serviceAccountName",
        "mine",
    ),
    # Network policies
    (POLICY, ONE + "networkpolicies: {a: {}}", "NetworkPolicy plex", "podSelector", {"matchLabels": MAIN}),
    (POLICY, ONE + "networkpolicies: {a: {podSelector: {}}}", "NetworkPolicy plex", "podSelector", {}),
    (
        "lib/networkpolicy/_controllerSelector.tpl",
        TWO + "networkpolicies: {a: {controllers: [web, d.]}}",
        "NetworkPolicy plex",
        "podSelector",
        {
            "matchLabels": BASE,
            "matchExpressions": [{"key": "app.kubernetes.io/controller", "operator": "In", "values": ["db", "web"]}],
        },
    ),
    (
        "lib/networkpolicy/_rules.tpl",
        TWO + "networkpolicies: {a: {controller: db, rules: {ingress: [{from: [{controller: web}], ports: [x]}]}}}",
        "NetworkPolicy plex",
        "ingress.0",
        {
            "from": [{"podSelector": {"matchLabels": {**BASE, "app.kubernetes.io/controller": "web"}}}],
            "ports": ["x"],
        },
    ),
    (
        CILIUM,
        TWO + "networkpolicies: {a: {type: cilium, controller: db, ingress: [{fromController: web}]}}",
        "CiliumNetworkPolicy plex",
        "",
        {
            "endpointSelector": {"matchLabels": {**BASE, "app.kubernetes.io/controller": "db"}},
            "ingress": [{"fromEndpoints": [{"matchLabels": {**BASE, "app.kubernetes.io/controller": "web"}}]}],
        },
    ),
    # What is referred to by name
    ("classes/_secret.tpl", "secrets: {a: {stringData: {x: 'y'}}}", "Secret plex", "metadata.namespace", "media"),
    ("classes/_configmap.tpl", "configMaps: {a: {}, b: {}}", "ConfigMap plex-b", "metadata.namespace", "media"),
    (
        RAW,
        "rawResources: {a: {manifest: {apiVersion: v1, kind: Thing, metadata: {namespace: tv, labels: {x: 'y'}}}}}",
        "Thing plex",
        "metadata.namespace",
        "tv",
    ),
    (
        RAW,
        "rawResources: {a: {manifest: {apiVersion: v1, kind: Thing, metadata: {labels: {x: 'y'}}}}}",
        "Thing plex",
        "metadata.labels.x",
        "y",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("template", "values", "what", "path", "expected"), CASES)
def test_objects(template: str, values: str, what: str, path: str, expected: Any) -> None:
    assert at(found(values, what), path) == expected, template


def test_a_manifest_is_written_with_all_its_fields() -> None:
    manifest = found(
        "rawResources: {a: {manifest: {apiVersion: v1, kind: ConfigMap, data: {x: 'y'}}}}", "ConfigMap plex"
    )
    assert manifest.body["data"] == {"x": "y"}


@pytest.mark.parametrize(
    "values", ["networkpolicies: 5", "controllers: {a: {type: pod}}", "controllers: {a: {containers: 5, pod: 3}}"]
)
def test_nonsense_is_no_error(values: str) -> None:
    objects(release(values))


def test_no_grant_where_it_is_off_or_nothing_of_the_release_is_behind_the_route() -> None:
    off = ONE + "route: {r: {namespaceOverride: tv, referenceGrant: {enabled: false}}}"
    elsewhere = ONE + "route: {r: {namespaceOverride: tv, rules: [{backendRefs: [{name: a, namespace: b, port: 1}]}]}}"
    for values in (off, elsewhere):
        assert "ReferenceGrant" not in [made.kind for made in objects(release(values))]


OLDER: list[tuple[int, str, str, str, Any]] = [
    (3, ONE, "Service plex", "selector", {**BASE, "app.kubernetes.io/component": "main"}),
    (2, "service: {a: {primary: true}, b: {}}", "Service plex", "type", "ClusterIP"),
    (1, "service: {main: {ports: {http: {port: 80}}}, b: {}}", "Service plex", "selector", BASE),
    (1, "controller: {type: daemonset}", "DaemonSet plex", "template.metadata.labels", BASE),
    (
        1,
        "service: {main: {ports: {http: {port: 80, targetPort: 8080}}}}",
        "Deployment plex",
        f"{POD}.ports",
        [{"name": "http", "containerPort": 8080}],
    ),
]


@pytest.mark.parametrize(("major", "values", "what", "path", "expected"), OLDER)
def test_older_versions(major: int, values: str, what: str, path: str, expected: Any) -> None:
    assert at(found(values, what, major=major), path) == expected


def test_version_1_makes_only_what_is_switched_on() -> None:
    values = (
        "controller: {enabled: false}\nservice: {main: {enabled: false}, b: {}, c: {enabled: true}}\nroute: {main: {}}"
    )
    assert [str(made) for made in objects(release(values, major=1))] == ["Service media/plex"]


VERSIONS = {"5.1.0": 5, "^4.4.0": 4, ">=3.0.0 <4": 3, "v2.6.0": 2, "1.x": 1, "": LATEST, "latest": LATEST, "4": 4}


@pytest.mark.parametrize(("version", "major"), VERSIONS.items())
def test_major_versions(version: str, major: int) -> None:
    assert major_of("app-template", version) == major
    assert major_of("memini", version) == LATEST


def test_another_chart_of_the_library_is_named_in_names_and_may_have_other_values() -> None:
    manifests = objects(release(ONE, name="tv", chart="memini"))
    assert {made.name for made in manifests} == {"tv-memini"}
    assert all(made.provisional for made in manifests)
    assert not any(made.provisional for made in objects(release(ONE)))


PRINTED = {
    "{{ .Release.Name }}.{{ $.Release.Namespace }}": "plex.media",
    "{{- .Values.host -}}": "a.b",
    "x {{- .Values.host -}} y": "x {{- .Values.host -}} y",  # Helm prints xa.by
    "{{ .Values.port }}": "8080",
    "{{ .Values.lit }}": "true",
    "{{ .Values.million }}": "{{ .Values.million }}",  # Helm prints 1e+06
    "{{ .Values.nested.gone }}": "{{ .Values.nested.gone }}",
    "{{ .Values.nested }}": "{{ .Values.nested }}",
    "{{ .Values.template }}": "{{ .Values.template }}",  # Helm prints the inner template
    "{{ .Release.Name | upper }}": "{{ .Release.Name | upper }}",
}


@pytest.mark.parametrize(("written", "printed"), PRINTED.items())
def test_printed(written: str, printed: str) -> None:
    values = "{host: a.b, port: 8080, lit: true, million: 1000000, nested: {x: 1}, template: '{{ .Release.Name }}'}"
    assert filled_in(written, release(values)) == printed


GOLDEN = read(Path(__file__).with_name("app_template.yaml").read_bytes(), "app_template.yaml").documents[0].value
DEFAULTS = {"group": ("", "gateway.networking.k8s.io"), "kind": ("Service", "Gateway"), "weight": (1,)}
"""Values of references that mean the same as none."""
EVERYTHING = [{"path": {"type": "PathPrefix", "value": "/"}}]


def meant(kind: str, namespace: str, content: Any) -> Any:
    """Return the fields of an object without what the API server takes for granted."""
    spec = content.get("spec", {})
    references = [*spec.get("parentRefs", ()), *filter(None, [spec.get("parentRef")])]
    for rule in spec.get("rules", ()):
        references += rule.get("backendRefs", ())
        if kind == "HTTPRoute" and rule.get("matches") == EVERYTHING:
            del rule["matches"]
    for reference in references:
        for field, values in (*DEFAULTS.items(), ("namespace", (namespace,))):
            if reference.get(field) in values:
                del reference[field]
    if "template" in spec:
        pod = spec["template"]["spec"]
        spec["template"]["spec"] = {field: pod[field] for field in ("hostNetwork", "containers") if pod.get(field)}
    return content


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["about"])
def test_what_helm_makes_of_the_templates(case: Any) -> None:
    given = Release("plex", "media", case["values"], Provenance(read(b"{}", "values.yaml").documents[0]), Budget())
    expected = {
        (golden["kind"], golden["namespace"], golden["name"]): {
            field: value for field, value in golden.items() if field not in ("kind", "namespace", "name")
        }
        for golden in deepcopy(case["objects"])
    }
    rendered = {}
    for made in objects(given):
        content = {name: value for name, value in made.body.items() if name not in ("apiVersion", "kind", "metadata")}
        rendered[made.kind, made.namespace, made.name] = deepcopy(content)
    assert rendered.keys() == expected.keys()
    for (kind, namespace, name), content in rendered.items():
        assert meant(kind, namespace, content) == meant(kind, namespace, expected[kind, namespace, name]), name
