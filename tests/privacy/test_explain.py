"""The promise in numbers and in words."""

from __future__ import annotations

import json
import math
from itertools import product
from statistics import NormalDist

import click
import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.audit.claims import smallest_epsilon, smallest_mu
from discreet.audit.exact import audit_definition, correlated, geometric_count
from discreet.cli import main
from discreet.cli.explain import explain
from discreet.errors import SettingError
from discreet.privacy.accounting import gdp_delta
from discreet.privacy.explain import Promise, alike, numbers
from discreet.privacy.explanation import WIDTH

NORMAL = NormalDist()


def run(*args):
    group = click.group(cls=type(main))(lambda: None)
    group.add_command(explain)
    return CliRunner().invoke(group, ["explain", *map(str, args)])


def test_pure_numbers():
    promise = Promise(1.0, 0.0)
    assert promise.mu is None
    assert promise.chance(0.01) == pytest.approx(0.01 * math.e)
    assert promise.chance(0.5) == pytest.approx(1 - 0.5 / math.e)
    assert promise.chance_here(0.5) == promise.chance(0.5)
    assert promise.guess == pytest.approx(math.e / (1 + math.e))
    assert promise.belief(0.1) == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.9))
    assert [promise.group(k) for k in (2, 5)] == [2.0, 5.0]


def test_numbers_with_delta():
    promise = Promise(1.0, 1e-6)
    assert promise.mu == pytest.approx(0.236704, abs=1e-6)
    assert promise.chance(0.01) == pytest.approx(0.01 * math.e + 1e-6)
    assert promise.chance_here(0.01) == pytest.approx(NORMAL.cdf(NORMAL.inv_cdf(0.01) + promise.mu))
    assert promise.guess == pytest.approx(NORMAL.cdf(promise.mu / 2))
    for k in (2, 5):
        assert gdp_delta(k * promise.mu, promise.group(k)) <= 1e-6 < gdp_delta(k * promise.mu, promise.group(k) - 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (1.0, 0.0), (0.3, 1e-3), (1.0, 0.01), (2.0, 0.1)])
def test_no_pair_of_laws_with_this_promise_gets_above_its_chance(epsilon, delta):
    rng = np.random.default_rng(1)
    promise, tight = Promise(epsilon, delta), 0.0
    for _ in range(4000):
        p, q = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2))
        if max(smallest_epsilon(p, q, delta)[0], smallest_epsilon(q, p, delta)[0]) <= epsilon:
            assert p[0] <= promise.chance(q[0]) + 1e-12
            tight = max(tight, p[0] - promise.chance(q[0]))
        if delta and smallest_mu(p, q)[0] <= promise.mu:
            assert p[0] <= promise.chance_here(q[0]) + 1e-12
    assert tight > -0.05


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (5.0, 1e-3)])
def test_how_rarely_a_belief_moves_further(epsilon, delta):
    promise = Promise(epsilon, delta)
    loss = promise.surprise
    normal = NormalDist(promise.mu**2 / 2, promise.mu)  # of the loss of Gaussian noise without rounding
    assert normal.cdf(-loss) < 1 - normal.cdf(loss) <= delta
    assert loss < 1.5 * normal.inv_cdf(1 - delta)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_what_rows_that_are_alike_tell_is_what_the_exact_auditor_finds(share, rows, epsilon):
    told = alike(Promise(epsilon, 0.0), share, rows)
    found = audit_definition(geometric_count(rows + 1, epsilon), 3, correlated(rows + 1, share))
    assert told.epsilon == pytest.approx(found.epsilon, rel=1e-9)
    assert told.delta == 0
    one, two = given_first(geometric_count(rows + 1, epsilon), share)
    assert 0.5 + np.abs(one - two).sum() / 4 <= told.guess + 1e-12


def test_known_figures():
    assert alike(Promise(1.0, 0.0), 0.9).epsilon == pytest.approx(1.776, abs=2e-4)
    assert alike(Promise(1.0, 0.0), 1.0, 5).epsilon == pytest.approx(6)
    assert alike(Promise(1.0, 0.0), 0.5, 5).without_you == 0
    assert alike(Promise(1.0, 1e-6), 0.5, 5).delta == 1e-6
    assert alike(Promise(1.0, 1e-6), 1.0, 1).delta == pytest.approx(1e-6 * (1 + math.e))
    assert alike(Promise(1000.0, 1e-6), 1.0, 10).delta == 1.0
    assert alike(Promise(1.0, 1e-6), 1.0, 2).guess == pytest.approx(NORMAL.cdf(1.5 * Promise(1.0, 1e-6).mu))


def given_first(mechanism, share, first=(0, 1)):
    """Return the laws of the output given each value of the first cell, whose copies the others are."""
    cells = mechanism.ndim - 1
    laws = []
    for value in first:
        law = np.zeros(mechanism.shape[-1])
        for others in product((0, 1), repeat=cells - 1):
            law += math.prod(share if other == value else 1 - share for other in others) * mechanism[(value, *others)]
        laws.append(law)
    return laws


def test_no_mechanism_with_this_promise_tells_more_through_others():
    rng = np.random.default_rng(2)
    for _ in range(400):
        cells, share = int(rng.integers(2, 5)), float(rng.uniform(0.5, 1))
        mechanism = rng.dirichlet(np.full(3, rng.choice([1.0, 20.0])), size=(2,) * cells)
        delta = float(rng.choice([0.0, 0.001, 0.05]))
        epsilon = audit_definition(mechanism, 1, None, delta).epsilon
        if not epsilon:
            continue
        told = alike(Promise(epsilon, delta), share, cells - 1)
        laws = given_first(mechanism, share)
        for one, two in (laws, laws[::-1]):
            assert smallest_epsilon(one, two, told.delta)[0] <= told.epsilon + 1e-9


def test_your_own_row_overwritten():
    promise = Promise(1.0, 0.0)
    told = alike(promise, 0.9, 3)
    one, two = given_first(np.broadcast_to(geometric_count(4, 1.0)[:1], (2, 2, 2, 2, 5)), 0.9)
    assert max(smallest_epsilon(one, two)[0], smallest_epsilon(two, one)[0]) == pytest.approx(
        told.without_you, rel=1e-9
    )
    assert 0.5 + np.abs(one - two).sum() / 4 <= told.guess_without_you


def test_what_is_believed_with_another_row_differs_by_twice_epsilon_at_most():
    rng = np.random.default_rng(3)
    assert Promise(1.0, 1e-6).odds is None
    closest = 0.0
    for _ in range(400):
        mechanism = rng.dirichlet(np.full(3, 5.0), size=(2, 2))
        prior = rng.dirichlet(np.full(4, 0.2)).reshape(2, 2)
        believed_true = rng.permutation([True, True, False, False]).reshape(2, 2)
        limit = Promise(audit_definition(mechanism, 1).epsilon, 0.0).odds
        for place, output in product((0, 1), range(3)):
            mine, other = mechanism[..., output], np.broadcast_to(mechanism[place, :, output], (2, 2))
            odds = [(prior * law)[believed_true].sum() / (prior * law)[~believed_true].sum() for law in (mine, other)]
            closest = max(closest, abs(math.log(odds[0] / odds[1])) / limit)
    assert 0.7 < closest <= 1 + 1e-9


def test_not_to_take_part_is_a_value_like_any_other():
    """Cells hold 0, 1 or nothing (2); the ones among those who take part are counted."""
    epsilon = 0.7
    cells = np.indices((3, 3))
    count = geometric_count(2, epsilon)[np.where(cells == 1, 1, 0)[0], np.where(cells == 1, 1, 0)[1]]
    limit = math.exp(numbers(Promise(epsilon, 0.0))["epsilon"])
    for taking_part, other in product((0, 1), range(3)):
        assert (count[taking_part, other] <= limit * count[2, other] * (1 + 1e-12)).all()
        assert (count[2, other] <= limit * count[taking_part, other] * (1 + 1e-12)).all()
    assert audit_definition(count, 8).epsilon == pytest.approx(epsilon)


def test_the_text_says_how_the_promise_is_read():
    for settings in (("--epsilon", 1), ("--epsilon", 1, "--delta", 0)):
        told = " ".join(run(*settings).stdout.split())
        for words in ("take part", "says nothing about you", "epsilon 0", "noninterference", "Proposition 4", "Bayes"):
            assert words in told
    assert "differ by at most 7.39 times" in told
    found = json.loads(run("--epsilon", 1, "--json").stdout)
    assert found["odds_with_another_row"] is None
    assert "a row that says nothing" in found["overwritten_with"]
    assert found["without_any_effect"] == {"epsilon": 0, "delta": 0}


def test_the_text_says_the_numbers():
    result = run("--epsilon", 1, "--rows", 100_000)
    assert result.exit_code == 0
    for words in ("2.72 times", "1.9%", "2.8%", "mu = 0.2367", "54.8%", "do(your row = anything)", "--correlation"):
        assert words in " ".join(result.stdout.split())
    assert "right in at most 73.2% of cases" in " ".join(result.stdout.split())  # whatever the method
    assert "for the usual method, `marginals`" in " ".join(result.stdout.split())
    assert "0.1 of 100,000" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= WIDTH
    pure = run("--epsilon", 1, "--delta", 0, "--correlation", 0.9).stdout
    assert "5.91 times (epsilon 1.777)" in " ".join(pure.split())
    assert "What delta is" not in pure
    assert "mu" not in pure.split()


@pytest.mark.parametrize("epsilon", [1e-3, 20, 800, 99_999])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_extreme_promises_have_words_and_numbers(epsilon, delta):
    settings = ("--epsilon", epsilon, "--delta", delta, "--correlation", 1, "--alike", 1000)
    assert run(*settings).exit_code == 0
    found = json.loads(run(*settings, "--json").stdout, parse_constant=pytest.fail)
    assert found["schema"] == 1
    assert found["alike"]["epsilon"] == pytest.approx(1001 * epsilon)
    shares = [line["yours_at_most"] for line in found["chances"]] + [line["after_at_most"] for line in found["beliefs"]]
    assert all(0 < share <= 1 for share in [*shares, found["best_guess"], found["alike"]["best_guess"]])


def test_json_is_one_object():
    found = json.loads(run("--epsilon", 1, "--delta", 0, "--json", "--rows", 50).stdout)
    assert found == json.loads(json.dumps(numbers(Promise(1.0, 0.0), 50)))
    assert found["alike"] is None
    assert found["rows"] == 50


@pytest.mark.parametrize(
    "settings",
    [
        ("--epsilon", 0),
        ("--epsilon", "nan"),
        ("--epsilon", 1, "--delta", 1),
        ("--epsilon", 1, "--delta", -1),
        ("--epsilon", 1, "--rows", 0),
        ("--epsilon", 1, "--rows", 2_000_000, "--delta", 1e-6),
        ("--epsilon", 1, "--correlation", 0.4),
        ("--epsilon", 1, "--correlation", 1.1),
        ("--epsilon", 1, "--correlation", "nan"),
        ("--epsilon", 1, "--correlation", 0.9, "--alike", 0),
        ("--epsilon", 1, "--alike", 2),
        (),
    ],
)
def test_what_does_not_fit_is_refused(settings):
    result = run(*settings)
    assert result.exit_code == 2
    assert not result.stdout
    assert "rror" in result.stderr


def test_a_release_is_explained_by_its_own_method(tmp_path):
    net = dc.network("cancer")
    table = net.sample(3_000, np.random.default_rng(0))
    said, told = {}, {}
    for method, delta in (("marginals", 1e-6), ("svt-pc", 1e-6), ("marginals", 0.0)):
        made = dc.discover(table, domain=net.domain(3_000), epsilon=2.0, delta=delta, method=method)
        release = made.save(tmp_path / f"{method} {delta:g}")[0]
        said[method, delta] = run(release).stdout
        told[method, delta] = json.loads(run(release, "--json").stdout)
        assert str(dc.explain(made)) + "\n" == said[method, delta]
        assert f"Numbers are for `{method}`, the method that was run" in said[method, delta]
        assert (told[method, delta]["method"], told[method, delta]["rows"]) == (method, 3_000)
    usual, asking, pure = told["marginals", 1e-6], told["svt-pc", 1e-6], told["marginals", 0.0]
    assert usual["beliefs"] == numbers(Promise(2.0, 1e-6))["beliefs"]
    assert asking["mu"] is None
    assert asking["beliefs"] == asking["groups"] == []
    assert asking["best_guess"] == asking["best_guess_by_definition"] > usual["best_guess"]
    assert "marginals" not in said["svt-pc", 1e-6]
    assert "svt-pc" not in said["marginals", 1e-6]
    assert pure["beliefs"] == numbers(Promise(2.0, 0.0))["beliefs"]
    assert "leave the option out" in run(release, "--epsilon", 2).stderr
    made = dc.discover(table, domain=net.domain(3_000), epsilon=2.0, method="svt-pc")
    release = made.save(tmp_path / "asked")[0]
    assert "correlation" in run(release, "--correlation", 0.9).stderr
    release.write_text(made.to_json().replace('"private": true', '"private": false'), encoding="utf-8")
    assert "NOT PRIVATE" in run(release).stderr


def test_refusals_are_typed():
    with pytest.raises(SettingError, match="correlation"):
        alike(Promise(1.0, 0.0), 0.3)
    with pytest.raises(SettingError, match="alike"):
        alike(Promise(1.0, 0.0), 0.9, 0)


def test_python_says_what_the_command_says():
    found = dc.explain(1.0, rows=2_000_000, correlation=0.9, alike=3)
    typed = ("--epsilon", 1, "--rows", 2_000_000, "--correlation", 0.9, "--alike", 3)
    assert str(found) + "\n" == run(*typed).stdout
    assert found.to_dict() == json.loads(run(*typed, "--json").stdout)
    assert found.promise.delta == 1e-8
    assert "What delta is" in found._repr_html_()
