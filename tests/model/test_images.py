"""Images of containers: repository and tag, whoever asks which program runs."""

from __future__ import annotations

import pytest

from policylint.implementations.generic.containers import runs
from policylint.load.images import image_of


@pytest.mark.parametrize(
    ("image", "repository", "tag"),
    [
        ("traefik", "traefik", ""),
        ("traefik:v3.5", "traefik", "v3.5"),
        ("docker.io/library/traefik:v3.5@sha256:00aa", "docker.io/library/traefik", "v3.5"),
        ("docker.io/library/traefik@sha256:00aa", "docker.io/library/traefik", ""),
        ("registry.example:5000/library/traefik", "registry.example:5000/library/traefik", ""),
        ("registry.example:5000/library/traefik:v3.5", "registry.example:5000/library/traefik", "v3.5"),
        ("registry.example:5000/library/traefik@sha256:00aa", "registry.example:5000/library/traefik", ""),
        (3, "", ""),
    ],
)
def test_what_runs(image: object, repository: str, tag: str) -> None:
    assert image_of({"image": image}) == (repository, tag)
    assert runs({"image": image}, ["*traefik"]) == repository.endswith("traefik")


def test_a_container_without_one_runs_nothing() -> None:
    assert image_of({}) == ("", "")
