"""bench/fuzz_edits.py: which edits it makes of a tree, and which silence it takes for a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.trace.test_admissions import deployment
from tests.worlds import gateway, gateway_class, labelled, manifest, route, service

BENCH = Path(__file__).parents[2] / "bench"
LOGIN = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "shop",
    """spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: shop
  basicAuth:
    users: {name: users}
""",
)
SHOP = route("shop", more="rules: [{backendRefs: [{name: shop, port: 80}]}]")
CLASS = gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
KUSTOMIZATION = "resources:\n  - all.yaml\n  - login.yaml # who gets in\n"
EDITED = """
import json, sys
from pathlib import Path
from random import Random
from fuzz_edits import documents, edited
tree = Path(sys.argv[1])
found = list(documents(tree, frozenset({"SecurityPolicy"})))
made = {words: texts for number in range(200) for words, texts in [edited(Random(number), tree, found[0])]}
print(json.dumps([[list(each) for each in found], made]))
"""
JUDGED = """
import json, sys
from random import Random
from pathlib import Path
from campaign import Tried
from fuzz_edits import EditsFuzz

class Silent(EditsFuzz):
    said = {}

    def run(self, *arguments):
        said = super().run(*arguments)
        if arguments[0] == "diff" and self.said:
            report = Path(arguments[-1].partition("=json-v1=")[2])
            whole = json.loads(report.read_text())
            kept = {name: whole[name] for name in ("version", "environments")}
            report.write_text(json.dumps({**kept, "findings": [], **self.said}))
        return said

one, failures = Silent(), []
for root, said, kinds in json.loads(sys.argv[1]):
    one.trees, one.found = sorted(Path(root, "trees").iterdir()), {}
    one.said, one.kinds = said, frozenset(kinds)
    tried = [one(Random(number)) for number in range(3)]
    failures.append(sorted({str(error) for each in tried for error, _ in each.failures}))
one.close()
print(json.dumps(failures))
"""


def tree(root: Path) -> Path:
    place = root / "trees" / "one"
    place.mkdir(parents=True)
    (place / "all.yaml").write_text(
        "---".join((CLASS, gateway(of_class="eg"), SHOP, service("shop"))), encoding="utf-8"
    )
    (place / "login.yaml").write_text(LOGIN.lstrip(), encoding="utf-8")
    (place / "kustomization.yaml").write_text(KUSTOMIZATION, encoding="utf-8")
    return place


def script(text: str, *arguments: str) -> Any:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{BENCH}{os.pathsep}{BENCH.parent}"}
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def judged(*asked: tuple[Path, dict[str, Any]], kinds: tuple[str, ...] = ("SecurityPolicy",)) -> list[list[str]]:
    """Return what fails of each tree where diff says something (nothing: what it does say), all in one process."""
    found: list[list[str]] = script(JUDGED, json.dumps([[str(root), said, kinds] for root, said in asked]))
    return found


def test_a_document_goes_or_says_something_else(tmp_path: Path) -> None:
    found, made = script(EDITED, str(tree(tmp_path)))
    assert found == [["login.yaml", 0, "SecurityPolicy"]]
    assert made["gone"] == {"login.yaml": "", "kustomization.yaml": "resources:\n  - all.yaml\n"}
    assert "name: shopx" in made["a target"]["login.yaml"]
    assert "basicAuth" not in made["no basicAuth"]["login.yaml"]
    assert made.keys() == {"gone", "a target", "a value", "an entry", "no basicAuth", "no targetRefs"}


def test_a_list_of_targets_without_names_is_edited_at_once(tmp_path: Path) -> None:
    place = tree(tmp_path)
    selected = "\n".join(
        f"    - kind: HTTPRoute{number}\n      group: gateway.networking.k8s.io" for number in range(40)
    )
    text = f"apiVersion: v1\nkind: SecurityPolicy\nmetadata: {{name: a}}\nmetadata:\nspec:\n  targetRefs:\n{selected}\n"
    (place / "login.yaml").write_text(text, encoding="utf-8")
    assert script(EDITED, str(place))[1].keys() == {"gone", "a value", "an entry", "no targetRefs"}


def test_what_diff_says_of_a_login_that_goes_is_no_silence(tmp_path: Path) -> None:
    tree(tmp_path)
    assert judged((tmp_path, {})) == [[]]


def test_silence_about_a_login_that_goes_is_a_failure(tmp_path: Path) -> None:
    tree(tmp_path)
    (failures,) = judged((tmp_path, {"objects": []}))
    assert "silence, SecurityPolicy: gone: SecurityPolicy is in force no longer" in failures


def test_a_login_that_goes_is_not_as_before(tmp_path: Path) -> None:
    tree(tmp_path)
    sworn = [{"environment": name, "as_before": True, "unknown": [], "changes": []} for name in ("one", "default")]
    (failures,) = judged((tmp_path, {"objects": [{}], "requests": sworn}))
    assert "as before, SecurityPolicy: gone: SecurityPolicy asks no longer" in failures


def rule(spec: str) -> str:
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "gate", "shop", f"spec: {spec}\n")


CLOSED = manifest(
    "networking.k8s.io/v1", "NetworkPolicy", "gate", "shop", "spec: {podSelector: {}, policyTypes: [Ingress]}\n"
)
SWORN = [{"environment": name, "as_before": True, "unknown": [], "changes": []} for name in ("one", "default")]


AS_BEFORE = {"as before, AuthorizationPolicy: gone: a request"}
GATES: tuple[tuple[str, set[str]], ...] = (
    (rule("{}"), AS_BEFORE),
    (rule("{action: DENY, rules: [{}]}"), AS_BEFORE),
    (rule("{rules: [{from: [{source: {namespaces: [a]}}]}]}"), AS_BEFORE),
    (rule("{rules: [{}]}"), set()),
    (rule("{action: AUDIT, rules: [{}]}"), set()),
    (CLOSED, {"as before, NetworkPolicy: gone: a request"}),
)


def test_what_is_let_in_otherwise_is_not_as_before(tmp_path: Path) -> None:
    meshed = labelled("shop", "{istio-injection: enabled}"), deployment("shop", "shop"), deployment("other", "shop")
    roots = [tmp_path / str(number) for number in range(len(GATES))]
    for root, (gate, _) in zip(roots, GATES, strict=True):
        place = tree(root)
        (place / "all.yaml").write_text("---".join((*meshed, service("shop", more="selector: {app: shop}"))), "utf-8")
        (place / "login.yaml").write_text(gate.lstrip(), encoding="utf-8")
    said = {"objects": [{}], "requests": SWORN}
    asked = [(root, each) for each in ({}, said) for root in roots]
    found = judged(*asked, kinds=("AuthorizationPolicy", "NetworkPolicy"))
    assert found[: len(GATES)] == [[]] * len(GATES)
    gone = [{each for each in failures if "gone" in each} for failures in found[len(GATES) :]]
    assert gone == [failures for _, failures in GATES]


ADDS = "spec: {endpointSelector: {}, enableDefaultDeny: {ingress: false}, ingress%s: [{fromEntities: [host]}]}\n"
NETWORK: tuple[tuple[str, bool], ...] = (
    (CLOSED, True),
    (manifest("cilium.io/v2", "CiliumNetworkPolicy", "gate", "shop", ADDS % "Deny"), True),
    (manifest("cilium.io/v2", "CiliumNetworkPolicy", "gate", "shop", ADDS % ""), False),
)


def test_silence_about_a_network_policy_that_only_lets_in_is_none(tmp_path: Path) -> None:
    """Where nothing else closes its pods, they are open without it."""
    roots = [tmp_path / str(number) for number in range(len(NETWORK))]
    for root, (gate, _) in zip(roots, NETWORK, strict=True):
        place = tree(root)
        (place / "all.yaml").write_text("---".join((labelled("shop"), deployment("shop", "shop"))), "utf-8")
        (place / "login.yaml").write_text(gate.lstrip(), encoding="utf-8")
    found = judged(*((root, {"objects": []}) for root in roots), kinds=("CiliumNetworkPolicy", "NetworkPolicy"))
    assert [any(each.startswith("silence") for each in failures) for failures in found] == [
        closes for _, closes in NETWORK
    ]


RENAMED = """
import json
from fuzz_edits import Forces
written = {("one", "Login shop/new"): {"jwt": 1}, ("one", "Login new"): {"jwt": 1}}
after = Forces({}, written, set(), set(), {})
lost = [("one", "Login shop/old"), ("one", "Login web/old"), ("two", "Login shop/old"), ("one", "Cors shop/old")]
print(json.dumps([[after.has_renamed(each, spec) for spec in ({"jwt": 1}, {"jwt": 2})] for each in lost]))
"""


def test_a_policy_of_another_name_says_the_same_in_the_same_place() -> None:
    assert script(RENAMED) == [[True, False], *[[False, False]] * 3]
