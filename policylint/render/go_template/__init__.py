"""Go's text/template with the functions of sprig: read to trees, run in bounded steps, with three outcomes."""

from __future__ import annotations
