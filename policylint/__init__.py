"""policylint: an offline linter and simulator for Kubernetes policy attachment (GEP-713)."""

from __future__ import annotations

__version__ = "0.1.0"
