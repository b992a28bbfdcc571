"""Adding a test of conditional independence: CONTRIBUTING's example, word for word."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.audit import table_of
from discreet.audit.neighbours import hand_made
from discreet.audit.replay import audit_method
from discreet.audit.subjects import method_subjects, objective
from discreet.cli import main
from discreet.domain import Categorical, Domain
from discreet.methods.ci_tests import CI_TESTS
from discreet.methods.registry import METHODS
from discreet.methods.svt_pc import SvtPC
from discreet.statistics.dependence import MOVED

ROOT = Path(__file__).parents[2]
EXAMPLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Example")[2].partition("\n## ")[0]


@pytest.fixture
def covariance():
    """The example, run as a reader would add it; taken back afterwards."""
    before, names = dict(CI_TESTS), {"__name__": __name__}
    for block in re.findall(r"```python\n(.*?)```", EXAMPLE, flags=re.DOTALL):
        exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    yield names["ConditionalCovariance"]
    CI_TESTS.clear()
    CI_TESTS.update(before)


def test_the_walk_is_short():
    assert len(EXAMPLE.strip().splitlines()) < 60


@pytest.mark.parametrize("given", [(), ("z",)])
def test_brute_force_over_all_neighbours(covariance, given):
    names = ("x", "y", *given)
    domain = Domain({name: Categorical(categories=("0", "1")) for name in names}, rows=4)
    statistic = covariance("x", "y", given)
    rows = list(itertools.product((0, 1), repeat=len(names)))
    values = {
        table: statistic.evaluate(table_of(np.array(table), domain))[0]
        for table in itertools.combinations_with_replacement(rows, 4)
    }
    largest = 0
    for table, value in values.items():
        for i, row in itertools.product(range(4), rows):
            other = tuple(sorted((*table[:i], *table[i + 1 :], row)))
            largest = max(largest, abs(int(value - values[other])))
    assert 0 < largest <= MOVED


def test_it_runs_by_name_everywhere(covariance, tmp_path):
    assert "covariance" in CliRunner().invoke(main, ["discover", "--help"]).stdout
    asking = [name for name, method in METHODS.items() if "test" in method.settings().choices]
    assert set(asking) == {"svt-pc", "priv-pc", "em-pc", "flipped-svt", "flipped-top-k"}
    assert "covariance" in SvtPC().choices["test"]
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=4_000)
    rows = {"x": x, "y": np.where(rng.random(4_000) < 0.9, x, 1 - x), "z": rng.integers(2, size=4_000)}
    domain = Domain({name: Categorical(categories=("0", "1")) for name in rows}, rows=4_000)
    table = {name: column.astype(str) for name, column in rows.items()}
    for method in asking:
        settings = METHODS[method].settings().changed(test="covariance")
        found = dc.discover(table, domain=domain, epsilon=50.0, method=settings)
        assert found.graph.skeleton == {frozenset("xy")}, method
        assert found.settings["test"] == "covariance"


def test_it_is_audited_with_every_method_that_asks(covariance):
    for method in ("svt-pc", "priv-pc", "em-pc", "flipped-svt", "flipped-top-k"):
        mine = [s for s in method_subjects(method) if s.settings.test == "covariance"]
        assert {s.delta > 0 for s in mine} == {True, False}
        subject = mine[0]
        pairs = list(itertools.islice(hand_made(subject.domain), 3))
        finding = audit_method(subject.name, subject.release, subject.claim, pairs)
        assert not finding.violated, finding.evidence
        assert "covariance" in subject.name


def test_the_auditor_measures_its_sensitivity(covariance):
    """A statistic that says too little is caught: the example as it is passes, with half of its bound it does not."""
    domain = Domain({name: Categorical(categories=("0", "1")) for name in "xyz"}, rows=6)
    honest, cheat = (
        covariance("x", "y", ("z",)),
        type("Cheat", (covariance,), {"_change": lambda self, size: 0.4 / size.rows}),
    )
    pairs = list(itertools.islice(hand_made(domain), 40))
    assert max(map(objective(honest, domain), pairs)) <= 1 < max(map(objective(cheat("x", "y", ("z",)), domain), pairs))
