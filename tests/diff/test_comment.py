"""The comment at any length: what comes first, is folded, has no room; and mermaid itself reads its diagram."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, policy
from tests.diff import history as repositories
from tests.diff.history import MAKE, ROOT
from tests.diff.test_history import History
from tests.hostile.test_output import COMMANDS, Worlds
from tests.hostile.world import TEXTS

EDGE = "kind: Gateway, name: edge"
JWT = policy(
    "SecurityPolicy",
    "edge",
    EDGE,
    "jwt: {providers: [{name: staff, remoteJWKS: {uri: https://id.example.com}}]}",
    namespace="infra",
)
LINKS = ("--links", "https://github.com/example/shop/blob/0123456789abcdef")


def run(directory: Path, *arguments: str) -> tuple[int, str, str]:
    """Run policylint; long words are put together again where they may break."""
    code, out, err = repositories.run(directory, *arguments)
    return code, re.sub(r"<code>([^<]*)</code>", r"`\1`", out.replace("<wbr>", "")), err


def route(number: int) -> str:
    rules = "rules: [{backendRefs: [{name: checkout, port: 8080}]}]"
    return worlds.route(f"route-{number:04}", more=f"hostnames: [r{number}.example.com], {rules}")


def comment(tmp_path: Path, changed: int, more: str = "", form: str = "markdown") -> str:
    """A change that gives so many routes of 400 a policy of their own, each with another value."""
    world = [GATEWAY, SERVICE, JWT, *map(route, range(400))]
    own = [
        policy("SecurityPolicy", f"own-{number:04}", f"kind: HTTPRoute, name: route-{number:04}",
               f'cors: {{allowOrigins: ["https://o{number}.example.com"]}}')
        for number in range(changed)
    ]  # fmt: skip
    for side, documents in (("before", world), ("after", [*world, *own, *filter(None, [more])])):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    given = ("--rendered-before", "before", "--rendered-after", "after")
    return run(tmp_path, "diff", *given, "-o", form, *LINKS)[1]


def test_rows_link_into_the_page_of_the_graph(tmp_path: Path) -> None:
    """To the object, and to the way of the example; nothing is linked without an address, or to a strange one."""
    world = [GATEWAY, SERVICE, JWT, route(0)]
    own = policy("SecurityPolicy", "own", "kind: HTTPRoute, name: route-0000", 'cors: {allowOrigins: ["*"]}')
    for side, documents in (("before", world), ("after", [*world, own])):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    given = ("diff", "--rendered-before", "before", "--rendered-after", "after", "-o", "markdown")
    text = run(tmp_path, *given, "--graph", "https://pages.example.com/pr-7/graph.html")[1]
    views = [parse_qs(mark) for mark in re.findall(r"\]\(https://pages\.example\.com/pr-7/graph\.html#([^)]*)\)", text)]
    assert {"select": ["HTTPRoute shop/route-0000"]} in views
    requests = [view["request"][0] for view in views if "request" in view]
    assert requests
    assert all(re.fullmatch(r"[A-Z]+ https?://r0\.example\.com/.*", request) for request in requests)
    bare = re.sub(r" \(\[its way\]\([^)]*\)\)|\[(`[^`]*`)\]\(https://pages[^)]*\)", r"\1", text)
    assert bare.partition("<sub>")[0] == run(tmp_path, *given)[1].partition("<sub>")[0]
    for strange in ("http://example.com/", "javascript:x", "https://example.com/a)b", "https://example.com/#x"):
        code, _, said = run(tmp_path, *given, "--graph", strange)
        assert code == 2
        assert "--graph takes the https address of a page" in said


def tables(text: str) -> tuple[str, str]:
    """What is in sight, and what is folded."""
    folded = "".join(re.findall(r"<details>.*?</details>", text, re.DOTALL))
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL), folded


@pytest.mark.parametrize(("changed", "folds"), [(0, False), (1, False), (50, True), (400, True)])
def test_of_any_number_of_routes(tmp_path: Path, changed: int, folds: bool) -> None:
    text = comment(tmp_path, changed)
    seen, folded = tables(text)
    assert len(text) < 60_000
    assert text.count("<details>") == text.count("</details>")
    assert len(re.findall("^```", text, re.MULTILINE)) % 2 == 0
    assert len([line for line in seen.splitlines() if line]) <= 25
    assert ("by name</summary>" in folded) == folds
    verdicts = {0: "no route changes its effective policy", 1: "`r0.example.com` loses its login"}
    assert verdicts.get(changed, f"{changed} hosts lose their login") in text.splitlines()[1]
    assert text.rstrip().endswith("</sub>")


def test_what_has_no_room_is_counted(tmp_path: Path) -> None:
    """Each of 400 routes asks for something else, which no row holds for all of them."""
    world = [GATEWAY, SERVICE, *map(route, range(400))]
    names = [f"login-of-an-application-with-a-long-name-{number:04}" for number in range(400)]
    broken = [policy("SecurityPolicy", name, f"kind: HTTPRoute, name: {name}", OIDC) for name in names]
    text = differing(tmp_path, world, [*world, *broken])
    assert len(text) < 60_000
    (left,) = re.findall(r"^- (\d+) more (?:error|warning|note) GWP\d+: `policylint diff ", text, re.MULTILINE)
    listed = len(re.findall(r"^- (?:error|warning|note) ", text, re.MULTILINE))
    assert int(left) + listed == 400


def test_a_job_summary_has_no_marker(tmp_path: Path) -> None:
    assert comment(tmp_path, 50, form="summary").startswith("### \u26a0\ufe0f policylint: 50 hosts lose their login\n")


def test_a_lost_protection_comes_before_all_that_merely_changes(tmp_path: Path) -> None:
    login = policy("SecurityPolicy", "last", "kind: HTTPRoute, name: route-0099", "basicAuth: {users: {name: x}}")
    world = [GATEWAY, SERVICE, login, *map(route, range(100))]
    retries = [
        policy("BackendTrafficPolicy", f"own-{number}", f"kind: HTTPRoute, name: route-{number:04}",
               f"retry: {{numRetries: {number}}}")
        for number in range(99)
    ]  # fmt: skip
    for side, documents in (("before", world), ("after", [*world[:2], *world[3:], *retries])):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    given = ("--rendered-before", "before", "--rendered-after", "after")
    text = run(tmp_path, "diff", *given, "-o", "markdown")[1]
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert rows[0] == "| **r99.example.com** | login: basicAuth (shop/last) | **no&nbsp;login** |"
    assert rows[1].startswith("| **99 routes**: `shop/route-0000`, ")
    shown = run(tmp_path, "diff", *given)[1]
    assert shown.index("route-0099") < shown.index("route-0000")


def differing(tmp_path: Path, before: list[str], after: list[str]) -> str:
    """The comment on a change from some documents to others."""
    for side, documents in (("before", before), ("after", after)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    return run(tmp_path, "diff", "--rendered-before", "before", "--rendered-after", "after", "-o", "markdown")[1]


OIDC = "oidc: {clientID: shop, provider: {issuer: https://id.example.com}, clientSecret: {name: oidc}}"


def test_routes_that_lose_one_thing_for_one_reason_are_one_row_whatever_else_changes_for_them(tmp_path: Path) -> None:
    login = policy("SecurityPolicy", "login", EDGE, OIDC, namespace="infra")
    world = [GATEWAY, SERVICE, *map(route, range(7))]
    retries = [
        policy("BackendTrafficPolicy", f"own-{number}", f"kind: HTTPRoute, name: route-{number:04}",
               f"retry: {{numRetries: {number}}}")
        for number in range(3)
    ]  # fmt: skip
    text = differing(tmp_path, [*world, login], [*world, *retries])
    assert text.splitlines()[1] == "### \u26a0\ufe0f policylint: 7 hosts lose their login"
    (row,) = [line for line in text.splitlines() if line.startswith("| **7 hosts**: r0.example.com, ")]
    assert row.endswith("and 4 more | login: oidc (infra/login) | **no&nbsp;login** |")
    assert "**Why** `infra/login` is deleted (error GWP302)" in text
    others = text.partition("<details><summary>1 other change</summary>")[2].partition("</details>")[0]
    assert "oidc" not in others
    assert "| **3 routes**: " in others


def test_own_policies_of_each_that_go_are_one_row(tmp_path: Path) -> None:
    world = [GATEWAY, SERVICE, *map(route, range(2))]
    logins = [
        policy("SecurityPolicy", f"own-{number}", f"kind: HTTPRoute, name: route-{number:04}",
               OIDC.replace("clientID: shop", f"clientID: shop-{number}"))
        for number in range(2)
    ]  # fmt: skip
    text = differing(tmp_path, [*world, *logins], world)
    assert "| **2 hosts**: r0.example.com, r1.example.com | login: oidc | **no&nbsp;login** |" in text
    assert "**Why** `shop/own-0` is deleted (and 1 more like it) (2 x error GWP302)" in text


def test_what_one_policy_gave_goes_in_one_row(tmp_path: Path) -> None:
    both = policy("SecurityPolicy", "login", EDGE, f"{OIDC}\n  basicAuth: {{users: {{name: x}}}}", namespace="infra")
    world = [GATEWAY, SERVICE, route(0)]
    text = differing(tmp_path, [*world, both], world)
    assert "\n| **r0.example.com** | login: oidc and basicAuth (infra/login) | **no&nbsp;login** |" in text
    assert text.splitlines()[1] == "### \u26a0\ufe0f policylint: `r0.example.com` loses its login"


def test_a_value_that_stays_is_no_row(tmp_path: Path) -> None:
    world = [GATEWAY, SERVICE, route(0)]
    cors = 'cors: {allowOrigins: ["https://www.example.com"]}'
    above = policy("SecurityPolicy", "above", EDGE, cors, namespace="infra")
    own = policy("SecurityPolicy", "own", "kind: HTTPRoute, name: route-0000", f"{cors}\n  {OIDC}")
    text = differing(tmp_path, [*world, above], [*world, above, own])
    assert "login: oidc (shop/own)" in text
    assert "`cors`" not in tables(text)[0]


@pytest.mark.parametrize(
    ("was", "now", "shown"),
    [
        ("[a, b, c]", "[a, c]", "`cors`: allowOrigins - b"),
        ("[a, b]", "[b, c, d]", "`cors`: allowOrigins + c, + d, - a"),
        ("[a, b]", "[b, a]", "`cors`: allowOrigins in another order"),
        ("[a, a]", "[a]", "`cors`: allowOrigins 2 -&gt; 1 entries"),
    ],
    ids=["removed", "exchanged", "order", "doubles"],
)
def test_lists_are_entries_that_come_and_go(tmp_path: Path, was: str, now: str, shown: str) -> None:
    world = [GATEWAY, SERVICE, route(0)]
    sides = [policy("SecurityPolicy", "own", "kind: HTTPRoute, name: route-0000", f"cors: {{allowOrigins: {value}}}")
             for value in (was, now)]  # fmt: skip
    text = differing(tmp_path, [*world, sides[0]], [*world, sides[1]])
    assert f"| {shown} |" in text


def test_a_protection_that_asks_for_less_stands_first(tmp_path: Path) -> None:
    world = [GATEWAY, SERVICE, route(0)]
    sides = [policy("SecurityPolicy", "own", "kind: HTTPRoute, name: route-0000",
                    f"jwt: {{optional: {value}, providers: [{{name: staff, remoteJWKS: {{uri: https://id.example.com}}}}]}}")
             for value in ("false", "true")]  # fmt: skip
    retry = policy("BackendTrafficPolicy", "own", "kind: HTTPRoute, name: route-0000", "retry: {numRetries: 2}")
    text = differing(tmp_path, [*world, sides[0]], [*world, sides[1], retry])
    assert text.splitlines()[1] == "### \u26a0\ufe0f policylint: the login of `r0.example.com` is no longer required"
    row = "| **r0.example.com** | login: jwt (shop/own) | login: jwt (shop/own), optional |"
    assert text.index(row) < text.index("`retry`")


def test_ids_stand_for_what_was_compared(history: History) -> None:
    """`HEAD^1..HEAD` in a comment would mean something else to whoever reads it."""
    directory, ids = history
    MAKE.git(directory, "checkout", "-q", ids[1])
    try:
        text = run(directory, "diff", "HEAD^1..HEAD", "apps", "infra", "clusters", "-o", "markdown")[1]
    finally:
        MAKE.git(directory, "checkout", "-q", "main")
    assert f"reproduce: `policylint diff {ids[0][:7]}..{ids[1][:7]} apps infra clusters`" in text


PARSE = """
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("");
Object.assign(globalThis, { window, document: window.document });
(async () => {
  const { default: mermaid } = await import(require("url").pathToFileURL(require.resolve("mermaid")));
  const diagrams = JSON.parse(require("fs").readFileSync(0, "utf8"));
  for (const each of diagrams) console.log((await mermaid.parse(each)).diagramType);
})().catch((error) => { console.error(error.message); process.exit(1); });
"""


def test_the_real_mermaid_reads_every_diagram(history: History, tmp_path: Path) -> None:
    """With mermaid and jsdom from npm: `.ci/run` installs them where npm is."""
    node = shutil.which("node")
    places = [os.environ.get("POLICYLINT_NODE_MODULES", ""), str(ROOT / "node_modules")]
    modules = next((each for each in places if each and (Path(each) / "mermaid" / "package.json").is_file()), None)
    if node is None or modules is None or not (Path(modules) / "jsdom").is_dir():
        pytest.skip("no mermaid and jsdom: `npm install --no-save mermaid jsdom`, or name their node_modules in "
                    "POLICYLINT_NODE_MODULES")  # fmt: skip
    directory, ids = history
    texts = [run(directory, "diff", f"{one}..{other}", "-o", "markdown")[1] for one, other in pairwise(ids)]
    evil = policy("SecurityPolicy", "own-9999", "kind: HTTPRoute, name: route-0399", 'cors: {"a\\"]) --> end": [x]}')
    texts.append(comment(tmp_path, 50, evil))
    hostile = Worlds(tmp_path / "hostile")
    texts += [hostile.said(COMMANDS["diff markdown"], text)[1] for text in TEXTS.values()]
    drawn = [hostile.said(COMMANDS["graph mermaid"], text)[1] for text in TEXTS.values()]
    diagrams = drawn + [each for text in texts for each in re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)]
    assert len(diagrams) > 10
    script = tmp_path / "parse.cjs"
    script.write_text(PARSE)
    done = subprocess.run(
        [node, str(script)], input=json.dumps(diagrams), env={"PATH": os.environ["PATH"], "NODE_PATH": modules},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["flowchart-v2"] * len(diagrams)


def test_a_limit_that_goes_with_what_turned_requests_away_has_a_row_of_its_own(tmp_path: Path) -> None:
    world = [GATEWAY, SERVICE, route(0)]
    own = """\
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: own, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route-0000}]
  rbac: {action: Deny, policy: {matchExpressions: ["true"]}}
  rateLimit: {local: {tokenBucket: {maxTokens: 5, tokensPerFill: 5, fillInterval: 1s}}}
"""
    text = differing(tmp_path, [*world, own], world)
    assert "| **r0.example.com** | 403: denied by TrafficPolicy shop/own | infra/edge · **no&nbsp;login** |" in text
    assert "| **no&nbsp;`rateLimit`**<br><sub>warning GWP304 · `shop/own` is deleted</sub> |" in text
    assert "**Why** `shop/own` is deleted (error GWP302)" in text


TWO_GATEWAYS = [
    worlds.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller"),
    worlds.gateway("inside"), worlds.gateway("outside"), worlds.service("cart"),
    policy("SecurityPolicy", "login", "kind: HTTPRoute, name: cart", OIDC),
]  # fmt: skip


def on(gateway: str) -> str:
    rules = "hostnames: [cart.example.com], rules: [{backendRefs: [{name: cart, port: 80}]}]"
    return worlds.route("cart", parents=f"[{{name: {gateway}, namespace: infra}}]", more=rules)


def test_a_route_that_moves_between_gateways_moves(tmp_path: Path) -> None:
    """It is one row, with the Gateway of each side; not "404" before, and no second sentence on what opens."""
    text = differing(tmp_path, [*TWO_GATEWAYS, on("inside")], [*TWO_GATEWAYS, on("outside")])
    assert "policylint: `cart.example.com` moves from infra/inside to infra/outside" in text
    assert "| **cart.example.com** | inside · login: oidc (shop/login) | outside · login: oidc (shop/login) |" in text
    assert "404" not in text.partition("<details>")[0] and "**New**" not in text
