"""The test `gcm`: the generalised covariance measure of continuous columns given others, on polynomial fits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.privacy.mechanisms.additive import additive_for
from discreet.release.answer import Found, Inquiry
from discreet.room import Room
from discreet.statistics.permutation import Compared
from discreet.statistics.residual_products import FINE, LARGEST_WEIGHT, FitSums, ResidualProduct

FITTING_SHARE = Fraction(7, 10)
"""Share of the budget for the fits of `gcm`; the rest is for the product of residuals."""

RESIDUAL_CUT = 3.0
"""Residuals are cut off at so many of their standard deviations."""

NULL_DRAWS = 999
"""Draws of the null law of `gcm`."""


def check_gcm(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test on residuals of polynomial fits cannot answer."""
    if not asked.given:
        raise SettingError("given: the test `gcm` is for columns given others; take `permutation`")
    FitSums(Compared.of(asked.x, asked.y, asked.given, domain)).sensitivity(domain)


def run_gcm(room: Room, asked: Inquiry) -> Found:
    """Release sums for fits, fit, then release the product of residuals; the p-value is post-processing."""
    domain, budget = room.domain, room.budget
    sums = FitSums(Compared.of(asked.x, asked.y, asked.given, domain))
    amount = Fraction(math.floor(budget.left * FITTING_SHARE * GRAINS), GRAINS)
    mechanism = additive_for(budget.currency, amount, sums.sensitivity(domain))
    noise = math.sqrt(mechanism.variance) / (FINE**2 * domain.rows)
    moments = sums.moments(room.release(sums, mechanism).values, domain.rows)
    fits, spreads = _fits(moments[0], moments[1], noise), _spreads(*moments, noise)
    fits = np.clip(fits, -LARGEST_WEIGHT, LARGEST_WEIGHT)  # what was released must not end in an error
    cuts = [min(max(round(RESIDUAL_CUT * math.sqrt(spread) * FINE), 1), 2 * FINE) for spread in spreads]
    product = ResidualProduct(sums.of, (tuple(fits[0].tolist()), tuple(fits[1].tolist())), (cuts[0], cuts[1]))
    last = additive_for(budget.currency, budget.left, product.sensitivity(domain))
    (summed,) = room.release(product, last).values.tolist()
    chance = math.sqrt(domain.rows * spreads[0] * spreads[1] + last.variance / FINE**4)
    rng = np.random.default_rng(0)
    null = domain.rows * _draw_missed(moments[0], fits, noise, rng) + chance * rng.standard_normal(NULL_DRAWS)
    p_value = (1 + int((np.abs(null) >= abs(summed) / FINE**2).sum())) / (1 + NULL_DRAWS)
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


def _draw_missed(square: FloatArray, fits: FloatArray, noise: float, rng: np.random.Generator) -> FloatArray:
    """Draw what noise like that of the release would add to a mean product of residuals, by fitting again."""
    values, vectors = np.linalg.eigh(square)
    square = (vectors * np.maximum(values, 0)) @ vectors.T
    found = np.empty(NULL_DRAWS)
    for i in range(NULL_DRAWS):
        upper = np.triu(rng.normal(0, noise, square.shape))
        blurred = square + upper + np.triu(upper, 1).T
        off = _fits(blurred, fits @ square + rng.normal(0, noise, fits.shape), noise) - fits
        found[i] = off[0] @ square @ off[1]
    return found
