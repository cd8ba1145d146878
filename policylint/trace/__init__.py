"""Trace what happens to a request: `Tracer(simulation).trace(request)`.

No kind of policy is known by name but BackendTLSPolicy, which decides whether a backend can be reached at all.
"""

from __future__ import annotations

from policylint.trace.request import Request, RequestError, from_url, request
from policylint.trace.requirements import PURPOSES, Asked, Asker, Requirements, login_in_words
from policylint.trace.result import Considered, Forwarded, Met, Nearest, Outcome, Share, Trace
from policylint.trace.tracing import Tracer

__all__ = [
    "PURPOSES",
    "Asked",
    "Asker",
    "Considered",
    "Forwarded",
    "Met",
    "Nearest",
    "Outcome",
    "Request",
    "RequestError",
    "Requirements",
    "Share",
    "Trace",
    "Tracer",
    "from_url",
    "login_in_words",
    "request",
]
