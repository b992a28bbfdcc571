"""Which of two columns causes the other: small networks that learned it from simulated pairs, and how sure they are.

After Lopez-Paz, Muandet, Schoelkopf and Tolstikhin 2015 (*Towards a learning theory of cause-effect inference*): what
tells cause from effect is not stated by one score but learned from pairs whose cause is known. Here they are simulated,
with the noise of privacy (``benchmarks/fit_direction.py``, which wrote the weights).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from discreet.arrays import FloatArray
from discreet.release.pair_table import PairTable

REDRAWS = 200
SEED = 20

REFLECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Turning a column round changes nothing about what causes what."""

LEAST_Z = 21.7
"""The first waves of columns that do not depend on each other pass this once in a hundred: chi-square, nine of them."""

FIRST = 3

MOST_STATED = 0.99
"""No probability is stated beyond this."""


@dataclass(frozen=True)
class Networks:
    """Some networks of two hidden layers, whose mean counts. Columns in the other order give the opposite answer.

    Parameters
    ----------
    weights, biases
        Of each layer: one array for each network, stacked.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    def log_odds(self, waves: FloatArray, rows: float, noise: float) -> FloatArray:
        """Return the log odds of the first column as the cause, for means of waves (one matrix for each table)."""
        degree = waves.shape[1]
        signs = [(-1.0) ** np.arange(1, degree + 1), np.ones(degree)]
        turned = [waves * np.outer(signs[a > 0], signs[b > 0]) for a, b in REFLECTIONS]
        views = np.stack([view for one in turned for view in (one, one.transpose(0, 2, 1))])
        said = self._mean(inputs(views.reshape(-1, degree, degree), rows, noise)).reshape(len(views), -1)
        return np.asarray((said[::2] - said[1::2]).mean(axis=0))

    def _mean(self, found: FloatArray) -> FloatArray:
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            found = np.maximum(found @ weight + bias[:, None], 0.0)
        return np.asarray((found @ self.weights[-1] + self.biases[-1][:, None]).mean(axis=0)[:, 0])


def inputs(waves: FloatArray, rows: FloatArray | float, noise: FloatArray | float) -> FloatArray:
    """Return what a network sees: the waves, and how much chance and noise there is in them."""
    chance, blurred = 1 / np.asarray(rows), np.asarray(noise) ** 2
    known = np.stack([np.log(chance + blurred) / 4 + 1.2, np.log(blurred / chance + 0.05) / 4], axis=-1)
    known = np.broadcast_to(known, (len(waves), 2))
    return np.concatenate([3 * waves.reshape(len(waves), -1), known], axis=1)


@cache
def networks(degree: int) -> Networks:
    """Return the networks for so many waves."""
    with files("discreet.release").joinpath("classifier.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        layers = range(3)
        weights = tuple(stored[f"weight{degree}_{i}"].astype(float) for i in layers)
        return Networks(weights, tuple(stored[f"bias{degree}_{i}"].astype(float) for i in layers))


@dataclass(frozen=True)
class Reading:
    """What a table says: log odds of the first column as the cause, and how often fresh noise leaves the sign alone."""

    log_odds: float
    unflipped: float
    depends: bool


def read(table: PairTable) -> Reading:
    """Read a released table. The same table always reads the same."""
    chosen, rows, noise = networks(table.degree), table.present, table.wave_noise
    waves = table.waves()
    found = float(chosen.log_odds(waves, rows, noise)[0])
    again = chosen.log_odds(table.waves(table.redraw(REDRAWS, np.random.default_rng(SEED))), rows, noise)
    kept = float(np.mean(np.sign(again) == np.sign(found))) if found else 0.5
    first = float((waves[0, :FIRST, :FIRST] ** 2).sum())
    return Reading(found, max(kept, 0.5), first > LEAST_Z * (1 / rows + noise**2))


def probability(log_odds: float) -> float:
    """Return the probability that the likelier direction is right; no more is stated than simulated pairs can bear."""
    return min(1 / (1 + math.exp(-abs(log_odds))), MOST_STATED)
