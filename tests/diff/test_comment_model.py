"""The comment as a model: every fact that a comparison found is told, and told once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from policylint.report.diff.comment import Comment, comment
from policylint.report.diff.report import DiffReport
from policylint.report.diff.stored import read
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, policy
from tests.diff.history import run
from tests.diff.test_history import STEPS, History

EDGE = "kind: Gateway, name: edge"
OIDC = "oidc: {clientID: shop, provider: {issuer: https://id.example.com}, clientSecret: {name: oidc}}"
ALLOWED = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
OTHER = GATEWAY.replace("name: edge", "name: other")


def model(directory: Path, *arguments: str) -> tuple[DiffReport, Comment]:
    """What the comment on a diff is made of, read back from its data."""
    report = read(run(directory, "diff", *arguments, "-o", "json-v1")[1].encode())
    return report, comment(report)


def differing(tmp_path: Path, before: list[str], after: list[str]) -> Comment:
    for side, documents in (("before", before), ("after", after)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    report, said = model(tmp_path, "--rendered-before", "before", "--rendered-after", "after")
    assert_each_fact_once(report, said)
    return said


def assert_each_fact_once(report: DiffReport, said: Comment) -> None:
    told = Counter(fact for row in said.rows for fact in row.tells)
    told.update(("finding", id(finding)) for finding in said.new)
    assert not [fact for fact, times in told.items() if times > 1]
    sorts = Counter(str(fact[0]) for fact in told)
    environments = report.comparison.environments
    requests = {
        (host, each.gateway, each.words, id(change))
        for env in environments
        for change in (env.requests.changes if env.requests is not None else ())
        for each in change.requests
        for host in each.hosts
    }
    settings = {
        (subject.key, tuple(part.rules), setting.kind.kind, setting.name, setting.change)
        for env in environments
        for subject in env.known
        for part in subject.parts
        for setting in (*part.settings, *part.lost)
        if setting.change not in ("unchanged", "moved")
    }
    assert sorts["request"] == len(requests)
    assert sorts["setting"] == len(settings)
    assert sorts["reach"] == sum(len(subject.reach) for env in environments for subject in env.known)
    assert sorts["connection"] == sum(bool(each.targets) for env in environments for each in env.connections)
    assert sorts["placement"] == sum(len(env.placements) for env in environments)
    assert sorts["finding"] == len(report.folded("new"))
    places = [(row.kind, name, where) for row in said.rows for name, where in zip(row.who, row.where, strict=True)
              if row.noun == "host"]  # fmt: skip
    assert len(places) == len(set(places)), "one host, one consequence, one row"


@pytest.mark.parametrize("step", STEPS)
def test_every_fact_of_a_commit_is_told_once(history: History, step: int) -> None:
    directory, ids = history
    assert_each_fact_once(*model(directory, f"{ids[step - 1]}..{ids[step]}"))


def hosts(number: int, gateway: str = "edge") -> list[str]:
    rules = "rules: [{backendRefs: [{name: checkout, port: 8080}]}]"
    return [
        worlds.route(f"app-{each}", more=f"hostnames: [app-{each}.example.com], {rules}").replace(
            "name: edge", f"name: {gateway}"
        )
        for each in range(number)
    ]


def test_hosts_that_move_off_a_login_and_an_allow_list_are_one_row(tmp_path: Path) -> None:
    secure = policy("SecurityPolicy", "secure", EDGE, f"{OIDC}\n  {ALLOWED}", namespace="infra")
    world = [GATEWAY, OTHER, SERVICE, secure]
    said = differing(tmp_path, [*world, *hosts(20)], [*world, *hosts(20, "other")])
    (row,) = [row for row in said.rows if row.noun == "host"]
    assert (len(row.who), row.kind) == (20, "lost")
    assert row.before == ("edge", "login: oidc (infra/secure)", "only from 10.0.0.0/8")
    assert row.after == ("other", "no login")
    assert said.headline == "20 hosts lose their allow-list and their login"
    assert said.warns


def test_a_canary_is_a_row(tmp_path: Path) -> None:
    canary = SERVICE.replace("name: checkout", "name: canary")
    (route,) = hosts(1)
    split = route.replace(
        "backendRefs: [{name: checkout, port: 8080}]",
        "backendRefs: [{name: checkout, port: 8080, weight: 90}, {name: canary, port: 8080, weight: 10}]",
    )
    said = differing(tmp_path, [GATEWAY, SERVICE, canary, route], [GATEWAY, SERVICE, canary, split])
    assert said.headline == "requests to `app-0.example.com` go to shop/canary (10%) and shop/checkout (90%)"
    assert not said.warns


def test_a_removed_header_is_a_row(tmp_path: Path) -> None:
    (route,) = hosts(1)
    header = "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x-user]}}], backendRefs:"
    said = differing(tmp_path, [GATEWAY, SERVICE, route], [GATEWAY, SERVICE, route.replace("backendRefs:", header)])
    assert said.headline == "requests to `app-0.example.com`: remove header x-user"


def test_a_finding_that_goes_with_its_protection_is_moot(tmp_path: Path) -> None:
    login = policy("SecurityPolicy", "login", EDGE, OIDC, namespace="infra")
    own = policy("SecurityPolicy", "own", "kind: HTTPRoute, name: app-0", 'cors: {allowOrigins: ["*"]}')
    for side, documents in (("before", [login, own]), ("after", [own])):
        (tmp_path / side).mkdir()
        world = [GATEWAY, SERVICE, *hosts(2), *documents]
        (tmp_path / side / "world.yaml").write_text("---\n".join(world), encoding="utf-8")
    report, _ = model(tmp_path, "--rendered-before", "before", "--rendered-after", "after")
    assert "GWP201" in [finding.rule for finding in report.known("moot")]
    assert not report.known("fixed")


@pytest.mark.parametrize("form", ["text", "concise", "markdown", "summary", "json", "github"])
def test_what_was_too_much_to_compare_is_said_and_ends_as_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr("policylint.compare.requests.changes.MOST_TRACED", 0)
    login = policy("SecurityPolicy", "login", EDGE, OIDC, namespace="infra")
    for side, documents in (("before", [login]), ("after", [])):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join([GATEWAY, SERVICE, *hosts(3), *documents]))
    given = ("--rendered-before", "before", "--rendered-after", "after")
    code, out, _ = run(tmp_path, "diff", *given, "-o", form)
    assert code == 3
    assert "more hosts are touched than are compared" in out
