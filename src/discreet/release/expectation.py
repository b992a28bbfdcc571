"""What may be expected of a budget: the result of a plan. Holds public facts and simulated runs only."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from discreet._version import __version__
from discreet.privacy.statement import Privacy, Spending

SCHEMA = 1

WITHIN = 0.9
"""Share of the simulated runs that lie in a spread."""

SURE = 0.9
"""An effect counts as seen if such a share of the arrows that are as strong or stronger was found."""

FEWEST = 10
"""So many arrows must be as strong or stronger for that to be said."""


@dataclass(frozen=True)
class Spread:
    """A mean, and between which numbers most runs lie."""

    mean: float
    low: float
    high: float
    error: float
    """Standard error of the mean."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of some runs, at least two."""
        low, high = np.quantile(values, [(1 - WITHIN) / 2, (1 + WITHIN) / 2])
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        return cls(*(round(float(number), 4) for number in (np.mean(values), low, high, error)))


@dataclass(frozen=True)
class Step:
    """Something that is asked, how often in a run on average, and what share of the budget that takes."""

    what: str
    mechanism: str
    times: float
    share: float


@dataclass(frozen=True)
class Planned:
    """A table of the first release: its columns and cells, its share of the budget, its noise in correlation."""

    columns: tuple[str, ...]
    cells: int
    share: float
    noise: float


@dataclass(frozen=True)
class Trial:
    """One simulated run: how near it came, and for every true arrow how strong it is and whether it was found."""

    skeleton_f1: float
    cpdag_f1: float
    arrows: tuple[tuple[float, bool], ...]
    privacy: Privacy | None
    limit: float
    doubts: tuple[str, ...] = ()
    refused: str | None = None


@dataclass(frozen=True)
class Expected:
    """What to expect of one method, number of rows and epsilon; nothing if it is refused."""

    method: str
    rows: int
    epsilon: float
    networks: int
    skeleton_f1: Spread | None = None
    cpdag_f1: Spread | None = None
    weakest_seen: float | None = None
    steps: tuple[Step, ...] = ()
    tables: tuple[Planned, ...] = ()
    doubts: tuple[str, ...] = ()
    refused: str | None = None


@dataclass(frozen=True)
class Forecast:
    """What to expect, setting by setting, and what it was simulated on."""

    columns: int
    rows: int
    epsilon: float
    """Where the other number varies, these are held."""
    delta: float
    unit: str
    expected: tuple[Expected, ...]
    kinds: tuple[str, ...]
    simulated_rows: int
    """No run was simulated with more rows than this."""

    def __str__(self) -> str:
        """Return a line a setting, how the plan was made, and what gives reason to doubt."""
        from discreet.report.plan import plan_text, plan_words

        return f"{plan_text(self)}\n\n{plan_words(self)}"

    def __repr__(self) -> str:
        """Say in a line what was looked at."""
        return f"<Plan for {self.columns} columns: {len(self.expected)} settings; print it to see what to expect>"

    def _repr_html_(self) -> str:
        """Show the chart and the words in a notebook."""
        from discreet.report.plan import plan_svg

        return f'<div>{plan_svg(self)}<pre style="font-family:monospace">{escape(str(self))}</pre></div>'

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "schema": SCHEMA,
            "columns": self.columns,
            "rows": self.rows,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": self.unit,
            "within": WITHIN,
            "kinds": list(self.kinds),
            "simulated_rows": self.simulated_rows,
            "expected": [asdict(line) for line in self.expected],
            "version": __version__,
        }


def summarize_trials(
    method: str, rows: int, epsilon: float, trials: Sequence[Trial], tables: tuple[Planned, ...] = ()
) -> Expected:
    """Sum up the runs of one setting."""
    refusals = [t.refused for t in trials if t.refused is not None]
    if refusals:
        return Expected(method, rows, epsilon, len(trials), refused=refusals[0])
    return Expected(
        method,
        rows,
        epsilon,
        len(trials),
        Spread.of([t.skeleton_f1 for t in trials]),
        Spread.of([t.cpdag_f1 for t in trials]),
        weakest_seen([arrow for t in trials for arrow in t.arrows]),
        steps(trials),
        tables,
        tuple(dict.fromkeys(doubt for t in trials for doubt in t.doubts)),
    )


def weakest_seen(arrows: Sequence[tuple[float, bool]]) -> float | None:
    """Return the smallest strength such that nearly all arrows that are as strong or stronger were found, if any."""
    ordered = sorted(arrows, key=lambda arrow: -arrow[0])
    found = np.cumsum([hit for _, hit in ordered])
    counts = np.arange(1, len(ordered) + 1)
    enough = np.flatnonzero((found >= SURE * counts) & (counts >= FEWEST))
    return round(ordered[enough[-1]][0], 4) if len(enough) else None


def steps(trials: Sequence[Trial]) -> tuple[Step, ...]:
    """Return what was asked in all runs, alike things together, in the order in which they first came."""
    groups: dict[tuple[str, str], list[tuple[Spending, float]]] = {}
    for trial in trials:
        for spending in () if trial.privacy is None else trial.privacy.spent:
            key = (_alike(spending.statistic), _alike(spending.mechanism))
            groups.setdefault(key, []).append((spending, spending.amount / trial.limit))
    return tuple(
        Step(
            merge_ranges([_strip_columns(s.statistic) for s, _ in same]),
            merge_ranges([s.mechanism for s, _ in same]),
            round(len(same) / len(trials), 2),
            round(sum(share for _, share in same) / len(trials), 4),
        )
        for same in groups.values()
    )


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _strip_columns(statistic: str) -> str:
    """Return what is asked without the columns it is asked of."""
    return re.sub(r" (?:of|between) (?!\d|pairs\b).*", "", statistic)


def _alike(words: str) -> str:
    return NUMBER.sub("#", _strip_columns(words))


def merge_ranges(alike: Sequence[str]) -> str:
    """Return words that differ in numbers only as one, with the range of each number."""
    numbers = zip(*(NUMBER.findall(words) for words in alike), strict=True)
    spans = iter([_span(found) for found in numbers])
    return NUMBER.sub(lambda _: next(spans), alike[0])


def _span(found: Sequence[str]) -> str:
    low, high = min(found, key=float), max(found, key=float)
    return low if low == high else f"{low} to {high}"
