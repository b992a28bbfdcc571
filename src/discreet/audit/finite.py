"""What mechanisms state, checked exactly on all neighbouring pairs of all small tables. Proofs: ``exact.md``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np

from discreet.arrays import BoolArray, FloatArray, IntArray
from discreet.audit import Finding, Neighbours
from discreet.audit.claims import ORDERS, Claim, claims_of, renyi, smallest_epsilon, smallest_mu, smallest_rho
from discreet.audit.laws import Draw, law_on, log_law
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.mechanisms import Mechanism
from discreet.statistics import Statistic

MAX_TABLES = 20_000
"""More tables than these are not enumerated."""

MAX_OUTPUTS = 300_000
"""Outputs of several coordinates together; if there were more, they are clamped nearer to the exact values."""

CLAMP_REACH = 9
"""Outputs further than so many scales from the exact values are clamped."""

TOLERANCE = 1e-9
"""What rounding may add to an amount, as a share of it."""

_MAX_WINDOW = 4000

Law = tuple[Draw, ...]
Logs = list[tuple[FloatArray, FloatArray]]
"""Logarithms of the probabilities of one coordinate's outputs under two laws, coordinate by coordinate."""


def exact_finding(
    name: str, mechanism: Mechanism, statistic: Statistic, domain: Domain, rows: IntArray | None = None
) -> Finding:
    """Check every promise that a mechanism states on all tables of a small domain, and tell the one nearest its limit.

    Parameters
    ----------
    name
        What to call it.
    mechanism, statistic, domain
        What is audited; the domain says how many rows the tables have.
    rows
        Which rows there may be, as codes; all of them if not given.

    Raises
    ------
    SettingError
        If the mechanism's law cannot be told, or there are too many tables.
    """
    claims = claims_of(mechanism.cost(statistic.sensitivity(domain)))
    pairs: dict[tuple[Law, Law], Neighbours] = {}
    laws: dict[bytes, Law] = {}
    looked = 0
    for neighbours in all_neighbours(domain, rows):
        looked += 1
        first, second = (
            _law(laws, mechanism, statistic, domain, table) for table in (neighbours.first, neighbours.second)
        )
        if first != second:
            pairs.setdefault(_apart(first, second), neighbours)
    found = [(claim, *_find_least(claim, *pair), where) for pair, where in pairs.items() for claim in claims]
    return _worst(name, claims, looked, [(c, amount, f"{where.words()}; {event}") for c, amount, event, where in found])


def exact_finite(
    name: str, law: Callable[[tuple[int, ...]], dict[object, float]], cells: int, values: int, claim: Claim
) -> Finding:
    """Check what is claimed of a mechanism whose law is known, on all neighbouring databases of some cells."""
    if values < 2 or values**cells > MAX_TABLES:
        raise SettingError(f"exact: at least 2 values, and at most {MAX_TABLES:,} databases")
    laws = {database: law(database) for database in product(range(values), repeat=cells)}
    outputs = list(dict.fromkeys(output for one in laws.values() for output in one))
    table = {d: np.array([one.get(output, 0.0) for output in outputs]) for d, one in laws.items()}
    if any((p < 0).any() or not abs(p.sum() - 1) <= TOLERANCE for p in table.values()):
        raise SettingError("law: the probabilities of all outputs sum to 1")
    found = []
    looked = 0
    for database, cell in product(table, range(cells)):
        for value in range(values):
            other = (*database[:cell], value, *database[cell + 1 :])
            if other != database:
                looked += 1
                amount, event = _between(claim, table[database], table[other])
                shown = ", ".join(str(outputs[i]) for i in event[:6]) + (", ..." if len(event) > 6 else "")
                one, two = table[database][event].sum(), table[other][event].sum()
                found.append((claim, amount, f"{database} -> {other}; outputs {shown}: {one:.6g} against {two:.6g}"))
    return _worst(name, [claim], looked, found)


def all_neighbours(domain: Domain, rows: IntArray | None = None) -> Iterator[Neighbours]:
    """Yield all tables of the domain's number of rows with all their neighbours, both ways.

    The order of rows does not count: a table answers with counts and sums.
    """
    kinds = rows if rows is not None else np.array(list(product(*(range(domain.size(c)) for c in domain))))
    if math.comb(len(kinds) + domain.rows - 2, domain.rows - 1) * len(kinds) ** 2 > MAX_TABLES:
        raise SettingError(f"exact: more than {MAX_TABLES:,} pairs of tables; give fewer rows or columns")
    for rest in combinations_with_replacement(range(len(kinds)), domain.rows - 1):
        for one, two in product(range(len(kinds)), repeat=2):
            if one != two:
                yield Neighbours(kinds[[one, *rest]], kinds[[two, *rest]], "all small tables")


def _law(known: dict[bytes, Law], mechanism: Mechanism, statistic: Statistic, domain: Domain, rows: IntArray) -> Law:
    key = np.sort(rows @ np.cumprod([1, *(domain.size(c) for c in domain)])[:-1]).tobytes()
    if key not in known:
        law = law_on(mechanism, statistic, rows, domain)
        if law is None:
            raise SettingError("exact: the law of this mechanism's outputs cannot be told")
        known[key] = law
    return known[key]


def _apart(first: Law, second: Law) -> tuple[Law, Law]:
    """Return both laws without the coordinates they share, moved so that the first stands at 0."""
    if len(first) != len(second):  # the length alone tells them apart
        return (Draw("none"),), (Draw("none", at=1),)
    pairs = sorted(_move(a, b) for a, b in zip(first, second, strict=True) if a != b)
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _move(a: Draw, b: Draw) -> tuple[Draw, Draw]:
    if {"choice", "listed"} & {a.kind, b.kind}:
        return a, b
    return replace(a, at=0), replace(b, at=b.at - a.at)


def _logs(first: Law, second: Law, most: int, further: float) -> Logs:
    """Return both laws on a window of outputs for each coordinate, of at most so many outputs."""
    found = []
    for a, b in zip(first, second, strict=True):
        if "listed" in (a.kind, b.kind):
            found.append(_list_both(a, b))
            continue
        ends = [end for draw in (a, b) for end in (draw.at, draw.at + max(0, len(draw.utilities) - 1))]
        low, high = min(ends), max(ends)
        if any(draw.kind not in ("none", "choice") for draw in (a, b)):
            wanted = math.ceil(CLAMP_REACH * max(a.scale, b.scale) + further * (high - low)) + 1
            reach = max(1, min(wanted, (most - (high - low)) // 2))
            low, high = low - reach, high + reach
        found.append((log_law(a, low, high), log_law(b, low, high)))
    return found


def _list_both(a: Draw, b: Draw) -> tuple[FloatArray, FloatArray]:
    """Return both laws of choices that depend on each other, on all outputs of either."""
    laws = _list_outputs(a), _list_outputs(b)
    outputs = sorted(laws[0] | laws[1])
    p, q = (np.array([law.get(output, -np.inf) for output in outputs]) for law in laws)
    return p, q


def _list_outputs(draw: Draw) -> dict[tuple[int, ...], float]:
    """Return every output with the logarithm of its probability; also of a choice, beside which others are listed."""
    if draw.kind != "choice":
        return dict(draw.listed)
    return {(place,): float(log) for place, log in enumerate(log_law(draw, 0, len(draw.utilities) - 1))}


def _find_least(claim: Claim, first: Law, second: Law) -> tuple[float, str]:
    """Return the smallest amount of the claim's kind that fits two laws, and what needs it."""
    if claim.currency is Currency.GDP:
        merged = [_merge(*pair) for pair in _logs(first, second, int(MAX_OUTPUTS ** (1 / len(first))), 0)]
        p, q = (_joint([pair[side] for pair in merged]) for side in (0, 1))
        amount, event = smallest_mu(p, q)
        return amount, f"an event with probability {p[event].sum():.6g} against {q[event].sum():.6g}"
    logs = _logs(first, second, _MAX_WINDOW, ORDERS[-1])
    if claim.currency is Currency.ZCDP:
        amount, order = smallest_rho(np.sum([renyi(*pair) for pair in logs], axis=0))
        return amount, f"Renyi divergence of order {order:g}: {amount * order:.6g}"
    amount = 0.0
    for p, q in logs:
        there = p > -np.inf
        amount += float((p[there] - q[there]).max())
    return amount, f"an output that is e^{amount:.6g} times as likely"


def _merge(log_p: FloatArray, log_q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of sets of outputs that tell the same about both laws."""
    there = (log_p > -np.inf) | (log_q > -np.inf)
    _, group = np.unique(np.round(log_p[there] - log_q[there], 12), return_inverse=True)
    p, q = (np.bincount(group, _keep_possible(np.exp(logs[there]), logs[there] > -np.inf)) for logs in (log_p, log_q))
    return p.astype(np.float64), q.astype(np.float64)


def _joint(laws: list[FloatArray]) -> FloatArray:
    possible = reduce(np.logical_and.outer, [law > 0 for law in laws])
    return _keep_possible(reduce(np.multiply.outer, laws), possible).ravel()


def _keep_possible(law: FloatArray, possible: BoolArray) -> FloatArray:
    """Return the law with the least float above 0 in place of probabilities too small for a float."""
    return np.where(possible, np.maximum(law, np.finfo(np.float64).smallest_subnormal), 0.0)


def _between(claim: Claim, p: FloatArray, q: FloatArray) -> tuple[float, list[int]]:
    """Return the same for two laws of one coordinate, with the event."""
    if claim.currency is Currency.PURE:
        amount, event = smallest_epsilon(p, q, claim.delta)
        return amount, list(event)
    if claim.currency is Currency.GDP:
        amount, outputs = smallest_mu(p, q)
        return amount, sorted(outputs.tolist())
    with np.errstate(divide="ignore"):
        amount, _ = smallest_rho(renyi(np.log(p), np.log(q)))
    return amount, list(range(len(p)))


def _worst(name: str, claims: list[Claim], looked: int, found: list[tuple[Claim, float, str]]) -> Finding:
    if not found:
        return Finding(name, "exact", claims[0].words, claims[0].amount, 0.0, looked, violated=False)
    claim, amount, evidence = max(found, key=lambda one: _share(one[1], one[0].amount))
    violated = bool(amount > claim.amount * (1 + TOLERANCE))
    return Finding(name, "exact", claim.words, claim.amount, amount, looked, violated, evidence)


def _share(found: float, claimed: float) -> float:
    return found / claimed if claimed else (math.inf if found else 0.0)
