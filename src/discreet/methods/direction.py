"""Which of two columns causes the other, privately: curves first, then how much worse one direction fits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Real

from discreet.domain import Domain
from discreet.domain.domain import check_domain
from discreet.errors import DoubtWarning, SettingError
from discreet.ledger.account import Account
from discreet.methods.method import refuse_spent
from discreet.methods.session import Request, Session
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import GRAINS
from discreet.privacy.mechanisms import at_least
from discreet.privacy.mechanisms.additive import DiscreteLaplace, additive_for
from discreet.privacy.mechanisms.exponential import selection_for
from discreet.privacy.statement import Privacy
from discreet.progress import WHOLE, Progress, tell
from discreet.release.direction import Direction, Directions
from discreet.room import Room
from discreet.statistics.curves import UNIT, BinnedSums, Curve, Scaled, between_bounds
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
"""Scores by name."""

BLURRED = 0.2
"""Curves are mostly noise if a bin's noise is this share of its rows."""

SURE = 0.9
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
    score: str = "reci",
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
        of their own, a row with one of them counts as absent, which ``"reci"``, ``"kendall"`` and ``"iqr"`` can take.
    domain
        What is public about the table. Never read from the data; columns that are not asked about are not read.
    epsilon
        The total promise for all pairs together; pure, with delta 0.
    score
        ``"reci"`` compares squared errors; ``"kendall"``, ``"spearman"``, ``"root-hsic"``, ``"hsic"`` and
        ``"hsic-features"`` how residuals depend on the cause; ``"iqr"`` how wide columns and residuals are.
    sure
        A direction is told only if the margin's noise did not turn it round with at least this probability, and the
        curves are more than noise; 0.5 takes any guess. ``"iqr"`` has no such probability.
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
    scaled = check_pairs(pairs, bounded, score, sure)
    names = dict.fromkeys(name for pair in scaled for name in (pair.x, pair.y))
    request = Request(
        command="direction",
        method=score,
        epsilon=epsilon,
        delta=0.0,
        domain=domain,
        public={"pairs": [list(pair) for pair in pairs], "sure": float(sure)},
        result=Directions,
        encode=lambda _: replace(bounded, columns={name: bounded[name] for name in names}),
        run=lambda room: direction_in(room, *pairs, score=score, sure=sure, progress=progress),
        looks_at_rows="direction",
    )
    return Session(account=account, engine_pull=engine_pull, progress=progress).answer(data, request)


def check_pairs(pairs: Sequence[tuple[str, str]], domain: Domain, score: str, sure: float) -> list[Scaled]:
    """Refuse what cannot be asked. Nothing is spent."""
    if not isinstance(score, str) or score not in SCORES:
        raise SettingError(f"score: one of {', '.join(SCORES)}")
    if not isinstance(sure, Real) or not 0.5 <= sure < 1:
        raise SettingError("sure: a probability from 0.5, below 1")
    if not pairs:
        raise SettingError("direction: name two columns")
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or list(map(type, pair)) != [str, str]:
            raise SettingError("direction: two names for each pair, as in direction(data, ('dose', 'reply'), ...)")
    if not LEAST_PAIR_ROWS <= domain.rows <= MAX_ROWS:
        raise SettingError(f"rows: a direction takes from {LEAST_PAIR_ROWS} to {MAX_ROWS:,}")
    if len({frozenset(pair) for pair in pairs}) != len(pairs):
        raise SettingError("direction: the same two columns are asked about twice")
    found = [Scaled.of(x, y, domain) for x, y in pairs]
    kind = SCORES[score]
    if kind is not None and not kind.takes_absent and not all(pair.whole(domain) for pair in found):
        able = [name for name, other in SCORES.items() if other is None or other.takes_absent]
        raise SettingError(
            f"score: `{score}` takes a value in every row, and the domain has places for missing or other ones; take "
            f"one of {', '.join(able)}, for which a row without both values is absent"
        )
    return found


def direction_in(
    room: Room, *pairs: tuple[str, str], score: str = "reci", sure: float = SURE, progress: Progress | None = None
) -> Directions:
    """Say which of two columns causes the other with all that is left of a room's budget, in equal parts."""
    domain, budget = room.domain, room.budget
    asked = check_pairs(pairs, domain, score, sure)
    if budget.currency is not Currency.PURE:
        raise SettingError("budget: a direction is paid in pure epsilon; make the budget with delta 0")
    refuse_spent(budget)
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
    return Directions(tuple(found), Privacy.of(budget, domain, private=room.private), domain.rows)


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
            stacklevel=3,
        )
    return share > BLURRED
