"""SVT-PC and Priv-PC by the paper's text and by its code: each difference, with numbers derived by hand."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import norm

import discreet as dc
from discreet.audit import table_of
from discreet.audit.broken import domain_of
from discreet.baselines.exact import ExactCounts
from discreet.baselines.published import REASONS, discover_published
from discreet.baselines.published.discover import in_alphabet, reported_epsilon
from discreet.baselines.published.kendall import p_value, statistic
from discreet.baselines.published.outcome import TEXT_REASONS
from discreet.baselines.published.priv_pc import Sieve
from discreet.baselines.published.reading import READINGS
from discreet.baselines.published.svt_pc import Threshold
from discreet.cli import main

TEXT, CODE = READINGS["text"], READINGS["code"]
ROWS = 10_000


class Tape:
    """A generator that writes down what noise is asked for, and hands out zeros or what is queued."""

    def __init__(self, *answers):
        self.asked, self.answers, self.samples = [], list(answers), 0

    def _noise(self, kind, scale):
        self.asked.append((kind, round(scale, 9)))
        return self.answers.pop(0) if self.answers else 0.0

    def laplace(self, _, scale):
        return self._noise("laplace", scale)

    def normal(self, _, scale):
        return self._noise("normal", scale)

    def choice(self, _, drawn, **__):
        self.samples += 1
        return np.arange(drawn)


def independent_columns():
    """Two columns that are exactly independent: statistic 0, p-value .5."""
    codes = np.stack([np.arange(ROWS) % 2, np.arange(ROWS) // 2 % 2], axis=1)
    domain = domain_of(ROWS, x=2, y=2)
    return table_of(codes, domain), domain.sizes


def laplace(*scales):
    return [("laplace", round(scale, 9)) for scale in scales]


def test_every_value_differs():
    assert all(getattr(TEXT, f.name) != getattr(CODE, f.name) for f in fields(TEXT))


def test_scores_thresholds_and_claims():
    strata = np.array([[[30, 10], [10, 30]], [[0, 0], [2, 2]]])
    tau, rows = (30 * 30 - 10 * 10) / (80 * 79 / 2), np.array([80, 4])
    weights = 9 * rows * (rows - 1) / (4 * rows + 10)
    assert TEXT.score(strata) == pytest.approx(-tau * weights[0] / math.sqrt(weights.sum()))
    assert CODE.score(strata) == pytest.approx(norm.sf(tau * math.sqrt(weights[0])))
    assert statistic(strata[1:]) == 0
    assert math.isnan(p_value(strata[1:]))
    assert (TEXT.threshold(0.1), CODE.threshold(0.1)) == (pytest.approx(-1.2815516), 0.1)
    assert (TEXT.threshold(-0.01), CODE.threshold(-0.01)) == (-math.inf, -0.01)
    assert TEXT.sensitivity(ROWS) == pytest.approx(0.045)
    assert CODE.sensitivity(ROWS) == pytest.approx(norm.cdf(0.06) - 0.5)
    assert [TEXT.order(100_000, asked) for asked in (None, 3)] == [None, 3]
    assert [CODE.order(rows, asked) for rows, asked in ((100_000, None), (100_000, 20), (100, 3), (20, None))] == [
        11, 11, 1, 0,
    ]  # fmt: skip


def test_a_constant_column_is_independent_by_the_text_and_never_by_the_code():
    codes = np.stack([np.zeros(ROWS, dtype=np.int64), np.arange(ROWS) % 2], axis=1)
    domain = domain_of(ROWS, x=2, y=2)
    for method in ("svt-pc-published", "priv-pc-published"):
        for reading, gone in (("text", True), ("code", False)):
            found = discover_published(
                table_of(codes, domain), domain, method, round_epsilon=50, seed=1, reading=reading
            )
            assert bool(found.graph.skeleton) != gone


@pytest.mark.parametrize(("reading", "question", "fresh"), [(TEXT, 2, "laplace"), (CODE, 4, "normal")])
def test_noise_of_svt_pc(reading, question, fresh):
    table, sizes = independent_columns()
    tape = Tape()
    oracle = Threshold(ExactCounts(table, sizes), 0.1, 0.5, reading, tape)
    moved = 0.045 if reading is TEXT else norm.cdf(0.06) - 0.5
    assert oracle.ask("x", "y", frozenset()).independent
    assert tape.asked == [*laplace(4 * moved, question * 4 * moved), (fresh, round(4 * moved, 9))]


@pytest.mark.parametrize("reading", [TEXT, CODE])
def test_noise_of_priv_pc_has_the_factor_for_a_sample(reading):
    table, sizes = independent_columns()
    tape = Tape()
    oracle = Sieve(ExactCounts(table, sizes), table, 0.1, 1.0, reading, 0.25, tape)
    tape.asked.clear()
    assert oracle.ask("x", "y", frozenset()).independent
    moved = 0.045 if reading is TEXT else norm.cdf(0.06) - 0.5
    spent = math.log(4 * (math.exp(0.5) - 1) + 1)
    sieve = 2 * math.sqrt(4) * moved / spent
    assert tape.asked == laplace(2 * sieve, 2 * moved, sieve)
    assert (tape.samples, oracle.rounds, oracle.tests) == (2, 1, 2)


@pytest.mark.parametrize(("reading", "fresh"), [(TEXT, 0), (CODE, 1)])
def test_a_failed_examination_is_billed_and_refreshes_by_the_code_only(reading, fresh):
    table, sizes = independent_columns()
    tape = Tape(0.0, 0.0, 0.0, -9.0)  # two thresholds, a question that passes, an examination that fails
    oracle = Sieve(ExactCounts(table, sizes), table, 0.1, 1.0, reading, 0.25, tape)
    assert not oracle.ask("x", "y", frozenset()).independent
    assert len(tape.asked) == 4 + fresh
    assert tape.samples == 1 + fresh
    assert oracle.rounds == 1


def test_the_sieve_lies_below_the_level():
    table, sizes = independent_columns()
    bars = [Sieve(ExactCounts(table, sizes), table, 0.1, 1.0, r, 1.0, Tape())._bar for r in (TEXT, CODE)]
    assert bars == [pytest.approx(norm.ppf(0.08)), pytest.approx(0.08)]


def test_levels_are_put_in_the_order_of_their_labels():
    levels = ("LOW", "AVG", "HIGH")
    domain = dc.Domain({n: dc.Categorical(categories=levels) for n in "xy"}, rows=9)
    table = table_of(np.array([(0, 0)] * 3 + [(1, 1)] * 3 + [(2, 2)] * 3), domain)
    (before,), (after,) = (
        t.counts([("x",)]) for t in (table.take(np.array([0])), in_alphabet(table, domain).take([0]))
    )
    assert before.tolist() == [1, 0, 0]
    assert after.tolist() == [0, 0, 1]


def test_totals():
    rounds, delta = 9, 1e-3
    whole = math.sqrt(18 * math.log(1000)) + 9 * (math.e - 1)
    halves = math.sqrt(18 * math.log(2000)) + 9 * (math.exp(0.5) - 1)
    assert reported_epsilon("priv-pc-published", rounds, 1.0, delta, TEXT) == pytest.approx(whole)
    assert reported_epsilon("priv-pc-published", rounds, 1.0, delta, CODE) == pytest.approx(halves)
    assert reported_epsilon("svt-pc-published", rounds, 1.0, delta, CODE) == pytest.approx(whole)


@pytest.mark.parametrize("method", ["svt-pc-published", "priv-pc-published"])
def test_the_command_takes_both(tmp_path, method):
    net = dc.network("survey")
    pd.DataFrame(net.sample(2_000, np.random.default_rng(0))).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "domain.yaml").write_text(net.domain(2_000).to_yaml())
    given = [
        "discover",
        f"{tmp_path}/data.csv",
        "--domain",
        f"{tmp_path}/domain.yaml",
        "--method",
        method,
        "--not-private",
    ]
    for reading, reasons in (("text", TEXT_REASONS), ("code", REASONS)):
        out = tmp_path / reading
        ran = CliRunner().invoke(main, [*given, "--as", reading, "--json", "--out", str(out)])
        assert ran.exit_code == 0, ran.output
        assert reasons[method] in json.loads(ran.stdout)["privacy"]["warning"]
        assert json.loads((out / "not-private.json").read_text())["settings"]["reading"] == reading
    refused = CliRunner().invoke(main, [*given[:-2], "pc", "--not-private", "--as", "text"])
    assert refused.exit_code == 2
    assert "as: the method `pc` has no such setting" in refused.output
