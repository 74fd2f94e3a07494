"""Writes the stub file of plimsoll from the table of ops: names, arguments and defaults for editors.

    make_python_stub.py OUTPUT.pyi      (with plimsoll on the path)
"""

import inspect
import sys

from plimsoll import _core

HEADER = '''"""TensorFlow's names on a runtime in which memory is a contract."""
# Written by tools/make_python_stub.py.

from typing import Any

from ._core import GradientTape as GradientTape, Tensor as Tensor, Variable as Variable
from ._core import device as device, init_scope as init_scope
from .dtypes import DType as DType, as_dtype as as_dtype
from .tensor_shape import TensorShape as TensorShape
from ._function import TensorSpec as TensorSpec, function as function
from ._control_flow import cond as cond, map_fn as map_fn, name_scope as name_scope, scan as scan
from ._control_flow import while_loop as while_loop
from ._functions import einsum as einsum, is_tensor as is_tensor, meshgrid as meshgrid
from ._gradients import IndexedSlices as IndexedSlices, UnconnectedGradients as UnconnectedGradients
from ._module import Module as Module
from ._ragged import RaggedTensor as RaggedTensor
from ._sparse import SparseTensor as SparseTensor
from . import config as config, debugging as debugging, errors as errors, linalg as linalg
from . import bitwise as bitwise, image as image, math as math, memory as memory, nest as nest
from . import nn as nn, ragged as ragged, random as random, sparse as sparse, strings as strings
'''
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool",
          "string", "half", "double")


def lines():
    yield HEADER
    for name in DTYPES:
        yield f"{name}: DType"
    yield "newaxis: None"
    yield "__version__: str"
    for name in _core.op_names(""):
        if name.endswith("_list"):
            continue
        function = _core.op(name)
        yield f"def {name}{inspect.signature(function)} -> Any:"
        yield f'    """{function.__doc__ or name}"""'


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(lines()) + "\n")
