"""`comment --from-json`: a job that trusts nobody's Markdown writes its own of what an untrusted job found."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from policylint.report.diff import stored
from tests.diff.history import commit, run, steady
from tests.diff.test_history import History
from tests.hostile.test_output import of_markdown
from tests.hostile.world import TEXTS, changed, laid, written

SHOP = Path(__file__).parents[2] / "fixtures" / "network-shop"
LINKS = ("--links", "https://example.net/x")


def rendered(place: Path, document: Any, *arguments: str) -> tuple[int, str, str]:
    """What the command makes of a document, exit code, stdout and stderr."""
    text = document if isinstance(document, str) else json.dumps(document)
    (place / "diff.json").write_text(text, encoding="utf-8")
    return run(place, "comment", "--dry-run", "--on", "github", "--from-json", "diff.json", *LINKS, *arguments)


def bare(text: str) -> str:
    """A comment without what JSON does not keep: seconds, and whose rules apply."""
    return re.sub(r" · (?:rules of [\w, -]+|0\.0 s)(?= · )", "", steady(text))


def test_it_is_the_same_comment(history: History, tmp_path: Path) -> None:
    directory, ids = history
    for one, other in pairwise(ids):
        direct = run(directory, "diff", f"{one}..{other}", "-o", "markdown", *LINKS)[1]
        document = run(directory, "diff", f"{one}..{other}", "-o", "json-v1")[1]
        assert rendered(tmp_path, document) == (0, bare(direct), "")


def test_it_keeps_connections(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    commit(repository, {file.name: file.read_text(encoding="utf-8") for file in SHOP.iterdir()})
    commit(repository, {"policies.yaml": None})
    direct = run(repository, "diff", "HEAD~1..HEAD", "-o", "markdown", *LINKS)[1]
    assert "connections open and 1 connection changes" in direct
    document = run(repository, "diff", "HEAD~1..HEAD", "-o", "json-v1")[1]
    assert rendered(tmp_path, document) == (0, bare(direct), "")


@pytest.mark.parametrize("name", TEXTS)
def test_what_it_says_stays_text(tmp_path: Path, name: str) -> None:
    laid(tmp_path / "before", written(TEXTS[name]))
    laid(tmp_path / "after", changed(TEXTS[name]))
    sides = ("--rendered-before", "before", "--rendered-after", "after", "--show-unknown", "-o", "json")
    document = json.loads(run(tmp_path, "diff", *sides)[1])
    text = TEXTS[name].encode("utf-8", "replace").decode()
    document["command"] = document["compared"] = f"policylint diff {text}"
    for finding in document["findings"]:
        finding["location"]["file"] = f"../../../evil/{text}"
        finding["help"] = [f"fix: {text}", f"note: {text}"]
    code, out, err = rendered(tmp_path, document)
    assert (code, err) == (0, "")
    assert "](https://example.net/x/.." not in out
    of_markdown(out)


@pytest.fixture
def document(history: History) -> Any:
    directory, ids = history
    return json.loads(run(directory, "diff", f"{ids[0]}..{ids[1]}", "-o", "json-v1")[1])


@pytest.mark.parametrize(
    "drawn",
    [
        'flowchart LR\n  click n1 href "https://evil.example"',
        'flowchart LR\n  n1["a"]\n```\n<b>',
        'flowchart LR\n  n1["[a](https://evil.example)"]',
        "all is well",
    ],
)
def test_a_diagram_is_nodes_and_arrows_and_nothing_else(document: Any, tmp_path: Path, drawn: str) -> None:
    assert document["diagrams"][0]["mermaid"].startswith('flowchart LR\n  n1["Gateway ')
    document["diagrams"] = [{"environment": document["environments"][0], "mermaid": drawn}]
    code, out, err = rendered(tmp_path, document)
    assert (code, out) == (2, "")
    assert "wants it, at /diagrams/0/mermaid" in err


def test_a_key_cannot_leave_its_marker(document: Any, tmp_path: Path) -> None:
    first = rendered(tmp_path, document, "--key", "x --> <b>")[1].splitlines()[0]
    assert first.startswith("<!-- policylint:v1 key=x") and first.count("-->") == 1 and first.endswith("-->")


def test_what_is_no_diff_is_refused_in_a_sentence(
    document: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: Any = []
    for _ in range(stored.MOST_DEPTH + 1):
        deep = [deep]
    settings = document["routes"][0]["settings"][0]
    for broken, why in (
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"version": NaN}', "NaN is no number"),
        ("### policylint: all is well", "not JSON"),
        ([], "wants it, at /"),
        ({**document, "html": "<b>"}, "wants it, at /"),
        ({**document, "summary": {**document["summary"], "fixed": "many"}}, "at /summary/fixed"),
        ({**document, "routes": [{**document["routes"][0], "settings": [{**settings, "before": deep}]}]}, "too deep"),
    ):  # fmt: skip
        code, out, err = rendered(tmp_path, broken)
        assert (code, out) == (2, "")
        assert err.startswith("policylint: 'diff.json' is not a diff written by policylint: ") and why in err
    monkeypatch.setattr(stored, "MOST_BYTES", 1_000)
    assert "more than 1,000 bytes" in rendered(tmp_path, document)[2]


def test_it_reads_nothing_else(document: Any, tmp_path: Path) -> None:
    assert "the comment and nothing else" in rendered(tmp_path, document, "-o", "sarif")[2]
    assert "the comment and nothing else" in rendered(tmp_path, document, "--output", "summary=x.md")[2]
    assert "takes no revision" in rendered(tmp_path, document, "main..HEAD")[2]
    assert "cannot read 'gone.json'" in run(tmp_path, "comment", "--on", "gitlab", "--from-json", "gone.json")[2]
