"""The faults that `benchmarks/mutants.py` makes, and the judgements that are kept of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from mutation import modules, operators
from mutation.records import Kind, read_judged, read_runs

CODE = '''"""A module."""

SIZE = 2


def bound(rows, noise):
    """Return a bound."""
    if rows < 1:
        raise ValueError(f"rows: {1 + 1}")
    for _ in range(3):
        rows = min(rows, SIZE) + noise.discrete_laplace(1.5, rows)
    return rows if not rows > 7 else check(rows, noise)
'''


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Changed lines of a small module by operator."""
    (tmp_path / "small.py").write_text(CODE)
    monkeypatch.setattr(operators, "SOURCE", tmp_path)
    found = {}
    for mutant in operators.mutants_of.__wrapped__("small.py"):
        assert mutant.compiles
        assert len(CODE.splitlines()) == len(mutant.text.splitlines())
        found.setdefault(mutant.operator, set()).add(mutant.now.strip())
    return found


def test_one_line_changes_at_a_time(lines):
    assert lines["compare"] == {"if rows <= 1:", "return rows if not rows >= 7 else check(rows, noise)"}
    assert lines["guard"] == {"if False:"}
    assert lines["negation"] == {"return rows if rows > 7 else check(rows, noise)"}
    assert "rows = min(rows, SIZE) + noise.discrete_laplace(1.5, 1)" in lines["reused"]
    assert "rows = max(rows, SIZE) + noise.discrete_laplace(1.5, rows)" in lines["twin"]
    assert "rows = min(rows, SIZE) - noise.discrete_laplace(1.5, rows)" in lines["arithmetic"]
    assert "rows = (min(rows, SIZE))" in lines["operand"]
    assert {"SIZE = 3", "SIZE = 1", "for _ in range(4):"} <= lines["constant"]
    assert "for _ in list(range(3))[:1]:" in lines["loop"]
    assert lines["branch"] == {"return (rows)", "return (check(rows, noise))"}
    assert "return rows if not rows > 7 else check(noise, rows)" in lines["swapped"]


def test_words_of_errors_are_left_alone(lines):
    assert not any("raise" in line for found in lines.values() for line in found)


def test_mutants_are_known_by_names_of_their_own():
    names = [mutant.id for module in modules() for mutant in operators.mutants_of(module)]
    assert len(names) == len(set(names)) > 5_000


def test_every_judgement_says_why():
    judged = read_judged()
    assert all(each.kind for each in judged.values())
    assert all(each.why for each in judged.values() if each.kind is not Kind.WRONG)
    assert set(read_runs()) <= set(judged)
