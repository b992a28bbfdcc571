"""Residuals in independent directions: how far each stands out, and what that says for dependence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import FloatArray


@dataclass(frozen=True)
class Spectrum:
    """A residual in independent directions: standard scores, and how much a dependence would add to their variance.

    ``evidence`` is the log Bayes factor for dependence.
    """

    scores: FloatArray
    gains: FloatArray
    evidence: float

    def redrawn(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the evidence of scores as they might have been."""
        return evidence_of(self.scores + rng.standard_normal((draws, len(self.scores))), self.gains)


@dataclass(frozen=True)
class Batch:
    """Residuals of one shape, and their null covariance by where it comes from."""

    values: FloatArray
    sampled: FloatArray
    blurred: FloatArray
    prior: FloatArray


def evidence_of(scores: FloatArray, gains: FloatArray) -> FloatArray:
    """Return log Bayes factors for dependence, along the last axis."""
    return np.asarray((scores**2 * (gains / (1 + gains)) - np.log1p(gains)).sum(axis=-1) / 2)


def whiten(batch: Batch) -> tuple[FloatArray, FloatArray]:
    """Return, for each residual, the map to independent directions with unit null variance, and the gain of each."""
    root = np.linalg.cholesky(batch.sampled + batch.blurred)
    half = np.linalg.solve(root, batch.prior)
    ratio = np.linalg.solve(root, half.mT)
    gains, directions = np.linalg.eigh((ratio + ratio.mT) / 2)
    return directions.mT @ np.linalg.inv(root), np.maximum(gains, 0.0)


def spectra(batch: Batch) -> list[Spectrum]:
    """Return the spectrum of every residual."""
    whitener, gains = whiten(batch)
    scores = (whitener @ batch.values[..., None])[..., 0]
    weighed = evidence_of(scores, gains).tolist()
    return [Spectrum(z, g, e) for z, g, e in zip(scores, gains, weighed, strict=True)]
