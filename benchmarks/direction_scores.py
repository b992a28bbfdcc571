"""Which of two columns causes the other, by scores of the literature on rows as they are. NOT PRIVATE.

Run: python benchmarks/direction_scores.py [pairs.csv] [simulated pairs of each kind] [rows].

`pairs.csv` is as for `discreet experiment direction`; pairs with at least 300 rows are taken. Simulated causes are
even, normal, mixed or skewed; curves are monotone, smooth or wild; noise adds, has a scale that varies with the cause,
or multiplies. A score is above 0 for x as the cause.
"""

from __future__ import annotations

import csv
import gzip
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, rankdata

Values = npt.NDArray[np.float64]
Score = Callable[[Values, Values], float]

FEWEST_ROWS = 300
STRATA = 10
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
NOISES, CURVES = ("additive", "location-scale", "multiplicative"), ("monotone", "smooth", "wild")


def unit(x: Values) -> Values:
    """Return values between 0 and 1."""
    return np.asarray((x - x.min()) / (np.ptp(x) or 1.0))


def standard(x: Values) -> Values:
    """Return values with mean 0 and deviation 1."""
    return np.asarray((x - x.mean()) / (x.std() or 1.0))


def normal(x: Values) -> Values:
    """Return normal scores of ranks."""
    return np.asarray(norm.ppf((rankdata(x) - 0.5) / len(x)))


def within(x: Values, y: Values, strata: int = STRATA) -> Iterator[Values]:
    """Yield y in strata of x with about as many rows each."""
    places = np.minimum((rankdata(x) - 0.5) / len(x) * strata, strata - 1e-9).astype(int)
    return (y[places == k] for k in range(strata) if (places == k).sum() > 4)


def regression_error(x: Values, y: Values) -> float:
    """RECI (Bloebaum et al. 2018): the mean squared error of a cubic fit."""
    x = standard(x)
    fit = np.polynomial.polynomial.polyfit(x, y, 3)
    return float(np.mean((y - np.polynomial.polynomial.polyval(x, fit)) ** 2))


def code_length(x: Values, y: Values) -> float:
    """Like SLOPE (Marx and Vreeken 2017): normal code of what the best of four curves leaves, and of its parameters."""
    lengths = []
    for degree in range(4):
        fit = np.polynomial.polynomial.polyfit(standard(x), y, degree)
        left = y - np.polynomial.polynomial.polyval(standard(x), fit)
        lengths.append(len(x) * math.log(left.std() + 1e-9) + (degree + 1) * math.log(len(x)) / 2)
    return min(lengths) / len(x)


def location_scale(x: Values, y: Values) -> float:
    """Like LOCI (Immer et al. 2023): minus the normal likelihood with a mean and a scale for every stratum."""
    return sum(len(part) * math.log(math.hypot(part.std(), 0.02)) for part in within(x, y)) / len(x)


def quantile_error(x: Values, y: Values) -> float:
    """Like QCCD (Tagasovska et al. 2020): pinball losses of quantiles by stratum, against those of all rows."""
    parts, found = list(within(x, y)), 0.0
    for level in QUANTILES:
        inside = sum(_pinball(part, level) * len(part) for part in parts) / len(x)
        found += inside / max(_pinball(y, level), 1e-12)
    return found / len(QUANTILES)


def _pinball(y: Values, level: float) -> float:
    error = y - np.quantile(y, level)
    return float(np.mean(np.maximum(level * error, (level - 1) * error)))


def varying_shape(x: Values, y: Values) -> float:
    """Like CDS and CDCI (Fonollosa 2019, Duong and Nguyen 2022): how the standardised shape differs between strata."""
    parts = [standard(part) for part in within(x, y, 8)]
    cuts = np.quantile(np.concatenate(parts), np.linspace(0, 1, 9)[1:-1])
    shares = [(np.bincount(np.searchsorted(cuts, part), minlength=8) + 0.5) / (len(part) + 4) for part in parts]
    return sum(len(p) * float(s @ np.log(8 * s)) for p, s in zip(parts, shares, strict=True)) / len(x)


def slope(x: Values) -> float:
    """IGCI (Janzing et al. 2012): the entropy of a column by its gaps."""
    gaps = np.diff(np.unique(x))
    return float(np.mean(np.log(gaps[gaps > 0]))) + math.log(len(gaps)) if len(gaps) else 0.0


def apart(loss: Score, scale: Callable[[Values], Values]) -> Score:
    """Return a score: how much more one direction loses than the other, on a scale."""
    return lambda x, y: loss(scale(y), scale(x)) - loss(scale(x), scale(y))


SCORES: dict[str, Score] = {
    "cubic error, between 0 and 1 (RECI)": apart(regression_error, unit),
    "cubic error, standardised": apart(regression_error, standard),
    "code length (SLOPE)": apart(code_length, unit),
    "location and scale (LOCI)": apart(location_scale, standard),
    "location and scale of normal scores": apart(location_scale, normal),
    "quantiles (QCCD)": apart(quantile_error, standard),
    "quantiles of normal scores": apart(quantile_error, normal),
    "shape within strata (CDS, CDCI)": apart(varying_shape, standard),
    "shape within strata of normal scores": apart(varying_shape, normal),
    "slopes, even reference (IGCI)": lambda x, y: slope(unit(x)) - slope(unit(y)),
    "slopes, normal reference (IGCI)": lambda x, y: slope(standard(x)) - slope(standard(y)),
}


def draw(noise: str, curve: str, rows: int, seed: int) -> tuple[Values, Values]:
    """Draw a cause and its effect."""
    rng = np.random.default_rng([seed, rows, NOISES.index(noise), CURVES.index(curve)])
    x = standard(_draw_cause(rng, rows))
    f = standard(_draw_curve(rng, curve, x))
    e = rng.normal(size=rows) if rng.random() < 0.5 else rng.uniform(-1.7, 1.7, rows)
    spread = rng.uniform(0.2, 0.7)
    if noise == "additive":
        return x, f + spread * e
    if noise == "location-scale":
        return x, f + spread * np.exp(standard(_draw_curve(rng, curve, x)) / 2) * e
    return x, f * (1 + spread * e) if rng.random() < 0.5 else np.exp(f / 2 + spread * e)


def _draw_cause(rng: np.random.Generator, rows: int) -> Values:
    kind = rng.integers(4)
    if kind == 0:
        return rng.uniform(-1.0, 1.0, rows)
    if kind == 1:
        return rng.normal(size=rows)
    if kind == 2:
        part = rng.integers(3, size=rows)
        return np.asarray(rng.normal(size=3)[part] * 1.2 + rng.uniform(0.2, 0.7, 3)[part] * rng.normal(size=rows))
    return rng.gamma(rng.uniform(1.5, 5.0), size=rows)


def _draw_curve(rng: np.random.Generator, curve: str, x: Values) -> Values:
    if curve == "monotone":
        steep = rng.uniform(1.0, 3.0)
        kinds = (np.tanh(steep * x), x**3 + 0.3 * x, np.exp(steep / 3 * x), 1 / (1 + np.exp(-2 * steep * x)))
        return np.asarray(kinds[int(rng.integers(4))])
    length = rng.uniform(0.6, 1.2) if curve == "smooth" else rng.uniform(0.25, 0.5)
    waves = np.cos(np.outer(x, rng.normal(size=20) / length) + rng.uniform(0, 2 * np.pi, 20))
    return np.asarray(waves @ rng.normal(size=20))


def given(path: str) -> Iterator[tuple[Values, Values]]:
    """Yield the pairs of a file, the cause first."""
    csv.field_size_limit(1 << 30)
    with (gzip.open if path.endswith(".gz") else open)(Path(path), "rt", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            pair = [np.array(line[c].split(), dtype=float) for c in "xy"]
            if len(pair[0]) >= FEWEST_ROWS:
                yield (pair[0], pair[1]) if line["direction"] == "x->y" else (pair[1], pair[0])


def main(pairs: str = "", number: str = "100", rows: str = "1000") -> None:
    """Print how often each score is right, with standard errors."""
    groups = {
        noise: [draw(noise, curve, int(rows), seed) for curve in CURVES for seed in range(int(number))]
        for noise in NOISES
    }
    groups |= {"given": list(given(pairs))} if pairs else {}
    print("| score | " + " | ".join(f"{name} ({len(g)})" for name, g in groups.items()) + " |")
    print("|---" * (len(groups) + 1) + "|")
    for name, score in SCORES.items():
        cells = []
        for members in groups.values():
            right = float(np.mean([score(x, y) > 0 for x, y in members]))
            cells.append(f"{right:.2f} ± {math.sqrt(right * (1 - right) / len(members)):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
