"""The manifests of the generated corpus: one function per file of an application, each returning YAML documents."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from string import Template

WORDS = (
    *("request", "latency", "of", "the", "checkout", "path", "rises", "above", "its", "objective", "while", "the"),
    *("queue", "drains", "slower", "than", "it", "fills", "so", "look", "at", "the", "upstream", "first", "and"),
    *("only", "then", "scale", "the", "deployment", "or", "page", "the", "owner"),
)

GATEWAY_CLASS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: envoy
spec:
  controllerName: gateway.envoyproxy.io/gatewayclass-controller
"""

TEAM = """\
apiVersion: v1
kind: Namespace
metadata:
  name: infra-$team
  labels:
    team: $team
---
apiVersion: v1
kind: Secret
metadata:
  name: wildcard-tls
  namespace: infra-$team
type: kubernetes.io/tls
data:
  tls.crt: Y2VydA==
  tls.key: a2V5
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: infra-$team
spec:
  gatewayClassName: envoy
  listeners:
    - name: http
      protocol: HTTP
      port: 80
      hostname: "*.$team.example.com"
      allowedRoutes:
        namespaces: {from: Same}
    - name: https
      protocol: HTTPS
      port: 443
      hostname: "*.$team.example.com"
      tls:
        mode: Terminate
        certificateRefs:
          - name: wildcard-tls
      allowedRoutes:
        namespaces:
          from: Selector
          selector:
            matchLabels:
              team: $team
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata:
  name: edge
  namespace: infra-$team
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: Gateway
      name: edge
  timeout:
    http:
      requestReceivedTimeout: 60s
  tls:
    minVersion: '1.2'
    alpnProtocols: [h2, http/1.1]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata:
  name: edge
  namespace: infra-$team
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: Gateway
      name: edge
  retry:
    numRetries: 2
    retryOn:
      triggers: [connect-failure, retriable-status-codes]
      httpStatusCodes: [502, 503]
  timeout:
    tcp:
      connectTimeout: 5s
"""

NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: $namespace
  labels:
    team: $team
    pod-security.kubernetes.io/enforce: baseline
"""

METADATA = """\
metadata:
  name: $name
  namespace: $namespace
  labels:
    app.kubernetes.io/name: $name
    app.kubernetes.io/part-of: $namespace
    team: $team
"""

WORKLOAD = """\
apiVersion: v1
kind: ServiceAccount
${metadata}automountServiceAccountToken: false
---
apiVersion: apps/v1
kind: Deployment
${metadata}  annotations:
    reloader.stakater.com/auto: "true" # restart when settings change
spec:
  replicas: $small
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 25%
  selector:
    matchLabels:
      app.kubernetes.io/name: $name
  template:
    metadata:
      labels:
        app.kubernetes.io/name: $name
        team: $team
    spec:
      serviceAccountName: $name
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: main
          image: registry.example.com/$team/$name:v1.$number.$small@sha256:$digest
          imagePullPolicy: IfNotPresent
          args: ["--listen=:8080", "--metrics=:9090", "--config=/etc/app/application.properties"]
          env:
$env          envFrom:
            - secretRef:
                name: $name-secrets
          ports:
            - name: http
              containerPort: 8080
            - name: metrics
              containerPort: 9090
          readinessProbe:
            httpGet: {path: /healthz, port: http}
            periodSeconds: 5
          livenessProbe:
            httpGet: {path: /livez, port: http}
            initialDelaySeconds: 30
          resources:
            requests: {cpu: ${number}m, memory: ${number}Mi}
            limits:
              memory: ${small}Gi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - name: settings
              mountPath: /etc/app
            - name: scratch
              mountPath: /tmp
      volumes:
        - name: settings
          configMap:
            name: $name-settings
        - name: scratch
          emptyDir: {}
"""

SERVICE = """\
apiVersion: v1
kind: Service
${metadata}spec:
  selector:
    app.kubernetes.io/name: $name
  ports:
    - name: http
      port: 8080
      targetPort: http
    - name: metrics
      port: 9090
      targetPort: 9090
"""

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
${metadata}spec:
  parentRefs:
    - name: edge
      namespace: infra-$team
      sectionName: https
  hostnames:
    - $name.$team.example.com
  rules:
"""

RULE = """\
    - name: rule-$number
      matches:
        - path:
            type: PathPrefix
            value: /v$number/$name
      backendRefs:
        - name: $backend
          port: 8080
"""

ROUTE_TARGET = """\
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: $name
"""

TIMEOUTS = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
${metadata}${target}  mergeType: StrategicMerge # keep what the platform sets
  timeout:
    http:
      requestTimeout: ${number}s
"""

SECURITY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
${metadata}${target}  cors:
    allowOrigins:
      - https://www.$team.example.com
    allowMethods: [GET, POST]
    maxAge: 10m
  jwt:
    providers:
      - name: id
        issuer: https://id.$team.example.com
        remoteJWKS:
          uri: https://id.$team.example.com/.well-known/jwks.json
"""

SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: $name-settings
  namespace: $namespace
data:
  application.properties: |
$lines---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
${metadata}spec:
  refreshInterval: 1h
  secretStoreRef:
    kind: ClusterSecretStore
    name: vault
  target:
    name: $name-secrets
  dataFrom:
    - extract:
        key: $team/$name
"""

MONITORING = """\
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
${metadata}spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: $name
  endpoints:
    - port: metrics
      interval: 30s
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
${metadata}spec:
  groups:
    - name: $name
      rules:
"""

ALERT = """\
        - alert: ${title}Slow$number
          expr: |
            histogram_quantile(0.9, sum(rate(http_seconds_bucket{app="$name"}[5m])) by (le)) > $number
          for: ${number}m
          labels: {severity: warning, team: $team}
          annotations:
            summary: >-
              $first
              $second
            runbook_url: https://runbooks.example.com/$team/$name#slow
"""

GUARD_RAILS = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
${metadata}spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: $name
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
${metadata}spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: $name
  minReplicas: 1
  maxReplicas: 8
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: 70}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
${metadata}rules:
  - apiGroups: ['']
    resources: [configmaps, secrets]
    verbs: [get, list, watch]
"""


@dataclass(frozen=True, slots=True)
class App:
    """One application: where it lives, who fronts it, and a neighbour whose Service its route may also use."""

    name: str
    namespace: str
    team: str
    neighbour: str
    random: Random

    def fill(self, template: str, **more: object) -> str:
        """Return the template with the application's words and `more` in it."""
        words = {"name": self.name, "namespace": self.namespace, "team": self.team}
        target = Template(ROUTE_TARGET).substitute(words)
        metadata = Template(METADATA).substitute(words)
        return Template(template).substitute(words | {"metadata": metadata, "target": target} | more)

    def prose(self, words: int) -> str:
        """Return words as they stand in annotations and settings."""
        return " ".join(self.random.choices(WORDS, k=words))


def documents(text: str) -> list[str]:
    """Return the documents of a text."""
    return text.split("---\n")


def team_platform(team: str) -> list[str]:
    """Return the Gateway of one team with its namespace, certificate and the policies of the platform."""
    return documents(Template(TEAM).substitute(team=team))


def namespace(name: str, team: str) -> list[str]:
    """Return a namespace of applications."""
    return [Template(NAMESPACE).substitute(namespace=name, team=team)]


def workload(app: App) -> list[str]:
    """Return the ServiceAccount, the Deployment and the Service."""
    random = app.random
    keys = random.sample(("POOL", "TTL", "LIMIT", "RETRIES", "WORKERS", "SHARDS", "BATCH"), k=random.randrange(2, 6))
    env = "".join(f'            - name: {key}\n              value: "{random.randrange(10**6)}"\n' for key in keys)
    numbers = {"small": random.randrange(1, 9), "number": random.randrange(10, 900)}
    digest = f"{random.getrandbits(256):064x}"
    return [*documents(app.fill(WORKLOAD, env=env, digest=digest, **numbers)), app.fill(SERVICE)]


def route(app: App) -> list[str]:
    """Return the HTTPRoute with one to four rules and, for some, the policies of its owner."""
    rules = "".join(
        app.fill(RULE, number=number, backend=app.name if number % 3 else app.neighbour)
        for number in range(1, app.random.randrange(2, 6))
    )
    found = [app.fill(ROUTE) + rules]
    if app.random.random() < 0.35:
        found.append(app.fill(TIMEOUTS, number=app.random.randrange(1, 60)))
    if app.random.random() < 0.25:
        found.append(app.fill(SECURITY))
    return found


def settings(app: App) -> list[str]:
    """Return what nothing reads: a ConfigMap with an embedded file, and an ExternalSecret."""
    lines = "".join(
        f"    {key}.{app.random.randrange(100)} = {app.prose(app.random.randrange(3, 9))}\n"
        for key in app.random.choices(("server", "cache", "queue", "client", "feature"), k=app.random.randrange(4, 40))
    )
    return documents(app.fill(SETTINGS, lines=lines))


def monitoring(app: App) -> list[str]:
    """Return what nothing reads: a ServiceMonitor and a PrometheusRule with its prose."""
    title = app.name.title().replace("-", "")
    alerts = "".join(
        app.fill(ALERT, number=number, title=title, first=app.prose(16), second=app.prose(16))
        for number in range(1, app.random.randrange(2, 5))
    )
    return documents(app.fill(MONITORING) + alerts)


def guard_rails(app: App) -> list[str]:
    """Return what nothing reads: disruption budget, autoscaler and the Role of the application."""
    return documents(app.fill(GUARD_RAILS))


FILES = {
    "workload.yaml": workload,
    "route.yaml": route,
    "settings.yaml": settings,
    "monitoring.yaml": monitoring,
    "guard-rails.yaml": guard_rails,
}
