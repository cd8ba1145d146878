"""`python -m policylint`."""

from __future__ import annotations

from policylint.cli import main

if __name__ == "__main__":
    main(prog_name="policylint")
