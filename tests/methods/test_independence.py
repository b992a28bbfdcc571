"""Tests of independence: what they find, what they refuse, what they say."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.audit import table_of
from discreet.cli import main
from discreet.errors import BudgetError, DoubtWarning, InputError, SettingError
from discreet.methods.independence.examine import NAMES, TESTS, chosen, examine, examine_in
from discreet.release.answer import Answer, Inquiry
from discreet.report.terminal import answer_text
from discreet.statistics.permutation import Compared
from discreet.statistics.residual_products import FINE, FitSums, ResidualProduct, polynomials, powers_of

NUMBER = dc.Numeric(bounds=(-1.0, 1.0))
BINNED = dc.Numeric(bounds=(-1.0, 1.0), bins=4)
ROWS = 2_000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, ROWS)
    x = 0.6 * np.sin(3 * z) + rng.normal(0, 0.15, ROWS)
    return pd.DataFrame(
        {
            "x": x,
            "y": 0.5 * np.cos(4 * x) + rng.normal(0, 0.1, ROWS),
            "z": z,
            "alone": rng.uniform(-1, 1, ROWS),
            "still": np.zeros(ROWS),
            "far": 100 * rng.normal(size=ROWS),
            "c": rng.choice(["a", "b"], ROWS),
        }
    )


def domain_of(column=NUMBER, rows=ROWS, **others):
    names = ("x", "y", "z", "alone", "still", "far")
    return dc.Domain(dict.fromkeys(names, column) | {"c": dc.Categorical(categories=("a", "b"))} | others, rows=rows)


def asked(frame, x, y, given=(), *, column=NUMBER, epsilon=8.0, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        return dc.test_independence(frame, x, y, given, domain=domain_of(column), epsilon=epsilon, **settings)


def test_the_right_test_is_taken_and_finds_what_is_there(frame):
    found = asked(frame, "x", "y")
    assert (found.test, found.independent, found.p_value) == ("permutation", False, None)
    found = asked(frame, "x", "z", column=BINNED)
    assert (found.test, found.independent) == ("tables", False)
    assert found.p_value < 1e-6
    assert asked(frame, "x", "alone", column=BINNED, alpha=0.001).independent
    assert asked(frame, "x", "c", column=BINNED, alpha=0.001).test == "tables"
    given = asked(frame, "x", "y", ["z"], column=BINNED)
    assert (given.test, given.given, given.independent) == ("tables", ("z",), False)
    assert not asked(frame, "x", "y", ["alone", "z"], column=BINNED, epsilon=50).independent


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_promised_is_what_is_stated(frame, delta):
    for name, kind in TESTS.items():
        given = () if name == "permutation" else ("z",)
        found = asked(frame, "x", "y", given, test=name, column=BINNED, delta=delta)
        assert found.privacy.delta == (0.0 if kind.pure else delta)
        assert found.privacy.epsilon == 8.0
        assert found.level is (kind.level_given or kind.level if given else kind.level)
        assert (found.p_value is None) == kind.pure


def test_numbers_with_bins_are_numbers_for_tests_of_numbers(frame):
    assert asked(frame, "x", "y", column=BINNED, test="permutation").independent is False


def test_constant_columns_and_values_outside_bounds_have_defined_answers(frame):
    for name in TESTS:
        given = () if name == "permutation" else ("z",)
        assert isinstance(asked(frame, "still", "far", given, test=name, column=BINNED).independent, bool)
    small = frame[:60]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        told = [examine(small, "still", "x", domain=domain_of(rows=60), epsilon=1.0).independent for _ in range(20)]
    assert np.mean(told) > 0.6
    assert asked(frame, "x", "y", ["still"], test="gcm").p_value is not None


def test_auto_settles_from_public_facts():
    both = domain_of()
    assert chosen("auto", Inquiry("x", "y"), both) == "permutation"
    assert chosen("auto", Inquiry("x", "y", ("z",)), domain_of(BINNED)) == "tables"
    quantiles = dc.Numeric(bounds=(-1.0, 1.0), bins=4, at="quantiles")
    assert chosen("auto", Inquiry("x", "y"), domain_of(quantiles)) == "tables"
    for question in (Inquiry("x", "y", ("z",)), Inquiry("x", "c")):
        assert chosen("auto", question, both) == "moments"


def test_bins_at_quantiles_are_settled_first(frame):
    found = asked(frame, "x", "z", column=dc.Numeric(bounds=(-1.0, 1.0), bins=4, at="quantiles"))
    assert (found.test, found.independent, len(found.privacy.spent)) == ("tables", False, 2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"y": "x"}, "two different"),
        ({"given": ["x"]}, "neither of the two"),
        ({"given": ["z", "z"]}, "each column once"),
        ({"given": "z"}, "list of names"),
        ({"y": "nowhere"}, "nowhere"),
        ({"given": ["nowhere"]}, "nowhere"),
        ({"test": "t-test"}, "one of auto"),
        ({"y": "c", "test": "permutation"}, "'c'"),
        ({"y": "c", "test": "gcm", "given": ["z"]}, "'c'"),
        ({"test": "permutation", "given": ["z"]}, "takes none"),
        ({"test": "krr"}, "take `permutation`"),
        ({"test": "gcm"}, "take `permutation`"),
        ({"test": "gcm", "given": ["alone", "far", "still", "z"]}, "from 1 to 3"),
        ({"test": "tables"}, "bins"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1e-7}, "alpha"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.5}, "delta"),
    ],
)
def test_what_does_not_fit_is_refused_before_rows_are_read(settings, says):
    settings = {"x": "x", "y": "y", "epsilon": 1.0} | settings
    with pytest.raises(InputError, match=says):
        dc.test_independence("/nowhere.csv", settings.pop("x"), settings.pop("y"), domain=domain_of(), **settings)


def test_few_rows_and_large_kernels_are_refused():
    with pytest.raises(SettingError, match="at least 50"):
        dc.test_independence("/nowhere.csv", "x", "y", domain=domain_of(rows=49), epsilon=1.0)
    with pytest.raises(SettingError, match="at most 4,000"):
        dc.test_independence(
            "/nowhere.csv", "x", "y", ["alone", "z"], domain=domain_of(rows=5_000), epsilon=1.0, test="krr"
        )


@pytest.mark.parametrize("name", ["krr", "gcm"])
def test_a_level_that_is_not_controlled_is_said_before_anything_is_spent(frame, name):
    rows = np.zeros((60, 3), dtype=np.int64)
    domain = dc.Domain(dict.fromkeys("xyz", NUMBER), rows=60)
    room = dc.Room(table_of(rows, domain), domain, dc.Budget(epsilon=1.0, delta=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtWarning)
        with pytest.raises(DoubtWarning, match="not controlled"):
            examine_in(room, Inquiry("x", "y", ("z",)), name)
    assert not room.budget.entries


def test_a_spent_budget_answers_nothing_more(frame):
    domain = dc.Domain(dict.fromkeys("xy", NUMBER), rows=60)
    room = dc.Room(table_of(np.zeros((60, 2), dtype=np.int64), domain), domain, dc.Budget(epsilon=9.0, delta=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        examine_in(room, Inquiry("x", "y"), "permutation")
        with pytest.raises(BudgetError):
            examine_in(room, Inquiry("x", "y"), "permutation")


def test_sums_for_a_fit_are_those_of_its_polynomials():
    rng, rows = np.random.default_rng(1), 200
    domain = dc.Domain(dict.fromkeys("xyz", NUMBER), rows=rows)
    codes = rng.integers(0, NUMBER.size, (rows, 3))
    statistic = FitSums(Compared.of("x", "y", ("z",), domain))
    table = table_of(codes, domain)
    square, crossed, squares = statistic.moments(statistic.evaluate(table), rows)
    x, y, z = ((2 * codes[:, i] + 1) / NUMBER.size - 1 for i in range(3))
    features = np.stack([np.cos(d * np.arccos(z)) for (d,) in powers_of(1)])
    assert square == pytest.approx(features @ features.T / rows, abs=1e-3)
    assert crossed == pytest.approx(np.stack([features @ x, features @ y]) / rows, abs=1e-3)
    assert squares == pytest.approx(np.array([x @ x, y @ y]) / rows, abs=1e-3)
    fits = tuple(np.zeros(len(powers_of(1))) for _ in "xy")
    product = ResidualProduct(statistic.of, fits, (FINE, FINE)).evaluate(table)
    assert product[0] / FINE**2 == pytest.approx(x @ y, abs=0.2)
    assert np.abs(polynomials([codes[:, 0] - NUMBER.size // 2])).max() <= FINE


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_tables_and_permutations_keep_their_level(epsilon):
    rng, rows, runs = np.random.default_rng(2), 500, 150
    domain = dc.Domain({"x": BINNED, "y": BINNED}, rows=rows)
    plain = dc.Domain({"x": NUMBER, "y": NUMBER}, rows=rows)
    found = {"tables": 0, "permutation": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        for _ in range(runs):
            for name, of in (("tables", domain), ("permutation", plain)):
                codes = rng.integers(0, of.size("x"), (rows, 2))
                budget = dc.Budget(epsilon=epsilon, delta=1e-6 if name == "tables" else 0.0)
                room = dc.Room(table_of(codes, of), of, budget)
                found[name] += not examine_in(room, Inquiry("x", "y"), name).independent
    assert max(found.values()) / runs < 0.12


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def files(tmp_path, frame):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "domain.yaml").write_text(domain_of().to_yaml())
    return tmp_path / "rows.csv", tmp_path / "domain.yaml"


def test_the_command_says_the_decision_and_the_promise(files):
    data, domain = files
    found = run("test", data, "x", "y", "--domain", domain, "--epsilon", 8)
    assert found.exit_code == 0
    assert "x and y: dependent (test permutation, alpha 0.05)" in found.stdout
    assert "at most alpha" in found.stdout
    assert "Promised" in found.stderr
    assert "delta 0" in found.stderr


def test_the_command_prints_json_and_warns_on_stderr(files, tmp_path):
    data, domain = files
    out = tmp_path / "answer.json"
    typed = ("test", data, "x", "y", "--given", "z", "--domain", domain, "--epsilon", 4, "--test", "gcm")
    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubtWarning)
        found = run(*typed, "--json", "--out", out)
    assert found.exit_code == 0
    assert "warning: the level of `gcm` is not controlled" in found.stderr
    told = json.loads(found.stdout)
    assert told == json.loads(out.read_text())
    assert {"schema", "x", "y", "given", "test", "alpha", "independent", "p_value", "level", "privacy", "rows"} < set(
        told
    )
    assert (told["schema"], told["test"], told["given"], told["level"]["controlled"]) == (1, "gcm", ["z"], False)
    assert told["privacy"]["epsilon"] == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("x", "x"), "two different"),
        (("x", "nowhere"), "nowhere"),
        (("x", "y", "--test", "t-test"), "one of auto"),
        (("x", "y", "z"), "--given"),
        (("x", "c", "--test", "tables"), "bins"),
        (("x", "y", "--alpha", "2"), "alpha"),
    ],
)
def test_the_command_refuses_with_exit_code_2(files, arguments, says):
    data, domain = files
    found = run("test", data, *arguments, "--domain", domain, "--epsilon", 1)
    assert found.exit_code == 2
    assert says in found.stderr
    assert not found.stdout


def test_names_in_the_help_are_those_that_exist():
    told = run("test", "--help").stdout
    assert all(name in told for name in NAMES)
    assert dc.test_independence is examine


@pytest.mark.parametrize("test", ["tables", "moments"])
def test_values_that_are_missing_together_can_be_left_out(test):
    rng = np.random.default_rng(1)
    rows, block = 20_000, rng.integers(2, size=20_000)
    answers = {c: np.where(block == 0, "", rng.choice(["no", "yes"], rows)) for c in "xy"}
    answers["z"] = np.where(answers["x"] == "yes", rng.choice(["no", "yes", ""], rows), answers["x"])
    column = dc.Categorical(categories=("no", "yes"), missing="none")
    domain = dc.Domain(dict.fromkeys("xyz", column), rows=rows)
    asked = {"domain": domain, "epsilon": 1.0, "test": test, "alpha": 1e-4}
    assert not dc.test_independence(answers, "x", "y", **asked).independent
    found = dc.test_independence(answers, "x", "y", missing="leave-out", **asked)
    assert (found.independent, found.missing) == (True, "leave-out")
    assert "where values are known" in answer_text(found)
    assert Answer.from_json(found.to_json()) == found
    assert not dc.test_independence(answers, "x", "z", missing="leave-out", **asked).independent
    with pytest.raises(SettingError, match="missing: one of level, leave-out"):
        dc.test_independence(answers, "x", "y", missing="away", **asked)
    with pytest.raises(SettingError, match="takes a value in every row"):
        dc.test_independence(answers, "x", "y", missing="leave-out", **{**asked, "test": "gcm"})


def test_where_hardly_a_row_has_both_values_nothing_is_tested():
    column = dc.Categorical(categories=("no", "yes"), missing="none")
    domain = dc.Domain(dict.fromkeys("xy", column), rows=2_000)
    table = {"x": ["yes", ""] * 1_000, "y": ["", "no"] * 1_000}
    with pytest.warns(DoubtWarning, match="nothing could be tested"):
        found = dc.test_independence(table, "x", "y", domain=domain, epsilon=1.0, missing="leave-out")
    assert (found.independent, found.p_value) == (True, 1.0)
