"""One cause is told once, with all that it affects; causes of their own stay by themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from policylint.model import Finding, Location, ResourceKey, Spot
from policylint.model.fix import Change, Fix
from policylint.report.findings import write
from policylint.report.findings.once import once
from tests.report.sample import CORS, RETRIES, sample

GATEWAY = "Gateway infra/edge"


def route(name: str, namespace: str = "shop") -> ResourceKey:
    return ResourceKey("gateway.networking.k8s.io", "HTTPRoute", namespace, name)


def missing(name: str, line: int = 1, what: str = GATEWAY, file: str = RETRIES) -> Finding:
    key = route(name)
    return Finding("GWP401", "error", f"{key} names missing {what}", Location(Spot(file, line)), resources=(key,))


def messages(findings: Sequence[Finding]) -> list[str]:
    return [finding.message for finding in once(findings)]


def test_routes_that_name_one_missing_gateway_are_one() -> None:
    (told,) = once([missing("a", 1), missing("b", 2), missing("c", 3, file=CORS)])
    assert told.message == "HTTPRoute shop/a names missing Gateway infra/edge (and 2 more like this)"
    assert [(place.message, place.location.sort_key()) for place in told.related] == [
        ("HTTPRoute shop/b", (RETRIES, 2, 1)),
        ("HTTPRoute shop/c", (CORS, 3, 1)),
    ]
    assert told.resources == (route("a"), route("b"), route("c"))
    assert told.help == ("note: it concerns HTTPRoute shop/a, HTTPRoute shop/b, HTTPRoute shop/c",)


@pytest.mark.parametrize(
    "other",
    [
        missing("c", what="Gateway infra/egde"),
        missing("c")._replace(rule="GWP405"),
        missing("c")._replace(severity="warning"),
        missing("c")._replace(confidence="assumed"),
        missing("c", 3)._replace(label='did you mean "edge-2"?'),
    ],
    ids=["another object", "another rule", "another severity", "another confidence", "another reason"],
)
def test_another_cause_stays_by_itself(other: Finding) -> None:
    given = [missing("a"), missing("b"), other]
    assert messages(given) == [finding.message for finding in given]
    assert len(once([*given, missing("d")])) == 2


def test_two_are_two() -> None:
    assert len(once([missing("a"), missing("b")])) == 2


def test_one_place_that_many_environments_deploy_is_one_cause() -> None:
    """A base names a route that is missing: in each namespace another one."""
    found = []
    for namespace in ("blue", "green", "red"):
        policy = ResourceKey("gateway.envoyproxy.io", "SecurityPolicy", namespace, "cors")
        wanted = route("checkout", namespace)
        message = f"{policy} points at missing {wanted}"
        where = Location(Spot(CORS, 11))
        found.append(Finding("GWP101", "error", message, where, resources=(policy, wanted), environments=(namespace,)))
    (told,) = once(found)
    assert told.environments == ("blue", "green", "red")
    assert {key.namespace for key in told.resources} >= {"blue", "green", "red"}
    elsewhere = [each._replace(location=Location(Spot(RETRIES, line))) for line, each in enumerate(found, 1)]
    assert len(once(elsewhere)) == 3


def test_entries_of_a_list_say_the_same() -> None:
    key = route("a")
    entries = [
        Finding(
            *("GWP501", "warning", f"{key} lacks spec.rules[{number}].name", Location(Spot(RETRIES, number + 1))),
            resources=(key,),
            field=f"spec.rules[{number}].name",
        )
        for number in range(4)
    ]
    (told,) = once(entries)
    assert [place.message for place in told.related][-1] == "HTTPRoute shop/a: spec.rules[3].name"
    assert told.help == ()


def test_the_order_is_that_of_the_first() -> None:
    alone = missing("x", what="Gateway infra/other")
    assert [text.split()[1] for text in messages([missing("a"), alone, missing("b"), missing("c")])] == [
        "shop/a",
        "shop/x",
    ]


def test_a_fix_mends_all_of_them_or_is_none() -> None:
    def fixed(name: str, title: str = "write name: edge") -> Finding:
        finding = missing(name, len(name))
        return finding._replace(fixes=(Fix(title, (Change("set", finding.location, "egde", "edge"),)),))

    (told,) = once([fixed("a"), fixed("bb"), fixed("ccc")])
    assert len(told.fixes[0].changes) == 3
    assert once([fixed("a"), fixed("bb"), fixed("ccc", "write name: edges")])[0].fixes == ()
    assert once([fixed("a"), fixed("bb"), missing("ccc")])[0].fixes == ()


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_people_read_it_once(form: str) -> None:
    text = write(form, sample(findings=[missing(name, line) for line, name in enumerate("abcd", 1)]))
    assert "(and 3 more like this)" in text and "HTTPRoute shop/b names missing" not in text
    assert form == "markdown" or "1 error" in text


def test_programs_are_told_once_and_get_every_place() -> None:
    told = json.loads(write("json", sample(findings=[missing(name, line) for line, name in enumerate("abcd", 1)])))
    (finding,) = told["findings"]
    assert [place["location"]["line"] for place in finding["related"]] == [2, 3, 4]
    assert len(finding["resources"]) == 4 and told["summary"]["error"] == 1


@pytest.mark.parametrize("form", ["concise", "sarif", "junit", "codeclimate"])
def test_lists_and_alerts_have_each(form: str) -> None:
    """Alerts are closed, dismissed and found again one by one."""
    text = write(form, sample(findings=[missing(name, line) for line, name in enumerate("abcd", 1)]))
    assert text.count("more like this") == 0 and all(f"HTTPRoute shop/{name}" in text for name in "abcd")
