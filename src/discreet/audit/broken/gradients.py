"""Published searches by noisy gradients: what a row moves, and what a sample of the rows is billed."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import IntArray
from discreet.audit.broken import Broken, Finite, Measured, Whole, domain_of, on_grid, pair
from discreet.audit.claims import Claim
from discreet.privacy.accounting import Currency

NOLEAKS = "Ma, Ji, Pang, Wang 2022 (NoLeaks), code"

APART, CLIPPED = 5.0, 2.0
"""Two levels of a balanced column are coded as minus and plus the one; gradients are clipped at the other."""

LEVELS = domain_of(1000, x=2, y=2)
BALANCED = pair({(0, 0): 250, (0, 1): 250, (1, 0): 250, (1, 1): 249}, (1, 1), (0, 1))


def gradient(*, rows_first: bool) -> Whole:
    """Return the gradient of the squared error at zero weights, of one column by another.

    Either every row is clipped before the mean is taken, or the mean is. The sensitivity is that of the former.
    """
    n, row = LEVELS.rows, CLIPPED if rows_first else APART**2

    def value(counted: IntArray) -> float:
        mean = row * int(counted[0, 1] + counted[1, 0] - counted[0, 0] - counted[1, 1]) / n
        return float(np.clip(mean, -CLIPPED, CLIPPED))

    return on_grid("clipped gradient", ("x", "y"), value, 2 * CLIPPED / n)


def _billed_in_proportion() -> Finite:
    """Answer at random about one of four rows, drawn at random, and bill a quarter of what the answer costs."""
    each, rows = 2.0, 4
    true = math.exp(each) / (1 + math.exp(each))

    def law(cells: tuple[int, ...]) -> dict[object, float]:
        ones = sum(cells) / rows
        yes = ones * true + (1 - ones) * (1 - true)
        return {1: yes, 0: 1 - yes}

    return Finite(law, rows, 2, Claim(Currency.PURE, each / rows))


GRADIENTS: tuple[Broken, ...] = (
    Broken(
        "gradient-clipped-late",
        "the mean of the rows' gradients is clipped, and billed as if each row's were",
        NOLEAKS,
        "replay",
        Measured(gradient(rows_first=False), LEVELS, (BALANCED,)),
    ),
    Broken(
        "sample-in-proportion",
        "a share of the rows is billed that share of epsilon",
        NOLEAKS,
        "exact",
        _billed_in_proportion(),
    ),
)
