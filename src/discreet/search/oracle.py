"""Oracles answer one question: whether x is independent of y given a set of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

Question = tuple[str, str, frozenset[str]]
"""Two columns, and the set they may be independent given."""

EMPTY: frozenset[str] = frozenset()
"""The empty set: nothing is given."""


@dataclass(frozen=True)
class Verdict:
    """An answer.

    Parameters
    ----------
    independent
        Whether the oracle holds x and y for independent given the set.
    evidence
        How strongly it speaks for dependence (positive) or independence (negative); comparable between the
        verdicts of one oracle.
    p_value
        Probability of as much apparent dependence if there is none, where the oracle is a test.
    """

    independent: bool
    evidence: float
    p_value: float | None = None


class Oracle(Protocol):
    """Something that answers questions of independence. A search sees nothing else."""

    @property
    def free(self) -> bool:
        """Whether asking costs nothing, so that a search may ask for every set and take the clearest answer."""
        ...

    @property
    def max_order(self) -> int | None:
        """The largest conditioning set it can be asked about; None for any."""
        ...

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer this question."""
        ...

    def ask(self, x: str, y: str, given: frozenset[str]) -> Verdict:
        """Answer."""
        ...


class Scorer(Protocol):
    """Something that weighs questions of independence against each other, many at once."""

    @property
    def max_order(self) -> int | None:
        """The largest conditioning set it can be asked about; None for any."""
        ...

    def answers(self, x: str, y: str, given: frozenset[str]) -> bool:
        """Whether it can answer this question."""
        ...

    def weigh(self, questions: Iterable[Question]) -> list[float]:
        """Return the evidence for dependence (a log Bayes factor) in each question."""
        ...
