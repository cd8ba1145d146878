"""A small world with findings made by hand: writers are tested apart from rules."""

from __future__ import annotations

from pathlib import Path

from policylint.documents import Document, read
from policylint.model import Finding, Location, Related, ResourceKey, Spot
from policylint.report.findings import Options, Report
from policylint.report.rule_page import RulePage
from policylint.workspace import Coverage

FILES = {
    "clusters/prod/shop/checkout-cors.yaml": """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata:
  name: checkout-cors
  namespace: shop
spec:
  # the checkout needs CORS
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: checkout
  cors:
    allowOrigins: ["https://www.example.com"]
""",
    "clusters/prod/infra/edge-jwt.yaml": """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata:
  name: edge-jwt
  namespace: infra
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  jwt:
    providers: []
""",
    "clusters/prod/shop/retries.yaml": """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: retries, namespace: shop}
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: cart
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: "chekout"   # sic
""",
    "clusters/prod/shop/größe 100%.yaml": "# 変数\nkind:\t価格表\nmetadata: {name: x}\n",
}
"""The last one has a path to percent-encode, wide characters and a tab."""

CORS, JWT, RETRIES, ODD = FILES
TARGET = ("spec", "targetRefs", 0, "name")
GROUP = "gateway.envoyproxy.io"


def document(file: str) -> Document:
    (found,) = read(FILES[file].encode(), file).documents
    return found


def at(file: str, *pointer: str | int, key: bool = False) -> Location:
    return Location(document(file), pointer, key)


def findings() -> list[Finding]:
    checkout = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "shop", "checkout")
    return [
        Finding(
            rule="GWP201",
            severity="error",
            message="HTTPRoute shop/checkout loses the JWT of its Gateway",
            location=at(CORS, *TARGET),
            label="this policy replaces the Gateway's policy completely",
            related=(Related("this no longer applies to 3 rules of shop/checkout", at(JWT, "spec", "jwt", key=True)),),
            resources=(ResourceKey(GROUP, "SecurityPolicy", "shop", "checkout-cors"), checkout),
            field="jwt",
            help=("fix: add `mergeType: StrategicMerge` (Envoy Gateway 1.8+), or repeat `jwt:` here",),
            environments=("default",),
        ),
        Finding(
            rule="GWP101",
            severity="error",
            message="BackendTrafficPolicy shop/retries points at nothing",
            location=at(RETRIES, "spec", "targetRefs", 1, "name"),
            label='no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)',
            resources=(ResourceKey(GROUP, "BackendTrafficPolicy", "shop", "retries"),),
            field="targetRefs",
            help=("note: its other target, shop/cart, is fine, so the cluster would report Accepted",),
            environments=("default",),
        ),
        Finding(
            rule="GWP910",
            severity="warning",
            message="the kind 価格表 is | not `known` to <b>anyone</b> @octocat [here](https://example.com)",
            location=at(ODD, "kind"),
            label="wide characters and a tab",
            environments=("default",),
        ),
        Finding(
            rule="GWP203",
            severity="note",
            message="BackendTrafficPolicy shop/retries is overridden",
            location=at(RETRIES, "metadata", "name"),
            resources=(ResourceKey(GROUP, "BackendTrafficPolicy", "shop", "retries"),),
            environments=("default",),
        ),
        Finding(
            rule="GWP910",
            severity="warning",
            message="standard input ends in the middle of a mapping",
            location=Location(Spot("<stdin>", 7, 3)),
            environments=("default",),
        ),
    ]


def page(rule: str, name: str, severity: str, *, tags: tuple[str, ...] = (), security: str = "") -> RulePage:
    return RulePage(
        id=rule,
        name=name,
        severity=severity,  # type: ignore[arg-type]
        confidence="certain",
        tags=tags,
        since="0.1.0",
        security_severity=security,
        heading=f"Problem with {name}",
        title=f"What {name} says.",
        what=f"What `{name}` says.\n\nAnd more of it.",
        why="Because the request is not authenticated.",
        fix="Repeat the setting.",
        references="- GEP-713",
        body="## What it does\n\nIt says so.\n",
        path=Path(f"rules/{rule}-{name}.md"),
    )


PAGES = {
    each.id: each
    for each in (
        page("GWP101", "target-not-found", "error", tags=("attachment",)),
        page("GWP201", "parent-setting-dropped", "error", tags=("security", "override"), security="8.1"),
        page("GWP203", "policy-overridden", "note", tags=("override",)),
        page("GWP910", "file-not-parsed", "warning"),
    )
}

COVERAGE = Coverage(
    files=41,
    documents=60,
    unread=3,
    skipped={"helm-template": 2},
    not_rendered=("3 HelmReleases with parentRefs (clusters/prod/media) - render them or list them under `assume`",),
    resources=57,
    policies=14,
    routes=23,
    gateways=2,
)


def lines(file: str) -> list[str]:
    return FILES[file].split("\n") if file in FILES else []


def sample(**changes: object) -> Report:
    """The report of this world; keyword arguments replace its fields."""
    report = Report(
        findings=findings(),
        coverage=COVERAGE,
        names={each.id: each.name for each in PAGES.values()},
        pages=PAGES,
        seconds=0.4,
        version="0.1.0",
        home="https://github.com/example/policylint",
        source_lines=lines,
        relative=lambda file: None if file.startswith("<") else file,
        suppressed=2,
        paths=("clusters/prod",),
    )
    return report._replace(**changes)  # type: ignore[arg-type]


def clean() -> Report:
    return sample(findings=[], coverage=COVERAGE._replace(not_rendered=()))


__all__ = ["COVERAGE", "PAGES", "Options", "at", "clean", "findings", "lines", "sample"]
