"""What is deployed where: from documents to the objects of one environment."""

from __future__ import annotations
