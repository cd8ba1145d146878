"""Services by their hosts: those that are found by name are those that all would be held against."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from policylint.model import hosts
from policylint.model.hosts import names_service, services_named
from policylint.workspace import open_workspace
from tests.worlds import manifest

_SUFFIXES = ("", ".svc", ".svc.cluster.local", ".svc.example", ".example.com")
_PLACES = ("shop", "svc", "cart")
_HOSTS = [
    *("", "*", "*.local", "*.shop.svc.cluster.local", "web", "cart", "nobody", ".shop", "web.", "web.svc.svc"),
    *(f"{name}.{place}{suffix}" for name, place, suffix in product(("web", "cart", "nobody"), _PLACES, _SUFFIXES)),
]


def service(name: str, namespace: str) -> str:
    return manifest("v1", "Service", name, namespace, "spec: {ports: [{port: 80}]}")


def test_a_host_names_the_services_that_it_is_said_to_name(tmp_path: Path) -> None:
    listed = [service(name, place) for name, place in product(("web", "cart"), _PLACES)]
    (tmp_path / "world.yaml").write_text("---\n".join(listed))
    world = open_workspace([str(tmp_path)]).simulations[0].world
    services = world.of_kind("", "Service")
    assert len(services) == len(listed)
    for host, home in product(_HOSTS, (*_PLACES, "elsewhere")):
        said = [each.key for each in services if names_service(host, home, each.key)]
        assert [each.key for each in services_named(world, host, home)] == said, (host, home)


def of_istio(number: int) -> str:
    rule = manifest("networking.istio.io/v1", "DestinationRule", f"rule-{number}", "shop", f"spec: {{host: s{number}}}")
    to = f"http: [{{route: [{{destination: {{host: s{number}}}}}], mirror: {{host: s{number}.shop}}}}]"
    routes = manifest("networking.istio.io/v1", "VirtualService", f"v-{number}", "shop", f"spec: {{hosts: [a], {to}}}")
    return "---\n".join([service(f"s{number}", "shop"), rule, routes])


def test_hosts_are_not_held_against_every_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from policylint.cli import main

    asked: list[str] = []

    def counted(host: str, home: str, key: object) -> bool:
        asked.append(host)
        return names_service(host, home, key)  # type: ignore[arg-type]

    monkeypatch.setattr(hosts, "names_service", counted)
    monkeypatch.setattr("policylint.implementations.istio.subsets.names_service", counted)
    (tmp_path / "world.yaml").write_text("---\n".join(map(of_istio, range(30))))
    assert CliRunner().invoke(main, ["lint", str(tmp_path)]).exit_code == 0
    assert len(asked) <= 30
