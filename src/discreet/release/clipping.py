"""Whether rows are clipped, and to which length: decided from public facts and released shares alone.

Where noise rules and columns are many and uneven, the worst row, by which noise is measured, hardly exists. Then all
that is left of the budget is better spent on rows of limited length. Where it would not pay, or would bend what the
rows say by more than the noise does, rows stay as they are.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.arrays import FloatArray
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms.additive import additive_for
from discreet.release.oracles.components import Components, contrasts, to_simplex
from discreet.release.release import Measurement
from discreet.release.selection import components, squared_mu
from discreet.statistics.clipped import GRID, UNIT, Centre, ClippedInteractions, Frame
from discreet.statistics.interactions import Interactions

SHARE = Fraction(3, 100)
"""Share of the budget for the shares of levels by which it is decided."""

FEWEST = 13
"""Columns that it takes: of few, each is a large part of a row's length, and clipping is felt in all others."""

NOISY = 0.3
"""Noise that it takes: the square of the number of columns, over rows and squared mu."""

MOST_BLURRED = 0.3
"""Noise of shares, in deviations, beyond which they are no guide: then nothing is found in any case."""

BASE = 2 * UNIT
"""The part of a row's squared length that is the same for all rows."""

SMALLEST_SPREAD = 0.02
"""Spread of a column, 1 less the sum of its squared shares, below which its scale does not grow any more."""

LEAST_GAIN = 1.2
"""By how much noise must fall, in deviations, over the average of pairs; by 1 / noise where that is more."""

MOST_BIAS = 0.5
"""How far two independent columns may seem dependent, in deviations of the noise, in nine of ten pairs."""

_POINTS = np.polynomial.hermite_e.hermegauss(40)


def select_margins(domain: Domain, currency: Currency, amount: Fraction) -> Interactions | None:
    """Return what it takes to decide: the shares of all columns. None where rows stay as they are whatever they say."""
    several = sorted(column for column in domain if domain.size(column) > 1)
    if currency is Currency.PURE or len(several) < FEWEST:
        return None
    if _noise(len(several), domain, currency, amount) < NOISY:
        return None
    if math.sqrt(2 * len(several) / (float(SHARE) * squared_mu(currency, amount))) / domain.rows > MOST_BLURRED:
        return None
    return Interactions(tuple((column,) for column in several), (1,) * len(several))


def _noise(columns: int, domain: Domain, currency: Currency, amount: Fraction) -> float:
    """Return about how much noise there is against sampling, in variance."""
    return columns**2 / (domain.rows * squared_mu(currency, amount))


def select_clipped(
    margins: Measurement, plain: Interactions, domain: Domain, currency: Currency, amount: Fraction
) -> ClippedInteractions | None:
    """Return what is measured of clipped rows; None where that is no better than measuring them as they are."""
    parts = components([margins], domain)
    frame = make_frame({name: cautious_shares(parts, name) for (name,) in margins.statistic.sets})
    statistic = ClippedInteractions(frame)
    try:
        additive_for(currency, amount, statistic.sensitivity(domain))
        variance = additive_for(currency, amount, plain.sensitivity(domain)).variance
    except SettingError:  # too large to be counted, or it would drown
        return None
    forecast = Forecast(frame, domain.rows, squared_mu(currency, amount))
    wanted = max(LEAST_GAIN, 1 / _noise(len(frame.centres), domain, currency, amount))
    pays = forecast.gain(variance, plain.weights[0]) >= wanted and forecast.bias <= MOST_BIAS
    return statistic if pays else None


def cautious_shares(parts: Components, column: str) -> FloatArray:
    """Return a column's shares, moved towards even ones by as much as the noise may have moved them away."""
    away, levels = parts.values(column) / parts.rows, parts.sizes[column]
    blurred = (levels - 1) * parts.variance(column) / parts.rows**2
    kept = max(1 - blurred / max(float(away @ away), blurred), 0.0)
    return to_simplex(1 / levels + contrasts(levels) @ (kept * away))


def make_frame(shares: dict[str, FloatArray]) -> Frame:
    """Return centres at these shares, and the length of a typical row."""
    centres = {name: _centre(values) for name, values in shares.items()}
    typical = sum(c.scale * int(np.array(c.steps) @ c.distances) for c in centres.values()) // GRID
    return Frame(centres, BASE, BASE * GRID**2 + typical)


def _centre(shares: FloatArray) -> Centre:
    """Return shares in whole steps; the less a column is spread, the more it counts."""
    exact = shares * GRID
    steps = np.floor(exact).astype(np.int64)
    steps[np.argsort(steps - exact, kind="stable")[: GRID - int(steps.sum())]] += 1
    spread = max(1 - float((steps / GRID) @ (steps / GRID)), SMALLEST_SPREAD)
    return Centre(tuple(steps.tolist()), round(UNIT * math.sqrt((1 - 1 / len(steps)) / spread)))


class Forecast:
    """What clipping would do if columns were independent: then the lengths of rows are nearly normal."""

    def __init__(self, frame: Frame, rows: int, squared_mu: float) -> None:
        self._limit = frame.limit / (UNIT * GRID**2)
        self._rows, self._deviation = rows, self._limit / math.sqrt(squared_mu)
        self._shares = [np.array(centre.steps) / GRID for centre in frame.centres.values()]
        self._scales = np.array([centre.scale / UNIT for centre in frame.centres.values()])
        lengths = [centre.scale * centre.distances / (UNIT * GRID**2) for centre in frame.centres.values()]
        pairs = list(zip(self._shares, lengths, strict=True))
        self._mean = sum(float(shares @ length) for shares, length in pairs)
        self._spread = math.sqrt(sum(float(shares @ (length - shares @ length) ** 2) for shares, length in pairs))
        moved = [float(np.linalg.norm(shares * (length - shares @ length))) for shares, length in pairs]
        self._pulls = np.array(moved) * np.sqrt(self._scales)

    def _weight(self, mean: float) -> float:
        """Return the average weight of rows with this average length."""
        at, share = _POINTS
        lengths = np.maximum(BASE / UNIT + mean + self._spread * at, BASE / UNIT)
        return float(share @ np.minimum(1.0, self._limit / lengths) / share.sum())

    @property
    def bias(self) -> float:
        """How far two columns seem dependent since both are clipped together, in deviations of the noise."""
        if not self._mean:  # no column seems to vary at all
            return math.inf
        step = self._mean / 20
        bend = self._weight(self._mean + step) - 2 * self._weight(self._mean) + self._weight(self._mean - step)
        pairs = np.outer(self._pulls, self._pulls)[np.triu_indices(len(self._pulls), 1)]
        return self._rows * abs(bend) / step**2 * float(np.quantile(pairs, 0.9)) / self._deviation

    def gain(self, variance: float, single: int) -> float:
        """By how much the noise on what is left of a pair is smaller than with a variance and single columns' weight.

        Contrasts of whole rows bring the noise of single columns into what is left of pairs.
        """
        off = np.array([float(shares @ shares) - 1 / len(shares) for shares in self._shares]) / single
        upper = np.triu_indices(len(off), 1)
        whole = np.log(variance * (1 + (off[:, None] + off)[upper])) / 2
        scale = np.log(np.outer(self._scales, self._scales)[upper]) / 2
        return math.exp(float(np.mean(whole + scale)) - math.log(self._deviation / self._weight(self._mean)))
