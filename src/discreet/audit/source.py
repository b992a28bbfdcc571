"""Reads the code: every module against the rules of the house. Nothing is run, and no rows are needed.

A rule that is kept shows that nobody broke it in plain sight; it is no proof, and code that hides can hide from it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.audit import Finding
from discreet.audit.house import House, Module
from discreet.audit.rules import RULES, Rule
from discreet.errors import SettingError

if TYPE_CHECKING:
    from discreet.audit.broken import Code


@dataclass(frozen=True)
class Breach:
    """A rule that a module breaks, and by what."""

    module: str
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.module}: {self.rule} ({self.what})"


def rule_name(rule: Rule) -> str:
    """Return a rule's name in words."""
    return rule.__name__.replace("_", " ")


def rules() -> dict[str, str]:
    """Return all rules by name, each with its reason."""
    return {rule_name(rule): (rule.__doc__ or "").split("\n")[0] for rule in RULES}


def breaches(trees: Mapping[str, ast.Module], names: Iterable[str] | None = None) -> list[Breach]:
    """Return every breach of a rule in parsed modules, or in those that are named."""
    known = {(module.name, id(module.tree)): module for module in _project()}
    house = House(known.get((name, id(tree))) or Module(name, tree) for name, tree in trees.items())
    return _breaches(house, sorted(trees) if names is None else names)


def _breaches(house: House, names: Iterable[str]) -> list[Breach]:
    found = [
        Breach(name, rule_name(rule), what)
        for name in names
        for rule in RULES
        for what in rule(house, house.modules[name])
    ]
    return list(dict.fromkeys(found))


def module_paths() -> dict[str, Path]:
    """Return the files of the installed library by module."""
    root = Path(__file__).parents[1]
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


@cache
def _project() -> tuple[Module, ...]:
    return tuple(Module(name, ast.parse(path.read_text(encoding="utf-8"))) for name, path in module_paths().items())


def project_trees() -> dict[str, ast.Module]:
    """Return the modules of the installed library, parsed."""
    return {module.name: module.tree for module in _project()}


def source_finding() -> Finding:
    """Read the whole library."""
    house = House(_project())
    found = _breaches(house, house.modules)
    evidence = "; ".join(map(str, found))
    return Finding(
        "discreet", "source", "the rules of the house", None, None, len(house.modules), bool(found), evidence
    )


def check_code(code: Code) -> list[Breach]:
    """Return the breaches of a module's text as if it stood in the library, beside all others or in place of one."""
    try:
        tree = ast.parse(code.text)
    except SyntaxError:
        raise SettingError(f"code: the text of {code.module} is not Python") from None
    return _breaches(House([*_project(), Module(code.module, tree)]), [code.module])
