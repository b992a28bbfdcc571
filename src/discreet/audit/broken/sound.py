"""Sound twins of broken things: no auditor may flag them."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import IntArray
from discreet.audit import Auditor, table_of
from discreet.audit.broken import (
    PURE,
    Asking,
    Blurred,
    Broken,
    Finite,
    Measured,
    Sampled,
    Whole,
    domain_of,
    moving,
    on_grid,
    pair,
)
from discreet.audit.broken.gradients import BALANCED, LEVELS, gradient
from discreet.audit.broken.kernels import (
    DELTA,
    EVEN,
    FITTED,
    FLIPPED,
    PENALTY,
    SPACING,
    SQUARE,
    quartiles,
    ridge,
    root_hsic,
)
from discreet.audit.broken.methods import (
    AGE_PAIR,
    AGES,
    DOMAIN,
    FIRST,
    GDP,
    LEADING,
    PAIRS,
    ROWS,
    SINGLES,
    SWAP,
    ask,
    edges,
    room_of,
)
from discreet.audit.broken.noise import (
    ALL_UP,
    COLUMN,
    ONE,
    TALLY,
    UTILITIES,
    drawn_twice,
    gaussian,
    laplace,
    noisy_maximum,
    randomised_response,
    table_with,
    two_counts,
)
from discreet.audit.broken.ranks import (
    CONSTANT_STRATA,
    DROPPED,
    INFORMED,
    LONE_OF_TWO,
    STRATA,
    STRATA_PAIR,
    SWITCHED,
    THREE,
    TWO,
    concordance,
    farthest,
    gain,
    information,
    kendall,
    ranks,
    removes,
)
from discreet.audit.broken.sparse import (
    RAISED,
    RAISED_AMONG_MANY,
    TURNED,
    all_passes,
    first_pass,
    sieve,
    whole_sieve,
)
from discreet.audit.claims import Claim
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.mechanisms.exponential import Selection
from discreet.room import Room
from discreet.statistics.counts import Counts


def _tau_a(counted: IntArray) -> float:
    n = int(counted.sum())
    return 2 * concordance(counted) / (n * (n - 1))


def _rho_a(counted: IntArray) -> float:
    n = int(counted.sum())
    return 12 * float(ranks(counted.sum(axis=1)) @ counted @ ranks(counted.sum(axis=0))) / (n**3 - n)


def _planned(rows: IntArray) -> object:
    """Ask the second time for the pair that depends most, as far as the noisy answers tell."""
    room = room_of(rows)
    first = ask(room, PAIRS, 0.5)
    tables = np.array(first, dtype=np.float64).reshape(-1, 4)
    apart = np.abs(tables[:, 0] * tables[:, 3] - tables[:, 1] * tables[:, 2])
    chosen = PAIRS.sets[int(apart.argmax())]
    return chosen, ask(room, Counts((chosen,)), 0.5)


def _within_budget(rows: IntArray) -> object:
    """Ask again, and pay again, until something is found or nothing is left."""
    room, found = room_of(rows), tuple[bool, ...]()
    for _ in range(4):
        found = edges(ask(room, PAIRS, 0.25))
        if any(found):
            break
    return found


def _both(rows: IntArray) -> object:
    room = room_of(rows)
    return ask(room, SINGLES, 0.25), edges(ask(room, PAIRS, 0.75))


def _with_gaussian(rows: IntArray) -> object:
    room = Room(table_of(rows, DOMAIN), DOMAIN, Budget(epsilon=1.0, delta=1e-3))
    return tuple(room.release(FIRST, RoundedGaussian(8.0)).values.tolist())


def _ages(rows: IntArray) -> object:
    room = Room(table_of(rows, AGES), AGES, Budget(epsilon=1.0, delta=0.0))
    return ask(room, Counts((("age",),)), 1.0)


def _of(twin: str, name: str, by: Auditor, subject: Sampled | Asking | Measured | Blurred | Finite) -> Broken:
    return Broken(name, "", f"twin of {twin}", by, subject)


def _strata(rows: int) -> float:
    return 9 * math.sqrt((rows + 5) / (rows - 2))


_MU = Claim(Currency.GDP, 0.25)
_CLIPPED = Whole("sum of clipped ages", ("age",), lambda t: np.array([t @ np.minimum(np.arange(100), 20)]), moving(20))
_TENS = Whole("tens", ("x", "y"), lambda counted: (counted[1].sum(keepdims=True) + 5) // 10, moving(1))
_FARTHEST = Whole("largest signed distance", ("x", "y", "z"), farthest, moving(1))
_HSIC = on_grid("root of HSIC", ("x", "y"), root_hsic, math.sqrt(6) * 999 / 1000**2)
_INFORMATION = on_grid("conditional mutual information", ("x", "y", "z"), information, 2 * gain((ROWS + 1) / 2))
_RIDGE = ridge(PENALTY, 4 * (1 + 0.4593 / math.sqrt(PENALTY)) / (100 * PENALTY))
_NONE_CONSTANT = pair({(0, 0): 200, (0, 1): 199}, (0, 0), (1, 0))

SOUND: tuple[Broken, ...] = (
    _of("laplace-half-scale", "laplace", "black box", Sampled(laplace(1.0), PURE, (ONE,))),
    _of("variance-for-deviation", "gaussian", "black box", Sampled(gaussian(4.0), _MU, (ONE,))),
    _of("one-row-two-cells", "laplace-on-cells", "black box", Sampled(table_with(2.0), PURE, (ONE,))),
    _of(
        "maximum-with-value",
        "noisy-maximum",
        "black box",
        Sampled(noisy_maximum(2.0, value=False), PURE, (ALL_UP, TURNED)),
    ),
    _of("same-noise-twice", "two-counts", "black box", Sampled(two_counts(2.0, fresh=True), PURE, (ALL_UP,))),
    _of("response-with-coin", "randomised-response", "exact", randomised_response(coin=False)),
    _of("same-sample-twice", "fresh-samples", "exact", drawn_twice(fresh=True)),
    _of("laplace-half-billed", "discrete-laplace", "exact", Blurred(DiscreteLaplace(2.0), TALLY, COLUMN, (ONE,))),
    _of("gaussian-half-sigma", "rounded-gaussian", "exact", Blurred(RoundedGaussian(2.0), TALLY, COLUMN, (ONE,))),
    _of(
        "discrete-gaussian-as-gdp", "discrete-gaussian", "exact", Blurred(DiscreteGaussian(0.8), TALLY, COLUMN, (ONE,))
    ),
    _of("selection-without-two", "selection", "exact", Blurred(Selection(2.0, 1), UTILITIES, COLUMN, (ONE,))),
    _of(
        "sparse-bare-threshold",
        "sparse-one-pass",
        "black box",
        Sampled(first_pass(4, 2.0, 4.0), PURE, (RAISED, TURNED)),
    ),
    _of(
        "sparse-noise-not-scaled",
        "sparse-five-passes",
        "black box",
        Sampled(all_passes(0, 2.0, 20.0, 5), PURE, (RAISED, TURNED)),
    ),
    _of("sieve-kept", "sieve", "black box", Sampled(sieve(refresh=True), PURE, (RAISED_AMONG_MANY,))),
    _of("sieve-threshold-slip", "sieve-of-all-rows", "exact", whole_sieve(2 / 0.5)),
    _of(
        "gradient-clipped-late",
        "rows-clipped",
        "replay",
        Measured(gradient(rows_first=True), LEVELS, (BALANCED,)),
    ),
    _of("nan-never-passes", "total-p-value", "black box", Sampled(removes(total=True), PURE, (_NONE_CONSTANT,))),
    _of(
        "quartiles-shifted-bin",
        "quartiles",
        "black box",
        Sampled(quartiles(0.5, 1 + math.log(1 / DELTA) / 0.5, grow=SPACING), Claim(Currency.PURE, 1.5, DELTA), (EVEN,)),
    ),
    _of(
        "kendall-strata-constant",
        "stratified-kendall",
        "replay",
        Measured(kendall("stratified Kendall", STRATA, _strata(STRATA.rows)), STRATA, (STRATA_PAIR,)),
    ),
    _of(
        "kendall-strata-dropped",
        "strata-kept",
        "replay",
        Measured(
            kendall("stratified Kendall", CONSTANT_STRATA, _strata(CONSTANT_STRATA.rows)), CONSTANT_STRATA, (DROPPED,)
        ),
    ),
    _of("kendall-tau-b", "tau-a", "replay", Measured(on_grid("tau", ("x", "y"), _tau_a, 4 / 100), TWO, (LONE_OF_TWO,))),
    _of(
        "spearman-with-ties",
        "rho-a",
        "replay",
        Measured(on_grid("rho", ("x", "y"), _rho_a, 6 / 101), TWO, (LONE_OF_TWO,)),
    ),
    _of(
        "information-binary-constant",
        "information",
        "replay",
        Measured(_INFORMATION, domain_of(ROWS, x=2, y=2, z=2), (INFORMED,)),
    ),
    _of("distance-of-likeliest", "signed-distance", "replay", Measured(_FARTHEST, THREE, (SWITCHED,))),
    _of("rounding-forgotten", "tens", "replay", Measured(_TENS, TWO)),
    _of("hsic-permuted-as-plain", "root-of-hsic", "replay", Measured(_HSIC, SQUARE)),
    _of("ridge-strong-penalty", "ridge", "replay", Measured(_RIDGE, FITTED, (FLIPPED,))),
    _of("never-clipped", "clipped-ages", "replay", Measured(_CLIPPED, AGES, (AGE_PAIR,))),
    _of("split-from-data", "fixed-split", "replay", Asking(_both, PURE, DOMAIN, (SWAP,))),
    _of("planned-from-data", "planned-from-answers", "replay", Asking(_planned, PURE, DOMAIN, (LEADING,))),
    _of("quoted-afterwards", "within-budget", "replay", Asking(_within_budget, PURE, DOMAIN, (SWAP,))),
    _of("bounds-from-data", "public-bounds", "replay", Asking(_ages, PURE, AGES, (AGE_PAIR,))),
    _of("shrunk-to-exact", "gaussian-counts", "replay", Asking(_with_gaussian, GDP, DOMAIN, (SWAP,))),
)
