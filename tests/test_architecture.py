"""The one rule, enforced: only the room holds rows, only `noise` draws noise, what follows cannot reach back."""

from __future__ import annotations

import ast

import pytest

from discreet.audit.house import House, Module
from discreet.audit.layers import AFTER, EXACT, MAY_IMPORT, ROWS
from discreet.audit.source import breaches, module_paths, project_trees, rules, source_finding

PATHS = module_paths()
TREES = project_trees()
FOUND = breaches(TREES)
COPIES = {f"discreet.elsewhere_{name.replace('.', '_')}": name for name in TREES}
COPIED = breaches(TREES | {copy: TREES[name] for copy, name in COPIES.items()})

KEPT_FOR = [
    ("only the room evaluates and blurs", {"discreet.room"}),
    ("nothing is imported by a name made up at run time", {"discreet"}),
    ("only noise draws from entropy", {"discreet.privacy.noise", "discreet.ledger.keys", "discreet.tables.made_up"}),
    ("choices are drawn with the bits of noise", {"discreet.privacy.noise", "discreet.testing"}),
    (
        "only mechanisms ask for noise",
        {f"discreet.mechanisms.{n}" for n in ("additive", "rank", "selection", "sparse")},
    ),
    (
        "exact answers are reached through one door",
        {"discreet.cli", "discreet.cli_direction"}
        | {f"discreet.experiments.{name}" for name in ("accuracy", "priv_pc", "direction", "pcd")}
        | EXACT,
    ),
]


def test_the_modules_are_all_there():
    house = House(Module(name, tree) for name, tree in TREES.items())
    assert len(TREES) > 40
    assert ROWS | set(MAY_IMPORT) <= set(TREES)
    assert all(any(name.startswith(place) for name in TREES) for place in AFTER)
    assert house.graph["discreet.discovering"] >= {"discreet.room", "discreet.tables.load"}


@pytest.mark.parametrize("rule", sorted(rules()))
def test_the_rules_of_the_house(rule):
    assert not [str(breach) for breach in FOUND if breach.rule == rule]


@pytest.mark.parametrize(("rule", "expected"), KEPT_FOR, ids=lambda value: value if isinstance(value, str) else "")
def test_exceptions_are_for_those_who_need_them(rule, expected):
    """A copy of any module that stands elsewhere has no exception: those that then break the rule are all known."""
    users = {COPIES[b.module] for b in COPIED if b.rule == rule and b.module in COPIES}
    named = {name for name in users if not name.startswith("discreet.audit")}
    assert named == expected - {"discreet.oracles.exact", "discreet.published.iqr", "discreet.published.rcit"}


def test_the_whole_library_is_found_in_order():
    finding = source_finding()
    assert not finding.violated
    assert finding.runs == len(PATHS)


def test_every_proof_is_beside_its_code():
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                for word in (ast.get_docstring(node) or "").split():
                    if word.strip("`:.,)").endswith(".md"):
                        assert (PATHS[name].parent / word.strip("`:.,()")).is_file(), f"{name}: {word}"


@pytest.mark.parametrize("name", sorted(TREES))
def test_the_first_line_says_what_the_file_is_for(name):
    assert (ast.get_docstring(TREES[name]) or "").split("\n")[0].endswith(".")
