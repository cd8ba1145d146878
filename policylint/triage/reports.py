"""The findings about suppressions themselves: GWP901, GWP902, GWP903 and GWP904."""

from __future__ import annotations

from collections.abc import Callable

from policylint.model import Finding
from policylint.triage.apply import SuppressionProblem, TriageContext

_EXAMPLES = {
    "comment": "write `# policylint: ignore[{}] why it is fine`",
    "annotation": "write `ignore.policylint.dev/{}: why it is fine`",
    "configuration": "add `reason: why it is fine`",
}


def report(problem: SuppressionProblem, context: TriageContext) -> Finding:
    """Return the finding for one problem."""
    return _REPORTS[problem.rule](problem, context)


def _unused(problem: SuppressionProblem, context: TriageContext) -> Finding:
    """Return GWP901: no finding matches the suppression; what it was for is gone, or it never did anything."""
    name = problem.name
    label = f"no finding of {name} here"
    if context.is_locked(problem.suppression, context.rules.get(name.lower(), "")):
        label = f"{name} is locked by the configuration, so this has no effect"
    return _finding(problem, f"unused suppression of {name}", label, "fix: remove it")


def _unknown_rule(problem: SuppressionProblem, context: TriageContext) -> Finding:
    """Return GWP902: the suppression names no rule, or one that does not exist, so it does nothing."""
    from policylint.checks.kit.wording import near

    name = problem.name
    if not name:
        return _finding(problem, "suppression without a rule", "name the rules: `ignore[GWP201] reason`")
    guess = near(name.lower(), context.rules)
    label = f"no rule {name}" + (f" (did you mean {guess}?)" if guess else "")
    if name.upper().startswith("GWP") and len(name) < len("GWP101"):
        label = f"{name} is a family; name the rules"
    return _finding(problem, f"suppression of an unknown rule {name}", label)


def _without_reason(problem: SuppressionProblem, context: TriageContext) -> Finding:  # noqa: ARG001 - what every report takes
    """Return GWP903: the reason is missing, or cut off by ` #`, so the suppression does not count."""
    name, suppression = problem.name, problem.suppression
    if suppression.cut:
        label = f"YAML takes `{suppression.cut}` for a comment"
        return _finding(problem, f"the reason for suppressing {name} is cut off", label, "fix: quote the reason")
    example = _EXAMPLES[suppression.form].format(name)
    message = f"suppression of {name} does not say why"
    return _finding(problem, message, "without a reason it does not count", f"fix: {example}")


def _expired(problem: SuppressionProblem, context: TriageContext) -> Finding:  # noqa: ARG001 - what every report takes
    """Return GWP904: the last day of the suppression is past; what it suppressed is reported again."""
    label = f"its last day was {problem.suppression.expires}"
    fix = "fix: mend the finding, or set a new date"
    return _finding(problem, f"suppression of {problem.name} has expired", label, fix)


_REPORTS: dict[str, Callable[[SuppressionProblem, TriageContext], Finding]] = {
    "GWP901": _unused,
    "GWP902": _unknown_rule,
    "GWP903": _without_reason,
    "GWP904": _expired,
}


def _finding(problem: SuppressionProblem, message: str, label: str, *fixes: str) -> Finding:
    """Return a warning at the suppression."""
    suppression = problem.suppression
    return Finding(
        problem.rule,
        "warning",
        message,
        suppression.location,
        resources=tuple(sorted(suppression.keys)),
        label=label,
        field=problem.name,
        help=fixes,
    )
