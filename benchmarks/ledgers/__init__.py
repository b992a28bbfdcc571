"""What `ledger.py` tries: kills, writers and faults."""
