"""Drafts of real tables run as they are. `benchmarks/real_tables.py write FOLDER` fetches them; none comes along."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.data.draft import NOTICE, draft_yaml
from discreet.data.load import open_source
from discreet.domain import Domain
from discreet.methods.check import check

FOLDER = os.environ.get("DISCREET_REAL_TABLES", "")


@pytest.mark.nightly
@pytest.mark.skipif(not FOLDER, reason="DISCREET_REAL_TABLES names no folder")
@pytest.mark.parametrize("path", sorted(Path(FOLDER or "nowhere").glob("*.csv")), ids=lambda path: path.stem)
def test_a_draft_fits_and_would_not_be_refused(path):
    domain = Domain.from_yaml(draft_yaml(open_source(str(path))).replace(NOTICE, ""))
    assert not domain.draft
    assert check(str(path), domain).fits
