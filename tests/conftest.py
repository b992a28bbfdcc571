"""What all tests share."""

import pytest


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path_factory, monkeypatch):
    """Keep commands from writing into the ledger of whoever runs the tests."""
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path_factory.mktemp("ledger") / "ledger.db"))
