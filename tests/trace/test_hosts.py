"""Hosts that hold variables."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from policylint.topology.hostnames import matches
from policylint.trace.hosts import may_be

PARTS = st.lists(st.sampled_from(["a", "b", ".", "ab", "${A}", "{{ .B }}", "<c>", "A"]), min_size=1, max_size=7).map(
    "".join
)
HOSTS = st.text("ab.x", min_size=1, max_size=10)


@given(st.sampled_from(["", "*."]), PARTS.filter(lambda text: "${" in text), HOSTS)
def test_variables_stand_for_at_least_one_character(prefix: str, pattern: str, host: str) -> None:
    parts = re.split(r"\$\{[^}]*\}|\{\{.*?\}\}|<[^>]*>", prefix[1:] + pattern)
    expression = (".+" if prefix else "") + ".+".join(map(re.escape, parts))
    expected = re.fullmatch(expression, host, re.IGNORECASE) is not None
    assert may_be(host, prefix + pattern) is (expected and not matches(host, prefix + pattern))
