"""Routes of a client's own namespace to a Service (GEP-1426) that come and go: its clients are asked on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from tests.compare.test_weakening import sides
from tests.reach.test_hidden_clients import WORLD
from tests.worlds import manifest

GATEWAY_API, SERVICE = "gateway.networking.k8s.io", '{group: "", kind: Service, name: ledger, namespace: bank}'
LEDGER = "backendRefs: [{name: ledger, namespace: bank, port: 80}]"
FROM = f"{{group: {GATEWAY_API}, kind: HTTPRoute, namespace: front}}"
GRANT = manifest(
    *(f"{GATEWAY_API}/v1beta1", "ReferenceGrant", "front", "bank"),
    f"spec: {{from: [{FROM}], to: [{{group: '', kind: Service}}]}}",
)


def own(kind: str, rules: str, name: str = "own", version: str = "v1") -> str:
    return manifest(
        *(f"{GATEWAY_API}/{version}", kind, name, "front"), f"spec: {{parentRefs: [{SERVICE}], rules: [{{{rules}}}]}}"
    )


PUBLIC = f"matches: [{{path: {{value: /public}}}}], {LEDGER}"
ROUTES = {
    "HTTPRoute": own("HTTPRoute", PUBLIC),
    "GRPCRoute": own("GRPCRoute", f"matches: [{{method: {{service: a.B}}}}], {LEDGER}"),
    "TCPRoute": own("TCPRoute", LEDGER, version="v1alpha2"),
}
BEFORE = (*WORLD, GRANT)


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("comes", [False, True], ids=["goes", "comes"])
def test_the_only_route_of_a_namespace(tmp_path: Path, route: str, *, comes: bool) -> None:
    """No client has routes of its own on the side without it; a change from one namespace to another has both."""
    lists = (BEFORE, (*BEFORE, route))
    pair = sides(tmp_path, *(lists if comes else lists[::-1]))
    (found,) = compare([pair])
    assert found.requests is not None and not found.requests.unknown


def test_what_the_clients_of_the_namespace_get(tmp_path: Path) -> None:
    pair = sides(tmp_path, (*BEFORE, ROUTES["HTTPRoute"]), BEFORE)
    (found,) = compare([pair])
    assert found.requests is not None
    told = [(each.change, each.example.client) for each in found.requests.changes]
    assert [change for change, _ in told] == ["opened", "changed"]
    assert all(client.startswith("ServiceAccount/front/") for _, client in told)
