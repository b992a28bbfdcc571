"""The one rule, enforced: only the room holds rows, only `noise` draws noise, what follows cannot reach back."""

from __future__ import annotations

import ast

import networkx as nx
import pytest

from discreet.audit.house import House, Module
from discreet.audit.layers import MAY_IMPORT, ROWS
from discreet.audit.source import breaches, module_paths, project_trees, rules, source_finding

PATHS = module_paths()
COPIES = {f"discreet.elsewhere_{name.replace('.', '_')}": name for name in PATHS}


@pytest.fixture(scope="module")
def trees():
    return project_trees()


@pytest.fixture(scope="module")
def found(trees):
    return breaches(trees)


@pytest.fixture(scope="module")
def copied(trees):
    return breaches(trees | {copy: trees[name] for copy, name in COPIES.items()}, COPIES)


KEPT_FOR = [
    ("only the room evaluates and blurs", {"discreet.room"}),
    ("nothing is imported by a name made up at run time", {"discreet", "discreet._moved"}),
    ("only noise draws from entropy", {"discreet.privacy.noise", "discreet.ledger.keys", "discreet.data.people"}),
    ("choices are drawn with the bits of noise", {"discreet.privacy.noise", "discreet.testing"}),
    (
        "only mechanisms ask for noise",
        {f"discreet.privacy.mechanisms.{n}" for n in ("additive", "noisy_rank", "exponential", "sparse_vector")},
    ),
]

ROUNDABOUT = frozenset({("discreet.release", "discreet.report")})
"""A discovery draws itself: the one circle between packages, and it is on the plan."""


LOADS = "from discreet.data.load import load\n"
VARIANT = '"""NOT PRIVATE: another variant as published."""\n'
TRIALS = {
    "rows are loaded after a release": {"discreet.effects": LOADS},
    "rows are loaded by a file of the release": {"discreet.release.effects": LOADS},
    "rows are reached by way of a new folder": {
        "discreet.effects": '"""Effects."""\n',
        "discreet.effects.adjusted": "from discreet.room import Room\n",
    },
    "a private method borrows a new published variant": {
        "discreet.baselines.published.another": VARIANT,
        "discreet.methods.borrowed": "from discreet.baselines.published.another import sieve\n",
    },
    "a private method borrows it by way of another file": {
        "discreet.baselines.published.another": VARIANT,
        "discreet.simulation.another": "from discreet.baselines.published import another\n",
        "discreet.methods.borrowed": "from discreet.simulation import another\n",
    },
    "a report opens a ledger": {"discreet.report.ledgers": "from discreet.ledger.ledger import open_ledger\n"},
    "an old path that is none any more": {"discreet.methods.borrowed": "from discreet.published import threshold\n"},
}


def package(name: str) -> str:
    return ".".join(name.split(".")[:2])


def test_every_folder_is_on_the_plan():
    folders = {name.partition(".")[2].partition(".")[0] for name in PATHS}
    assert folders == set(MAY_IMPORT)
    assert set(MAY_IMPORT) > ROWS
    assert set(MAY_IMPORT) >= {layer for allowed in MAY_IMPORT.values() for layer in allowed}


def test_no_packages_import_each_other(trees):
    """Not by way of others either, and not when a function runs."""
    house = House(Module(name, tree) for name, tree in trees.items())
    graph = nx.DiGraph((package(name), package(target)) for name, targets in house.graph.items() for target in targets)
    graph.remove_edges_from([*ROUNDABOUT, *nx.selfloop_edges(graph)])
    assert not [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]


@pytest.mark.parametrize("trial", sorted(TRIALS))
def test_trial_files_are_caught(trial, trees):
    """What is new and on no list is refused because of where it stands."""
    found = breaches(trees | {module: ast.parse(text) for module, text in TRIALS[trial].items()}, TRIALS[trial])
    assert {breach.module for breach in found} & TRIALS[trial].keys()


@pytest.mark.parametrize("rule", sorted(rules()))
def test_the_rules_of_the_house(rule, found):
    assert not [str(breach) for breach in found if breach.rule == rule]


@pytest.mark.parametrize(("rule", "expected"), KEPT_FOR, ids=lambda value: value if isinstance(value, str) else "")
def test_exceptions_are_for_those_who_need_them(rule, expected, copied):
    """A copy of any module that stands elsewhere has no exception: those that then break the rule are all known."""
    users = {COPIES[b.module] for b in copied if b.rule == rule and b.module in COPIES}
    named = {name for name in users if not name.startswith("discreet.audit")}
    assert named == expected


def test_the_whole_library_is_found_in_order():
    finding = source_finding()
    assert not finding.violated
    assert finding.runs == len(PATHS)


def test_every_proof_is_beside_its_code(trees):
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                for word in (ast.get_docstring(node) or "").split():
                    if (named := word.strip("`:,()").rstrip("`.)")).endswith(".md"):
                        assert (PATHS[name].parent / named).is_file(), f"{name}: {word}"


@pytest.mark.parametrize("name", sorted(PATHS))
def test_the_first_line_says_what_the_file_is_for(name, trees):
    assert (ast.get_docstring(trees[name]) or "").split("\n")[0].endswith(".")
