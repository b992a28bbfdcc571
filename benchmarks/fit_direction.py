"""Fit the networks of `discreet direction` on simulated pairs, with the noise of privacy, and say how far they hold.

Run: python benchmarks/fit_direction.py FOLDER [pairs]. FOLDER keeps what was simulated, in parts: a run that was broken
off goes on there. With 600,000 pairs it takes some 12 minutes on two cores, and writes
src/discreet/release/classifier.npz. `python benchmarks/fit_direction.py FOLDER left-out` prints what the networks are
worth on a family that they did not learn from.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from causal_pairs import FAMILIES, draw_pair

from discreet.arrays import FloatArray, IntArray
from discreet.domain import STEPS
from discreet.methods.pair_tables import QUANTILES_SHARE
from discreet.release import classifier
from discreet.release.classifier import REFLECTIONS, Networks, inputs
from discreet.release.pair_table import COARSE, FINE, QUARTERS, PairTable, degree_of, halved

PART = 20_000
MEMBERS, HIDDEN, EPOCHS, BATCH, RATE, DECAY = 5, 64, 20, 512, 2e-3, 1e-4
WORTH = {COARSE: (60.0, 3_000.0), FINE: (800.0, 200_000.0)}
"""Rows times epsilon of the pairs that networks learn from, by the levels of their tables."""

ROWS = (200.0, 8_000.0)

MISFIT = (0.003, 0.06)
"""No real pair is quite like those of a family: every mean of waves is moved by noise of a deviation between these."""

TESTED = 10
"""Every so many-th pair is kept for testing."""


@dataclass(frozen=True)
class Learned:
    """Means of waves of simulated tables, the first column being the cause, and what is known beside them."""

    waves: FloatArray
    rows: FloatArray
    noise: FloatArray
    family: IntArray

    def take(self, which: np.ndarray) -> Learned:
        """Return some of them."""
        return Learned(self.waves[which], self.rows[which], self.noise[which], self.family[which])


def places(rng: np.random.Generator, values: FloatArray) -> IntArray:
    """Return values as steps of a grid between bounds that somebody may have declared."""
    low, high = np.quantile(values, (0.005, 0.995)) if rng.random() < 0.7 else (values.min(), values.max())
    width = max(high - low, 1e-9)
    low, high = low - width * max(rng.uniform(-0.5, 0.5), 0), high + width * max(rng.uniform(-0.5, 0.5), 0)
    return np.asarray(np.clip((values - low) / max(high - low, 1e-9) * STEPS, 0, STEPS - 1).astype(np.int64))


def bins(rng: np.random.Generator, steps: IntArray, levels: int, epsilon: float) -> IntArray:
    """Return a column in bins as the library would make them: private quarters, then halves. Float noise serves."""
    below = np.cumsum(np.bincount(steps, minlength=STEPS))[:-1]
    utilities = -np.abs(below[None] - len(steps) * np.arange(1, QUARTERS)[:, None] / QUARTERS)
    chosen = np.argmax(utilities * epsilon / (2 * (QUARTERS - 1)) + rng.gumbel(size=utilities.shape), axis=1) + 1
    edges = halved(sorted({0, *chosen.tolist(), STEPS}), levels)
    return np.asarray(np.searchsorted(edges, steps, side="right") - 1)


def tabulate(rng: np.random.Generator, x: IntArray, y: IntArray, levels: int, epsilon: float) -> PairTable:
    """Return a noisy table of two columns of steps, as the library would release it for so much in all."""
    share = float(QUANTILES_SHARE)
    a, b = (bins(rng, column, levels, epsilon * share / 2) for column in (x, y))
    shape = (max(int(a.max()) + 1, 2), max(int(b.max()) + 1, 2))
    counts = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1]).reshape(shape)
    scale = 2 / (epsilon * (1 - share))
    normal = rng.normal(scale=scale * 2**0.5, size=shape)  # as where many releases share an (epsilon, delta)
    noisy = counts + np.rint(normal if rng.random() < 0.2 else rng.laplace(scale=scale, size=shape))
    return PairTable(tuple(map(tuple, noisy.astype(int).tolist())), scale * 2**0.5, len(x))


def simulate(seed: int, levels: int) -> tuple[int, float, float, FloatArray]:
    """Return the number of a family, rows, noise and means of waves of one simulated pair."""
    rng, family = np.random.default_rng([seed, levels]), seed % len(FAMILIES)
    rows = int(np.exp(rng.uniform(*np.log(ROWS))))
    worth = np.exp(rng.uniform(*np.log(WORTH[levels])))
    asked = levels if levels > COARSE or rng.random() < 0.8 else int(rng.integers(4, COARSE))
    x, y = (places(rng, column) for column in draw_pair(rng, rows, list(FAMILIES)[family]))
    table = tabulate(rng, x, y, asked, worth / rows)
    waves = np.zeros((degree_of(levels),) * 2)
    found = table.waves()[0]
    waves[: len(found), : len(found)] = found
    waves += rng.normal(scale=np.exp(rng.uniform(*np.log(MISFIT))), size=waves.shape)
    return family, float(rows), table.wave_noise, waves


def simulated(folder: Path, levels: int, number: int) -> Learned:
    """Return so many simulated pairs; parts that are in the folder are not made again."""
    parts = []
    with ProcessPoolExecutor() as pool:
        for first in range(0, number, PART):
            path = folder / f"pairs-{levels}-{first}.npz"
            if not path.exists():
                found = list(pool.map(simulate, range(first, first + PART), [levels] * PART, chunksize=500))
                family, rows, noise, waves = (np.array(column) for column in zip(*found, strict=True))
                np.savez(path, family=family, rows=rows, noise=noise, waves=waves.astype(np.float32))
                print(f"{levels} levels: {first + PART:,} pairs", flush=True)
            parts.append(np.load(path))
    fields = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Learned(**fields)


def batches(rng: np.random.Generator, number: int) -> Iterator[IntArray]:
    """Yield the numbers of pairs, a batch at a time, in a fresh order."""
    order = rng.permutation(number)
    return (order[i : i + BATCH] for i in range(0, number, BATCH))


def fit(pairs: Learned) -> Networks:
    """Return networks that take the first column for the cause: they differ in their beginnings and their order."""
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(_fit_one, [pairs] * MEMBERS, range(MEMBERS)))
    layers = tuple(np.stack(same) for same in zip(*found, strict=True))
    return Networks(layers[:3], layers[3:])


def _fit_one(pairs: Learned, seed: int) -> list[FloatArray]:
    """Return weights and biases of one network: by Adam, with a rate that rises and falls."""
    rng, degree = np.random.default_rng(seed), pairs.waves.shape[1]
    sizes = (degree**2 + 2, HIDDEN, HIDDEN, 1)
    layers = [rng.normal(size=s) * np.sqrt(2 / s[0]) for s in pairwise(sizes)]
    layers += [np.zeros(size) for size in sizes[1:]]
    layers = [layer.astype(np.float32) for layer in layers]
    first, second = ([np.zeros_like(layer) for layer in layers] for _ in range(2))
    signs = [(-1.0) ** np.arange(1, degree + 1), np.ones(degree)]
    flips = np.stack([np.outer(signs[a > 0], signs[b > 0]) for a, b in REFLECTIONS]).astype(np.float32)
    steps, step = EPOCHS * (len(pairs.rows) // BATCH + 1), 0
    for _ in range(EPOCHS):
        for batch in batches(rng, len(pairs.rows)):
            waves = pairs.waves[batch] * flips[rng.integers(len(flips), size=len(batch))]
            rows, noise = pairs.rows[batch], pairs.noise[batch]
            both = np.concatenate([inputs(one, rows, noise) for one in (waves, waves.transpose(0, 2, 1))])
            step += 1
            rate = RATE * min(step / (0.3 * steps), (steps - step) / (0.7 * steps))
            for i, slope in enumerate(_slopes(layers, both.astype(np.float32))):
                first[i] += 0.1 * (slope - first[i])
                second[i] += 0.001 * (slope**2 - second[i])
                scaled = first[i] / (1 - 0.9**step) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
                layers[i] -= np.float32(rate) * (scaled + DECAY * layers[i])
    return layers


def _slopes(layers: list[FloatArray], found: FloatArray) -> list[FloatArray]:
    """Return how the mean loss changes with weights and biases; the second half of the rows is the first one turned."""
    weights, biases = layers[:3], layers[3:]
    seen = [found]
    for weight, bias in zip(weights[:2], biases[:2], strict=True):
        seen.append(np.maximum(seen[-1] @ weight + bias, 0))
    said = (seen[-1] @ weights[2])[:, 0]
    half = len(said) // 2
    wrong = 1 / (1 + np.exp(np.clip(said[:half] - said[half:], -50, 50))) / half
    back = np.concatenate([-wrong, wrong])[:, None]
    by_weight, by_bias = [], []
    for i in (2, 1, 0):
        by_weight.append(seen[i].T @ back)
        by_bias.append(back.sum(axis=0))
        back = (back @ weights[i].T) * (seen[i] > 0)
    return [*reversed(by_weight), *reversed(by_bias)]


def log_odds(networks: Networks, pairs: Learned) -> FloatArray:
    """Return the log odds of the true cause, pair by pair."""
    found = zip(pairs.waves, pairs.rows, pairs.noise, strict=True)
    return np.array([networks.log_odds(waves[None].astype(float), rows, noise)[0] for waves, rows, noise in found])


def print_worth(levels: int, pairs: Learned, odds: FloatArray) -> None:
    """Print how often the answer is right, and how often where it is stated at .8 or more, by family."""
    print(f"| {levels} levels | right | stated .8 or more | of these right | stated, mean |\n|---|---|---|---|---|")
    for i, name in [*enumerate(FAMILIES), (None, "all")]:
        mine = odds if i is None else odds[pairs.family == i]
        stated = 1 / (1 + np.exp(-np.abs(mine)))
        sure = stated >= 0.8
        right = mine > 0
        print(f"| {name} | {right.mean():.2f} | {sure.mean():.2f} | {right[sure].mean():.2f} | {stated.mean():.2f} |")


def main(folder: str, number: str = "300000") -> None:
    """Fit, write and print."""
    Path(folder).mkdir(exist_ok=True)
    stored: dict[str, Any] = {}
    leave_out = number == "left-out"
    for levels in (COARSE, FINE):
        pairs = simulated(Path(folder), levels, 100_000 if leave_out else int(number))
        tested = np.arange(len(pairs.rows)) // len(FAMILIES) % TESTED == 0
        test = pairs.take(tested)
        if leave_out:
            odds = np.empty(len(test.rows))
            for i in range(len(FAMILIES)):
                mine = test.family == i
                odds[mine] = log_odds(fit(pairs.take(~tested & (pairs.family != i))), test.take(mine))
            print_worth(levels, test, odds)
            continue
        networks = fit(pairs.take(~tested))
        print_worth(levels, test, log_odds(networks, test))
        for i in range(3):
            stored[f"weight{degree_of(levels)}_{i}"] = networks.weights[i].astype(np.float16)
            stored[f"bias{degree_of(levels)}_{i}"] = networks.biases[i].astype(np.float16)
    if stored:
        np.savez_compressed(Path(classifier.__file__).with_suffix(".npz"), **stored)


if __name__ == "__main__":
    main(*sys.argv[1:])
