"""Make up the patients of a clinic, for the tutorial: 40,000 rows whose causes are known, since they are written here.

``python clinic.py`` writes clinic.csv. Nobody in it exists.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.generic]

PATIENTS = 40_000
CAUSES: dict[str, tuple[str, ...]] = {
    "sex": (),
    "age": (),
    "region": (),
    "smoking": ("sex", "age"),
    "activity": ("age", "region"),
    "bmi": ("activity", "sex"),
    "pressure": ("age", "bmi"),
    "cholesterol": ("bmi", "smoking"),
    "diabetes": ("bmi",),
    "heart_disease": ("pressure", "smoking", "sex"),
    "stay": ("heart_disease", "diabetes", "region"),
}
"""The truth: what causes what. Besides, who lives alone, which no column tells, smokes more and stays longer."""


def _chosen(rng: np.random.Generator, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Draw a level for every row, whose shares of the levels are given."""
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray((rng.random(len(shares))[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1))


def _logistic(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-values)))


def patients(number: int = PATIENTS, seed: int = 1) -> dict[str, Column]:
    """Return the columns of so many made-up patients; empty texts and NaN are what was not written down."""
    rng = np.random.default_rng(seed)
    sex, region = rng.integers(2, size=number), _chosen(rng, np.tile([0.55, 0.3, 0.15], (number, 1)))
    age = np.clip(rng.normal(57, 17, number), 18, 99)
    old = (age - 57) / 17
    alone = rng.random(number) < 0.4
    habit = [0.7 - 0.9 * sex, 0.9 * old, -1.1 * old + 0.5 * sex + 1.5 * alone]
    smoking = _chosen(rng, np.exp(np.stack(habit, axis=1)))
    moving = -0.9 * old + 0.7 * (region == 2) + rng.logistic(size=number)
    activity = (moving > -0.6).astype(int) + (moving > 0.9)
    bmi = 29 - 2.4 * activity + 1.3 * sex + rng.normal(0, 2.6, number)
    pressure = 128 + 11 * old + 1.9 * (bmi - 27) + rng.normal(0, 9, number)
    cholesterol = 5 + 0.16 * (bmi - 27) + 0.5 * (smoking == 2) + rng.normal(0, 0.7, number)
    diabetes = rng.random(number) < _logistic(-1.9 + 0.5 * (bmi - 27))
    risk = 0.09 * (pressure - 128) + 1.5 * (smoking == 2) + 0.8 * (smoking == 1) + 0.2 * sex
    heart = rng.random(number) < _logistic(risk - 2.3)
    worse = 2.4 * heart + 1.7 * diabetes + 0.25 * (region == 2) + 1.2 * alone + rng.logistic(size=number)
    stay = (worse > 0.9).astype(int) + (worse > 2.8)
    table: dict[str, Column] = {
        "sex": np.array(["f", "m"])[sex],
        "age": np.floor(age),
        "region": np.array(["city", "town", "village"])[region],
        "smoking": np.array(["never", "former", "current"])[smoking],
        "activity": np.array(["low", "medium", "high"])[activity],
        "bmi": bmi.round(1),
        "pressure": pressure.round(),
        "cholesterol": cholesterol.round(1),
        "diabetes": np.array(["no", "yes"])[diabetes.astype(int)],
        "heart_disease": np.array(["no", "yes"])[heart.astype(int)],
        "stay": np.array(["none", "short", "long"])[stay],
    }
    table["smoking"] = np.where(rng.random(number) < 0.04, "", table["smoking"])
    table["cholesterol"] = np.where(rng.random(number) < 0.1, np.nan, table["cholesterol"])
    return table


def main(path: str = "clinic.csv") -> None:
    """Write the patients as CSV."""
    table = patients()
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow("" if value != value else value for value in row)  # noqa: PLR0124 - NaN differs from itself


if __name__ == "__main__":
    main(*sys.argv[1:])
