"""A release and synthetic rows, made by the command line from a table whose truth is known."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet import Discovery
from discreet.simulation.bayesian import Network
from discreet.simulation.networks import read_bif

ROWS = 200_000
SYNTHETIC = 200_000


@dataclass(frozen=True)
class Handed:
    """What an analyst is handed, and the network that the rows were drawn from."""

    network: Network
    folder: Path
    found: Discovery
    rows: pd.DataFrame

    @property
    def numbers(self) -> pd.DataFrame:
        """The synthetic rows with levels as numbers, in the order of the domain."""
        levels = {name: list(self.found.domain[name].levels) for name in self.rows}
        return pd.DataFrame({name: self.rows[name].map(levels[name].index) for name in self.rows})


def discreet(*words: object, ledger: Path) -> None:
    """Run the command line of the installed wheel."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "discreet", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DISCREET_LEDGER": str(ledger)},
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def clinic() -> Network:
    """Age makes treatment likelier and recovery less likely; distance keeps people from treatment."""
    return read_bif(Path(__file__).with_name("clinic.bif"))


@pytest.fixture(scope="session")
def handed(clinic, tmp_path_factory) -> Handed:
    """From a table to rows, by the command line alone."""
    folder = tmp_path_factory.mktemp("clinic")
    pd.DataFrame(clinic.sample(ROWS, np.random.default_rng(1))).to_csv(folder / "visits.csv", index=False)
    (folder / "domain.yaml").write_text(clinic.domain(ROWS).to_yaml(), encoding="utf-8")
    ledger = folder / "ledger.db"
    out = ("--out", folder / "release")
    discreet("discover", folder / "visits.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, *out, ledger=ledger)
    release, rows = folder / "release" / "release.json", folder / "rows.csv"
    discreet("synthesize", release, "--rows", SYNTHETIC, "--seed", 1, "--out", rows, ledger=ledger)
    return Handed(clinic, folder, Discovery.load(release), pd.read_csv(rows, dtype=str))
