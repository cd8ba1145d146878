"""GWP701 to GWP724: what the examples of their pages do not show."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml

from policylint.clusters.templates import unbalanced
from policylint.model import Finding
from policylint.workspace import open_workspace
from tests.checks.linting import lint, only
from tests.clusters.hubs import binding, cluster, labelled, placement, policy, policy_set, requires, set_binding

NUMBERS = count()
SET = {
    "apiVersion": "cluster.open-cluster-management.io/v1beta2",
    "kind": "ManagedClusterSet",
    "metadata": {"name": "live"},
}
HERE = [cluster("eu", env="prod"), set_binding()]


def found(folder: Path, *manifests: dict[str, Any], tree: bool = False) -> list[tuple[str, str, str, str]]:
    """(rule, severity, confidence, message) of the findings of the family; `tree` reads a folder, not one file.

    Most objects that are demanded here are in no namespace, for short: what that means has a test of its own (GWP724).
    """
    file = folder / "hub.yaml"
    file.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
    findings: list[Finding] = open_workspace([str(folder if tree else file)]).findings()
    ours = [each for each in findings if each.rule.startswith("GWP7") and each.rule != "GWP724"]
    return [(finding.rule, finding.severity, finding.confidence, finding.message) for finding in ours]


def test_a_library_of_policies_is_silent(tmp_path: Path) -> None:
    assert found(tmp_path, policy("a"), policy("b"), tree=True) == []
    assert found(tmp_path, policy("a"), policy("b")) == []
    assert found(tmp_path, policy("a"), policy_set("a")) == []


@pytest.mark.parametrize(
    ("namespace", "beside", "rules"), [("", False, []), ("", True, ["GWP705"]), ("policies", False, ["GWP705"])]
)
def test_files_that_name_no_namespace_are_a_library_one_by_one(
    tmp_path: Path, namespace: str, beside: bool, rules: list[str]
) -> None:
    """A binding in another file says where that one's policies go, not where these do."""
    parts = [policy("a"), policy("b"), binding("bind", "place", "Policy/b"), placement(), set_binding()]
    for part in parts:
        part["metadata"].pop("namespace")
        part["metadata"] |= {"namespace": namespace} if namespace else {}
    if not beside:
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(parts.pop(0)), encoding="utf-8")
    assert [row[0] for row in found(tmp_path, *parts, tree=True) if row[0] == "GWP705"] == rules


@pytest.mark.parametrize(
    ("bound", "number", "is_told"),
    [
        ("", 3, False),
        ("", 2, True),
        ("Policy/a", 3, True),
        ("Policy/elsewhere", 3, False),
    ],
)
@pytest.mark.parametrize("beside", [False, True])
def test_none_of_those_that_lie_side_by_side_is_bound(
    tmp_path: Path, bound: str, number: int, is_told: bool, beside: bool
) -> None:
    """A collection, whatever binds others of its namespace, unless one beside them is bound; one that brings its own
    binding is an example."""
    place = tmp_path / "collection" if beside else tmp_path / "more"
    (tmp_path / "collection").mkdir()
    place.mkdir(exist_ok=True)
    files = {tmp_path / "collection" / f"{name}.yaml": [policy(name)] for name in "abc"[:number]}
    files[tmp_path / "collection" / "own.yaml"] = [policy("own"), binding("of-own", "place", "Policy/own")]
    files[place / "all.yaml"] = [policy("elsewhere"), placement(), set_binding()]
    files[place / "bind.yaml"] = [binding("more", "place", bound or "Policy/elsewhere")]
    for file, parts in files.items():
        file.write_text(yaml.safe_dump_all(parts), encoding="utf-8")
    told = {each.message for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP705"}
    last = "abc"[number - 1]
    assert any(f"/{last} " in each for each in told) is (is_told or beside)


def test_what_a_tree_leaves_to_others_is_not_reported_as_missing(tmp_path: Path) -> None:
    rows = found(tmp_path, policy(), binding(), tree=True)
    assert [(rule, severity, confidence) for rule, severity, confidence, _ in rows] == [("GWP701", "note", "unknown")]
    assert found(tmp_path, policy(), binding(), placement(), tree=True) == []
    assert (
        found(tmp_path, policy(), binding(), placement(predicates=labelled(env="prod")), set_binding(), tree=True) == []
    )


def test_a_name_nearly_right_is_missing_in_a_tree_too(tmp_path: Path) -> None:
    rows = found(tmp_path, policy(), binding("bind", "plase"), placement(), set_binding(), tree=True)
    assert [row[:3] for row in rows] == [("GWP701", "error", "certain")]


def test_an_exclusion_that_another_binding_undoes(tmp_path: Path) -> None:
    excluding = policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["eu"]}])
    through = binding("through", "place", "PolicySet/all")
    assert found(tmp_path, *HERE, policy(), excluding, through, placement()) == []
    rows = found(tmp_path, *HERE, policy(), excluding, through, binding("direct"), placement())
    assert [row[:2] for row in rows] == [("GWP709", "warning")]
    assert "from eu, where it is placed anyway" in rows[0][3]
    restricted = binding("direct", subFilter="restricted")
    assert found(tmp_path, *HERE, policy(), excluding, through, restricted, placement()) == []


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ({"predicates": labelled(env="prod")}, []),
        ({"predicates": labelled(env="test")}, ["GWP706"]),
        ({"predicates": labelled(vendor="OpenShift")}, []),
        ({"clusterSets": ["other"]}, ["GWP706"]),
        ({"numberOfClusters": 0}, []),
        ({"tolerations": [{"operator": "Exists", "value": "x"}]}, ["GWP706"]),
    ],
)
def test_placements_without_clusters(spec: dict[str, Any], rules: list[str], tmp_path: Path) -> None:
    assert [row[0] for row in found(tmp_path, *HERE, policy(), binding(), placement(**spec))] == rules


BARE = cluster("bare")


@pytest.mark.parametrize(
    ("asked", "beside", "told"),
    [
        ({"matchLabels": {"env": "dev"}}, [BARE], False),
        ({"matchLabels": {"env": "dev"}}, [], True),
        ({"matchLabels": {"env": "production"}}, [BARE], True),
        ({"matchLabels": {"env": "Prod"}}, [BARE], True),
        ({"matchLabels": {"envv": "prod"}}, [BARE], True),
        ({"matchLabels": {"tier": "1"}}, [], False),
        ({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["1", "2"]}]}, [BARE], False),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, [], False),
        ({"matchExpressions": [{"key": "envv", "operator": "Exists"}]}, [], True),
        ({"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}, [], True),
        ({"matchLabels": {"env": "dev", "tier": "1"}}, [], True),
        ({"matchLabels": {"wave": "2"}}, [BARE, cluster("us", wave="1")], False),
        ({"matchLabels": {"tier": "dev"}}, [BARE, cluster("us", tier={"is": ["dev"]})], False),
        ({"matchLabels": {"tier": ["dev"]}}, [cluster("us", tier="dev")], True),
        (
            {"matchExpressions": [{"key": "env", "operator": "In", "values": [["dev"], 3]}]},
            [cluster("us", env=3)],
            True,
        ),
    ],
    ids=[
        *("on none", "another one on all", "begun alike", "another case", "a key misspelt", "a key of none"),
        *("one of several", "any", "any of a key misspelt", "not there", "another one beside it", "a number"),
        *("a label that is no text", "a value that is none", "values that are none"),
    ],
)
def test_labels_of_clusters_are_set_by_hand(
    asked: dict[str, Any], beside: list[dict[str, Any]], told: bool, tmp_path: Path
) -> None:
    """tosin2013/rhacm-workshop: `oc label managedcluster`. What no cluster of a tree meets may be met by one that says
    nothing of it, unless one nearly does: then it is misspelt."""
    here = (*HERE, *beside, policy(), binding(), placement(predicates=[requires(labelSelector=asked)]))
    assert [row[:2] for row in found(tmp_path, *here, tree=True)] == ([("GWP706", "warning")] if told else [])
    assert [row[0] for row in found(tmp_path, *here)] == ["GWP706"]  # of files that are named, no others are meant


@pytest.mark.parametrize(("beside", "told"), [((SET,), True), (HERE[:1], False)], ids=["sets", "no sets"])
def test_a_tree_with_sets_has_their_bindings_too(beside: tuple[Any, ...], told: bool, tmp_path: Path) -> None:
    rows = found(tmp_path, *beside, policy(), binding(), placement(), tree=True)
    assert [row[:3] for row in rows] == ([("GWP706", "warning", "assumed")] if told else [])


def test_a_policy_of_a_set_that_nothing_binds(tmp_path: Path) -> None:
    rows = found(tmp_path, *HERE, policy(), policy("b"), policy_set("b"), binding(), placement())
    assert [row[0] for row in rows] == ["GWP705"]


def test_variables_are_no_defects(tmp_path: Path) -> None:
    subject = binding("more", "place", "Policy/${NAME}")
    rows = found(tmp_path, *HERE, policy(), policy("b"), binding("bind", "${PLACE}"), subject, placement())
    assert [row for row in rows if row[2] != "unknown"] == []
    member = policy_set("${NAME}")
    rows = found(tmp_path, *HERE, policy(), policy("b"), member, binding("bind", "place", "PolicySet/all"), placement())
    assert [row for row in rows if row[2] != "unknown"] == []


def test_what_a_policy_generator_makes_is_not_missing(tmp_path: Path) -> None:
    kustomization = {"kind": "Kustomization", "generators": ["generator.yaml"], "resources": ["hub.yaml"]}
    generator = {
        "apiVersion": "policy.open-cluster-management.io/v1",
        "kind": "PolicyGenerator",
        "metadata": {"name": "made"},
        "policyDefaults": {"namespace": "policies"},
        "policies": [{"name": "pod", "manifests": [{"path": "manifests"}]}],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
    own = [policy("other"), binding("bind", "place", "Policy/pod"), placement()]
    rows = found(tmp_path, *own, tree=True)
    assert {(row[0], row[2]) for row in rows} == {("GWP702", "assumed"), ("GWP705", "assumed")}
    (tmp_path / "generator.yaml").write_text(yaml.safe_dump(generator), encoding="utf-8")
    assert {(row[0], row[2]) for row in found(tmp_path, *own, tree=True)} == {("GWP705", "assumed")}
    (tmp_path / "generator.yaml").write_text(yaml.safe_dump({**generator, "policies": []}), encoding="utf-8")
    assert {row[2] for row in found(tmp_path, *own, tree=True)} == {"unknown"}, "the plugin refuses it"


WAITS = [
    {"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "name": "base", "compliance": "Compliant"}
]


def wrapping(
    *objects: tuple[str, dict[str, Any]],
    include: Any = None,
    template: dict[str, Any] | None = None,
    called: str = "",
    **spec: Any,
) -> dict[str, Any]:
    """The `policy-templates` of a ConfigurationPolicy with some (complianceType, object)."""
    wrapped = [{"complianceType": compliance, "objectDefinition": body} for compliance, body in objects]
    inner: dict[str, Any] = {"severity": "low", "object-templates": wrapped, **(template or {})}
    if include is not None:
        inner["namespaceSelector"] = {"include": include}
    definition = {
        "apiVersion": "policy.open-cluster-management.io/v1",
        "kind": "ConfigurationPolicy",
        "metadata": {"name": called or f"template-{next(NUMBERS)}"},
        "spec": inner,
    }
    return {"policy-templates": [{"objectDefinition": definition}], **spec}


def quota(pods: Any = "3", *, namespace: str = "", **more: Any) -> dict[str, Any]:
    metadata = {"name": "small", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": pods}, **more}}


BARE = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}}
ENFORCED = {"remediationAction": "enforce"}
BOTH = binding("bind", "place", "Policy/a", "Policy/b")


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [
        (wrapping(("musthave", quota())), wrapping(("mustnothave", BARE)), "warning"),
        (wrapping(("musthave", quota()), **ENFORCED), wrapping(("mustnothave", BARE), **ENFORCED), "error"),
        (wrapping(("musthave", quota()), **ENFORCED), wrapping(("mustnothave", BARE)), "warning"),
        (wrapping(("musthave", quota())), wrapping(("mustnothave", quota("4"))), ""),
        (wrapping(("MustHave", quota())), wrapping(("mustnothave", quota())), "warning"),
        (wrapping(("mustnothave", quota())), wrapping(("mustnothave", quota("4"))), ""),
        (wrapping(("musthave", quota())), wrapping(("musthave", quota("4"))), "warning"),
        (wrapping(("musthave", quota())), wrapping(("musthave", quota(3))), ""),
        (wrapping(("musthave", quota())), wrapping(("musthave", quota("{{hub .ManagedClusterName hub}}"))), ""),
        (wrapping(("musthave", quota(scopes=["a"]))), wrapping(("musthave", quota(scopes=["b"]))), ""),
        (wrapping(("mustonlyhave", quota())), wrapping(("musthave", quota(scopes=["b"]))), "warning"),
        (wrapping(("mustonlyhave", quota(scopes=["b"]))), wrapping(("musthave", quota())), ""),
        (wrapping(("musthave", quota(namespace="a"))), wrapping(("mustnothave", quota(namespace="b"))), ""),
        (wrapping(("musthave", quota(namespace="a"))), wrapping(("mustnothave", quota()), include=["a"]), "warning"),
        (wrapping(("musthave", quota()), include=["a*"]), wrapping(("mustnothave", quota()), include=["ab"]), ""),
        (
            wrapping(("musthave", quota()), include=["a*"]),
            wrapping(("mustnothave", quota()), include=["a*"]),
            "warning",
        ),
        (wrapping(("musthave", quota())), wrapping(("mustnothave", quota()), include=["a"]), ""),
        (
            wrapping(("musthave", quota()), template={"remediationAction": "InformOnly"}, **ENFORCED),
            wrapping(("mustnothave", BARE), **ENFORCED),
            "warning",
        ),
    ],
)
def test_conflicting_demands(first: dict[str, Any], second: dict[str, Any], severity: str, tmp_path: Path) -> None:
    rows = found(tmp_path, *HERE, policy("a", **first), policy("b", **second), BOTH, placement())
    assert [row[1] for row in rows if row[0] == "GWP713"] == [severity] * bool(severity)


def awaiting(compliance: str, name: str = "a", kind: str = "Policy") -> list[dict[str, str]]:
    return [
        {"apiVersion": "policy.open-cluster-management.io/v1", "kind": kind, "name": name, "compliance": compliance}
    ]


@pytest.mark.parametrize(
    ("where", "dependencies", "rules"),
    [
        ("policy", awaiting("NonCompliant"), []),
        ("template", awaiting("NonCompliant"), []),
        ("template", awaiting("NonCompliant", "needed", "ConfigurationPolicy"), []),
        ("policy", awaiting("Compliant"), ["GWP713"]),
        ("policy", awaiting("NonCompliant", "other"), ["GWP713"]),
        ("template", awaiting("NonCompliant", "other", "ConfigurationPolicy"), ["GWP713"]),
    ],
)
def test_what_is_demanded_only_while_the_other_is_not_met_is_no_conflict(
    where: str, dependencies: list[dict[str, str]], rules: list[str], tmp_path: Path
) -> None:
    needed, cleaned = wrapping(("musthave", quota())), wrapping(("mustnothave", BARE))
    needed["policy-templates"][0]["objectDefinition"]["metadata"] = {"name": "needed"}
    if where == "policy":
        cleaned["dependencies"] = dependencies
    else:
        cleaned["policy-templates"][0]["extraDependencies"] = dependencies
    bound = binding("bind", "place", "Policy/a", "Policy/b", "Policy/other")
    rows = found(tmp_path, *HERE, policy("a", **needed), policy("b", **cleaned), policy("other"), bound, placement())
    assert [row[0] for row in rows if row[0] == "GWP713"] == rules


def test_values_of_secrets_are_not_shown(tmp_path: Path) -> None:
    def secret(value: str) -> dict[str, Any]:
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"user": value}}
        return wrapping(("musthave", body))

    parts = [*HERE, policy("a", **secret("alice")), policy("b", **secret("bob")), BOTH, placement()]
    (row,) = found(tmp_path, *parts)
    assert "stringData.user has one value in the one" in row[3]
    assert "alice" not in row[3] and "bob" not in row[3]


def test_demands_conflict_only_where_both_are_placed(tmp_path: Path) -> None:
    demands = [
        policy("a", **wrapping(("musthave", quota()))),
        policy("b", **wrapping(("mustnothave", BARE))),
        *[binding("one", "place", "Policy/a"), binding("two", "dev", "Policy/b")],
        *[placement(predicates=labelled(env="prod")), placement("dev", predicates=labelled(env="dev"))],
    ]
    assert found(tmp_path, *HERE, cluster("dev", env="dev"), *demands) == []
    assert found(tmp_path, set_binding(), *demands) == []
    shared = [*demands[:2], BOTH, placement(predicates=labelled(env="prod"))]
    (row,) = found(tmp_path, set_binding(), *shared)
    assert row[:3] == ("GWP713", "warning", "assumed"), "no cluster is in sight, but both are placed by one Placement"


def test_a_library_has_no_conflicts_and_waits_for_whatever(tmp_path: Path) -> None:
    demands = [policy("a", **wrapping(("musthave", quota()))), policy("b", **wrapping(("mustnothave", BARE)))]
    assert found(tmp_path, *demands, policy("c", dependencies=WAITS), tree=True) == []
    assert found(tmp_path, policy("a", **wrapping(template={"remediationAction": "enforce"})), tree=True) == []


def test_many_demands_for_one_object_are_bounded(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(400)]
    demands = [policy(name, **wrapping(("musthave", quota(name)))) for name in names]
    bound = binding("bind", "place", *(f"Policy/{name}" for name in names))
    assert len(found(tmp_path, *HERE, *demands, bound, placement())) == 59, "one each, and not all pairs"


def test_a_demand_is_told_once_for_each_cluster(tmp_path: Path) -> None:
    far = [cluster("far", env="dev"), placement("dev", predicates=labelled(env="dev"))]
    demands = [policy(name, **wrapping(("musthave", quota(name)))) for name in ("a", "b", "c", "d")]
    bound = [
        binding("all", "place", "Policy/a", "Policy/b", "Policy/d"),
        binding("more", "dev", "Policy/c", "Policy/d"),
    ]
    rows = found(tmp_path, *HERE, *far, *demands, *bound, placement(predicates=labelled(env="prod")))
    assert [row[3].partition(" about ")[0] for row in rows] == [
        "Policy policies/b and Policy policies/a disagree on eu",
        "Policy policies/d and Policy policies/a disagree on eu",
        "Policy policies/d and Policy policies/c disagree on far",
    ]


@pytest.mark.parametrize(
    ("waiting", "other", "rules"),
    [
        ({"dependencies": WAITS}, None, ["GWP710"]),
        ({"policy-templates": [{"objectDefinition": {}, "extraDependencies": WAITS}]}, None, ["GWP710"]),
        ({"dependencies": [{**WAITS[0], "name": "${NAME}"}]}, None, []),
        ({"dependencies": [{**WAITS[0], "kind": "ConfigurationPolicy"}]}, None, []),
        ({"dependencies": [{**WAITS[0], "kind": "PolicySet"}]}, None, ["GWP710"]),
        ({"dependencies": WAITS}, "place", []),
        ({"dependencies": [{**WAITS[0], "name": "policies.base"}]}, "place", []),
        ({"dependencies": [{**WAITS[0], "namespace": "other"}]}, "place", ["GWP710"]),
        ({"dependencies": WAITS}, "dev", ["GWP711"]),
        ({"dependencies": WAITS}, "cel", []),
    ],
)
def test_dependencies(waiting: dict[str, Any], other: str | None, rules: list[str], tmp_path: Path) -> None:
    cel = [{"requiredClusterSelector": {"celSelector": {"celExpressions": ["true"]}}}]
    places = [placement(predicates=labelled(env="prod")), placement("dev", predicates=labelled(env="dev"))]
    others = [] if other is None else [policy("base"), binding("other", other, "Policy/base")]
    rows = found(
        tmp_path,
        *HERE,
        cluster("far", env="dev"),
        *places,
        placement("cel", predicates=cel),
        policy(**waiting),
        binding(),
        *others,
    )
    assert [row[0] for row in rows] == rules


def test_a_policy_that_is_placed_nowhere_is_waited_for_in_vain(tmp_path: Path) -> None:
    disabled = policy("base", disabled=True)
    rows = found(tmp_path, set_binding(), placement(), policy(dependencies=WAITS), disabled, binding())
    assert [(row[0], row[3]) for row in rows if row[0] == "GWP711"] == [
        ("GWP711", "Policy policies/pod waits for Policy policies/base, which is placed nowhere")
    ]


@pytest.mark.parametrize(
    ("own", "template", "fields", "expected"),
    [
        ("inform", "enforce", {}, [("GWP712", "note")]),
        ("inform", "Inform", {}, []),
        ("inform", "informOnly", {}, []),
        ("enforce", "inform", {}, [("GWP712", "note")]),
        (None, "enforce", {}, []),
        ("inform", "enforce", {"bindingOverrides": {"remediationAction": "enforce"}}, []),
    ],
)
def test_actions_of_templates(
    own: Any, template: str, fields: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    spec = wrapping(template={"remediationAction": template}, remediationAction=own)
    rows = found(tmp_path, *HERE, policy(**spec), binding(**fields), placement())
    assert [row[:2] for row in rows] == expected


@pytest.mark.parametrize(
    ("own", "template", "expected"),
    [
        (None, "informOnly", []),
        ("enforce", "InformOnly", []),
        ("enforce", "nonsense", []),  # the Policy's own word stands in its place
        (None, "nonsense", ["GWP501"]),
        (None, "INFORM", ["GWP501"]),
    ],
)
def test_a_template_is_judged_as_its_cluster_gets_it(
    own: Any, template: str, expected: list[str], tmp_path: Path
) -> None:
    """The add-on of the clusters writes the action down before their API server sees it."""
    spec = wrapping(template={"remediationAction": template}, remediationAction=own)
    file = tmp_path / "hub.yaml"
    file.write_text(yaml.safe_dump_all([*HERE, policy(**spec), binding(), placement()]), encoding="utf-8")
    assert [each.rule for each in open_workspace([str(file)]).findings() if each.rule == "GWP501"] == expected


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("plain", ""),
        ("{{ .Name }} and {{ .Other }}", ""),
        ('{{ "{{" }} stands for itself', ""),
        ("{{hub .ManagedClusterName hub}}", ""),
        ('{{hub fromSecret "policies" "a" "b" hub}}', ""),
        ('{{hub fromSecret "other" "a" "b" hub}}', "GWP719"),
        ('{{hub (lookup "v1" "ConfigMap" "other" "a").data hub}}', "GWP719"),
        ('{{ fromSecret "other" "a" "b" }}', ""),
        ("{{hub .ManagedClusterName }}", "GWP721"),
        ("{{ hub .ManagedClusterName hub}}", "GWP721"),
        ("{{ .Name", "GWP721"),
        ("}} alone", ""),
        ('{{ index . "github}}', ""),
    ],
)
def test_templates_in_policies(written: str, rule: str, tmp_path: Path) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": written}}
    own = policy(**wrapping(("musthave", body)))
    assert [row[0] for row in found(tmp_path, *HERE, own, binding(), placement())] == [rule] * bool(rule)
    allowed = policy(**wrapping(("musthave", body), hubTemplateOptions={"serviceAccountName": "reader"}))
    rows = found(tmp_path, *HERE, allowed, binding(), placement())
    assert [row[0] for row in rows] == ["GWP721"] * (rule == "GWP721")


def test_templates_of_one_name(tmp_path: Path) -> None:
    bodies = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}} for kind in ("ConfigMap", "Secret")]
    one, other = (wrapping(("musthave", body), called="same") for body in bodies)
    twice = {**one, "policy-templates": [*one["policy-templates"], *other["policy-templates"]]}
    assert [row[0] for row in found(tmp_path, *HERE, policy(**twice), binding(), placement())] == ["GWP722"]
    fleet, both = [*HERE, cluster("far", env="dev")], binding("bind", "place", "Policy/pod", "Policy/second")
    pair = [policy(**one), policy("second", **other)]
    (row,) = found(tmp_path, *fleet, *pair, both, placement(predicates=labelled(env="prod")))
    assert row[3] == "Policy policies/second and Policy policies/pod both have ConfigurationPolicy same on eu"
    apart = [binding("one", "dev"), binding("two", "prod", "Policy/second")]
    places = [placement(env, predicates=labelled(env=env)) for env in ("dev", "prod")]
    assert found(tmp_path, *fleet, *pair, *apart, *places) == []
    pair = [policy(**wrapping(("musthave", bodies[0]), called="{{hub .ManagedClusterName hub}}")), policy("second")]
    assert found(tmp_path, *fleet, *pair, both, placement()) == []


def test_delimiters_by_the_thousand_cost_their_number() -> None:
    for text in ("{{hub" * 200_000, "{{}}" * 200_000, "{{" * 200_000, "hub}}" * 200_000, "{{ hub " * 200_000):
        start = process_time()
        unbalanced(text)
        assert process_time() - start < 2


def test_a_placement_rule_is_superseded(tmp_path: Path) -> None:
    rule = {"apiVersion": "apps.open-cluster-management.io/v1", "kind": "PlacementRule", "spec": {}}
    file = tmp_path / "hub.yaml"
    file.write_text(yaml.safe_dump({**rule, "metadata": {"name": "old", "namespace": "policies"}}), encoding="utf-8")
    (finding,) = open_workspace([str(file)]).findings({"GWP502"})
    assert (finding.severity, finding.label) == ("note", "use cluster.open-cluster-management.io/v1beta1, Placement")
    assert finding.fixes == (), "its fields are others"


def test_a_dump_of_the_hub_holds_its_copies(tmp_path: Path) -> None:
    copy = policy("policies.pod")
    copy["metadata"] = {**copy["metadata"], "namespace": "eu", "labels": {}}
    assert [row[0] for row in found(tmp_path, *HERE, copy)] == ["GWP718"]
    copy["metadata"]["uid"] = "6b5d"
    assert found(tmp_path, *HERE, copy) == []


def test_a_binding_of_ten_thousand_subjects(tmp_path: Path) -> None:
    listed = binding("bind", "place", *(f"Policy/p{number}" for number in range(10_000)))
    start = process_time()
    rows = found(tmp_path, *HERE, policy("p0"), listed, placement())
    assert {row[0] for row in rows} == {"GWP702"}
    assert process_time() - start < 60


def test_a_placement_rule_takes_more_than_a_new_version(tmp_path: Path) -> None:

    placement_rule = """
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: hub, namespace: policies}
spec: {clusterSelector: {matchLabels: {local-cluster: "true"}}}
"""
    said = only(lint(tmp_path, placement_rule), "GWP502")
    assert "rewrite its spec: Placement has other fields" in said.help[0]


CONFIGURATION = {
    "apiVersion": "policy.open-cluster-management.io/v1",
    "kind": "ConfigurationPolicy",
    "metadata": {"name": "c"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"complianceType": "musthave", "objectDefinition": NAMESPACE}, ""),
        ({"complianceType": "musthave", **NAMESPACE}, "spec.object-templates[0].objectDefinition"),
        ({"objectDefinition": NAMESPACE}, "spec.object-templates[0].complianceType"),
        ({"complianceType": "{{hub .x hub}}", "objectDefinition": NAMESPACE}, ""),
    ],
    ids=["right", "a level too high", "no compliance type", "from a template"],
)
def test_templates_are_held_to_their_own_schemas(tmp_path: Path, template: dict[str, Any], said: str) -> None:
    """The hub's CRD takes any objectDefinition; what the clusters refuse was wiped out of the policy unseen."""
    body = {**CONFIGURATION, "spec": {"remediationAction": "inform", "severity": "low", "object-templates": [template]}}
    held = policy()
    held["spec"] = {"disabled": False, "policy-templates": [{"objectDefinition": body}]}
    documents = [yaml.safe_dump(each) for each in (*HERE, held, binding(), placement())]
    messages = [each.message for each in lint(tmp_path, *documents) if each.rule == "GWP501"]
    assert messages == ([f"ConfigurationPolicy c lacks {said}"] if said else [])


@pytest.mark.parametrize(
    ("namespace", "selector", "kind", "told"),
    [
        ("", None, "ConfigMap", True),
        ("", {}, "ConfigMap", True),
        ("shop", None, "ConfigMap", False),
        ("", {"include": ["shop"]}, "ConfigMap", False),
        ("", {"matchLabels": {"team": "shop"}}, "ConfigMap", False),
        ("{{hub .x hub}}", None, "ConfigMap", False),
        ("", None, "Namespace", False),
        ("", None, "Widget", False),
    ],
)
def test_an_object_has_to_be_somewhere(
    tmp_path: Path, namespace: str, selector: dict[str, Any] | None, kind: str, told: bool
) -> None:
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    definition = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    spec: dict[str, Any] = {"remediationAction": "inform", "severity": "low"}
    spec["object-templates"] = [{"complianceType": "musthave", "objectDefinition": definition}]
    if selector is not None:
        spec["namespaceSelector"] = selector
    held = policy()
    held["spec"] = {"disabled": False, "policy-templates": [{"objectDefinition": {**CONFIGURATION, "spec": spec}}]}
    documents = [yaml.safe_dump(each) for each in (*HERE, held, binding(), placement())]
    messages = [each.message for each in lint(tmp_path, *documents) if each.rule == "GWP724"]
    name = f"{held['metadata']['namespace']}/{held['metadata']['name']}"
    assert messages == ([f"ConfigurationPolicy c in Policy {name} says no namespace for ConfigMap x"] if told else [])


@pytest.mark.parametrize(
    ("tolerations", "about"),
    [([], "has a taint that it does not tolerate"), ([{"key": "gpu", "operator": "Exists"}], "")],
)
def test_a_placement_of_tainted_clusters_is_told_why(tmp_path: Path, tolerations: list[Any], about: str) -> None:
    tainted = {**cluster("eu", env="prod"), "spec": {"taints": [{"key": "gpu", "effect": "NoSelect"}]}}
    file = tmp_path / "hub.yaml"
    place = placement(predicates=labelled(env="prod"), tolerations=tolerations)
    file.write_text(yaml.safe_dump_all([tainted, set_binding(), place, policy(), binding()]), encoding="utf-8")
    labels = [each.label for each in open_workspace([str(file)]).findings() if each.rule == "GWP706"]
    assert [about in label for label in labels] == ([True] if about else [])
