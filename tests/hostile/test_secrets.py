"""No value of a Secret is in any output, whatever is wrong with the Secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.report.formats import FORMATS
from tests.diff.history import run

GATEWAY = """apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: any
  listeners:
  - {name: tls, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}
"""
METADATA = "metadata: {name: cert, namespace: infra}\n"
SECRETS = {
    "block": f"apiVersion: v1\nkind: Secret\n{METADATA}stringData:\n  tls.key: canary-1\n  tls.key: canary-2\n",
    "flow": f"apiVersion: v1\nkind: Secret\n{METADATA}data: {{tls.key: canary-1, tls.key: canary-2}}\n",
    "text": f"apiVersion: v1\nkind: Secret\n{METADATA}stringData:\n  a: |\n    canary-1\n  a: |\n    canary-2\n",
    "json": '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cert", "namespace": "infra"},\n'
    ' "data": {"tls.key": "canary-1",\n  "tls.key": "canary-2"}}\n',
    "unread": f"apiVersion: v1\nkind: Secret\n{METADATA}stringData:\n  tls.key: canary-1\n  bad: [canary-2\n",
    "list": f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  {METADATA}"
    "  data:\n    tls.key: canary-1\n    tls.key: canary-2\n",
}


@pytest.mark.parametrize("form", FORMATS["lint"])
@pytest.mark.parametrize("written", SECRETS)
def test_values_stay_where_they_are(tmp_path: Path, written: str, form: str) -> None:
    (tmp_path / "all.yaml").write_text(f"{GATEWAY}---\n{SECRETS[written]}")
    code, out, err = run(tmp_path, "lint", "--format", form, "--min-severity", "note", "--show-unknown", "--verbose")
    assert code in (0, 1) and "all.yaml" in out + err
    assert "canary-" not in out + err


def test_the_place_is_shown_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{GATEWAY}---\n{SECRETS['block']}")
    _, out, _ = run(tmp_path, "lint", "--format", "text")
    assert "14 |   tls.key: …\n   |   ^^^^^^^" in out
