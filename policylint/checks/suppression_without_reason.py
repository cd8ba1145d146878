"""GWP903: a suppression does not say why, so it does not count."""

from __future__ import annotations

from policylint.model import Finding
from policylint.model.suppression import Suppression

RULE = "GWP903"
_EXAMPLES = {
    "comment": "write `# policylint: ignore[{}] why it is fine`",
    "annotation": "write `ignore.policylint.dev/{}: why it is fine`",
    "configuration": "add `reason: why it is fine`",
}


def report(suppression: Suppression, name: str, **_: object) -> Finding:
    """The finding for a suppression whose reason is missing, or cut off by ` #`."""
    message = f"suppression of {name} does not say why"
    label = "without a reason it does not count"
    fix = _EXAMPLES[suppression.form].format(name)
    if suppression.cut:
        message = f"the reason for suppressing {name} is cut off"
        label = f"YAML takes `{suppression.cut}` for a comment"
        fix = "quote the reason"
    return Finding(
        RULE,
        "warning",
        message,
        suppression.location,
        resources=tuple(sorted(suppression.keys)),
        label=label,
        field=name,
        help=(f"fix: {fix}",),
    )
