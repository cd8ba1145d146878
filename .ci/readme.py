"""Take a marked command out of README.md: the fenced block after `<!-- NAME -->` or `<!-- NAME exit=0,1 -->`.

usage: python .ci/readme.py README.md NAME OUT

Writes the block to OUT as it stands there (a leading `$ ` of a console block is dropped) and prints the exit codes
it may end with, 0 unless the mark says otherwise.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def block(text: str, name: str) -> tuple[list[int], str]:
    """Return the allowed exit codes and the commands of the block with that mark.

    Raises:
        ValueError: there is no such mark with a fenced block after it, or there are several.
    """
    mark = rf"^<!-- {re.escape(name)}(?: exit=([0-9,]+))? -->\n+(`{{3,}})\w*\n(.*?)^\2$"
    found = re.findall(mark, text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"expected one fenced block after <!-- {name} -->, found {len(found)}")
    codes, _, commands = found[0]
    return [int(code) for code in (codes or "0").split(",")], re.sub(r"(?m)^\$ ", "", commands)


def main() -> None:
    """Write the commands, print the codes."""
    readme, name, out = sys.argv[1:]
    path = Path(readme)
    if not path.is_file():
        sys.exit(f"there is no {readme}")
    try:
        codes, commands = block(path.read_text(encoding="utf-8"), name)
    except ValueError as error:
        sys.exit(f"{readme}: {error}")
    Path(out).write_text(commands, encoding="utf-8")
    print(*codes)


if __name__ == "__main__":
    main()
