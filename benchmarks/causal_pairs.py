"""Simulated pairs of which one column causes the other: the families from which the reader of directions learned.

They are wide on purpose: what wins on narrow ones misleads on real pairs. Causes are even, normal, skewed, mixed or
heavy-tailed; curves are straight, monotone, polynomial, broken, smooth or wild; values may be measured with an error,
bent, cut off at both ends, or rounded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Rng = np.random.Generator


def standard(x: Values) -> Values:
    """Return values with mean 0 and deviation 1."""
    spread = x.std()
    return np.asarray((x - x.mean()) / (spread if spread > 1e-12 else 1.0))


def bend(rng: Rng, x: Values) -> Values:
    """Return values after a random function that rises."""
    grid = np.linspace(x.min() - 1e-9, x.max() + 1e-9, 50)
    at = np.linspace(0, 1, 50)
    waves = np.cos(np.outer(at, 3 * rng.normal(size=12) / rng.uniform(0.15, 1.0)) + rng.uniform(0, 2 * np.pi, 12))
    slopes = np.exp(rng.uniform(0.3, 1.2) * standard(waves @ rng.normal(size=12)))
    heights = np.concatenate([[0.0], np.cumsum((slopes[1:] + slopes[:-1]) / 2)])
    return np.asarray(np.interp(x, grid, heights))


def _mixed(rng: Rng, rows: int) -> Values:
    parts = int(rng.integers(2, 6))
    part = rng.choice(parts, rows, p=rng.dirichlet(np.full(parts, 2.0)))
    centres, widths = rng.normal(size=parts) * rng.uniform(0.5, 2), rng.uniform(0.1, 0.8, parts)
    return np.asarray(centres[part] + widths[part] * rng.normal(size=rows))


CAUSES: tuple[Callable[[Rng, int], Values], ...] = (
    lambda rng, rows: rng.uniform(-1, 1, rows),
    lambda rng, rows: rng.normal(size=rows),
    _mixed,
    _mixed,
    lambda rng, rows: rng.choice([-1, 1]) * rng.gamma(rng.uniform(1, 6), size=rows),
    lambda rng, rows: rng.choice([-1, 1]) * np.exp(rng.uniform(0.3, 1.0) * rng.normal(size=rows)),
    lambda rng, rows: rng.beta(rng.uniform(0.6, 4), rng.uniform(0.6, 4), rows),
    lambda rng, rows: rng.standard_t(rng.uniform(3, 10), size=rows),
    lambda rng, rows: bend(rng, rng.normal(size=rows)),
)


def draw_cause(rng: Rng, rows: int) -> Values:
    """Draw a column that nothing here causes."""
    return np.asarray(CAUSES[int(rng.integers(len(CAUSES)))](rng, rows))


def draw_noise(rng: Rng, rows: int) -> Values:
    """Draw what else an effect is made of: normal in three cases of eight."""
    kind = rng.integers(8)
    if kind < 3:
        return rng.normal(size=rows)
    if kind == 3:
        return rng.uniform(-1.7, 1.7, rows)
    if kind == 4:
        return rng.laplace(scale=0.7, size=rows)
    if kind == 5:
        return standard(rng.choice([-1, 1]) * rng.gamma(rng.uniform(1, 6), size=rows))
    return standard(draw_cause(rng, rows))


def draw_curve(rng: Rng, x: Values) -> Values:
    """Draw a function of a column: one that rises in half of the cases."""
    kind = rng.integers(10)
    if kind < 4:
        steep = rng.uniform(0.3, 3.0)
        rising: tuple[Callable[[], Values], ...] = (
            lambda: np.tanh(steep * x),
            lambda: x**3 + rng.uniform(0.1, 2) * x,
            lambda: np.exp(steep / 3 * np.clip(x, -6, 6)),
            lambda: 1 / (1 + np.exp(-2 * steep * (x - rng.normal() / 2))),
            lambda: np.log(np.abs(x - x.min()) + 0.3 * steep),
            lambda: x,
        )
        return np.asarray(rising[int(rng.integers(6))]())
    if kind == 4:
        weights = rng.normal(size=4) / [1, 1, 2, 6]
        return np.asarray(np.polynomial.polynomial.polyval(np.clip(x, -4, 4), weights))
    if kind == 5:
        knots = int(rng.integers(3, 7))
        places = np.quantile(x, np.linspace(0, 1, knots)) + np.arange(knots) * 1e-9
        return np.interp(x, places, rng.normal(size=knots))
    if kind == 6:
        return bend(rng, x)
    length = rng.uniform(0.6, 1.8) if kind < 9 else rng.uniform(0.25, 0.6)
    waves = np.cos(np.outer(x, rng.normal(size=20) / length) + rng.uniform(0, 2 * np.pi, 20))
    return np.asarray(waves @ rng.normal(size=20))


def _additive(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    return f + spread * e


def _location_scale(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    return f + spread * np.exp(rng.uniform(0.3, 0.9) * standard(draw_curve(rng, x))) * e


def _multiplicative(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    if rng.random() < 0.5:
        return (f + rng.uniform(0, 2.5)) * (1 + min(spread, 0.8) * e)
    return np.asarray(np.exp(rng.uniform(0.3, 1.0) * f + spread * e))


def _post_nonlinear(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    y = f + spread * e
    return bend(rng, y) if rng.random() < 0.6 else np.asarray(np.sign(y) * np.abs(y) ** rng.uniform(0.3, 3))


def _any_function(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    a = np.outer(x, rng.normal(size=40) / rng.uniform(0.7, 2.0))
    b = np.outer(e * rng.uniform(0.3, 1.0), rng.normal(size=40) / rng.uniform(0.8, 3.0))
    return np.asarray(np.cos(a + b + rng.uniform(0, 2 * np.pi, 40)) @ rng.normal(size=40))


def _several_hidden(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    inside = np.outer(x, rng.normal(size=60) / rng.uniform(0.7, 2.0))
    for _ in range(int(rng.integers(2, 5))):
        inside += np.outer(draw_noise(rng, len(x)), rng.normal(size=60) / rng.uniform(1.0, 4.0))
    return np.asarray(np.cos(inside + rng.uniform(0, 2 * np.pi, 60)) @ rng.normal(size=60))


def _mixed_groups(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    y = f + spread * e
    for _ in range(int(rng.integers(1, 3))):
        other = standard(draw_curve(rng, x)) + rng.normal() / 2 + spread * rng.uniform(0.5, 2) * e
        y = np.where(rng.random(len(x)) < rng.uniform(0.1, 0.5), other, y)
    return y


def _rising_in_noise(rng: Rng, x: Values, e: Values, f: Values, spread: float) -> Values:
    left = np.zeros_like(x)
    for _ in range(3):
        slope = np.exp(0.7 * standard(draw_curve(rng, x)))
        left = left + slope * np.tanh(rng.uniform(0.5, 2) * (e - rng.normal()))
    return f + rng.uniform(0.2, 0.9) * standard(left)


FAMILIES: dict[str, Callable[[Rng, Values, Values, Values, float], Values]] = {
    "additive": _additive,
    "location-scale": _location_scale,
    "multiplicative": _multiplicative,
    "post-nonlinear": _post_nonlinear,
    "any function": _any_function,
    "rising in the noise": _rising_in_noise,
    "several noises": _several_hidden,
    "mixed groups": _mixed_groups,
    "partly a common cause": _additive,
}


def draw_pair(rng: Rng, rows: int, family: str) -> tuple[Values, Values]:
    """Draw a cause and its effect."""
    x, hidden, common = draw_cause(rng, rows), rng.normal(size=rows), family == "partly a common cause"
    if common:
        x = standard(x) + rng.uniform(0.2, 0.8) * standard(draw_curve(rng, hidden))
    x, e = standard(x), draw_noise(rng, rows)
    y = FAMILIES[family](rng, x, e, standard(draw_curve(rng, x)), np.exp(rng.uniform(np.log(0.1), np.log(1.2))))
    if common:
        y = y + rng.uniform(0.2, 0.8) * standard(draw_curve(rng, hidden))
    return _measured(rng, x), _measured(rng, standard(y))


def _measured(rng: Rng, v: Values) -> Values:
    """Return a column as somebody may have written it down."""
    if rng.random() < 0.3:
        v = v + rng.uniform(0.02, 0.2) * rng.normal(size=len(v))
    if rng.random() < 0.15:
        v = bend(rng, v)
    if rng.random() < 0.15:
        ends = rng.uniform(0, 0.5, 2) * rng.permutation([1, rng.integers(2) / 3])
        v = np.clip(v, *np.quantile(v, (ends[0], 1 - ends[1])))
    if rng.random() < 0.4:
        low, high = np.quantile(v, (0.01, 0.99))
        v = np.round((v - low) / (high - low + 1e-9) * int(np.exp(rng.uniform(np.log(4), np.log(120)))))
    return v
