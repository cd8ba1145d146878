"""A change that brings a newer release is told what becomes of the objects that it does not touch.

Each side is judged by its own release.

The worlds are those of `test_changes`, with the tag that says the release; what the catalog or the schemas tell of an
upgrade is told of the change that makes it, by GWP326 or by the rule that judges the object.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.releases import product, version
from policylint.compare import TreeText, compare, compare_findings, pair_sides, removed_protections
from policylint.model import Finding
from policylint.workspace import Workspace, open_workspace
from tests.upgrade.test_changes import Entry, consequences, entries
from tests.worlds import REDIRECTING, SCRIPT


def tagged(name: str, tag: str) -> str:
    """What says the release: the image of the controller, or where the CRDs come from."""
    found = product(name).found
    if "images" not in found:
        return f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: {name}, namespace: flux-system}}
spec: {{url: "https://github.com/{found["repositories"][0]}", ref: {{tag: {tag}}}}}
"""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: controller, namespace: {name}}}
spec:
  selector: {{matchLabels: {{app: controller}}}}
  template:
    metadata: {{labels: {{app: controller}}}}
    spec: {{containers: [{{name: controller, image: "registry.example.com/{found["images"][0]}:{tag}"}}]}}
"""


def opened(folder: Path, world: str, releases: str, kustomization: str = "") -> Workspace:
    folder.mkdir()
    if kustomization:
        (folder / "kustomization.yaml").write_text(f"{kustomization}  - release.yaml\n", encoding="utf-8")
    (folder / "world.yaml").write_text(world, encoding="utf-8")
    (folder / "release.yaml").write_text(releases, encoding="utf-8")
    return open_workspace([str(folder)])


def new_findings(before: Workspace, after: Workspace) -> list[Finding]:
    """What rules find after and not before, those of changes among it."""
    sides = pair_sides(before.simulations, after.simulations)
    environments = compare(sides)
    of_change = removed_protections(
        sides,
        environments,
        tree=TreeText(after.files, after.source_lines, (before.kustomizations, after.kustomizations)),
    )
    states = compare_findings(sides, environments, before.findings(), [*after.findings(), *of_change], moved)
    return [each.finding for each in states if each.state == "new" and each.finding.confidence != "unknown"]


def moved(file: str) -> str:
    return file.replace("/before/", "/after/")


@pytest.mark.parametrize(("name", "base", "entry"), [*entries()])
@pytest.mark.parametrize("side", ["shows", "silent"])
def test_the_change_of_the_release_is_told_at_the_objects(
    name: str, base: str, entry: Entry, side: str, tmp_path: Path
) -> None:
    world = f"{base}\n---\n{entry[side]}"
    expected = consequences(name, world, entry, tmp_path)
    about = product(name)
    stated = {change.name: change.release for change in about.changes}
    release = stated.get(entry["change"]) or version(entry["release"])
    earlier = max(each for each in about.releases if each < release)
    kustomization = entry.get("kustomization", "") if side == "shows" else ""
    before = opened(tmp_path / "before", world, tagged(name, about.releases[earlier]), kustomization)
    after = opened(tmp_path / "after", world, tagged(name, about.releases[release]), kustomization)
    found = new_findings(before, after)
    if side == "shows":
        lines = {each.line for each in expected}
        assert any(each.location.at()[0] in lines or _is_of_installation(each) for each in found), found
    else:
        told = [each for each in found if each.rule == "GWP326" and f".{entry['change']}:" in each.field]
        assert [each for each in told if entry.get("says", "") in each.message] == []


def _is_of_installation(finding: Finding) -> bool:
    """A change of the installation as a whole stands where the release is said."""
    return finding.rule == "GWP326" and finding.location.file.endswith("release.yaml")


PLAIN = REDIRECTING + SCRIPT


GATEWAY_WITH_TRACING = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: p, namespace: shop}
spec:
  telemetry:
    tracing:
      samplingFraction: {numerator: 1, denominator: 100}
      provider: {type: OpenTelemetry, backendRefs: [{name: web, port: 4317}]}
"""
"""Its samplingFraction means something else from 1.8 on, and clients cannot ask for tracing from 1.9 on."""


def chart(version: str) -> str:
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: eg, namespace: infra}}
spec:
  chart: {{spec: {{chart: gateway-helm, version: "{version}", sourceRef: {{kind: HelmRepository, name: eg}}}}}}
  values: {{}}
"""


def answers(before: Workspace, after: Workspace) -> list[tuple[str, str, str]]:
    (environment,) = compare(pair_sides(before.simulations, after.simulations))
    assert environment.requests is not None
    return [(each.change, each.before, each.after) for each in environment.requests.changes]


def test_requests_of_untouched_objects_are_compared(tmp_path: Path) -> None:
    before, after = (opened(tmp_path / side, PLAIN, chart(tag)) for side, tag in (("a", "v1.8.3"), ("b", "v1.9.0")))
    ((change, _, now),) = answers(before, after)
    assert (change, now[:4]) == ("changed", "500:")


def test_the_way_back_is_compared_as_well(tmp_path: Path) -> None:
    before, after = (opened(tmp_path / side, PLAIN, chart(tag)) for side, tag in (("a", "v1.9.0"), ("b", "v1.8.3")))
    ((_, was, _),) = answers(before, after)
    assert was[:4] == "500:"


def test_a_patch_release_changes_nothing(tmp_path: Path) -> None:
    before, after = (opened(tmp_path / side, PLAIN, chart(tag)) for side, tag in (("a", "v1.8.1"), ("b", "v1.8.3")))
    assert answers(before, after) == []
    assert [each for each in new_findings(before, after) if each.rule == "GWP326"] == []


def beside(name: str, version: str) -> str:
    """Another HelmRelease of the same chart, as a tree without environments has one for each cluster."""
    return chart(version).replace("name: eg, namespace: infra", f"name: {name}, namespace: infra")


def told(before: Workspace, after: Workspace) -> list[str]:
    return [each.label for each in new_findings(before, after) if each.rule == "GWP326"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(("v1.8.3", "v1.9.0"), ("v1.9.0", "v1.9.0"), "1.8 to 1.9", id="the-older-of-two-follows"),
        pytest.param(("v1.7.5", "v1.9.0"), ("v1.8.3", "v1.9.0"), "1.7 to 1.8", id="the-older-of-two-nears"),
        pytest.param(("v1.8.3", "v1.8.3"), ("v1.9.0", "v1.8.3"), "1.8 to 1.9", id="one-of-two-goes-ahead"),
        pytest.param(("v1.9.0", "v1.8.3"), ("v1.8.3", "v1.9.0"), "1.8 to 1.9", id="they-change-places"),
        pytest.param(("v1.9.0", "v1.8.3"), ("v1.8.3", "v1.8.3"), "", id="the-newer-goes-back"),
        pytest.param(("v1.9.0", "v1.8.3"), ("v1.9.0", "v1.8.3"), "", id="nothing-changes"),
    ],
)
def test_each_installation_is_compared_with_itself(
    before: tuple[str, str], after: tuple[str, str], expected: str, tmp_path: Path
) -> None:
    was, now = (
        opened(tmp_path / side, f"{PLAIN}---\n{GATEWAY_WITH_TRACING}", chart(one) + "---\n" + beside("other", two))
        for side, (one, two) in (("a", before), ("b", after))
    )
    labels = told(was, now)
    assert bool(labels) == bool(expected)
    assert all(label == f"Envoy Gateway goes from {expected}" for label in labels)


def test_another_object_may_take_over(tmp_path: Path) -> None:
    was = opened(tmp_path / "a", f"{PLAIN}---\n{GATEWAY_WITH_TRACING}", chart("v1.8.3"))
    now = opened(tmp_path / "b", f"{PLAIN}---\n{GATEWAY_WITH_TRACING}", beside("other", "v1.9.0"))
    assert {*told(was, now)} == {"Envoy Gateway goes from 1.8 to 1.9"}


def test_an_older_one_that_comes_beside_is_no_upgrade(tmp_path: Path) -> None:
    was = opened(tmp_path / "a", f"{PLAIN}---\n{GATEWAY_WITH_TRACING}", chart("v1.9.0"))
    now = opened(
        tmp_path / "b", f"{PLAIN}---\n{GATEWAY_WITH_TRACING}", chart("v1.9.0") + "---\n" + beside("other", "v1.8.3")
    )
    assert told(was, now) == []


def test_a_field_that_no_release_has_is_not_lost_with_a_newer_one(tmp_path: Path) -> None:
    """Of kgateway 2.3 there are no schemas; 2.2 and 2.4 do not have the field."""
    from tests.upgrade.test_judged import kgateway

    sides = []
    for side, tag in (("a", "2.3.6"), ("b", "2.4.0")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text(kgateway(tag, "backendRequest"), encoding="utf-8")
        sides.append(open_workspace([str(tmp_path / side)]).simulations)
    (environment,) = compare(pair_sides(*sides))
    assert environment.contexts == ()
