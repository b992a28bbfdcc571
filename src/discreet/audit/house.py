"""Modules as they are written: what each imports, names, calls and can reach. Nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

_BY_NAME = ("getattr", "setattr", "hasattr", "attrgetter", "methodcaller")


class Module:
    """One parsed module."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        self.tree = tree
        self.nodes = list(_at_run_time(tree))
        self.everything = list(ast.walk(tree))

    @property
    def layer(self) -> str:
        """The part of the library it stands in: the first name behind the library's."""
        return self.name.partition(".")[2].partition(".")[0]

    def within(self, *places: str) -> bool:
        """Whether it is one of these modules, or stands in one of these packages."""
        return any(self.name == place or self.name.startswith(place + ".") for place in places)

    @cached_property
    def imports(self) -> frozenset[str]:
        """What it imports when it runs, also within functions: modules and names in them."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        return frozenset(found)

    def imported(self, *wanted: str) -> list[str]:
        """Return what it imports of these modules and of what is in them."""
        return sorted(i for i in self.imports if any(i == w or i.startswith(w + ".") for w in wanted))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Full names of what was imported under a shorter or another one."""
        found: dict[str, str] = {}
        for node in self.everything:
            if isinstance(node, ast.Import):
                found |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return found

    def full(self, node: ast.AST) -> str:
        """Return an expression as a dotted name, from the module on that it comes from."""
        if isinstance(node, ast.Attribute):
            return f"{self.full(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
            return f"{self.full(node.func)}()"
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id, node.id)
        return "?"

    @cached_property
    def names(self) -> list[str]:
        """Every name and attribute that is used, in full, also in annotations."""
        return [self.full(node) for node in self.everything if isinstance(node, ast.Name | ast.Attribute)]

    @cached_property
    def calls(self) -> list[str]:
        """Everything that is called, in full."""
        return [self.full(node.func) for node in self.everything if isinstance(node, ast.Call)]

    @cached_property
    def attributes(self) -> set[str]:
        """Attributes that are asked for, also by ``getattr`` and its like."""
        found = {node.attr for node in self.everything if isinstance(node, ast.Attribute)}
        for node in self.everything:
            if isinstance(node, ast.Call) and last(self.full(node.func)) in _BY_NAME:
                found |= {str(a.value) for a in node.args if isinstance(a, ast.Constant)}
        return found


def last(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that only a type checker sees."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from _at_run_time(other)
        else:
            yield from _at_run_time(node)


class House:
    """All modules together, and who imports whom."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.modules = {module.name: module for module in modules}
        self.graph = {name: module.imports & self.modules.keys() for name, module in self.modules.items()}
        self._reached: dict[str, frozenset[str]] = {}

    def reachable(self, start: str) -> frozenset[str]:
        """Return the modules that are run when one is imported, and those that its functions import."""
        if start not in self._reached:
            seen = self._with_packages(start)
            stack = list(seen)
            while stack:
                for target in self.graph[stack.pop()]:
                    further = self._with_packages(target) - seen
                    stack += further
                    seen |= further
            self._reached[start] = frozenset(seen)
        return self._reached[start]

    def _with_packages(self, name: str) -> set[str]:
        """Return a module and the packages it is in: they are run before it."""
        parts = name.split(".")
        return {".".join(parts[:k]) for k in range(1, len(parts) + 1)} & self.modules.keys()
