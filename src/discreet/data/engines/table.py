"""A table that stays in its engine: it is asked for counts and sums of codes, and no row leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from discreet.arrays import IntArray
from discreet.data.counting import JOINT_CELLS, Columns, block_cells, blocks, margin
from discreet.data.engines.engine import Engine, Expr
from discreet.data.memory import JointTable, MemoryTable
from discreet.errors import EngineError
from discreet.progress import MEASURE, Progress, tell
from discreet.sealed import Sealed
from discreet.statistics import Weight


class EngineTable(Sealed):
    """Encoded rows in an engine.

    Parameters
    ----------
    engine
        Where they are.
    coded
        One expression of a table with a code a column; their names are ``aliases``.
    sizes
        Number of levels of each column, from the public domain.
    rows
        The declared number of rows.
    more
        Made-up rows that belong to them.
    progress
        Called with a line of words as tables are counted.
    """

    def __init__(
        self,
        engine: Engine,
        coded: Expr,
        aliases: Mapping[str, str],
        sizes: Mapping[str, int],
        rows: int,
        *,
        more: MemoryTable | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._engine = engine
        self._coded = coded
        self._aliases = dict(aliases)
        self._sizes = dict(sizes)
        self._more = more
        self._progress = progress
        self._joint: JointTable | None = None
        self.rows = rows

    def counts(self, sets: Sequence[Columns]) -> list[IntArray]:
        """Contingency tables over sets of columns: from one joint table if that is small, else from few larger ones."""
        return self._joint_table().counts(sets) if self.small else self._count_blocks(sets)

    def weighted(self, sets: Sequence[Columns], weight: Weight) -> list[IntArray]:
        """Contingency tables in which every row counts by its weight."""
        return self._joint_table().weighted(sets, weight) if self.small else self._count_blocks(sets, weight)

    def _count_blocks(self, sets: Sequence[Columns], weight: Weight | None = None) -> list[IntArray]:
        """Count as few joint tables as possible, and add theirs up from them."""
        found: dict[Columns, IntArray] = {}
        asked = blocks(sets, self._sizes, block_cells(self.rows))
        together = self._engine.together
        for start in range(0, len(asked), together):
            some = asked[start : start + together]
            for block, joint in zip(some, self._count(some, weight), strict=True):
                for columns in sets:
                    if columns not in found and set(columns) <= set(block):
                        found[columns] = margin(joint, block, columns)
            done, of = len(found), len(set(sets))
            tell(self._progress, f"{self._engine.name}: {done:,} of {of:,} tables counted", MEASURE.at())
        return [found[columns] for columns in sets]

    def sums(self, sets: Sequence[Columns]) -> list[int]:
        """Sums of products of one or two columns' codes, exactly, in one look."""
        if not sets:
            return []
        wanted = {f"s{i}": self._product(columns).cast("decimal(38, 0)").sum() for i, columns in enumerate(sets)}
        found = self._engine.table(self._coded.aggregate(**wanted))
        more = [0] * len(sets) if self._more is None else self._more.sums(sets)
        return [int(found[f"s{i}"][0]) + more[i] for i in range(len(sets))]

    def values(self, columns: Sequence[str]) -> list[IntArray]:
        """The codes of some columns, row by row: only where so few combinations are possible that they are counted."""
        if self.small:
            return self._joint_table().values(columns)
        raise EngineError(f"{self._engine.name}: rows stay where they are")

    def recode(self, places: Mapping[str, IntArray], sizes: Mapping[str, int]) -> EngineTable:
        """Return the same rows with each code of the named columns replaced by its place, in the engine."""
        columns = {
            alias: _place(self._coded[alias], places[name]) if name in places else self._coded[alias]
            for name, alias in self._aliases.items()
        }
        coded = self._coded.select(**columns)
        more = None if self._more is None else self._more.recode(places, sizes)
        return EngineTable(self._engine, coded, self._aliases, sizes, self.rows, more=more, progress=self._progress)

    def take(self, rows: IntArray) -> Any:
        """Return only the rows at these places: only where combinations are counted."""
        if self.small:
            return self._joint_table().take(rows)
        raise EngineError(f"{self._engine.name}: rows stay where they are")

    @property
    def sampled(self) -> bool:
        """Whether rows can be taken out of it: only where combinations are counted."""
        return self.small

    @property
    def small(self) -> bool:
        """Whether all columns together have so few combinations that these are counted at once."""
        return prod(self._sizes.values()) <= block_cells(self.rows, JOINT_CELLS)

    def _joint_table(self) -> JointTable:
        """Count all combinations of codes, once."""
        if self._joint is None:
            names = tuple(self._aliases)
            (table,) = self._count([names])
            places = np.nonzero(table)
            codes = {name: place.astype(np.int64) for name, place in zip(names, places, strict=True)}
            self._joint = JointTable(codes, table[places], self._sizes)
        return self._joint

    def _count(self, some: Sequence[Columns], weight: Weight | None = None) -> Iterator[IntArray]:
        """Yield the joint tables of some blocks, all from one query."""
        import ibis

        queries = [
            self._query(block, weight).mutate(block=ibis.literal(i, type="int32")) for i, block in enumerate(some)
        ]
        found = self._engine.table(ibis.union(*queries) if len(queries) > 1 else queries[0])
        keys, numbers, which = (found[name].astype(np.int64) for name in ("key", "n", "block"))
        for i, block in enumerate(some):
            shape = tuple(self._sizes[c] for c in block)
            table = np.zeros(prod(shape), dtype=np.int64)
            table[keys[which == i]] = numbers[which == i]
            if self._more is not None:
                more = self._more.counts([block]) if weight is None else self._more.weighted([block], weight)
                table += more[0].ravel()
            yield table.reshape(shape)

    def _query(self, block: Columns, weight: Weight | None) -> Expr:
        """Count by one key for all columns of a block, every row by its weight if there is one."""
        import ibis

        codes = [(self._code(name).cast("int64"), self._sizes[name]) for name in block]
        key, _ = reduce(lambda one, other: (one[0] * other[1] + other[0], 0), codes)
        if weight is None:
            keyed = self._coded.select(key=key)
            return keyed.group_by("key").aggregate(n=keyed.count())
        loads = [_place(self._code(name), array, "int64") for name, array in weight.loads.items()]
        load = reduce(lambda one, other: one + other, loads, ibis.literal(weight.base, type="int64"))
        part = (ibis.literal(weight.WHOLE * weight.limit, type="int64") // load).cast("int64")
        keyed = self._coded.select(key=key, weight=ibis.least(part, ibis.literal(weight.WHOLE, type="int64")))
        return keyed.group_by("key").aggregate(n=keyed.weight.sum().cast("int64"))

    def _code(self, name: str) -> Expr:
        """Return a code that is below the column's size, whatever happened to the table since it was checked."""
        import ibis

        return ibis.least(self._coded[self._aliases[name]], ibis.literal(self._sizes[name] - 1, type="int32"))

    def _product(self, columns: Columns) -> Expr:
        codes = [self._code(name).cast("int64") for name in columns]
        return reduce(lambda one, other: one * other, codes)


def _place(code: Expr, places: IntArray, kind: str = "int32") -> Expr:
    """Return the place of a code, or its load: one case for each run of codes with the same one."""
    import ibis

    ends = np.flatnonzero(np.diff(places)).tolist()
    cases = [(code <= end, int(places[end])) for end in ends]
    return ibis.cases(*cases, else_=int(places[-1])).cast(kind) if cases else ibis.literal(int(places[-1]), kind)
