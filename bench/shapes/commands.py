"""Shapes for the other commands, and of whole trees."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from changes import git

from shapes._written import (
    HOST,
    Object,
    cors_policy,
    gateway,
    linted,
    made,
    numbered,
    route,
    routes_of,
    service,
    target,
    write,
)
from shapes.policies import overridden_policies, policies_on_rules
from shapes.routing import one_hostname


def explain_gateway(root: Path, size: int) -> list[str]:
    """Explain a Gateway of many routes."""
    overridden_policies(root, size)
    return ["explain", "Gateway/shop/edge", str(root)]


def explain_policy(root: Path, size: int) -> list[str]:
    """Explain the policy of a Gateway of many routes, most of which have their own."""
    overridden_policies(root, size)
    return ["explain", "SecurityPolicy/shop/login", str(root)]


def explain_route(root: Path, size: int) -> list[str]:
    """Explain a route of many rules that have a policy each."""
    policies_on_rules(root, size)
    return ["explain", "HTTPRoute/shop/app", str(root)]


def trace(root: Path, size: int) -> list[str]:
    """Trace a request on a Gateway of many routes of its host."""
    one_hostname(root, size)
    return ["trace", "GET", f"http://{HOST}/app-00000", str(root)]


def traces(root: Path, size: int) -> list[str]:
    """Trace as many requests as there are routes."""
    linted(root, routes_of(size))
    requests = [{"method": "GET", "host": f"{name}.example.com", "path": "/"} for name in numbered("app", size)]
    (root / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
    return ["trace", "--requests", str(root / "requests.json"), str(root / "all.yaml")]


def simulate(root: Path, size: int) -> list[str]:
    """Print the whole state."""
    overridden_policies(root, size)
    return ["simulate", str(root)]


def list_policies(root: Path, size: int) -> list[str]:
    """List many policies."""
    overridden_policies(root, size)
    return ["list", "policies", str(root)]


def _graph(name: str, root: Path, size: int) -> list[str]:
    overridden_policies(root, size)
    return ["graph", str(root), "-o", name]


def graph_mermaid(root: Path, size: int) -> list[str]:
    """Draw many routes with a policy each, as Mermaid."""
    return _graph("mermaid", root, size)


def graph_dot(root: Path, size: int) -> list[str]:
    """The same, as DOT."""
    return _graph("dot", root, size)


def graph_html(root: Path, size: int) -> list[str]:
    """The same, as a page."""
    return _graph("html", root, size)


def of_change(root: Path, before: Iterable[Object], after: Iterable[Object]) -> list[str]:
    """Commit one state after the other, and return the arguments of their diff."""
    git(root, "init", "-q", "-b", "main")
    for objects in (before, after):
        write(root / "all.yaml", objects)
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", "objects")
    return ["diff", "-C", str(root), "HEAD~1..HEAD"]


def diff_parent_policy(root: Path, size: int) -> list[str]:
    """A policy comes to a Gateway of many routes."""
    return of_change(root, routes_of(size), [*routes_of(size), cors_policy("edge", target("edge", "Gateway"))])


def diff_policies(root: Path, size: int) -> list[str]:
    """Every route gets a policy of its own."""
    return of_change(
        root, routes_of(size), [*routes_of(size), *(cors_policy(name, target(name)) for name in numbered("app", size))]
    )


def diff_removed(root: Path, size: int) -> list[str]:
    """Every route and its policy go."""
    before = [*routes_of(size), *(cors_policy(name, target(name)) for name in numbered("app", size))]
    return of_change(root, before, routes_of(1))


def diff_renamed(root: Path, size: int) -> list[str]:
    """Every route and every policy gets another name."""

    def named(stem: str) -> list[Object]:
        names = numbered(stem, size)
        return [*gateway(), service(), *map(route, names), *(cors_policy(name, target(name)) for name in names)]

    return of_change(root, named("app"), named("site"))


def diff_findings(root: Path, size: int) -> list[str]:
    """Many findings are new, and as many are gone."""

    def dangling(stem: str) -> list[Object]:
        return [cors_policy(name, target(f"{stem}-{name}")) for name in numbered("cors", size)]

    return of_change(root, dangling("old"), dangling("new"))


def namespaces(root: Path, size: int) -> list[str]:
    """Namespaces with a route, a Service and a policy each."""
    objects = gateway()
    for name in numbered("team", size):
        objects.append(made("v1", "Namespace", name, ""))
        objects += [route(name, name), service("app", name)]
        objects.append({**cors_policy("cors", target(name)), "metadata": {"name": "cors", "namespace": name}})
    return linted(root, objects)


def environments(root: Path, size: int) -> list[str]:
    """Overlays of one base, each an environment."""
    write(root / "base" / "all.yaml", routes_of(1))
    write(root / "base" / "kustomization.yaml", [{"resources": ["all.yaml"]}])
    for name in numbered("cluster", size):
        write(root / "overlays" / name / "kustomization.yaml", [{"resources": ["../../base"]}])
    return ["lint", str(root)]


def custom_kinds(root: Path, size: int) -> list[str]:
    """CustomResourceDefinitions of policies, and a policy of each kind."""
    objects = routes_of(1)
    for number in range(size):
        names = {"kind": f"Own{number}Policy", "plural": f"own{number}policies"}
        refs = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
        spec = {"type": "object", "properties": {"targetRefs": refs, "limit": {"type": "integer"}}}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        labels = {"gateway.networking.k8s.io/policy": "Direct"}
        whole = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        name = f"own{number}policies.example.com"
        objects.append(made("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "", labels=labels, spec=whole))
        own = {"targetRefs": [target("app-00000")], "limit": 1}
        objects.append(made("example.com/v1", f"Own{number}Policy", "own", spec=own))
    return linted(root, objects)


def repeated_keys(root: Path, size: int) -> list[str]:
    """One object in which a key is said many times."""
    lines = "".join(f"    app: '{number}'\n" for number in range(size))
    text = f"apiVersion: v1\nkind: Service\nmetadata:\n  name: app\n  labels:\n{lines}spec: {{ports: [{{port: 80}}]}}\n"
    (root / "service.yaml").write_text(text, encoding="utf-8")
    return ["lint", str(root)]


def broken_documents(root: Path, size: int) -> list[str]:
    """Documents that are no YAML, in one file."""
    (root / "all.yaml").write_text("---\nkind: [\n" * size, encoding="utf-8")
    return ["lint", str(root)]


SHAPES = (
    explain_gateway,
    explain_policy,
    explain_route,
    trace,
    traces,
    simulate,
    list_policies,
    graph_mermaid,
    graph_dot,
    graph_html,
    diff_parent_policy,
    diff_policies,
    diff_removed,
    diff_renamed,
    diff_findings,
    namespaces,
    environments,
    custom_kinds,
    repeated_keys,
    broken_documents,
)
