"""Several pools side by side, for kernels that do the same to each of them.

Kernels on pools (see `taylor_kernels`) compute with pool[a, i]. Of a `LanePool` that is not one
number but one for each of LANES pools, a vector in the registers of the processor, of which sums,
products and roots are taken in all lanes by one instruction. A kernel that is written for a pool
of numbers is compiled for a pool of lanes too. No operation is replaced, reordered or fused, so
every lane holds, to the last bit, what it would have held alone, and bounds of rounding are the
same; only a zero may have the other sign. Time steps of a plan are such lanes.

A kernel that is compiled for both does not branch on numbers, as lanes need not agree: `where`
takes one of two values in each lane, and `anywhere` tells whether there is work to do at all.

With loops over lanes instead, every kernel would be written twice, and the compiler would have to
find out that rows do not overlap, which it cannot know.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr,
    models,
    register_model,
)
import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit

LANES = 8  # of float64: one register of 512 bits, two of 256 or four of 128
OTHER_LANES = 'a pool of lanes is made of an array with another number of lanes'
NUMBER = 8  # bytes, at a multiple of which lanes begin
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
MASK = ir.VectorType(ir.IntType(1), LANES)


def lane_columns(matrix: Array) -> Array:
    """Copy of (M, d) as (blocks, M, LANES), LANES columns side by side; zeros fill the last."""
    M, d = matrix.shape
    columns = np.zeros((M, -(-d // LANES) * LANES))
    columns[:, :d] = matrix
    return np.ascontiguousarray(columns.reshape(M, -1, LANES).swapaxes(0, 1))


class LanesType(types.Type):
    """A number for each lane; a single number is one for all."""

    def __init__(self) -> None:
        super().__init__(name='Lanes')

    def can_convert_from(self, _typing: Any, other: Any) -> Any:
        """Whether `other` can be passed where lanes are expected."""
        return Conversion.safe if isinstance(other, types.Float) else None

    def unify(self, _typing: Any, other: Any) -> Any:
        """Type of a variable that is set to lanes and to `other`."""
        return self if isinstance(other, types.Float) else None


class MaskType(types.Type):
    """A truth for each lane."""

    def __init__(self) -> None:
        super().__init__(name='Mask')


class LanePoolType(types.Type):
    """A pool of lanes, which keeps them in an array (rows, width, LANES)."""

    def __init__(self) -> None:
        super().__init__(name='LanePool')


lanes, mask, lane_pool_type = LanesType(), MaskType(), LanePoolType()
memory_type = types.Array(types.float64, 3, 'C')
index_type = types.UniTuple(types.intp, 2)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, MASK)


@register_model(LanePoolType)
class _LanePoolModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [('memory', memory_type)])


def _broadcast(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)


@lower_cast(types.Float, LanesType)
def _cast(context: Any, builder: Any, source: Any, _target: Any, number: Any) -> Any:
    return _broadcast(builder, context.cast(builder, number, source, types.float64))


def _define(function: Any, result: Any, count: int, build: Callable[..., Any]) -> None:
    """Let a function of Python take lanes, and numbers beside them; build writes its code."""
    operands = (lanes,) * count

    class Template(AbstractTemplate):
        key = function

        def generic(self, args: Any, _kws: Any) -> Any:
            known = all(isinstance(each, (LanesType, types.Float)) for each in args)
            if known and len(args) == count and lanes in args:
                return signature(result, *operands)
            return None

    def lower(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return build(builder, *args)

    infer_global(function)(Template)
    lower_builtin(function, *operands)(lower)


def _call(name: str) -> Callable[..., Any]:
    """Code of a function that LLVM knows."""

    def build(builder: Any, *args: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f'{name}.v{LANES}f64')
        return builder.call(function, args)

    return build


def _larger(builder: Any, a: Any, b: Any) -> Any:
    """Return what numba's max does, also of NaN."""
    return builder.select(builder.fcmp_ordered('>', b, a), b, a)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered('<', b, a), b, a)


for _both, _instruction in (
    ((operator.add, operator.iadd), lambda builder, a, b: builder.fadd(a, b)),
    ((operator.sub, operator.isub), lambda builder, a, b: builder.fsub(a, b)),
    ((operator.mul, operator.imul), lambda builder, a, b: builder.fmul(a, b)),
    ((operator.truediv, operator.itruediv), lambda builder, a, b: builder.fdiv(a, b)),
    ((max,), _larger),
    ((min,), _smaller),
):
    for _function in _both:
        _define(_function, lanes, 2, _instruction)
_define(operator.neg, lanes, 1, lambda builder, a: builder.fneg(a))
_define(abs, lanes, 1, _call('llvm.fabs'))
_define(math.sqrt, lanes, 1, _call('llvm.sqrt'))
_define(operator.lt, mask, 2, lambda builder, a, b: builder.fcmp_ordered('<', a, b))
_define(operator.gt, mask, 2, lambda builder, a, b: builder.fcmp_ordered('>', a, b))
_define(operator.eq, mask, 2, lambda builder, a, b: builder.fcmp_ordered('==', a, b))
_define(operator.ne, mask, 2, lambda builder, a, b: builder.fcmp_unordered('!=', a, b))


@intrinsic
def where(_typing: Any, condition: Any, _a: Any, _b: Any) -> Any:
    """Return the first value where the condition is true, else the other; numbers or lanes."""
    if isinstance(condition, MaskType):
        kind, which = lanes, mask
    elif isinstance(condition, types.Boolean):
        kind, which = types.float64, types.boolean
    else:
        return None

    def build(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.select(*args)

    return signature(kind, which, kind, kind), build


@intrinsic
def anywhere(_typing: Any, condition: Any) -> Any:
    """Return whether the condition is true in some lane, or of a number."""
    if isinstance(condition, types.Boolean):
        which = types.boolean
    elif isinstance(condition, MaskType):
        which = mask
    else:
        return None

    def build(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        if which is types.boolean:
            return args[0]
        together = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned('!=', together, ir.Constant(ir.IntType(LANES), 0))

    return signature(types.boolean, which), build


@jit
def lane_pool(memory: Array) -> Any:
    """Pool whose lanes are in an array (rows, width, LANES), which is not copied."""
    if memory.shape[2] != LANES:
        raise ValueError(OTHER_LANES)
    return _lane_pool(memory)


@intrinsic
def _lane_pool(_typing: Any, memory: Any) -> Any:
    if memory != memory_type:
        return None

    def build(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        pool = cgutils.create_struct_proxy(lane_pool_type)(context, builder)
        pool.memory = args[0]
        context.nrt.incref(builder, memory_type, args[0])
        return pool._getvalue()

    return signature(lane_pool_type, memory_type), build


@infer_getattr
class _LanePoolAttributes(AttributeTemplate):
    key = LanePoolType

    def resolve_shape(self, _pool: Any) -> Any:
        return types.UniTuple(types.intp, 3)


def _memory(context: Any, builder: Any, pool: Any) -> Any:
    held = cgutils.create_struct_proxy(lane_pool_type)(context, builder, value=pool).memory
    return context.make_array(memory_type)(context, builder, value=held)


@lower_getattr(LanePoolType, 'shape')
def _shape(context: Any, builder: Any, _kind: Any, pool: Any) -> Any:
    return _memory(context, builder, pool).shape


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, _kws: Any) -> Any:
        if isinstance(args[0], LanePoolType):
            return signature(lanes, args[0], index_type)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, _kws: Any) -> Any:
        if isinstance(args[0], LanePoolType):
            return signature(types.none, args[0], index_type, lanes)
        return None


def _pointer(context: Any, builder: Any, pool: Any, index: Any) -> Any:
    """Where the lanes of an element are; indices are not negative."""
    memory = _memory(context, builder, pool)
    a, i = cgutils.unpack_tuple(builder, index)
    width = cgutils.unpack_tuple(builder, memory.shape)[1]
    element = builder.add(builder.mul(a, width, flags=['nsw']), i, flags=['nsw'])
    data = builder.bitcast(memory.data, VECTOR.as_pointer())
    return builder.gep(data, [element], inbounds=True)


@lower_builtin(operator.getitem, LanePoolType, types.UniTuple)
def _get(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    return builder.load(_pointer(context, builder, *args), align=NUMBER)


@lower_builtin(operator.setitem, LanePoolType, types.UniTuple, LanesType)
def _set(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
    pool, index, value = args
    builder.store(value, _pointer(context, builder, pool, index), align=NUMBER)
    return context.get_dummy_value()
