"""Statistics of dependence: never above their sensitivity on any neighbour, defined everywhere, the same both ways."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest

from discreet.audit import table_of
from discreet.audit.broken import domain_of
from discreet.audit.neighbours import climb, every, guided, hand_made, random_pairs
from discreet.audit.statistics import AverageTau, GStatistic, KendallA, Marginal, SpearmanA, StratifiedKendall
from discreet.audit.subjects import objective
from discreet.domain import Domain, Numeric
from discreet.errors import SettingError
from discreet.statistics.dependence import MAX_ROWS, MOVED, STEPS
from discreet.statistics.information import ConditionalInformation, ConditionalTotalVariation
from discreet.statistics.ranks import Ranked, StratifiedKendallDet, StratifiedSpearman

RANKS = (KendallA, SpearmanA, StratifiedKendall, StratifiedKendallDet, StratifiedSpearman, AverageTau)
ALL = (*RANKS, ConditionalTotalVariation, ConditionalInformation, GStatistic)


def asked(domain):
    """Every statistic of x and y given all other columns, with and without its sign."""
    given = tuple(sorted(set(domain) - {"x", "y"}))
    for kind in ALL:
        if not (given and issubclass(kind, Marginal)):
            yield kind("x", "y", given)
            if issubclass(kind, Ranked):
                yield kind("x", "y", given, signed=True)


def value(statistic, rows, domain):
    return int(statistic.evaluate(table_of(np.asarray(rows), domain))[0])


@cache
def small(rows, **sizes):
    """Return every table of a tiny domain, and the places of all neighbours among them."""
    domain = domain_of(rows, **sizes)
    tables, places = {}, []
    for pair in every(domain):
        both = [tuple(sorted(map(tuple, t.tolist()))) for t in (pair.first, pair.second)]
        places.append([tables.setdefault(t, len(tables)) for t in both])
    return domain, [table_of(np.array(t), domain) for t in tables], np.array(places)


def most_moved(statistic, tables, places):
    values = np.array([statistic.evaluate(t)[0] for t in tables])
    return int(np.abs(values[places[:, 0]] - values[places[:, 1]]).max())


SMALL = [
    *((n, {"x": 2, "y": 2}) for n in (1, 2, 3, 5, 8)),
    *((n, {"x": 2, "y": 3}) for n in (1, 2, 3, 5)),
    *((n, {"x": 3, "y": 3}) for n in (2, 3, 4, 5)),
    *((n, {"x": 1, "y": 3}) for n in (1, 4)),
    *((n, {"x": 2, "y": 2, "z": 2}) for n in (1, 2, 3, 4, 5)),
    *((n, {"x": 2, "y": 2, "z": 3}) for n in (2, 3)),
    *((n, {"x": 2, "y": 2, "z": 1}) for n in (2, 4)),
    *((n, {"x": 3, "y": 3, "z": 2}) for n in (2,)),
    *((n, {"x": 2, "y": 2, "u": 2, "z": 2}) for n in (2, 3)),
]


@pytest.mark.parametrize(("rows", "sizes"), SMALL, ids=str)
def test_no_neighbour_of_a_small_table_is_further_than_declared(rows, sizes):
    domain, tables, places = small(rows, **sizes)
    for statistic in asked(domain):
        assert most_moved(statistic, tables, places) <= statistic.sensitivity(domain).largest == MOVED


ATTAINED = [
    *((kind, True, {"x": 2, "y": 2}, (2, 3, 5, 8)) for kind in RANKS),
    *((kind, True, {"x": 2, "y": 3}, (2, 3, 5)) for kind in RANKS),
    *((kind, False, {"x": 2, "y": 2}, (2, 3, 5, 8)) for kind in RANKS),
    *((kind, None, {"x": 2, "y": 2}, (2, 3, 5, 8)) for kind in ALL[-3:]),
    *((kind, None, {"x": 2, "y": 3}, (2, 3, 5)) for kind in ALL[-3:]),
    *((kind, None, {"x": 3, "y": 3}, (3, 5)) for kind in (ConditionalInformation, GStatistic)),
    *((kind, True, {"x": 2, "y": 2, "z": 2}, (3, 4, 5)) for kind in (StratifiedKendallDet, StratifiedSpearman)),
    (AverageTau, True, {"x": 2, "y": 2, "z": 2}, (3, 4, 5)),
]


@pytest.mark.parametrize(("kind", "signed", "sizes", "many"), ATTAINED, ids=str)
def test_what_is_said_to_be_attained_is_attained(kind, signed, sizes, many):
    for rows in many:
        domain, tables, places = small(rows, **sizes)
        given = tuple(sorted(set(domain) - {"x", "y"}))
        statistic = kind("x", "y", given) if signed is None else kind("x", "y", given, signed=signed)
        assert STEPS - 1 <= most_moved(statistic, tables, places) <= MOVED


LARGER = [
    (12, {"x": 2, "y": 2, "z": 2}),
    (12, {"x": 4, "y": 4, "z": 12}),
    (40, {"x": 3, "y": 4, "z": 3}),
    (40, {"x": 4, "y": 2}),
    (200, {"x": 3, "y": 3, "z": 2, "u": 2}),
    (60, {"x": 2, "y": 2, "z": 70}),
]


@pytest.mark.parametrize(("rows", "sizes"), LARGER, ids=str)
def test_no_neighbour_that_a_search_finds_is_further_than_declared(rows, sizes):
    domain = domain_of(rows, **sizes)
    for i, statistic in enumerate(asked(domain)):
        rng = np.random.default_rng(i)
        used = objective(statistic, domain)
        pairs = [*islice(hand_made(domain), 0, None, 5), *islice(random_pairs(domain, rng), 10)]
        best = climb(used, max(pairs, key=used), domain, rng, steps=80)
        found = guided(used, domain, examples=20)
        assert 0.2 < max(used(best), used(found)) <= 1


@pytest.mark.parametrize(
    "sizes", [{"x": 2, "y": 3}, {"x": 4, "y": 3, "z": 2}, {"x": 3, "y": 3, "u": 2, "z": 3}], ids=str
)
@pytest.mark.parametrize("rows", [1, 2, 3, 30, 500])
def test_both_columns_are_treated_alike_and_steps_are_the_real_value(sizes, rows):
    domain = domain_of(rows, **sizes)
    rng = np.random.default_rng(rows)
    for statistic in asked(domain):
        codes = next(random_pairs(domain, rng)).first
        steps = value(statistic, codes, domain)
        swapped = replace(statistic, x="y", y="x")
        assert value(swapped, codes, domain) == steps
        shuffled = rng.permutation(codes)
        assert value(statistic, shuffled, domain) == steps
        unit = statistic.unit(domain)
        assert unit * STEPS == pytest.approx(statistic.largest_change(domain), rel=1e-12)
        strata = table_of(codes, domain).counts([statistic.columns])[0].reshape(-1, sizes["x"], sizes["y"])
        assert abs(statistic.real(steps, domain) - statistic._value(strata, rows)) <= 0.51 * unit


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("sizes", [{"x": 1, "y": 1}, {"x": 3, "y": 1, "z": 2}, {"x": 2, "y": 3, "z": 9}], ids=str)
def test_empty_constant_and_single_rows_have_the_value_zero(rows, sizes):
    domain = domain_of(rows, **sizes)
    constant = np.zeros((rows, len(sizes)), dtype=np.int64)
    alone = constant.copy()
    if "z" in sizes:
        alone = np.stack([np.arange(rows) % sizes["x"], np.arange(rows) % sizes["y"], np.arange(rows) % sizes["z"]], 1)
    for statistic in asked(domain):
        assert value(statistic, constant, domain) == 0
        if sizes.get("z", 1) >= rows or min(sizes["x"], sizes["y"]) == 1:
            assert value(statistic, alone, domain) == 0


def test_all_steps_are_right_near_the_largest_number_of_rows():
    n = MAX_ROWS
    diagonal = np.array([[n // 2, 0], [0, n // 2]])
    shares = {KendallA: 0.5 * n / (n - 1), AverageTau: 0.5 * n / (n - 1), ConditionalTotalVariation: 0.5}
    shares |= {SpearmanA: 0.75 * n**2 / (n**2 - 1), ConditionalInformation: np.log(2), GStatistic: 2 * n * np.log(2)}
    domain = domain_of(n, x=2, y=2)
    for kind, expected in shares.items():
        statistic = kind("x", "y")
        assert statistic.steps(diagonal, n) == pytest.approx(expected / statistic.unit(domain), abs=1)
    for statistic in asked(domain):
        one_more = np.array([[n // 2, 0], [1, n // 2 - 1]])
        assert 0 < abs(statistic.steps(diagonal, n) - statistic.steps(one_more, n)) <= MOVED


def test_ever_fewer_rows_mean_a_larger_step():
    for sizes in ({"x": 2, "y": 2}, {"x": 4, "y": 4, "z": 5}):
        for statistic in asked(domain_of(9, **sizes)):
            many = [statistic.unit(domain_of(n, **sizes)) for n in (200, 2000, 20_000, 2_000_000)]
            if isinstance(statistic, GStatistic):
                many.reverse()
            assert many == sorted(many, reverse=True)
            assert statistic.sensitivity(domain_of(10_000, **sizes).with_rows(7)).largest == MOVED


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(SettingError, match="sorted"):
        AverageTau("x", "y", ("z", "u"))
    with pytest.raises(SettingError, match="different"):
        AverageTau("x", "x")
    with pytest.raises(SettingError, match="different"):
        ConditionalInformation("x", "y", ("y",))
    with pytest.raises(SettingError, match="stratified"):
        KendallA("x", "y", ("z",))
    with pytest.raises(SettingError, match="bins"):
        AverageTau("x", "y").sensitivity(Domain({"x": Numeric(bounds=(0, 1)), "y": Numeric(bounds=(0, 1))}, rows=5))
    with pytest.raises(SettingError, match="rows"):
        AverageTau("x", "y").sensitivity(domain_of(MAX_ROWS + 1, x=2, y=2))


def test_names_tell_what_is_asked():
    assert AverageTau("x", "y").name == "average tau of x and y"
    assert ConditionalInformation("x", "y", ("u", "z")).name == "information of x and y given u, z"
