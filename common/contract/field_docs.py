"""Reads the docstrings below the fields of a struct from its source."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

import msgspec


@cache
def field_docs(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return the meaning of each field by its name in JSON: the string literal below it, in the
    class or a base class.
    """
    docs: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            docs |= _documented(base.__module__).get(base.__name__, {})
    return {
        field.encode_name: docs[field.name]
        for field in msgspec.structs.fields(kind)
        if field.name in docs
    }


@cache
def _documented(module: str) -> Mapping[str, dict[str, str]]:
    """Return the docstrings of fields by class and name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        node.name: dict(_fields(node.body)) for node in tree.body if isinstance(node, ast.ClassDef)
    }


def _fields(body: list[ast.stmt]) -> list[tuple[str, str]]:
    return [
        (field.target.id, " ".join(below.value.value.split()))
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    ]
