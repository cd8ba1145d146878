"""Helm charts: rendered by helm where it may run, else by what is known of the chart and its values."""

from __future__ import annotations
