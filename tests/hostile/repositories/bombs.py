"""Small files that grow."""

from __future__ import annotations

from tests.hostile.repositories.fields import FLUX_PATH
from tests.hostile.repositories.hostile import Hostile
from tests.render.trees import KUSTOMIZATION


def _laughs(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(lines) + "\n"


OBJECT = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: bomb}\nspec:\n"
BOMBS = {
    "aliases of aliases": Hostile(
        {"laughs.yaml": OBJECT + "  " + _laughs(12).replace("\n", "\n  "), ".policylint.yaml": _laughs(12)}
    ),
    "an alias of itself": Hostile(
        {"self.yaml": "&a [*a]\n", "route.yaml": OBJECT + "  &a rules: &b [*b, {*a : *b}]\n"}
    ),
    "nesting": Hostile(
        {
            "deep.yaml": OBJECT + "  rules: " + "[" * 20000 + "]" * 20000 + "\n",
            "deep.json": '{"kind":' * 20000,
            "block.yaml": "".join(f"{' ' * depth}a:\n" for depth in range(1000)),
        }
    ),
    "one long line": Hostile({"long.yaml": OBJECT + f"  hostnames: ['{'a' * 900_000}']\n"}),
    "many documents": Hostile({"documents.yaml": "---\n" * 100_000}),
    "a substitution that grows": Hostile(
        {
            "clusters/flux-system/sync.yaml": FLUX_PATH.partition("---\n")[2]
            .replace("path: PATH", "path: ./apps")
            .replace("X: PATH", f"A: '{'${B}' * 500}', B: '{'${C}' * 500}', C: '{'x' * 500}'"),
            "apps/route.yaml": OBJECT + f"  hostnames: ['{'${A}' * 500}']\n",
        }
    ),
    "kustomizations in a circle": Hostile(
        {
            "kustomization.yaml": KUSTOMIZATION + "resources: [a, .]\n",
            "a/kustomization.yaml": KUSTOMIZATION + "resources: [../b, ..]\n",
            "b/kustomization.yaml": KUSTOMIZATION + "resources: [../a]\ncomponents: [../b]\n",
        }
    ),
    "kustomizations that double": Hostile(
        {
            f"l{level}/kustomization.yaml": KUSTOMIZATION
            + (
                f"resources: [../l{level + 1}, ../l{level + 1}/]\nnamePrefix: a\n"
                if level < 24
                else "resources: [../route.yaml]\n"
            )
            for level in range(25)
        }
    ),
}
