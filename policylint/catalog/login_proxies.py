"""Programs that ask for a login and pass requests on, by the names that they have: schemas/login-proxies.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from policylint.documents import read
from policylint.model import mapping, texts
from policylint.model.shipped import shipped_data


def is_login_proxy(name: str) -> bool:
    """Tell whether a Service, workload or image is called as a proxy is that asks for a login and passes on.

    Args:
        name: of an image its path, without a registry and a tag: the last two parts of it count.
    """
    *_, owner, last = ["", "", *name.replace("_", "-").split("/")]
    padded, image = f"-{last}-", f"{owner}/{last}"
    return any(each == image if "/" in each else f"-{each}-" in padded for each in _table()["names"])


def knows_by_cookies(name: str) -> bool:
    """Tell whether a Service is called as a login is that knows people by cookies."""
    return any(each in name for each in _table()["cookies"])


def is_of_login(path: str) -> bool:
    """Tell whether a path of requests is one that such a proxy answers itself, whoever asks."""
    return any(f"{path}/".startswith(f"{each}/") for each in _table()["own"])


@lru_cache(maxsize=1)
def _table() -> Mapping[str, tuple[str, ...]]:
    table = mapping(read(shipped_data("schemas", "login-proxies.yaml"), "login-proxies.yaml").documents[0].value)
    return {name: tuple(texts(value)) for name, value in table.items()}
