"""Global rate limits where the configuration of Envoy Gateway has no service that counts them.

Expected from internal/gatewayapi/backendtrafficpolicy.go, buildGlobalRateLimit, before the first run.
"""

from __future__ import annotations

import pytest

from policylint.checks import run as check_all
from policylint.trace import Tracer, request
from tests import worlds
from tests.implementations.test_envoy_gateway_content import GATEWAY, limit, policy

RULES = f"rules: [{limit('Minute')}]"
GLOBAL = policy("BackendTrafficPolicy", f"rateLimit: {{type: Global, global: {{{RULES}}}}}")
BOTH = policy("BackendTrafficPolicy", f"rateLimit: {{global: {{{RULES}}}, local: {{{RULES}}}}}")
LOCAL = policy("BackendTrafficPolicy", f"rateLimit: {{type: Local, local: {{{RULES}}}}}")
REDIS = "backend: {type: Redis, redis: {url: 'redis.redis:6379'}}"


def config(more: str = "", name: str = "envoy-gateway-config") -> str:
    lines = ("apiVersion: gateway.envoyproxy.io/v1alpha1", "kind: EnvoyGateway", "provider: {type: Kubernetes}", more)
    body = "\n".join(f"    {line}" for line in lines if line)
    return worlds.manifest("v1", "ConfigMap", name, "envoy-gateway-system", f"data:\n  envoy-gateway.yaml: |\n{body}")


def release(values: str, more: str = "") -> str:
    chart = "chart: {spec: {chart: gateway-helm, version: v1.6.0, sourceRef: {kind: HelmRepository, name: eg}}}"
    spec = f"spec: {{interval: 1h, {chart}, values: {values}{more}}}"
    return worlds.manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "eg", "envoy-gateway-system", spec)


def told(*objects: str) -> tuple[str, str]:
    """Return how requests end, and why the policy is refused."""
    simulation = worlds.simulated(GATEWAY, *objects)
    outcome = Tracer(simulation).trace(request({"host": "shop.example", "path": "/"})).outcome
    return str(outcome.status or ""), next((each.message for each in check_all(simulation, select={"GWP111"})), "")


@pytest.mark.parametrize("limits", [GLOBAL, BOTH])
@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ((config(),), "envoy-gateway-config has none"),
        ((config(f"ratelimit: {{{REDIS}}}"),), "envoy-gateway-config has `ratelimit`, which is another name"),
        ((release("{}"),), "the values of HelmRelease envoy-gateway-system/eg have none"),
        ((release("{config: {envoyGateway: {logging: {level: {default: info}}}}}"),), "have none"),
    ],
)
def test_nothing_counts(limits: str, seen: tuple[str, ...], why: str) -> None:
    status, message = told(limits, *seen)
    assert status == "500"
    assert message.endswith(why)


@pytest.mark.parametrize(
    "seen",
    [
        (),
        (config(f"rateLimit: {{{REDIS}}}"),),
        (release(f"{{config: {{envoyGateway: {{rateLimit: {{{REDIS}}}}}}}}}"),),
        # one of several has it; what is not seen may have it
        (config(), config(f"rateLimit: {{{REDIS}}}", "other")),
        (config(), release(f"{{config: {{envoyGateway: {{rateLimit: {{{REDIS}}}}}}}}}")),
        (release("{}", ", valuesFrom: [{kind: ConfigMap, name: further}]"),),
        (config("logging: {level: {default: '${LEVEL}'}}"),),
    ],
)
@pytest.mark.parametrize("limits", [GLOBAL, BOTH])
def test_something_counts_or_may(limits: str, seen: tuple[str, ...]) -> None:
    assert told(limits, *seen) == ("", "")


def test_local_limits_need_none() -> None:
    assert told(LOCAL, config()) == ("", "")
