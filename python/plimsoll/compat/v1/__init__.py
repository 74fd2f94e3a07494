"""tf.compat.v1: graphs, sessions and the names of the first version.

    import plimsoll.compat.v1 as tf
    tf.disable_eager_execution()

    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 1])
    y = tf.matmul(x, w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run(y, {x: [[1.0, 2.0, 3.0]]}))
"""

from ... import dtypes
from ...dtypes import (DType, as_dtype, bfloat16, bool, double, float16, float32, float64, half, int8,
                       int16, int32, int64, string, uint16, uint8)
from ..._core import GradientTape, init_scope
from ...tensor_shape import TensorShape
from .._config import (ConfigProto, GPUOptions, GraphOptions, OptimizerOptions, RunMetadata,
                       RunOptions)
from .._control import py_func, tuple_of as tuple, with_dependencies
from .._control import print_tensor as Print
from .._gradients import gradients, hessians
from .._graph import (Graph, Operation, disable_eager_execution, enable_eager_execution,
                      executing_eagerly, get_default_graph, get_default_session,
                      reset_default_graph)
from .._initializers import (Constant as constant_initializer, Ones as ones_initializer,
                             Orthogonal as orthogonal_initializer,
                             RandomNormal as random_normal_initializer,
                             RandomUniform as random_uniform_initializer,
                             TruncatedNormal as truncated_normal_initializer,
                             UniformUnitScaling as uniform_unit_scaling_initializer,
                             VarianceScaling as variance_scaling_initializer,
                             Zeros as zeros_initializer, GlorotNormal as glorot_normal_initializer,
                             GlorotUniform as glorot_uniform_initializer)
from .._placeholder import placeholder, placeholder_with_default, sparse_placeholder
from .._scope import (AUTO_REUSE, VariableScope, get_local_variable, get_variable,
                      get_variable_scope, make_template, no_regularizer, variable_op_scope,
                      variable_scope)
from .._session import InteractiveSession, Session
from .._shape import Dimension, dimension_value, disable_v2_tensorshape, enable_v2_tensorshape
from .._variable import (Tensor, Variable, assert_variables_initialized, assign, assign_add,
                         assign_sub, device, global_variables, global_variables_initializer,
                         is_variable_initialized, local_variables, local_variables_initializer,
                         model_variables, moving_average_variables, report_uninitialized_variables,
                         scatter_add, scatter_sub, scatter_update, trainable_variables,
                         variables_initializer)
from ...version import COMPILER_VERSION, GIT_VERSION, VERSION
from ._globals import *  # noqa: F401,F403
from ._globals import __getattr__, __dir__  # noqa: F401
from ._ops import *  # noqa: F401,F403
from ._other_names import confusion_matrix, tables_initializer

newaxis = None
__version__ = VERSION
AttrValue = None
