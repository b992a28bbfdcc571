"""The ledger: reserve, compute, commit, emit; limits across runs; the same request, the same release."""

import json
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import discreet as dc
from discreet.errors import BudgetError, LedgerError, RequestError, RoomError, SettingError
from discreet.ledger.account import Account
from discreet.ledger.entries import BEFORE_ALL, Entry
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.prices import NOTHING, Limit, Price, smallest_limit
from discreet.ledger.records import Asked, index_by_dataset, plain_sum, total_of
from discreet.ledger.stores import store_for
from discreet.ledger.verify import Anchor, verify_ledger
from discreet.methods.svt_pc import SvtPC
from discreet.privacy.accounting import Currency, epsilon_of_mu, epsilon_of_rho, gdp_delta, mu_of, rho_of, zcdp_delta
from discreet.privacy.budget import GRAINS, Budget, Cost
from discreet.report.ledger import total_words
from discreet.room import Room

ROWS = 400
ASKED = Asked("discover", "marginals", 0.1, 1e-6, "p")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    import psycopg

    home = request.getfixturevalue("server").get_uri()
    name = f"l{abs(hash(request.node.name)) % 10**12}"
    with psycopg.connect(home, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return home.replace("/postgres?", f"/{name}?")


@pytest.fixture
def net():
    return dc.network("asia")


@pytest.fixture
def rows(net):
    return net.sample(ROWS, np.random.default_rng(0))


def price(rho):
    return Price(int(Fraction(rho) * GRAINS), None, None)


def test_prices_of_whole_runs():
    gdp = Price.of_budget(Budget(epsilon=1, delta=1e-6))
    assert gdp.pure is None
    assert gdp.gdp == 2 * gdp.zcdp or gdp.gdp == 2 * gdp.zcdp - 1
    assert abs(gdp.gdp / GRAINS - mu_of(1, 1e-6) ** 2) < 1e-12
    zcdp = Price.of_budget(Budget(epsilon=1, delta=1e-6, currency=Currency.ZCDP))
    assert (zcdp.pure, zcdp.gdp) == (None, None)
    assert abs(zcdp.zcdp / GRAINS - rho_of(1, 1e-6)) < 1e-15
    pure = Price.of_budget(Budget(epsilon=0.5, delta=0))
    assert pure.pure == GRAINS // 2
    assert pure.zcdp == GRAINS // 8
    assert Price.of_pure(Fraction(4)).zcdp == 4 * GRAINS  # divergences of a pure promise never exceed epsilon
    # what a pure promise costs in Gaussian accounting is enough: the likelihood ratio e^epsilon is within its law
    mu = (pure.gdp / GRAINS) ** 0.5
    likely = np.exp(0.5) / (1 + np.exp(0.5))
    assert likely - np.exp(0.1) * (1 - likely) <= gdp_delta(mu, 0.1) + 1e-12


def test_epsilons_of_totals_are_certified_and_near():
    for rho, delta in ((0.02, 1e-6), (0.5, 1e-9), (3.0, 1e-5)):
        epsilon = epsilon_of_rho(rho, delta)
        assert zcdp_delta(rho, epsilon) <= delta * (1 + 1e-12)
        assert rho_of(epsilon * (1 - 1e-9), delta) <= rho
    for mu in (0.1, 1.0, 4.0):
        epsilon = epsilon_of_mu(mu, 1e-6)
        assert gdp_delta(mu, epsilon) <= 1e-6 * (1 + 1e-9)
        assert mu_of(epsilon * (1 - 1e-9), 1e-6) <= mu
    assert epsilon_of_rho(1e9, 1e-6) == float("inf")
    both = Price.of_budget(Budget(epsilon=1, delta=1e-6))
    assert abs(both.epsilon(1e-6) - 1) < 1e-9  # one Gaussian run is what it promised
    assert 1.05 < both.epsilon(1e-6, Currency.ZCDP) < 1.1
    assert both.plus(price(0.1)).gdp is None
    assert NOTHING.epsilon(0.0) == 0.0
    assert Price.of_outside(1.0, 1e-3).epsilon(1e-6) is None


def test_limits_in_their_currency():
    pure, zcdp = Limit(1.0, 0.0), Limit(1.0, 1e-6)
    assert (pure.currency, zcdp.currency) == (Currency.PURE, Currency.ZCDP)
    assert pure.amount == GRAINS
    assert zcdp.amount == int(Fraction(rho_of(1.0, 1e-6)) * GRAINS)
    assert pure.allows(Price.of_pure(Fraction(1)))
    assert not pure.allows(Price.of_pure(Fraction(GRAINS + 1, GRAINS)))
    assert not pure.allows(price(0.001))  # no cost in pure epsilon
    put_by = Limit(1.0, 1e-6, approximate=1e-7)
    assert put_by.amount < zcdp.amount
    outside = Price.of_outside(0.1, 1e-7)
    assert put_by.allows(outside)
    assert not put_by.allows(outside.plus(outside))
    assert not zcdp.allows(outside)
    for bad in ((0, 1e-6), (1, 1.0), (1, -1), (float("nan"), 0), (1, 0, 1e-9), (1, 1e-6, 1e-6)):
        with pytest.raises(SettingError):
            Limit(*bad)


@pytest.mark.parametrize("spent", [0.0, 0.01, 0.0243])
def test_what_a_further_run_could_have_does_fit(spent):
    limit = Limit(1.0, 1e-6)
    gone = price(spent)
    largest = limit.largest(gone, pure=False, delta=1e-6)
    fits = Price.of_budget(Budget(epsilon=largest, delta=1e-6, currency=Currency.ZCDP))
    more = Price.of_budget(Budget(epsilon=largest * 1.02, delta=1e-6, currency=Currency.ZCDP))
    assert limit.allows(gone.plus(fits))
    assert not limit.allows(gone.plus(more))
    alone = limit.largest(gone, pure=True, delta=0.0)
    assert limit.allows(gone.plus(Price.of_pure(Fraction(alone))))
    assert not limit.allows(gone.plus(Price.of_pure(Fraction(alone * 1.02))))


def test_a_budget_reserves_once_before_its_first_charge():
    calls = []
    budget = Budget(epsilon=1, delta=0, reserve=lambda b: calls.append(b.spent))
    with pytest.raises(BudgetError):
        budget.charge(Cost({Currency.PURE: Fraction(2)}), statistic="s", mechanism="m")
    assert not calls  # what the run's own budget refuses reserves nothing
    for _ in range(3):
        budget.charge(Cost({Currency.PURE: Fraction(1, 4)}), statistic="s", mechanism="m")
    assert calls == [0]

    def refuses(_):
        raise BudgetError("no")

    refused = Budget(epsilon=1, delta=0, reserve=refuses)
    for _ in range(2):
        with pytest.raises(BudgetError, match="no"):
            refused.charge(Cost({Currency.PURE: Fraction(1, 4)}), statistic="s", mechanism="m")
    assert refused.spent == 0


def test_a_run_is_reserved_committed_and_handed_out(url, net, rows):
    account = Account("visits", url, purpose="a test")
    found = dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    book = account.ledger.book()
    assert [e.kind for e in book.entries] == ["begun", "reserved", "committed"]
    begun, reserved, committed = book.entries
    assert begun.previous == BEFORE_ALL
    assert (reserved.previous, committed.previous) == (begun.hash, reserved.hash)
    assert reserved.request == committed.request
    assert reserved.purpose == "a test"
    assert found.privacy.ledger.entry == 3
    assert found.privacy.ledger.head == committed.hash == book.head
    assert [s["statistic"] for s in committed.facts["spent"]] == [s.statistic for s in found.privacy.spent]
    assert Price.from_dict(reserved.facts["cost"]) == Price.of_budget(Budget(epsilon=1.0, delta=1e-6))
    assert account.standing().spent == Price.from_dict(reserved.facts["cost"])
    assert verify_ledger(account.ledger).problems == []
    again = dc.Discovery.from_json(found.to_json())
    assert again.privacy == found.privacy


def test_runs_add_up_until_the_limit(url, net, rows):
    account = Account("visits", url)
    account.ledger.declare("visits", Limit(1.0, 1e-6), owner="maria")
    domain = net.domain(ROWS)
    for _ in range(3):  # zCDP: more than two halves
        dc.discover(rows, domain=domain, epsilon=0.5, account=account)
    with pytest.raises(BudgetError, match=r"asks epsilon 0\.5.*could have epsilon .* is spent, .* is left"):
        dc.discover(rows, domain=domain, epsilon=0.5, account=account)
    standing = account.standing()
    assert standing.owner == "maria"
    assert standing.limit.allows(standing.spent)
    assert account.ledger.book().entries[-1].kind == "refused"
    assert verify_ledger(account.ledger).problems == []


def test_a_run_of_exactly_the_limit_fits_once(url, net, rows):
    account = Account("visits", url)
    account.ledger.declare("visits", Limit(1.0, 1e-6))
    found = dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    assert {s.currency for s in found.privacy.spent} == {"zCDP rho"}
    assert account.standing().limit.share(account.standing().spent) == 1.0
    with pytest.raises(BudgetError, match="no further run is possible"):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1e-6, account=account)


def test_pure_limits_take_pure_runs(net, rows, tmp_path):
    account = Account("visits", str(tmp_path / "l.db"))
    account.ledger.declare("visits", Limit(1.0, 0.0))
    domain = net.domain(ROWS)
    with pytest.raises(BudgetError, match="delta 0"):
        dc.discover(rows, domain=domain, epsilon=0.1, account=account)
    for _ in range(2):
        dc.discover(rows, domain=domain, epsilon=0.5, delta=0, account=account)
    with pytest.raises(BudgetError):
        dc.discover(rows, domain=domain, epsilon=0.0001, delta=0, account=account)


@pytest.mark.parametrize("method", ["svt-pc", "em-pc", "flipped-top-k"])
def test_methods_that_ask_are_recorded_too(net, rows, tmp_path, method):
    account = Account("visits", str(tmp_path / "l.db"))
    found = dc.discover(rows, domain=net.domain(ROWS), epsilon=3.0, method=method, account=account)
    assert found.privacy.ledger.entry == 3
    assert account.standing().spent.zcdp == int(Fraction(rho_of(3.0, 1e-6)) * GRAINS)


def test_directions_and_tests_are_recorded_and_come_back(url):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 300)
    data = {"x": x, "y": x**2 + rng.uniform(-0.1, 0.1, 300)}
    domain = dc.Domain({"x": dc.Numeric(bounds=(0.0, 1.0)), "y": dc.Numeric(bounds=(-1.0, 2.0))}, rows=300)
    first = Account("numbers", url, request="which way")
    way = dc.direction(data, ("x", "y"), domain=domain, epsilon=1.0, account=first)
    assert dc.direction({}, ("x", "y"), domain=domain, epsilon=1.0, account=first) == way
    second = Account("numbers", first.ledger, request="whether")
    whether = dc.test_independence(data, "x", "y", domain=domain, epsilon=1.0, account=second)
    assert dc.test_independence({}, "x", "y", domain=domain, epsilon=1.0, account=second) == whether
    assert way.privacy.ledger.entry == 3
    assert whether.privacy.ledger.entry == 5
    with pytest.raises(RequestError):
        dc.direction(data, ("y", "x"), domain=domain, epsilon=1.0, account=second)


def test_the_same_request_gets_the_same_release(url, net, rows):
    account = Account("visits", url, request="q3")
    domain = net.domain(ROWS)
    said = []
    found = dc.discover(rows, domain=domain, epsilon=1.0, account=account)
    again = dc.discover({}, domain=domain, epsilon=1.0, account=account, progress=said.append)  # rows are not even read
    assert again.to_json() == found.to_json()
    assert "nothing is spent" in said[0]
    assert account.standing().runs == 1
    others = (
        {"epsilon": 1.1},
        {"delta": 1e-7},
        {"method": "svt-pc"},
        {"method": dc.Marginals(max_order=1)},
        {"knowledge": dc.Knowledge(forbidden=[("xray", "smoke")])},
        {"domain": net.domain(ROWS + 1)},
    )
    for other in others:
        with pytest.raises(RequestError, match="other parameters"):
            dc.discover(rows, **{"domain": domain, "epsilon": 1.0, "account": account, **other})
    with pytest.raises(RequestError):
        dc.discover(rows, domain=domain, epsilon=1.0, account=Account("others", account.ledger, request="q3"))
    assert account.standing().runs == 1


@pytest.mark.parametrize("limit", [None, Limit(3.0, 1e-6)])
def test_a_request_that_is_answered_meanwhile_gets_that_release(tmp_path, net, rows, monkeypatch, limit):
    """Another process asks the same, and ends while this one reads its rows."""
    ledger, domain, load, found = open_ledger(tmp_path / "l.db"), net.domain(ROWS), dc.load, []
    if limit is not None:
        ledger.declare("visits", limit)

    def meanwhile(*arguments, **named):
        monkeypatch.setattr("discreet.methods.session.load", load)
        found.append(dc.discover(rows, domain=domain, epsilon=1.0, account=Account("visits", ledger, request="q")))
        return load(*arguments, **named)

    monkeypatch.setattr("discreet.methods.session.load", meanwhile)
    again = dc.discover(rows, domain=domain, epsilon=1.0, account=Account("visits", ledger, request="q"))
    assert again.to_json() == found[0].to_json()
    assert ledger.standing("visits").runs == 1
    assert not verify_ledger(ledger).problems


def test_warnings_name_the_line_that_asked(tmp_path, net, rows):
    ledger = open_ledger(tmp_path / "l.db")
    ledger.declare("visits", Limit(3.0, 1e-6))
    for name in ("other", "another"):
        with pytest.warns(dc.errors.DoubtWarning) as told:
            dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=Account(name, ledger))
        about = [w for w in told if "the ledger holds no limit" in str(w.message) or "asked before" in str(w.message)]
        assert about
        assert {w.filename for w in about} == {__file__}


def test_what_is_reserved_and_not_committed_stays_spent(url, net, rows, monkeypatch):
    account = Account("visits", url, request="q3")
    monkeypatch.setattr(Room, "_blurred", lambda *_: None)
    with pytest.raises(RoomError):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    monkeypatch.undo()
    assert account.standing().spent == Price.of_budget(Budget(epsilon=1.0, delta=1e-6))
    with pytest.raises(BudgetError, match="stays spent"):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    assert "broken off" in verify_ledger(account.ledger).notes[0]


def test_bad_input_spends_nothing(url, net, rows):
    account = Account("visits", url)
    domain = net.domain(ROWS)
    short = {name: column[:-1] for name, column in rows.items()}
    for data, options in ((short, {}), ("nowhere.csv", {}), (rows, {"method": SvtPC(round_epsilon=9.0)})):
        with pytest.raises(dc.DiscreetError):
            dc.discover(data, **{"domain": domain, "epsilon": 1.0, "account": account, **options})
    assert account.standing().runs == 0
    assert [e.kind for e in account.ledger.book().entries] == ["begun"]


def test_nothing_is_evaluated_that_was_not_reserved(net, rows, tmp_path, monkeypatch):
    account = Account("visits", str(tmp_path / "l.db"))

    def full(*_, **__):
        raise LedgerError("the disk is full")

    evaluated = []
    monkeypatch.setattr(Ledger, "reserve", full)
    monkeypatch.setattr(Room, "_evaluated", lambda *_: evaluated.append(1))
    with pytest.raises(LedgerError):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    assert not evaluated


@pytest.mark.parametrize("method", ["svt-pc", "em-pc", "marginals"])
def test_a_limit_that_fills_up_meanwhile_stops_the_run(net, rows, tmp_path, monkeypatch, method):
    """Methods that go on with what they have when their budget refuses must not, if the ledger does."""
    ledger = open_ledger(tmp_path / "l.db")
    ledger.declare("visits", Limit(1.0, 1e-6))
    load = dc.load

    def meanwhile(*arguments, **named):
        ledger.reserve("visits", "another", ASKED, Price(Limit(1.0, 1e-6).amount, None, None))
        return load(*arguments, **named)

    monkeypatch.setattr("discreet.methods.session.load", meanwhile)
    with pytest.raises(BudgetError, match="no further run is possible"):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=0.9, method=method, account=Account("visits", ledger))
    assert ledger.book().entries[-1].kind == "refused"
    assert ledger.standing("visits").runs == 1


def test_decimals_add_up_as_written(tmp_path):
    ledger = open_ledger(tmp_path / "l.db")
    ledger.declare("a", Limit(1.0, 0.0))
    for i in range(10):
        ledger.reserve("a", str(i), ASKED, Price.of_budget(Budget(epsilon=0.1, delta=0)))
    with pytest.raises(BudgetError):
        ledger.reserve("a", "more", ASKED, Price(0, 1, 0))


def test_nothing_is_handed_out_that_was_not_committed(net, rows, tmp_path, monkeypatch):
    account = Account("visits", str(tmp_path / "l.db"))

    def full(*_, **__):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "_commit", full)
    with pytest.raises(LedgerError):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    assert account.standing().runs == 1


def test_a_commit_whose_answer_was_lost_is_found(net, rows, tmp_path, monkeypatch):
    account = Account("visits", str(tmp_path / "l.db"))
    commit = Ledger._commit

    def lost(*arguments):
        commit(*arguments)
        raise LedgerError("the server went away")

    monkeypatch.setattr(Ledger, "_commit", lost)
    found = dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=account)
    assert found.privacy.ledger.entry == 3


def test_limits_are_declared_and_changed(url):
    ledger = open_ledger(url)
    ledger.declare("a", Limit(1.0, 1e-6), fresh=True)
    with pytest.raises(SettingError, match="has a limit already"):
        ledger.declare("a", Limit(2.0, 1e-6), fresh=True)
    with pytest.raises(SettingError, match="stays so"):
        ledger.declare("a", Limit(2.0, 0.0))
    ledger.reserve("a", "1", ASKED, price(0.02))
    with pytest.raises(BudgetError, match="already"):
        ledger.declare("a", Limit(0.5, 1e-6))
    assert ledger.declare("a", Limit(2.0, 1e-6), purpose="more").limit == Limit(2.0, 1e-6)
    ledger.reserve("b", "2", ASKED, price(0.02))  # without a limit it is recorded
    ledger.reserve("b", "3", ASKED, price(5.0))
    with pytest.raises(BudgetError):
        ledger.declare("b", Limit(1.0, 1e-6))
    assert ledger.standing("b").limit is None
    assert ledger.standing("c").spent == NOTHING
    assert verify_ledger(ledger).problems == []


def test_never_one_grain_over(url):
    ledger = open_ledger(url)
    limit = Limit(1.0, 1e-6)
    ledger.declare("a", limit)
    ledger.reserve("a", "1", ASKED, Price(limit.amount - 1, None, None))
    with pytest.raises(BudgetError):
        ledger.reserve("a", "2", ASKED, Price(2, None, None))
    ledger.reserve("a", "2", ASKED, Price(1, None, None))
    with pytest.raises(BudgetError):
        ledger.reserve("a", "3", ASKED, Price(1, None, None))
    assert ledger.standing("a").spent.zcdp == limit.amount


def test_what_others_spent_counts(url):
    ledger = open_ledger(url)
    ledger.declare("a", Limit(1.0, 1e-6, approximate=1e-7))
    ledger.spend("a", Price.of_outside(0.1, 5e-8), what={"command": "other means"}, purpose="a histogram")
    assert ledger.standing("a").spent.delta > 0
    after = ledger.spend("a", Price.of_outside(1.0, 0.0), what={"command": "other means"}, purpose="a mean")
    assert not after.limit.allows(after.spent)  # booked all the same: it happened
    with pytest.raises(BudgetError):
        ledger.reserve("a", "1", ASKED, Price(1, None, None))
    found = verify_ledger(ledger)
    assert found.problems == []
    assert any("other means" in note for note in found.notes)


def test_entries_only_grow(url):
    ledger = open_ledger(url)
    ledger.reserve("a", "1", ASKED, price(0.1), mark="m")
    ledger.commit("a", "1", "{}", [])
    changed = {"entries": "body", "releases": "body", "ledger": "version", "marks": "mark"}
    for table, column in changed.items():
        for change in (f"DELETE FROM discreet_{table}", f"UPDATE discreet_{table} SET {column} = 7"):
            with pytest.raises(LedgerError, match="only grows"), store_for(url).write() as session:
                session.run(change)
    with pytest.raises(LedgerError, match="only grows"):
        ledger.commit("a", "1", "[]", [])
    with pytest.raises(LedgerError, match="never reserved"):
        ledger.commit("a", "2", "{}", [])
    assert verify_ledger(ledger).problems == []


FILE_ONLY = {
    "DROP TRIGGER discreet_releases_no_update": "the trigger discreet_releases_no_update is missing",
    "DROP TRIGGER discreet_marks_no_delete": "the trigger discreet_marks_no_delete is missing",
    "DROP INDEX discreet_again": "the index discreet_again is missing",
    "CREATE TRIGGER more BEFORE INSERT ON discreet_marks BEGIN SELECT RAISE(IGNORE); END": "the trigger more was added",
}
SERVER_ONLY = {
    "DROP TRIGGER discreet_releases_only_grows ON discreet_releases": "discreet_releases_only_grows is missing",
    "ALTER TABLE discreet_entries DISABLE TRIGGER ALL": "the trigger discreet_entries_only_grows was changed",
    "ALTER TABLE discreet_releases DROP CONSTRAINT discreet_releases_pkey": "index discreet_releases_pkey is missing",
    "CREATE OR REPLACE FUNCTION discreet_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NULL; END'": "the trigger discreet_marks_only_grows was changed",
    "CREATE TRIGGER more BEFORE INSERT ON discreet_marks FOR EACH ROW EXECUTE FUNCTION discreet_only_grows()": (
        "the trigger more was added"
    ),
}
BOTH = {
    "DROP INDEX discreet_one_reservation": "the index discreet_one_reservation is missing",
    "DROP INDEX discreet_by_dataset; CREATE UNIQUE INDEX discreet_by_dataset ON discreet_entries (number, dataset)": (
        "the index discreet_by_dataset was changed"
    ),
}


def test_what_keeps_a_ledger_is_missed(url):
    changes = BOTH | (FILE_ONLY if url.startswith("sqlite") else SERVER_ONLY)
    ledger = open_ledger(url)
    assert verify_ledger(ledger).problems == []
    for change, words in changes.items():
        with suppress(_Undone), store_for(url).write() as session:
            for sql in change.split("; ") if "INDEX" in change else [change]:
                session.run(sql)
            assert any(words in fault for fault in session.faults())
            raise _Undone
    assert verify_ledger(ledger).problems == []


class _Undone(Exception):  # noqa: N818 - no error: it ends a transaction
    """Undoes what was tried."""


def test_marks_that_were_taken_out_are_missed(url):
    ledger = open_ledger(url)
    ledger.reserve("a", "1", ASKED, price(0.1), mark="m")
    ledger.reserve("b", "2", ASKED, price(0.1))
    assert verify_ledger(ledger).problems == []
    with store_for(url).write() as session:
        for sql in (
            "ALTER TABLE discreet_marks RENAME TO old",
            "CREATE TABLE discreet_marks (dataset TEXT, mark TEXT)",
        ):
            session.run(sql)
    assert any("the marks of 'a' are missing" in problem for problem in verify_ledger(ledger).problems)
    assert not any("'b'" in problem for problem in verify_ledger(ledger).problems)


def test_a_release_that_cannot_be_compared_is_not_passed_over(tmp_path):
    ledger = open_ledger(tmp_path / "l.db")
    ledger.reserve("a", "1", ASKED, price(0.1))
    stamp = ledger.commit("a", "1", "no release", [])
    found = verify_ledger(ledger, [Anchor("handed.json", stamp, {"privacy": {"ledger": None}})])
    assert found.problems == []
    assert "handed.json cannot be compared" in found.astray[0]
    assert not found.whole


def test_entries_read_back_as_they_were():
    facts = {"standing": [1, 0.1, None]}
    entry = Entry(1, BEFORE_ALL, "limit", 'ä"\n', None, "me", "2026-01-01T00:00:00+00:00", "why", facts)
    assert Entry.read(entry.text) == entry
    for bad in ("", "{}", "[]", "null", entry.text[:-1], entry.text.replace("limit", "gift")):
        with pytest.raises(LedgerError):
            Entry.read(bad)


def test_the_chain_is_one_of_all_data_sets(url):
    ledger = open_ledger(url)
    for i in range(6):
        ledger.reserve("ab"[i % 2], str(i), ASKED, price(0.001))
    entries = ledger.book().entries
    assert [e.number for e in entries] == list(range(1, 8))
    assert all(b.previous == a.hash for a, b in pairwise(entries))
    assert [s.runs for s in ledger.book().standings.values()] == [3, 3]


def test_the_same_rows_under_another_name_are_told(url, net, rows, tmp_path):
    domain = net.domain(ROWS)
    ledger = open_ledger(url)
    dc.discover(rows, domain=domain, epsilon=1.0, account=Account("visits", ledger))
    order = np.random.default_rng(3).permutation(ROWS)
    shuffled = {name: column[order] for name, column in rows.items()}
    with pytest.warns(dc.errors.DoubtWarning, match="asked before as 'visits'"):
        dc.discover(shuffled, domain=domain, epsilon=1.0, account=Account("copy", ledger))
    backwards = dc.Domain({name: domain[name] for name in reversed(list(domain))}, rows=ROWS)
    with pytest.warns(dc.errors.DoubtWarning, match="asked before as 'copy', 'visits'"):
        dc.discover(rows, domain=backwards, epsilon=1.0, account=Account("third", ledger))


def test_names_that_turn_out_to_be_one_are_merged(url, net, rows, recwarn):
    ledger = open_ledger(url)
    ledger.declare("visits", Limit(3.0, 1e-6))
    wrong, right = Account("visits.csv", ledger), Account("visits", ledger)
    domain = net.domain(ROWS)
    with pytest.warns(dc.errors.DoubtWarning, match="no limit for 'visits.csv'; did you mean 'visits'"):
        dc.discover(rows, domain=domain, epsilon=1.0, account=wrong)
    dc.discover(rows, domain=domain, epsilon=1.0, account=right)
    spent = right.standing().spent.plus(wrong.standing().spent)
    assert ledger.merge("visits.csv", "visits", purpose="the same").spent == spent
    with pytest.raises(BudgetError, match="counted under 'visits'"):
        dc.discover(rows, domain=domain, epsilon=0.1, account=wrong)
    for refused in (lambda: ledger.merge("visits.csv", "x"), lambda: ledger.declare("visits.csv", Limit(9.0, 1e-6))):
        with pytest.raises(BudgetError, match="counted under"):
            refused()
    with pytest.raises(SettingError):
        ledger.merge("never", "visits")
    recwarn.clear()
    dc.discover(rows, domain=domain, epsilon=0.1, account=right)
    assert not [w for w in recwarn if "asked before" in str(w.message)]
    assert verify_ledger(ledger).problems == []


def test_rows_that_were_merged_are_known_under_the_name_they_are_counted_under(url):
    ledger = open_ledger(url)
    for i, name in enumerate(("first", "second", "third")):
        ledger.reserve(name, str(i), ASKED, price(0.001), mark="m")
    ledger.merge("first", "second")
    ledger.merge("second", "right")
    assert [s.dataset for s in ledger.find_alike("another", "m")] == ["right", "third"]
    assert [s.dataset for s in ledger.find_alike("right", "m")] == ["third"]
    assert [s.dataset for s in ledger.find_alike("first", "m")] == ["third"]  # asked under the name that was given up
    assert ledger.find_alike("another", "n") == []
    ledger.declare("third", Limit(1.0, 1e-6))
    assert [s.dataset for s in ledger.find_alike("another", "m")] == ["third", "right"]


def test_a_merge_lifts_no_limit(url):
    ledger = open_ledger(url)
    ledger.declare("a", Limit(1.0, 1e-6))
    ledger.reserve("a", "1", ASKED, price(0.001))
    with pytest.raises(SettingError, match="'a' has a limit and 'b' has none"):
        ledger.merge("a", "b")
    assert ledger.standing("a").into is None
    ledger.declare("b", Limit(0.9, 1e-6))
    assert ledger.merge("a", "b").limit == Limit(0.9, 1e-6)


def test_a_change_keeps_what_it_does_not_name(url):
    account = Account("a", url)
    assert account.limit(epsilon=1.0).limit == Limit(1.0, 1e-6)
    assert account.limit(epsilon=2.0, delta=1e-9, approximate=1e-10).limit == Limit(2.0, 1e-9, 1e-10)
    assert account.limit(epsilon=3.0).limit == Limit(3.0, 1e-9, 1e-10)
    assert account.limit(epsilon=3.0, delta=1e-8).limit == Limit(3.0, 1e-8, 1e-10)
    assert account.limit(epsilon=3.0, approximate=0).limit == Limit(3.0, 1e-8)
    account.limit(epsilon=3.0, approximate=1e-9)
    with pytest.raises(SettingError, match="1e-09 of the limit's delta is put by, and stays so"):
        account.limit(epsilon=3.0, delta=1e-10)
    with pytest.raises(SettingError, match="delta: the limit of 'a' is in zCDP rho, and stays so"):
        account.limit(epsilon=3.0, delta=0)
    for bad in ({"delta": "x"}, {"approximate": "x"}, {"delta": float("nan")}, {"epsilon": -1}):
        with pytest.raises(SettingError):
            account.limit(**{"epsilon": 3.0, **bad})
    pure = Account("b", account.ledger)
    pure.limit(epsilon=1.0, delta=0)
    assert pure.limit(epsilon=2.0).limit == Limit(2.0, 0.0)


@pytest.mark.parametrize(
    "limit", [Limit(0.01, 1e-6), Limit(0.01, 1e-6, 9e-7), Limit(0.01, 0.0), Limit(0.01, 1e-9, 5e-10)]
)
@pytest.mark.parametrize("parts", [(), (1e-6,), (1.2345e-7,), (1e-7, 2e-7, 3.3333e-7), (1e-3,), (1e-2,)])
def test_the_smallest_limit_that_holds_does_and_no_smaller_one(limit, parts):
    spent = Price.of_budget(Budget(epsilon=0.7, delta=1e-6 if limit.delta else 0))
    for delta in parts:
        spent = spent.plus(Price.of_outside(0.123, delta))
    assert not limit.allows(spent)
    found = smallest_limit(limit, spent)
    assert found.allows(spent)
    assert found.delta >= limit.delta
    assert found.approximate >= limit.approximate
    assert not Limit(found.epsilon * 0.97, found.delta, found.approximate).allows(spent)


def test_what_no_limit_could_hold_is_said():
    assert smallest_limit(Limit(1.0, 1e-6), Price.of_outside(0.1, 0.7)) is None
    assert smallest_limit(Limit(1.0, 1e-6), price(1e9)) is None


def test_few_runs_are_shown_by_plain_addition(url):
    ledger = open_ledger(url)

    def spend(name, epsilon, delta=0.0):
        what = {"command": "other means", "method": "", "epsilon": epsilon, "delta": delta}
        return ledger.spend(name, Price.of_outside(epsilon, delta), what=what, purpose="x")

    def ask(name, epsilon, delta):
        asked = Asked("discover", "marginals", epsilon, delta, "p")
        ledger.reserve(
            name, str(len(ledger.book().entries)), asked, Price.of_budget(Budget(epsilon=epsilon, delta=delta))
        )

    def told(name):
        standing = ledger.standing(name)
        by_book = plain_sum(index_by_dataset(ledger.book().entries), name)
        assert ledger.plain_sum(standing) == by_book or standing.limit is not None
        return total_of(standing, ledger.plain_sum(standing))

    spend("a", 0.1, 1e-6)
    assert told("a") == (0.1, 1e-6)
    spend("a", 0.2, 2e-6)
    assert told("a") == (pytest.approx(0.3), 3e-6)
    for epsilon, delta in ((0.5, 1e-6), (0.3, 0), (0.5, 0)):
        ask("b", epsilon, delta)
    assert told("b") == (1.3, 1e-6)
    ledger.reserve("b", "nothing", ASKED, NOTHING)
    assert told("b") == (1.3, 1e-6)
    for _ in range(4):
        ask("c", 0.5, 1e-6)
    assert told("c") == (ledger.standing("c").spent.epsilon(1e-6), 1e-6)
    assert told("c")[0] < 1.2
    ledger.merge("a", "b")
    ledger.merge("b", "d")
    assert told("d") == (1.6, 4e-6)
    ledger.spend("d", Price.of_outside(0.1, 1e-6), what={"command": "unknown"}, purpose="x")
    assert told("d") == (None, 1e-6)
    ledger.declare("e", Limit(1.0, 1e-6))
    spend("e", 0.1, 1e-6)
    assert told("e") == (None, 1e-6)
    assert (
        total_words(ledger.standing("e"))
        == "more than can be told in zCDP rho at delta 1e-06 (other means: delta 1e-06)"
    )


def test_tables_that_could_all_be_tried_leave_no_mark(tmp_path):
    rng = np.random.default_rng(0)
    data = {name: rng.choice(["no", "yes"], ROWS) for name in "ab"}
    domain = dc.Domain({name: dc.Categorical(categories=("no", "yes")) for name in "ab"}, rows=ROWS)
    dc.discover(data, domain=domain, epsilon=1.0, account=Account("few", str(tmp_path / "l.db")))
    with store_for(tmp_path / "l.db").read() as session:
        assert session.run("SELECT * FROM discreet_marks") == []


def test_other_rows_are_not_mistaken(net, rows, tmp_path, recwarn):
    ledger = open_ledger(tmp_path / "l.db")
    dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=Account("visits", ledger))
    dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=Account("visits", ledger))
    others = net.sample(ROWS, np.random.default_rng(5))
    dc.discover(others, domain=net.domain(ROWS), epsilon=1.0, account=Account("others", ledger))
    assert not [w for w in recwarn if "asked before" in str(w.message)]


def test_marks_are_keyed_and_never_leave(net, rows, tmp_path):
    releases = []
    for name in ("one", "two"):
        ledger = open_ledger(tmp_path / f"{name}.db")
        found = dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=Account("visits", ledger))
        with store_for(tmp_path / f"{name}.db").read() as session:
            marks = {row[0] for row in session.run("SELECT mark FROM discreet_marks")}
        assert marks
        text = found.to_json() + "".join(e.text for e in ledger.book().entries)
        assert not any(mark in text for mark in marks)
        releases.append(marks)
        key = tmp_path / f"{name}.db.key"
        assert key.stat().st_mode & 0o077 == 0
        assert key.read_bytes().hex() not in text
    assert not releases[0] & releases[1]


def test_a_lost_key_is_told_and_a_new_one_is_not(net, rows, tmp_path, recwarn):
    def ask(ledger):
        dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0, account=Account("visits", ledger))
        return [w for w in recwarn if "rows seen before are not recognised" in str(w.message)]

    ledger = open_ledger(tmp_path / "l.db")
    assert not ask(ledger)
    assert not ask(ledger)  # finds the marks of the run before, under the same key
    (tmp_path / "l.db.key").unlink()
    assert ask(open_ledger(tmp_path / "l.db"))


def test_the_chain_does_not_depend_on_rows(net, tmp_path, monkeypatch):
    """Hashes are published: with the same answers, clock and ids, two tables leave the same entries."""
    import discreet.ledger.ledger as module

    class Clock:
        @staticmethod
        def now(_):
            return np.datetime64("2026-01-01").astype("datetime64[s]").item()

    texts = []
    for seed in (1, 2):
        monkeypatch.setattr(module, "datetime", Clock)
        monkeypatch.setattr(module, "uuid4", lambda: "id")
        monkeypatch.setattr(Room, "_blurred", lambda _, __, m: np.zeros(len(m.squares), dtype=np.int64))
        ledger = open_ledger(tmp_path / f"{seed}.db")
        data = net.sample(ROWS, np.random.default_rng(seed))
        dc.discover(data, domain=net.domain(ROWS), epsilon=1.0, account=Account("visits", ledger, request="r"))
        texts.append([e.text for e in ledger.book().entries])
    assert texts[0] == texts[1]


def test_names_that_would_not_print_are_refused(tmp_path):
    for bad in ("", " ", " a", "a\nb", "\x1b[2J", "x" * 201, 7):
        with pytest.raises(SettingError):
            Account(bad, str(tmp_path / "l.db"))
    with pytest.raises(SettingError):
        Account("a", str(tmp_path / "l.db"), purpose="\x07")
    for bad in ("", "mysql://x/y", "sqlite://x", "sqlite:///", "a\0b", "sqlite:x", "sqlite:/x", "host=x password=y"):
        with pytest.raises(SettingError):
            store_for(bad)


def test_names_have_one_spelling(tmp_path):
    ledger = open_ledger(tmp_path / "l.db")
    ledger.declare("cafe\u0301", Limit(1.0, 1e-6))
    assert Account("caf\u00e9", ledger).standing().limit is not None


def test_a_ledger_that_is_not_there_is_not_shown(tmp_path):
    with pytest.raises(LedgerError, match="no ledger"):
        open_ledger(tmp_path / "none.db", begin=False).book()
    assert not (tmp_path / "none.db").exists()


def test_passwords_are_never_said():
    pytest.importorskip("psycopg")
    ledger = Ledger(store_for("postgresql://me:hunter2@127.0.0.1:1/db"))
    assert "hunter2" not in ledger.name + ledger.place + repr(ledger)
    with pytest.raises(LedgerError) as failed:
        ledger.begin()
    assert "hunter2" not in str(failed.value)
    assert failed.value.__cause__ is None
    with pytest.raises(SettingError) as failed:
        store_for("postgresql://me:hunter2@[/db")
    assert "hunter2" not in str(failed.value)


def test_a_release_from_before_ledgers_is_read(net, rows):
    found = dc.discover(rows, domain=net.domain(ROWS), epsilon=1.0)
    data = json.loads(found.to_json())
    assert data["privacy"].pop("ledger") is None
    assert dc.Discovery.from_json(json.dumps(data)).privacy == found.privacy
    data["privacy"]["ledger"] = {"ledger": "x", "entry": "3", "head": "y"}
    with pytest.raises(dc.errors.ReleaseError):
        dc.Discovery.from_json(json.dumps(data))
