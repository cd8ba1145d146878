"""`python -m policylint`, better `python -I -m policylint`.

Without `-I` Python puts the working directory before everything else on the path on which it looks for modules, and the
working directory is what is judged. It is taken off before anything else is imported.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is not imported

if not sys.flags.safe_path and sys.path and sys.path[0] != _HERE:
    del sys.path[0]

from policylint.cli import program  # noqa: E402 - not before

if __name__ == "__main__":
    program()
