"""Pairs of columns of numbers, as codes."""

from __future__ import annotations

import numpy as np


def coded(values):
    return np.minimum((np.clip(values, -1, 1) + 1) / 2 * 65_534, 65_533).astype(np.uint16)
