"""Tables 1 and 2 of Kusner, Sun, Sridharan, Weinberger 2016, as printed.

Its pairs are from the Kaggle cause-effect challenge, and were not to be had. Figures 1 and 2 are pictures.
"""

from __future__ import annotations

import math

from discreet.baselines.published.direction import Protects

MARKS: dict[tuple[str, Protects], tuple[str, ...]] = {
    ("spearman", "test half"): ("global", "local"),
    ("kendall", "test half"): ("global", "local"),
    ("hsic", "test half"): ("global", "local"),
    ("iqr", "test half"): ("local",),
    ("spearman", "training half"): ("local",),
    ("kendall", "training half"): ("local",),
    ("hsic", "training half"): ("global", "local"),
    ("iqr", "training half"): ("local",),
}
"""Table 1: which sensitivities of a score have bounds that mean something."""

SIZES = {
    "4031": 7713,
    "597": 7748,
    "2209": 7766,
    "2967": 7771,
    "161": 7782,
    "2132": 7784,
    "1656": 7803,
    "901": 7820,
    "3484": 7853,
    "1627": 7862,
}
"""Rows of the pairs of Table 2."""

CHANCES = {
    ("spearman", math.inf): ".50±.53 .00±.00 .00±.00 .70±.48 .90±.32 1.00±.00 .00±.00 .30±.48 .00±.00 1.00±.00",
    ("kendall", math.inf): ".50±.53 .00±.00 .00±.00 .70±.48 .80±.42 1.00±.00 .00±.00 .80±.42 .00±.00 1.00±.00",
    ("hsic", math.inf): "1.00±.00 .00±.00 1.00±.00 1.00±.00 .70±.48 .60±.52 1.00±.00 .40±.52 1.00±.00 .10±.32",
    ("iqr", math.inf): ".50±.53 .00±.00 .10±.32 1.00±.00 1.00±.00 1.00±.00 .00±.00 .90±.32 .00±.00 1.00±.00",
    ("spearman", 0.1): ".56±.45 .03±.00 .20±.02 .57±.10 .61±.06 .92±.02 .40±.06 .34±.21 .01±.00 .82±.02",
    ("kendall", 0.1): ".54±.48 .00±.00 .00±.00 .69±.38 .78±.24 1.00±.00 .12±.09 .76±.41 .00±.00 1.00±.00",
    ("hsic", 0.1): ".68±.17 .49±.00 .60±.01 .50±.00 .50±.01 .50±.00 .52±.00 .43±.06 .66±.03 .50±.00",
    ("iqr", 0.1): ".50±.00 .50±.00 .50±.00 .50±.00 .51±.00 .50±.00 .50±.00 .50±.00 .50±.00 .50±.00",
    ("spearman", 1.0): ".50±.53 .00±.00 .00±.00 .69±.43 .91±.17 1.00±.00 .06±.07 .30±.41 .00±.00 1.00±.00",
    ("kendall", 1.0): ".50±.53 .00±.00 .00±.00 .70±.48 .81±.40 1.00±.00 .00±.00 .80±.42 .00±.00 1.00±.00",
    ("hsic", 1.0): ".85±.16 .39±.03 .98±.00 .52±.01 .55±.06 .50±.01 .66±.02 .21±.25 1.00±.01 .49±.01",
    ("iqr", 1.0): ".54±.04 .48±.00 .49±.00 .52±.00 .58±.01 .51±.01 .48±.00 .50±.00 .47±.01 .51±.00",
    ("spearman", 2.0): ".50±.53 .00±.00 .00±.00 .69±.47 .93±.17 1.00±.00 .01±.02 .31±.45 .00±.00 1.00±.00",
    ("kendall", 2.0): ".50±.53 .00±.00 .00±.00 .70±.48 .80±.42 1.00±.00 .00±.00 .80±.42 .00±.00 1.00±.00",
    ("hsic", 2.0): ".92±.09 .29±.04 1.00±.00 .55±.01 .59±.11 .51±.01 .78±.02 .20±.26 1.00±.00 .48±.02",
    ("iqr", 2.0): ".58±.09 .46±.01 .49±.01 .54±.01 .65±.02 .52±.02 .47±.01 .51±.01 .45±.01 .52±.01",
}
"""Table 2, the test half protected: by score and epsilon, a mean and the deviation of ten splits for each pair."""


def printed_chance(pair: str, score: str, epsilon: float) -> tuple[float, float]:
    """Return a number of Table 2 and its deviation."""
    mean, deviation = CHANCES[score, epsilon].split()[list(SIZES).index(pair)].split("±")
    return float(mean), float(deviation)
