"""Sums for a fit and products of residuals: what is declared, and what is refused."""

from __future__ import annotations

import math

import pytest

import discreet as dc
from discreet.errors import SettingError
from discreet.statistics.permutation import Compared
from discreet.statistics.residual_products import FINE, MAX_ROWS, FitSums, ResidualProduct, powers_of

NAMES = "xyuvw"


def domain_of(rows):
    return dc.Domain({name: dc.Numeric(bounds=(-1.0, 1.0)) for name in NAMES}, rows=rows)


def columns(given=1):
    return Compared.of("x", "y", tuple(sorted(NAMES[2 : 2 + given])), domain_of(9))


def product_of(cuts=(300, FINE), weights=None):
    many = len(powers_of(1)) if weights is None else weights
    return ResidualProduct(columns(), ((0.5,) * many, (-2.0,) * many), cuts)


@pytest.mark.parametrize("given", [1, 2])
def test_declared_changes_are_those_that_are_proved(given):
    many = len(powers_of(given))
    found = FitSums(columns(given)).sensitivity(domain_of(9))
    numbers = many * (many + 1) // 2 - 1 + 2 * many + 2
    assert found.l2_squared == FINE**4 * (many**2 + 5 * many + 5)
    assert found.l1 == math.isqrt(numbers * int(found.l2_squared)) + 1
    moved = product_of().sensitivity(domain_of(9))
    assert moved.largest == moved.l1 == 2 * 300 * FINE
    assert moved.l2_squared == moved.l1**2


@pytest.mark.parametrize("statistic", [FitSums(columns()), product_of()], ids=["sums", "product"])
def test_sums_must_fit(statistic):
    assert statistic.sensitivity(domain_of(MAX_ROWS)).l1 > 0
    with pytest.raises(SettingError, match="rows"):
        statistic.sensitivity(domain_of(MAX_ROWS + 1))


@pytest.mark.parametrize(
    "wrong", [{"weights": 1}, {"cuts": (0, 1)}, {"cuts": (1, 2 * FINE + 1)}, {"cuts": (2 * FINE + 1, 1)}], ids=str
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingError):
        product_of(**wrong)


def test_cuts_at_their_ends_are_taken():
    assert product_of((1, 2 * FINE)).sensitivity(domain_of(9)).largest == 4 * FINE
