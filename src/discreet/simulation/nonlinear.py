"""Numeric models over the graphs of the bundled networks: every column a curve of its causes, plus noise.

After the simulations of Zhang, Xia, Ren, Guan and Zhou (2023): a column is ``f(sum of weight * cause) + scale * noise``
with a curve drawn from sine, cosine, hyperbolic tangent, square and exponential. What differs: weights have either
sign, noise is Gaussian, and columns are standardised and clipped as they are made, so that squares and exponentials do
not run away along a path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.domain import Domain, Numeric
from discreet.search.graph import Graph, from_parents
from discreet.simulation.networks import Network

Values = npt.NDArray[np.float64]

CURVES: dict[str, Callable[[Values], Values]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "square": np.square,
    "exp": np.exp,
}

WEIGHTS = (0.5, 1.5)
"""How much a cause weighs, with either sign."""

SCALES = (0.3, 0.6)
"""Standard deviation of the noise, where the curve's own is 1."""

STEEPEST = 3.0
"""No curve is followed further than this from the middle of what goes in."""

REFERENCE = 20_000
"""Rows of another draw of the model that bounds and scales are taken from: never from the sample."""

TAIL = 0.0005
"""Share of values that a declared bound cuts off on either side."""


@dataclass(frozen=True)
class Cause:
    """How a column follows from others."""

    parents: tuple[str, ...]
    weights: tuple[float, ...]
    curve: str
    scale: float
    middle: float
    spread: float


@dataclass(frozen=True)
class Nonlinear:
    """A model over numeric columns."""

    name: str
    columns: dict[str, Cause]
    bounds: dict[str, tuple[float, float]]

    @property
    def dag(self) -> Graph:
        """The true graph."""
        return from_parents({name: cause.parents for name, cause in self.columns.items()})

    def domain(self, rows: int) -> Domain:
        """Return the public domain: bounds belong to the model, not to a sample."""
        return Domain({name: Numeric(bounds=bounds) for name, bounds in self.bounds.items()}, rows=rows)

    def sample(self, rows: int, rng: np.random.Generator) -> dict[str, Values]:
        """Draw rows, one array a column."""
        drawn: dict[str, Values] = {}
        for name, cause in self.columns.items():  # causes stand before their effects
            drawn[name] = _follow(cause, drawn, rng.standard_normal(rows))
        return drawn


def _follow(cause: Cause, drawn: dict[str, Values], noise: Values) -> Values:
    if not cause.parents:
        return noise
    total = sum(w * drawn[p] for w, p in zip(cause.weights, cause.parents, strict=True))
    curved = CURVES[cause.curve](np.clip(np.asarray(total), -STEEPEST, STEEPEST))
    return np.asarray((curved - cause.middle) / cause.spread + cause.scale * noise)


def nonlinear(network: Network, rng: np.random.Generator) -> Nonlinear:
    """Draw a model over a network's graph."""
    columns: dict[str, Cause] = {}
    drawn: dict[str, Values] = {}
    for name in network.in_order():
        cause = _draw_cause(network.nodes[name].parents, drawn, rng)
        columns[name] = cause
        drawn[name] = _follow(cause, drawn, rng.standard_normal(REFERENCE))
    bounds = {name: _round_outwards(np.quantile(values, [TAIL, 1 - TAIL])) for name, values in drawn.items()}
    return Nonlinear(network.name, columns, bounds)


def _draw_cause(parents: tuple[str, ...], drawn: dict[str, Values], rng: np.random.Generator) -> Cause:
    weights = rng.uniform(*WEIGHTS, size=len(parents)) * rng.choice([-1.0, 1.0], size=len(parents))
    curve = str(rng.choice(sorted(CURVES)))
    scale = float(rng.uniform(*SCALES))
    plain = Cause(parents, tuple(weights.tolist()), curve, 0.0, 0.0, 1.0)
    if not parents:
        return Cause(parents, (), curve, 1.0, 0.0, 1.0)
    followed = _follow(plain, drawn, np.zeros(REFERENCE))
    return Cause(parents, plain.weights, curve, scale, float(followed.mean()), float(followed.std()))


def _round_outwards(ends: Values) -> tuple[float, float]:
    """Return bounds that somebody who knows the subject might declare."""
    return float(np.floor(2 * ends[0]) / 2), float(np.ceil(2 * ends[1]) / 2)
