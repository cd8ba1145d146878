"""Write the bill of materials of a lock: CycloneDX 1.6 as JSON, the same bytes for the same lock.

usage: python .ci/sbom.py requirements.lock

Each package has its version, its purl and the hashes of all files that pip may take for it. Licences are in
docs/dependencies.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parents[1]
PINNED = re.compile(r"(?m)^(?P<name>[a-z0-9-]+)==(?P<version>[^ ;\\]+)(?P<hashes>(?:.*\\\n)*.*)$")


def components(lock: str) -> list[dict[str, Any]]:
    """Return an entry for each package that a lock pins."""
    return [
        {
            "type": "library",
            "bom-ref": purl,
            "name": pin["name"],
            "version": pin["version"],
            "purl": purl,
            "hashes": [
                {"alg": "SHA-256", "content": digest} for digest in re.findall(r"sha256:(\w{64})", pin["hashes"])
            ],
        }
        for pin in PINNED.finditer(lock)
        if (purl := f"pkg:pypi/{pin['name']}@{pin['version']}")
    ]


def bill(lock: str, version: str) -> dict[str, Any]:
    """Return the document; its serial number follows from what it says."""
    purl = f"pkg:pypi/policylint@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{purl} {lock}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": "policylint",
                "version": version,
                "purl": purl,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components(lock),
    }


def main() -> None:
    """Print it."""
    lock = Path(sys.argv[1]).read_text(encoding="utf-8")
    (version,) = re.findall(r'(?m)^__version__ = "(.*)"$', (ROOT / "policylint" / "__init__.py").read_text("utf-8"))
    print(json.dumps(bill(lock, version), indent=2))


if __name__ == "__main__":
    main()
