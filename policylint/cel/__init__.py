"""Expressions of the Common Expression Language: read to a tree, and judged by it with three answers."""

from __future__ import annotations
