"""Tables that stay where they are: counts and sums are pushed to the engine that holds the rows."""
