"""The exact auditor of finite mechanisms: eight ways to say what differential privacy promises, each computed.

A mechanism is an array of probabilities of shape (k, ..., k, outputs): n cells with k values each, one row a person.
A population is an array of shape (k, ..., k) that sums to 1. The definitions are those of Tschantz, Sen, Datta 2020
("Differential privacy as a causal property"). Proofs: ``exact.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np

from discreet.arrays import FloatArray
from discreet.audit.claims import smallest_epsilon, smallest_epsilons
from discreet.errors import SettingError

__all__ = [
    "Definition",
    "Witness",
    "all_definitions",
    "at_population",
    "audit_definition",
    "correlated",
    "geometric_count",
    "smallest_epsilon",
]

Scope = Literal["all", "independent"]
"""All populations, or all with independent cells."""

MAX_DATABASES = 729
"""More databases than these are not enumerated."""

_CHUNK = 4096
_TOLERANCE = 1e-9


class Definition(IntEnum):
    """What is compared between two values of a cell, and under which populations."""

    PLAIN = 1
    KNOWING_ALL = 2
    KNOWING_ONE = 3
    KNOWING_ONE_INDEPENDENT = 4
    SETTING_ALL = 5
    SETTING_ALL_GIVEN = 6
    SETTING_ONE_GIVEN = 7
    SETTING_ONE = 8

    @property
    def words(self) -> str:
        """The definition, in short."""
        return _WORDS[self]

    @property
    def given(self) -> bool:
        """Whether it is about one given population."""
        return self in (Definition.SETTING_ALL_GIVEN, Definition.SETTING_ONE_GIVEN)

    @property
    def whole(self) -> bool:
        """Whether all cells are fixed, so that two whole databases are compared."""
        return self in (1, 2, 5, 6)


_WORDS = {
    Definition.PLAIN: "the output on a database, no population",
    Definition.KNOWING_ALL: "the output given all cells, every population",
    Definition.KNOWING_ONE: "the output given one cell, every population",
    Definition.KNOWING_ONE_INDEPENDENT: "the output given one cell, every population with independent cells",
    Definition.SETTING_ALL: "the output if all cells are set, every population",
    Definition.SETTING_ALL_GIVEN: "the output if all cells are set, this population",
    Definition.SETTING_ONE_GIVEN: "the output if one cell is set, this population",
    Definition.SETTING_ONE: "the output if one cell is set, every population",
}


@dataclass(frozen=True)
class Witness:
    """The smallest epsilon of a definition, and what needs it.

    Parameters
    ----------
    epsilon
        The smallest that holds; infinite if none does.
    cell, values
        The cell (counted from 0) and its two values. None if there was nothing to compare.
    databases
        The two databases, where whole databases are compared.
    population
        The population under which they are compared; None in definition 1.
    event
        Outputs whose probability needs epsilon; empty if epsilon is 0.
    """

    definition: Definition
    epsilon: float
    cell: int | None
    values: tuple[int, int] | None
    databases: tuple[tuple[int, ...], tuple[int, ...]] | None
    population: FloatArray | None
    event: tuple[int, ...]

    @property
    def compared(self) -> str:
        """What was compared, in short."""
        if self.cell is None or self.values is None:
            return "nothing to compare"
        if self.databases is not None:
            template = {1: "P[O | run on {}]", 2: "P[O | D = {}]"}.get(self.definition, "P[O | do(D = {})]")
            one, two = map(template.format, self.databases)
        else:
            template = "P[O | D_{} = {}]" if self.definition in (3, 4) else "P[O | do(D_{} = {})]"
            one, two = (template.format(self.cell + 1, value) for value in self.values)
        return f"{one} against {two}"


def all_definitions(
    mechanism: FloatArray, population: FloatArray | Scope = "all", delta: float = 0.0
) -> dict[Definition, Witness]:
    """Return all eight, as they are written: the population is for the two that are about a given one."""
    return {
        definition: audit_definition(mechanism, definition, population if definition.given else None, delta)
        for definition in Definition
    }


def at_population(
    mechanism: FloatArray, population: FloatArray | Scope, delta: float = 0.0
) -> dict[Definition, Witness]:
    """Return what each definition asks of one population, of the independent ones, or of all; 4 only where it fits."""
    asked = [d for d in Definition if d is not Definition.KNOWING_ONE_INDEPENDENT or _independent(population)]
    return {d: audit_definition(mechanism, d, None if d is Definition.PLAIN else population, delta) for d in asked}


def audit_definition(
    mechanism: FloatArray, definition: int, population: FloatArray | Scope | None = None, delta: float = 0.0
) -> Witness:
    """Return the smallest epsilon for which a definition holds at a delta.

    Without a population the definition's own are meant: every population, or every one with independent cells; it is
    enough to look at the extreme ones (``exact.md``). With one, the question is asked at that population only; with
    "independent" or "all", of every such population.
    """
    if definition not in list(Definition):
        raise SettingError("definition: a number from 1 to 8")
    definition = Definition(definition)
    mechanism = np.asarray(mechanism, dtype=np.float64)
    values, cells = _check_mechanism(mechanism)
    if not 0 <= delta < 1:
        raise SettingError("delta: a number from 0 to below 1")
    laws = mechanism.reshape(values**cells, -1)
    best = Witness(definition, 0.0, None, None, None, None, ())
    for batch in _populations(definition, population, values, cells):
        for cell in range(cells):
            found = _compare(_quantity(definition, batch, laws, values, cells, cell), delta)
            if found is not None and (best.cell is None or found[0] > best.epsilon):
                best = _witness(definition, found, batch, values, cells, cell)
    return best


def _check_mechanism(mechanism: FloatArray) -> tuple[int, int]:
    """Return the number of values and of cells."""
    *shape, outputs = mechanism.shape
    if not shape or len(set(shape)) != 1 or shape[0] < 2 or not outputs:
        raise SettingError("mechanism: an array of shape (k, ..., k, outputs), with k from 2")
    if shape[0] ** len(shape) > MAX_DATABASES:
        raise SettingError(f"mechanism: more than {MAX_DATABASES} databases")
    if not ((mechanism >= 0).all() and np.allclose(mechanism.sum(axis=-1), 1, rtol=0, atol=_TOLERANCE)):
        raise SettingError("mechanism: the probabilities of all outputs sum to 1 for every database")
    return shape[0], len(shape)


def _populations(
    definition: Definition, population: FloatArray | Scope | None, values: int, cells: int
) -> Iterator[FloatArray]:
    """Yield populations, flattened, in batches: the given one, or the extreme ones of the definition."""
    size = values**cells
    if population is not None and definition is Definition.PLAIN:
        raise SettingError("population: definition 1 knows none")
    if isinstance(population, str):
        yield from _extreme(_widened(definition, population), values, cells)
    elif population is not None:
        yield _check_population(definition, population, values, cells).reshape(1, size)
    elif definition.given:
        raise SettingError(f"population: definition {definition.value} is about a given one")
    else:
        yield from _extreme(definition, values, cells)


def _widened(definition: Definition, scope: Scope) -> Definition:
    """Return the definition that asks the same quantity of all populations of a scope."""
    if scope not in ("all", "independent"):
        raise SettingError("population: probabilities, `all` or `independent`")
    if definition is Definition.SETTING_ONE_GIVEN:
        return Definition.SETTING_ONE
    if definition is Definition.KNOWING_ONE and scope == "independent":
        return Definition.KNOWING_ONE_INDEPENDENT
    return definition


def _extreme(definition: Definition, values: int, cells: int) -> Iterator[FloatArray]:
    """Yield the extreme populations of a definition. Those of 2 and 8 are independent ones too."""
    size = values**cells
    if definition is Definition.KNOWING_ONE:
        first, second = np.triu_indices(size, 1)
        for start in range(0, len(first), _CHUNK):
            a, b = first[start : start + _CHUNK], second[start : start + _CHUNK]
            yield (np.eye(size)[a] + np.eye(size)[b]) / 2
    elif definition is Definition.KNOWING_ONE_INDEPENDENT:
        for cell in range(cells):
            atoms = np.eye(size).reshape(size, values**cell, values, -1)
            yield np.broadcast_to(atoms.mean(axis=2, keepdims=True), atoms.shape).reshape(size, size)
    elif definition is Definition.SETTING_ONE:
        yield np.eye(size)
    else:  # the quantity is the same under every population that makes it defined
        yield np.full((1, size), 1 / size)


def _check_population(definition: Definition, population: FloatArray, values: int, cells: int) -> FloatArray:
    if (
        population.shape != (values,) * cells
        or not (population >= 0).all()
        or not abs(population.sum() - 1) <= _TOLERANCE
    ):
        raise SettingError("population: one probability for each database, together 1")
    if definition is Definition.KNOWING_ONE_INDEPENDENT and not _independent(population):
        raise SettingError("population: definition 4 is about independent cells")
    return population


def _independent(population: FloatArray | Scope) -> bool:
    """Whether cells are independent in a population, or in some of a scope."""
    if isinstance(population, str):
        return True
    product = np.ones(())
    for cell in range(population.ndim):
        margin = population.sum(axis=tuple(other for other in range(population.ndim) if other != cell))
        product = np.multiply.outer(product, margin)
    return bool(np.allclose(product, population, rtol=0, atol=1e-12))


def _quantity(
    definition: Definition, populations: FloatArray, laws: FloatArray, values: int, cells: int, cell: int
) -> FloatArray:
    """Return the laws to compare, of shape (cases, values of the cell, outputs); not a number where undefined."""
    shape = (values**cell, values, values ** (cells - cell - 1))
    people, runs = populations.reshape(-1, *shape), laws.reshape(*shape, -1)
    with np.errstate(invalid="ignore"):
        if definition is Definition.PLAIN:
            whole = runs[None]
        elif definition is Definition.KNOWING_ALL:
            joint = people[..., None] * runs
            whole = joint / joint.sum(axis=-1, keepdims=True)
        elif definition in (Definition.SETTING_ALL, Definition.SETTING_ALL_GIVEN):
            set_to = populations.sum(axis=1)[:, None, None] * np.eye(len(laws))  # nothing is left of the population
            whole = (set_to @ laws).reshape(-1, *runs.shape)
        elif definition in (Definition.KNOWING_ONE, Definition.KNOWING_ONE_INDEPENDENT):
            joint = np.einsum("makb,akbo->mko", people, runs)
            return np.asarray(joint / joint.sum(axis=-1, keepdims=True))
        else:
            return np.asarray(np.einsum("mab,akbo->mko", people.sum(axis=2), runs))
    return np.moveaxis(whole, 2, 3).reshape(-1, values, laws.shape[1])


def _compare(laws: FloatArray, delta: float) -> tuple[float, int, int, int, tuple[int, ...]] | None:
    """Return the largest epsilon over all cases and pairs of values, with case, values and event."""
    defined = np.asarray(~np.isnan(laws).any(axis=-1))
    pairs = defined[:, :, None] & defined[:, None, :] & ~np.eye(laws.shape[1], dtype=bool)
    cases, ones, twos = np.nonzero(pairs)
    if not len(cases):
        return None
    best = int(smallest_epsilons(laws[cases, ones], laws[cases, twos], delta).argmax())
    case, one, two = int(cases[best]), int(ones[best]), int(twos[best])
    epsilon, event = smallest_epsilon(laws[case, one], laws[case, two], delta)
    return epsilon, case, one, two, event


def _witness(
    definition: Definition,
    found: tuple[float, int, int, int, tuple[int, ...]],
    populations: FloatArray,
    values: int,
    cells: int,
    cell: int,
) -> Witness:
    epsilon, case, one, two, event = found
    databases = None
    if definition.whole:
        case, rest = divmod(case, values ** (cells - 1))
        others = np.unravel_index(rest, (values,) * (cells - 1)) if cells > 1 else ()
        around = [int(other) for other in others]
        databases = ((*around[:cell], one, *around[cell:]), (*around[:cell], two, *around[cell:]))
    population = None if definition is Definition.PLAIN else populations[case].reshape((values,) * cells)
    return Witness(definition, epsilon, cell, (one, two), databases, population, event)


def geometric_count(cells: int, epsilon: float) -> FloatArray:
    """Return the count of ones among cells of two values, with geometric noise, clamped to 0 ... cells."""
    ratio = np.exp(-epsilon)
    counts = np.indices((2,) * cells).sum(axis=0)[..., None]
    outputs = np.arange(cells + 1)
    inner = (1 - ratio) / (1 + ratio) * ratio ** np.abs(outputs - counts)
    ends = ratio ** np.abs(outputs - counts) / (1 + ratio)
    return np.asarray(np.where((outputs == 0) | (outputs == cells), ends, inner))


def correlated(cells: int, share: float) -> FloatArray:
    """Return the population with a fair coin as first cell, which the others copy with probability ``share`` each."""
    if not 0 <= share <= 1:
        raise SettingError("share: from 0 to 1")
    codes = np.indices((2,) * cells)
    population: FloatArray = np.where(codes[1:] == codes[0], share, 1 - share).prod(axis=0) / 2
    return population
