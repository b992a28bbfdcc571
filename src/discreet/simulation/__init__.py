"""Networks whose graph is known, rows drawn from them, and what a method would find there."""
