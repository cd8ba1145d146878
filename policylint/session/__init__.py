"""The application without a command line: open a tree, lint it, compare two, ask about an object or a request.

Options arrive as one frozen value (`RunOptions`); with the configuration they make another one (`Setup`), which is
handed on. Nothing here knows of click, of terminals, or of a current context.
"""

from __future__ import annotations
