"""A grammar of charts: values, named templates, conditions, subcharts, globals, files, hooks, and what is given."""

from __future__ import annotations

import json
from typing import Any

from tests.witness.grammar import Draw, Manifest
from tests.witness.kustomize_trees import file

HELPERS = """
{{- define "NAME.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "NAME.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}
{{/* Labels of everything. */}}
{{- define "NAME.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "NAME.selectorLabels" . }}
{{- if .Chart.AppVersion }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "NAME.selectorLabels" -}}
app.kubernetes.io/name: {{ include "NAME.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "NAME.port" -}}{{ .port | default 80 | int }}{{- end -}}
"""
HEAD = """apiVersion: VERSION
kind: KIND
metadata:
  name: {{ include "NAME.fullname" . }}SUFFIX
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
"""
SERVICE = """spec:
  type: {{ .Values.service.type }}
  ports:
    - port: {{ .Values.service.port }}
      name: http
    {{- range $name, $port := .Values.service.more }}
    - name: {{ $name }}
      port: {{ $port.port | default 81 }}
      {{- if $port.protocol }}
      protocol: {{ upper $port.protocol }}
      {{- end }}
    {{- end }}
  selector:
    {{- include "NAME.selectorLabels" . | nindent 4 }}
"""
ROUTE = """  {{- with .Values.route.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .Values.route.parentRefs }}
  parentRefs:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.route.hostnames }}
  hostnames:
    {{- range .Values.route.hostnames }}
    - {{ tpl . $ | quote }}
    {{- end }}
  {{- end }}
  rules:
    {{- range $index, $rule := .Values.route.rules }}
    - matches:
        - path:
            type: {{ $rule.type | default "PathPrefix" }}
            value: {{ $rule.path | quote }}
      backendRefs:
        - name: {{ include "NAME.fullname" $ }}
          port: {{ $.Values.service.port }}
          weight: {{ add $index 1 }}
    {{- else }}
    - backendRefs: [{name: {{ include "NAME.fullname" . }}, port: {{ include "NAME.port" .Values.service }}}]
    {{- end }}
"""
INGRESS = """spec:
  ingressClassName: {{ .Values.ingress.className | default "nginx" }}
  {{- if .Values.ingress.tls }}
  tls:
    {{- range .Values.ingress.tls }}
    - hosts:
        {{- range .hosts }}
        - {{ . | quote }}
        {{- end }}
      secretName: {{ .secretName }}
    {{- end }}
  {{- end }}
  rules:
    {{- range .Values.ingress.hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
          {{- range .paths }}
          - path: {{ .path }}
            pathType: {{ .pathType }}
            backend:
              service:
                name: {{ include "NAME.fullname" $ }}
                port:
                  number: {{ $.Values.service.port }}
          {{- end }}
    {{- end }}
"""
WORKLOAD = """spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  selector:
    matchLabels: {{- include "NAME.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      annotations:
        checksum/config: {{ .Values.config | toJson | sha256sum }}
      labels: {{- include "NAME.selectorLabels" . | nindent 8 }}
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          {{- with .Values.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          env:
            {{- range $key, $value := .Values.env }}
            - name: {{ $key | upper | replace "-" "_" }}
              value: {{ $value | quote }}
            {{- end }}
"""
CONFIG = """data:
  {{- range $key, $value := .Values.config }}
  {{ $key }}: {{ kindIs "string" $value | ternary (tpl (toString $value) $) (toJson $value) | quote }}
  {{- end }}
  own.txt: |-
    {{- .Files.Get "config/own.txt" | nindent 4 }}
  release: {{ printf "%s/%s" .Release.Namespace .Release.Name }}
"""
SECRET = """{{- $old := lookup "v1" "Secret" .Release.Namespace "old" }}
data:
  key: {{ if $old }}{{ index $old.data "key" }}{{ else }}{{ .Values.image.repository | b64enc }}{{ end }}
stringData: {{- omit .Values.config "b" | toYaml | nindent 2 }}
"""
POLICY = """spec:
  {{- if eq .Values.mode "strict" }}
  mtls: {mode: STRICT}
  {{- else if has .Values.mode (list "a" "b") }}
  mtls: {mode: {{ .Values.mode | upper }}}
  {{- end }}
  {{- $all := dict "own" .Values.config "global" (.Values.global | default dict) }}
  all: {{ $all | toJson }}
  {{- with (.Values.global).region }}
  region: {{ . }}
  {{- end }}
"""
KINDS = (
    ("v1", "Service", SERVICE, "true"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute", ROUTE, ".Values.route.enabled"),
    ("networking.k8s.io/v1", "Ingress", INGRESS, ".Values.ingress.enabled"),
    ("apps/v1", "Deployment", WORKLOAD, "true"),
    ("v1", "ConfigMap", CONFIG, "(not (empty .Values.config))"),
    ("v1", "Secret", SECRET, ".Values.secret"),
    ("security.istio.io/v1", "PeerAuthentication", POLICY, ".Values.policy"),
)
CONDITIONS = (
    "and {} .Values.service",
    "{}",
    "{}",
    "or {} .Values.forced",
    "{}",
    'and ({}) (.Capabilities.APIVersions.Has "GATEWAY")',
    'and ({}) (semverCompare ">=1.20-0" .Capabilities.KubeVersion.Version)',
    'and ({}) (not (.Capabilities.APIVersions.Has "example.com/v1"))',
    "and ({}) .Release.IsInstall",
)
BROKEN = (
    "{{ .Values.none.deeper }}",
    '{{ required "say it" .Values.none }}',
    '{{ fail "no" }}',
    '{{ include "none" . }}',
    "{{ .Values.image.repository.x }}",
    "{{ if }}",
    "a: [",
    "a: x: y",
    "{{ toYaml .Values | undefined }}",
    "{{ eq .Values.replicaCount 1 }}",
)
HOOKS = ("pre-install", "post-install,post-upgrade", "test", "test-success", "pre-delete")


def tree(seed: str, number: int) -> list[Manifest]:
    """Return the files of a chart, and what it is installed with in its first one."""
    draw = Draw("helm", seed, number)
    files = _chart(draw, "", "shop", ["redis", "common"])
    given: dict[str, Any] = _given(draw, "shop")
    if draw.often(0.6):
        inner = {**_given(draw, "redis"), **draw.maybe(0.5, "enabled", draw.one(True, False))}
        given |= draw.maybe(0.5, "redis", inner)
        given |= draw.maybe(0.3, "global", {"region": "eu", **draw.maybe(0.5, "deep", {"a": "given", "b": None})})
        given |= draw.maybe(0.2, "tags", {"cache": draw.one(True, False)})
    how = {"name": draw.one("shop", "web", "my-shop-1"), "namespace": draw.one("default", "prod"), "values": given}
    first = file("install.json", text=json.dumps(how))
    return [first, *files]


def _chart(draw: Draw, start: str, name: str, inner: list[str]) -> list[Manifest]:
    about: dict[str, Any] = {"apiVersion": "v2", "name": name, "version": draw.one("0.1.0", "1.2.3+b1")}
    about |= draw.maybe(0.7, "appVersion", draw.one("1.16.0", "2"))
    files: list[Manifest] = []
    if inner and draw.often(0.5):
        entry = {"name": "redis", "version": draw.one("*", ">=0.1", "^1.0.0"), "repository": "file://../redis"}
        entry |= draw.maybe(0.5, "condition", draw.one("redis.enabled", "none.enabled,redis.enabled", "cache.enabled"))
        entry |= draw.maybe(0.3, "tags", ["cache"])
        entry |= draw.maybe(0.2, "alias", "cache")
        about["dependencies"] = [entry]
        files += _chart(draw, f"{start}charts/redis/", "redis", [])
    elif inner and draw.often(0.3):
        files += _chart(draw, f"{start}charts/redis/", "redis", [])
    if inner and draw.often(0.2):
        files.append(file(f"{start}charts/common/Chart.yaml", {**about, "name": "common", "type": "library"}))
        files[-1]["documents"][0].pop("dependencies", None)
        files.append(file(f"{start}charts/common/templates/_all.tpl", text='{{- define "common.x" -}}x{{- end }}\n'))
        files.append(file(f"{start}charts/common/templates/no.yaml", text="a: {{ .Values.none.at.all }}\n"))
    files.append(file(f"{start}Chart.yaml", about))
    values = _values(draw, name)
    if inner:
        values |= draw.maybe(0.4, "redis", {"replicaCount": 5, **draw.maybe(0.5, "enabled", draw.one(True, False))})
        values |= draw.maybe(0.4, "global", {"region": "us", "deep": {"a": "own", "b": "c"}})
    files.append(file(f"{start}values.yaml", values))
    files.append(file(f"{start}templates/_helpers.tpl", text=HELPERS.replace("NAME", name)))
    for index, (version, kind, body, condition) in enumerate(draw.some(KINDS, 5)):
        files.append(
            file(
                f"{start}templates/{kind.lower()}{index}.yaml",
                text=_template(draw, name, version, kind, body, condition),
            )
        )
    files += [file(f"{start}config/own.txt", text="several\n  lines\n")] if draw.often(0.5) else []
    files += (
        [file(f"{start}templates/NOTES.txt", text="{{ .Release.Name }}\n{{ .Values.image.tag }}\n")]
        if draw.often(0.3)
        else []
    )
    if draw.often(0.2):
        crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"a.{name}.io"},
        }
        files.append(file(f"{start}crds/a.yaml", crd))
    if draw.often(0.06):
        files.append(file(f"{start}templates/broken.yaml", text=draw.of(BROKEN) + "\n"))
    return files


def _template(draw: Draw, name: str, version: str, kind: str, body: str, condition: str) -> str:
    suffix = draw.one("", "", "-x", "-{{ .Values.mode }}")
    text = HEAD.replace("VERSION", version).replace("KIND", kind).replace("SUFFIX", suffix)
    if draw.often(0.15) and "annotations" not in body:
        text += f"  annotations:\n    helm.sh/hook: {draw.of(HOOKS)}\n"
    text = (text + body).replace("NAME", name)
    asked = draw.of(CONDITIONS).replace("{}", condition).replace("GATEWAY", "gateway.networking.k8s.io/v1")
    if draw.often(0.7):
        text = f"{{{{- if {asked} }}}}\n{text}{{{{- end }}}}\n"
    if draw.often(0.15):
        text += "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n"
        text += f'  name: {{{{ include "{name}.name" . }}}}-{kind.lower()}\n'
    return draw.one("", "", "{{/* about */}}\n", "# a comment {{ .Chart.Name }}\n") + text


def _values(draw: Draw, name: str) -> dict[str, Any]:
    """Return values of their own that every template can do with."""
    return {
        "replicaCount": draw.one(1, 2, 1000000),
        "image": {"repository": "nginx", "tag": draw.one("", "1.25", "latest")},
        "nameOverride": "",
        "fullnameOverride": draw.one("", "", f"whole-{name}"),
        "service": {
            "type": "ClusterIP",
            "port": draw.one(80, 8080),
            "more": draw.one({}, {"b": {"port": 1, "protocol": "udp"}, "a": {}}),
        },
        "ingress": {
            "enabled": draw.one(True, False),
            "className": draw.one("", "nginx"),
            "tls": draw.one([], [{"secretName": "t", "hosts": ["a.example"]}]),
            "hosts": [{"host": "a.example", "paths": [{"path": "/", "pathType": "Prefix"}]}],
        },
        "route": {
            "enabled": draw.one(True, True, False),
            "hostnames": draw.one([], ["{{ .Release.Name }}.example.com"], ["a.example", "b.example"]),
            "parentRefs": [{"name": "edge", "namespace": "infra"}],
            "annotations": draw.one({}, {"a": "b", "n": "1"}),
            "rules": draw.one([], [{"path": "/a"}, {"path": "/b", "type": "Exact"}]),
        },
        "autoscaling": {"enabled": draw.one(True, False)},
        "resources": draw.one({}, {"limits": {"cpu": "1", "memory": "64Mi"}}),
        "env": draw.one({}, {"log-level": "debug", "n": 3}),
        "config": draw.one({}, {"a": "x", "b": "{{ .Values.mode }}", "c": [1, "two"]}),
        "mode": draw.one("strict", "a", "c"),
        "secret": draw.one(True, False),
        "policy": draw.one(True, False),
        **draw.maybe(0.3, "extraLabels", {"team": "a", "on": "true"}),
        **draw.maybe(0.2, "cache", {"enabled": False}),
    }


def _given(draw: Draw, name: str) -> dict[str, Any]:
    own = _values(draw, name)
    given = {key: own[key] for key in draw.some(sorted(own), 4, 0)}
    given |= draw.maybe(0.2, draw.of(("resources", "extraLabels", "env", "config", "forced")), None)
    given |= draw.maybe(0.2, "image", {"tag": draw.one("3", 7, None)})
    given |= draw.maybe(0.1, "route", {"enabled": draw.one(True, "yes"), "annotations": draw.one(None, {"a": None})})
    return given
