"""Azure Application Gateway for Containers: what its controller refuses.

Source: ALB Controller 1.7, apis/v1: «Override is currently not supported and results in a validation error».
"""

from __future__ import annotations

from policylint.implementations.generic import Implementation
from policylint.model import PolicyKind, Resource, World
from policylint.policy.declared import Reading
from policylint.policy.results import Declared


class AzureAgc(Implementation):
    """The kinds of alb.networking.azure.io, which follow their catalog entries but for `override`."""

    name = "azure-agc"

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse a policy with `override`."""
        if policy.spec.get("override") is not None:
            return Reading(
                code="OverrideNotSupported", reason="`override` is not supported", pointer=("spec", "override")
            )
        return super().validate(policy, kind, declared, world)
