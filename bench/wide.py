"""A tree of one Gateway and many routes behind it, and changes that touch every one of them, each a branch of its own.

usage: python bench/wide.py DIRECTORY [--routes 5000] [--namespaces 25]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Template

from changes import git
from manifests import GATEWAY_CLASS

PLATFORM = (
    GATEWAY_CLASS
    + """\
---
apiVersion: v1
kind: Namespace
metadata:
  name: infra
---
apiVersion: v1
kind: Secret
metadata:
  name: wildcard-tls
  namespace: infra
type: kubernetes.io/tls
data:
  tls.crt: Y2VydA==
  tls.key: a2V5
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: infra
spec:
  gatewayClassName: envoy
  listeners:
    - name: https
      protocol: HTTPS
      port: 443
      tls:
        mode: Terminate
        certificateRefs:
          - name: wildcard-tls
      allowedRoutes:
        namespaces: {from: All}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata:
  name: edge
  namespace: infra
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: Gateway
      name: edge
  retry:
    numRetries: 2
"""
)
LOGIN = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata:
  name: edge-jwt
  namespace: infra
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: Gateway
      name: edge
  jwt:
    providers:
      - name: id
        issuer: https://id.example.com
        remoteJWKS:
          uri: https://id.example.com/keys
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: $namespace
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: $name
  namespace: $namespace
  labels:
    app.kubernetes.io/name: $name
spec:
  parentRefs:
    - name: edge
      namespace: infra
  hostnames:
    - $name.$namespace.example.com
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /api
      backendRefs:
        - name: $name
          port: 8080
    - matches:
        - path:
            type: PathPrefix
            value: /
      backendRefs:
        - name: $name
          port: 8080
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: $name
  namespace: $namespace
  labels:
    app.kubernetes.io/name: $name
spec:
  selector:
    app.kubernetes.io/name: $name
  ports:
    - name: http
      port: 8080
"""
OWN = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata:
  name: $name
  namespace: $namespace
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: $name
  timeout:
    http:
      requestTimeout: 5s
"""


def write_wide(place: Path, routes: int = 5_000, namespaces: int = 25) -> Path:
    """Write the tree and commit it on the branch `base`; a branch of that for every one of CHANGES; pack."""
    _write(place / "platform" / "gateway.yaml", PLATFORM)
    _write(place / "platform" / "login.yaml", LOGIN)
    for number in range(min(routes, namespaces)):
        namespace = _namespace(number, namespaces)
        _write(place / "apps" / namespace / "namespace.yaml", Template(NAMESPACE).substitute(namespace=namespace))
    apps = list(_apps(place, routes, namespaces))
    for directory, names in apps:
        _write(directory / "route.yaml", Template(ROUTE).substitute(names))
        _write(directory / "service.yaml", Template(SERVICE).substitute(names))
    git(place, "init", "-q", "-b", "base")
    _commit(place, "base")
    for name, change in CHANGES.items():
        git(place, "checkout", "-q", "-b", name, "base")
        change(place, apps)
        _commit(place, name)
    git(place, "checkout", "-q", "base")
    git(place, "repack", "-a", "-d", "-q")
    return place


_Apps = list[tuple[Path, dict[str, str]]]


def _apps(place: Path, routes: int, namespaces: int) -> Iterator[tuple[Path, dict[str, str]]]:
    for number in range(routes):
        name, namespace = f"app-{number:05}", _namespace(number, namespaces)
        yield place / "apps" / namespace / name, {"name": name, "namespace": namespace}


def _namespace(number: int, namespaces: int) -> str:
    return f"space-{number % namespaces:02}"


def _changed(place: Path, apps: _Apps) -> None:  # noqa: ARG001 - as every change
    """Another issuer in the policy of the Gateway."""
    _replace(place / "platform" / "login.yaml", "issuer: https://id.", "issuer: https://login.")


def _deleted(place: Path, apps: _Apps) -> None:  # noqa: ARG001 - as every change
    """The policy of the Gateway is gone."""
    (place / "platform" / "login.yaml").unlink()


def _renamed(place: Path, apps: _Apps) -> None:
    """The Gateway is called otherwise, and everybody follows."""
    files = [place / "platform" / "login.yaml", place / "platform" / "gateway.yaml"]
    for file in (*files, *(directory / "route.yaml" for directory, _ in apps)):
        _replace(file, "name: edge\n", "name: front\n")


def _hostname(place: Path, apps: _Apps) -> None:  # noqa: ARG001 - as every change
    """Every route answers to another hostname."""
    for directory, _ in apps:
        _replace(directory / "route.yaml", ".example.com", ".example.org")


def _policy(place: Path, apps: _Apps) -> None:  # noqa: ARG001 - as every change
    """Every route gets a policy of its own."""
    for directory, names in apps:
        _write(directory / "policy.yaml", Template(OWN).substitute(names))


CHANGES: dict[str, Callable[[Path, _Apps], None]] = {
    "changed": _changed,
    "deleted": _deleted,
    "renamed": _renamed,
    "hostname": _hostname,
    "policy": _policy,
}


def _replace(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8", newline="\n")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


def _commit(place: Path, message: str) -> None:
    git(place, "add", "-A", "-f")
    git(place, "commit", "-q", "-m", message)


def main() -> None:
    """Write the tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--routes", type=int, default=5_000)
    parser.add_argument("--namespaces", type=int, default=25)
    arguments = parser.parse_args()
    print(write_wide(arguments.directory, arguments.routes, arguments.namespaces))


if __name__ == "__main__":
    main()
