"""Events: sets of outputs that tell two tables apart, learned from runs on both."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Protocol

import numpy as np

from discreet.arrays import BoolArray, FloatArray
from discreet.audit import words_of

MOST_ATOMS = 40
"""Values that are looked at one by one, the most frequent ones."""

CUTS = 24
"""Thresholds a number is cut at."""

MOST_NUMBERS = 40
"""Numbers of an output that are cut one by one; a score of all of them is always looked at."""


_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def flat(output: object) -> tuple[object, ...]:
    """Return an output as a flat tuple of numbers and words: all that can be compared, with what holds what."""
    if isinstance(output, np.ndarray):
        return (f"array {output.shape}", *(part for item in output.ravel().tolist() for part in flat(item)))
    if isinstance(output, Mapping):
        return (f"mapping of {len(output)}", *(part for item in output.items() for part in flat(item)))
    if isinstance(output, Set):
        return (f"set of {len(output)}", *(part for parts in sorted(map(flat, output), key=repr) for part in parts))
    if isinstance(output, tuple | list):
        return (f"{type(output).__name__} of {len(output)}", *(part for item in output for part in flat(item)))
    if is_dataclass(output) and not isinstance(output, type):
        inside = (part for f in fields(output) for part in flat(getattr(output, f.name)))
        return (type(output).__name__, *inside)
    return _scalar(output)


def _scalar(output: object) -> tuple[object, ...]:
    if isinstance(output, complex):
        return ("complex", output.real, output.imag)
    if isinstance(output, Decimal):
        return flat(float(output))
    if isinstance(output, np.generic):
        return flat(output.item())
    if _number(output):
        return (output,)
    if isinstance(output, str):
        numbers = [float(number) for number in _NUMBER.findall(output)]
        readable = numbers and all(map(math.isfinite, numbers))
        return (repr(_NUMBER.sub("#", output)), *numbers) if readable else (repr(output),)
    return (words_of(output),)


class Outputs:
    """Outputs of many runs: as wholes, and as numbers where they are numbers."""

    def __init__(self, wholes: Sequence[tuple[object, ...]]) -> None:
        self.wholes = wholes

    @classmethod
    def of(cls, outputs: Sequence[object]) -> Outputs:
        """Take outputs as they come."""
        return cls([flat(output) for output in outputs])

    def __len__(self) -> int:
        return len(self.wholes)

    @property
    def width(self) -> int:
        """The most places that an output has."""
        return max((len(whole) for whole in self.wholes), default=0)

    @cached_property
    def shapes(self) -> list[tuple[object, ...]]:
        """What is left of each output if numbers are blanked: where it answered, and what words it used."""
        return [tuple("#" if _number(part) else part for part in whole) for whole in self.wholes]

    def numbers(self, place: int) -> FloatArray:
        """Return the numbers at a place; NaN where there is none."""
        if place not in self._columns:
            found = [w[place] if len(w) > place and _number(w[place]) else math.nan for w in self.wholes]
            self._columns[place] = np.array(found, dtype=np.float64)
        return self._columns[place]

    @cached_property
    def _columns(self) -> dict[int, FloatArray]:
        return {}


def _number(part: object) -> bool:
    """Whether something is a number that can be compared; what is none (NaN) or has no bounds is a word."""
    if isinstance(part, bool) or not isinstance(part, Real):
        return False
    try:
        return math.isfinite(part)
    except OverflowError:
        return False


class Event(Protocol):
    """A set of outputs."""

    @property
    def words(self) -> str:
        """What it is."""
        ...

    def holds(self, outputs: Outputs) -> BoolArray:
        """Return in which runs it happened."""
        ...


@dataclass(frozen=True)
class Among:
    """The output, or what is left of it without its numbers, is one of these."""

    those: frozenset[tuple[object, ...]]
    shape: bool = False

    @property
    def words(self) -> str:
        """What it is."""
        shown = sorted(map(repr, self.those))
        return f"is {shown[0]}" if len(shown) == 1 else f"is one of {len(shown)}, such as {shown[0]}"

    def holds(self, outputs: Outputs) -> BoolArray:
        """Return in which runs it happened."""
        return np.array([whole in self.those for whole in (outputs.shapes if self.shape else outputs.wholes)])


@dataclass(frozen=True)
class Cut:
    """A weighted sum of numbers is at or beyond a threshold.

    With ``shape``, only where the rest of the output looks like that; with ``clips``, each number is first clipped to
    its own interval.
    """

    places: tuple[int, ...]
    weights: tuple[float, ...]
    threshold: float
    above: bool
    shape: tuple[object, ...] | None = None
    clips: tuple[tuple[float, float], ...] | None = None

    @property
    def words(self) -> str:
        """What it is."""
        what = f"part {self.places[0] + 1}" if len(self.places) == 1 else f"a score of {len(self.places)} parts"
        return f"with {what} {'>=' if self.above else '<='} {self.threshold:.6g}" + (
            f" in the form {self.shape!r}" if self.shape is not None else ""
        )

    def holds(self, outputs: Outputs) -> BoolArray:
        """Return in which runs it happened."""
        score = _score(outputs, self.places, self.weights, self.clips)
        hit = score >= self.threshold if self.above else score <= self.threshold
        if self.shape is not None:
            hit &= np.array([shape == self.shape for shape in outputs.shapes])
        return np.asarray(hit, dtype=np.bool_)


@dataclass(frozen=True)
class Equals:
    """The part at a place has a value."""

    place: int
    value: object

    @property
    def words(self) -> str:
        """What it is."""
        return f"with part {self.place + 1} = {self.value!r}"

    def holds(self, outputs: Outputs) -> BoolArray:
        """Return in which runs it happened."""
        return np.array([len(w) > self.place and w[self.place] == self.value for w in outputs.wholes])


Clips = tuple[tuple[float, float], ...]


def _score(
    outputs: Outputs, places: tuple[int, ...], weights: tuple[float, ...], clips: Clips | None = None
) -> FloatArray:
    total = np.zeros(len(outputs))
    for i, (place, weight) in enumerate(zip(places, weights, strict=True)):
        numbers = outputs.numbers(place)
        total = total + weight * (numbers if clips is None else np.clip(numbers, *clips[i]))
    return total


def candidates(first: Outputs, second: Outputs) -> list[Event]:
    """Return events that might be likelier on one of two tables, learned from runs on both."""
    width = max(first.width, second.width)
    events: list[Event] = [*_wholes(first, second), *_parts(first, second, min(width, MOST_NUMBERS))]
    with np.errstate(over="ignore", invalid="ignore"):
        events += _cuts(first, second, width)
    return list(dict.fromkeys(events))


def _wholes(first: Outputs, second: Outputs) -> Iterator[Event]:
    """Yield single outputs, and all outputs that are likelier on one side by a factor."""
    for shape in (False, True):
        sides = [Counter(side.shapes if shape else side.wholes) for side in (first, second)]
        seen = sides[0] + sides[1]
        if len(seen) == 1 or len(seen) > (len(first) + len(second)) / 2:
            continue
        yield from (Among(frozenset((whole,)), shape) for whole, _ in seen.most_common(MOST_ATOMS))
        odds = {w: (sides[0][w] + 0.5) / (sides[1][w] + 0.5) for w in seen}
        for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 10.0):
            yield Among(frozenset(w for w in seen if odds[w] >= factor), shape)
            yield Among(frozenset(w for w in seen if odds[w] <= 1 / factor), shape)


def _parts(first: Outputs, second: Outputs, width: int) -> Iterator[Event]:
    for place in range(width):
        seen = Counter(w[place] for side in (first, second) for w in side.wholes if len(w) > place)
        often = [value for value, times in seen.most_common(10) if times > 2]
        yield from (Equals(place, value) for value in often)


def _cuts(first: Outputs, second: Outputs, width: int) -> Iterator[Event]:
    """Yield thresholds on each number, on scores of all, and on numbers of outputs of one shape."""
    means: dict[int, tuple[float, float]] = {}
    for place in range(width):
        sides = [side.numbers(place) for side in (first, second)]
        sides = [numbers[~np.isnan(numbers)] for numbers in sides]
        if place < MOST_NUMBERS:
            yield from _thresholds((place,), (1.0,), np.concatenate(sides))
        if all(len(numbers) for numbers in sides) and np.concatenate(sides).var() > 0:
            means[place] = (float(sides[0].mean()), float(sides[1].mean()))
    yield from _scores(first, second, means)
    shapes = Counter([*first.shapes, *second.shapes])
    if 1 < len(shapes) <= MOST_ATOMS:
        for shape, _ in shapes.most_common(6):
            for place in (i for i, part in enumerate(shape) if part == "#"):
                inside = [side.numbers(place)[[s == shape for s in side.shapes]] for side in (first, second)]
                yield from _thresholds((place,), (1.0,), np.concatenate(inside), shape)


def _scores(first: Outputs, second: Outputs, means: dict[int, tuple[float, float]]) -> Iterator[Event]:
    """Yield thresholds on the likelihood ratio of all numbers, as if their noise were Laplace, or normal.

    Under independent Laplace noise what lies beyond both means counts no more than the mean; under normal noise a
    number counts by its difference of means over its variance, or by the inverse of all covariances.
    """
    places = tuple(means)
    if len(places) < 2:
        return
    spread = _spread(first, second, places)
    gaps = np.array([means[p][0] - means[p][1] for p in places])
    pointed = tuple((np.sign(gaps) / np.sqrt(np.diag(spread))).tolist())
    between = tuple((min(means[p]), max(means[p])) for p in places)
    choices: list[tuple[tuple[float, ...], Clips | None]] = [(pointed, between)]
    for matrix in (np.diag(np.diag(spread)), spread + 1e-12 * np.trace(spread) * np.eye(len(places))):
        choices.append((tuple(np.linalg.lstsq(matrix, gaps, rcond=None)[0].tolist()), None))
    for weights, clips in choices:
        both = np.concatenate([_score(side, places, weights, clips) for side in (first, second)])
        yield from _thresholds(places, weights, both[~np.isnan(both)], None, clips)


def _spread(first: Outputs, second: Outputs, places: tuple[int, ...]) -> FloatArray:
    """Return the covariance of numbers around their side's means; where a number is missing, its mean stands in."""
    centred = []
    for side in (first, second):
        numbers = np.stack([side.numbers(p) for p in places], axis=1)
        centred.append(np.nan_to_num(numbers - np.nanmean(numbers, axis=0)))
    together = np.concatenate(centred)
    found: FloatArray = together.T @ together / len(together)
    found[np.diag_indices_from(found)] += np.diag(found) == 0
    return found


def _thresholds(
    places: tuple[int, ...],
    weights: tuple[float, ...],
    pooled: FloatArray,
    shape: tuple[object, ...] | None = None,
    clips: Clips | None = None,
) -> Iterator[Event]:
    if not len(pooled):
        return
    levels = np.concatenate([np.linspace(0, 1, CUTS + 1), [0.005, 0.01, 0.02, 0.98, 0.99, 0.995]])
    for threshold in sorted(set(np.quantile(pooled, levels).tolist())):
        yield Cut(places, weights, threshold, True, shape, clips)
        yield Cut(places, weights, threshold, False, shape, clips)
