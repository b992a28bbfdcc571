"""Numeric models over the graphs of the bundled networks: every column a curve of its causes, plus noise.

As in the simulations of Zhang, Xia, Ren, Guan and Zhou (2023) a column is ``f(sum of weight * cause) + scale * noise``
with a curve drawn from sine, cosine, hyperbolic tangent, square and exponential. ``nonlinear`` draws weights of either
sign and Gaussian noise, and standardises columns as they are made, so that squares and exponentials do not run away
along a path. ``nonlinear_as_printed`` is the paper's model: positive weights, uniform noise, nothing standardised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.domain import Domain, Numeric
from discreet.search.graph import Graph, from_parents
from discreet.simulation.bayesian import Network

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

PRINTED = (0.5, 1.0)
"""The paper's weights and scales; its noise lies between -1/2 and 1/2."""

LARGEST = 1e100
"""A model as printed with larger numbers is drawn again: squares of exponentials of exponentials have none."""

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
    middle: float = 0.0
    spread: float = 1.0


@dataclass(frozen=True)
class Nonlinear:
    """A model over numeric columns."""

    name: str
    columns: dict[str, Cause]
    bounds: dict[str, tuple[float, float]]
    printed: bool = False

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
            drawn[name] = _follow(cause, drawn, _draw_noise(rows, rng, self.printed), self.printed)
        return drawn


def _draw_noise(rows: int, rng: np.random.Generator, printed: bool) -> Values:
    return rng.uniform(-0.5, 0.5, rows) if printed else rng.standard_normal(rows)


def _follow(cause: Cause, drawn: dict[str, Values], noise: Values, printed: bool) -> Values:
    total = sum((w * drawn[p] for w, p in zip(cause.weights, cause.parents, strict=True)), np.zeros(len(noise)))
    curved = CURVES[cause.curve](total if printed else np.clip(total, -STEEPEST, STEEPEST))
    return np.asarray((curved - cause.middle) / cause.spread + cause.scale * noise)


def nonlinear(network: Network, rng: np.random.Generator) -> Nonlinear:
    """Draw a model over a network's graph."""
    return _draw_model(network, rng, printed=False)


def nonlinear_as_printed(network: Network, rng: np.random.Generator) -> Nonlinear:
    """Draw the paper's model over a network's graph; again where its numbers run away."""
    while True:
        try:
            with np.errstate(over="raise"):
                return _draw_model(network, rng, printed=True)
        except FloatingPointError:
            continue


def _draw_model(network: Network, rng: np.random.Generator, *, printed: bool) -> Nonlinear:
    columns: dict[str, Cause] = {}
    drawn: dict[str, Values] = {}
    for name in network.in_order():
        draw = _draw_printed_cause if printed else _draw_cause
        cause = columns[name] = draw(network.nodes[name].parents, drawn, rng)
        drawn[name] = _follow(cause, drawn, _draw_noise(REFERENCE, rng, printed), printed)
        if np.abs(drawn[name]).max() > LARGEST:
            raise FloatingPointError
    bounds = {name: _round_outwards(np.quantile(values, [TAIL, 1 - TAIL])) for name, values in drawn.items()}
    return Nonlinear(network.name, columns, bounds, printed)


def _draw_printed_cause(parents: tuple[str, ...], drawn: dict[str, Values], rng: np.random.Generator) -> Cause:
    weights = rng.uniform(*PRINTED, size=len(parents))
    return Cause(parents, tuple(weights.tolist()), str(rng.choice(sorted(CURVES))), float(rng.uniform(*PRINTED)))


def _draw_cause(parents: tuple[str, ...], drawn: dict[str, Values], rng: np.random.Generator) -> Cause:
    weights = rng.uniform(*WEIGHTS, size=len(parents)) * rng.choice([-1.0, 1.0], size=len(parents))
    curve = str(rng.choice(sorted(CURVES)))
    scale = float(rng.uniform(*SCALES))
    if not parents:
        return Cause(parents, (), "sin", 1.0)
    plain = Cause(parents, tuple(weights.tolist()), curve, 0.0)
    followed = _follow(plain, drawn, np.zeros(REFERENCE), printed=False)
    return Cause(parents, plain.weights, curve, scale, float(followed.mean()), float(followed.std()))


def _round_outwards(ends: Values) -> tuple[float, float]:
    """Return bounds that somebody who knows the subject might declare."""
    return float(np.floor(2 * ends[0]) / 2), float(np.ceil(2 * ends[1]) / 2)
