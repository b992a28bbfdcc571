"""Which of two columns causes the other, privately.

By default one noisy table of both columns is released and read (``release/classifier.py``). The scores of additive
noise models ask twice: curves first, then how much worse one direction fits.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Real

from discreet.domain import Categorical, Domain
from discreet.domain.domain import check_domain
from discreet.errors import DoubtWarning, SettingError
from discreet.ledger.account import Account
from discreet.methods.method import refuse_spent
from discreet.methods.pair_tables import QUANTILES_SHARE, measure_pairs, warn_of_noise
from discreet.methods.quantile_bins import choose_edges
from discreet.methods.session import Request, Session
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.privacy.mechanisms import at_least
from discreet.privacy.mechanisms.additive import DiscreteLaplace, additive_for
from discreet.privacy.mechanisms.exponential import selection_for
from discreet.privacy.statement import Privacy
from discreet.progress import WHOLE, Progress, tell
from discreet.release.direction import COPULA, Direction, Directions, read_pairs
from discreet.release.pair_table import FEWEST_LEVELS, MOST_LEVELS, QUARTERS, has_shape
from discreet.room import Room
from discreet.statistics.curves import UNIT, BinnedSums, Curve, Scaled, between_bounds, ordered_levels
from discreet.statistics.direction import (
    HSIC,
    MAX_ROWS,
    Difference,
    FeatureHSIC,
    KendallResiduals,
    RootHSIC,
    SpearmanResiduals,
    SquaredErrors,
)
from discreet.statistics.quantiles import Quartiles

SCORES: dict[str, type[Difference] | None] = {
    "reci": SquaredErrors,
    "kendall": KendallResiduals,
    "spearman": SpearmanResiduals,
    "root-hsic": RootHSIC,
    "hsic": HSIC,
    "hsic-features": FeatureHSIC,
    "iqr": None,
}
"""Scores that are asked, with curves, by name."""

NAMES = (COPULA, *SCORES)

BLURRED = 0.2
"""Curves are mostly noise if a bin's noise is this share of its rows."""

SURE = 0.8
"""How sure it must be for a direction to be told, where nothing else is said."""

LEAST_PAIR_ROWS = 10
FEWEST_BINS, MOST_BINS = 4, 16
"""Bins of a curve."""

CURVES_SHARE = Fraction(1, 2)
"""Share of a pair's budget that its curves cost; the rest is for the score."""


def direction(
    data: object,
    *pairs: tuple[str, str],
    domain: Domain,
    epsilon: float,
    score: str = COPULA,
    sure: float = SURE,
    account: Account | str | None = None,
    engine_pull: bool = False,
    progress: Progress | None = None,
) -> Directions:
    """Say which of two columns causes the other, for one pair or several, under differential privacy.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB), a table in memory, or one in an engine.
    pairs
        Two columns each. Both need an order: bounds, or ordered categories. Where ``missing`` or ``other`` have a level
        of their own, a row with one of them counts as absent, which ``"copula"``, ``"reci"``, ``"kendall"`` and
        ``"iqr"`` can take.
    domain
        What is public about the table. Never read from the data; columns that are not asked about are not read.
    epsilon
        The total promise for all pairs together; pure, with delta 0.
    score
        ``"copula"`` reads one noisy table of both columns' ranks: it asks for counts alone. The others suppose additive
        noise and look at rows: ``"reci"`` compares squared errors; ``"kendall"``, ``"spearman"``, ``"root-hsic"``,
        ``"hsic"`` and ``"hsic-features"`` how residuals depend on the cause; ``"iqr"`` how wide columns and residuals
        are.
    sure
        A direction is told only if it is right with at least this probability, over the families that ``"copula"`` was
        fitted to; with another score, if the margin's noise did not turn it round with at least this probability, and
        the curves are more than noise. 0.5 takes any guess. ``"iqr"`` has no such probability.
    account
        Where the run is recorded, and what limits it: an ``Account``, or a data set's name in the user's own ledger.
        Without one, what else was asked of these rows is not counted.
    engine_pull
        Load the rows of a server's table as codes, for what looks at rows; else they stay there, and are counted there.
    progress
        Called with a line of words at each step.

    Guarantee
    ---------
    The returned object is epsilon-differentially private with respect to replacing any one row; or, if the domain names
    people, any one person with all their rows.

    Raises
    ------
    InputError
        If something handed in does not fit. Nothing was spent.
    BudgetError
        If the account's limit does not allow the run. Nothing was spent, and no rows were read.
    LedgerError
        If the ledger cannot be read or written. What was reserved before that stays spent.
    """
    check_domain(domain)
    bounded = between_bounds(domain)
    check_pairs(pairs, bounded, score, sure)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    encoded = replace(bounded, columns={name: bounded[name] for name in names})
    if score == COPULA:
        encoded = encoded.with_bins(QUARTERS)
    request = Request(
        command="direction",
        method=score,
        epsilon=epsilon,
        delta=0.0,
        domain=domain,
        public={"pairs": [list(pair) for pair in pairs], "sure": float(sure)},
        result=Directions,
        encode=lambda _: encoded,
        run=lambda room: direction_in(room, *pairs, score=score, sure=sure, progress=progress),
        looks_at_rows=None if score == COPULA else f"direction by {score}",
    )
    return Session(account=account, engine_pull=engine_pull, progress=progress).answer(data, request)


def check_pairs(pairs: Sequence[tuple[str, str]], domain: Domain, score: str, sure: float) -> None:
    """Refuse what cannot be asked. Nothing is spent."""
    if not isinstance(score, str) or score not in NAMES:
        raise SettingError(f"score: one of {', '.join(NAMES)}")
    if not isinstance(sure, Real) or not 0.5 <= sure < 1:
        raise SettingError("sure: a probability from 0.5, below 1")
    _check_names(pairs)
    if domain.rows < LEAST_PAIR_ROWS:
        raise SettingError(f"rows: a direction takes at least {LEAST_PAIR_ROWS}")
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        levels = ordered_levels(name, domain[name])
        if score == COPULA and isinstance(domain[name], Categorical) and not has_shape(levels):
            raise SettingError(f"column {name!r}: `{COPULA}` takes from {FEWEST_LEVELS} to {MOST_LEVELS} categories")
    if score != COPULA:
        _check_asked([Scaled.of(*pair, domain) for pair in pairs], domain, score)


def _check_names(pairs: Sequence[tuple[str, str]]) -> None:
    """Refuse what does not name different pairs of different columns."""
    if not pairs:
        raise SettingError("direction: name two columns")
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or list(map(type, pair)) != [str, str]:
            raise SettingError("direction: two names for each pair, as in direction(data, ('dose', 'reply'), ...)")
    if any(len(set(pair)) < 2 for pair in pairs):
        raise SettingError("direction: two different columns")
    if len({frozenset(pair) for pair in pairs}) != len(pairs):
        raise SettingError("direction: the same two columns are asked about twice")


def _check_asked(pairs: Sequence[Scaled], domain: Domain, score: str) -> None:
    """Refuse what a score that looks at rows cannot take."""
    if domain.rows > MAX_ROWS:
        raise SettingError(f"rows: `{score}` takes at most {MAX_ROWS:,}; `{COPULA}` takes any number")
    kind = SCORES[score]
    if kind is not None and not kind.takes_absent and not all(pair.whole(domain) for pair in pairs):
        able = [name for name, other in SCORES.items() if other is None or other.takes_absent]
        raise SettingError(
            f"score: `{score}` takes a value in every row, and the domain has places for missing or other ones; take "
            f"one of {', '.join((COPULA, *able))}, for which a row without both values is absent"
        )


def direction_in(
    room: Room, *pairs: tuple[str, str], score: str = COPULA, sure: float = SURE, progress: Progress | None = None
) -> Directions:
    """Say which of two columns causes the other with all that is left of a room's budget.

    Continuous columns either wait for four bins at quantiles (``"copula"``), or have none (the other scores).
    """
    check_pairs(pairs, room.domain, score, sure)
    if room.budget.currency is not Currency.PURE:
        raise SettingError("budget: a direction is paid in pure epsilon; make the budget with delta 0")
    refuse_spent(room.budget)
    found = _read(room, pairs, sure, progress) if score == COPULA else _ask(room, pairs, score, sure, progress)
    return Directions(tuple(found), Privacy.of(room.budget, room.domain, private=room.private), room.domain.rows)


def _read(room: Room, pairs: Sequence[tuple[str, str]], sure: float, progress: Progress | None) -> list[Direction]:
    """Release one table a pair, of about equally filled cells, and read them."""
    budget = room.budget
    quarters = budget.left * QUANTILES_SHARE * bool(room.domain.unsettled)
    warn_of_noise(room, pairs, budget.left - quarters)
    edges, _ = choose_edges(room, QUANTILES_SHARE, progress=progress)
    tell(progress, "measuring one table a pair", WHOLE.at(1, 2))
    return read_pairs(pairs, measure_pairs(room, pairs, budget.left, edges), sure)


def _ask(
    room: Room, pairs: Sequence[tuple[str, str]], score: str, sure: float, progress: Progress | None
) -> list[Direction]:
    """Release curves and a score for one pair after the other, for equal parts of the budget."""
    domain, budget = room.domain, room.budget
    asked = [Scaled.of(*pair, domain) for pair in pairs]
    each = Fraction(2 * math.floor(budget.left * GRAINS / (2 * len(asked))), GRAINS)  # halves lie on the budget's grid
    bins = curve_bins(domain.rows, float(each))
    blurred = _warn_if_blurred(domain.rows, float(each), bins, budget.group)
    found = []
    for i, pair in enumerate(asked):
        tell(progress, f"{pair.x} and {pair.y}: curves in {bins} bins, then {score}", WHOLE.at(i + 1, len(asked) + 1))
        curves, clear = _curves(room, BinnedSums(pair, bins), each * CURVES_SHARE)
        judged = _judge(room, pair, curves, each * (1 - CURVES_SHARE), score)
        shown = tuple(tuple(round(height / UNIT, 6) for height in curve.heights) for curve in curves)
        found.append(Direction(pair.x, pair.y, score, *judged, sure, blurred, not clear, (shown[0], shown[1])))
    return found


def curve_bins(rows: int, epsilon: float) -> int:
    """Return the number of bins of a curve: more where rows and budget allow. From public facts alone."""
    return min(MOST_BINS, max(FEWEST_BINS, math.floor(math.cbrt(rows * epsilon) / 2)))


def _curves(room: Room, statistic: BinnedSums, amount: Fraction) -> tuple[tuple[Curve, Curve], bool]:
    """Release both curves, and say whether they rise or fall at all."""
    mechanism = additive_for(Currency.PURE, amount, statistic.sensitivity(room.domain))
    released, noise = room.release(statistic, mechanism).values, math.sqrt(mechanism.variance)
    return statistic.curves(released, noise), statistic.clear(released, noise)


def _judge(
    room: Room, pair: Scaled, curves: tuple[Curve, Curve], amount: Fraction, score: str
) -> tuple[float, float | None]:
    """Release how much worse one direction fits, with the scale of its noise: by one draw of it, or by quartiles."""
    kind = SCORES[score]
    if kind is None:
        spread = Quartiles(pair, *curves)
        chooses = selection_for(Currency.PURE, amount, spread.sensitivity(room.domain), spread.choices)
        return spread.margin(room.release(spread, chooses).values), None
    statistic = kind(pair, *curves)
    mechanism = DiscreteLaplace(at_least(statistic.sensitivity(room.domain).l1 / amount))
    unit = statistic.unit(room.domain.rows)
    steps = int(room.release(statistic, mechanism).values[0])
    return steps * unit, mechanism.scale * unit


def _warn_if_blurred(rows: int, epsilon: float, bins: int, group: int) -> bool:
    """Warn if the curves would be mostly noise, and say so; epsilon is for one row. Nothing is spent."""
    share = 8 * math.sqrt(2) / (epsilon * float(CURVES_SHARE)) / (rows / bins)
    if share > BLURRED:
        needed = math.ceil(rows * share / BLURRED)
        warnings.warn(
            f"with {rows:,} rows and epsilon {epsilon * group:g} a pair, the curves are mostly noise; "
            f"about {needed:,} rows would do",
            DoubtWarning,
            stacklevel=4,
        )
    return share > BLURRED
