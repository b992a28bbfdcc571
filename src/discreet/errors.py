"""Every error a user can meet, by what went wrong and whose turn it is.

::

    DiscreetError
    ├── InputError              exit 2: something handed in does not fit
    │   ├── SettingError        an option or argument
    │   ├── DomainError         the public domain itself
    │   ├── TableError          the data cannot be read as a table
    │   │   └── MisfitError     the data do not fit the declared domain
    │   ├── KnowledgeError      background knowledge
    │   ├── ReleaseError        a release file
    │   ├── RequestError        a request id that was used for something else
    │   │   └── AnsweredError   a request that was answered meanwhile
    │   └── NetworkError        a Bayesian network file
    ├── BudgetError             exit 3: the privacy budget refuses
    ├── UnansweredError         an oracle was asked what it cannot answer
    ├── EngineError             exit 1: the engine that holds the rows cannot be reached, or failed
    ├── LedgerError             exit 1: the ledger cannot be read or written
    ├── OutputError             exit 1: a file could not be written
    └── RoomError               exit 1: the room refuses or a statistic failed

No message ever holds a datum: columns, settings and declared labels are named, values never are.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """Base of all errors of this library."""

    exit_code = 1


class InputError(DiscreetError):
    """Something handed in does not fit; nothing was spent."""

    exit_code = 2


class SettingError(InputError):
    """An option or argument has a value that cannot be used."""


class DomainError(InputError):
    """The public domain is incomplete or contradicts itself."""


class TableError(InputError):
    """The data cannot be read as a table."""


class MisfitError(TableError):
    """The data do not fit the declared domain; only columns are named."""


class KnowledgeError(InputError):
    """Background knowledge names unknown columns or contradicts itself."""


class ReleaseError(InputError):
    """A release file is damaged, too new, or not a release."""


class RequestError(InputError):
    """A request id was used before, for something else."""


class AnsweredError(RequestError):
    """A request was answered while it was being asked; asked again, its release is shown."""


class NetworkError(InputError):
    """A Bayesian network file cannot be read."""


class BudgetError(DiscreetError):
    """The privacy budget refuses; nothing was evaluated for the refused charge."""

    exit_code = 3


class UnansweredError(DiscreetError):
    """An oracle was asked a question that its releases cannot answer."""


class EngineError(DiscreetError):
    """The engine that holds the rows cannot be reached, or failed; what was charged before stays booked."""


class LedgerError(DiscreetError):
    """The ledger cannot be read or written, or was tampered with; nothing is handed out without it."""


class OutputError(DiscreetError):
    """A file could not be written; what was found is not lost, it was returned or printed."""


class RoomError(DiscreetError):
    """The room refused, or a statistic failed after its charge was booked."""


class DoubtWarning(UserWarning):
    """What was asked for can be done, but will hardly show anything. Said before anything is spent."""
