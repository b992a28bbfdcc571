"""Tests of independence on columns of numbers, each asked of a room with all that is left of its budget."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np

from discreet.answers import Inquiry
from discreet.arrays import FloatArray
from discreet.domain import Domain
from discreet.errors import DoubtWarning, SettingError
from discreet.mechanisms.additive import additive_for
from discreet.mechanisms.rank import noisy_rank_for
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.room import Room
from discreet.statistics.permuted import Compared, PermutedHSIC
from discreet.statistics.products import FINE, LARGEST_WEIGHT, FitSums, ResidualProduct
from discreet.statistics.shifts import beyond, size_for

FITTED = Fraction(7, 10)
"""Share of the budget for the fits of `gcm`; the rest is for the product of residuals."""

CUT = 3.0
"""Residuals are cut off at so many of their standard deviations."""

DRAWS = 999
"""Draws of the null law of `gcm`."""

DROWNED, CLEAR = 0.06, 0.03
"""Noise of the first scale hides even strong dependences (a root of HSIC is at most 0.5); the second is small."""

Found = tuple[bool, float | None]
"""Whether columns look independent, and the p-value where there is one."""


def check_permutation(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test by permutations cannot answer."""
    if asked.given:
        raise SettingError("given: the test `permutation` takes none; `moments`, `tables`, `krr` and `gcm` do")
    _permuted(asked, domain).sensitivity(domain)


def check_krr(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test on residuals of kernel regressions cannot answer."""
    if not asked.given:
        raise SettingError("given: the test `krr` is for columns given others; take `permutation`")
    _permuted(asked, domain).sensitivity(domain)


def run_permuted(room: Room, asked: Inquiry) -> Found:
    """Compare the rows with permutations of them, with noise on both; one bit is released."""
    statistic, budget = _permuted(asked, room.domain), room.budget
    sensitivity = statistic.sensitivity(room.domain)
    mechanism = noisy_rank_for(budget.currency, budget.left, sensitivity, beyond(asked.alpha, statistic.size))
    _warn_if_drowned(room, mechanism.scale * statistic.unit(room.domain.rows))
    (dependent,) = room.release(statistic, mechanism).values.tolist()
    return not dependent, None


def _permuted(asked: Inquiry, domain: Domain) -> PermutedHSIC:
    return PermutedHSIC(Compared.of(asked.x, asked.y, asked.given, domain), size_for(asked.alpha))


def _warn_if_drowned(room: Room, scale: float) -> None:
    rows = room.domain.rows
    if scale > DROWNED:
        warnings.warn(
            f"with {rows:,} rows and epsilon {room.budget.epsilon:g} the noise hides even strong dependences, and the "
            f"answer is hardly better than chance; about {math.ceil(rows * scale / CLEAR):,} rows would do",
            DoubtWarning,
            stacklevel=6,
        )


def check_gcm(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test on residuals of polynomial fits cannot answer."""
    if not asked.given:
        raise SettingError("given: the test `gcm` is for columns given others; take `permutation`")
    FitSums(Compared.of(asked.x, asked.y, asked.given, domain)).sensitivity(domain)


def run_gcm(room: Room, asked: Inquiry) -> Found:
    """Release sums for fits, fit, then release the product of residuals; the p-value is post-processing."""
    domain, budget = room.domain, room.budget
    sums = FitSums(Compared.of(asked.x, asked.y, asked.given, domain))
    amount = Fraction(math.floor(budget.left * FITTED * GRAINS), GRAINS)
    mechanism = additive_for(budget.currency, amount, sums.sensitivity(domain))
    noise = math.sqrt(mechanism.variance) / (FINE**2 * domain.rows)
    moments = sums.moments(room.release(sums, mechanism).values, domain.rows)
    fits, spreads = _fits(moments[0], moments[1], noise), _spreads(*moments, noise)
    fits = np.clip(fits, -LARGEST_WEIGHT, LARGEST_WEIGHT)  # what was released must not end in an error
    cuts = [min(max(round(CUT * math.sqrt(spread) * FINE), 1), 2 * FINE) for spread in spreads]
    product = ResidualProduct(sums.of, (tuple(fits[0].tolist()), tuple(fits[1].tolist())), (cuts[0], cuts[1]))
    last = additive_for(budget.currency, budget.left, product.sensitivity(domain))
    (summed,) = room.release(product, last).values.tolist()
    chance = math.sqrt(domain.rows * spreads[0] * spreads[1] + last.variance / FINE**4)
    rng = np.random.default_rng(0)
    null = domain.rows * _missed(moments[0], fits, noise, rng) + chance * rng.standard_normal(DRAWS)
    p_value = (1 + int((np.abs(null) >= abs(summed) / FINE**2).sum())) / (1 + DRAWS)
    return p_value > asked.alpha, p_value


def _fits(square: FloatArray, crossed: FloatArray, noise: float) -> FloatArray:
    """Return weights of both fits, held back as far as the noise asks for."""
    values, vectors = np.linalg.eigh(square)
    held = np.maximum(values, 0) + noise * math.sqrt(len(values)) + 1e-6
    found: FloatArray = (vectors @ ((vectors.T @ crossed.T) / held[:, None])).T
    return found


def _spreads(square: FloatArray, crossed: FloatArray, squares: FloatArray, noise: float) -> tuple[float, float]:
    """Return mean squared residuals, and not less than the noise would hide."""
    fits = _fits(square, crossed, noise)
    left = squares - 2 * (fits * crossed).sum(axis=1) + np.einsum("ij,jk,ik->i", fits, square, fits)
    spread_x, spread_y = np.clip(left, 1e-4 + noise, 1.0).tolist()
    return spread_x, spread_y


def _missed(square: FloatArray, fits: FloatArray, noise: float, rng: np.random.Generator) -> FloatArray:
    """Draw what noise like that of the release would add to a mean product of residuals, by fitting again."""
    values, vectors = np.linalg.eigh(square)
    square = (vectors * np.maximum(values, 0)) @ vectors.T
    found = np.empty(DRAWS)
    for i in range(DRAWS):
        upper = np.triu(rng.normal(0, noise, square.shape))
        blurred = square + upper + np.triu(upper, 1).T
        off = _fits(blurred, fits @ square + rng.normal(0, noise, fits.shape), noise) - fits
        found[i] = off[0] @ square @ off[1]
    return found
