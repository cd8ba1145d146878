"""Shapes of objects: what is linked to what, and how many findings come of it."""

from __future__ import annotations

from pathlib import Path

from shapes._written import gateway, made, route, service, target, write

ENVOY = "gateway.envoyproxy.io/v1alpha1"
CORS = {"cors": {"allowOrigins": ["https://shop.example.com"]}}


def missing_targets(root: Path, size: int) -> list[str]:
    """Policies whose target is one letter away from a route that has the name of another."""
    write(root / "routes.yaml", [*gateway(), service(), *(route(f"checkout-{number}") for number in range(size))])
    write(
        root / "policies.yaml",
        (
            made(ENVOY, "SecurityPolicy", f"cors-{number}", spec={"targetRefs": [target(f"chekout-{number}")], **CORS})
            for number in range(size)
        ),
    )
    return ["lint", str(root)]


SHAPES = (missing_targets,)
