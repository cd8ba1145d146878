"""CRD schemas as the API server applies them."""

from __future__ import annotations

from policylint.schema.checker import Checker
from policylint.schema.structural import converted


def test_junctions_judge_what_defaults_have_filled_in() -> None:
    """Kubernetes, «Custom Resources: Defaulting»: defaults are applied before validation."""
    by_type = [
        {"properties": {"type": {"enum": ["IPAddress"]}, "value": {"pattern": "^[0-9.]+$"}}},
        {"properties": {"type": {"not": {"enum": ["IPAddress"]}}}},
    ]
    node = {
        "type": "object",
        "properties": {"type": {"type": "string", "default": "IPAddress"}, "value": {"type": "string"}},
        "oneOf": by_type,
    }
    checker = Checker(converted(node))
    assert checker.is_valid({"value": "192.0.2.1"})
    assert not checker.is_valid({"value": "a.example.com"})
    assert checker.is_valid({"type": "Hostname", "value": "a.example.com"})
    assert Checker(converted({**node, "oneOf": [{"required": ["type"]}]})).is_valid({"value": "x"})
