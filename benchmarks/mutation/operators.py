"""What can go wrong at one place: each fault is an edit of the text at a node of the syntax tree."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from mutation import SOURCE

Edit = tuple[int, int, str]
"""From where to where in the text, and what stands there instead."""

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARISONS |= {"in": "not in", "not in": "in", "is": "is not", "is not": "is"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "**": "*", "%": "//"}
ARITHMETIC |= {"<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&", "@": "*"}
TWINS = [("min", "max"), ("ceil", "floor"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax")]
TWINS += [("upper", "lower"), ("at_least", "float"), ("root_at_least", "root_below"), ("largest", "smallest")]
NAMES = dict(TWINS) | {b: a for a, b in TWINS if b != "float"}
SQL = [(" < ", " <= "), (" <= ", " < "), (" >= ", " > "), (" > ", " >= "), ("least(", "greatest("), (" AND ", " OR ")]
SQL += [("greatest(", "least("), ("floor(", "ceil("), ("NOT ", ""), (" OR ", " AND "), (" + 1", ""), (" - 1", "")]
SQL += [("PARTITION BY person ", ""), ("left(", "right("), (" = ", " != "), ("sum(", "max("), ("coalesce(", "nullif(")]
DRAWS = {"rounded_gaussian", "discrete_gaussian", "discrete_laplace", "one_sided"}
LOUD = {"sigma", "scale", "deviation", "question_scale", "threshold_scale"}
QUIET = {"strict", "dtype", "slots", "frozen", "kw_only"}
"""Named arguments that are not touched."""

SHAPES = {
    "len",
    "range",
    "list",
    "set",
    "dict",
    "tuple",
    "frozenset",
    "enumerate",
    "iter",
    "next",
    "type",
    "str",
    "any",
}
SHAPES |= {"all", "items", "values", "keys", "tolist", "array", "Fraction", "pop", "sum", "super", "zip", "map"}
"""Calls without which nothing would run at all: they are not left out."""


@dataclass(frozen=True)
class Mutant:
    """One fault at one place.

    Parameters
    ----------
    id
        The same as long as its line stays as it is.
    digest
        Fingerprint of the function around it: what is known of a mutant is stale once that changes.
    """

    id: str
    module: str
    function: str
    operator: str
    line: int
    was: str
    now: str
    text: str
    digest: str

    @property
    def compiles(self) -> bool:
        """Whether it is Python at all, and another program than before."""
        try:
            tree = ast.parse(self.text)
        except SyntaxError:
            return False
        return ast.dump(tree) != ast.dump(ast.parse((SOURCE / self.module).read_text(encoding="utf-8")))


class Source:
    """A module's text, and where its nodes stand in it."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.text = (SOURCE / module).read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        lines = self.text.splitlines(keepends=True)
        self._lines = [line.encode() for line in lines]
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        """Return where a node begins."""
        return self._place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Return where a node ends."""
        return self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())

    def of(self, node: ast.AST) -> str:
        """Return a node's text."""
        return self.text[self.start(node) : self.end(node)]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the whole lines about a place."""
        after = self.text.find("\n", end)
        return self.text.rfind("\n", 0, start) + 1, len(self.text) if after < 0 else after

    def line(self, place: int) -> int:
        """Return the number of a line."""
        return self.text.count("\n", 0, place) + 1


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """Return every mutant of a module."""
    source = Source(module)
    met: Counter[str] = Counter()
    found: dict[str, Mutant] = {}
    for function, scope, node in _walk(source.tree):
        for operator, faults in OPERATORS.items():
            for start, end, instead in faults(source, node):
                mutant = _make(source, function, scope, operator, (start, end, instead), met)
                if mutant is not None:
                    found.setdefault(mutant.text, mutant)
    return tuple(found.values())


def _make(
    source: Source, function: str, scope: ast.AST | None, operator: str, edit: Edit, met: Counter[str]
) -> Mutant | None:
    start, end, instead = edit
    text = source.text[:start] + instead + source.text[end:]
    if text == source.text:
        return None
    first, last = source.around(start, end)
    was, now = source.text[first:last], source.text[first:start] + instead + source.text[end:last]
    key = f"{function} {operator} {was.strip()} {now.strip()}"
    met[key] += 1
    short = hashlib.sha256(f"{key} {met[key]}".encode()).hexdigest()[:6]
    around = source.of(scope) if scope is not None else was
    digest = hashlib.sha256(around.encode()).hexdigest()[:12]
    name = f"{source.module.removesuffix('.py')}:{function or 'module'}:{operator}:{short}"
    return Mutant(name, source.module, function, operator, source.line(start), was, now, text, digest)


def _walk(tree: ast.Module) -> Iterator[tuple[str, ast.AST | None, ast.AST]]:
    """Return nodes that may be mutated, each with the qualified name of its function and that function."""

    def visit(
        node: ast.AST, names: tuple[str, ...], scope: ast.AST | None
    ) -> Iterator[tuple[str, ast.AST | None, ast.AST]]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name in ("__repr__", "__str__"):
                return
            names, scope = (*names, node.name), node
        elif _untouched(node):
            return
        yield ".".join(names), scope, node
        if isinstance(node, ast.JoinedStr):  # places inside are not told
            return
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _docstring(child):
                    yield from visit(child, names, scope)

    yield from visit(tree, (), None)


def _untouched(node: ast.AST) -> bool:
    """Whether a node is left alone with all that is in it: words of errors, imports, types."""
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in QUIET
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.Call) and _name(node) in ("isinstance", "TypeVar", "partial")


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.AST) -> str:
    """Return the last word of what is called, or of a name."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _between(source: Source, left: ast.AST, right: ast.AST, table: dict[str, str]) -> Iterator[Edit]:
    """Replace the operator between two nodes."""
    start, end = source.end(left), source.start(right)
    gap = source.text[start:end]
    found = re.search(r"not\s+in|is\s+not|\bin\b|\bis\b|\band\b|\bor\b|[<>=!*/+%&|^@-]+", gap)
    if found and (instead := table.get(" ".join(found.group().split()))):
        yield start + found.start(), start + found.end(), instead


def _compare(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for left, right in pairwise(sides):
            yield from _between(source, left, right, COMPARISONS)


def _arithmetic(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and not (_text(node.left) or _text(node.right)):
        yield from _between(source, node.left, node.right, ARITHMETIC)
    if isinstance(node, ast.AugAssign):
        table = {f"{key}=": f"{value}=" for key, value in ARITHMETIC.items()}
        yield from _between(source, node.target, node.value, table)
        yield from _between(source, node.target, node.value, dict.fromkeys(table, "="))


def _operand(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Leave out one side of an operation."""
    if isinstance(node, ast.BinOp) and not (_text(node.left) or _text(node.right)):
        yield source.start(node), source.end(node), f"({source.of(node.left)})"
        yield source.start(node), source.end(node), f"({source.of(node.right)})"


def _boolean(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.BoolOp):
        for left, right in pairwise(node.values):
            yield from _between(source, left, right, {"and": "or", "or": "and"})


def _negation(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.UnaryOp):
        yield source.start(node), source.start(node.operand), ""


def _constant(source: Source, node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant) or isinstance(node.value, str | bytes | complex) or node.value in (None, ...):
        return
    value = node.value
    others: list[float] = [value + 1, value - 1]
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, float):
        others = [2 * value, value / 2]
    for other in others:
        yield source.start(node), source.end(node), f"({other})" if other < 0 else f"{other}"


def _twin(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Take a function's opposite."""
    if isinstance(node, ast.Call) and (instead := NAMES.get(_name(node))):
        end = source.end(node.func)
        yield end - len(_name(node)), end, instead
    if isinstance(node, ast.Call) and _name(node) == "nextafter":
        yield source.start(node.args[1]), source.end(node.args[1]), "0" if "inf" in source.of(node) else "math.inf"


def _dropped(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Leave out a call, and keep what it was called with."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield source.start(node), source.end(node), "pass"
    if not isinstance(node, ast.Call) or node.keywords or _name(node) in SHAPES or _name(node)[:1].isupper():
        return
    if len(node.args) == 1 and isinstance(node.func, ast.Name):
        yield source.start(node), source.end(node), f"({source.of(node.args[0])})"
    if not node.args and isinstance(node.func, ast.Attribute):
        yield source.end(node.func.value), source.end(node), ""


def _guard(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Never raise, return early or go on."""
    if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue):
        yield source.start(node.test), source.end(node.test), "False"


def _branch(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.IfExp):
        yield source.start(node), source.end(node), f"({source.of(node.body)})"
        yield source.start(node), source.end(node), f"({source.of(node.orelse)})"


def _swapped(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Swap the first two arguments."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        one, two = node.args[:2]
        if not isinstance(one, ast.Starred) and not isinstance(two, ast.Starred):
            between = source.text[source.end(one) : source.start(two)]
            yield source.start(one), source.end(two), source.of(two) + between + source.of(one)


def _halved(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Halve a scale of noise, or a stated sensitivity or cost."""
    if isinstance(node, ast.Call):
        stated = _name(node) in ("Sensitivity", "Cost")
        for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if (stated and not isinstance(given, ast.Constant)) or _name(given) in LOUD:
                yield source.start(given), source.end(given), f"({source.of(given)}) / 2"


def _loop(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Go round once only, not at all, or from the second on."""
    if isinstance(node, ast.For):
        yield source.start(node.iter), source.end(node.iter), f"list({source.of(node.iter)})[:1]"
    if isinstance(node, ast.While):
        yield source.start(node.test), source.end(node.test), "False"
    if isinstance(node, ast.comprehension):
        yield source.start(node.iter), source.end(node.iter), f"list({source.of(node.iter)})[1:]"


def _reused(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Use a draw for more than it was drawn for, or do not draw at all."""
    if not isinstance(node, ast.Call):
        return
    name = _name(node)
    if name in DRAWS and len(node.args) == 2:
        yield source.start(node.args[1]), source.end(node.args[1]), "1"
    if name == "pop" and not node.args:
        yield source.end(node) - len(".pop()"), source.end(node), "[-1]"
    if name == "more":
        yield source.start(node), source.end(node), "0"
    if name == "token_bytes" and isinstance(node.args[0], ast.BinOp):
        left, right = (source.of(side) for side in (node.args[0].left, node.args[0].right))
        yield source.start(node.args[0]), source.end(node), f"{left}) * {right}"


def _keyword(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Leave out a named argument."""
    if isinstance(node, ast.Call) and node.args:
        before = node.args[-1]
        for keyword in node.keywords:
            if keyword.arg not in QUIET | {None}:
                yield source.end(before), source.end(keyword), ""
            before = keyword.value


def _sql(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Change one word of a query."""
    if not source.module.startswith("data/") or not _text(node):
        return
    start, text = source.start(node), source.of(node)
    for was, now in SQL:
        for found in re.finditer(re.escape(was), text):
            yield start + found.start(), start + found.end(), now


OPERATORS: dict[str, Callable[[Source, ast.AST], Iterator[Edit]]] = {
    "compare": _compare,
    "arithmetic": _arithmetic,
    "operand": _operand,
    "boolean": _boolean,
    "negation": _negation,
    "constant": _constant,
    "twin": _twin,
    "dropped": _dropped,
    "guard": _guard,
    "branch": _branch,
    "swapped": _swapped,
    "halved": _halved,
    "loop": _loop,
    "reused": _reused,
    "keyword": _keyword,
    "sql": _sql,
}
