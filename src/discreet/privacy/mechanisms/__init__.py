"""Mechanisms: how an exact value is blurred, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from discreet.arrays import IntArray
from discreet.privacy.budget import Cost
from discreet.statistics import Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.noise import Noise


class Mechanism(Protocol):
    """Blurs a vector of integers; states its cost for a given sensitivity."""

    @property
    def name(self) -> str:
        """What it is, with its parameters. Public."""
        ...

    def cost(self, sensitivity: Sensitivity) -> Cost:
        """Return what one use costs."""
        ...

    def blur(self, exact: IntArray, noise: Noise) -> IntArray:
        """Add noise, or choose by it."""
        ...
