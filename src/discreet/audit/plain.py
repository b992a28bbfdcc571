"""Anything in a plain form that can be compared: by kind, order and value, not by what an object says of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Set
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

from discreet.errors import SettingError

DEEP = 40
"""Things within things beyond this are not looked into."""

_SIMPLE = (bool, int, float, complex, str, bytes, type(None))
_NAMED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def plain(thing: object, depth: int = 0) -> object:
    """Return a thing as nested tuples of names and representations.

    Two runs of a method that saw the same answers must return things with equal plain forms. Fields count whether or
    not an object compares them; the order of a dictionary counts; a number that is none (NaN) equals itself.
    """
    if isinstance(thing, _SIMPLE):
        return type(thing).__name__, repr(thing)
    if depth > DEEP:
        return "..."
    kind = type(thing).__qualname__
    deeper = depth + 1
    if isinstance(thing, np.ndarray):
        return kind, str(thing.dtype), thing.shape, tuple(plain(part, deeper) for part in thing.ravel().tolist())
    if isinstance(thing, Mapping):
        return kind, tuple((plain(key, deeper), plain(value, deeper)) for key, value in thing.items())
    if isinstance(thing, Set | list | tuple):
        parts = [plain(part, deeper) for part in thing]
        return kind, tuple(sorted(parts, key=repr) if isinstance(thing, Set) else parts)
    return kind, _inside(thing, depth)


def _inside(thing: object, depth: int) -> object:
    """Return what makes up an object that is no collection."""
    if isinstance(thing, _NAMED):
        return getattr(thing, "__qualname__", repr(thing))
    if isinstance(thing, Enum):
        return thing.name
    if isinstance(thing, MethodType):
        return thing.__qualname__, plain(thing.__self__, depth + 1)
    if dataclasses.is_dataclass(thing):
        return tuple((f.name, plain(getattr(thing, f.name), depth + 1)) for f in dataclasses.fields(thing))
    if hasattr(thing, "__dict__") and type(thing).__module__ != "builtins":
        return plain(vars(thing), depth + 1)
    return words_of(thing)


def words_of(thing: object) -> str:
    """Return what represents a thing by its value.

    Raises
    ------
    SettingError
        If nothing does: it would look different, or the same, whatever it holds.
    """
    words = repr(thing)
    if " at 0x" in words or type(thing).__repr__ is object.__repr__:
        raise SettingError(
            f"audit: a {type(thing).__name__} cannot be compared by value; return numbers, words or collections of them"
        )
    return words
