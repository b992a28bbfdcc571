"""A table with everything that may go wrong between engines, and its public domain."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from discreet.domain import Categorical, Domain, Numeric

HOSTILE = """a'b"c`d\\e; DROP TABLE x; -- %s ${y} {z} 🦊 ß"""
"""A name that would do harm where it is not quoted."""

TEXTS = ["1", " 1", "1 ", "+1", "-1", "1.", ".5", "1e5", "1E+5", "1e400", "-1e400", "1e-400", "nan", "NaN", "-nan"]
TEXTS += ["inf", "Infinity", "-inf", "+inf", "infinit", "1_000", "0x10", "1d", "1f", "", " ", "1,5", "٣", "1\n", "\t1"]
TEXTS += ["--1", "1e", "e5", ".", "1.e2", ".5e-3", "1__0", "_1", "true", "1e5.5", "1\u00a0", "00012", "1 2", "12.25"]
"""Texts that are numbers for one engine and not for another."""

LABELS = ["yes", "no", "Yes", "yes ", "it's", 'say "x"', "back\\slash", "new\nline", "日本", "ß", "%s", "{}", "$1"]
LABELS += [";--"]


def nasty(rows: int, generator: np.random.Generator) -> tuple[pa.Table, Domain]:
    """Return a table with missing and foreign values, odd names and odd types, and a domain it fits."""
    some = generator.choice
    null = generator.random(rows) < 0.05
    numbers = generator.normal(size=rows) * 40
    floats = np.where(generator.random(rows) < 0.02, np.nan, numbers)
    floats = np.where(generator.random(rows) < 0.02, np.inf, floats)
    cents = [Decimal(int(x * 100)) / 100 for x in numbers]
    table = pa.table(
        {
            HOSTILE: pa.array(some([*LABELS, "foreign", "", "'; --"], rows), mask=null),
            "select": pa.array(some([1, 2, 3, 99], rows), mask=null),
            "Ärger": pa.array(some(TEXTS, rows), mask=null),
            "table": pa.array(some([True, False], rows), mask=null),
            "x.y": pa.array(floats, mask=null),
            "real": pa.array(some([0.1, 0.25, 7.5], rows), type=pa.float32()),
            "money": pa.array(cents, type=pa.decimal128(12, 2)),
            "fine": pa.array(numbers),
            "steps": pa.array(floats, mask=null),
            "price": pa.array([Decimal("1.50") if x > 0 else Decimal("2.00") for x in numbers], pa.decimal128(8, 2)),
            "day": pa.array(some(np.array(["2024-01-01", "2024-02-29"], dtype="datetime64[D]"), rows)),
            "whole": pa.array(generator.integers(-50, 50, rows), type=pa.int64()),
            "ignored": pa.array(["secret"] * rows),
        }
    )
    columns = {
        HOSTILE: Categorical(categories=tuple(LABELS), missing="gone", other="else"),
        "select": Categorical(categories=("1", "2", "3.0"), missing="1", other="else"),
        "Ärger": Numeric(bounds=(-5.0, 20.0), bins=(-5.0, 0.0, 0.7, 5.0, 15.0, 20.0), missing="none", other="word"),
        "table": Categorical(categories=("true", "false"), missing="unknown"),
        "x.y": Numeric(bounds=(-30.0, 50.0), bins=(-30.0, -1.5, 0.0, 0.1, 50.0), missing="none"),
        "real": Categorical(categories=("0.1", "0.25"), other="else"),
        "money": Numeric(bounds=(-10.0, 10.0), bins=7),
        "fine": Numeric(bounds=(-100.0, 100.0)),
        "steps": Numeric(bounds=(-33.3, 77.7), bins=4, at="quantiles", missing="none"),
        "price": Categorical(categories=("1.5", "2")),
        "day": Categorical(categories=("2024-01-01", "2024-02-29")),
        "whole": Numeric(bounds=(-49.0, 47.0), bins=5),
    }
    return table, Domain(columns, rows=rows)


SPELLED = ["M", "male", " Male ", "m\u00a0", "F", "fEmAlE", "FEMALE\t", "WEIBLICH\u00c4", "NA", "na"]
SPELLED += ["-9", "x", "", "  "]
"""Ways to write two categories, and what is none of them."""

WRITTEN = ["1.234,5", "12,5 kg", "12,5%", "-9", "-9,0", "k.A.", " k.A. ", "1.5", "7", " 3,25 ", "NA", "1,2,3", "kg"]
WRITTEN += ["", "-1.000", "1e2", "1e2kg", "inf", "nan", "1\u00a0000", "55", "45"]
"""Numbers with a decimal comma, points between thousands, and units."""


def spelled(rows: int, generator: np.random.Generator) -> tuple[pa.Table, Domain]:
    """Return a table in which the same is written in many ways, and a domain with the rules to read it."""
    some = generator.choice
    null = generator.random(rows) < 0.05
    table = pa.table(
        {
            "sex": pa.array(some(SPELLED, rows), mask=null),
            "grade": pa.array(some([1, 2, 3, -9, 99, 98], rows), mask=null),
            "share": pa.array(some([0.25, 1.5, -9.0, np.nan], rows), mask=null),
            "weight": pa.array(some(WRITTEN, rows), mask=null),
            "dose": pa.array(some(WRITTEN, rows)),
            "pulse": pa.array(some([10.0, 61.5, 110.0, 160.0, -9.0, 999.0, np.nan], rows), mask=null),
        }
    )
    columns = {
        "sex": Categorical(
            categories=("male", "female"),
            merge={"male": ("M",), "female": ("f", "weiblich\u00e4")},
            ignore=("case", "spaces"),
            missing="gone",
            missing_codes=("NA", "-9"),
            other="else",
        ),
        "grade": Categorical(
            categories=("1", "2"), merge={"2": ("3.0",)}, missing="gone", missing_codes=("-9", "99.0"), other="else"
        ),
        "share": Categorical(categories=("0.25", "1.5"), missing="gone", missing_codes=("-9", ".")),
        "weight": Numeric(
            bounds=(-10.0, 2000.0),
            bins=(-10.0, 0.0, 5.0, 12.4, 12.6, 90.0, 1234.4, 1234.6, 2000.0),
            missing="gone",
            missing_codes=("-9", "k.A."),
            other="else",
            decimal=",",
            thousands=".",
            units=("%", "kg"),
        ),
        "dose": Numeric(bounds=(0.0, 100.0), bins=4, missing="gone", other="else", decimal=",", thousands=" "),
        "pulse": Numeric(bounds=(0.0, 200.0), bins=4, missing="gone", missing_codes=("-9", "999")),
    }
    return table, Domain(columns, rows=rows)


_KINDS = {"string": "text", "int64": "bigint", "bool": "boolean", "double": "double precision", "float": "real"}
_KINDS |= {"date32[day]": "date"}


def to_postgres(server: str, name: str, table: pa.Table) -> None:
    """Write a table into a database."""
    import psycopg
    from psycopg import sql

    columns = [
        sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(_KINDS.get(str(f.type), "numeric(12, 2)")))
        for f in table.schema
    ]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), sql.SQL(", ").join(columns)))
        copy = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))
        with connection.cursor() as cursor, cursor.copy(copy) as sink:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                sink.write_row(row)
