"""Shapes of findings: names that nothing has, suppressions, formats."""

from __future__ import annotations

import json
from pathlib import Path

from shapes._written import (
    HOST,
    cors_policy,
    gateway,
    linted,
    numbered,
    route,
    routes_of,
    rules_for,
    service,
    target,
    write,
)


def missing_targets(root: Path, size: int) -> list[str]:
    """Policies whose target is one letter away from the name of a route."""
    policies = (cors_policy(name, target(name.replace("checkout", "chekout"))) for name in numbered("checkout", size))
    routes = (route(name) for name in numbered("checkout", size))
    return linted(root, [*gateway(), service(), *routes, *policies])


def missing_backends(root: Path, size: int) -> list[str]:
    """Routes whose backend is one letter away from the name of a Service."""
    names = numbered("checkout", size)
    routes = (route(name, rules=[{"backendRefs": [{"name": name.replace("ck", "k"), "port": 80}]}]) for name in names)
    return linted(root, [*gateway(), *map(service, names), *routes])


def missing_sections(root: Path, size: int) -> list[str]:
    """One route of many rules, and policies whose section is one letter away from the name of one."""
    names = numbered("checkout", size)
    rules = [{**rules_for(f"/{name}")[0], "name": name} for name in names]
    policies = (cors_policy(name, target("app", sectionName=name.replace("ck", "k"))) for name in names)
    return linted(root, [*gateway(), service(), route("app", rules=rules), *policies])


def missing_parents(root: Path, size: int) -> list[str]:
    """Routes whose Gateway is one letter away from the name of one."""
    objects = [*gateway(), service()]
    for name in numbered("edge", size):
        objects.append({**objects[2], "metadata": {"name": name, "namespace": "shop"}})
        objects.append(route(name, parentRefs=[{"name": name.replace("edge", "egde")}]))
    return linted(root, objects)


def unknown_fields(root: Path, size: int) -> list[str]:
    """Routes with a field that the schema does not have."""
    return linted(root, [*gateway(), service(), *(route(name, hostname=HOST) for name in numbered("app", size))])


def _dangling(root: Path, size: int, before: str = "", behind: str = "") -> None:
    """Write policies whose target is nowhere, with a comment before each or behind its name.

    There is a route of another name: in a tree without any they would come from elsewhere.
    """
    write(root / "routes.yaml", routes_of(1))
    policy = (
        "{before}apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\n"
        "metadata:\n  name: {name}\n  namespace: shop\nspec:\n  targetRefs:\n    - group: gateway.networking.k8s.io\n"
        "      kind: HTTPRoute\n      name: {name}{behind}\n  cors:\n    allowOrigins: ['*']\n"
    )
    text = "---\n".join(policy.format(name=name, before=before, behind=behind) for name in numbered("gone", size))
    (root / "policies.yaml").write_text(text, encoding="utf-8", newline="\n")


def findings(root: Path, size: int) -> list[str]:
    """Policies whose target is nowhere, as text."""
    _dangling(root, size)
    return ["lint", str(root)]


def suppression_comments(root: Path, size: int) -> list[str]:
    """The same, each suppressed by a comment behind the name."""
    _dangling(root, size, behind="  # policylint: ignore[GWP101] known")
    return ["lint", str(root)]


def comments_of_one_document(root: Path, size: int) -> list[str]:
    """One policy with many missing targets, each suppressed by a comment of its own."""
    head = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: cors, namespace: shop}\n"
    ref = (
        "    # policylint: ignore[GWP101] known\n"
        "    - {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {}}}\n"
    )
    text = f"{head}spec:\n  targetRefs:\n{''.join(map(ref.format, numbered('gone', size)))}  cors: {{}}\n"
    write(root / "routes.yaml", routes_of(1))
    (root / "policy.yaml").write_text(text, encoding="utf-8", newline="\n")
    return ["lint", str(root)]


def unused_comments(root: Path, size: int) -> list[str]:
    """Comments that no finding answers to, among findings that they do not suppress."""
    _dangling(root, size, behind="  # policylint: ignore[GWP201] known")
    return ["lint", str(root)]


def configured_ignores(root: Path, size: int) -> list[str]:
    """Findings, each suppressed by an entry of the configuration."""
    _dangling(root, size)
    entries = [
        {"rule": "GWP101", "resource": f"SecurityPolicy/shop/{name}", "reason": "known"}
        for name in numbered("gone", size)
    ]
    (root / ".policylint.yaml").write_text(json.dumps({"ignore": entries}, indent=1), encoding="utf-8")
    return ["lint", "-C", str(root)]


def configured_patterns(root: Path, size: int) -> list[str]:
    """Findings, each suppressed by an entry of the configuration that has a wildcard."""
    _dangling(root, size)
    entries = [
        {"rule": "GWP101", "resource": f"SecurityPolicy/*/{name}", "reason": "known"} for name in numbered("gone", size)
    ]
    (root / ".policylint.yaml").write_text(json.dumps({"ignore": entries}, indent=1), encoding="utf-8")
    return ["lint", "-C", str(root)]


def baseline(root: Path, size: int) -> list[str]:
    """A baseline of many findings."""
    _dangling(root, size)
    return ["baseline", "-C", str(root)]


def one_long_line(root: Path, size: int) -> list[str]:
    """A List of findings as JSON, in one line."""
    items = [cors_policy(name, target(name)) for name in numbered("gone", size)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    write(root / "routes.yaml", routes_of(1))
    (root / "all.yaml").write_text(text, encoding="utf-8")
    return ["lint", str(root)]


def files(root: Path, size: int) -> list[str]:
    """Findings in a file and a folder each."""
    write(root / "routes.yaml", routes_of(1))
    for name in numbered("gone", size):
        write(root / name / "policy.yaml", [cors_policy(name, target(name))])
    return ["lint", str(root)]


def _format(name: str, root: Path, size: int) -> list[str]:
    _dangling(root, size)
    return ["lint", str(root), "-o", name]


def as_markdown(root: Path, size: int) -> list[str]:
    """Findings as Markdown."""
    return _format("markdown", root, size)


def as_sarif(root: Path, size: int) -> list[str]:
    """Findings as SARIF."""
    return _format("sarif", root, size)


def as_json(root: Path, size: int) -> list[str]:
    """Findings as JSON."""
    return _format("json-v1", root, size)


def as_junit(root: Path, size: int) -> list[str]:
    """Findings as JUnit XML."""
    return _format("junit", root, size)


def as_codeclimate(root: Path, size: int) -> list[str]:
    """Findings as Code Climate."""
    return _format("codeclimate", root, size)


def as_github(root: Path, size: int) -> list[str]:
    """Findings as workflow commands."""
    return _format("github", root, size)


def add_ignore(root: Path, size: int) -> list[str]:
    """Findings of one file, all suppressed by comments that are written now."""
    _dangling(root, size)
    return ["lint", str(root), "--add-ignore", "known"]


def fix(root: Path, size: int) -> list[str]:
    """Findings of one file that are all mended."""
    missing_targets(root, size)
    return ["lint", str(root), "--fix", "--unsafe-fixes"]


SHAPES = (
    missing_targets,
    missing_backends,
    missing_sections,
    missing_parents,
    unknown_fields,
    findings,
    suppression_comments,
    comments_of_one_document,
    unused_comments,
    configured_ignores,
    configured_patterns,
    baseline,
    one_long_line,
    files,
    as_markdown,
    as_sarif,
    as_json,
    as_junit,
    as_codeclimate,
    as_github,
    add_ignore,
    fix,
)
