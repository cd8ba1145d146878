"""Writers of a diff, one module per format."""

from __future__ import annotations
