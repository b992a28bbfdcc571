"""Tests by permutations of rows, of continuous columns: `permutation`, and `krr` on residuals of kernel regressions."""

from __future__ import annotations

import math
import warnings

from discreet.domain import Domain
from discreet.errors import DoubtWarning, SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms.noisy_rank import noisy_rank_for
from discreet.release.answer import Found, Inquiry
from discreet.room import Room
from discreet.statistics.permutation import Compared, PermutedHSIC, beyond, size_for

DROWNED, CLEAR = 0.06, 0.03
"""Noise of the first scale hides even strong dependences (a root of HSIC is at most 0.5); the second is small."""


def check_permutation(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test by permutations cannot answer."""
    if asked.given:
        raise SettingError("given: the test `permutation` takes none; `moments`, `tables`, `krr` and `gcm` do")
    _statistic(asked, domain).sensitivity(domain)


def check_krr(asked: Inquiry, domain: Domain, _currency: Currency) -> None:
    """Refuse what a test on residuals of kernel regressions cannot answer."""
    if not asked.given:
        raise SettingError("given: the test `krr` is for columns given others; take `permutation`")
    _statistic(asked, domain).sensitivity(domain)


def run_permuted(room: Room, asked: Inquiry) -> Found:
    """Compare the rows with permutations of them, with noise on both; one bit is released."""
    statistic, budget = _statistic(asked, room.domain), room.budget
    sensitivity = statistic.sensitivity(room.domain)
    mechanism = noisy_rank_for(budget.currency, budget.left, sensitivity, beyond(asked.alpha, statistic.size))
    _warn_if_drowned(room, mechanism.scale * statistic.unit(room.domain.rows))
    (dependent,) = room.release(statistic, mechanism).values.tolist()
    return not dependent, None


def _statistic(asked: Inquiry, domain: Domain) -> PermutedHSIC:
    return PermutedHSIC(Compared.of(asked.x, asked.y, asked.given, domain), size_for(asked.alpha))


def _warn_if_drowned(room: Room, scale: float) -> None:
    rows = room.domain.rows
    if scale > DROWNED:
        warnings.warn(
            f"with {rows:,} rows and epsilon {room.budget.epsilon:g} the noise hides even strong dependences, and the "
            f"answer is hardly better than chance; about {math.ceil(rows * scale / CLEAR):,} rows would do",
            DoubtWarning,
            stacklevel=6,
        )
