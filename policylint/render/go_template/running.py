"""Runs Go templates over values as JSON has them: texts, bools, floats (integers are those of templates), lists, maps.

What a template makes is certain, refused by Go (TemplateError), or not known here (UncertainError): because of a
function that this does not know, or of values that were not seen (`Open`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from policylint.budget import Budget, size_of
from policylint.render.go_template import sprig
from policylint.render.go_template.functions import (
    BUILTIN,
    LAZY,
    MISSING,
    Function,
    Open,
    WithMethods,
    is_true,
)
from policylint.render.go_template.parsing import (
    DELIMITERS,
    MAX_NESTING,
    Action,
    Call,
    Control,
    Jump,
    Literal,
    Pipeline,
    TemplateCall,
    TemplateError,
    Variable,
    parsed,
)
from policylint.render.go_template.printing import NO_VALUE, UncertainError, in_order, named, shown

__all__ = ["FUNCTIONS", "MAX_LENGTH", "Engine", "Open", "TemplateError", "UncertainError", "filled_in", "of_json"]

MAX_LENGTH: Final = 200_000
FUNCTIONS: Final[Mapping[str, Function | None]] = {**sprig.FUNCTIONS, **BUILTIN}
"""Go's own and sprig's, by name."""
_PASSING_ON: Final = frozenset(
    {
        *("include", "tpl", "required", "default", "coalesce", "ternary", "empty", "not", "len"),
        *("dict", "list", "tuple", "set", "unset", "get", "hasKey", "index", "dig", "first", "last"),
        *("kindOf", "kindIs", "typeOf", "typeIs"),
    }
)
"""Functions that take values as they are, and look at none but the outermost: what they cost does not hang on how much
there is in them. Most calls of charts are such ones, with all values of the chart."""
_MIND_ABSENCE: Final = LAZY | {"coalesce", "default", "dig", "empty", "include", "required", "ternary", "tpl"}
"""Functions that something is made with of values that are not there, or that print what stands elsewhere."""
_PRINTS_BLANK: Final = frozenset({"", '""', "''", NO_VALUE})
_PRINTS_NOTHING: Final = _PRINTS_BLANK | {"null"}
"""A null that is stated may be meant, as one: no text is."""


def filled_in(
    text: str,
    parameters: Mapping[str, Any],
    budget: Budget,
    *,
    missing: str = "default",
    functions: Mapping[str, Function | None] = FUNCTIONS,
) -> str:
    """Return what a template makes of parameters; an action whose value is not known stays as it is written.

    Args:
        parameters: as `of_json` returns them.
        missing: what a key that is not there is: `default` or `invalid`, `zero`, `error` (Go's option `missingkey`).
        functions: those that may be called; None for one of which it is not known what it returns.

    Raises:
        TemplateError: Go refuses it, or ends with an error.
        UncertainError: its course is not known, or it grows too long.
        ExhaustedError: it takes more work than the budget allows.
    """
    if "{{" not in text:
        return text
    engine = Engine(budget, functions, missing=missing)
    return engine.text(engine.parsed(text), parameters)


def of_json(value: Any) -> Any:
    """Return a value as Go reads it from JSON: every number is a float."""
    if isinstance(value, dict):
        made = {str(key): of_json(inner) for key, inner in value.items()}
        return Open(made) if isinstance(value, Open) else made
    if isinstance(value, list):
        return [of_json(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _JumpError(Exception):
    """`break` or `continue` on its way to its range."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


_Scope = list[tuple[str, Any]]


class Engine:
    """Runs templates that know each other by name.

    Attributes:
        defined: the named templates.
        lacking: the paths of values that are not there or null, in whose place nothing was printed, or null, since this
            was emptied last; values are what stands below `Values`.
    """

    def __init__(
        self,
        budget: Budget,
        functions: Mapping[str, Function | None],
        *,
        missing: str = "default",
        symbolic: bool = True,
        most: int = MAX_LENGTH,
        delimiters: tuple[str, str] = DELIMITERS,
    ) -> None:
        """Know no template yet.

        Args:
            missing, functions: as of `filled_in`.
            symbolic: whether an action whose value is not known stays as it is written; nothing is known of the whole,
                otherwise.
            most: characters that a template may make.
            delimiters: between which actions stand.
        """
        self._most = most
        self._delimiters = delimiters
        self._budget = budget
        self._missing = missing
        self._functions = functions
        self._symbolic = symbolic
        self._depth = 0
        self.defined: dict[str, list[Any]] = {}
        self.lacking: dict[str, None] = {}
        self._absent, self._is_stated = "", False

    def parsed(self, text: str) -> list[Any]:
        """Return the nodes of a template, and know what it defines.

        Raises:
            TemplateError: Go refuses it.
        """
        self._budget.spend(len(text))
        return parsed(text, self._functions, self.defined, self._delimiters)

    def text(self, nodes: Sequence[Any], dot: Any) -> str:
        """Return what nodes print where `.` is `dot`; raises as `filled_in`."""
        printed: list[str] = []
        self._depth += 1
        try:
            self.walk(nodes, dot, [("$", dot)], printed, self._depth)
        except RecursionError:  # `set` can put a mapping into itself
            raise UncertainError("it nests too deeply") from None
        finally:
            self._depth -= 1
        made = "".join(printed)
        if len(made) > self._most:
            raise UncertainError("it grows too long")
        return made

    def walk(self, nodes: Sequence[Any], dot: Any, scope: _Scope, printed: list[str], depth: int) -> None:
        """Print what nodes make where `.` is `dot`."""
        self._budget.spend(1)
        for node in nodes:
            self._budget.spend(1)
            if isinstance(node, str):
                self._print(node, printed)
            elif isinstance(node, Action):
                self._action(node, dot, scope, printed)
            elif isinstance(node, Jump):
                raise _JumpError(node.word)
            elif isinstance(node, TemplateCall):
                self._template(node, dot, scope, printed, depth)
            else:
                self._block(node, dot, scope, printed, depth)

    def _print(self, text: str, printed: list[str]) -> None:
        self._budget.spend_on_text(len(text))
        if len(text) > self._most:
            raise UncertainError("it grows too long")
        printed.append(text)

    def _action(self, node: Action, dot: Any, scope: _Scope, printed: list[str]) -> None:
        self._absent, self._is_stated = "", False
        try:
            value = self._value(node.pipeline, dot, scope)
            if isinstance(value, (list, dict)) and not node.pipeline.variables:
                self._budget.spend(size_of(value)[0])
            made = "" if node.pipeline.variables else NO_VALUE if value is MISSING else shown(value)
        except UncertainError:
            if node.pipeline.variables or not self._symbolic:
                raise
            made = node.written
        prints_nothing = made.strip() in (_PRINTS_BLANK if self._is_stated else _PRINTS_NOTHING)
        if self._absent and prints_nothing and not _minds_absence(node.pipeline):
            self.lacking[self._absent] = None
        self._print(made, printed)

    def _template(self, node: TemplateCall, dot: Any, scope: _Scope, printed: list[str], depth: int) -> None:
        if node.name not in self.defined:
            raise TemplateError(f"template {node.name!r} not defined")
        if depth > MAX_NESTING:
            raise UncertainError("templates nest too deeply")
        value = None if node.pipeline is None else self._value(node.pipeline, dot, scope)
        self.walk(self.defined[node.name], value, [("$", value)], printed, depth + 1)

    def _block(self, node: Control, dot: Any, scope: _Scope, printed: list[str], depth: int) -> None:
        known = len(scope)
        if node.word == "range":
            self._range(node, dot, scope, printed, depth)
        else:
            value = self._value(node.pipeline, dot, scope)
            if is_true(value):
                self.walk(node.body, value if node.word == "with" else dot, scope, printed, depth)
            else:
                self.walk(node.otherwise, dot, scope, printed, depth)
        del scope[known:]

    def _range(self, node: Control, dot: Any, scope: _Scope, printed: list[str], depth: int) -> None:
        value = self._value(node.pipeline._replace(variables=()), dot, scope)
        if isinstance(value, Open):
            raise UncertainError("not all of what is ranged over was seen")
        items: list[tuple[Any, Any]] = []
        if isinstance(value, dict):
            items = [(key, value[key]) for key in sorted(value)]
        elif isinstance(value, list):
            items = list(enumerate(in_order(value)))
        elif isinstance(value, int) and not isinstance(value, bool) and len(node.pipeline.variables) < 2:
            self._budget.spend(abs(value))
            items = [(number, number) for number in range(value)]
        elif value is not None and value is not MISSING:
            raise TemplateError(f"range can't iterate over {named(value)}")
        names, known = node.pipeline.variables, len(scope)
        for key, item in items:
            given = (key, item) if len(names) == 2 else (item,)
            for name, each in zip(names, given, strict=False):
                self._set(name, each, scope, declares=node.pipeline.declares)
            try:
                self.walk(node.body, item, scope, printed, depth)
            except _JumpError as jump:
                if jump.word == "break":
                    break
            finally:
                del scope[known:]
        if not items:
            self.walk(node.otherwise, dot, scope, printed, depth)

    def _set(self, name: str, value: Any, scope: _Scope, *, declares: bool) -> None:
        if declares:
            scope.append((name, value))
            return
        index = next(index for index in range(len(scope) - 1, -1, -1) if scope[index][0] == name)
        scope[index] = (name, value)

    def _value(self, pipeline: Pipeline, dot: Any, scope: _Scope) -> Any:
        value: Any = None
        for index, command in enumerate(pipeline.commands):
            value = self._command(command, dot, scope, [value] if index else [])
            value = MISSING if value is None else value
        for name in pipeline.variables:
            self._set(name, value, scope, declares=pipeline.declares)
        return value

    def _command(self, command: Sequence[Any], dot: Any, scope: _Scope, piped: list[Any]) -> Any:
        self._budget.spend(2)
        first, *rest = command
        if not isinstance(first, Call):
            value = self._operand(first, dot, scope)
            if isinstance(value, Function):
                return value("a method", [*(self._operand(each, dot, scope) for each in rest), *piped])
            if rest or piped:
                raise TemplateError("what is no function takes no arguments")
            return value
        if first.name in LAZY:
            return self._lazily(first.name, rest, dot, scope, piped)
        arguments = [*(self._operand(each, dot, scope) for each in rest), *piped]
        function = self._functions[first.name]
        if function is None:
            raise UncertainError(f"`{first.name}`")
        passes_on = first.name in _PASSING_ON
        self._budget.spend(len(arguments) if passes_on else sum(size_of(argument)[0] for argument in arguments))
        return function(first.name, arguments)

    def _lazily(self, name: str, operands: Sequence[Any], dot: Any, scope: _Scope, piped: list[Any]) -> Any:
        """Return the first operand of `and` that is false, of `or` that is true, else the last one."""
        value: Any = None
        if not operands and not piped:
            raise TemplateError(f"{name} without arguments")
        for operand in operands:
            value = self._operand(operand, dot, scope)
            if is_true(value) == (name == "or"):
                return value
        return piped[0] if piped else value

    def _operand(self, operand: Any, dot: Any, scope: _Scope) -> Any:
        if isinstance(operand, Literal):
            return operand.value
        if isinstance(operand, Variable):
            return next(value for name, value in reversed(scope) if name == operand.name)
        if isinstance(operand, Pipeline):
            return self._value(operand, dot, scope)
        if isinstance(operand, Call):
            return self._command((operand,), dot, scope, [])
        value = dot if operand.of is None else self._operand(operand.of, dot, scope)
        for step in operand.steps:
            if isinstance(value, dict) and value.get(step) is None and operand.steps[0] == "Values":
                self._absent, self._is_stated = ".".join(operand.steps[1:]), step in value
            value = self._field(value, step)
        return value

    def _field(self, value: Any, step: str) -> Any:
        if value is MISSING and self._missing != "error":
            return MISSING
        if value is None:
            raise TemplateError(f"nil pointer evaluating interface {{}}.{step}")
        if not isinstance(value, dict):
            raise TemplateError(f"{named(value) if value is not MISSING else NO_VALUE} has no field {step}")
        if isinstance(value, WithMethods) and step in value.methods:
            return value.methods[step]
        if step in value:
            return value[step]
        if isinstance(value, Open):
            raise UncertainError(f"{step} was not seen")
        if self._missing == "error":
            raise TemplateError(f"there is no {step}")
        return None if self._missing == "zero" else MISSING


def _minds_absence(pipeline: Pipeline) -> bool:
    """Return whether a pipeline sets a variable, or says itself what it prints of a value that is not there."""
    operands = [operand for command in pipeline.commands for operand in command]
    called = {operand.name for operand in operands if isinstance(operand, Call)}
    below = any(isinstance(operand, Pipeline) and _minds_absence(operand) for operand in operands)
    return bool(pipeline.variables) or below or not called.isdisjoint(_MIND_ABSENCE)
