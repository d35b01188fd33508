# SPDX-License-Identifier: BSD-3-Clause
"""Mutants of a Python file: each is one small change of its text, of which a test should tell.

Type hints, decorators, docstrings, `__all__`, representations and what messages say are left out,
and what is the same by construction: swapped arguments of `max` and its like, and `strict` of
`zip`, which tells of faults elsewhere.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import CodeType

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
ORDERED = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "TypeVar"}
"""Functions whose arguments, if swapped, only raise a TypeError."""
SYMMETRIC = {"max", "min", "np.maximum", "np.minimum", "np.array_equal"}
"""Functions for which the order of their arguments makes no difference, NaN apart."""
SILENT = {"logging", "logger", "log", "warnings"}
"""What messages are sent to; what they say is not mutated."""
UNSEEN = {"__repr__", "__str__", "_repr_html_"}
"""Methods that are left out."""


@dataclass(frozen=True)
class Mutant:
    """A change of the bytes from `start` to `end` of a file; `lines` are of the statement.

    `function` is the one around it, with its class, and `occurrence` counts the same changes of
    the same text in it.
    """

    path: str
    function: str
    lines: tuple[int, int]
    on_import: bool
    line: int
    column: int
    operator: str
    start: int
    end: int
    before: str
    after: str
    occurrence: int = 1

    def applied(self, source: bytes) -> bytes:
        """Return the mutated text of the file."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a file in the order of its text, those of equal text once."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    found = {(one.start, one.end, one.after): one for one in finder.found}
    order = sorted(found.values(), key=lambda one: (one.start, one.end, one.operator, one.after))
    lines, counted = source.decode().splitlines(), list[Mutant]()
    seen = Counter[tuple[object, ...]]()
    for one in order:
        text = lines[one.line - 1].strip()
        key = (one.function, text, one.column, one.operator, one.before, one.after)
        seen[key] += 1
        counted.append(replace(one, occurrence=seen[key]))
    return counted


def differs(one: bytes, other: bytes) -> bool:
    """Tell whether two texts compile to other bytecode; False where the second does not compile."""
    try:
        return _essence(compile(one, "", "exec")) != _essence(compile(other, "", "exec"))
    except SyntaxError:
        return False


def _essence(code: CodeType) -> tuple[object, ...]:
    """What a code object does, without the lines it stands in."""
    constants = tuple(
        _essence(one) if isinstance(one, CodeType) else (type(one), repr(one))
        for one in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, names, constants, code.co_flags, code.co_argcount)


class _Finder(ast.NodeVisitor):
    """Collects the mutants of what it visits."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.found = path, source, list[Mutant]()
        self.begins = [0]
        for line in source.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))
        self.lines, self.on_import = (1, 1), True
        self.names: tuple[str, ...] = ()
        self.bound: set[str] = set()

    def add(self, operator: str, node: ast.expr | ast.stmt, after: str) -> None:
        """Add the mutant in which a node reads otherwise."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.begins[node.lineno - 1] + node.col_offset
        end = self.begins[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(self.source[start:end].decode().split())
        place = (self.path, ".".join(self.names), self.lines, self.on_import)
        where = (node.lineno, node.col_offset + 1)
        self.found.append(Mutant(*place, *where, operator, start, end, before, after))

    def expression(self, operator: str, node: ast.expr, after: ast.expr) -> None:
        """Add the mutant in which one expression takes the place of another."""
        self.add(operator, node, f"({ast.unparse(after)})")

    def visit(self, node: ast.AST) -> None:
        """Visit a node; of a statement, remember the lines of its head."""
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            self.lines = (node.lineno, last)
        super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit defaults and the body; hints and decorators have no mutants."""
        if node.name in UNSEEN:
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outer = self.bound, self.on_import, self.names
        self.bound = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
        self.on_import, self.names = False, (*self.names, node.name)
        for statement in node.body:
            self.visit(statement)
        self.bound, self.on_import, self.names = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body."""
        outer, self.names = self.names, (*self.names, node.name)
        for statement in node.body:
            self.visit(statement)
        self.names = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value; the hint has no mutants."""
        if node.value is not None:
            self.visit(node.value)
        self.bound |= {ast.unparse(node.target)}

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave out what is mostly a message."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Delete it, unless it stands for an abstract method."""
        if node.exc is None or "NotImplementedError" not in ast.unparse(node.exc):
            self.add("raise", node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        """Delete a call whose result is not used."""
        if isinstance(node.value, ast.Call):
            silent = ast.unparse(node.value.func).partition(".")[0] in SILENT
            self.add("statement", node, "pass")
            if not silent:
                self.visit(node.value)
        else:
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Delete it where what it sets has a value already, or may have."""
        names = {ast.unparse(target) for target in node.targets}
        if "__all__" in names:
            return
        if not names - self.bound or isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self.add("statement", node, "pass")
        self.bound |= names
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Delete it, or let it do something else."""
        self.add("statement", node, "pass")
        if type(node.op) in ARITHMETIC:
            other = ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
            self.add("arithmetic", node, ast.unparse(other))
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        """Go on with the loop."""
        self.add("loop", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        """Leave the loop."""
        self.add("loop", node, "break")

    def condition(self, test: ast.expr) -> None:
        """Let a condition hold, or not hold, always."""
        if not isinstance(test, ast.Constant):
            self.add("condition", test, "True")
            self.add("condition", test, "False")

    def visit_If(self, node: ast.If) -> None:
        """Force the condition, but of what only a checker of types reads."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.condition(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Force the condition."""
        self.condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Force the condition."""
        self.condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Force the conditions."""
        for test in node.ifs:
            self.condition(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Let each of the comparisons be another."""
        for i, op in enumerate(node.ops):
            ops = [*node.ops[:i], COMPARISONS[type(op)](), *node.ops[i + 1 :]]
            self.expression("comparison", node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Let an arithmetic operator be another; texts have none."""
        texts = any(
            isinstance(side, ast.JoinedStr)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )
        if type(node.op) in ARITHMETIC and not texts:
            other = ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
            self.expression("arithmetic", node, other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap `and` and `or`."""
        op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.expression("boolean", node, ast.BoolOp(op, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave the operator out."""
        self.expression("unary", node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Turn truth values over, let integers be one more or less, double other numbers."""
        for value in _other_values(node.value):
            self.add("constant", node, f"({value!r})" if value < 0 else repr(value))

    def visit_Call(self, node: ast.Call) -> None:
        """Swap the first two arguments."""
        plain = len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args[:2])
        if plain and ast.unparse(node.func) not in ORDERED | SYMMETRIC:
            first, second, *others = node.args
            swapped = ast.Call(node.func, [second, first, *others], node.keywords)
            if ast.unparse(swapped) != ast.unparse(node):
                self.expression("arguments", node, swapped)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Visit the value, but of `strict`."""
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        """Begin one later, end one later or, where it has no end, one earlier; `:` is left."""
        for lower, upper in (
            ()
            if node.lower is node.upper is None
            else (
                (_one_more(node.lower) or ast.Constant(1), node.upper),
                (node.lower, _one_more(node.upper) or ast.Constant(-1)),
            )
        ):
            self.add("slice", node, ast.unparse(ast.Slice(lower, upper, node.step)))  # type: ignore[arg-type]
        self.generic_visit(node)


def _one_more(bound: ast.expr | None) -> ast.expr | None:
    return None if bound is None else ast.BinOp(bound, ast.Add(), ast.Constant(1))


def _other_values(value: object) -> Iterator[float]:
    """The numbers that stand in for a constant."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield 2 * value or 1.0
