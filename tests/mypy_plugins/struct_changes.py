"""A mypy plugin: the keywords of a change are the fields of what is changed.

``msgspec.structs.replace(struct, **changes: Any)`` lets any name and any value pass. Here it gets
the fields of ``struct``, as mypy's own plugin gives ``dataclasses.replace`` those of a dataclass;
and each ``change`` method of a turn gets the fields of what :data:`CHANGES` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR2, NameExpr
from mypy.plugin import FunctionSigContext, MethodSigContext, Plugin
from mypy.plugins.dataclasses import replace_function_sig_callback
from mypy.subtypes import find_member
from mypy.typeops import make_simplified_union
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeVarType,
    UnionType,
    get_proper_type,
)

FIELDS = "__mypy-replace"
"""Where mypy keeps the signature of ``replace`` of a struct."""

EACH = "*"
"""Any one of a tuple."""

CHANGES: Mapping[str, tuple[str, ...]] = {
    "change": ("state",),
    "change_current": ("state", "current"),
    "change_card": ("state", "current", "cards", EACH),
    "change_deal": ("state", "deal"),
    "change_seat": ("state", "current", "seats", EACH),
}
"""What each method changes, as the way to it from the turn."""

UNKNOWN = "The type of what changes is not known here; its fields cannot be checked"
OWN = "fields"
"""What the keywords of such a method are called, where it passes them on itself."""

UNNAMED = "Name the fields that change; those of a dictionary cannot be checked"


class StructChanges(Plugin):
    """Gives ``replace`` and the ``change`` methods the fields that they take."""

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """``replace`` under its one full name."""
        return replaced if fullname == "msgspec.structs.replace" else None

    def get_method_signature_hook(
        self, fullname: str
    ) -> Callable[[MethodSigContext], FunctionLike] | None:
        """A method of a turn, by its name."""
        of, _, name = fullname.rpartition(".")
        return changed if name in CHANGES and of.startswith("controller.games.") else None


def plugin(version: str) -> type[Plugin]:
    """What mypy asks for."""
    return StructChanges


def replaced(ctx: FunctionSigContext) -> FunctionLike:
    """The signature of this call of ``replace``."""
    if len(ctx.args) == 2 and len(ctx.args[0]) == 1:
        if passed_on(ctx):
            return ctx.default_signature
        struct = get_proper_type(ctx.api.get_expression_type(ctx.args[0][0]))
        if isinstance(struct, AnyType):
            ctx.api.fail(UNKNOWN, ctx.context)
        unnamed(ctx)
    return replace_function_sig_callback(ctx)


def changed(ctx: MethodSigContext) -> FunctionLike:
    """The signature of this call of a ``change`` method."""
    signature = ctx.default_signature
    if passed_on(ctx) or ARG_STAR2 not in signature.arg_kinds:
        return signature
    unnamed(ctx)
    struct: ProperType = ctx.type
    for step in CHANGES[signature.definition.name if signature.definition else ""]:
        struct = follow(struct, step)
    fields = struct.type.get_method(FIELDS) if isinstance(struct, Instance) else None
    if fields is None or not isinstance(fields.type, CallableType):
        ctx.api.fail(UNKNOWN, ctx.context)
        return signature
    named = fields.type
    before = [at for at, kind in enumerate(signature.arg_kinds) if kind != ARG_STAR2]
    return signature.copy_modified(
        arg_names=[*(signature.arg_names[at] for at in before), *named.arg_names],
        arg_kinds=[*(signature.arg_kinds[at] for at in before), *named.arg_kinds],
        arg_types=[*(signature.arg_types[at] for at in before), *named.arg_types],
    )


def follow(holder: ProperType, step: str) -> ProperType:
    """The type of an attribute, or of each of a tuple; never ``None``, which cannot be changed."""
    if step == EACH:
        found: Type | None = holder.args[0] if isinstance(holder, Instance) else None
    else:
        holder = bounded(holder)
        found = find_member(step, holder, holder) if isinstance(holder, Instance) else None
    found = get_proper_type(found) if found is not None else NoneType()
    if isinstance(found, UnionType):
        rest = [each for each in found.items if not isinstance(get_proper_type(each), NoneType)]
        found = get_proper_type(make_simplified_union(rest))
    return bounded(found)


def bounded(known: ProperType) -> ProperType:
    """What is known of a type at least: its bound, and those of its parameters that are ``Any``."""
    if isinstance(known, TypeVarType):
        known = get_proper_type(known.upper_bound)
    if isinstance(known, TupleType):
        known = known.partial_fallback
    if not isinstance(known, Instance):
        return known
    return known.copy_modified(
        args=[
            get_proper_type(variable.upper_bound)
            if isinstance(get_proper_type(given), AnyType) and isinstance(variable, TypeVarType)
            else given
            for variable, given in zip(known.type.defn.type_vars, known.args, strict=False)
        ]
    )


def passed_on(ctx: FunctionSigContext | MethodSigContext) -> bool:
    """Whether a method that changes something passes its own fields on, which its caller named."""
    within = ctx.api.scope.current_function() if isinstance(ctx.api, TypeChecker) else None
    last = ctx.args[-1][-1] if ctx.args and ctx.args[-1] else None
    return (
        within is not None
        and within.name in CHANGES
        and isinstance(last, NameExpr)
        and last.name == OWN
    )


def unnamed(ctx: FunctionSigContext | MethodSigContext) -> None:
    """Report fields that a dictionary brings."""
    call = ctx.context
    if ARG_STAR2 in getattr(call, "arg_kinds", ()):
        ctx.api.fail(UNNAMED, call)
