"""A value that no API server takes fills no page: every rule's message cuts it off, and no name or path that may be."""

from __future__ import annotations

from pathlib import Path

import policylint

DIGITS = Path(__file__).parents[1] / "hostile" / "corpus" / "digits.yaml"
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: shop, port: 80}]}]}
"""


def test_digits_that_fill_a_page_are_cut_off_in_every_rule() -> None:
    messages = {finding.rule: finding.message for finding in policylint.open(DIGITS).lint().known}
    assert {"GWP501", "GWP111"} <= messages.keys()
    assert all(len(message) < 1_000 for message in messages.values())


def test_what_a_name_may_be_is_said_whole(tmp_path: Path) -> None:
    name = "n" * 253
    (tmp_path / "route.yaml").write_text(ROUTE.replace("name: shop, port", f"name: {name}, port"), encoding="utf-8")
    assert any(name in finding.message for finding in policylint.open(tmp_path).lint().findings)
