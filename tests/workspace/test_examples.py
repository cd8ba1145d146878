"""What stands among plain manifests and is nobody's deployment: tests, the steps of a book, variants of one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.render.live import Live
from policylint.workspace import Workspace, open_workspace
from tests.workspace.test_alternatives import GATEWAY, ROUTE, SERVICE, loud, names, tree

BROKEN = ROUTE.format(section=", sectionName: nowhere")
GOOD = {"gateway.yaml": GATEWAY.format(listener="http"), "service.yaml": SERVICE}


def sure(workspace: Workspace) -> list[str]:
    return [finding.rule for finding in loud(workspace) if finding.confidence != "unknown"]


@pytest.mark.parametrize(
    "directory",
    [
        *("pkg/testdata", "test/e2e/login", "conformance/base", "tests", "archive", "apps/deprecated"),
        *("translator/testutils/inputs", "pkg/test_data", "internal/mocks"),
        *("_archived/app", "apps/.deprecated", "_disabled"),
    ],
)
def test_tests_are_left_out_and_counted(directory: str, tmp_path: Path) -> None:
    """What a test expects to be refused is nobody's to mend; the line of what was not seen names the directory."""
    workspace = tree(tmp_path, {**GOOD, "route.yaml": ROUTE.format(section=""), f"{directory}/route.yaml": BROKEN})
    assert names(workspace) == ["default"]
    assert loud(workspace) == []
    assert any("nothing deploys" in said for said in workspace.coverage.not_rendered)


def test_a_file_of_a_test_that_cannot_be_read_is_none_of_ours(tmp_path: Path) -> None:
    broken = "kind: HTTPRoute\n  apiVersion: {"
    assert loud(tree(tmp_path, {**GOOD, "pkg/testdata/broken.yaml": broken})) == []
    assert [finding.rule for finding in loud(tree(tmp_path, {**GOOD, "broken.yaml": broken}))] == ["GWP910"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("```yaml\nkind: HTTPRoute\napiVersion: v1\n```\n", []),
        (SERVICE + '---\nkind: Pod\nspec: {containers: [{name: a}]}\nimage: {{image "b"}}\n', ["note"]),
        ("kind: HTTPRoute\n  apiVersion: {\n", ["warning"]),
        ('{"kind": "Event", "objectRef": {"name": "a"}}\n{"kind": "Event", "user": {}}\n', []),
        ('{"kind": "Event", "was": {"metadata": {}}}\n\n{"kind": "Event"}\n', []),
        ('{"kind": "Pod", "metadata": {"name": "a"}}\n{"kind": "Pod", "metadata": {"name": "b"}}\n', ["warning"]),
        ('{"stdout": [\n  [1.0,\n  "apiVersion: v1\\r\\nkind: Pod"],\n  [2.0, "\n  "]\n]}\n', []),
        ('{\n  "kind": "Pod",\n  "apiVersion": "v1",\n  "metadata": {"name" "a"}\n}\n', ["warning"]),
    ],
)
def test_a_piece_of_a_page_and_a_template_are_no_broken_manifests(
    tmp_path: Path, written: str, said: list[str]
) -> None:
    found = tree(tmp_path, {**GOOD, "guide/piece.yaml": written.replace("name: web", "name: other")}).findings()
    assert [each.severity for each in found if each.rule == "GWP910"] == said


@pytest.mark.parametrize(
    ("file", "is_read"),
    [
        *(("pkg/reader/reader_test.go", True), ("pkg/reader/test_reader.py", True), ("pkg/reader/a.test.ts", True)),
        *(("pkg/reader/testdata/run_test.rs", True), ("pkg/reader/reader.go", False), ("main_test.go", False)),
        *(("pkg/other/other_test.go", False), ("pkg/reader/test.sh", False), ("pkg/reader/LatestNews.java", False)),
        *(("pkg/reader/ReaderTest.java", True), ("pkg/reader/reader_spec.rb", True)),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"docs/route.yaml": BROKEN}])
def test_what_the_tests_of_a_program_read_is_none_of_ours(
    tmp_path: Path, file: str, is_read: bool, beside: dict[str, str]
) -> None:
    """Not even where a tree has nothing else; what the user names is meant."""
    data = {f"pkg/reader/testdata/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    workspace = tree(tmp_path, {**data, **beside, file: "package reader\n"})
    told = [each for each in loud(workspace) if "/testdata/" in each.location.file]
    assert bool(told) is not is_read
    assert any("nothing deploys" in said for said in workspace.coverage.not_rendered) is is_read
    assert loud(open_workspace([str(tmp_path / "pkg/reader/testdata")]))


@pytest.mark.parametrize("kustomization", [{}, {"examples/kustomization.yaml": "resources: [service.yaml]\n"}])
@pytest.mark.parametrize(
    ("directory", "told"),
    [
        *(("internal/testdata/ordering", False), ("pkg/fake/data", False), ("internal/mocks", False)),
        *(("internal/data", True), ("samples/internal", True)),
    ],
)
def test_tests_beside_examples(directory: str, told: bool, kustomization: dict[str, str], tmp_path: Path) -> None:
    """stolostron/policy-generator-plugin: what its tests expect, beside examples that kustomize builds."""
    expected = {f"{directory}/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    files = {"examples/service.yaml": SERVICE.replace("name: web", "name: other"), **kustomization, **expected}
    assert bool(loud(tree(tmp_path, files))) is told


def test_what_is_hidden_is_no_top() -> None:
    """A directory that begins with a dot is deployed by nobody where anything else is."""
    live = Live({"k8s/a.yaml", "tool/.git_disabled/kustomization.yaml"}, (), "repository")
    assert live.holds("k8s/a.yaml")
    assert not live.holds("tool/.git_disabled/kustomization.yaml")


@pytest.mark.parametrize(
    ("code", "named", "is_left_out"),
    [
        ("e2e/pkg/gateway/gateway.go", "e2e", True),
        ("e2e/pkg/main.go", "e2e", False),
        ("e2e/pkg/gateway/gateway.sh", "e2e", False),
        ("e2e/pkg/gateway/gateway.go", "e2e/pkg/gateway", False),
    ],
)
def test_what_the_code_of_a_suite_embeds_is_none_of_ours(
    tmp_path: Path, code: str, named: str, is_left_out: bool
) -> None:
    """kyma-project/istio tests/e2e/pkg/helpers: `//go:embed telemetry.yaml`; what the user names is meant."""
    data = {f"e2e/pkg/gateway/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    tree(tmp_path, {**data, code: "package gateway\n", "e2e/other/route.yaml": GOOD["gateway.yaml"]})
    workspace = open_workspace([str(tmp_path / named)])
    assert any("/gateway/" in each.location.file for each in loud(workspace)) is not is_left_out


@pytest.mark.parametrize(("place", "is_left_out"), [("tests/data", True), ("tests/deploy", False), ("data", False)])
def test_data_in_tests_that_the_user_names_is_for_them(tmp_path: Path, place: str, is_left_out: bool) -> None:
    """kiali/kiali tests/data: what its validations are tried on, wrong on purpose."""
    data = {f"{place}/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    tree(tmp_path, {**data, "tests/other/gateway.yaml": GOOD["gateway.yaml"]})
    workspace = open_workspace([str(tmp_path / place.partition("/")[0]), str(tmp_path / "tests/other")])
    assert any(f"/{place}/" in each.location.file for each in loud(workspace)) is not is_left_out


@pytest.mark.parametrize("archive", [".archive", "_archived", "archive", "apps/deprecated"])
@pytest.mark.parametrize("beside", ["", "docs/route.yaml"])
def test_an_archive_is_out_of_use_where_a_tree_has_nothing_else(tmp_path: Path, archive: str, beside: str) -> None:
    files = {f"{archive}/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    workspace = tree(tmp_path, {**files, "README.md": "", **({beside: BROKEN} if beside else {})})
    assert not [each for each in loud(workspace) if f"/{archive}/" in each.location.file]
    assert any(f"{archive}/" in said for said in workspace.coverage.not_rendered)
    assert loud(open_workspace([str(tmp_path / archive)]))


def test_samples_for_a_schema_are_out_of_use_where_a_tree_has_nothing_else(tmp_path: Path) -> None:
    own = {**GOOD, "route.yaml": BROKEN}
    samples = {f"crd/{each}/{name}": text for each in ("valid", "invalid") for name, text in own.items()}
    assert loud(tree(tmp_path, {**samples, "e2e/gateway.yaml": GATEWAY.format(listener="http")})) == []


@pytest.mark.parametrize(("beside", "said"), [("invalid", []), ("other", ["GWP402"])])
def test_what_is_called_valid_is_a_sample_where_something_is_called_invalid(
    tmp_path: Path, beside: str, said: list[str]
) -> None:
    files = {**GOOD, "valid/route.yaml": BROKEN, f"{beside}/service.yaml": SERVICE.replace("name: web", "name: more")}
    assert sure(tree(tmp_path, files)) == said


def test_tests_are_left_out_beside_examples(tmp_path: Path) -> None:
    files = {f"examples/basic/{name}": text for name, text in GOOD.items()}
    workspace = tree(tmp_path, {**files, "examples/basic/route.yaml": BROKEN, "internal/testdata/route.yaml": BROKEN})
    assert {finding.location.file.rpartition("/")[0] for finding in loud(workspace)} == {f"{tmp_path}/examples/basic"}


def test_a_tree_of_nothing_but_tests_and_one_that_is_named_are_looked_at(tmp_path: Path) -> None:
    files = {f"tests/{name}": text for name, text in {**GOOD, "route.yaml": BROKEN}.items()}
    assert [finding.rule for finding in loud(tree(tmp_path, files))] == ["GWP402"]
    (tmp_path / "service.yaml").write_text(SERVICE, encoding="utf-8")
    assert [finding.rule for finding in loud(open_workspace([str(tmp_path / "tests")]))] == ["GWP402"]


def test_what_documentation_shows_is_no_more_deployed_than_tests_are(tmp_path: Path) -> None:
    """Two sides of a change in the docs, and worlds to read: neither is what the repository deploys."""
    sides = {f"docs/example/{side}/route.yaml": ROUTE.format(section="") for side in ("before", "after")}
    worlds = {f"fixtures/{world}/{name}": text for world in ("one", "two") for name, text in GOOD.items()}
    workspace = tree(tmp_path, {**sides, **worlds})
    assert {"docs/example/after", "docs/example/before", "fixtures/one", "fixtures/two"} == set(names(workspace))
    assert not any("nothing deploys" in said for said in workspace.coverage.not_rendered)


def test_a_stage_called_test_is_no_test(tmp_path: Path) -> None:
    files = {f"k8s/{stage}/{name}": text for stage in ("dev", "prod", "test") for name, text in GOOD.items()}
    files |= {f"k8s/{stage}/route.yaml": BROKEN for stage in ("dev", "prod", "test")}
    assert names(tree(tmp_path, files)) == ["dev", "prod", "test"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lessons/066", "lessons/155"),
        ("courses/go/chapters/1", "courses/go/chapters/2"),
        ("chapter03", "chapter12"),
        ("step-1", "step-2"),
        ("Lab_01", "Lab_02-tls"),
        ("day1", "day10"),
    ],
)
def test_numbered_lessons_are_tried_one_by_one(first: str, second: str, tmp_path: Path) -> None:
    other = ROUTE.format(section="").replace("checkout", "cart")
    workspace = tree(tmp_path, {f"{first}/route.yaml": ROUTE.format(section=""), f"{second}/route.yaml": other})
    assert names(workspace) == [each.rpartition("/")[2] for each in (first, second)]


def test_words_with_numbers_that_are_no_lessons_are_one_cluster(tmp_path: Path) -> None:
    other = ROUTE.format(section="").replace("checkout", "cart")
    assert names(tree(tmp_path, {"team1/route.yaml": ROUTE.format(section=""), "team2/route.yaml": other})) == [
        "default"
    ]


def test_what_two_plain_files_write_differently_is_not_certain(tmp_path: Path) -> None:
    """Two states of one Gateway side by side: the route fits one of them, and either may be the one that is applied."""
    files = {
        "gateway.yaml": GATEWAY.format(listener="http"),
        "gateway-first.yaml": GATEWAY.format(listener="web"),
        "route.yaml": ROUTE.format(section=", sectionName: web"),
        "service.yaml": SERVICE,
    }
    workspace = tree(tmp_path, files)
    assert sure(workspace) == []
    (missing,) = (finding for finding in workspace.findings() if finding.rule == "GWP402")
    assert missing.confidence == "unknown"
    assert "gateway-first.yaml" in missing.ground
    del files["gateway-first.yaml"]
    (tmp_path / "gateway-first.yaml").unlink()
    assert [finding.rule for finding in loud(tree(tmp_path, files))] == ["GWP402"]


LOGIN = """\
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: {name}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}}]
  basicAuth: {{users: {{name: users}}}}
"""


def test_files_that_hold_the_same_object_are_variants(tmp_path: Path) -> None:
    """The policies of two variants of one example do not meet; those of two files without a common object do."""
    route = ROUTE.format(section="")
    variants = {"a.yaml": route + LOGIN.format(name="a"), "b.yaml": route + LOGIN.format(name="b")}
    assert sure(tree(tmp_path, {**GOOD, **variants})) == []
    beside = {"a.yaml": route + LOGIN.format(name="a"), "b.yaml": LOGIN.format(name="b")}
    assert sure(tree(tmp_path, {**GOOD, **beside})) == ["GWP202"]


def test_kustomizations_beside_do_not_make_plain_files_certain(tmp_path: Path) -> None:
    files = {
        "crds/kustomization.yaml": "resources: [namespace.yaml]\n",
        "crds/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n",
        "demo.yaml": SERVICE.replace(", namespace: shop", ""),
        "guide.yaml": SERVICE.replace("namespace: shop", "namespace: default").replace("8080", "9090"),
    }
    workspace = tree(tmp_path, files)
    assert [(finding.rule, finding.severity) for finding in workspace.findings()] == [("GWP503", "note")]


def test_a_file_that_is_no_manifest_may_be_anything(tmp_path: Path) -> None:
    """Templates of other programs, an index that a test breaks: only what says its API version would be checked."""
    broken = "openapi: 3.0.0\ninfo: {title: {service}}}\n"
    assert loud(tree(tmp_path, {**GOOD, "api.yaml": broken})) == []
    assert loud(tree(tmp_path, {**GOOD, "api.yaml": f"{broken}  kind: {{type: string}}\n"})) == []
    assert [finding.rule for finding in loud(tree(tmp_path, {**GOOD, "api.yaml": f"apiVersion: v1\n{broken}"}))] == [
        "GWP910"
    ]


def test_commands_that_write_manifests_are_none(tmp_path: Path) -> None:
    """Notes of a course, in `pod.yaml`; a script in a manifest is part of it."""
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}}\n"
    assert loud(tree(tmp_path, {**GOOD, "pod.yaml": f"cat <<EOF > pod.yaml\n{pod}EOF\n"})) == []
    within = f"{pod}data:\n  run: |\n    cat <<EOF > pod.yaml\n"
    assert [finding.rule for finding in loud(tree(tmp_path, {**GOOD, "pod.yaml": within}))] == ["GWP910"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (".gitlab-ci.yml", False),
        ("azure-pipelines.yml", False),
        ("cloudbuild.yaml", False),
        ("Taskfile.yaml", False),
        (".github/other/a.yaml", False),
        ("pods.yaml", True),
    ],
)
@pytest.mark.parametrize("start", ["", "apiVersion: v1\n"])
def test_pipelines_that_write_objects_out_are_no_manifests(tmp_path: Path, path: str, told: bool, start: str) -> None:
    pipeline = f"{start}build:\n  script:\n    - |\n      cat <<EOF\n      apiVersion: v1\n      kind: Pod\n  oops\n"
    found = [each.rule for each in loud(tree(tmp_path, {**GOOD, path: pipeline}))]
    assert ("GWP910" in found) == (told or (bool(start) and not path.startswith(".github")))


PRINTED = """\
Name:         web
API Version:  gateway.networking.k8s.io/v1
Kind:         HTTPRoute
Spec:
  Any Of:
    Type:  integer
    Type:  string
%s"""


@pytest.mark.parametrize("more", ["", "  kind: a\n oops\n"])
@pytest.mark.parametrize(
    "beside",
    [
        {},
        {f"overlays/{each}/kustomization.yaml": "resources: [../../base]\n" for each in ("a", "b")}
        | {"base/kustomization.yaml": "resources: []\n"},
    ],
    ids=["plain", "beside overlays"],
)
def test_what_kubectl_describe_printed_is_no_manifest(tmp_path: Path, more: str, beside: dict[str, str]) -> None:
    files = {**GOOD, **beside, "printed.yaml": PRINTED % more}
    assert not {"GWP504", "GWP910"} & {each.rule for each in loud(tree(tmp_path, files))}
    for word, key in (("API Version", "apiVersion"), ("Kind", "kind"), ("Name:  ", "metadata: {name: web}\nx:")):
        files["printed.yaml"] = files["printed.yaml"].replace(word, key)
    told = {"GWP504", "GWP910"} & {each.rule for each in loud(tree(tmp_path, files))}
    assert bool(told) == (not (more and beside))  # beside overlays, a plain file that cannot be read is counted alone


def test_values_of_a_chart_are_no_manifest(tmp_path: Path) -> None:
    """Their routes and extra objects have kinds and versions, too, further in."""
    broken = "hosts: []]\nroute:\n  apiVersion: v1\n  kind: HTTPRoute\n"
    for name in ("values.orig.yaml", "values-prod.yml", "charts/values.yaml"):
        assert loud(tree(tmp_path, {**GOOD, name: broken})) == []
    written = {**GOOD, "values.orig.yaml": f"apiVersion: v1\n{broken}"}
    assert [finding.rule for finding in loud(tree(tmp_path, written))] == ["GWP910"]


@pytest.mark.parametrize("hosts", ["%SSO_HOST%", "{{{ .environment.ip }}}"])
def test_what_a_script_fills_in_is_a_template(hosts: str, tmp_path: Path) -> None:
    written = f"apiVersion: v1\nkind: Service\nmetadata: {{name: x}}\nspec:\n  externalName: {hosts}\n"
    assert loud(tree(tmp_path, {**GOOD, "service-x.yaml": written})) == []


FILTER = """\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: limit}
spec:
  workloadSelector: {labels: {app: api}}
  configPatches: []
"""
WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web}]}}
"""


def test_a_selector_without_namespace_is_applied_to_any(tmp_path: Path) -> None:
    """`kubectl apply -n api -f filter.yaml`: in `default` it selects nothing, but nothing says that it lands there."""
    assert sure(tree(tmp_path, {"web/deployment.yaml": WORKLOAD, "api/filter.yaml": FILTER})) == []


@pytest.mark.parametrize(
    "files",
    [
        {"web/deployment.yaml": WORKLOAD, "web/filter.yaml": FILTER},
        {
            "web/deployment.yaml": WORKLOAD,
            "api/filter.yaml": FILTER.replace("name: limit", "name: limit, namespace: default"),
        },
    ],
    ids=["beside a workload", "with its namespace"],
)
def test_one_beside_a_workload_or_with_a_namespace_lands_there(files: dict[str, str], tmp_path: Path) -> None:
    assert sure(tree(tmp_path, files)) == ["GWP105"]


OLD_CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httproutes.gateway.networking.k8s.io}
spec:
  group: gateway.networking.k8s.io
  names: {kind: HTTPRoute, plural: httproutes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec: {type: object, properties: {hostnames: {type: array, maxItems: 0, items: {type: string}}}}
"""


@pytest.mark.parametrize(("home", "told"), [("lessons/007", False), ("crds", True)])
@pytest.mark.parametrize("number", [3, 60])
def test_the_crds_of_a_lesson_are_for_that_one(number: int, home: str, told: bool, tmp_path: Path) -> None:
    """antonputra/tutorials: a hundred lessons, the oldest with the CRDs of its day."""
    route = ROUTE.format(section="").replace("spec:", "spec:\n  hostnames: [shop.example.com]", 1)
    files = {
        f"lessons/{each:03}/route.yaml": route.replace("checkout", f"shop-{each}") for each in range(10, 10 + number)
    }
    workspace = tree(tmp_path, {**files, "lessons/007/service.yaml": SERVICE, f"{home}/crd.yaml": OLD_CRD})
    assert ("GWP501" in {each.rule for each in loud(workspace)}) is told


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("bgp/peering-template.yaml", False),
        ("bgp/template.yml", False),
        ("bgp/peering.template.yaml", False),
        ("bgp/Template_peering.yaml", False),
        ("bgp/templated.yaml", True),
        ("bgp/selector-template-mismatch.yaml", True),
        ("bgp/peering.yaml", True),
        ("contemplate.yaml", True),
    ],
)
@pytest.mark.parametrize("is_deployed", [False, True])
def test_what_is_called_a_template_is_filled_in(path: str, told: bool, is_deployed: bool, tmp_path: Path) -> None:
    """Man-Sinh-Lee/learning-ebpf-and-cilium: rackX, X/32."""
    files = {path: SERVICE.replace("name: checkout", "name: rackX")}
    if is_deployed:
        directory, _, file = path.rpartition("/")
        files[f"{directory}/kustomization.yaml".lstrip("/")] = f"resources: [{file}]\n"
    assert sure(tree(tmp_path, files)) == (["GWP501"] if told or is_deployed else [])


BLANK = SERVICE.replace("port: 8080", "port: null")
OTHER_BLANK = BLANK.replace("name: checkout", "name: cart")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"exercise/a.yaml": BLANK, "complete/a.yaml": SERVICE}, 0),
        ({"exercise/a.yaml": BLANK, "exercise/b.yaml": OTHER_BLANK, "complete/a.yaml": SERVICE}, 0),
        ({"exercise/a.yaml": BLANK}, 1),
        ({"exercise/a.yaml": BLANK, "complete/a.yaml": BLANK}, 2),
        ({"exercise/a.yaml": SERVICE.replace("8080", "70000"), "complete/a.yaml": SERVICE}, 1),
        ({"exercise/a.yaml": BLANK, "complete/a.yaml": SERVICE, "complete/b.yaml": OTHER_BLANK}, 1),
    ],
)
def test_what_an_exercise_leaves_blank_is_no_error(files: dict[str, str], told: int, tmp_path: Path) -> None:
    """FairwindsOps/k8s-workshop: assembly_required/ and complete/."""
    gateways = {f"{each}/gateway.yaml": GATEWAY.format(listener=each) for each in ("exercise", "complete")}
    found = tree(tmp_path, {**gateways, **files}).findings()
    known = [each for each in found if each.rule == "GWP501" and each.confidence != "unknown"]
    assert sum(1 + len(each.related) for each in known) == told
