"""The one rule, enforced: only the room holds rows, only `noise` draws noise, what follows cannot reach back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import discreet

ROOT = Path(discreet.__file__).parent
MODULES = {
    "discreet"
    + "".join(f".{part}" for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"): path
    for path in ROOT.rglob("*.py")
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

ROWS = {"discreet.room", "discreet.tables.memory", "discreet.tables.source", "discreet.tables.load"}
ROWS |= {"discreet.tables.counting", "discreet.tables.encode", "discreet.tables.frames", "discreet.tables.header"}
ROWS |= {"discreet.discovering", "discreet.drafting", "discreet.settling", "discreet.tables.coarse"}
ROWS |= {"discreet.oracles.exact", "discreet.not_private", "discreet.cli_not_private"}  # exact answers about rows
AFTER = ("discreet.oracles", "discreet.search", "discreet.graph", "discreet.discovery", "discreet.report")
AFTER += ("discreet.interop", "discreet.release", "discreet.recipes", "discreet.planning", "discreet.knowledge")
AFTER += ("discreet.confidence", "discreet.synthesis", "discreet.doubts", "discreet.measurement")

SEEDED = {"discreet.cli", "discreet.recipes", "discreet.testing", "discreet.not_private", "discreet.synthesis"}
EXPERIMENTS = {name for name in MODULES if name.startswith("discreet.experiments")}

MAY_IMPORT = {
    "discreet.errors": (),
    "discreet.sealed": ("errors",),
    "discreet.arrays": (),
    "discreet.declaration": ("errors",),
    "discreet.columns": ("errors", "declaration"),
    "discreet.domain": ("errors", "declaration", "columns"),
    "discreet.knowledge": ("errors", "declaration"),
    "discreet.graph": ("errors",),
    "discreet.tables": ("arrays", "errors", "declaration", "domain", "sealed", "tables"),
    "discreet.privacy": ("arrays", "errors", "privacy", "sealed"),
    "discreet.statistics": ("arrays", "errors", "domain", "tables", "statistics"),
    "discreet.mechanisms": ("arrays", "errors", "privacy", "statistics", "mechanisms"),
    "discreet.oracles": ("arrays", "errors", "graph", "oracles"),
    "discreet.oracles.exact": ("arrays", "errors", "oracles", "sealed", "tables"),  # not private: asks rows directly
    "discreet.search": ("arrays", "errors", "graph", "knowledge", "oracles", "search"),
    "discreet.networks": ("declaration", "domain", "errors", "graph", "networks"),
}


def imports(tree: ast.AST) -> set[str]:
    """Modules of the project that a module imports anywhere, except for type checking only."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.module, "relative imports hide where they lead"
            assert not node.level, "relative imports hide where they lead"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        found |= imports(node)
    return found


GRAPH = {name: imports(tree) & set(MODULES) for name, tree in TREES.items()}


def reachable(start: str) -> set[str]:
    seen, stack = {start}, [start]
    while stack:
        for target in GRAPH[stack.pop()] - seen:
            seen.add(target)
            stack.append(target)
    return seen


def calls(tree: ast.AST) -> list[str]:
    return [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_the_modules_are_all_there():
    assert len(MODULES) > 40
    assert "discreet.room" in MODULES
    assert GRAPH["discreet.discovering"] >= {"discreet.room", "discreet.tables.load"}


def test_exact_answers_are_reached_through_one_door():
    exact = {"discreet.oracles.exact", "discreet.not_private", "discreet.cli_not_private"}
    users = {name for name in MODULES if name not in exact and GRAPH[name] & exact}
    assert users == {"discreet.cli", "discreet.experiments.accuracy"}


@pytest.mark.parametrize("name", sorted(m for m in MODULES if m.startswith(AFTER) and m not in ROWS))
def test_what_follows_a_release_has_no_path_back_to_the_rows(name):
    assert not reachable(name) & ROWS


@pytest.mark.parametrize("name", sorted(m for m in MODULES if m.startswith(AFTER)))
def test_what_follows_a_release_draws_no_privacy_noise(name):
    assert "discreet.privacy.noise" not in reachable(name)


@pytest.mark.parametrize("layer", sorted(MAY_IMPORT))
def test_layers(layer):
    for name in (m for m in MODULES if m == layer or m.startswith(layer + ".")):
        if name != layer and name in MAY_IMPORT:  # has a line of its own
            continue
        strange = {t for t in GRAPH[name] if t.split(".")[1] not in MAY_IMPORT[layer]}
        assert not strange, f"{name} imports {strange}"


def test_only_the_room_evaluates_and_blurs():
    users = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("evaluate", "blur")
    }
    assert users == {"discreet.room"}


def test_nothing_is_imported_by_a_name_made_up_at_run_time():
    dynamic = ("import_module", "__import__", "exec", "eval")
    users = {n for n, tree in TREES.items() if any(c.split(".")[-1] in dynamic for c in calls(tree))}
    assert users == {"discreet"}  # the door, whose names are a constant


def test_only_noise_draws_from_entropy():
    users = {n for n, tree in TREES.items() if imports(tree) & {"secrets", "opendp.measurements"}}
    users |= {n for n, tree in TREES.items() if any("urandom" in c or "SystemRandom" in c for c in calls(tree))}
    assert users == {"discreet.privacy.noise"}


def test_choices_are_drawn_with_the_bits_of_noise():
    users = {n for n, tree in TREES.items() if any(c.endswith("invert_choice") for c in calls(tree))}
    assert users == {"discreet.privacy.noise", "discreet.testing"}


def test_only_mechanisms_and_tests_ask_for_noise():
    draws = (".rounded_gaussian", ".discrete_gaussian", ".discrete_laplace", ".exponential_choices")
    callers = {n for n, tree in TREES.items() if any(c.endswith(draws) for c in calls(tree))}
    assert callers - {"discreet.audit.broken.billed"} == {
        "discreet.mechanisms.additive",
        "discreet.mechanisms.selection",
    }


def test_nobody_imports_the_predictable_noise():
    assert not [n for n in MODULES if "discreet.testing" in GRAPH[n]]


def test_simulations_take_their_generator_as_an_argument():
    for name, tree in TREES.items():
        made = [c for c in calls(tree) if c.startswith(("np.random.", "numpy.random.", "random."))]
        if name in SEEDED | EXPERIMENTS:
            assert set(made) <= {"np.random.default_rng"}
        else:
            assert not made, name


@pytest.mark.parametrize("layer", ["statistics", "mechanisms", "room", "tables", "privacy", "release"])
def test_nothing_is_printed_or_logged_where_rows_are(layer):
    for name, tree in TREES.items():
        if name.split(".")[1:2] == [layer]:
            assert not imports(tree) & {"logging", "warnings"}
            assert not [c for c in calls(tree) if c.startswith(("print", "click.", "sys.std"))]


def test_every_proof_is_beside_its_code():
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                for word in (ast.get_docstring(node) or "").split():
                    if word.strip("`:.,)").endswith(".md"):
                        assert (MODULES[name].parent / word.strip("`:.,()")).is_file(), f"{name}: {word}"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=str)
def test_the_first_line_says_what_the_file_is_for(path):
    assert (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0].endswith(".")
