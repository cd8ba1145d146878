"""The server for AI assistants (`policylint mcp`): each tool is a command, and its JSON the answer.

Only `server` imports mcp, which comes with `policylint[mcp]`.
"""

from __future__ import annotations
