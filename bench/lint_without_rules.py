"""The process that shows what rules in CEL cost: `policylint lint`, with the schemas as they are but no rule in them.

usage: python bench/lint_without_rules.py PATH...
"""

from __future__ import annotations

import sys

from policylint.cli import main
from policylint.schema import known

if __name__ == "__main__":
    vars(known)["rules_of"] = lambda schema, fuel: []  # noqa: ARG005
    sys.argv[1:1] = ["lint"]
    main()
