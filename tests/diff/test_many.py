"""A change that touches very many routes alike: one block, whoever's policies they are, and lists that end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policylint.compare.change import Part, Responsible, SettingChange, SubjectChange
from policylint.model import PolicyKind, ResourceKey
from policylint.model.policy_kind import Merge
from policylint.report.diff.wording import alike, own_policies, whereabouts
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, policy
from tests.diff.history import commit, run

EDGE = policy("BackendTrafficPolicy", "edge", "kind: Gateway, name: edge", "retry: {numRetries: 2}", namespace="infra")
KIND = PolicyKind(
    "gateway.envoyproxy.io", "BackendTrafficPolicy", "envoy-gateway", "inherited", Merge("atomic", {}), (), ()
)


def route(number: int) -> str:
    rules = "rules: [{backendRefs: [{name: checkout, port: 8080}]}]"
    return worlds.route(f"r{number:03}", more=f"hostnames: [r{number}.example.com], {rules}")


def own(number: int, timeout: str = "5s") -> str:
    target = f"kind: HTTPRoute, name: r{number:03}"
    return policy("BackendTrafficPolicy", f"o{number:03}", target, f"timeout: {{http: {{requestTimeout: {timeout}}}}}")


def changed(tmp_path: Path, after: list[str], form: str = "text", before: list[str] | None = None) -> str:
    """A diff of a world of 100 routes behind one Gateway, and what stands beside it on each side."""
    world = [GATEWAY, SERVICE, *map(route, range(100))]
    for side, documents in (("before", [EDGE] if before is None else before), ("after", after)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join([*world, *documents]), encoding="utf-8")
    return run(tmp_path, "diff", "--rendered-before", "before", "--rendered-after", "after", "-o", form)[1]


def test_routes_that_each_get_a_policy_of_their_own_are_one_block(tmp_path: Path) -> None:
    text = changed(tmp_path, [EDGE, *map(own, range(100))])
    assert text.count("\n~ ") == 1 + 1  # the routes, and the verdict of the policy above
    assert "~ 100 HTTPRoutes in shop" in text
    assert "now its own, e.g. shop/o000 (world.yaml:" in text


def test_another_value_is_another_block(tmp_path: Path) -> None:
    text = changed(tmp_path, [EDGE, *map(own, range(99)), own(99, "9s")])
    assert "~ 99 HTTPRoutes in shop" in text
    assert "~ HTTPRoute shop/r099" in text


def test_a_policy_that_several_share_is_not_their_own(tmp_path: Path) -> None:
    """Two policies, each of half of the routes: two blocks, for one line cannot name both."""
    halves = []
    for half in range(2):
        targets = ", ".join(
            f"{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r{number:03}}}"
            for number in range(half * 50, half * 50 + 50)
        )
        text = policy("BackendTrafficPolicy", f"half-{half}", "", "timeout: {http: {requestTimeout: 5s}}")
        halves.append(re.sub(r"targetRefs: .*", f"targetRefs: [{targets}]", text))
    text = changed(tmp_path, [EDGE, *halves])
    assert text.count("~ 50 HTTPRoutes in shop") == 2
    assert "its own" not in text


def test_findings_of_one_rule_are_counted_from_the_eleventh_on(tmp_path: Path) -> None:
    after = [EDGE, *map(own, range(100))]
    text = changed(tmp_path, after)
    assert text.count("note[GWP201] HTTPRoute") == 10
    assert "New     note[GWP201] 90 more like these (--format concise lists all)" in text


def test_concise_lists_all(tmp_path: Path) -> None:
    assert changed(tmp_path, [EDGE, *map(own, range(100))], "concise").count("note[GWP201]") == 100


def test_the_comment_says_once_what_a_hundred_findings_say(tmp_path: Path) -> None:
    text = changed(tmp_path, [EDGE, *map(own, range(100))], "markdown")
    assert "(100 x note GWP201)" in text
    assert '["HTTPRoute shop/r000 and 99 more"]' in text
    assert '["+ BackendTrafficPolicy shop/o000 and 99 more"]' in text


def test_a_value_that_changes_is_shown_whole(tmp_path: Path) -> None:
    """Cut after the old value nobody sees what it is now."""
    keys = "remoteJWKS: {uri: https://id.example.com}"
    before, after = (
        policy("SecurityPolicy", "edge", "kind: Gateway, name: edge",
               f"jwt: {{providers: [{{name: a, {keys}, issuer: https://{name}.example.com}}]}}", namespace="infra")
        for name in ("accounts", "login")
    )  # fmt: skip
    text = changed(tmp_path, [after], before=[before])
    assert "~ jwt  providers.issuer https://accounts.example.com -> https://login.example.com\n" in text


def test_what_is_called_otherwise_is_said_though_nothing_changes(tmp_path: Path) -> None:
    text = changed(tmp_path, [EDGE.replace("name: edge, namespace: infra", "name: front, namespace: infra", 1)])
    assert text.startswith("no route changes its effective policy")
    assert "> BackendTrafficPolicy infra/front  (was infra/edge)" in text


def subject(number: int, *, because: str = "", namespace: str = "") -> SubjectChange:
    """A route that loses a setting of a policy of its own."""
    space = namespace or f"s{number % 3}"
    whose = ResourceKey(KIND.group, KIND.kind, space, f"p{number}")
    setting = SettingChange(KIND, "timeout", "removed", {"http": 1}, None, (Responsible(whose, None),), (), (), because)
    key = ResourceKey("gateway.networking.k8s.io", "HTTPRoute", space, f"r{number:02}")
    return SubjectChange("", key, "changed", None, (Part((), True, (), (setting,)),))


def test_why_it_is_gone_tells_apart() -> None:
    groups = alike(
        [subject(0, because="deleted"), subject(1, because="now invalid: no"), subject(2, because="deleted")]
    )
    assert [[each.key.name for each in group] for group in groups] == [["r00", "r02"], ["r01"]]
    assert own_policies(groups[0]) == {ResourceKey(KIND.group, KIND.kind, "s0", "p0")}
    assert own_policies(groups[1]) == frozenset()


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ([subject(0), subject(1)], "s0/r00, s1/r01"),
        ([subject(each, namespace="a") for each in range(4)], "a/r00, a/r01 and 2 more"),
        ([subject(each) for each in range(7)], "3 in s0, 2 in s1 and 1 more namespace; e.g. s0/r00"),
    ],
)
def test_who_they_are(group: list[SubjectChange], said: str) -> None:
    """Of many in several namespaces, how many are where: their names alone would be those of the first namespace."""
    assert whereabouts(group, 2) == said


def test_environments_of_which_the_same_is_told_are_told_at_once(tmp_path: Path) -> None:
    sidecar = "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: d}\nspec: {egress: [{hosts: "
    files: dict[str, str | None] = {
        "base/kustomization.yaml": "resources: [d.yaml]\n",
        "base/d.yaml": f"{sidecar}[a/*]}}]}}\n",
    }
    for name, namespace in (("one", "shop"), ("two", "shop"), ("three", "other")):  # the last goes with either
        files[f"{name}/kustomization.yaml"] = f"namespace: {namespace}\nresources: [../base]\n"
    commit(tmp_path / "shop", files)
    commit(tmp_path / "shop", {"base/d.yaml": f"{sidecar}[b/*]}}]}}\n"})
    said = run(tmp_path / "shop", "diff", "HEAD~1..HEAD")[1]
    assert [line for line in said.splitlines() if not line.startswith((" ", "!"))][:2] == ["one, two: 2 unknown", ""]
    assert said.count("Sidecar shop/d") == said.count("Sidecar other/d") == 1
