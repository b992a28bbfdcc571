"""Budgets, methods, statements and the ledger where the promise is made to people with several rows."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.audit import table_of
from discreet.audit.statistics import KendallA, SpearmanA
from discreet.cli import main
from discreet.domain import People
from discreet.errors import DoubtWarning, ReleaseError, RoomError, SettingError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.prices import Price
from discreet.ledger.records import Standing
from discreet.ledger.verify import verify_ledger
from discreet.methods.em_pc import EmPC
from discreet.methods.priv_pc import PrivPC
from discreet.methods.svt_pc import SvtPC
from discreet.privacy.accounting import Currency, as_written, limit_of, mu_of, rho_of
from discreet.privacy.budget import GRAINS, Budget, Cost
from discreet.privacy.mechanisms.additive import DiscreteLaplace, RoundedGaussian, additive_for
from discreet.privacy.statement import Privacy
from discreet.release.clipping import make_frame
from discreet.report.html import report_html
from discreet.report.terminal import statement_text
from discreet.report.words import not_promised_words
from discreet.statistics.clipped import ClippedInteractions
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions
from support.people import KEYS, bounded, domain_of, drawn_rows, sample_rows

BUDGETS = [(Currency.GDP, 1.0, 1e-3), (Currency.ZCDP, 0.5, 1e-3), (Currency.PURE, 0.7, 0.0)]


@pytest.mark.parametrize(("currency", "epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_budgets_are_for_the_whole_person(currency, epsilon, delta, most):
    alone = Budget(epsilon=epsilon, delta=delta, currency=currency)
    budget = Budget(epsilon=epsilon, delta=delta, currency=currency, group=most)
    times = most if currency is Currency.PURE else most**2
    assert budget.promised == alone.limit
    assert 0 <= alone.limit - times * budget.limit < Fraction(times, GRAINS)
    budget.charge(Cost({currency: budget.limit}), statistic="all", mechanism="all")
    with pytest.raises(dc.BudgetError):
        budget.charge(Cost({currency: Fraction(1, GRAINS)}), statistic="more", mechanism="more")


def test_a_group_is_a_number_of_rows():
    for group in (0, -1, 1.5, True):
        with pytest.raises(SettingError, match="group"):
            Budget(epsilon=1.0, delta=1e-6, group=group)


STATISTICS = (
    Counts((("x0",), ("x0", "x1"))),
    Interactions((("x0",), ("x1",), ("x0", "x1")), (1, 2, 3)),
    ClippedInteractions(make_frame({"x0": np.array([0.7, 0.2, 0.1]), "x1": np.array([0.6, 0.4])})),
    KendallA("x0", "x1"),
    SpearmanA("x0", "x1"),
)


def neighbours(sizes, n, most, number):
    """Yield encoded tables that one person tells apart: random ones, and those with extreme rows."""
    rng = np.random.default_rng(5)
    values = list(product(*map(range, sizes)))
    for _ in range(number):
        rest = drawn_rows(rng, sizes, int(rng.integers(0, n + 4)), people=6)
        each = [[], *([(("p"), value)] * most for value in values), drawn_rows(rng, sizes, 5, people=1)]
        tables = [bounded([*rest, *(("p", codes) for _, codes in rows)], sizes, n, most, KEYS[0]) for rows in each]
        yield [np.array(sorted(table.elements())) for table in tables]


@pytest.mark.parametrize(("currency", "epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_what_a_person_moves_is_hidden_by_the_noise_of_their_budget(statistic, currency, epsilon, delta):
    """The loss between neighbours, in units of the noise that is bought, is within the promise and comes near it."""
    sizes, n, most = (3, 2), 12, 3
    domain, most_lost = domain_of(sizes, n, most), 0.0
    sensitivity = statistic.sensitivity(domain)
    budget = Budget(epsilon=epsilon, delta=delta, currency=currency, group=domain.group)
    try:
        mechanism = additive_for(currency, budget.left, sensitivity)
    except SettingError:
        assert isinstance(statistic, Interactions | ClippedInteractions)
        assert currency is Currency.PURE
        return
    budget.charge(mechanism.cost(sensitivity), statistic=statistic.name, mechanism=mechanism.name)
    for tables in neighbours(sizes, n, most, 60):
        values = [statistic.evaluate(table_of(table, domain)) for table in tables]
        for a, b in product(values, values):
            change = (a - b).astype(float)
            if isinstance(mechanism, DiscreteLaplace):
                lost = np.abs(change).sum() / mechanism.scale
            elif sensitivity.squares is not None:
                squared = (change**2 / np.array([float(s) for s in sensitivity.squares])).sum()
                lost = np.sqrt(
                    squared / float(sensitivity.l2_squared) * float(mechanism.cost(sensitivity).amount(Currency.GDP))
                )
            else:
                lost = np.sqrt((change**2).sum()) / mechanism.sigma
            most_lost = max(most_lost, lost)
    if currency is Currency.PURE:
        promised = float(as_written(epsilon))
    else:
        promised = mu_of(epsilon, delta) if currency is Currency.GDP else np.sqrt(2 * rho_of(epsilon, delta))
    assert most_lost <= promised * (1 + 1e-9)
    assert most_lost > promised / most * 1.2  # more than one row's part: a budget without a group would be caught
    if isinstance(mechanism, RoundedGaussian):
        alone = additive_for(currency, limit_of(currency, epsilon, delta), sensitivity)
        assert mechanism.sigma == pytest.approx(most * alone.sigma)


def test_a_room_refuses_a_budget_for_other_rows():
    domain, rows = domain_of((2, 2), 20, 3), np.zeros((20, 2), dtype=int)
    for group in (1, 2, 4):
        with pytest.raises(RoomError, match="group"):
            dc.Room(table_of(rows, domain), domain, Budget(epsilon=1.0, delta=1e-3, group=group))
    dc.Room(table_of(rows, domain), domain, Budget(epsilon=1.0, delta=1e-3, group=3))
    alone = dc.Domain(domain.columns, rows=20)
    with pytest.raises(RoomError, match="group"):
        dc.Room(table_of(rows, alone), alone, Budget(epsilon=1.0, delta=1e-3, group=3))
    assert domain.with_rows(2).group == domain.widest().group == 3


def numbers_frame(number=3_000):
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, number))
    return pd.DataFrame(
        {"who": rng.integers(0, 900, number), "x": x, "y": x**2 + 0.3 * rng.normal(size=number), "z": z}
    )


NUMBERS = dc.Domain(
    {name: dc.Numeric(bounds=(-4.0, 4.0)) for name in "xyz"}, rows=2_000, unit="patient", people=People("who", 4)
)
BINNED = replace(NUMBERS, columns={n: dc.Numeric(bounds=(-4.0, 4.0), bins=3, at="quantiles") for n in "xyz"})


def within(privacy, group):
    """Whether what was spent on single rows, counted for all of a person's, is what was promised."""
    currency = {c.value: c for c in Currency}[privacy.spent[0].currency]
    limit = float(limit_of(currency, privacy.epsilon, privacy.delta))
    spent = sum(s.amount for s in privacy.spent) * (group if currency is Currency.PURE else group**2)
    return 0 < spent <= limit * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
@pytest.mark.parametrize(
    "method", ["marginals", "moments", "em-pc", "svt-pc", "priv-pc", "flipped-top-k", "flipped-svt", "pcd"]
)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_every_method_keeps_to_the_budget_of_a_person(method, delta):
    domain = NUMBERS if method in ("moments", "pcd") else BINNED
    found = dc.discover(numbers_frame(), domain=domain, epsilon=60.0, delta=delta, method=method)
    assert within(found.privacy, 4)
    if method in ("marginals", "moments", "pcd"):  # what asks may leave something
        assert not within(found.privacy, 5)
    again = dc.Discovery.from_json(found.to_json())
    assert again.privacy == found.privacy
    assert again.domain == found.domain
    assert again.privacy.max_rows == 4


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
def test_sampled_rounds_and_rounds_with_a_price_of_their_own():

    for recipe in (PrivPC(sample=0.5), SvtPC(round_epsilon=2.0), EmPC(round_epsilon=2.0), PrivPC(round_epsilon=2.0)):
        found = dc.discover(numbers_frame(), domain=BINNED, epsilon=60.0, delta=0.0, method=recipe)
        assert within(found.privacy, 4)
        if recipe.round_epsilon is not None:
            rounds = [s.amount for s in found.privacy.spent if s.statistic not in ("quantiles",)]
            assert min(rounds) <= 2.0 / 4 * (1 + 1e-9)
    with pytest.raises(dc.BudgetError, match=r"takes an epsilon of (6|7|8)"):
        dc.discover(numbers_frame(), domain=BINNED, epsilon=1.0, delta=0.0, method=SvtPC(round_epsilon=6.0))


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
def test_tests_and_directions_keep_to_the_budget_of_a_person():
    frame = numbers_frame()
    for test, given in (("permutation", ()), ("tables", ("z",)), ("moments", ("z",)), ("krr", ("z",)), ("gcm", ("z",))):
        domain = BINNED if test == "tables" else NUMBERS
        found = dc.test_independence(frame, "x", "y", given, domain=domain, epsilon=50.0, test=test)
        assert within(found.privacy, 4)
        assert not within(found.privacy, 5)
        assert type(found).from_json(found.to_json()).privacy.max_rows == 4
    for score in ("copula", "reci", "iqr"):
        told = dc.direction(frame, ("x", "y"), domain=NUMBERS, epsilon=50.0, score=score)
        assert within(told.privacy, 4)
        assert not within(told.privacy, 5)
    for score, epsilon, words in (("copula", 0.2, "epsilon 0.2 for 1 pair"), ("reci", 0.5, "epsilon 0.5 a pair")):
        with pytest.warns(DoubtWarning, match=words):
            dc.direction(frame, ("x", "y"), domain=NUMBERS, epsilon=epsilon, score=score)


def test_doubts_know_of_the_group():
    frame = sample_rows()
    alone = dc.Domain(domain_of((2, 2), 1, 1).columns, rows=3_000)

    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtWarning)
        dc.discover(frame, domain=alone, epsilon=1.0)
    with pytest.warns(DoubtWarning, match="stand"):
        dc.discover(frame, domain=domain_of((2, 2), 2_900, 30), epsilon=1.0)


def test_statements_speak_of_people():

    found = dc.discover(numbers_frame(), domain=BINNED, epsilon=20.0)
    words = " ".join(statement_text(found).split())
    assert "for changing all rows of one patient" in words
    assert "To each patient: whatever anybody concludes" in words
    assert "had all rows of that patient been absent or anything else" in words
    assert "Anything beyond one patient: of each, at most 4 rows were used" in words
    assert "they count 4 squared times" in report_html(found)
    assert "one row;" not in " ".join(not_promised_words(found.privacy))
    assert "change all rows of one patient" in report_html(found)
    assert "replace one row" not in report_html(found)
    privacy = found.to_dict()["privacy"]
    assert (privacy["neighbors"], privacy["unit"], privacy["max_rows"]) == ("change-one-person", "patient", 4)
    alone = replace(found.privacy, max_rows=None).to_dict()
    assert alone["neighbors"] == "replace-one-row"
    assert "max_rows" not in alone
    assert Privacy.from_dict({k: v for k, v in alone.items() if k != "neighbors"}).max_rows is None  # an old one
    for odd in (
        {"max_rows": 0},
        {"max_rows": None},
        {"max_rows": "4"},
        {"neighbors": "replace-one-row"},
        {"neighbors": "x"},
    ):
        with pytest.raises(ReleaseError):
            Privacy.from_dict({**privacy, **odd})


def test_the_command_line(tmp_path):

    frame = numbers_frame()
    frame.assign(who=[f"secret-{i}" for i in frame["who"]]).to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "domain.yaml").write_text(BINNED.to_yaml())
    common = [str(tmp_path / "visits.csv"), "--domain", str(tmp_path / "domain.yaml")]
    run = CliRunner().invoke(main, ["discover", *common, "--epsilon", "20", "--json", "--out", str(tmp_path / "out")])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["privacy"]["neighbors"] == "change-one-person"
    released = (tmp_path / "out" / "release.json").read_text()
    assert "secret-" not in released
    assert dc.Discovery.from_json(released).domain.people == People("who", 4)
    again = CliRunner().invoke(main, ["discover", str(tmp_path / "out" / "release.json"), "--search", "pc"])
    assert again.exit_code == 0
    assert "for changing all rows of one patient" in again.stderr
    left = int(frame.groupby("who").size().clip(upper=4).sum())
    check = CliRunner().invoke(main, ["domain", "check", *common])
    assert check.exit_code == 0
    assert f"3,000 rows, of which {left:,} are left if at most 4 are kept of each patient" in check.stderr
    assert "ignored" not in check.stderr
    checked = CliRunner().invoke(main, ["domain", "check", *common, "--json"])
    empty = {"problems": [], "ignored": [], "clipped": {}, "placed": []}
    assert json.loads(checked.stdout) | {"clipped": {}} == {"schema": 1, "fits": True, **empty, "left": left}
    (tmp_path / "domain.yaml").write_text(replace(BINNED, rows=2 * left).to_yaml())
    check = CliRunner().invoke(main, ["domain", "check", *common])
    assert check.exit_code == 2
    assert f"declares {2 * left}, and {left} are left" in check.stderr
    (tmp_path / "domain.yaml").write_text(replace(BINNED, people=People("nobody", 4)).to_yaml())
    check = CliRunner().invoke(main, ["domain", "check", *common])
    assert check.exit_code == 2
    assert "'nobody': declared, but not in the data" in check.stderr


@pytest.mark.parametrize(("currency", "epsilon", "delta"), BUDGETS)
def test_a_run_is_booked_at_what_it_promises_to_a_person(currency, epsilon, delta):
    made = [Budget(epsilon=epsilon, delta=delta, currency=currency, group=group) for group in (1, 3, 5)]
    prices = [Price.of_budget(budget) for budget in made]
    assert prices == [prices[0]] * 3
    times = 5 if currency is Currency.PURE else 25
    assert prices[2].amount(currency) >= times * made[2].limit * GRAINS


def protecting(name, ledger, domain, **settings):
    account = dc.Account(name, ledger, **settings)
    return dc.discover(numbers_frame(), domain=domain, epsilon=5.0, account=account)


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
def test_the_ledger_notes_who_is_protected(tmp_path):
    ledger = open_ledger(tmp_path / "ledger.db")
    alone = dc.Domain(BINNED.columns, rows=3_000)
    dc.Account("visits", ledger).limit(epsilon=30.0, delta=1e-6)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".* protects? .*", DoubtWarning)
        protecting("visits", ledger, BINNED)
        protecting("visits", ledger, replace(BINNED, people=People("who", 3)))  # the same people, fewer rows of each
        protecting("rows", ledger, alone)
        protecting("rows", ledger, alone)
    assert ledger.standing("visits").protected == ("all rows of one who",)
    assert ledger.standing("rows").protected == ("row",)
    assert ledger.standing("new").protected == ()
    with pytest.warns(DoubtWarning, match="protect all rows of one who, and this one protects single rows"):
        protecting("visits", ledger, alone)
    with pytest.warns(DoubtWarning, match="protect single rows, and this one protects all rows of one who"):
        protecting("rows", ledger, BINNED)
    asked = [e.facts["asked"] for e in ledger.book().entries if e.kind == "reserved"]
    assert [a.get("protects") for a in asked] == ["all rows of one who"] * 2 + [None] * 3 + ["all rows of one who"]
    ledger.merge("rows", "visits")
    ledger.spend("visits", Price.of_outside(0.1, 0.0), what={"command": "outside"}, purpose="")
    assert ledger.standing("visits").protected == ("all rows of one who", "row")
    assert verify_ledger(ledger).problems == []
    shown = CliRunner().invoke(main, ["ledger", "show", "--ledger", str(tmp_path / "ledger.db")])
    assert "runs protect all rows of one who, single rows; all together hold for single rows only" in shown.stdout


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
def test_an_entry_that_says_something_else_is_found(tmp_path):
    ledger = open_ledger(tmp_path / "ledger.db")
    protecting("visits", ledger, BINNED)
    entries = ledger.book().entries
    reserved = next(e for e in entries if e.kind == "reserved")
    standing = Standing.of(reserved)
    assert standing.protects == ("all rows of one who",)
    old = {k: v for k, v in reserved.facts["standing"].items() if k != "protects"}
    assert Standing.of(replace(reserved, facts={**reserved.facts, "standing": old})).protected == ("row",)
    kept = ledger.read_all()
    forged = replace(reserved, facts={**reserved.facts, "standing": old})
    rows = [r._replace(body=forged.text, hash=forged.hash) if r.number == forged.number else r for r in kept.rows]
    ledger.read_all = lambda thorough: kept._replace(rows=tuple(rows))
    problems = verify_ledger(ledger).problems
    assert any("does not add up" in problem for problem in problems)


@pytest.mark.filterwarnings("ignore::discreet.errors.DoubtWarning")
def test_the_same_request_shows_the_same_release(tmp_path):
    ledger = open_ledger(tmp_path / "ledger.db")
    first, second = (protecting("visits", ledger, BINNED, request="one") for _ in range(2))
    assert first.to_json() == second.to_json()
    assert second.privacy.max_rows == 4
    with pytest.raises(dc.InputError, match="other parameters"):
        protecting("visits", ledger, replace(BINNED, people=People("who", 3)), request="one")


def test_how_much_it_takes_is_told_for_a_person():
    frame = numbers_frame().head(2_000)
    alone = dc.Domain(NUMBERS.columns, rows=2_000)
    told = []
    for domain in (alone, replace(alone, people=People("row", 1)), replace(alone, people=People("row", 5))):
        with pytest.raises(dc.BudgetError, match="no dependence can stand out") as refused:
            dc.discover(frame.assign(row=range(2_000)), domain=domain, epsilon=0.01, delta=0.0, method="pcd")
        told.append(float(str(refused.value).split("an epsilon of about ")[1].split(",")[0]))
    assert told[0] == told[1]
    assert told[2] == pytest.approx(5 * told[0], rel=0.1)
