"""Which names an expression uses, read from its tree, and which of them nothing defines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from jsonata.parser import Parser

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.engine import FUNCTIONS, forgiving
from stellwerk.workflows.expressions.names import VARIABLES
from stellwerk.workflows.expressions.syntax import parse

Symbol = Parser.Symbol
_LIBRARY = FUNCTIONS | {"", "$"}


@dataclass(frozen=True, order=True)
class Reference:
    """A name that an expression uses: `name` is one of VARIABLES, `node` the key behind `$nodes.`.

    `optional` says that it stands where an absent value does no harm: inside `$default` or
    `$exists`, or in a branch that `$exists` guards.
    """

    name: str
    node: NodeKey | None = None
    optional: bool = False


@dataclass(frozen=True)
class Uses:
    """All that an expression names."""

    references: frozenset[Reference] = frozenset()
    unknown: frozenset[str] = frozenset()
    """Variables (`$x`) and bare words (`x`) that stand for nothing."""
    dynamic: bool = False
    """Whether it uses `$nodes` without naming a node."""
    path: tuple[str, ...] | None = None
    """The names of a plain path such as `$nodes.a.b`, if it is nothing else."""


@dataclass(frozen=True)
class _Here:
    """What holds at a place of the tree. `bound` grows while its block is read."""

    bound: set[str] = field(default_factory=set)
    ran: frozenset[str] = frozenset()
    forgiving: bool = False
    inside: bool = False
    """Whether there is a value around, in which bare words are fields."""

    def block(self) -> _Here:
        return replace(self, bound=set(self.bound))


@lru_cache(maxsize=4096)
def uses(source: str) -> Uses:
    """Return what the expression `source` names; raise Malformed."""
    walk = _Walk()
    tree = parse(source)
    try:
        walk.visit(tree, _Here())
    except RecursionError as error:
        raise Malformed("nests too deeply to be read", remedy="Split it.") from error
    return Uses(
        frozenset(walk.references), frozenset(walk.unknown), walk.dynamic, _plain_path(tree)
    )


class _Walk:
    def __init__(self) -> None:
        self.references: set[Reference] = set()
        self.unknown: set[str] = set()
        self.dynamic = False
        self._special: dict[str, Callable[[Symbol, _Here], None]] = {
            "variable": self._variable,
            "path": self._path,
            "function": self._function,
            "condition": self._condition,
            "binary": self._binary,
            "lambda": self._lambda,
            "block": self._block,
            "bind": self._bind,
            "transform": self._transform,
            "sort": self._sort,
        }

    def visit(self, node: Symbol, here: _Here) -> None:
        """Note what `node` and all below it name."""
        special = self._special.get(str(node.type))
        if special is not None:
            special(node, here)
        else:
            self._each(_operands(node), here)
        if node.type != "path":
            self._after(node, replace(here, inside=True))

    def _each(self, nodes: Iterable[Symbol], here: _Here) -> None:
        for node in nodes:
            self.visit(node, here)

    def _after(self, node: Symbol, here: _Here) -> None:
        """Filters, indexes and groups work on the value of their node, field by field."""
        here.bound.update(name for name in (node.focus, node.index) if name)
        for stage in (*(node.predicate or ()), *(node.stages or ())):
            if stage.expr is not None:
                self.visit(stage.expr, here)
            else:
                here.bound.add(str(stage.value))
        if node.group is not None:
            self._each(_pairs(node.group), here)

    def _variable(self, node: Symbol, here: _Here) -> None:
        name = str(node.value)
        if name in here.bound or name in _LIBRARY:
            return
        if name == "nodes":
            self.dynamic = True
        elif name in VARIABLES:
            self.references.add(Reference(name, optional=here.forgiving))
        else:
            self.unknown.add(f"${name}")

    def _path(self, node: Symbol, here: _Here) -> None:
        steps = node.steps or []
        here = here.block()
        key = _node_of(node, here)
        if key is not None:
            optional = here.forgiving or key in here.ran
            self.references.add(Reference("nodes", NodeKey(key), optional))
            steps = steps[1:]
        elif steps[0].type == "name" and not here.inside:
            self.unknown.add(str(steps[0].value))
        for position, step in enumerate(steps):
            deeper = replace(here, inside=here.inside or position > 0 or key is not None)
            self.visit(step, deeper)
        if node.group is not None:
            self._each(_pairs(node.group), replace(here, inside=True))

    def _function(self, node: Symbol, here: _Here) -> None:
        arguments = node.arguments or []
        self._each(_given(node.procedure), here)
        name = forgiving(node)
        if name is None or name in here.bound:
            self._each(arguments, here)
            return
        self.visit(arguments[0], replace(here, forgiving=True))
        self._each(arguments[1:], here)

    def _condition(self, node: Symbol, here: _Here) -> None:
        condition, then, *otherwise = _given(node.condition, node.then, node._else)
        self.visit(condition, here)
        self.visit(then, _knowing(here, condition, True))
        self._each(otherwise, _knowing(here, condition, False))

    def _binary(self, node: Symbol, here: _Here) -> None:
        left, right = _given(node.lhs, node.rhs)
        self.visit(left, here)
        known = {"and": True, "or": False}.get(str(node.value))
        self.visit(right, here if known is None else _knowing(here, left, known))

    def _lambda(self, node: Symbol, here: _Here) -> None:
        inner = here.block()
        inner.bound.update(str(argument.value) for argument in node.arguments or ())
        self._each(_given(node.body), inner)

    def _block(self, node: Symbol, here: _Here) -> None:
        self._each(node.expressions or (), here.block())

    def _bind(self, node: Symbol, here: _Here) -> None:
        target, value = _given(node.lhs, node.rhs)
        if value.type == "lambda":  # it may call itself
            here.bound.add(str(target.value))
        self.visit(value, here)
        here.bound.add(str(target.value))

    def _transform(self, node: Symbol, here: _Here) -> None:
        parts = _given(node.pattern, node.update, node.delete)
        self._each(parts, replace(here, inside=True))

    def _sort(self, node: Symbol, here: _Here) -> None:
        terms = _given(*(term.expression for term in node.terms or ()))
        self._each(terms, replace(here, inside=True))


def _given(*parts: Symbol | None) -> list[Symbol]:
    return [part for part in parts if part is not None]


def _operands(node: Symbol) -> Iterator[Symbol]:
    """Yield the parts of a node that see what it sees."""
    yield from _given(node.procedure, node.expression, node.lhs, node.rhs)
    yield from node.arguments or ()
    yield from node.expressions or ()
    yield from _pairs(node)


def _pairs(node: Symbol) -> Iterator[Symbol]:
    for pair in node.lhs_object or ():
        yield from pair


def _node_of(node: Symbol, here: _Here) -> str | None:
    """Return `k` if `node` is a path that begins with `$nodes.k`."""
    steps = node.steps or []
    if node.type != "path" or len(steps) < 2 or "nodes" in here.bound:
        return None
    first, second = steps[0], steps[1]
    if first.type != "variable" or first.value != "nodes" or second.type != "name":
        return None
    plain = not (first.predicate or first.stages or first.focus or first.index or first.group)
    return str(second.value) if plain else None


def _plain_path(node: Symbol) -> tuple[str, ...] | None:
    if node.type == "variable" and not (node.predicate or node.group):
        return (str(node.value),)
    steps = node.steps or []
    if node.type != "path" or node.group or steps[0].type != "variable":
        return None
    plain = all(step.type == "name" for step in steps[1:]) and not any(
        step.stages or step.predicate or step.focus or step.index for step in steps
    )
    return tuple(str(step.value) for step in steps) if plain else None


def _call_of_one(node: Symbol) -> tuple[str, Symbol | None]:
    """Return the name and argument if `node` calls a function by its name with one argument."""
    arguments, procedure = node.arguments or [], node.procedure
    if node.type != "function" or procedure is None or len(arguments) != 1:
        return "", None
    return (str(procedure.value), arguments[0]) if procedure.type == "variable" else ("", None)


def _knowing(here: _Here, condition: Symbol, truth: bool) -> _Here:
    return replace(here, ran=here.ran | _implied(condition, truth, here))


def _implied(node: Symbol, truth: bool, here: _Here) -> frozenset[str]:
    """Return the nodes that ran if `node` gives `truth`."""
    if node.type == "block" and node.expressions:
        return _implied(node.expressions[-1], truth, here)
    if node.type == "binary" and node.value in {"and", "or"}:
        left, right = (_implied(side, truth, here) for side in _given(node.lhs, node.rhs))
        return left | right if truth == (node.value == "and") else left & right
    name, argument = _call_of_one(node)
    if argument is None or name in here.bound:
        return frozenset()
    if name in {"not", "boolean"}:
        return _implied(argument, truth == (name == "boolean"), here)
    key = _node_of(argument, here) if name == "exists" and truth else None
    return frozenset() if key is None else frozenset({key})
