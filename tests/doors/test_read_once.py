"""What doors are told by data and by objects is read once, however many routes ask for it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from policylint.documents import read
from policylint.doors.vendors import naming
from policylint.implementations.generic import configuration
from tests.worlds import world

_CONTOUR = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: contour, namespace: projectcontour}
data: {contour.yaml: "enableExternalNameService: true"}
"""


def test_which_kinds_name_services_is_read_once() -> None:
    assert naming() is naming()


def test_the_text_of_a_configuration_is_parsed_once_for_a_world(monkeypatch: pytest.MonkeyPatch) -> None:
    parsing = Mock(wraps=read)
    monkeypatch.setattr(configuration, "read", parsing)
    asked = world(_CONTOUR)
    first, again = (configuration.configurations(asked, "contour") for _ in range(2))
    assert first == again
    assert [each.value("enableExternalNameService") for each in first] == [True]
    assert parsing.call_count == 1
