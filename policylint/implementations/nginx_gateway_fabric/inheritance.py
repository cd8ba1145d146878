"""What reaches an NGINX location: one context has all settings of its policies, a lower one replaces by directive.

docs/design/implementations/kgateway-nginx-gloo.md §1.3 (on one target settings add up) and §1.4 (NGINX inherits from
http to server to location).
"""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Effective
from policylint.policy.strategies import by_node
from policylint.policy.units import leaves

ADDING: frozenset[Pointer] = frozenset({("rateLimit", "local", "rules"), ("snippets",)})
"""Lists to which every policy of one context adds. A lower context that has limit_req of its own replaces them."""


def inherit(stack: Stack) -> Effective:
    """The settings of a stack, each directive whole from the most specific target that has it."""
    directives = frozenset(tuple(path.split(".")) for path in stack.kind.conflict_fields)
    folding = Folding()
    for level in reversed(by_node(stack.attachments)):  # the most specific node first
        members = {each.key for each in level}
        for each in level:
            for unit in leaves(each.declared[0].proper, directives):
                if unit.id in ADDING and folding.holders(unit.id) <= members:
                    folding.join(each, unit.id, unit.value)
                else:
                    folding.offer(each, unit.id, unit.value)
    return folding.effective(stack.attachments)
