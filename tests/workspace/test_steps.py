"""What scripts apply in turn never stands together: two steps of a walkthrough are in no conflict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import tree

EDGE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
"""
POLICY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: %s, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: simple}]
  cors: {allowOrigins: ["https://%s.example.com"]}
"""
FILES = {
    "lab/edge.yaml": EDGE,
    "lab/simple.yaml": ROUTE % "simple",
    "lab/weighted.yaml": ROUTE % "weighted",
}
POLICIES = {
    "lab/edge.yaml": EDGE,
    "lab/simple.yaml": ROUTE % "simple",
    "lab/one.yaml": POLICY % ("one", "a"),
    "lab/two.yaml": POLICY % ("two", "b"),
}
APPLY = "kubectl apply -f lab/edge.yaml -f lab/simple.yaml\n"


def doubtful(root: Path, files: dict[str, str], rule: str) -> list[bool]:
    """Return of each finding of a rule whether it is not known."""
    return [each.confidence == "unknown" for each in tree(root, files).findings() if each.rule == rule]


@pytest.mark.parametrize(
    "between",
    [
        "kubectl delete -f lab/simple.yaml\n",
        "kubectl delete httproute simple -n shop\n",
        "kubectl -n shop delete --ignore-not-found httproutes simple\n",
        "oc delete httproute/simple\n",
        "kubectl delete httproutes.gateway.networking.k8s.io simple\n",
        "cd lab && kubectl delete -f simple.yaml\n",
    ],
)
@pytest.mark.parametrize("script", ["README.md", "run.sh", "docs/01-lab.md"])
def test_routes_of_which_one_is_deleted_first_are_in_no_tie(tmp_path: Path, between: str, script: str) -> None:
    files = {**FILES, script: f"{APPLY}{between}kubectl apply -f lab/weighted.yaml\n"}
    assert doubtful(tmp_path, files, "GWP408") == [True]


@pytest.mark.parametrize(
    "text",
    [
        f"{APPLY}kubectl apply -f lab/weighted.yaml\n",
        f"{APPLY}kubectl apply -f lab/weighted.yaml\nkubectl delete -f lab/simple.yaml\n",  # cleans up
        f"kubectl delete -f lab/simple.yaml\n{APPLY}kubectl apply -f lab/weighted.yaml\n",  # begins anew
        f"{APPLY}# kubectl delete -f lab/simple.yaml\nkubectl apply -f lab/weighted.yaml\n",
        f"{APPLY}kubectl delete httproute other\nkubectl apply -f lab/weighted.yaml\n",
        f"{APPLY}kubectl delete gateway simple\nkubectl apply -f lab/weighted.yaml\n",
    ],
)
def test_routes_that_stand_together_are(tmp_path: Path, text: str) -> None:
    assert doubtful(tmp_path, {**FILES, "README.md": text}, "GWP408") == [False]


def test_another_script_that_applies_both_says_that_they_stand_together(tmp_path: Path) -> None:
    lab = f"{APPLY}kubectl delete -f lab/simple.yaml\nkubectl apply -f lab/weighted.yaml\n"
    files = {**FILES, "README.md": lab, "all.sh": "kubectl apply -f lab/\n"}
    assert doubtful(tmp_path, files, "GWP408") == [False]


@pytest.mark.parametrize(
    ("between", "is_doubtful"), [("kubectl delete securitypolicy one -n shop\n", True), ("sleep 5\n", False)]
)
def test_policies_of_two_steps_do_not_conflict(tmp_path: Path, between: str, is_doubtful: bool) -> None:
    text = f"{APPLY}kubectl apply -f lab/one.yaml\n{between}kubectl apply -f lab/two.yaml\n"
    found = doubtful(tmp_path, {**POLICIES, "README.md": text}, "GWP202")
    assert found == [is_doubtful]


@pytest.mark.parametrize(
    ("line", "is_doubtful"),
    [
        ("# kubectl apply -f lab/shim.yaml  # for slow networks\n", True),
        ("kubectl apply -f lab/shim.yaml\n", False),
        ("# Usage: ./up.sh, after kubectl apply -f lab/shim.yaml\n", False),
        ("", False),
    ],
)
def test_what_is_applied_in_a_comment_only_stands_beside_nothing(tmp_path: Path, line: str, is_doubtful: bool) -> None:
    shim = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 8080}]}\n"
    files = {
        "lab/edge.yaml": EDGE.rpartition("---\n")[0],
        "lab/simple.yaml": ROUTE % "simple",
        "lab/shim.yaml": shim,
        "up.sh": f"{APPLY}{line}",
    }
    assert doubtful(tmp_path, files, "GWP406") == [is_doubtful]


def test_it_holds_beside_kustomizations_and_not_beside_a_deployer(tmp_path: Path) -> None:
    text = f"{APPLY}kubectl delete -f lab/simple.yaml\nkubectl apply -f lab/weighted.yaml\n"
    app = {"app/kustomization.yaml": "resources: [cm.yaml]\n"}
    app["app/cm.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert doubtful(tmp_path / "a", {**FILES, **app, "README.md": text}, "GWP408") == [True]
    deployed = {"lab/kustomization.yaml": "resources: [edge.yaml, simple.yaml, weighted.yaml]\n"}
    deployed["clusters/main.yaml"] = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: lab, namespace: flux-system}\n"
        "spec: {path: ./lab, sourceRef: {kind: GitRepository, name: flux-system}}\n"
    )
    assert doubtful(tmp_path / "b", {**FILES, **deployed, "README.md": text}, "GWP408") == [False]


AMBIENT = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio.io/dataplane-mode: ambient}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}], selector: {app: web}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: waypoint, namespace: shop}
spec:
  gatewayClassName: istio-waypoint
  listeners: [{name: mesh, port: 15008, protocol: HBONE}]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: deny, namespace: shop}
spec:
  targetRefs: [{kind: Service, group: "", name: web}]
  action: DENY
  rules: [{}]
"""
LABEL = "istio.io/use-waypoint=waypoint"


@pytest.mark.parametrize(
    ("files", "is_idle"),
    [
        ({}, True),
        ({"up.sh": f"kubectl label namespace shop {LABEL}\n"}, False),
        ({"up.sh": f"kubectl label --overwrite ns shop {LABEL}\n"}, False),
        ({"up.sh": f"oc label ns/shop {LABEL} --overwrite\n"}, False),
        ({"up.sh": f"KUBECTL=kubectl\nNS=${{1:-shop}}\n$KUBECTL label namespace $NS {LABEL}\n"}, False),
        ({"README.md": f"```sh\nkubectl label namespaces pay shop {LABEL}\n```\n"}, False),
        (
            {"up.sh": f"kubectl label ns shop {LABEL}\n", "a/kustomization.yaml": "resources: [a.yaml]\n"}
            | {"a/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
            False,
        ),
        ({"down.sh": "kubectl label namespace shop istio.io/use-waypoint-\n"}, True),
        ({"up.sh": f"kubectl label namespace pay {LABEL}\n"}, True),
        ({"up.sh": f"kubectl label namespace $NS {LABEL}\n"}, True),
        ({"up.sh": f"kubectl label pod shop {LABEL}\n"}, True),
        ({"up.sh": "kubectl label namespace shop team=a\n"}, True),
    ],
)
def test_labels_that_scripts_give_to_namespaces_are_there(tmp_path: Path, files: dict[str, str], is_idle: bool) -> None:
    found = [
        each.confidence for each in tree(tmp_path, {"mesh.yaml": AMBIENT, **files}).findings() if each.rule == "GWP106"
    ]
    assert bool(found) == is_idle


CONSUMER = """\
apiVersion: configuration.konghq.com/v1
kind: KongConsumer
metadata: {name: jwt-user, namespace: shop, annotations: {kubernetes.io/ingress.class: kong}}
username: jwt-user
credentials: [jwt-key-rs256, jwt-key-hs256]
---
apiVersion: v1
kind: Secret
metadata: {name: jwt-key-hs256, namespace: shop}
stringData: {key: a, secret: b}
"""


@pytest.mark.parametrize(
    ("made", "is_missing"), [("jwt-key-rs256", False), ("jwt-key-rs512", True), ("", True), ("rs256", True)]
)
def test_what_a_script_makes_is_not_misspelt(tmp_path: Path, made: str, is_missing: bool) -> None:
    held = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {made}\nstringData: {{key: a}}\n"
    script = f"cat <<EOF | cat - | kubectl apply -f -\n{held}EOF\n" if made else ""
    found = doubtful(tmp_path, {"consumer.yaml": CONSUMER, "install.sh": script}, "GWP113")
    assert (False in found) == is_missing


@pytest.mark.parametrize(
    ("lab", "is_doubtful"),
    [
        *((name, True) for name in ("labs/one", "ch07", "step-2", "chapter 3", "tutorial/b", "02-policies")),
        *((name, False) for name in ("shop", "k8s/shop", "clusters/main")),
    ],
)
def test_what_is_at_odds_in_a_lesson_may_be_two_steps(tmp_path: Path, lab: str, is_doubtful: bool) -> None:
    files = {path.replace("lab/", f"{lab}/"): text for path, text in FILES.items()}
    beside = {
        "labs": "labs/two",
        "ch07": "ch08",
        "step-2": "step-3",
        "chapter 3": "chapter 4",
        "tutorial": "tutorial/a",
    }
    other = beside.get(lab.partition("/")[0], "01-install")
    files[f"{other}/cm.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert doubtful(tmp_path / "a", files, "GWP408") == [is_doubtful]
    together = f"kubectl apply -f '{lab}'/\n" if " " not in lab else "cd 'chapter 3'\nkubectl apply -f .\n"
    if " " not in lab:
        assert doubtful(tmp_path / "b", {**files, "up.sh": together}, "GWP408") == [False]


def test_policies_of_a_lesson_may_be_two_steps_and_references_are_none(tmp_path: Path) -> None:
    files = {path.replace("lab/", "labs/one/"): text for path, text in POLICIES.items()}
    files["labs/two/cm.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert doubtful(tmp_path / "a", files, "GWP202") == [True]
    files["labs/one/simple.yaml"] = (ROUTE % "simple").replace("name: edge", "name: edge, sectionName: none")
    assert doubtful(tmp_path / "b", files, "GWP402") == [False]


SINGLY = {"shop/edge.yaml": EDGE, "shop/simple.yaml": ROUTE % "simple", "shop/weighted.yaml": ROUTE % "weighted"}
FIRST, SECOND = (
    "kubectl apply -f shop/edge.yaml\nkubectl apply -f shop/simple.yaml\n",
    "oc apply -f shop/weighted.yaml\n",
)


WRITES = """kubectl apply -f - <<EOF
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: {name}
  namespace: shop
spec:
$(listeners)
EOF
"""


@pytest.mark.parametrize(
    ("scripts", "is_doubtful"),
    [
        ({"README.md": FIRST}, True),
        ({"README.md": FIRST, "docs/weights.md": SECOND}, True),
        ({"README.md": FIRST, "Makefile": f"weights:\n\t{SECOND}"}, True),
        ({"README.md": "kubectl delete -f shop/simple.yaml\n"}, False),
        ({"README.md": FIRST + SECOND}, False),
        ({"README.md": f"{FIRST}{SECOND}kubectl delete -f shop/simple.yaml\n"}, False),  # cleans up
        ({"README.md": FIRST, "all.sh": "kubectl apply -f shop/\n"}, False),
        ({"README.md": "kubectl apply -f shop/\n"}, False),
        ({"README.md": "kubectl apply -f other/edge.yaml\n"}, False),
        ({}, False),
    ],
)
def test_what_is_at_odds_among_files_that_are_applied_one_by_one_may_be_two_steps(
    tmp_path: Path, scripts: dict[str, str], is_doubtful: bool
) -> None:
    assert doubtful(tmp_path, {**SINGLY, **scripts}, "GWP408") == [is_doubtful]


def test_files_that_are_applied_one_by_one_hide_no_reference(tmp_path: Path) -> None:
    files = {**SINGLY, "README.md": FIRST}
    files["shop/weighted.yaml"] = (ROUTE % "weighted").replace("name: edge", "name: edge, sectionName: none")
    assert doubtful(tmp_path, files, "GWP402") == [False]


PROXY = """apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: %s, namespace: shop}
spec:
  virtualhost: {fqdn: shop.example.com}
  routes: [{conditions: [{prefix: /}], services: [{name: web, port: 80}]}]
"""


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        ("GWP202", {"one.yaml": POLICY % ("one", "a"), "two.yaml": POLICY % ("two", "b"), "r.yaml": ROUTE % "simple"}),
        ("GWP415", {"one.yaml": PROXY % "one", "two.yaml": PROXY % "two"}),
    ],
)
@pytest.mark.parametrize(("second", "is_doubtful"), [("", True), ("kubectl apply -f shop/two.yaml\n", False)])
def test_policies_and_proxies_that_are_applied_one_by_one(
    tmp_path: Path, rule: str, files: dict[str, str], second: str, is_doubtful: bool
) -> None:
    held = {"edge.yaml": EDGE, **files}
    scripts = {"README.md": f"kubectl apply -f shop/edge.yaml -f shop/one.yaml\n{second}"}
    found = doubtful(tmp_path, {**{f"shop/{name}": text for name, text in held.items()}, **scripts}, rule)
    assert found
    assert set(found) == {is_doubtful}


@pytest.mark.parametrize(
    ("scripts", "is_doubtful"),
    [
        ({"up.sh": 'kubectl patch gateway edge -n shop --type json -p "$(cat listener.json)"\n'}, True),
        (
            {"Makefile": "K ?= kubectl\nup:\n\tkubectl -n shop patch gateways.gateway.networking.k8s.io/edge -p x\n"},
            True,
        ),
        ({"up.sh": "oc patch --type=merge gateway/edge -p x\n"}, True),
        ({"up.sh": WRITES.format(name="edge")}, True),
        ({"up.sh": 'NAME="edge"\n' + WRITES.format(name="${NAME}")}, True),
        ({"up.sh": WRITES.format(name="other")}, False),
        ({"up.sh": WRITES.format(name="edge").replace("kubectl apply", "tee x")}, False),
        ({"README.md": WRITES.format(name="edge")}, False),
        ({"up.sh": "kubectl patch gateway other -p x\n"}, False),
        ({"up.sh": "kubectl patch service edge -p x\n"}, False),
        ({"README.md": "kubectl patch gateway edge -p x\n"}, False),  # how one could
        ({}, False),
    ],
)
def test_what_a_script_patches_is_not_as_it_is_written(
    tmp_path: Path, scripts: dict[str, str], is_doubtful: bool
) -> None:
    route = (ROUTE % "simple").replace("name: edge", "name: edge, sectionName: https")
    files = {"shop/edge.yaml": EDGE, "shop/simple.yaml": route, **scripts}
    assert doubtful(tmp_path, files, "GWP402") == [is_doubtful]


def tried(*directories: str, of: str = "parts") -> dict[str, str]:
    """Directories that exclude each other: each has the same route, written otherwise."""
    held = (ROUTE % "same").replace("shop.example.com", "%s.example.com").replace("namespace: shop", "namespace: demo")
    return {f"{of}/{each}/route.yaml": held % each.replace("/", "-") for each in directories}


@pytest.mark.parametrize(
    ("beside", "is_doubtful"),
    [
        (tried("blue", "canary", "mirror"), True),
        (tried("blue", "canary", "mirror", "retries"), True),
        (tried("blue", "canary"), False),
        (tried("dev", "staging", "prod"), False),
        ({}, False),
        ({**tried("blue", "canary", "mirror"), "up.sh": "kubectl apply -R -f parts/simple -f parts/weights\n"}, False),
    ],
)
@pytest.mark.parametrize(
    ("rule", "simple", "weighted"),
    [("GWP408", ROUTE % "simple", ROUTE % "weighted"), ("GWP415", PROXY % "simple", PROXY % "weighted")],
)
def test_where_directories_exclude_each_other_so_may_others(
    tmp_path: Path, rule: str, simple: str, weighted: str, beside: dict[str, str], is_doubtful: bool
) -> None:
    files = {"edge.yaml": EDGE, "parts/simple/a.yaml": simple, "parts/weights/a.yaml": weighted, **beside}
    found = doubtful(tmp_path, files, rule)
    assert found
    assert set(found) == {is_doubtful}


SERVED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: dns, namespace: kube-system}
spec: {selector: {k8s-app: kube-dns}, ports: [{port: 53, protocol: UDP}]}
"""
CUTTING = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: shop}
spec: {podSelector: {}, policyTypes: [%s], %s}
"""


@pytest.mark.parametrize(
    ("rule", "policy"),
    [
        ("GWP604", CUTTING % ("Ingress", "ingress: [{from: [{podSelector: {}}], ports: [{port: 9090}]}]")),
        ("GWP610", CUTTING % ("Egress", "egress: [{to: [{podSelector: {}}]}]")),
    ],
)
@pytest.mark.parametrize(
    ("beside", "place", "is_doubtful"),
    [
        (tried("blue", "canary", "mirror"), "parts/policies", True),
        (tried("blue", "canary", "mirror"), "parts/simple", False),
        (tried("blue", "canary"), "parts/policies", False),
        ({}, "parts/policies", False),
    ],
)
def test_what_a_policy_of_another_lesson_cuts_off(
    tmp_path: Path, rule: str, policy: str, beside: dict[str, str], place: str, is_doubtful: bool
) -> None:
    """collabnix/kubelabs: a NetworkPolicy that closes all, and elsewhere a Gateway with a route."""
    edge = EDGE.replace("{ports: [{port: 80}]}", "{selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}")
    served = f"{edge}---\n{ROUTE % 'simple'}---{SERVED}"
    files = {"parts/simple/a.yaml": served, f"{place}/closed.yaml": policy, **beside}
    found = doubtful(tmp_path, files, rule)
    assert found
    assert set(found) == {is_doubtful}


@pytest.mark.parametrize("rule", ["GWP408", "GWP415"])
def test_in_one_directory_they_are_at_odds_all_the_same(tmp_path: Path, rule: str) -> None:
    written = ROUTE if rule == "GWP408" else PROXY
    files = {"edge.yaml": EDGE, "parts/a/one.yaml": written % "one", "parts/a/two.yaml": written % "two"}
    assert set(doubtful(tmp_path, {**files, **tried("blue", "canary", "mirror")}, rule)) == {False}


SKELETON = {
    "shop/edge.yaml": EDGE,
    "shop/simple.yaml": ROUTE % "simple",
    "shop/parts/policy.yaml": (POLICY % ("one", "a")).replace("name: simple}", "name: checkout}"),
    "shop/parts/other.yaml": (POLICY % ("two", "b")).replace("spec:\n", "spec:\n  colour: red\n"),
}


@pytest.mark.parametrize(
    ("program", "text", "is_doubtful"),
    [
        ("shop/index.js", "await this.applyYamlFile('policy.yaml', overrides)", True),
        ("shop/parts/up.ts", 'apply("./policy.yaml", { spec: { targetRefs } })', True),
        ("up.py", "apply('shop/parts/policy.yaml', **given)", True),
        ("shop/index.js", "await apply('other.yaml', overrides)", False),
        ("shop/index.js", "await apply('policy.yaml')", False),
        ("shop/index.js", "await readFile('policy.yaml', encoding)", False),
        ("up.py", 'run(["kubectl", "apply", "-f", "shop/parts/policy.yaml"], check=True)', False),
        ("up.py", 'kubectl("apply", "-f", "shop/parts/policy.yaml", "--wait")', False),
        ("web/index.js", "await apply('policy.yaml', overrides)", False),
        ("README.md", "await apply('policy.yaml', overrides)", False),
    ],
)
def test_what_a_program_gives_a_manifest_is_not_in_its_file(
    tmp_path: Path, program: str, text: str, is_doubtful: bool
) -> None:
    found = tree(tmp_path, {**SKELETON, program: text}).findings()
    said = [each.confidence == "unknown" for each in found if each.rule == "GWP101" and "/one" in each.message]
    assert said == [is_doubtful]


@pytest.mark.parametrize("text", ["apply('other.yaml', overrides)", "apply('policy.yaml', overrides)", ""])
def test_nor_is_what_the_form_of_an_object_lacks(tmp_path: Path, text: str) -> None:
    assert doubtful(tmp_path, {**SKELETON, "shop/up.js": text}, "GWP501") == ["other" in text]


@pytest.mark.parametrize(
    ("first", "second", "more", "is_doubtful"),
    [
        ("examples/simple/a.yaml", "examples/weights/a.yaml", {}, True),
        ("examples/simple/a.yaml", "examples/simple/b.yaml", {}, False),
        ("apps/simple/a.yaml", "apps/weights/a.yaml", {}, False),
        ("examples/a.yaml", "examples/b.yaml", {"up.sh": "kubectl apply -f examples/\n"}, False),
        ("examples/simple/a.yaml", "examples/weights/a.yaml", {"up.sh": "kubectl apply -R -f examples\n"}, False),
        (
            "examples/simple/a.yaml",
            "examples/weights/a.yaml",
            {"examples/kustomization.yaml": "resources: [edge.yaml, simple/a.yaml, weights/a.yaml]\n"},
            False,
        ),
    ],
)
@pytest.mark.parametrize("rule", ["GWP408", "GWP415"])
def test_examples_in_two_directories_are_in_no_conflict(
    tmp_path: Path, rule: str, first: str, second: str, more: dict[str, str], is_doubtful: bool
) -> None:
    written = ROUTE if rule == "GWP408" else PROXY
    edge = f"{first.partition('/')[0]}/edge.yaml"
    found = doubtful(tmp_path, {edge: EDGE, first: written % "one", second: written % "two", **more}, rule)
    assert found
    assert set(found) == {is_doubtful}


@pytest.mark.parametrize(
    ("script", "text", "is_doubtful"),
    [
        ("up.sh", 'sed "s#checkout#$ROUTE#g" lab/one.yaml | kubectl apply -f -', True),
        ("up.sh", "sed 's/checkout/web/' < lab/one.yaml | kubectl apply -f -", True),
        ("up.sh", "cat lab/one.yaml | sed -e 's|checkout|web|' | kubectl apply -f -", True),
        ("README.md", "sed -i 's/checkout/web/' lab/one.yaml\nkubectl apply -f lab/", True),
        (
            "lab/up.sh",
            'sed "s#one#$ONE#" one.yaml | \\\n  sed "s,name: checkout,name: web," | kubectl apply -f -',
            True,
        ),
        ("up.sh", 'sed "s#checkout#$ROUTE#g" "${HERE}/lab/one.yaml" | kubectl apply -f -', True),
        ("up.sh", "cd lab && perl -pi -e 's/checkout/web/' one.yaml && kubectl apply -f .", True),
        ("up.sh", "sed -i 's/checkout/web/' lab/*.yaml; kubectl apply -f lab", True),
        ("up.sh", "sed 's/shop.example.com/mine.example.com/' lab/one.yaml | kubectl apply -f -", False),
        ("up.sh", "sed 's/checkout/web/' lab/two.yaml | kubectl apply -f -", False),
        ("up.sh", "sed 's/che.*out/web/' lab/one.yaml | kubectl apply -f -", False),
        ("up.sh", "sed -n '/checkout/p' lab/one.yaml; kubectl apply -f lab/one.yaml", False),
        ("up.sh", "kubectl apply -f lab/one.yaml", False),
    ],
)
def test_what_a_script_replaces_is_not_what_is_applied(
    tmp_path: Path, script: str, text: str, is_doubtful: bool
) -> None:
    policy = (POLICY % ("one", "a")).replace("name: simple}", "name: checkout}")
    files = {"lab/edge.yaml": EDGE, "lab/simple.yaml": ROUTE % "simple", "lab/one.yaml": policy, script: f"{text}\n"}
    assert doubtful(tmp_path, files, "GWP101") == [is_doubtful]


@pytest.mark.parametrize("word", ["red", "KEYS"])
@pytest.mark.parametrize(("spec", "rule"), [("colour: red", "GWP501"), ("jwt: {providers: [{name: a}]}", "GWP501")])
def test_nor_is_its_form(tmp_path: Path, word: str, spec: str, rule: str) -> None:
    policy = (POLICY % ("one", "a")).replace("spec:\n", f"spec:\n  {spec}\n")
    files = {**FILES, "lab/one.yaml": policy, "up.sh": f"sed 's/{word}/blue/' lab/one.yaml | kubectl apply -f -\n"}
    assert doubtful(tmp_path, files, rule) == [word in spec]


def test_what_a_deployer_applies_is_as_it_is_written(tmp_path: Path) -> None:
    policy = (POLICY % ("one", "a")).replace("name: simple}", "name: checkout}")
    sync = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\n"
        "spec:\n  source: {repoURL: https://example.com/a.git, path: lab}\n"
        "  destination: {namespace: shop, server: https://kubernetes.default.svc}\n"
    )
    script = "sed -i 's/checkout/web/' lab/one.yaml\nkubectl apply -f argo/\n"
    files = {**FILES, "lab/one.yaml": policy, "argo/app.yaml": sync, "up.sh": script}
    assert doubtful(tmp_path, files, "GWP101") == [False]


def served_in(namespace: str) -> str:
    """A route to a Service with pods."""
    edge = EDGE.replace("{ports: [{port: 80}]}", "{selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}")
    return f"{edge}---\n{ROUTE % 'simple'}---{SERVED}".replace("namespace: shop", f"namespace: {namespace}")


CLOSED = CUTTING % ("Ingress", "ingress: [{from: [{podSelector: {}}], ports: [{port: 9090}]}]")


@pytest.mark.parametrize(
    ("namespace", "beside", "is_doubtful"),
    [
        ("default", tried("blue", "canary"), True),
        ("default", tried("dev", "prod"), False),
        ("default", {}, False),
        ("shop", tried("blue", "canary"), False),
        ("shop", tried("blue", "canary", "mirror"), True),
    ],
)
def test_two_directories_exclude_each_other_and_nobody_chose_the_namespace(
    tmp_path: Path, namespace: str, beside: dict[str, str], is_doubtful: bool
) -> None:
    """neumanndaniel/kubernetes: a collection of topics, each applied to `default`."""
    closed = CLOSED.replace("namespace: shop", f"namespace: {namespace}")
    files = {"parts/simple/a.yaml": served_in(namespace), "parts/policies/a.yaml": closed, **beside}
    assert doubtful(tmp_path, files, "GWP604") == [is_doubtful]


@pytest.mark.parametrize(
    ("place", "other", "is_doubtful"),
    [
        ("parts/simple", "parts/policies", True),
        ("parts/simple/app", "parts/policies/app", True),
        ("parts/simple/app", "parts/simple/policies", False),
        ("parts/simple", "parts/simple/policies", False),
        ("parts/simple", "", False),
        ("parts/simple", "parts", False),
        ("parts/simple", "policies", True),
    ],
)
def test_what_lies_in_one_lesson_and_what_lies_above_stand_together(
    tmp_path: Path, place: str, other: str, is_doubtful: bool
) -> None:
    files = {f"{place}/a.yaml": served_in("shop"), f"{other}/closed.yaml".lstrip("/"): CLOSED}
    assert doubtful(tmp_path, {**files, **tried("blue", "canary", "mirror")}, "GWP604") == [is_doubtful]


OWN = {"web/README.md": "kubectl apply -f a.yaml\n", "closed/README.md": "# Closed\n\n```sh\nkubectl apply -f .\n```\n"}


@pytest.mark.parametrize(
    ("scripts", "is_doubtful"),
    [
        (OWN, True),
        ({"web/docs/README.md": "kubectl apply -f web/a.yaml\n", **OWN}, True),
        ({"web/README.md": OWN["web/README.md"]}, False),
        ({**OWN, "README.md": "kubectl apply -f web -f closed\n"}, False),
        ({**OWN, "all.sh": "kubectl apply -f web -f closed\n"}, False),
        ({"README.md": "kubectl apply -f web\n", "closed/README.md": OWN["closed/README.md"]}, False),
        ({"web/up.sh": "kubectl apply -f a.yaml\n", "closed/up.sh": "kubectl apply -f a.yaml\n"}, False),
        ({}, False),
    ],
)
def test_directories_with_instructions_of_their_own_are_tried_apart(
    tmp_path: Path, scripts: dict[str, str], is_doubtful: bool
) -> None:
    files = {"web/a.yaml": served_in("shop"), "closed/a.yaml": CLOSED}
    assert doubtful(tmp_path, {**files, **scripts}, "GWP604") == [is_doubtful]


PODS = SERVED.partition("---")[0].replace("name: web}]", "name: web, ports: [{name: http, containerPort: 8080}]}]")


@pytest.mark.parametrize(
    ("beside", "place", "is_doubtful"),
    [
        (tried("blue", "canary", "mirror"), "parts/pods", True),
        (tried("blue", "canary", "mirror"), "parts/simple", False),
        (tried("blue", "canary", "mirror"), "", False),
        ({}, "parts/pods", False),
    ],
)
def test_pods_of_another_lesson_that_a_service_selects(
    tmp_path: Path, beside: dict[str, str], place: str, is_doubtful: bool
) -> None:
    edge = EDGE.replace("{ports: [{port: 80}]}", "{selector: {app: web}, ports: [{port: 80, targetPort: web}]}")
    files = {"parts/simple/a.yaml": f"{edge}---\n{ROUTE % 'simple'}", f"{place}/pods.yaml".lstrip("/"): PODS}
    assert doubtful(tmp_path, {**files, **beside}, "GWP410") == [is_doubtful]


MANY = "".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{each}}}\n---\n" for each in range(20))


@pytest.mark.parametrize(
    ("scripts", "is_doubtful"),
    [
        ({"setup.sh": "kubectl apply -f web/\nkubectl apply -f more/\n"}, True),
        ({"Makefile": "up:\n\tkubectl apply -f web -f more\n"}, True),
        ({"setup.sh": "kubectl apply -f web -f more -f closed\n"}, False),
        ({"setup.sh": "kubectl apply -f web -f more\n", "lock.sh": "kubectl apply -f closed/a.yaml\n"}, False),
        ({"setup.sh": "kubectl apply -f web -f more\n", "README.md": "    kubectl apply -f closed\n"}, False),
        ({"setup.sh": "kubectl apply -f more\n"}, False),
        ({"setup.sh": "kubectl apply -f others\n", "others/a.yaml": MANY}, False),
        ({"README.md": "    kubectl apply -f web -f more\n"}, False),
    ],
)
def test_what_sets_up_a_tree_leaves_a_policy_out(tmp_path: Path, scripts: dict[str, str], is_doubtful: bool) -> None:
    """aatamteka/k8s_ctf: the policies that close the holes which are to be found."""
    files = {"web/a.yaml": served_in("shop"), "closed/a.yaml": CLOSED, "more/a.yaml": ROUTE % "more"}
    assert doubtful(tmp_path, {**files, **scripts}, "GWP604") == [is_doubtful]
