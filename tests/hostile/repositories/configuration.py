"""A `.policylint.yaml` that a pull request brings."""

from __future__ import annotations

from tests.hostile.repositories.hostile import Hostile
from tests.render.trees import KUSTOMIZATION


def _setting(text: str) -> Hostile:
    return Hostile({".policylint.yaml": text}, links={"linked": "OUT"})


KIND = "kinds: [{group: evil.example.com, kind: Evil, versions: [v1], targets: {path: /spec/../../x}, $ref: 'http://ADDRESS/x.json'}]\n"
CONFIGURATION = {
    "paths that lead out": _setting("paths: [., ../outside, OUT, linked, ~]\n"),
    "a baseline that leads out": _setting("baseline: ../outside/policylint.yaml\n"),
    "a snapshot that leads out": _setting("snapshot: OUT/secret.yaml\n"),
    "environments that lead out": _setting("environments: [{name: prod, roots: [linked, ../outside, OUT]}]\n"),
    "a renderer of the configuration": Hostile(
        {
            ".policylint.yaml": "render: helm\n",
            "charts/x/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1\n",
            "charts/x/templates/x.yaml": "{{ .Values.x }}\n",
            "kustomization.yaml": KUSTOMIZATION
            + "resources: [gateway.yaml, 'http://ADDRESS/x']\nhelmCharts: [{name: x}]\n",
        }
    ),
    "a renderer of the environment's name": Hostile(
        {
            ".policylint.yaml": "render: external\n",
            "kustomization.yaml": KUSTOMIZATION + "resources: ['http://ADDRESS/x']\n",
        }
    ),
    "a kind that names files": _setting(KIND),
    "patterns that lead out": _setting(
        "exclude: ['../**', '/**', '!OUT/**']\nignore: [{rule: GWP101, path: ../outside/**, reason: x}]\n"
    ),
    "the configuration of another format": Hostile(
        {"pyproject.toml": "[tool.policylint]\npaths = ['../outside', 'OUT']\n[build-system]\nrequires = ['evil']\n"}
    ),
    "names of options": _setting("paths: ['--config=OUT/policylint.yaml', '-o', '--output=json=pwned']\n"),
}
