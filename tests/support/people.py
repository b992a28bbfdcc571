"""People with several rows: made-up tables, and what is written down of which rows are kept."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import numpy as np
import pandas as pd

import discreet as dc
from discreet.domain import People

KEYS = ("0" * 64, "f" * 64, sha256(b"third").hexdigest())


def domain_of(sizes, rows, most):
    columns = {f"x{i}": dc.Categorical(categories=tuple(map(str, range(size)))) for i, size in enumerate(sizes)}
    return dc.Domain(columns, rows=rows, people=People("who", most))


def splitmix(place, size):
    mask = (1 << 64) - 1
    z = (place + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return ((z ^ (z >> 31)) >> 32) * size >> 32


def bounded(rows, sizes, n, most, key, *, second=slice(32, None), prefix=True):
    """Do what people.md says, row by row. Rows are (id, codes)."""
    met, people = Counter(), {}
    for who, codes in rows:
        met[who, codes] += 1
        label = f"{','.join(map(str, codes))};{met[who, codes]};{who}"
        people.setdefault(who, []).append((sha256(f"{key};{label}".encode()).hexdigest(), label, codes))
    kept = [row for line in people.values() for row in sorted(line, key=lambda r: (r[0][:32], r[1]))[:most]]
    used = [codes for _, _, codes in sorted(kept, key=lambda r: (r[0][second], r[1]))[:n]]
    width, missing = len(sizes), n - len(used)
    start = 0 if prefix else 1_000 * missing  # a mutant draws all made-up rows anew for every number of them
    made = [tuple(splitmix((start + i) * width + j, s) for j, s in enumerate(sizes)) for i in range(missing)]
    return Counter(used + made)


def drawn_rows(rng, sizes, number, people=8):
    ids = ["", "1", "01", "ä;1", "x,0;1", "ß", "p q", "p"][:people]
    return [(str(rng.choice(ids)), tuple(map(int, rng.integers(0, sizes)))) for _ in range(number)]


def sample_rows(number=3_000, people=700):
    rng = np.random.default_rng(4)
    who = rng.integers(0, people, number)
    a = rng.integers(0, 2, number)
    b = np.where(rng.random(number) < 0.8, a, rng.integers(0, 2, number))
    return pd.DataFrame({"who": who, "x0": a.astype(str), "x1": b.astype(str)})
