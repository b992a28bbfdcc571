"""For tests only: predictable noise. Whatever is released with it is stamped NOT PRIVATE."""

from __future__ import annotations

import numpy as np

from discreet.arrays import IntArray
from discreet.privacy.noise import invert_choice, invert_rounded_gaussian, smallest_keys, sorted_keys


class SeededNoise:
    """Noise that anybody who knows the seed can take away again."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    @property
    def private(self) -> bool:
        """Whether nobody can predict it: no."""
        return False

    def rounded_gaussian(self, sigma: float, size: int) -> IntArray:
        """Draw by the same inversion as the private source."""
        words = self._rng.integers(0, 1 << 64, size=size, dtype=np.uint64)
        return invert_rounded_gaussian(sigma, words, self._bits)

    def discrete_gaussian(self, sigma: float, size: int) -> IntArray:
        """Draw from the discrete Gaussian by its table of probabilities."""
        k = np.arange(-int(12 * sigma) - 2, int(12 * sigma) + 3)
        weights = np.exp(-0.5 * (k / sigma) ** 2)
        return self._rng.choice(k, size=size, p=weights / weights.sum())

    def discrete_laplace(self, scale: float, size: int) -> IntArray:
        """Draw from the discrete Laplace as the difference of two geometric variables."""
        p = -np.expm1(-1 / scale)
        return self._rng.geometric(p, size) - self._rng.geometric(p, size)

    def one_sided(self, scale: float, size: int) -> IntArray:
        """Draw geometric noise from 0 on."""
        return self._rng.geometric(-np.expm1(-1 / scale), size) - 1

    def subset(self, size: int, of: int) -> IntArray:
        """Draw by the same keys as the private source."""
        return smallest_keys(lambda: self._rng.integers(0, 1 << 64, size=of, dtype=np.uint64), size)

    def order(self, of: int) -> IntArray:
        """Draw by the same keys as the private source."""
        return sorted_keys(lambda: self._rng.integers(0, 1 << 64, size=of, dtype=np.uint64))

    def exponential_choices(self, utilities: IntArray, scale: float) -> IntArray:
        """Draw by the same inversion as the private source."""
        return np.array([invert_choice(row, scale, self._bits) for row in utilities.tolist()], dtype=np.int64)

    def _bits(self, bits: int) -> int:
        return int.from_bytes(self._rng.bytes(bits // 8))
