"""Trees whose rendering may grow faster than they do: each function writes one of a size and returns the arguments.

A size counts what the shape is wide in (overlays, patches, Applications …); twice the size is about twice the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}}}
spec:
  parentRefs: [{{name: edge}}]
  rules: [{{backendRefs: [{{name: {name}, port: 80}}]}}]
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec:
  path: {path}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  source: {{repoURL: https://example.com/r.git, path: {path}}}
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
"""
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: {name}, namespace: argocd}}
spec:
  goTemplate: true
  generators:
{generators}
  template:
    metadata: {{name: '{name}-{{{{.name}}}}'}}
    spec:
      source: {{repoURL: https://example.com/r.git, path: {path}}}
      destination: {{name: '{{{{.name}}}}', namespace: shop}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: {name}, namespace: shop}}
spec:
  chart: {{spec: {{chart: app-template, sourceRef: {{kind: HelmRepository, name: bjw-s}}}}}}
{values}
"""


def lint(root: Path, files: Mapping[str, str]) -> list[str]:
    """Write files below a root and return the arguments that lint it."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return ["lint", str(root)]


def routes(size: int, prefix: str = "r") -> str:
    """Return routes in one file."""
    return "---\n".join(ROUTE.format(name=f"{prefix}{number}") for number in range(size))


def listed(field: str, entries: Iterable[object]) -> str:
    """Return a list of a kustomization, an entry a line."""
    return f"{field}:\n" + "".join(f"- {entry}\n" for entry in entries)


def many_documents(root: Path, size: int) -> list[str]:
    """Routes in one file that a kustomization deploys."""
    return lint(root, {"kustomization.yaml": "resources: [r.yaml]\nnamespace: shop\n", "r.yaml": routes(size)})


def wide_overlays(root: Path, size: int) -> list[str]:
    """Overlays side by side over one base; each is an environment of its own, with what lies beside them."""
    files = {"base/kustomization.yaml": "resources: [r.yaml]\n", "base/r.yaml": routes(size)}
    for number in range(size):
        files[f"overlays/o{number}/kustomization.yaml"] = f"resources: [../../base]\nnamespace: n{number}\n"
    files["kustomization.yaml"] = listed("resources", (f"overlays/o{number}" for number in range(size)))
    return lint(root, files)


def rival_overlays(root: Path, size: int) -> list[str]:
    """Overlays that make the same objects, so that each is an environment, and objects that all of them share."""
    files = {
        "base/kustomization.yaml": "resources: [r.yaml]\n",
        "base/r.yaml": routes(1),
        "plain/r.yaml": routes(size, "p"),
    }
    for number in range(size):
        files[f"overlays/o{number}/kustomization.yaml"] = "resources: [../../base]\n"
    return lint(root, files)


def chain_of_bases(root: Path, size: int) -> list[str]:
    """Bases in bases, as deep as is followed, around many objects; each adds to their names."""
    files = {"k0/kustomization.yaml": "resources: [r.yaml]\n", "k0/r.yaml": routes(size)}
    for level in range(1, 50):
        files[f"k{level}/kustomization.yaml"] = f"resources: [../k{level - 1}]\nnamePrefix: a-\n"
    return lint(root, files)


def doubling_bases(root: Path, size: int) -> list[str]:
    """Bases each of which takes in two of the level below under different names."""
    files = {"k0-a/kustomization.yaml": "resources: [r.yaml]\n", "k0-b/kustomization.yaml": "resources: [r.yaml]\n"}
    files |= {"k0-a/r.yaml": ROUTE.format(name="r"), "k0-b/r.yaml": ROUTE.format(name="r")}
    for level in range(1, min(size, 50)):
        for side in "ab":
            files[f"k{level}-{side}/kustomization.yaml"] = (
                f"resources: [../k{level - 1}-a, ../k{level - 1}-b]\nnamePrefix: {side}-\n"
            )
    return lint(root, files)


def components(root: Path, size: int) -> list[str]:
    """Components that each label all objects."""
    files = {"app/r.yaml": routes(size)}
    for number in range(size):
        files[f"c{number}/kustomization.yaml"] = f"kind: Component\ncommonAnnotations: {{a{number}: b}}\n"
    files["app/kustomization.yaml"] = "resources: [r.yaml]\n" + listed("components", (f"../c{n}" for n in range(size)))
    return lint(root, files)


def one_component(root: Path, size: int) -> list[str]:
    """One component that is included many times."""
    files = {"app/r.yaml": routes(size), "c/kustomization.yaml": "kind: Component\nnamePrefix: ab-\n"}
    files["app/kustomization.yaml"] = "resources: [r.yaml]\n" + listed("components", ["../c"] * size)
    return lint(root, files)


def long_prefix(root: Path, size: int) -> list[str]:
    """A prefix as long as all objects together."""
    return lint(
        root, {"kustomization.yaml": f"namePrefix: {'a' * 150 * size}\nresources: [r.yaml]\n", "r.yaml": routes(size)}
    )


def json_patch_of_one_list(root: Path, size: int) -> list[str]:
    """Operations on one long list."""
    operations = "".join(
        f"    - {{op: add, path: /spec/rules/-, value: {{backendRefs: [{{name: s{n}, port: 80}}]}}}}\n"
        for n in range(size)
    )
    kustomization = f"resources: [r.yaml]\npatches:\n- target: {{kind: HTTPRoute}}\n  patch: |\n{operations}"
    return lint(root, {"kustomization.yaml": kustomization, "r.yaml": routes(1)})


def json_patches_of_one_list(root: Path, size: int) -> list[str]:
    """Patches of one operation each on one long list."""
    entries = "".join(
        "- target: {kind: HTTPRoute, name: r0}\n"
        f"  patch: '[{{op: add, path: /spec/hostnames/0, value: h{n}.example.com}}]'\n"
        for n in range(size)
    )
    route = ROUTE.format(name="r0") + "  hostnames: [a.example.com]\n"
    return lint(root, {"kustomization.yaml": f"resources: [r.yaml]\npatches:\n{entries}", "r.yaml": route})


def merge_of_one_list(root: Path, size: int) -> list[str]:
    """A strategic merge patch of one long list with keys."""
    head = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n"
    )
    one = head + "".join(f"      - {{name: c{n}, image: a}}\n" for n in range(size))
    two = head + "".join(f"      - {{name: c{n}, image: b}}\n" for n in reversed(range(size)))
    kustomization = "resources: [d.yaml]\npatches: [{path: p.yaml}]\n"
    return lint(root, {"kustomization.yaml": kustomization, "d.yaml": one, "p.yaml": two})


def merges_of_one_mapping(root: Path, size: int) -> list[str]:
    """Strategic merge patches that each set one label of one object."""
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: "
    patches = "---\n".join(head + f"{{name: r0, labels: {{l{n}: x}}}}\n" for n in range(size))
    kustomization = "resources: [r.yaml]\npatches: [{path: p.yaml}]\n"
    return lint(root, {"kustomization.yaml": kustomization, "r.yaml": routes(1), "p.yaml": patches})


def patches_by_name(root: Path, size: int) -> list[str]:
    """A patch for each object, found by its target."""
    entries = "".join(
        f"- target: {{kind: HTTPRoute, name: r{n}}}\n"
        "  patch: '[{op: add, path: /spec/hostnames, value: [h.example.com]}]'\n"
        for n in range(size)
    )
    return lint(root, {"kustomization.yaml": f"resources: [r.yaml]\npatches:\n{entries}", "r.yaml": routes(size)})


def merges_by_name(root: Path, size: int) -> list[str]:
    """A strategic merge patch for each object."""
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: "
    patches = "---\n".join(head + f"{{name: r{n}}}\nspec: {{hostnames: [h.example.com]}}\n" for n in range(size))
    kustomization = "resources: [r.yaml]\npatches: [{path: p.yaml}]\n"
    return lint(root, {"kustomization.yaml": kustomization, "r.yaml": routes(size), "p.yaml": patches})


def patches_of_everything(root: Path, size: int) -> list[str]:
    """Patches for all objects."""
    entries = "".join(
        f"- target: {{kind: HTTPRoute}}\n  patch: '[{{op: add, path: /metadata/l{n}, value: x}}]'\n"
        for n in range(size)
    )
    return lint(root, {"kustomization.yaml": f"resources: [r.yaml]\npatches:\n{entries}", "r.yaml": routes(size)})


def deletions(root: Path, size: int) -> list[str]:
    """Patches that each delete an object."""
    head = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n$patch: delete\nmetadata: "
    patches = "---\n".join(head + f"{{name: r{n}}}\n" for n in range(size - 1))
    kustomization = "resources: [r.yaml]\npatches: [{path: p.yaml}]\n"
    return lint(root, {"kustomization.yaml": kustomization, "r.yaml": routes(size), "p.yaml": patches})


def nesting_patch(root: Path, size: int) -> list[str]:
    """Operations that each nest one level deeper."""
    operations = "".join(
        f"    - {{op: add, path: /metadata{'/a' * depth}, value: {{}}}}\n" for depth in range(1, min(size, 1500))
    )
    kustomization = f"resources: [r.yaml]\npatches:\n- target: {{kind: HTTPRoute}}\n  patch: |\n{operations}"
    return lint(root, {"kustomization.yaml": kustomization, "r.yaml": routes(1)})


def replacements(root: Path, size: int) -> list[str]:
    """A replacement for each object."""
    entries = "".join(
        f"- source: {{kind: HTTPRoute, name: r{n}, fieldPath: metadata.name}}\n"
        f"  targets: [{{select: {{kind: HTTPRoute, name: r{n}}}, fieldPaths: [spec.parentRefs.0.name]}}]\n"
        for n in range(size)
    )
    return lint(root, {"kustomization.yaml": f"resources: [r.yaml]\nreplacements:\n{entries}", "r.yaml": routes(size)})


def replacements_of_one_list(root: Path, size: int) -> list[str]:
    """Replacements that each set an item of one long list."""
    route = ROUTE.format(name="r0") + "  hostnames:\n" + "".join(f"  - h{n}.example.com\n" for n in range(size))
    entries = "".join(
        f"- source: {{kind: HTTPRoute, fieldPath: metadata.name}}\n"
        f"  targets: [{{select: {{kind: HTTPRoute}}, fieldPaths: [spec.hostnames.{n}]}}]\n"
        for n in range(size)
    )
    return lint(root, {"kustomization.yaml": f"resources: [r.yaml]\nreplacements:\n{entries}", "r.yaml": route})


def doubling_replacements(root: Path, size: int) -> list[str]:
    """Replacements that each append a text to itself."""
    entry = (
        "- source: {kind: HTTPRoute, fieldPath: metadata.annotations.a}\n"
        "  targets:\n  - select: {kind: HTTPRoute}\n    fieldPaths: [metadata.annotations.a]\n"
        "    options: {delimiter: /, index: 99999999}\n"
    )
    route = ROUTE.format(name="r0").replace("name: r0}", "name: r0, annotations: {a: x}}", 1)
    return lint(root, {"kustomization.yaml": "resources: [r.yaml]\nreplacements:\n" + entry * size, "r.yaml": route})


def nesting_replacements(root: Path, size: int) -> list[str]:
    """Replacements that each put an object's spec into itself, twice."""
    entry = (
        "- source: {kind: HTTPRoute, fieldPath: spec}\n"
        "  targets:\n  - select: {kind: HTTPRoute}\n    fieldPaths: [spec.a, spec.b]\n    options: {create: true}\n"
    )
    return lint(
        root, {"kustomization.yaml": "resources: [r.yaml]\nreplacements:\n" + entry * size, "r.yaml": routes(1)}
    )


def long_field_path(root: Path, size: int) -> list[str]:
    """A replacement that makes fields in fields."""
    entry = (
        "- source: {kind: HTTPRoute, fieldPath: metadata.name}\n"
        f"  targets:\n  - select: {{kind: HTTPRoute}}\n    fieldPaths: [spec{'.a' * size}]\n"
        "    options: {create: true}\n"
    )
    return lint(root, {"kustomization.yaml": "resources: [r.yaml]\nreplacements:\n" + entry, "r.yaml": routes(1)})


def generators(root: Path, size: int) -> list[str]:
    """Generated ConfigMaps that are merged with those of the base."""
    entries = listed("configMapGenerator", (f"{{name: c{n}, literals: [a=b]}}" for n in range(size)))
    merged = listed("configMapGenerator", (f"{{name: c{n}, behavior: merge, literals: [b=c]}}" for n in range(size)))
    files = {"base/kustomization.yaml": "resources: [r.yaml]\n" + entries, "base/r.yaml": routes(1)}
    return lint(root, files | {"over/kustomization.yaml": "resources: [../base]\n" + merged})


def generated_from_one_file(root: Path, size: int) -> list[str]:
    """Generated ConfigMaps that all hold the same large file."""
    entries = listed("configMapGenerator", (f"{{name: c{n}, files: [big.txt]}}" for n in range(size)))
    files = {"kustomization.yaml": "resources: [r.yaml]\n" + entries, "r.yaml": routes(1), "big.txt": "x" * 50 * size}
    return lint(root, files)


def name_references(root: Path, size: int) -> list[str]:
    """Pods with many references to generated maps."""
    entries = listed("configMapGenerator", (f"{{name: c{n}, literals: [a=b]}}" for n in range(size)))
    head = DEPLOYMENT + "      volumes:\n"
    pods = head + "".join(f"      - {{name: v{n}, configMap: {{name: c{n}}}}}\n" for n in range(size))
    files = {"kustomization.yaml": "resources: [d.yaml, r.yaml]\n" + entries, "r.yaml": routes(1), "d.yaml": pods}
    return lint(root, files)


def substitution(root: Path, size: int) -> list[str]:
    """A long value that is filled in many times."""
    post_build = f"  postBuild: {{substitute: {{A: {'a' * 20 * size}}}}}\n"
    annotations = ", ".join(f"a{number}: 'x${{A}}'" for number in range(size))
    route = ROUTE.format(name="r0").replace("{name: r0}", f"{{name: r0, annotations: {{{annotations}}}}}", 1)
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps") + post_build, "apps/r.yaml": route}
    return lint(root, files)


def substitution_of_one_text(root: Path, size: int) -> list[str]:
    """A long value that is filled into one text many times."""
    post_build = f"  postBuild: {{substitute: {{A: {'a' * 20 * size}}}}}\n"
    route = ROUTE.format(name="r0").replace("{name: r0}", f"{{name: r0, annotations: {{a: '{'${A}' * size}'}}}}", 1)
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps") + post_build, "apps/r.yaml": route}
    return lint(root, files)


def open_braces(root: Path, size: int) -> list[str]:
    """Variables whose braces do not close."""
    post_build = "  postBuild: {substitute: {A: a}}\n"
    route = ROUTE.format(name="r0").replace("{name: r0}", f"{{name: r0, annotations: {{a: '{'${A:=' * size}'}}}}", 1)
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps") + post_build, "apps/r.yaml": route}
    return lint(root, files)


def flux_kustomizations(root: Path, size: int) -> list[str]:
    """Flux Kustomizations, a directory each."""
    files = {f"clusters/prod/k{n}.yaml": FLUX.format(name=f"k{n}", path=f"./apps/a{n}") for n in range(size)}
    return lint(root, files | {f"apps/a{n}/r.yaml": ROUTE.format(name=f"r{n}") for n in range(size)})


def flux_without_root(root: Path, size: int) -> list[str]:
    """Flux Kustomizations that nothing bootstraps, each beside what it deploys."""
    files = {f"apps/a{n}/flux.yaml": FLUX.format(name=f"k{n}", path=f"./apps/a{n}/app") for n in range(size)}
    return lint(root, files | {f"apps/a{n}/app/r.yaml": ROUTE.format(name=f"r{n}") for n in range(size)})


def flux_of_one_directory(root: Path, size: int) -> list[str]:
    """Flux Kustomizations that all deploy one directory, each into a namespace of its own."""
    files = {"apps/r.yaml": routes(size)}
    for number in range(size):
        files[f"clusters/prod/k{number}.yaml"] = (
            FLUX.format(name=f"k{number}", path="./apps") + f"  targetNamespace: n{number}\n"
        )
    return lint(root, files)


def flux_dependencies(root: Path, size: int) -> list[str]:
    """Flux Kustomizations that each wait for the next, the last for the first."""
    return _waiting(root, [(number + 1) % size for number in range(size)])


def flux_waiting_chain(root: Path, size: int) -> list[str]:
    """Flux Kustomizations that each wait for the next."""
    return _waiting(root, range(1, size + 1))


def _waiting(root: Path, nexts: Sequence[int]) -> list[str]:
    files = {}
    for number, other in enumerate(nexts):
        files[f"apps/a{number}/r.yaml"] = ROUTE.format(name=f"r{number}")
        files[f"clusters/prod/k{number}.yaml"] = (
            FLUX.format(name=f"k{number}", path=f"./apps/a{number}") + f"  dependsOn: [{{name: k{other}}}]\n"
        )
    return lint(root, files)


def flux_variables(root: Path, size: int) -> list[str]:
    """Flux Kustomizations that each take variables from a ConfigMap of their own."""
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: "
    maps = "---\n".join(f"{head}{{name: m{n}, namespace: flux-system}}\ndata: {{A: b}}\n" for n in range(size))
    files = {"clusters/prod/maps.yaml": maps}
    for number in range(size):
        files[f"clusters/prod/k{number}.yaml"] = (
            FLUX.format(name=f"k{number}", path=f"./apps/a{number}")
            + f"  postBuild: {{substituteFrom: [{{kind: ConfigMap, name: m{number}}}]}}\n"
        )
        files[f"apps/a{number}/r.yaml"] = ROUTE.format(name=f"r{number}")
    return lint(root, files)


def resource_set(root: Path, size: int) -> list[str]:
    """A ResourceSet of many objects for many inputs."""
    inputs = "".join(f"  - {{n: a{n}}}\n" for n in range(size))
    resources = "".join(
        f"  - {{apiVersion: v1, kind: Service, metadata: {{name: s{n}-<< inputs.n >>}}}}\n" for n in range(size)
    )
    body = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b}\nspec:\n"
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps"), "apps/r.yaml": routes(1)}
    return lint(root, files | {"apps/set.yaml": f"{body}  inputs:\n{inputs}  resources:\n{resources}"})


def argo_fleet(root: Path, size: int) -> list[str]:
    """ApplicationSets, each for all clusters."""
    files = {}
    for number in range(size):
        elements = "".join(f"      - {{name: c{n}}}\n" for n in range(size))
        generators = f"  - list:\n      elements:\n{elements}"
        files[f"apps/a{number}/r.yaml"] = ROUTE.format(name=f"r{number}")
        files[f"sets/s{number}.yaml"] = SET.format(name=f"s{number}", generators=generators, path=f"apps/a{number}")
    return lint(root, files)


def argo_files(root: Path, size: int) -> list[str]:
    """ApplicationSets whose git generators each look through all files."""
    files = {f"config/c{n}.yaml": f"name: c{n}\n" for n in range(size)}
    for number in range(size):
        generators = f"  - git: {{repoURL: https://example.com/r.git, files: [{{path: 'config/c{number}.y*ml'}}]}}"
        files[f"apps/a{number}/r.yaml"] = ROUTE.format(name=f"r{number}")
        files[f"sets/s{number}.yaml"] = SET.format(name=f"s{number}", generators=generators, path=f"apps/a{number}")
    return lint(root, files)


def argo_merge(root: Path, size: int) -> list[str]:
    """A merge generator of two long lists."""
    elements = "".join(f"          - {{name: c{n}}}\n" for n in range(size))
    part = f"      - list:\n          elements:\n{elements}"
    generators = f"  - merge:\n      mergeKeys: [name]\n      generators:\n{part}{part}"
    files = {"sets/s.yaml": SET.format(name="s", generators=generators, path="apps/a"), "apps/a/r.yaml": routes(1)}
    return lint(root, files)


def argo_matrix(root: Path, size: int) -> list[str]:
    """A matrix of two long lists."""
    parts = "".join(
        "      - list:\n          elements:\n" + "".join(f"          - {{{key}: c{n}}}\n" for n in range(size))
        for key in ("name", "other")
    )
    generators = f"  - matrix:\n      generators:\n{parts}"
    made = SET.format(name="s", generators=generators, path="apps/a").replace("s-{{", "s-{{.other}}-{{")
    return lint(root, {"sets/s.yaml": made, "apps/a/r.yaml": routes(1)})


def apps_of_apps(root: Path, size: int) -> list[str]:
    """Applications that each deploy the next."""
    files = {f"k{n}/next.yaml": APPLICATION.format(name=f"a{n}", path=f"k{n + 1}") for n in range(size)}
    return lint(root, files | {f"k{size}/r.yaml": routes(1)})


def argo_applications(root: Path, size: int) -> list[str]:
    """Applications side by side."""
    files = {f"argo/a{n}.yaml": APPLICATION.format(name=f"a{n}", path=f"apps/a{n}") for n in range(size)}
    return lint(root, files | {f"apps/a{n}/r.yaml": ROUTE.format(name=f"r{n}") for n in range(size)})


def go_template(root: Path, size: int, patch: str = "") -> list[str]:
    """Nested loops of a templatePatch over one list."""
    elements = f"  - list:\n      elements:\n      - {{name: a, l: [{', '.join('x' for _ in range(size))}]}}"
    patch = patch or "{{range .l}}{{range $.l}}{{range $.l}}{{range $.l}}{{end}}{{end}}{{end}}{{end}}"
    text = SET.format(name="s", generators=elements, path="apps/a") + f"  templatePatch: '{patch}'\n"
    return lint(root, {"sets/s.yaml": text, "apps/a/r.yaml": routes(1)})


def go_template_functions(root: Path, size: int) -> list[str]:
    """A pipeline of functions that each make the text ten times as long."""
    return go_template(root, 1, '{{"x"' + ' | replace "x" "xxxxxxxxxx"' * size + "}}")


def go_template_indent(root: Path, size: int) -> list[str]:
    """An indentation without bounds."""
    return go_template(root, 1, f'{{{{indent {size}000000 "x"}}}}')


def go_template_pieces(root: Path, size: int) -> list[str]:
    """A template of many actions and conditions."""
    return go_template(root, 1, 'x: "' + "{{.name}}{{if .name}}a{{end}}" * size + '"')


def go_template_brackets(root: Path, size: int) -> list[str]:
    """Brackets in brackets."""
    return go_template(root, 1, "{{" + "(" * size + ".name" + ")" * size + "}}")


def aliases(root: Path, size: int) -> list[str]:
    """Documents that each stand for a million values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 5)]
    inner = "".join(f"    {line}\n" for line in lines)
    one = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: r{}\nspec:\n  x:\n"
    return lint(root, {"r.yaml": "---\n".join(one.format(number) + inner for number in range(size))})


def laughing_values(root: Path, size: int) -> list[str]:
    """Values of releases that come from one ConfigMap of expanding aliases."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 5)]
    inner = "".join(f"    {line}\n" for line in lines)
    values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: shop}\ndata:\n  values.yaml: |\n" + inner
    taken = "  valuesFrom: [{kind: ConfigMap, name: v}]"
    releases = "---\n".join(
        RELEASE.format(name=f"h{n}", values=taken).replace("app-template", "x") for n in range(size)
    )
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps"), "apps/v.yaml": values}
    return lint(root, files | {"apps/h.yaml": releases, "apps/r.yaml": routes(1)})


def releases(root: Path, size: int) -> list[str]:
    """Releases that take their values from one ConfigMap of many routes."""
    one = "    route:\n" + "".join(f"      a{n}: {{parentRefs: [{{name: edge}}]}}\n" for n in range(size))
    values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: shop}\ndata:\n  values.yaml: |\n" + one
    taken = "  valuesFrom: [{kind: ConfigMap, name: v}]"
    text = "---\n".join(RELEASE.format(name=f"h{n}", values=taken) for n in range(size))
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps"), "apps/v.yaml": values}
    return lint(root, files | {"apps/h.yaml": text, "apps/r.yaml": routes(1)})


def release_services(root: Path, size: int) -> list[str]:
    """One release with many services and a route of many rules."""
    services = "".join(f"      s{n}: {{ports: {{http: {{port: 80}}}}}}\n" for n in range(size))
    rules = "".join(f"        - backendRefs: [{{identifier: s{n}}}]\n" for n in range(size))
    values = f"  values:\n    service:\n{services}    route:\n      a:\n        parentRefs: [{{name: edge}}]\n"
    values += f"        rules:\n{rules}"
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps")}
    return lint(root, files | {"apps/h.yaml": RELEASE.format(name="h", values=values), "apps/r.yaml": routes(1)})


def release_layers(root: Path, size: int) -> list[str]:
    """One release with many layers of values."""
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: "
    maps = "---\n".join(
        f"{head}{{name: v{n}, namespace: shop}}\ndata: {{values.yaml: 'a{n}: b'}}\n" for n in range(size)
    )
    taken = "  valuesFrom:\n" + "".join(f"  - {{kind: ConfigMap, name: v{n}}}\n" for n in range(size))
    files = {"clusters/prod/apps.yaml": FLUX.format(name="apps", path="./apps"), "apps/v.yaml": maps}
    return lint(root, files | {"apps/h.yaml": RELEASE.format(name="h", values=taken), "apps/r.yaml": routes(1)})


def list_of_objects(root: Path, size: int) -> list[str]:
    """One List of all objects."""
    items = "".join(
        f"- {{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: r{n}}}, spec: {{}}}}\n"
        for n in range(size)
    )
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    return lint(root, {"kustomization.yaml": "resources: [r.yaml]\nnamespace: shop\n", "r.yaml": text})


def huge_scalar(root: Path, size: int) -> list[str]:
    """One long text."""
    return lint(root, {"r.yaml": ROUTE.format(name="r0") + f"  a: {'x' * 200 * size}\n"})


def duplicate_keys(root: Path, size: int) -> list[str]:
    """A mapping that has many keys twice."""
    return lint(root, {"r.yaml": ROUTE.format(name="r0") + "".join(f"  a{n}: 1\n  a{n}: 2\n" for n in range(size))})


def missing_files(root: Path, size: int) -> list[str]:
    """Resources that are not there."""
    return lint(
        root,
        {
            "kustomization.yaml": "resources:\n- r.yaml\n" + listed("", (f"x{n}.yaml" for n in range(size)))[2:],
            "r.yaml": routes(1),
        },
    )


def booleans_and_words(root: Path, size: int) -> list[str]:
    """An object of booleans, some of which kustomize takes for texts, in a file that a kustomization deploys."""
    switches = "".join(f"    - {'on' if number % 4 == 0 else 'true'}\n" for number in range(4 * size))
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  name: kept\nspec:\n  switches:\n"
    return lint(root, {"kustomization.yaml": "resources: [k.yaml]\n", "k.yaml": f"{head}{switches}---\n{routes(1)}"})


SHAPES = (
    many_documents,
    booleans_and_words,
    wide_overlays,
    rival_overlays,
    chain_of_bases,
    doubling_bases,
    components,
    one_component,
    long_prefix,
    json_patch_of_one_list,
    json_patches_of_one_list,
    merge_of_one_list,
    merges_of_one_mapping,
    patches_by_name,
    merges_by_name,
    patches_of_everything,
    deletions,
    nesting_patch,
    replacements,
    replacements_of_one_list,
    doubling_replacements,
    nesting_replacements,
    long_field_path,
    generators,
    generated_from_one_file,
    name_references,
    substitution,
    substitution_of_one_text,
    open_braces,
    flux_kustomizations,
    flux_without_root,
    flux_of_one_directory,
    flux_dependencies,
    flux_waiting_chain,
    flux_variables,
    resource_set,
    argo_fleet,
    argo_files,
    argo_merge,
    argo_matrix,
    apps_of_apps,
    argo_applications,
    go_template,
    go_template_functions,
    go_template_indent,
    go_template_pieces,
    go_template_brackets,
    aliases,
    laughing_values,
    releases,
    release_services,
    release_layers,
    list_of_objects,
    huge_scalar,
    duplicate_keys,
    missing_files,
)
"""All of them, by the name that `growth.py --shape` knows."""
