"""What it costs to keep the number of rows secret: skeletons found with rows left out, made up, or saying nothing.

`python benchmarks/secret_rows.py` draws 10,000 people from a network, 20 times, and prints the mean F1 of the skeletons
found at epsilon 1.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

import discreet as dc
from discreet.domain import Domain, People
from discreet.errors import DoubtWarning
from discreet.search.graph import skeleton_f1
from discreet.simulation.bayesian import Network
from discreet.simulation.networks import network

ROWS, TABLES = 10_000, 20
Sample = dict[str, list[str | None]]


def with_missing(domain: Domain) -> Domain:
    """Return the domain with a place for missing values in every column."""
    return replace(domain, columns={name: replace(c, missing="absent") for name, c in domain.columns.items()})


def padded(rows: Sample, number: int) -> Sample:
    """Return rows, and so many more that say nothing."""
    return {name: [*values, *(None,) * number] for name, values in rows.items()}


def found(model: Network, seed: int) -> dict[str, float]:
    """Return the F1 of the skeleton for each way, on one table of 10,000 people."""
    drawn = model.sample(ROWS, np.random.default_rng(seed))
    rows: Sample = {name: values.tolist() for name, values in drawn.items()}
    public = model.domain(ROWS)
    places = with_missing(public)
    asked = {
        "public": (rows, public),
        "rows 9,500: 500 left out": (rows, replace(public, rows=9_500, people=People(None, 1))),
        "rows 10,400: 400 made up": (rows, replace(public, rows=10_400, people=People(None, 1))),
        "a place for missing values, none missing": (rows, places),
        "500 rows that say nothing": (padded(rows, 500), replace(places, rows=ROWS + 500)),
    }
    scores = {}
    for name, (data, domain) in asked.items():
        answer = dc.discover(data, domain=domain, epsilon=1.0, method="marginals")
        scores[name] = skeleton_f1(answer.graph, model.dag)
        if "nothing" in name:
            again = dc.search_again(answer, missing="leave-out")
            scores[f"{name}, left out of the search"] = skeleton_f1(again.graph, model.dag)
    return scores


if __name__ == "__main__":
    warnings.simplefilter("ignore", DoubtWarning)
    for name in sys.argv[1:] or ("asia", "child"):
        tables = [found(network(name), seed) for seed in range(TABLES)]
        for way in tables[0]:
            scores = np.array([scores[way] for scores in tables])
            print(f"{name:8} {way:56} {scores.mean():.3f} +- {scores.std(ddof=1) / len(scores) ** 0.5:.3f}", flush=True)
