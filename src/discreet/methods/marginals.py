"""Adaptively selected marginals: measure all pairs, select what they call for, measure that, search for free."""

from __future__ import annotations

import warnings
from fractions import Fraction

from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import DoubtWarning, SettingError
from discreet.methods.method import Method, refuse_spent
from discreet.methods.power import doubts
from discreet.methods.quantile_bins import settle
from discreet.privacy.accounting import Currency
from discreet.privacy.budget import Budget
from discreet.privacy.mechanisms.additive import additive_for
from discreet.privacy.statement import Privacy
from discreet.progress import MEASURE, SEARCH, Progress, tell
from discreet.release.clipping import SHARE, select_clipped, select_margins
from discreet.release.discovery import Discovery
from discreet.release.oracles.released import check_alpha
from discreet.release.release import Measurable, Measurement
from discreet.release.search import look, search
from discreet.release.selection import select_first
from discreet.release.settings import Marginals
from discreet.room import Room
from discreet.search.hybrid import EvidenceSkeleton
from discreet.statistics.counts import Counts
from discreet.statistics.interactions import Interactions


def run(
    room: Room, settings: Marginals, *, knowledge: Knowledge = NOTHING_KNOWN, progress: Progress | None = None
) -> Discovery:
    """Measure, select, measure what was selected, and search: all but the measuring is post-processing."""
    budget, rounds = room.budget, settings.rounds
    statistic = select_first(room.domain.widest(), knowledge, budget.currency)
    _check(room, settings, statistic)
    measurements: list[Measurement] = []
    earlier: EvidenceSkeleton | None = None
    if statistic is not None:
        room, _ = settle(room, progress=progress)
        measurements = _clip(room, statistic, settings, progress)
        if any(measured.clipped for measured in measurements):
            rounds = 1
        else:
            measurements.append(_measure(room, statistic, budget.left / rounds, MEASURE.at(1, 1 + rounds), progress))
    for left in range(rounds - 1, 0, -1) if measurements else ():
        seen = look(measurements, room.domain, settings, knowledge, earlier)
        share = MEASURE.at(1 + rounds - left, 1 + rounds)
        further = _measure_selected(room, seen, settings, budget.left / left, share, progress)
        if further is None:
            earlier = earlier or seen
            break
        measurements.append(further)
        earlier = seen
    privacy = Privacy.of(budget, room.domain, private=room.private)
    tell(progress, f"searching what was released, by {settings.search}", SEARCH.at())
    return search(
        tuple(measurements), privacy, room.domain, settings, knowledge=knowledge, earlier=earlier, progress=progress
    )


def _check(room: Room, settings: Marginals, statistic: Counts | Interactions | None) -> None:
    """Refuse what cannot be asked, and warn of what can hardly be seen. Nothing is spent."""
    budget, domain = room.budget, room.domain.widest()
    refuse_spent(budget)
    if statistic is not None:
        public = (domain, statistic, budget.epsilon, budget.delta, budget.currency)
        for doubt in doubts(*public, rounds=settings.rounds):
            warnings.warn(doubt, DoubtWarning, stacklevel=3)
    check_alpha(settings.alpha, "laplace" if budget.currency is Currency.PURE else "gaussian")


def _clip(
    room: Room, statistic: Counts | Interactions, settings: Marginals, progress: Progress | None
) -> list[Measurement]:
    """Return what was released to tell whether to clip rows, and of clipped rows if so."""
    budget, domain = room.budget, room.domain
    if settings.clip == "never" or not isinstance(statistic, Interactions):
        return []
    asked = select_margins(domain, budget.currency, budget.left)
    if asked is None:
        return []
    margins = _measure(room, asked, budget.left * SHARE, MEASURE.at(), progress)
    clipped = select_clipped(margins, statistic, domain, budget.currency, budget.left)
    if clipped is None:
        return [margins]
    return [margins, _measure(room, clipped, budget.left, MEASURE.at(1, 2), progress)]


def _measure(
    room: Room, statistic: Measurable, amount: Fraction, share: float, progress: Progress | None
) -> Measurement:
    """Release a statistic for an amount of the budget."""
    mechanism = additive_for(room.budget.currency, amount, statistic.sensitivity(room.domain))
    tell(progress, f"measuring {statistic.name}", share)
    return Measurement.of(room.release(statistic, mechanism), room.domain)


def _measure_selected(
    room: Room,
    seen: EvidenceSkeleton,
    settings: Marginals,
    amount: Fraction,
    share: float,
    progress: Progress | None,
) -> Measurement | None:
    """Release what the look before calls for; nothing if that would drown or be too large."""
    currency = room.budget.currency
    try:
        statistic = settings.select(seen, room.domain, currency, amount)
        if statistic is None:
            return None
        additive_for(currency, amount, statistic.sensitivity(room.domain))
    except SettingError:  # from public facts and earlier releases; what they found still stands
        tell(progress, "a further release would drown in noise or be too large: what was released is searched")
        return None
    return _measure(room, statistic, amount, share, progress)


def _encode(_settings: Marginals, domain: Domain, budget: Budget, knowledge: Knowledge) -> Domain:
    """Refuse what cannot be measured."""
    select_first(domain.widest(), knowledge, budget.currency)
    return domain


METHOD = Method(Marginals, run, encode=_encode)
