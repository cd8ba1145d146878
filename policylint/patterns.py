"""Regular expressions of our own, each compiled when it is first used: a lint uses a fifth of those that it imports.

Where every run uses one, `re.compile` says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Pattern = re.compile
else:

    class Pattern:
        """An `re.Pattern`; what it is asked for once, it has from then on."""

        def __init__(self, *source: Any) -> None:
            self._source = source

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(*self._source), name)
            setattr(self, name, value)
            return value
