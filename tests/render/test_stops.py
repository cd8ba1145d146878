"""GWP914: builds that certainly fail are errors, with what that takes away; where anything explains it, they are not.

Each case is what `kubectl kustomize` itself refuses, or builds.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import policylint
from policylint.model import Finding
from tests.diff.history import MAKE, commit, run

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}]}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
TAKEN = "resources: [route.yaml]\n"
REFUSED = {
    "a resource that is not there": {"kustomization.yaml": "resources: [route.yaml, absent.yaml]\n"},
    "a directory without a kustomization": {
        "kustomization.yaml": "resources: [route.yaml, a]\n",
        "a/service.yaml": SERVICE,
    },
    "a component that is not there": {"kustomization.yaml": TAKEN + "components: [a]\n"},
    "a patch file that is not there": {"kustomization.yaml": TAKEN + "patches: [{path: absent.yaml}]\n"},
    "a patch without its target": {
        "kustomization.yaml": TAKEN + "patches: [{path: service.yaml}]\n",
        "service.yaml": SERVICE,
    },
    "a JSON patch without a target": {
        "kustomization.yaml": TAKEN + 'patches: [{patch: \'[{"op": "remove", "path": "/spec"}]\'}]\n'
    },
    "a JSON patch that removes what is not there": {
        "kustomization.yaml": TAKEN
        + 'patches: [{target: {kind: HTTPRoute}, patch: \'[{"op": "remove", "path": "/spec/rules"}]\'}]\n'
    },
    "a patch that is no YAML": {
        "kustomization.yaml": TAKEN + "patches: [{target: {kind: HTTPRoute}, patch: '{a: ['}]\n"
    },
    "one file twice": {"kustomization.yaml": "resources: [route.yaml, route.yaml]\n"},
    "one object by two ways": {
        "kustomization.yaml": "resources: [a, b]\n",
        "a/kustomization.yaml": "resources: [../c]\n",
        "b/kustomization.yaml": "resources: [../c]\n",
        "c/kustomization.yaml": "resources: [service.yaml]\n",
        "c/service.yaml": SERVICE,
    },
    "one object, and again in a component": {
        "kustomization.yaml": "resources: [service.yaml]\ncomponents: [a]\n",
        "a/kustomization.yaml": f"{COMPONENT}resources: [service.yaml]\n",
        "a/service.yaml": SERVICE,
        "service.yaml": SERVICE,
    },
    "two objects that one namespace makes one": {
        "kustomization.yaml": "namespace: shop\nresources: [service.yaml, other.yaml]\n",
        "service.yaml": SERVICE,
        "other.yaml": SERVICE.replace("web}", "web, namespace: other}"),
    },
    "a field that nobody knows": {"kustomization.yaml": TAKEN + "resourcez: []\n"},
    "a field that is no list": {"kustomization.yaml": TAKEN + "components: a\n"},
    "another kind": {"kustomization.yaml": f"kind: Kustomisation\n{TAKEN}"},
    "a Kustomization of Flux": {
        "kustomization.yaml": f"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n{TAKEN}"
    },
    "a component of the wrong version": {
        "kustomization.yaml": TAKEN + "components: [a]\n",
        "a/kustomization.yaml": COMPONENT.replace("v1alpha1", "v1beta1") + "labels: [{pairs: {a: b}}]\n",
    },
    "an empty kustomization": {
        "kustomization.yaml": "resources: [route.yaml, a]\n",
        "a/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    },
    "a cycle": {"kustomization.yaml": "resources: [route.yaml, a]\n", "a/kustomization.yaml": "resources: [..]\n"},
    "a replacement without its source": {
        "kustomization.yaml": TAKEN
        + "replacements: [{source: {kind: Service}, targets: [{select: {kind: HTTPRoute}}]}]\n"
    },
    "a replacement of a field that is not there": {
        "kustomization.yaml": TAKEN
        + "replacements: [{source: {kind: HTTPRoute, fieldPath: spec.rules},"
        + " targets: [{select: {kind: HTTPRoute}}]}]\n"
    },
    "a replacement file that is not there": {"kustomization.yaml": TAKEN + "replacements: [{path: absent.yaml}]\n"},
    "a configuration that is not there": {"kustomization.yaml": TAKEN + "configurations: [absent.yaml]\n"},
    "a generator's file that is not there": {
        "kustomization.yaml": TAKEN + "configMapGenerator: [{name: a, files: [absent.yaml]}]\n"
    },
}
BUILT = {
    "all that is well": {"kustomization.yaml": TAKEN},
    "a target that selects nothing": {
        "kustomization.yaml": TAKEN
        + 'patches: [{target: {kind: Service}, patch: \'[{"op": "remove", "path": "/spec"}]\'}]\n'
    },
    "a JSON patch that replaces what is not there": {
        "kustomization.yaml": TAKEN
        + 'patches: [{target: {kind: HTTPRoute}, patch: "- {op: replace, path: /spec/hostnames, value: [a.io]}"}]\n'
    },
    "two versions of one object": {
        "kustomization.yaml": "resources: [route.yaml, other.yaml]\n",
        "other.yaml": ROUTE.replace("/v1", "/v1beta1"),
    },
    "one base with two prefixes": {
        "kustomization.yaml": "resources: [a, b]\n",
        "a/kustomization.yaml": "namePrefix: a-\nresources: [../c]\n",
        "b/kustomization.yaml": "namePrefix: b-\nresources: [../c]\n",
        "c/kustomization.yaml": "resources: [service.yaml]\n",
        "c/service.yaml": SERVICE,
    },
    "fields without values, and of other letters": {
        "kustomization.yaml": TAKEN + "patches:\ncomponents: null\nimageTags: []\nMetadata: {name: a}\n"
    },
    "a replacement into nothing": {
        "kustomization.yaml": TAKEN
        + "replacements: [{source: {kind: HTTPRoute}, targets: [{select: {kind: Service}}]}]\n"
    },
    "a resource without content": {
        "kustomization.yaml": "resources: [route.yaml, empty.yaml]\n",
        "empty.yaml": "# nothing\n",
    },
}
FLUX = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {path: ./app, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""


def committed(directory: Path, files: dict[str, str]) -> None:
    """Commit a Flux cluster that deploys some files of `app`."""
    app = {f"app/{path}": content for path, content in {"route.yaml": ROUTE, **files}.items()}
    commit(directory, {"clusters/prod/shop.yaml": FLUX, **app})


def new_errors(directory: Path, change: str) -> list[str]:
    """Return the builds that a change breaks."""
    _, out, _ = run(directory, "diff", change, "-o", "json")
    findings = [each for each in json.loads(out)["findings"] if each["rule"] == "GWP914" and each["state"] == "new"]
    return [f"{each['severity']} {each['message']}" for each in findings]


def stopped(directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.chdir(directory)
    return [finding for finding in policylint.lint().findings if finding.rule == "GWP914"]


@pytest.mark.parametrize("files", REFUSED.values(), ids=REFUSED)
def test_what_kustomize_refuses_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    committed(tmp_path, files)
    (finding,) = stopped(tmp_path, monkeypatch)
    assert (finding.severity, finding.confidence) == ("error", "certain")
    assert finding.message.startswith("Flux cannot apply app: ")
    refuses = files["kustomization.yaml"].startswith("resources: [a, b]") or "service" in files["kustomization.yaml"]
    assert refuses or finding.help == ("note: that takes away HTTPRoute shop/web",)


@pytest.mark.parametrize("files", BUILT.values(), ids=BUILT)
def test_what_kustomize_builds_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    committed(tmp_path, files)
    assert stopped(tmp_path, monkeypatch) == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
@pytest.mark.parametrize(
    ("files", "built"), [*((each, False) for each in REFUSED.values()), *((each, True) for each in BUILT.values())]
)
def test_kubectl_says_the_same(tmp_path: Path, files: dict[str, str], built: bool) -> None:
    committed(tmp_path, files)
    command = ["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", str(tmp_path / "app")]
    assert (subprocess.run(command, capture_output=True, check=False).returncode == 0) == built


EXPLAINED = {
    "git ignores it": {".gitignore": "absent.yaml\n"},
    "a script makes it": {"Makefile": "build:\n\tkustomize build crds > app/absent.yaml\n"},
    "it lies in a submodule": {},
}


@pytest.mark.parametrize("files", EXPLAINED.values(), ids=EXPLAINED)
def test_what_is_explained_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    name = "absent.yaml" if files else "vendored/absent.yaml"
    committed(tmp_path, {"kustomization.yaml": TAKEN})
    commit(tmp_path, files)
    commit(tmp_path, {"app/kustomization.yaml": f"resources: [route.yaml, {name}]\n"})
    if not files:
        head = MAKE.git(tmp_path, "rev-parse", "HEAD").strip()
        MAKE.git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{head},app/vendored")
        MAKE.git(tmp_path, "commit", "-q", "--amend", "--no-edit")
    assert stopped(tmp_path, monkeypatch) == []
    assert new_errors(tmp_path, "HEAD~..HEAD") == []


@pytest.mark.parametrize("name", ["secret.sops.yaml", "secret.yaml", "values.enc.yaml", "*.yml", "${CLUSTER}.yaml"])
def test_a_name_may_explain_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    committed(tmp_path, {"kustomization.yaml": f"resources: [route.yaml, '{name}']\n"})
    assert stopped(tmp_path, monkeypatch) == []


def sites(*names: str, entry: str = "../base", parts: tuple[str, ...] = ("edge", "shop")) -> dict[str, str]:
    """Kustomizations by site and part, each of which takes a directory that is beside it in another tree."""
    kustomization = f"resources: [{entry}]\nnamePrefix: a-\n"
    return {f"{name}/{part}/kustomization.yaml": kustomization for name in names for part in parts}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (sites("prod", "test"), 0),
        (sites("prod", "test") | {"prod/lb/kustomization.yaml": "resources: [../base, ../infra/aws]\n"}, 0),
        (sites("a", "b", "c", entry="../../base/x", parts=("edge",)), 3),  # one place, which all lack
        (sites("prod", "test") | {"live/kustomization.yaml": TAKEN, "live/route.yaml": ROUTE}, 4),  # one can be built
        (sites("prod", "test") | {"test/lb/kustomization.yaml": "resources: [../other]\n"}, 5),
        (sites("prod", "test", parts=("edge",)), 2),  # too few
        (sites("prod", "test", entry="base.yaml"), 4),  # what is in them is theirs
    ],
)
def test_a_tree_that_is_put_into_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    """Its parts take a directory of that one, each from where it is; nothing of it can be built as it is."""
    commit(tmp_path, files)
    assert len(stopped(tmp_path, monkeypatch)) == expected


COPIED = {
    "system/part/edge/kustomization.yaml": "resources: [part/edge/route.yaml]\n",
    "system/part/edge/route.yaml": ROUTE,
}
ALONE = {"part/kustomization.yaml": "resources: [service.yaml, absent.yaml]\n", "part/service.yaml": SERVICE}
SUBSCRIPTION = """
apiVersion: apps.open-cluster-management.io/v1
kind: Subscription
metadata: {name: part, annotations: {apps.open-cluster-management.io/git-path: part}}
spec:
  channel: samples/git
  packageOverrides: [{packageName: kustomization, packageOverrides: [{value: {resources: [service.yaml]}}]}]
"""
WRITING = "kustomization.yaml\nkubectl kustomize\n"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (COPIED, True),
        ({**COPIED, "system/Makefile": f"all:\n\tcat part/edge/kustomization.yaml > {WRITING}"}, False),
        ({**COPIED, "system/up.sh": f"yq -i '.resources[0] = env(X)' {WRITING}"}, False),
        ({**COPIED, "system/up.sh": f"yq -i '.images[0].newTag = env(X)' {WRITING}"}, True),
        ({**COPIED, "other/up.sh": f"cat a > {WRITING}"}, True),
        ({**COPIED, "system/README.md": f"    cat a > {WRITING}"}, True),
        (ALONE, True),
        ({**ALONE, "up.sh": f"cat <<EOF > part/{WRITING}"}, False),
        (
            {
                **ALONE,
                "up.sh": "cd part && kustomize edit add resource made.yaml && kustomize build | kubectl apply -f -\n",
            },
            False,
        ),
        ({**ALONE, "up.sh": "cd part && kustomize edit set image a=b && kustomize build | kubectl apply -f -\n"}, True),
        ({f"roles/web/files/{path}": text for path, text in ALONE.items()}, True),
        (
            {f"roles/web/files/{path}": text for path, text in ALONE.items()} | {"roles/web/tasks/main.yml": "[]\n"},
            False,
        ),
        ({**ALONE, "tasks/main.yml": "[]\n"}, True),
        (
            {**ALONE, "Makefile": "patch: $(REPO)\n\t$(rsync) $(abspath part)/ $^\nup:\n\tkubectl apply -k $(REPO)\n"},
            False,
        ),
        ({**ALONE, "up.sh": "cp -r part ../there\nkubectl apply -k ../there/part\n"}, False),
        ({**ALONE, "up.sh": "cd part && rsync -av ./more ../there/\nkubectl apply -k ../there\n"}, True),
        ({**ALONE, "up.sh": "cp part/service.yaml there/\nkubectl apply -k part\n"}, True),
        ({**ALONE, "part/Chart.yaml": "apiVersion: v2\nname: part\nversion: 1.0.0\n"}, False),
        ({**ALONE, "Chart.yaml": "apiVersion: v2\nname: all\nversion: 1.0.0\n"}, True),
        ({**ALONE, "hub/part.yaml": SUBSCRIPTION}, False),
        ({**ALONE, "hub/part.yaml": SUBSCRIPTION.replace("git-path", "github-path")}, False),
        ({**ALONE, "hub/part.yaml": SUBSCRIPTION.replace("packageName: kustomization", "packageName: other")}, True),
        ({**ALONE, "hub/part.yaml": SUBSCRIPTION.replace("git-path: part", "git-path: other")}, True),
    ],
    ids=[
        *("from above", "copied", "edited", "another edit", "copied elsewhere", "shown", "as it is", "written"),
        *(
            "added to",
            "an image set",
            "files",
            "files of a role",
            "tasks",
            *("copied over another tree", "copied whole", "a part copied", "a file copied"),
            "of a chart",
            "below a chart",
            "overridden",
            "overridden by its other name",
            "another one",
            "another path",
        ),
    ],
)
def test_what_is_changed_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], told: bool
) -> None:
    """sapcc/helm-charts, system/Makefile; stolostron/application-samples, subscriptions/cloud-provider."""
    commit(tmp_path, files)
    assert bool(stopped(tmp_path, monkeypatch)) is told


def test_outside_of_git_nobody_knows_what_git_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [absent.yaml]\n")
    assert stopped(tmp_path, monkeypatch) == []


def test_a_sort_of_file_that_git_has_nowhere_was_never_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(tmp_path, {"kustomization.yaml": TAKEN + "configMapGenerator: [{name: a, files: [absent.toml]}]\n"})
    assert stopped(tmp_path, monkeypatch) == []
    commit(tmp_path, {"other.toml": ""})
    assert len(stopped(tmp_path, monkeypatch)) == 1


def test_what_rests_on_a_remote_base_is_not_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The base may hold the patch's target."""
    files = {
        "kustomization.yaml": "resources: [route.yaml, github.com/a/b?ref=v1]\npatches: [{path: service.yaml}]\n",
        "service.yaml": SERVICE,
    }
    committed(tmp_path, files)
    assert stopped(tmp_path, monkeypatch) == []


def test_one_cause_of_several_builds_is_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path, {"kustomization.yaml": "resources: [../base]\n"})
    commit(
        tmp_path,
        {
            "base/kustomization.yaml": "resources: [absent.yaml, lost.yaml]\n",
            "cart/kustomization.yaml": "resources: [../base]\n",
            "clusters/prod/cart.yaml": FLUX.replace("./app", "./cart").replace("name: shop", "name: cart"),
            "clusters/test/cart.yaml": FLUX.replace("./app", "./cart").replace("name: shop", "name: cart"),
        },
    )
    (finding,) = stopped(tmp_path, monkeypatch)
    assert finding.message == "Flux cannot apply cart and app: resource 'absent.yaml' does not exist"
    assert finding.environments == ("prod", "test")


def test_a_file_that_is_no_yaml_says_what_it_takes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path, {"kustomization.yaml": "resources: [route.yaml, broken.yaml]\n", "broken.yaml": "a: [\n"})
    monkeypatch.chdir(tmp_path)
    (finding,) = (finding for finding in policylint.lint().findings if finding.rule == "GWP910")
    assert finding.severity == "error"
    assert finding.help == ("note: Flux cannot apply app", "note: that takes away HTTPRoute shop/web")


def test_a_change_that_breaks_a_build_is_an_error_of_a_diff(tmp_path: Path) -> None:
    committed(tmp_path, {"kustomization.yaml": TAKEN})
    commit(tmp_path, {"app/kustomization.yaml": "resources: [route.yaml, jwt.yaml]\n"})
    assert new_errors(tmp_path, "HEAD~..HEAD") == ["error Flux cannot apply app: resource 'jwt.yaml' does not exist"]
    code, out, _ = run(tmp_path, "diff", "HEAD~..HEAD")
    assert code == 1
    assert "note: that takes away HTTPRoute shop/web" in out


SYNC = """apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: https://git.example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: flux-system}
spec: {path: ./clusters/prod, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
"""
INSTANCE = """apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  sync: {name: fleet, kind: GitRepository, url: https://git.example.com/fleet, ref: main, path: clusters/prod}
"""
SHOP = FLUX.replace("name: flux-system}", "name: fleet}")


@pytest.mark.parametrize("sync", [SYNC, INSTANCE], ids=["bootstrap", "instance"])
def test_a_path_that_git_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: str) -> None:
    commit(tmp_path, {"clusters/prod/sync.yaml": sync, "clusters/prod/shop.yaml": SHOP, "app/route.yaml": ROUTE})
    assert stopped(tmp_path, monkeypatch) == []
    commit(tmp_path, {"app/route.yaml": None, "apps/route.yaml": ROUTE})
    (finding,) = stopped(tmp_path, monkeypatch)
    assert finding.message == "Flux cannot apply app: path ./app of Kustomization flux-system/shop does not exist"
    assert (finding.severity, finding.location.at()[0]) == ("error", 4)
    assert new_errors(tmp_path, "HEAD~..HEAD") == [f"error {finding.message}"]
    commit(tmp_path, {"app/README.md": "To be written."})
    assert stopped(tmp_path, monkeypatch) == []


RELEASED = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: flux-system}
spec:
  interval: 1h
  chart:
    spec:
      chart: ./charts/shop
      sourceRef: {kind: GitRepository, name: fleet}
      valuesFiles: [charts/shop/values.yaml, ./charts/shop/prod.yaml]
"""


FETCHED = """apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: shop, namespace: flux-system}
spec:
  interval: 1h
  chart: ./charts/shop
  sourceRef: {kind: GitRepository, name: fleet}
  valuesFiles: [charts/shop/values.yaml, ./charts/shop/prod.yaml]
"""


def test_a_value_file_that_git_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = {"charts/shop/Chart.yaml": "name: shop\nversion: 1.0.0\n", "charts/shop/values.yaml": "a: 1\n"}
    there = {"charts/shop/prod.yaml": "a: 2\n"}
    commit(tmp_path, {"clusters/prod/sync.yaml": SYNC, "clusters/prod/shop.yaml": RELEASED, **chart, **there})
    assert stopped(tmp_path, monkeypatch) == []
    commit(tmp_path, {"charts/shop/prod.yaml": None})
    (finding,) = stopped(tmp_path, monkeypatch)
    said = "value file './charts/shop/prod.yaml' does not exist"
    assert finding.message == f"Flux cannot install HelmRelease flux-system/shop: {said}"
    assert (finding.severity, finding.location.at()[0]) == ("error", 10)
    commit(tmp_path, {"clusters/prod/shop.yaml": FETCHED})
    (finding,) = stopped(tmp_path, monkeypatch)
    assert finding.message == f"Flux cannot install HelmChart flux-system/shop: {said}"
    for less in (
        RELEASED.replace("      chart: ./charts", "      ignoreMissingValuesFiles: true\n      chart: ./charts"),
        RELEASED.replace("  interval: 1h", "  interval: 1h\n  suspend: true"),
        RELEASED.replace("name: fleet}", "name: charts}"),
        RELEASED.replace("kind: GitRepository", "kind: HelmRepository"),
        RELEASED.replace("prod.yaml", "${ENVIRONMENT}.yaml"),
    ):
        commit(tmp_path, {"clusters/prod/shop.yaml": less})
        assert stopped(tmp_path, monkeypatch) == []


CHARTED = """resources: [../app]
helmCharts:
  - {name: podinfo, repo: https://charts.example.com, version: 1.0.0, releaseName: shop, %s}
"""


@pytest.mark.parametrize(
    ("files", "fails"),
    [
        ("valuesFile: prod.yaml", True),
        ("additionalValuesFiles: [own.yaml, prod.yaml]", True),
        ("valuesFile: own.yaml", False),
        ("valuesFile: ${STAGE}.yaml", False),
        ("additionalValuesFiles: ['https://example.com/prod.yaml']", False),
    ],
)
def test_a_value_file_of_a_chart_that_a_kustomization_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: str, fails: bool
) -> None:
    app = {"app/kustomization.yaml": "resources: [app.yaml]\n", "app/app.yaml": SERVICE}
    commit(tmp_path, {"prod/kustomization.yaml": CHARTED % files, "prod/own.yaml": "a: 1\n", **app})
    said = "kustomize cannot build prod: value file 'prod/prod.yaml' does not exist"
    assert [each.message for each in stopped(tmp_path, monkeypatch)] == ([said] if fails else [])


APPLICATION = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME, namespace: argocd}
spec:
  source: {repoURL: "https://git.example.com/fleet.git", path: PATH, targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: shop}
"""
ARGO = {
    "argo.yaml": APPLICATION.replace("NAME", "all").replace("PATH", "apps"),
    "apps/shop.yaml": APPLICATION.replace("NAME", "shop").replace("PATH", "./app"),
    "apps/edge.yaml": ROUTE.replace("web", "edge"),
}
OF_A_SET = """apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: teams, namespace: argocd}
spec:
  generators: [{list: {elements: [{team: app}]}}]
  template:
    metadata: {name: shop}
    spec:
      source: {repoURL: "https://git.example.com/fleet", path: "{{team}}", targetRevision: main}
      destination: {name: in-cluster, namespace: shop}
"""


@pytest.mark.parametrize("shop", [ARGO["apps/shop.yaml"], OF_A_SET], ids=["Application", "ApplicationSet"])
def test_a_path_of_argo_that_git_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shop: str) -> None:
    commit(tmp_path, {**ARGO, "apps/shop.yaml": shop, "app/route.yaml": ROUTE})
    assert stopped(tmp_path, monkeypatch) == []
    commit(tmp_path, {"app/route.yaml": None})
    (finding,) = stopped(tmp_path, monkeypatch)
    assert finding.message.startswith("Argo CD cannot apply app: path ")
    assert finding.message.endswith("app of Application argocd/shop does not exist")
    assert finding.severity == "error"
    assert new_errors(tmp_path, "HEAD~..HEAD") == [f"error {finding.message}"]
    commit(tmp_path, {"app/README.md": "To be written."})
    assert stopped(tmp_path, monkeypatch) == []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"argo.yaml": None}, id="nothing says which repository this is"),
        pytest.param({"argo.yaml": ARGO["argo.yaml"].replace("fleet", "other")}, id="another repository"),
        pytest.param({"apps/shop.yaml": ARGO["apps/shop.yaml"].replace("main", "release")}, id="another branch"),
        pytest.param(
            {name: ARGO[name].replace("main", "v1.2") for name in ("argo.yaml", "apps/shop.yaml")}, id="a tag"
        ),
        pytest.param({"apps/shop.yaml": ARGO["apps/shop.yaml"].replace("./app", "'{{path}}'")}, id="a parameter"),
        pytest.param({".gitignore": "app/\n"}, id="git ignores the directory"),
    ],
)
def test_a_path_of_argo_that_may_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str | None]
) -> None:
    commit(tmp_path, {name: content for name, content in {**ARGO, **files}.items() if content is not None})
    assert stopped(tmp_path, monkeypatch) == []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"shop.yaml": SHOP.replace("kind: GitRepository", "kind: OCIRepository")}, id="an artifact"),
        pytest.param({"shop.yaml": SHOP.replace("kind: GitRepository", "kind: ExternalArtifact")}, id="made elsewhere"),
        pytest.param({"shop.yaml": SHOP.replace("name: fleet}", "name: shop}")}, id="another repository"),
        pytest.param({"shop.yaml": SHOP.replace("name: fleet}", "name: fleet, namespace: shop}")}, id="that of a team"),
        pytest.param({"shop.yaml": SHOP.replace("./app", "./app/${REGION}")}, id="a variable"),
        pytest.param({"shop.yaml": SHOP.replace("./app", "./vault/app")}, id="a name that explains it"),
        pytest.param({"shop.yaml": SHOP.replace("prune", "suspend: true, prune")}, id="suspended"),
        pytest.param({"sync.yaml": SYNC.replace("{branch: main}", "{tag: v1}")}, id="another revision"),
        pytest.param(
            {"sync.yaml": SYNC.replace("ref:", "include: [{repository: {name: apps}, toPath: app}], ref:")},
            id="a repository in the repository",
        ),
        pytest.param({"sync.yaml": SYNC.replace("kind: GitRepository", "kind: Bucket")}, id="a bucket"),
        pytest.param(
            {"sync.yaml": f"{INSTANCE}  kustomize: {{patches: [{{target: {{kind: GitRepository}}, patch: '[]'}}]}}\n"},
            id="a source that the instance patches",
        ),
        pytest.param({"../../.gitignore": "app/\n"}, id="git ignores the directory"),
        pytest.param({"../../.gitignore": "app/*.yaml\n"}, id="git ignores what is in it"),
        pytest.param({"../../Makefile": "build:\n\tjsonnet -m app main.jsonnet\n"}, id="a script makes it"),
    ],
)
def test_a_path_that_may_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    others = {"clusters/prod/edge.yaml": ROUTE.replace("web", "edge")}
    kept = {f"clusters/prod/{name}": text for name, text in {"sync.yaml": SYNC, "shop.yaml": SHOP, **files}.items()}
    commit(tmp_path, {**others, **kept})
    assert stopped(tmp_path, monkeypatch) == []


def test_a_path_that_a_sparse_checkout_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, {"clusters/prod/sync.yaml": SYNC, "clusters/prod/shop.yaml": SHOP, "app/route.yaml": ROUTE})
    MAKE.git(tmp_path, "sparse-checkout", "set", "clusters")
    assert not (tmp_path / "app").exists()
    assert stopped(tmp_path, monkeypatch) == []


def test_a_directory_of_resources_that_git_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path, {"kustomization.yaml": "resources: [route.yaml, ../lib/edge]\n"})
    (finding,) = stopped(tmp_path, monkeypatch)
    assert finding.message == "Flux cannot apply app: resource '../lib/edge' does not exist"
    commit(tmp_path, {".gitignore": "/lib/\n"})
    assert stopped(tmp_path, monkeypatch) == []


CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "chart/values.yaml": "a: b\n",
    "chart/templates/route.yaml": ROUTE,
    "env/staging/values.yaml": "a: c\n",
}
SOURCE = "repoURL: https://git.example.com/web.git, targetRevision: HEAD"
OF_CHART = f"{SOURCE}, path: chart, helm: {{valueFiles: [%s]%s}}"


def _application(files: str, more: str = "", beside: str = "") -> str:
    first = f"{{{OF_CHART % (files, more)}}}"
    sources = f"sources: [{first}, {{{beside}}}]" if beside else f"source: {first}"
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n"
        f"spec: {{project: default, destination: {{namespace: shop, name: in-cluster}}, {sources}}}\n"
    )


@pytest.mark.parametrize(
    ("application", "said"),
    [
        (_application("../env/staging/values.yml"), ["../env/staging/values.yml"]),  # argoproj/argo-cd#14536
        (_application("/env/values.yaml"), ["/env/values.yaml"]),
        (_application("$env/values.yaml", beside=f"{SOURCE}, path: env/staging, ref: env"), ["$env/values.yaml"]),
        (_application("../env/staging/values.yaml"), []),
        (_application("$env/env/staging/values.yaml", beside=f"{SOURCE}, ref: env"), []),
        (_application("$env/values.yaml", beside="repoURL: https://git.example.com/values.git, ref: env"), []),
        (_application("../env/none.yaml", ", ignoreMissingValueFiles: true"), []),
        (_application("https://example.com/values.yaml"), []),
        (_application("secrets.enc.yaml"), []),
        (_application("../env/staging/values.yaml", ", fileParameters: [{name: a, path: values.yaml}]"), []),
    ],
)
def test_value_files_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, application: str, said: list[str]
) -> None:
    """helm takes no value file that is not there; `$name` is the top of a source (argoproj/argo-cd#15528)."""
    commit(tmp_path, {"apps/web.yaml": application, **CHART})
    found = stopped(tmp_path, monkeypatch)
    assert len(found) == len(said)
    assert all(
        f"the value file {name} of Application argocd/web" in each.message
        for name, each in zip(said, found, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "beside", "more", "refused"),
    [
        ("$other/env/staging/values.yaml", f"{SOURCE}, ref: env", "", True),
        ("$other/env/staging/values.yaml", f"{SOURCE}, ref: env", ", ignoreMissingValueFiles: true", True),
        ("$env/env/staging/values.yaml", f"{SOURCE}, path: other", "", True),
        ("$env/env/staging/values.yaml", f"{SOURCE}, ref: env", "", False),
        ("$env/env/staging/values.yaml", "", "", False),  # of one source it is a variable of the build
    ],
)
def test_a_name_that_no_source_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, beside: str, more: str, refused: bool
) -> None:
    """argoproj/argo-cd, reposerver/repository/repository.go, resolveReferencedSources: it makes no manifests then."""
    commit(tmp_path, {"apps/web.yaml": _application(name, more, beside=beside), **CHART})
    found = [each for each in stopped(tmp_path, monkeypatch) if "by `ref`" in each.message]
    assert bool(found) is refused


OF_OTHERS = "repoURL: https://charts.example.com, chart: blog, targetRevision: 1.0.0, helm: {%s}"
SET = (
    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\n"
    "spec: {generators: [{list: {elements: [{env: staging}]}}], template: {metadata: {name: 'web-{{env}}'}, "
)


@pytest.mark.parametrize(
    ("helm", "beside", "why"),
    [
        ("valueFiles: [$other/a.yaml]", f"{SOURCE}, ref: env", "no source of"),
        ("valueFiles: [$env/a.yaml]", f"{SOURCE}, ref: env", ""),
        ("fileParameters: [{name: a, path: $other/a.txt}]", f"{SOURCE}, ref: env", "no source of"),
        ("fileParameters: [{name: a, path: $env/a.txt}]", f"{SOURCE}, ref: env", ""),
        ("valueFiles: [$env/a.yaml]", "repoURL: https://c.example.com, chart: b, ref: env", "is a chart"),
        ("valueFiles: ['$other/{{env}}.yaml']", f"{SOURCE}, ref: env", "no source of"),
    ],
)
@pytest.mark.parametrize("is_set", [False, True])
def test_files_of_other_sources_for_a_chart_of_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helm: str, beside: str, why: str, is_set: bool
) -> None:
    """Of an Application, and of what an ApplicationSet makes; for value files, and for files of parameters."""
    own = _application("values.yaml", beside=f"{SOURCE}, ref: own")
    here = own.replace("name: web,", "name: here,")  # what shows that Argo CD deploys this tree
    other = _application("", beside=beside).replace(OF_CHART % ("", ""), OF_OTHERS % helm)
    if is_set:
        spec = other.rpartition("\n")[0].rpartition("\n")[2]
        other = f"{SET}{spec}}}}}\n"
    commit(tmp_path, {"apps/here.yaml": here, "apps/web.yaml": other, **CHART})
    assert [why in each.message for each in stopped(tmp_path, monkeypatch)] == ([True] if why else [])


def test_a_file_of_a_parameter_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fileParameters` become `--set-file`, which `ignoreMissingValueFiles` says nothing of (reposerver, helm.go)."""
    more = ", ignoreMissingValueFiles: true, fileParameters: [{name: a, path: policy.yaml}]"
    commit(tmp_path, {"apps/web.yaml": _application("../env/none.yaml", more), **CHART})
    (found,) = stopped(tmp_path, monkeypatch)
    assert "the file policy.yaml of Application argocd/web is not at chart/policy.yaml" in found.message
