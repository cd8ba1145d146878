"""Render published charts with helm, and record which kinds they make: with their defaults, and of each value.

python bench/charts.py DIRECTORY [NAME …] > tests/render/charts_rendered.yaml   (DIRECTORY/NAME is a chart)

Held against schemas/charts.yaml by tests/render/test_published.py. A value is tried where its key has to do with
requests, in the forms that charts take; what a chart refuses to render is left out, with a line on stderr.
"""

from __future__ import annotations

import argparse
import copy
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_KEYS = re.compile(
    r"route|gateway|ingress|networkpolic|netpol|listenerset|tlspolicy|virtualservice|istio|grant|middleware|expose",
    re.I,
)
_APIS = (
    "gateway.networking.k8s.io/v1", "monitoring.coreos.com/v1", "cert-manager.io/v1", "cilium.io/v2",
    "traefik.io/v1alpha1", "networking.k8s.io/v1/Ingress", "security.istio.io/v1",
)  # fmt: skip
_PARENTS: dict[str, Any] = {"parentRefs": [{"name": "edge"}], "hostnames": ["a.example.com"]}
_FORMS: tuple[dict[str, Any], ...] = (
    {"enabled": True, "create": True, **_PARENTS},
    {"enabled": True, "create": True, "hosts": ["a.example.com"], "hostname": "a.example.com", **_PARENTS},
    {"enabled": True, "hosts": [{"host": "a.example.com", "paths": [{"path": "/", "pathType": "Prefix"}]}]},
    {"main": {"enabled": True, **_PARENTS}},
    {"host": {"name": "a.example.com", "path": "/"}, **_PARENTS},
)
_MOST = 36
"""Values of one chart that are tried."""


def made(chart: Path, values: dict[str, Any]) -> frozenset[str] | None:
    """Return the kinds (`Kind.group`) that a chart makes, None where helm renders nothing."""
    command = ["helm", "template", "released", str(chart), "--kube-version", "1.35.0", "--skip-schema-validation"]
    command += [word for api in _APIS for word in ("-a", api)] + ["-f", "-"]
    done = subprocess.run(
        command, input=yaml.safe_dump(values), capture_output=True, text=True, timeout=90, check=False
    )
    if done.returncode:
        return None
    kinds = set()
    for document in re.split(r"^---\s*$", done.stdout, flags=re.MULTILINE):
        kind = re.search(r"^kind:\s*[\"']?(\w+)", document, re.MULTILINE)
        group = re.search(r"^apiVersion:\s*[\"']?([\w.-]+)/", document, re.MULTILINE)
        if kind and group and (not group[1].endswith(".k8s.io") or "networking" in group[1]) and "." in group[1]:
            kinds.add(f"{kind[1]}.{group[1]}")
    return frozenset(kinds)


def paths(values: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the values of a chart that have to do with requests, to judge by their keys."""
    for key, value in values.items() if isinstance(values, dict) else ():
        if _KEYS.search(str(key)) and not isinstance(value, (str, int)):
            yield (*before, str(key))
        if isinstance(value, dict) and not (_KEYS.search(str(key)) and "enabled" in value):
            yield from paths(value, (*before, str(key)))


def switched_on(values: dict[str, Any], path: tuple[str, ...], form: dict[str, Any]) -> dict[str, Any]:
    """Return the values that switch one on, and what it is in."""
    place = result = copy.deepcopy(values)
    for step in path[:-1]:
        place = place.setdefault(step, {})
        if place.get("enabled") is False:
            place["enabled"] = True
    place[path[-1]] = form
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    for name in asked.names or sorted(each.name for each in asked.directory.iterdir()):
        chart = asked.directory / name
        values = yaml.safe_load((chart / "values.yaml").read_text()) or {}
        defaults = made(chart, {})
        if defaults is None:
            print(f"{name}: not rendered", file=sys.stderr)
            continue
        found = {"defaults": sorted(defaults)}
        for path in list(paths(values))[:_MOST]:
            more = (made(chart, switched_on(values, path, form)) for form in _FORMS)
            kinds = frozenset().union(*(each - defaults for each in more if each))
            if kinds:
                found[".".join(path)] = sorted(kinds)
        print(yaml.safe_dump({name: found}, sort_keys=False, width=118), end="")


if __name__ == "__main__":
    main()
