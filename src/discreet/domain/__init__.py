"""What is public: columns, the domain they make up, background knowledge, and the files these are declared in."""

from discreet.domain.columns import GRID, STEPS, Categorical, Column, Numeric
from discreet.domain.domain import DRAFT, MAX_ROWS, PERSON, UNIT, Domain, People

__all__ = [
    "DRAFT",
    "GRID",
    "MAX_ROWS",
    "PERSON",
    "STEPS",
    "UNIT",
    "Categorical",
    "Column",
    "Domain",
    "Numeric",
    "People",
]
