"""What a method is: its settings, what it needs of a domain and a budget, and how it asks a room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from discreet.domain import Domain
from discreet.domain.knowledge import Knowledge
from discreet.errors import BudgetError
from discreet.privacy.budget import Budget
from discreet.progress import Progress
from discreet.release.discovery import Discovery
from discreet.release.settings import Settings
from discreet.room import Room

S = TypeVar("S", bound=Settings)
S_contra = TypeVar("S_contra", bound=Settings, contravariant=True)


class Run(Protocol[S_contra]):
    """How a method asks a room, with all that is left of its budget."""

    def __call__(
        self, room: Room, settings: S_contra, *, knowledge: Knowledge, progress: Progress | None = None
    ) -> Discovery:
        """Find a causal graph."""


def _as_declared(_settings: Any, domain: Domain, _budget: Budget, _knowledge: Knowledge) -> Domain:
    return domain


@dataclass(frozen=True)
class Method(Generic[S]):
    """A private method.

    Parameters
    ----------
    settings
        The class of its settings, whose defaults are the method's.
    run
        Asks a room. Charges come first, and what is handed out is made of releases.
    check
        Refuses a domain that it cannot take, from public facts.
    encode
        Says how columns are encoded for a budget, from public facts.
    looks_at_rows
        Says what looks at rows, not at counts alone, with some settings; None if nothing does.
    in_zcdp
        Whether its costs add up in zCDP where a delta is promised; else in Gaussian accounting.
    numeric
        Whether it is for continuous columns alone.
    """

    settings: type[S]
    run: Run[S]
    check: Callable[[Domain], None] = Domain.check_tabulable
    encode: Callable[[S, Domain, Budget, Knowledge], Domain] = _as_declared
    looks_at_rows: Callable[[S], str | None] = lambda _: None
    in_zcdp: bool = False
    numeric: bool = False


def refuse_spent(budget: Budget) -> None:
    """Refuse to begin with a budget of which nothing is left."""
    if budget.exhausted:
        raise BudgetError("the budget is already spent; nothing was asked")
