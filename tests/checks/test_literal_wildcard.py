"""GWP524: a `*` that stands for itself, but where another text of the list takes what it was meant to match."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

POLICY = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: own, namespace: shop}
spec:
  action: %s
  rules: [{to: [{operation: {%s}}]}]
"""


@pytest.mark.parametrize(
    ("action", "operation", "told"),
    [
        ("ALLOW", 'paths: ["/api/*/keys"]', ["spec.rules[0].to[0].operation.paths[0]"]),
        ("ALLOW", 'paths: ["/api/*", "/api/*/keys", "/api/*/*", "/api/**"]', []),
        ("ALLOW", 'paths: ["/a*/keys", "/api/*"]', ["spec.rules[0].to[0].operation.paths[0]"]),  # /api/* takes less
        ("ALLOW", 'paths: ["/api/*/keys", "/api/keys*"]', ["spec.rules[0].to[0].operation.paths[0]"]),
        ("ALLOW", 'paths: ["/api/*/keys", "*/keys"]', []),
        ("ALLOW", 'paths: ["/api/*/keys", "*"]', []),
        (
            "ALLOW",
            'paths: ["/api/*/keys", "/api/*/keys"]',
            [f"spec.rules[0].to[0].operation.paths[{n}]" for n in (0, 1)],
        ),
        ("DENY", 'notPaths: ["/api/*", "/api/*/keys"]', []),
        ("DENY", 'hosts: ["a.*.example.com", "*.example.com"]', []),
        ("DENY", 'hosts: ["a.*.example.com", "a.*"]', []),
        ("DENY", 'hosts: ["a.*.example.com", "*.example.org"]', ["spec.rules[0].to[0].operation.hosts[0]"]),
    ],
)
def test_texts_with_a_star_in_the_middle(tmp_path: Path, action: str, operation: str, told: list[str]) -> None:
    (tmp_path / "all.yaml").write_text(POLICY % (action, operation))
    assert [each.field for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP524"] == told
